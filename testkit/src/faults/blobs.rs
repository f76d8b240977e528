//! Blobs that go wrong by plan, before any store: what a bad object store does, as far as the port can show it.
//!
//! A plan is a script, call by call, or made from a seed: then the same seed gives the same faults to the same calls.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use docmill_core::clock::Timestamp;
use docmill_core::id::BlobKey;
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{BlobInfo, Content, Put, Upload};
use docmill_core::{Error, Result};
use tokio::sync::mpsc;

/// What goes wrong with one call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BlobFault {
    /// The store refuses before it does anything, as with status 500.
    Refused,
    /// The call takes so much longer.
    Slow(Duration),
    /// Content breaks off: an upload after its first piece, a download after some bytes. Nothing is stored.
    Truncated,
    /// A look at the blob tells a length that is one short. Other calls are refused.
    WrongLength,
    /// The store has done it, but its answer is lost.
    AnswerLost,
    /// The blob that was put last cannot be seen by this call, although it is there.
    NotYetThere,
}

impl BlobFault {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Refused,
        Self::Slow(Duration::from_millis(5)),
        Self::Truncated,
        Self::WrongLength,
        Self::AnswerLost,
        Self::NotYetThere,
    ];
}

/// Which call goes wrong how.
pub struct BlobFaults {
    script: VecDeque<Option<BlobFault>>,
    /// Beyond the script: the state of a generator, and how many calls of a hundred go wrong.
    seeded: Option<(u64, u64)>,
}

impl BlobFaults {
    /// One entry a call; all is well after the last.
    pub fn script(faults: impl IntoIterator<Item = Option<BlobFault>>) -> Self {
        Self { script: faults.into_iter().collect(), seeded: None }
    }

    /// So many of a hundred calls go wrong, each in any way, for ever.
    pub fn seeded(seed: u64, percent: u64) -> Self {
        Self { script: VecDeque::new(), seeded: Some((seed, percent)) }
    }

    fn next(&mut self) -> Option<BlobFault> {
        if let Some(fault) = self.script.pop_front() {
            return fault;
        }
        let (state, percent) = self.seeded.as_mut()?;
        if roll(state) % 100 >= *percent {
            return None;
        }
        BlobFault::ALL.get(roll(state) as usize % BlobFault::ALL.len()).copied()
    }
}

