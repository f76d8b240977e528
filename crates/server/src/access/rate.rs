//! How fast one key may ask: a bucket that fills at a steady rate and holds two seconds' worth.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use docmill_core::id::KeyId;
use docmill_core::{Error, Result};

/// A key that was silent for a while may catch up on this much.
const BURST_SECONDS: f64 = 2.0;

/// The buckets of all keys. Of many processes each counts for itself.
pub(super) struct Rates {
    per_second: f64,
    buckets: Mutex<HashMap<KeyId, Bucket>>,
}

struct Bucket {
    tokens: f64,
    at: Duration,
}

impl Rates {
    /// Zero means that there is no limit.
    pub(super) fn new(per_second: u32) -> Self {
        Self { per_second: f64::from(per_second), buckets: Mutex::default() }
    }

    /// Takes one request out of the bucket of this key, or says when there will be one. Only keys that exist come here,
    /// so there are no more buckets than keys.
    pub(super) fn take(&self, key: KeyId, now: Duration) -> Result<()> {
        if self.per_second <= 0.0 {
            return Ok(());
        }
        let full = self.per_second * BURST_SECONDS;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(key).or_insert(Bucket { tokens: full, at: now });
        let gained = now.saturating_sub(bucket.at).as_secs_f64() * self.per_second;
        bucket.tokens = (bucket.tokens + gained).min(full);
        bucket.at = now;
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        let wait = Duration::from_secs_f64((1.0 - bucket.tokens) / self.per_second);
        Err(Error::rate_limited(format!("this key asks more than {} times a second", self.per_second))
            .with_hint("wait a little, or raise `http.requests_per_second`")
            .with_retry_after(wait.max(Duration::from_secs(1))))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_key_that_asks_too_fast_waits_and_others_do_not() {
        let rates = Rates::new(10);
        let (one, other) = (KeyId(Uuid::from_u128(1)), KeyId(Uuid::from_u128(2)));
        let now = Duration::from_secs(100);
        for _ in 0..20 {
            rates.take(one, now).unwrap();
        }
        let refused = rates.take(one, now).unwrap_err();
        assert!(refused.retry_after().is_some() && refused.message().contains("10"));
        rates.take(other, now).unwrap();
        rates.take(one, now + Duration::from_millis(100)).unwrap();
        assert!(rates.take(one, now + Duration::from_millis(100)).is_err());
    }

    #[test]
    fn no_limit_is_none() {
        let rates = Rates::new(0);
        for _ in 0..10_000 {
            rates.take(KeyId(Uuid::nil()), Duration::ZERO).unwrap();
        }
    }
}
