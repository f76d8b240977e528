//! Calls are spread evenly over the minute, and after "too many" nobody calls before the time that the provider named.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::clock::Clock;
use docmill_core::ports::Llm;
use docmill_core::ports::llm::{Answer, Question};
use docmill_core::{ErrorKind, Result};

/// The decorator.
pub struct Pace {
    inner: Arc<dyn Llm>,
    /// From one call to the next.
    every: Duration,
    clock: Arc<dyn Clock>,
    /// When the next call may begin.
    next: Mutex<Duration>,
}

impl Pace {
    /// Around `inner`; 0 means as many as come.
    pub fn new(inner: Arc<dyn Llm>, per_minute: u32, clock: Arc<dyn Clock>) -> Self {
        let every = if per_minute == 0 { Duration::ZERO } else { Duration::from_mins(1) / per_minute };
        Self { inner, every, clock, next: Mutex::default() }
    }

    /// Takes the next place, and says how long to wait for it.
    fn place(&self) -> Duration {
        let now = self.clock.monotonic();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (*next).max(now);
        *next = at + self.every;
        at.saturating_sub(now)
    }

    /// Nobody begins before.
    fn hold(&self, pause: Duration) {
        let until = self.clock.monotonic() + pause;
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(until);
    }
}

#[async_trait]
impl Llm for Pace {
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
        tokio::time::sleep(self.place()).await;
        let answer = self.inner.ask(question).await;
        if let Err(error) = &answer
            && error.kind() == ErrorKind::RateLimited
            && let Some(pause) = error.retry_after()
        {
            self.hold(pause);
        }
        answer
    }
}
