//! How many items end a second, over the last ten. It is told by whoever commits and forgotten with the process.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const WINDOW: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(in crate::store) struct Pace(Mutex<VecDeque<(Duration, u64)>>);

impl Pace {
    pub(in crate::store) fn note(&self, at: Duration, ended: u64) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push_back((at, ended));
        forget(&mut notes, at);
    }

    pub(in crate::store) fn per_second(&self, now: Duration) -> f64 {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        forget(&mut notes, now);
        let ended: u64 = notes.iter().map(|n| n.1).sum();
        // At the start of a run the window is not full yet; a second is the least that says anything.
        let span = notes.front().map_or(WINDOW, |n| now.saturating_sub(n.0));
        ended as f64 / span.max(Duration::from_secs(1)).as_secs_f64()
    }
}

fn forget(notes: &mut VecDeque<(Duration, u64)>, now: Duration) {
    while notes.front().is_some_and(|n| now.saturating_sub(n.0) > WINDOW) {
        notes.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_second_counts_only_the_last_ten_seconds() {
        let pace = Pace::default();
        pace.note(Duration::from_secs(1), 1000);
        pace.note(Duration::from_secs(20), 50);
        assert!((pace.per_second(Duration::from_secs(25)) - 10.0).abs() < 1e-9);
        assert!(pace.per_second(Duration::from_mins(1)).abs() < 1e-9);
    }
}
