//! What the engine knows about each task it holds: how far it is, until when it may go on, and whether it has
//! been told to stop. One central look now and then over this table replaces a timer for each task.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use docmill_core::id::{Epoch, TaskId};
use tokio::sync::Notify;

use crate::stages::Progress;

/// Why a task must stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// Somebody else owns it, or it was cancelled.
    Lost,
    /// Its lease ends and could not be renewed.
    LeaseEnds,
    /// It has made no progress for too long.
    Stalled,
    /// The engine goes down.
    ShuttingDown,
}

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const HANDED_BACK: u8 = 2;

/// The place of one leased task.
pub(crate) struct Seat {
    pub(crate) task_id: TaskId,
    pub(crate) epoch: Epoch,
    pub(crate) progress: Progress,
    /// When the lease ends, on the monotonic clock, counted from before it was asked for.
    lease_ends_ms: AtomicU64,
    state: AtomicU8,
    stop: OnceLock<Stop>,
    told: Notify,
}

impl Seat {
    pub(crate) fn new(task_id: TaskId, epoch: Epoch, now: Duration, lease_ends: Duration) -> Self {
        let progress = Progress::default();
        progress.note(now);
        Self {
            task_id,
            epoch,
            progress,
            lease_ends_ms: AtomicU64::new(lease_ends.as_millis() as u64),
            state: AtomicU8::new(WAITING),
            stop: OnceLock::new(),
            told: Notify::new(),
        }
    }

    /// Begins the work; false if it was handed back before it began.
    pub(crate) fn begin(&self) -> bool {
        self.state.compare_exchange(WAITING, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Hands the work back; false if it has begun.
    fn hand_back(&self) -> bool {
        self.state.compare_exchange(WAITING, HANDED_BACK, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Tells the work to stop. The first reason counts.
    pub(crate) fn stop(&self, why: Stop) {
        if self.stop.set(why).is_ok() {
            self.told.notify_one();
        }
    }

    /// Why it must stop, if it must.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stop.get().copied()
    }

    /// Resolves when it must stop. Only one task may wait here.
    pub(crate) async fn told_to_stop(&self) -> Stop {
        loop {
            if let Some(why) = self.stopped() {
                return why;
            }
            self.told.notified().await;
        }
    }

    /// The lease was renewed.
    pub(crate) fn prolong(&self, lease_ends: Duration) {
        self.lease_ends_ms.fetch_max(lease_ends.as_millis() as u64, Ordering::Relaxed);
    }

    /// When the lease ends.
    pub(crate) fn lease_ends(&self) -> Duration {
        Duration::from_millis(self.lease_ends_ms.load(Ordering::Relaxed))
    }
}

/// All seats that are taken.
#[derive(Default)]
pub(crate) struct Seats {
    taken: Mutex<HashMap<TaskId, Arc<Seat>>>,
}

impl Seats {
    /// Takes a seat.
    pub(crate) fn take(&self, seat: Arc<Seat>) {
        self.lock().insert(seat.task_id, seat);
    }

    /// Leaves it. A newer lease of the same task keeps its seat.
    pub(crate) fn leave(&self, seat: &Seat) {
        let mut taken = self.lock();
        if taken.get(&seat.task_id).is_some_and(|there| there.epoch == seat.epoch) {
            taken.remove(&seat.task_id);
        }
    }

    /// Everyone who sits.
    pub(crate) fn all(&self) -> Vec<Arc<Seat>> {
        self.lock().values().map(Arc::clone).collect()
    }

    /// Takes all tasks back that have not begun.
    pub(crate) fn hand_back_unbegun(&self) -> Vec<(TaskId, Epoch)> {
        self.all().iter().filter(|seat| seat.hand_back()).map(|seat| (seat.task_id, seat.epoch)).collect()
    }

    /// Stops what has stalled and what can no longer be sure of its lease.
    pub(crate) fn inspect(&self, now: Duration, stall_limit: Duration, margin: Duration) {
        for seat in self.lock().values() {
            if now.saturating_sub(seat.progress.last()) > stall_limit {
                seat.stop(Stop::Stalled);
            } else if now + margin > seat.lease_ends() {
                seat.stop(Stop::LeaseEnds);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TaskId, Arc<Seat>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(task: i64, lease_ends: u64) -> Arc<Seat> {
        Arc::new(Seat::new(TaskId(task), Epoch(1), Duration::ZERO, Duration::from_secs(lease_ends)))
    }

    #[test]
    fn hand_back_takes_only_what_has_not_begun() {
        let seats = Seats::default();
        let (begun, waiting) = (seat(1, 60), seat(2, 60));
        seats.take(Arc::clone(&begun));
        seats.take(Arc::clone(&waiting));
        assert!(begun.begin());
        assert_eq!(seats.hand_back_unbegun(), [(TaskId(2), Epoch(1))]);
        assert!(!waiting.begin(), "what was handed back never begins");
    }

    #[test]
    fn inspect_stops_what_stalls_and_what_loses_its_lease() {
        let seats = Seats::default();
        let (stalled, expiring, fine) = (seat(1, 1_000), seat(2, 60), seat(3, 1_000));
        for seat in [&stalled, &expiring, &fine] {
            seats.take(Arc::clone(seat));
        }
        let now = Duration::from_secs(55);
        expiring.progress.note(now);
        fine.progress.note(now);
        seats.inspect(now, Duration::from_secs(30), Duration::from_secs(10));
        assert_eq!(stalled.stopped(), Some(Stop::Stalled));
        assert_eq!(expiring.stopped(), Some(Stop::LeaseEnds));
        assert_eq!(fine.stopped(), None);
        expiring.prolong(Duration::from_mins(2));
        assert_eq!(expiring.lease_ends(), Duration::from_mins(2));
    }
}
