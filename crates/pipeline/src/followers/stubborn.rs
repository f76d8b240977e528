//! Blobs that cannot be read while others can. A store that cannot be reached is waited for, however long; one blob on a
//! bad sector, or with the wrong rights, must not keep everything behind it from being found.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use docmill_core::id::BlobKey;

use crate::deps::Deps;

/// So often in a row a blob is tried: with the pauses between, about half a minute.
const TRIES: u32 = 8;

/// Of the blobs beside it, so many are tried.
const OTHERS: usize = 4;

/// The blobs that failed, and how often in a row.
#[derive(Default)]
pub(super) struct Stubborn(Mutex<HashMap<BlobKey, u32>>);

impl Stubborn {
    /// This one could be read.
    pub(super) fn was_read(&self, key: &BlobKey) {
        self.lock().remove(key);
    }

    /// This one could not be reached once more: whether to go on without it.
    pub(super) async fn is_given_up(&self, deps: &Deps, key: &BlobKey) -> bool {
        let tries = {
            let mut failed = self.lock();
            let tries = failed.entry(key.clone()).or_default();
            *tries = tries.saturating_add(1);
            *tries
        };
        tries >= TRIES && others_can_be_read(deps, key).await
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<BlobKey, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a blob of the same folder can be read. Where there is no other one, nobody can tell.
async fn others_can_be_read(deps: &Deps, key: &BlobKey) -> bool {
    let folder = key.as_str().split_once('/').map_or("", |(folder, _)| folder);
    for after in [key.clone(), BlobKey::stored(format!("{folder}/"))] {
        let Ok(others) = deps.store.blob_keys(Some(&after), OTHERS).await else { return false };
        for other in others.iter().filter(|other| *other != key && other.as_str().starts_with(folder)) {
            if deps.blobs.get_range(other, 0..1).await.is_ok() {
                return true;
            }
        }
    }
    false
}
