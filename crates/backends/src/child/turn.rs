//! Counting children: a `Turn` is one of the places at work, an `Alive` one process that is not reaped yet.
//! Both give back what they hold when they are dropped, however the child's task ended.

use std::sync::Arc;

use super::pool::Shared;
use super::queue::Batch;

/// A frame's worth of documents with the right to work on them.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) batch: Batch,
    pub(super) turn: Turn,
}

/// One of the `max_children` places at work, or of the `max_detached` beside them.
#[derive(Debug)]
pub(super) struct Turn {
    shared: Arc<Shared>,
    detached: bool,
}

impl Turn {
    /// Whoever calls has counted it, among the working or among the detached.
    pub(super) fn counted(shared: &Arc<Shared>, detached: bool) -> Self {
        Self { shared: Arc::clone(shared), detached }
    }

    /// Leaves the place to others and goes on beside them, if there is room for that.
    pub(super) fn detach(&mut self) -> bool {
        let mut state = self.shared.state();
        if self.detached || state.detached >= self.shared.settings.max_detached {
            return false;
        }
        state.working -= 1;
        state.detached += 1;
        self.detached = true;
        drop(state);
        self.shared.dispatch();
        true
    }

    pub(super) fn is_detached(&self) -> bool {
        self.detached
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        if self.detached {
            state.detached -= 1;
        } else {
            state.working -= 1;
        }
        drop(state);
        self.shared.dispatch();
    }
}

/// Counts a child's task until its process is reaped, so that `shutdown` knows when none is left.
#[derive(Debug)]
pub(super) struct Alive {
    shared: Arc<Shared>,
}

impl Alive {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        shared.alive.send_modify(|n| *n += 1);
        shared.settings.meter.alive.inc();
        Self { shared: Arc::clone(shared) }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.shared.alive.send_modify(|n| *n -= 1);
        self.shared.settings.meter.alive.dec();
    }
}
