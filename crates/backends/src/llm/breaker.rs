//! Nobody waits for a model that is gone: after some questions in a row that came to nothing, further ones are refused
//! at once. After a while one may try, and if that comes to something all may again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::clock::Clock;
use docmill_core::ports::Llm;
use docmill_core::ports::llm::{Answer, Question};
use docmill_core::{Error, ErrorKind, Result};

/// So many in a row.
const FAILURES: u32 = 5;

/// So long nobody is asked.
const OPEN_FOR: Duration = Duration::from_mins(1);

/// The decorator.
pub struct Breaker {
    inner: Arc<dyn Llm>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failures: u32,
    /// When one may try.
    closed_until: Option<Duration>,
    /// What the last one met.
    last: String,
}

impl Breaker {
    /// Around `inner`.
    pub fn new(inner: Arc<dyn Llm>, clock: Arc<dyn Clock>) -> Self {
        Self { inner, clock, state: Mutex::default() }
    }

    fn enter(&self) -> Result<()> {
        let now = self.clock.monotonic();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.closed_until {
            Some(until) if now < until => Err(Error::unavailable(format!(
                "{} is not asked at the moment: the last {FAILURES} questions came to nothing ({})",
                self.inner.provider(),
                state.last
            ))
            .with_retry_after(until.saturating_sub(now))),
            Some(_) => {
                // This one tries; the others wait for what comes of it.
                state.closed_until = Some(now + OPEN_FOR);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn leave(&self, answer: &Result<Answer>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Err(error) if is_gone(error.kind()) => {
                state.failures += 1;
                state.last = error.for_log();
                if state.failures >= FAILURES {
                    state.closed_until = Some(self.clock.monotonic() + OPEN_FOR);
                }
            }
            // Whoever refuses a question is there.
            _ => *state = State::default(),
        }
    }
}

/// Whether the next question will fare no better.
fn is_gone(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Unavailable
            | ErrorKind::Timeout
            | ErrorKind::RateLimited
            | ErrorKind::Forbidden
            | ErrorKind::InvalidConfig
            | ErrorKind::MissingDependency
    )
}

#[async_trait]
impl Llm for Breaker {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn identity(&self) -> &str {
        self.inner.identity()
    }

    fn sees(&self) -> bool {
        self.inner.sees()
    }

    async fn ask(&self, question: &Question) -> Result<Answer> {
        self.enter()?;
        let answer = self.inner.ask(question).await;
        self.leave(&answer);
        answer
    }
}
