//! Removes blobs that no row names, what unfinished uploads left, and events that are too old.
//!
//! A blob is written before the row that names it, so a young one may only look orphaned. It goes when it is a
//! day old by the time inside its id *and* by the time of its file: either clock alone may lie.

use std::time::Duration;

use docmill_core::Result;
use docmill_core::clock::Timestamp;
use docmill_core::id::BlobKey;
use docmill_core::ports::blobs::BlobInfo;

use crate::service::Inner;

/// An orphan must be this old.
const MIN_AGE: Duration = Duration::from_hours(24);

/// Where blobs lie.
pub(super) const FOLDERS: [&str; 3] = ["documents", "ingestions", "uploads"];

/// What was removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pruned {
    /// Blobs.
    pub(crate) blobs: u64,
    /// Uploads that never ended.
    pub(crate) uploads: u64,
    /// Events.
    pub(crate) events: u64,
}

/// Prunes once.
pub(crate) async fn prune(inner: &Inner) -> Result<Pruned> {
    let deps = &inner.deps;
    let now = deps.clock.now();
    let mut pruned = Pruned::default();
    for folder in FOLDERS {
        let mut listing = deps.blobs.list(folder).await?;
        while let Some(piece) = listing.recv().await {
            let old: Vec<BlobKey> =
                piece?.into_iter().filter(|info| is_old(info, now)).map(|i| i.key).collect();
            if old.is_empty() {
                continue;
            }
            // Asked for anew with each piece: a backup must not wait for a whole pass.
            let _right = inner.deletions.allow()?;
            let named = deps.store.referenced(&old).await?;
            for (key, named) in old.iter().zip(named) {
                if !named {
                    deps.blobs.delete(key).await?;
                    pruned.blobs += 1;
                }
            }
        }
    }
    pruned.uploads = deps.blobs.remove_leftovers(now).await?;
    pruned.events = deps.store.prune_events(now.minus(deps.settings.event_retention)).await?;
    Ok(pruned)
}

/// A key without a time in it is none of docmill's making, and is left alone.
fn is_old(info: &BlobInfo, now: Timestamp) -> bool {
    let old = |at: Timestamp| now.since(at) > MIN_AGE;
    old(info.modified_at) && info.key.made_at().is_some_and(old)
}

#[cfg(test)]
mod tests {
    use docmill_core::id::DocumentId;

    use super::*;

    #[test]
    fn blob_is_old_only_if_both_times_say_so() {
        let now = Timestamp(1_800_000_000_000);
        let young = now.minus(Duration::from_hours(23));
        let ancient = now.minus(Duration::from_hours(25));
        let key = |at: Timestamp| {
            BlobKey::document(DocumentId(uuid::Uuid::from_u128((at.0 as u128) << 80 | 7 << 76)), "a.txt")
        };
        let info = |id, modified_at| BlobInfo { key: key(id), bytes: 1, modified_at };
        assert!(is_old(&info(ancient, ancient), now));
        assert!(!is_old(&info(young, ancient), now));
        assert!(!is_old(&info(ancient, young), now));
        let foreign = BlobInfo { key: BlobKey::stored("documents/odd"), bytes: 1, modified_at: ancient };
        assert!(!is_old(&foreign, now));
    }
}
