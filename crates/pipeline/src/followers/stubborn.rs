//! Blobs that cannot be read while others can. A store that cannot be reached is waited for, however long; one blob on a
//! bad sector, or with the wrong rights, must not keep everything behind it from being found.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use docmill_core::id::BlobKey;

use crate::deps::Deps;

/// So often in a row a blob is tried: with the pauses between, about half a minute.
const TRIES: u32 = 8;

/// Of the blobs beside it so many are tried…
const OTHERS: usize = 4;

/// …and of those that come later, one of so many, so often: a whole stretch may be damaged.
const STRIDE: usize = 500;
const STRIDES: usize = 16;

/// What is known of blobs that failed, and of one that did not.
#[derive(Default)]
struct Known {
    /// How often in a row each has failed.
    failed: HashMap<BlobKey, u32>,
    /// Whether one of this batch was given up: the store has shown that it answers, so that the next ones are tried once.
    given_up: bool,
    /// The last that could be read.
    good: Option<BlobKey>,
}

/// The blobs that cannot be read.
#[derive(Default)]
pub(super) struct Stubborn(Mutex<Known>);

impl Stubborn {
    /// This one could be read.
    pub(super) fn was_read(&self, key: &BlobKey) {
        let mut known = self.lock();
        known.failed.remove(key);
        known.good = Some(key.clone());
    }

    /// This one could not be reached once more: whether to go on without it.
    pub(super) async fn is_given_up(&self, deps: &Deps, key: &BlobKey) -> bool {
        let (enough, good) = {
            let mut known = self.lock();
            let enough = if known.given_up { 1 } else { TRIES };
            let tries = known.failed.entry(key.clone()).or_default();
            *tries = tries.saturating_add(1);
            (*tries >= enough, known.good.clone())
        };
        let given_up = enough && others_can_be_read(deps, key, good).await;
        self.lock().given_up |= given_up;
        given_up
    }

    /// The batch with all these is done: none of them is met again.
    pub(super) fn is_behind(&self) {
        let mut known = self.lock();
        known.failed.clear();
        known.given_up = false;
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a blob of the same folder can be read: the one that was read last, one of those beside it, or one further on.
/// Where there is no other one, nobody can tell.
async fn others_can_be_read(deps: &Deps, key: &BlobKey, good: Option<BlobKey>) -> bool {
    if let Some(good) = good
        && can_be_read(deps, &good).await
    {
        return true;
    }
    let folder = key.as_str().split_once('/').map_or("", |(folder, _)| folder);
    for after in [key.clone(), BlobKey::stored(format!("{folder}/"))] {
        let Ok(others) = deps.store.blob_keys(Some(&after), OTHERS).await else { return false };
        for other in others.iter().filter(|other| *other != key && other.as_str().starts_with(folder)) {
            if can_be_read(deps, other).await {
                return true;
            }
        }
    }
    let mut after = BlobKey::stored(format!("{folder}/"));
    for _ in 0..STRIDES {
        let Ok(others) = deps.store.blob_keys(Some(&after), STRIDE).await else { return false };
        let Some(last) = others.into_iter().rfind(|other| other.as_str().starts_with(folder)) else { break };
        if last != *key && can_be_read(deps, &last).await {
            return true;
        }
        after = last;
    }
    false
}

async fn can_be_read(deps: &Deps, key: &BlobKey) -> bool {
    deps.blobs.get_range(key, 0..1).await.is_ok()
}
