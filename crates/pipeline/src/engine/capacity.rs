//! How much a worker takes on: units of capacity over all kinds, and for each kind at most so many at once and
//! so many starts a second.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use docmill_core::config::KindSettings;
use docmill_core::task::{TaskKind, UNITS_PER_SLOT};

/// What a worker can take now.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Room {
    /// Free units.
    pub(crate) units: u32,
    /// Nothing runs.
    pub(crate) idle: bool,
    /// More than half is free, or nothing runs.
    pub(crate) ample: bool,
    /// Kinds it takes now, and how many of each.
    pub(crate) kinds: Vec<(TaskKind, usize)>,
}

/// A task that ends, with its kind and units.
#[derive(Clone, Copy)]
pub(crate) struct Ended<'a> {
    pub(crate) task: (&'a TaskKind, u32),
    /// What takes its place at once.
    pub(crate) next: Option<(&'a TaskKind, u32)>,
}

/// The capacity of one worker.
pub(crate) struct Capacity {
    state: Mutex<State>,
}

struct State {
    units: u32,
    used: u32,
    running: usize,
    gates: BTreeMap<TaskKind, Gate>,
}

struct Gate {
    at_once: Option<u32>,
    running: u32,
    starts: Option<Bucket>,
}

/// A token bucket that holds one second's worth of starts.
struct Bucket {
    per_second: f64,
    tokens: f64,
    filled_at: Duration,
}

impl Capacity {
    /// Room for `slots` ordinary tasks of these kinds.
    pub(crate) fn new(slots: u32, kinds: &[TaskKind], limits: &BTreeMap<String, KindSettings>) -> Self {
        let gate = |kind: &TaskKind| {
            let limit = limits.get(kind.as_str()).copied().unwrap_or_default();
            let bucket = |per_second: f64| Bucket {
                per_second,
                tokens: per_second.max(1.0),
                filled_at: Duration::ZERO,
            };
            (
                kind.clone(),
                Gate { at_once: limit.concurrency, running: 0, starts: limit.per_second.map(bucket) },
            )
        };
        let state = State {
            units: slots.max(1) * UNITS_PER_SLOT,
            used: 0,
            running: 0,
            gates: kinds.iter().map(gate).collect(),
        };
        Self { state: Mutex::new(state) }
    }

    /// What can be taken now.
    pub(crate) fn room(&self, now: Duration) -> Room {
        self.room_after(&std::iter::empty(), now)
    }

    /// What can be taken once these tasks have ended and their places have gone to what follows them.
    pub(crate) fn room_after<'a>(
        &self,
        ended: &(impl Iterator<Item = Ended<'a>> + Clone),
        now: Duration,
    ) -> Room {
        let mut state = self.lock();
        let (mut running, mut used) = (state.running, state.used);
        for Ended { task, next } in ended.clone() {
            (running, used) = (running.saturating_sub(1), used.saturating_sub(task.1));
            if let Some((_, units)) = next {
                (running, used) = (running + 1, used + units);
            }
        }
        let units = state.units.saturating_sub(used);
        let ample = running == 0 || units * 2 >= state.units;
        let kinds = state
            .gates
            .iter_mut()
            .map(|(kind, gate)| {
                let of = |place: Option<(&TaskKind, u32)>| u32::from(place.is_some_and(|(k, _)| k == kind));
                let ends: u32 = ended.clone().map(|e| of(Some(e.task))).sum();
                let begins: u32 = ended.clone().map(|e| of(e.next)).sum();
                let running = (gate.running + begins).saturating_sub(ends);
                (kind.clone(), gate.open(running, now))
            })
            .filter(|(_, open)| *open > 0)
            .collect();
        Room { units, idle: running == 0, ample, kinds }
    }

    /// Takes a task on. It is not refused: the store gave it within the room that was asked for, or because
    /// nothing else ran.
    pub(crate) fn take(&self, kind: &TaskKind, units: u32, now: Duration) {
        let mut state = self.lock();
        state.used += units;
        state.running += 1;
        if let Some(gate) = state.gates.get_mut(kind) {
            gate.start(now);
        }
    }

    /// A task has ended. True if it pays now to claim at once.
    pub(crate) fn give_back(&self, kind: &TaskKind, units: u32) -> bool {
        let mut state = self.lock();
        state.used = state.used.saturating_sub(units);
        state.running = state.running.saturating_sub(1);
        if let Some(gate) = state.gates.get_mut(kind) {
            gate.running = gate.running.saturating_sub(1);
        }
        state.is_ample()
    }

    /// Whether no more than `tasks` run.
    pub(crate) fn runs_at_most(&self, tasks: usize) -> bool {
        self.lock().running <= tasks
    }

    /// Whether a task of `kind` may follow at once in the place of one that takes `held` units.
    pub(crate) fn may_follow(&self, kind: &TaskKind, units: u32, held: u32, now: Duration) -> bool {
        let mut state = self.lock();
        let free = state.units.saturating_sub(state.used) + held;
        // A task alone may be larger than the worker, as when it is claimed.
        let fits = units <= free || state.running <= 1;
        fits && state.gates.get_mut(kind).is_some_and(|gate| gate.open(gate.running, now) > 0)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_ample(&self) -> bool {
        self.running == 0 || self.units.saturating_sub(self.used) * 2 >= self.units
    }
}

impl Gate {
    /// How many more may start now, if so many run.
    fn open(&mut self, running: u32, now: Duration) -> usize {
        let at_once = self.at_once.map_or(usize::MAX, |limit| limit.saturating_sub(running) as usize);
        let starts = self.starts.as_mut().map_or(usize::MAX, |bucket| {
            bucket.fill(now);
            bucket.tokens as usize
        });
        at_once.min(starts)
    }

    fn start(&mut self, now: Duration) {
        self.running += 1;
        if let Some(bucket) = &mut self.starts {
            bucket.fill(now);
            bucket.tokens -= 1.0;
        }
    }
}

impl Bucket {
    fn fill(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.filled_at).as_secs_f64();
        self.filled_at = self.filled_at.max(now);
        self.tokens = (self.tokens + passed * self.per_second).min(self.per_second.max(1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TaskKind = TaskKind::named("a");
    const B: TaskKind = TaskKind::named("b");

    fn capacity(slots: u32, limit: KindSettings) -> Capacity {
        Capacity::new(slots, &[A, B], &BTreeMap::from([("a".to_owned(), limit)]))
    }

    fn open(room: &Room, kind: &TaskKind) -> usize {
        room.kinds.iter().find(|(k, _)| k == kind).map_or(0, |(_, n)| *n)
    }

    #[test]
    fn room_shrinks_and_grows_with_units() {
        let capacity = capacity(2, KindSettings::default());
        assert_eq!(capacity.room(Duration::ZERO).units, 64);
        capacity.take(&B, 32, Duration::ZERO);
        let room = capacity.room(Duration::ZERO);
        assert!(room.units == 32 && room.ample && !room.idle);
        capacity.take(&B, 1, Duration::ZERO);
        assert!(!capacity.room(Duration::ZERO).ample);
        capacity.give_back(&B, 32);
        assert_eq!(capacity.room(Duration::ZERO).units, 63);
    }

    #[test]
    fn room_of_an_overfull_worker_is_zero() {
        let capacity = capacity(1, KindSettings::default());
        capacity.take(&B, 160, Duration::ZERO);
        assert_eq!(capacity.room(Duration::ZERO).units, 0);
        capacity.give_back(&B, 160);
        assert!(capacity.room(Duration::ZERO).idle);
    }

    #[test]
    fn concurrency_of_a_kind_closes_its_gate_alone() {
        let capacity = capacity(8, KindSettings { concurrency: Some(2), per_second: None });
        capacity.take(&A, 1, Duration::ZERO);
        assert_eq!(open(&capacity.room(Duration::ZERO), &A), 1);
        capacity.take(&A, 1, Duration::ZERO);
        let room = capacity.room(Duration::ZERO);
        assert_eq!(open(&room, &A), 0);
        assert_eq!(open(&room, &B), usize::MAX);
        assert!(!capacity.may_follow(&A, 1, 1, Duration::ZERO));
        capacity.give_back(&A, 1);
        assert!(capacity.may_follow(&A, 1, 1, Duration::ZERO));
    }

    #[test]
    fn starts_of_a_kind_come_back_with_time() {
        let capacity = capacity(8, KindSettings { concurrency: None, per_second: Some(2.0) });
        let now = Duration::from_secs(1);
        for _ in 0..2 {
            capacity.take(&A, 1, now);
        }
        assert_eq!(open(&capacity.room(now), &A), 0);
        assert_eq!(open(&capacity.room(now + Duration::from_millis(500)), &A), 1);
        assert_eq!(open(&capacity.room(now + Duration::from_mins(1)), &A), 2, "no hoarding");
    }

    #[test]
    fn what_follows_keeps_the_place_of_what_ends() {
        let capacity = capacity(2, KindSettings { concurrency: Some(1), per_second: None });
        capacity.take(&B, 32, Duration::ZERO);
        let (a, b) = (A, B);
        let ended = |next| std::iter::once(Ended { task: (&b, 32), next });
        let room = capacity.room_after(&ended(None), Duration::ZERO);
        assert!(room.idle && room.units == 64 && open(&room, &A) == 1);
        let room = capacity.room_after(&ended(Some((&a, 60))), Duration::ZERO);
        assert!(!room.idle && !room.ample && room.units == 4);
        assert_eq!(open(&room, &A), 0, "its one place is taken");
    }

    #[test]
    fn follow_needs_room_unless_alone() {
        let capacity = capacity(1, KindSettings::default());
        capacity.take(&A, 1, Duration::ZERO);
        assert!(capacity.may_follow(&B, 160, 1, Duration::ZERO), "alone");
        capacity.take(&A, 1, Duration::ZERO);
        assert!(!capacity.may_follow(&B, 160, 1, Duration::ZERO));
        assert!(capacity.may_follow(&B, 31, 1, Duration::ZERO));
    }
}
