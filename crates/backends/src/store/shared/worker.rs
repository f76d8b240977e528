//! Which workers are believed to live.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docmill_core::clock::Timestamp;
use docmill_core::id::WorkerId;
use docmill_core::ports::store::NewWorker;

/// A worker that has not been seen for so long is not shown any more: twice the usual lease. Workers are seen every
/// half a minute at least.
const SHOWN_FOR: Duration = Duration::from_mins(2);

/// One that has not been seen for so long, and holds nothing, is gone: that of another machine cannot be looked for.
const KEPT_FOR: Duration = Duration::from_mins(10);

/// Workers seen after this are shown.
pub(in crate::store) fn shown_since(now: Timestamp) -> i64 {
    now.minus(SHOWN_FOR).0
}

/// Workers seen after this are kept.
pub(in crate::store) fn kept_since(now: Timestamp) -> i64 {
    now.minus(KEPT_FOR).0
}

/// The workers of this process, as they announced themselves: one that was taken for gone while the store could not be
/// reached is announced again.
#[derive(Default)]
pub(in crate::store) struct Announced(Mutex<HashMap<WorkerId, NewWorker>>);

impl Announced {
    pub(in crate::store) fn add(&self, worker: NewWorker) {
        self.lock().insert(worker.worker_id, worker);
    }

    pub(in crate::store) fn find(&self, worker: WorkerId) -> Option<NewWorker> {
        self.lock().get(&worker).cloned()
    }

    pub(in crate::store) fn remove(&self, worker: WorkerId) {
        self.lock().remove(&worker);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WorkerId, NewWorker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
