//! What is tried again, after which pause, and for how long in all. The one place that says so for language models; what
//! a task does about an error that is left is its own affair.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::clock::Clock;
use docmill_core::ports::Llm;
use docmill_core::ports::llm::{Answer, Question};
use docmill_core::{Error, ErrorKind, Result};

/// After "too many" without a time: as long as providers count.
const AFTER_RATE_LIMIT: Duration = Duration::from_secs(30);

/// After a time-out or a broken connection; doubled each time.
const AFTER_SILENCE: Duration = Duration::from_secs(5);

/// The decorator.
pub struct Patient {
    inner: Arc<dyn Llm>,
    /// Nothing takes longer in all.
    total: Duration,
    clock: Arc<dyn Clock>,
}

impl Patient {
    /// Around `inner`.
    pub fn new(inner: Arc<dyn Llm>, total: Duration, clock: Arc<dyn Clock>) -> Self {
        Self { inner, total, clock }
    }
}

/// How long to wait before trying again; none if that would be no use. What was asked for is kept, whatever it is.
fn pause(error: &Error, tries: u32) -> Option<Duration> {
    let own = match error.kind() {
        ErrorKind::RateLimited => AFTER_RATE_LIMIT,
        ErrorKind::Timeout | ErrorKind::Unavailable => AFTER_SILENCE * (1 << tries.min(6)),
        _ => return None,
    };
    Some(error.retry_after().unwrap_or(own))
}

#[async_trait]
impl Llm for Patient {
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
        let began = self.clock.monotonic();
        let mut tries = 0;
        loop {
            let left = self.total.saturating_sub(self.clock.monotonic().saturating_sub(began));
            let error = match tokio::time::timeout(left, self.inner.ask(question)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => error,
                Err(_elapsed) => {
                    let total = docmill_core::config::duration_text(self.total);
                    return Err(Error::timeout(format!("{} gave no answer within {total}", self.provider()))
                        .with_hint("raise `llm.total_timeout`"));
                }
            };
            let left = self.total.saturating_sub(self.clock.monotonic().saturating_sub(began));
            let Some(pause) = pause(&error, tries).filter(|pause| *pause < left) else { return Err(error) };
            tries += 1;
            tracing::warn!(
                provider = self.provider(),
                tries,
                pause_ms = pause.as_millis() as u64,
                error_kind = %error.kind(),
                error = error.for_log(),
                "the language model will be asked again"
            );
            tokio::time::sleep(pause).await;
        }
    }
}
