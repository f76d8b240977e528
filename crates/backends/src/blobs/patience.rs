//! When something is tried again: which errors, how often, after which pause. The one place that says so for blobs;
//! what a task does about an error that is left is said by `docmill_core::disposition`.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::clock::{Clock, Entropy};
use docmill_core::{Error, ErrorKind, Result};

/// The first pause; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Tries in all, however short each of them was.
const MOST_TRIES: u32 = 12;

/// Tries in all while a store says that something is not there which was put a moment ago.
const TRIES_WHILE_MISSING: u32 = 3;

/// What it means that something is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// It is an answer like another.
    IsAnAnswer,
    /// Somebody names it, so it should be there: a store that copies itself about may be late.
    IsDoubted,
}

/// How long and how often something is tried.
#[derive(Clone)]
pub struct Patience {
    retry_for: Duration,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Patience {
    /// Nothing is begun again later than `retry_for` after it was first begun.
    pub fn new(retry_for: Duration, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { retry_for, clock, entropy }
    }

    /// Runs `attempt` until it succeeds or may not be repeated. It is told how often it has been tried before, and
    /// must be harmless when repeated: the answer to an earlier try may have been lost on the way.
    pub(super) async fn run<T, F>(
        &self,
        doing: &'static str,
        missing: Missing,
        mut attempt: impl FnMut(u32) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let began = self.clock.monotonic();
        let mut tries = 0;
        loop {
            let error = match attempt(tries).await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            tries += 1;
            let pause = self.pause(tries).max(error.retry_after().unwrap_or_default());
            let over = self.clock.monotonic().saturating_sub(began) + pause > self.retry_for;
            if over || tries >= most_tries(&error, missing) {
                return Err(error);
            }
            tracing::warn!(
                doing,
                tries,
                error_kind = %error.kind(),
                error = %error.chain(),
                "blob request will be tried again"
            );
            tokio::time::sleep(pause).await;
        }
    }

    /// Between half of the time and all of it, so that many who failed at once do not come back at once.
    fn pause(&self, tries: u32) -> Duration {
        let longest = FIRST_PAUSE.saturating_mul(1 << (tries - 1).min(16)).min(LONGEST_PAUSE);
        longest.mul_f64(0.5 + 0.5 * self.entropy.fraction().clamp(0.0, 1.0))
    }
}

/// How often something that ends like this is tried.
fn most_tries(error: &Error, missing: Missing) -> u32 {
    match error.kind() {
        ErrorKind::Unavailable | ErrorKind::RateLimited => MOST_TRIES,
        ErrorKind::NotFound if missing == Missing::IsDoubted => TRIES_WHILE_MISSING,
        // The answer would be the same, or the disk or the settings are at fault.
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use docmill_core::clock::{ScriptedEntropy, Timestamp};
    use tokio::time::Instant;

    use super::*;

    /// Goes with the runtime's clock, which jumps over pauses.
    struct RuntimeClock(Instant);

    impl Clock for RuntimeClock {
        fn now(&self) -> Timestamp {
            Timestamp(self.0.elapsed().as_millis() as i64)
        }

        fn monotonic(&self) -> Duration {
            self.0.elapsed()
        }
    }

    fn patience(retry_for: Duration, fractions: &[f64]) -> Patience {
        let entropy = Arc::new(ScriptedEntropy::new(fractions.iter().copied()));
        Patience::new(retry_for, Arc::new(RuntimeClock(Instant::now())), entropy)
    }

    /// How often something was tried that always fails so, and for how long.
    async fn tried(patience: &Patience, missing: Missing, error: impl Fn() -> Error) -> (u32, Duration) {
        let (count, began) = (Cell::new(0), Instant::now());
        let failed = patience.run("test", missing, |tries| {
            assert_eq!(tries, count.replace(tries + 1));
            std::future::ready(Err::<(), _>(error()))
        });
        assert_eq!(failed.await.unwrap_err().kind(), error().kind(), "the last error is handed on");
        (count.get(), began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_may_pass_is_tried_again() {
        let patience = patience(Duration::from_mins(5), &[0.5]);
        for kind in ErrorKind::ALL {
            let (count, _) = tried(&patience, Missing::IsAnAnswer, || Error::new(*kind, "x")).await;
            let again = matches!(kind, ErrorKind::Unavailable | ErrorKind::RateLimited);
            assert_eq!(count, if again { MOST_TRIES } else { 1 }, "{kind}");
        }
        let (count, _) = tried(&patience, Missing::IsDoubted, || Error::not_found("x")).await;
        assert_eq!(count, TRIES_WHILE_MISSING);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_begun_after_its_time() {
        let patience = patience(Duration::from_secs(2), &[1.0]);
        let (count, took) = tried(&patience, Missing::IsAnAnswer, || Error::unavailable("x")).await;
        assert_eq!((count, took), (5, Duration::from_millis(1_500)), "100, 200, 400 and 800 ms of pauses");
    }

    #[tokio::test(start_paused = true)]
    async fn no_patience_is_one_try() {
        let (count, took) =
            tried(&patience(Duration::ZERO, &[0.0]), Missing::IsDoubted, || Error::unavailable("x")).await;
        assert_eq!((count, took), (1, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_differ_by_chance_and_a_servers_wish_is_kept() {
        let (_, short) =
            tried(&patience(Duration::from_secs(1), &[0.0]), Missing::IsDoubted, || Error::not_found("x"))
                .await;
        let (_, long) =
            tried(&patience(Duration::from_secs(1), &[1.0]), Missing::IsDoubted, || Error::not_found("x"))
                .await;
        assert_eq!((short, long), (Duration::from_millis(150), Duration::from_millis(300)));
        let wish = || Error::rate_limited("x").with_retry_after(Duration::from_secs(3));
        let (count, took) = tried(&patience(Duration::from_secs(7), &[0.0]), Missing::IsAnAnswer, wish).await;
        assert_eq!((count, took), (3, Duration::from_secs(6)));
    }
}
