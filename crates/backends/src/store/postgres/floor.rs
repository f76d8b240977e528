//! Below which number the outbox is empty for good.
//!
//! Rows that were folded stay in the outbox's index while any transaction keeps a snapshot from before, and each fold
//! would walk over them. Numbers are given out before their transactions commit, so a low one may still come; but a
//! transaction has its own number (xid) before it asks for one of the outbox (`tx` sees to that). Once all
//! transactions have ended that were under way when so many numbers had been given out, and what they left has been
//! folded, nothing can come below.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a fold saw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Numbers given out before it looked.
    pub(super) given: i64,
    /// The oldest transaction that was under way when it looked, and the first that had not begun.
    pub(super) oldest: i64,
    pub(super) next: i64,
    /// Nothing was left for a further fold.
    pub(super) everything: bool,
}

/// The floor, as far as this process knows.
#[derive(Default)]
pub(super) struct Floor(Mutex<State>);

#[derive(Default)]
struct State {
    floor: i64,
    /// Will be the floor when all transactions before the second number have ended and were folded.
    rising: Option<(i64, i64)>,
}

impl Floor {
    /// No row has a number below this one, now or later.
    pub(super) fn get(&self) -> i64 {
        self.lock().floor
    }

    /// A fold was committed.
    pub(super) fn folded(&self, seen: Seen) {
        let mut state = self.lock();
        if let Some((given, next)) = state.rising
            && seen.everything
            && seen.oldest >= next
        {
            state.floor = state.floor.max(given + 1);
            state.rising = None;
        }
        if state.rising.is_none() {
            state.rising = Some((seen.given, seen.next));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(given: i64, oldest: i64, next: i64) -> Seen {
        Seen { given, oldest, next, everything: true }
    }

    #[test]
    fn floor_rises_once_older_transactions_have_ended() {
        let floor = Floor::default();
        floor.folded(seen(10, 100, 105));
        assert_eq!(floor.get(), 0);
        floor.folded(seen(20, 104, 110));
        assert_eq!(floor.get(), 0, "104 may still commit a row below 11");
        floor.folded(Seen { everything: false, ..seen(30, 105, 120) });
        assert_eq!(floor.get(), 0, "there is more to fold");
        floor.folded(seen(40, 105, 130));
        assert_eq!(floor.get(), 11);
        floor.folded(seen(50, 130, 140));
        assert_eq!(floor.get(), 41);
    }
}