/// The next number of a splitmix64 generator.
pub(super) fn roll(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The decorator.
pub struct FaultyBlobs {
    inner: Arc<dyn Blobs>,
    faults: Mutex<BlobFaults>,
    happened: Mutex<BTreeMap<BlobFault, usize>>,
    calls: Mutex<Vec<&'static str>>,
}

impl FaultyBlobs {
    /// Before `inner`.
    pub fn new(inner: Arc<dyn Blobs>, faults: BlobFaults) -> Self {
        Self {
            inner,
            faults: Mutex::new(faults),
            happened: Mutex::new(BTreeMap::new()),
            calls: Mutex::new(Vec::new()),
        }
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<&'static str> {
        lock(&self.calls).clone()
    }

    /// How often each fault has happened.
    pub fn happened(&self) -> BTreeMap<BlobFault, usize> {
        lock(&self.happened).clone()
    }

    /// What goes wrong with this call.
    async fn fault(&self, call: &'static str) -> Option<BlobFault> {
        lock(&self.calls).push(call);
        let fault = lock(&self.faults).next()?;
        *lock(&self.happened).entry(fault).or_default() += 1;
        if let BlobFault::Slow(by) = fault {
            tokio::time::sleep(by).await;
            return None;
        }
        Some(fault)
    }

    /// A call that either happens or does not, and whose answer may be lost.
    async fn simple<T>(&self, call: &'static str, done: impl Future<Output = Result<T>>) -> Result<T> {
        match self.fault(call).await {
            None => done.await,
            Some(BlobFault::AnswerLost) => {
                done.await?;
                Err(lost(call))
            }
            Some(_) => Err(refused(call)),
        }
    }
}

#[async_trait]
impl Blobs for FaultyBlobs {
    async fn put_if_absent(&self, key: &BlobKey, upload: Upload) -> Result<Put> {
        match (self.fault("put").await, upload) {
            (None, upload) => self.inner.put_if_absent(key, upload).await,
            (Some(BlobFault::AnswerLost), upload) => {
                self.inner.put_if_absent(key, upload).await?;
                Err(lost("put"))
            }
            (Some(BlobFault::Truncated), Upload::Stream(mut pieces)) => {
                pieces.recv().await.transpose()?;
                Err(truncated("put"))
            }
            (Some(_), _) => Err(refused("put")),
        }
    }

    async fn rename_if_absent(&self, from: &BlobKey, to: &BlobKey) -> Result<Put> {
        self.simple("rename", self.inner.rename_if_absent(from, to)).await
    }

    async fn open(&self, key: &BlobKey, inline_up_to: u64) -> Result<Content> {
        match self.fault("open").await {
            None => self.inner.open(key, inline_up_to).await,
            Some(BlobFault::NotYetThere) => Err(Error::not_found(format!("there is no blob `{key}` yet"))),
            Some(BlobFault::Truncated) => Err(truncated("open")),
            Some(_) => Err(refused("open")),
        }
    }

    async fn get_range(&self, key: &BlobKey, range: Range<u64>) -> Result<Bytes> {
        match self.fault("get_range").await {
            None => self.inner.get_range(key, range).await,
            Some(BlobFault::NotYetThere) => Err(Error::not_found(format!("there is no blob `{key}` yet"))),
            Some(BlobFault::Truncated) => Err(truncated("get_range")),
            Some(_) => Err(refused("get_range")),
        }
    }

    async fn info(&self, key: &BlobKey) -> Result<Option<BlobInfo>> {
        match self.fault("info").await {
            None => self.inner.info(key).await,
            Some(BlobFault::NotYetThere) => Ok(None),
            Some(BlobFault::WrongLength) => {
                let info = self.inner.info(key).await?;
                Ok(info.map(|info| BlobInfo { bytes: info.bytes.saturating_sub(1), ..info }))
            }
            Some(_) => Err(refused("info")),
        }
    }

    async fn delete(&self, key: &BlobKey) -> Result<()> {
        self.simple("delete", self.inner.delete(key)).await
    }

    async fn list(&self, prefix: &str) -> Result<mpsc::Receiver<Result<Vec<BlobInfo>>>> {
        self.simple("list", self.inner.list(prefix)).await
    }

    async fn free_bytes(&self) -> Result<Option<u64>> {
        self.simple("free_bytes", self.inner.free_bytes()).await
    }

    async fn remove_leftovers(&self, now: Timestamp) -> Result<u64> {
        self.simple("remove_leftovers", self.inner.remove_leftovers(now)).await
    }
}

fn refused(call: &str) -> Error {
    Error::unavailable(format!("the blob store answered 500 to {call}"))
}

fn truncated(call: &str) -> Error {
    Error::unavailable(format!("{call} of a blob broke off"))
}

fn lost(call: &str) -> Error {
    Error::unavailable(format!("the answer to {call} of a blob was lost"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_gives_the_same_faults() {
        let faults = |seed| {
            let mut plan = BlobFaults::seeded(seed, 30);
            (0..1_000).map(|_| plan.next()).collect::<Vec<_>>()
        };
        assert_eq!(faults(7), faults(7));
        assert_ne!(faults(7), faults(8));
        let wrong = faults(7).iter().flatten().count();
        assert!((200..400).contains(&wrong), "{wrong} of 1000 calls went wrong");
        for kind in BlobFault::ALL {
            assert!(faults(7).contains(&Some(kind)), "{kind:?}");
        }
    }

    #[test]
    fn script_is_followed_and_ends() {
        let mut plan = BlobFaults::script([None, Some(BlobFault::Refused)]);
        assert_eq!([plan.next(), plan.next(), plan.next()], [None, Some(BlobFault::Refused), None]);
    }
}
