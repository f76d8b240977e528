//! Time, ids and randomness. Every other module takes them as arguments, so tests decide what they are.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Milliseconds since 1970, UTC. Written as RFC 3339 in JSON.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The moment `by` later.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The moment `by` earlier.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long ago `earlier` was; zero if it lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => t.fmt(f),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl schemars::JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let parsed: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self(parsed.as_millisecond()))
    }
}

/// What time it is.
pub trait Clock: Send + Sync {
    /// The wall clock. It may jump; leases and retries live on it because every process shares it.
    fn now(&self) -> Timestamp;

    /// Time since some fixed moment of this process. It never jumps; durations are measured with it.
    fn monotonic(&self) -> Duration;
}

/// Where new ids come from.
pub trait IdGen: Send + Sync {
    /// A fresh UUIDv7.
    fn next(&self) -> Uuid;
}

/// Where chance comes from, for the jitter of retries and for keys.
pub trait Entropy: Send + Sync {
    /// A number in `0.0..1.0`.
    fn fraction(&self) -> f64;

    /// Bytes that nobody can guess, for a key.
    fn secret(&self) -> [u8; 24];
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    started: std::time::Instant,
}

impl SystemClock {
    /// Starts the monotonic count at zero.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn new() -> Self {
        Self { started: std::time::Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }
}

/// UUIDv7 from the machine's clock and randomness.
#[derive(Debug, Default)]
pub struct SystemIds;

impl IdGen for SystemIds {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// Randomness from fresh UUIDs' random bits: good enough for jitter, and no further dependency.
#[derive(Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn fraction(&self) -> f64 {
        let bits = Uuid::now_v7().as_u128() & 0xffff_ffff;
        bits as f64 / 4_294_967_296.0
    }

    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn secret(&self) -> [u8; 24] {
        // Random but for six bits of two bytes, which are left out; they come from the operating system.
        let mut out = [0; 24];
        for half in out.chunks_exact_mut(12) {
            let random = Uuid::new_v4().into_bytes();
            half[..6].copy_from_slice(&random[..6]);
            half[6..].copy_from_slice(&random[10..]);
        }
        out
    }
}

/// A clock that moves only when told to.
#[derive(Debug)]
pub struct SteppingClock {
    now: AtomicI64,
    start: i64,
}

impl SteppingClock {
    /// Starts at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self { now: AtomicI64::new(now.0), start: now.0 }
    }

    /// Moves forward.
    pub fn advance(&self, by: Duration) {
        self.now.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.now.load(Ordering::SeqCst) - self.start).unwrap_or(0))
    }
}

/// Ids that count up from one, so that snapshots stay the same.
#[derive(Debug)]
pub struct CountingIds {
    at: Timestamp,
    next: AtomicU64,
}

impl CountingIds {
    /// All ids carry the time `at`.
    pub fn new(at: Timestamp) -> Self {
        Self { at, next: AtomicU64::new(1) }
    }
}

impl IdGen for CountingIds {
    fn next(&self) -> Uuid {
        let n = self.next.fetch_add(1, Ordering::SeqCst);
        let time = (self.at.0 as u128 & 0xffff_ffff_ffff) << 80;
        Uuid::from_u128(time | 0x7000_8000_0000_0000_0000 | u128::from(n))
    }
}

/// The same fractions again and again.
#[derive(Debug)]
pub struct ScriptedEntropy {
    fractions: Mutex<std::collections::VecDeque<f64>>,
}

impl ScriptedEntropy {
    /// Cycles through `fractions`; an empty script gives one half.
    pub fn new(fractions: impl IntoIterator<Item = f64>) -> Self {
        Self { fractions: Mutex::new(fractions.into_iter().collect()) }
    }
}

impl Entropy for ScriptedEntropy {
    fn fraction(&self) -> f64 {
        let mut script = self.fractions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match script.pop_front() {
            Some(f) => {
                script.push_back(f);
                f
            }
            None => 0.5,
        }
    }

    fn secret(&self) -> [u8; 24] {
        [(self.fraction() * 256.0) as u8; 24]
    }
}
