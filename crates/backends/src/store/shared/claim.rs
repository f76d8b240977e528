//! Which of the queued tasks a worker gets: a task a tenant in turn, as far as they fit.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use docmill_core::clock::Timestamp;
use docmill_core::id::{TaskId, TenantId};
use docmill_core::ports::store::ClaimSpec;
use docmill_core::task::LOST_BEFORE_ALONE;

/// A claim looks at so many tenants; the next claim goes on with those after them.
pub(in crate::store) const TENANTS_PER_CLAIM: usize = 64;

/// A task that is too large for the free capacity, or must run alone, is passed over by others for so long; then
/// the worker drains for it, so that it is not passed over for ever.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where the round over tenants stands. It is a hint: losing it costs nothing.
#[derive(Default)]
pub(in crate::store) struct Turn(Mutex<Option<TenantId>>);

impl Turn {
    /// The tenant that was served last.
    pub(in crate::store) fn last(&self) -> Option<TenantId> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This one was served last.
    pub(in crate::store) fn served(&self, tenant: Option<TenantId>) {
        if tenant.is_some() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = tenant;
        }
    }
}

/// A task that could be claimed, as it stands in the queue.
#[derive(Clone, Debug)]
pub(in crate::store) struct Candidate {
    pub(in crate::store) task_id: TaskId,
    /// The place of its kind in [`Wanted::kinds`].
    pub(in crate::store) kind: usize,
    pub(in crate::store) units: u32,
    /// Claims of it without a report so far.
    pub(in crate::store) lost: u32,
    pub(in crate::store) order_key: i64,
    pub(in crate::store) run_at: Timestamp,
}

/// A task that the worker gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::store) struct Chosen {
    pub(in crate::store) task_id: TaskId,
    /// The capacity it takes; all there is, if it must run alone.
    pub(in crate::store) units: u32,
    /// How long it has been due.
    pub(in crate::store) waited: Duration,
}

/// What a claim is after.
pub(in crate::store) struct Wanted {
    /// Kinds that are not paused, and how many of each at most.
    pub(in crate::store) kinds: Vec<(String, usize)>,
    units: u32,
    idle: bool,
    max_tasks: usize,
}

impl Wanted {
    pub(in crate::store) fn new(spec: &ClaimSpec, paused: &[String]) -> Self {
        let kinds = spec
            .kinds
            .iter()
            .filter(|(kind, max)| *max > 0 && !paused.iter().any(|p| p == kind.as_str()))
            .map(|(kind, max)| (kind.as_str().to_owned(), *max))
            .collect();
        Self { kinds, units: spec.units, idle: spec.idle, max_tasks: spec.max_tasks }
    }

    /// Enough of each tenant that the rounds rarely run dry before the claim is full.
    pub(in crate::store) fn share(&self, tenants: usize) -> usize {
        (2 * self.max_tasks).div_ceil(tenants.max(1)).min(self.max_tasks)
    }

    /// Goes round the tenants' queues, each the head of one tenant's queue over all kinds. Answers what was
    /// chosen and which tenant was served last. Where none of so many tenants has anything for this worker that is
    /// due, it is the turn of those behind them.
    pub(in crate::store) fn choose(
        &self,
        queues: Vec<(TenantId, Vec<Candidate>)>,
        now: Timestamp,
    ) -> (Vec<Chosen>, Option<TenantId>) {
        let mut kinds_left: Vec<usize> = self.kinds.iter().map(|k| k.1).collect();
        let mut queues: Vec<(TenantId, VecDeque<Candidate>)> = queues
            .into_iter()
            .map(|(tenant, mut queue)| {
                queue.sort_by_key(|c| (c.order_key, c.task_id));
                (tenant, queue.into())
            })
            .collect();
        let mut units_left = self.units;
        let mut chosen: Vec<Chosen> = Vec::new();
        let idle = queues.len() >= TENANTS_PER_CLAIM && queues.iter().all(|(_, queue)| queue.is_empty());
        let mut last_served = queues.last().map(|(tenant, _)| *tenant).filter(|_| idle);
        'rounds: while chosen.len() < self.max_tasks && queues.iter().any(|(_, q)| !q.is_empty()) {
            for (tenant, queue) in &mut queues {
                let Some(candidate) = queue.pop_front() else { continue };
                let Some(left) = kinds_left.get_mut(candidate.kind).filter(|left| **left > 0) else {
                    continue;
                };
                let alone = self.idle && chosen.is_empty();
                let suspect = candidate.lost + 1 >= LOST_BEFORE_ALONE;
                let fits = !suspect && candidate.units <= units_left;
                if !fits && !alone {
                    if now.since(candidate.run_at) > PATIENCE {
                        break 'rounds;
                    }
                    continue;
                }
                *left -= 1;
                last_served = Some(*tenant);
                let (task_id, waited) = (candidate.task_id, now.since(candidate.run_at));
                if suspect {
                    // Whatever takes the worker down now, it was this one: nothing else runs beside it, and no
                    // innocent neighbour is counted as lost again.
                    let units = candidate.units.max(self.units);
                    chosen.push(Chosen { task_id, units, waited });
                    break 'rounds;
                }
                units_left = units_left.saturating_sub(candidate.units);
                chosen.push(Chosen { task_id, units: candidate.units, waited });
                if chosen.len() >= self.max_tasks {
                    break 'rounds;
                }
            }
        }
        (chosen, last_served)
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::id::WorkerId;
    use docmill_core::task::TaskKind;
    use uuid::Uuid;

    use super::*;

    fn wanted(units: u32, idle: bool, max_tasks: usize) -> Wanted {
        let spec = ClaimSpec {
            worker_id: WorkerId(Uuid::nil()),
            lease: Duration::from_mins(1),
            kinds: vec![(TaskKind::named("a"), max_tasks), (TaskKind::named("b"), 9)],
            units,
            idle,
            max_tasks,
            tenant_id: None,
        };
        Wanted::new(&spec, &["b".to_owned()])
    }

    fn candidate(id: i64, units: u32, lost: u32) -> Candidate {
        let task_id = TaskId(id);
        Candidate { task_id, kind: 0, units, lost, order_key: id, run_at: Timestamp(0) }
    }

    fn tenant(n: u128) -> TenantId {
        TenantId(Uuid::from_u128(n))
    }

    fn ids(chosen: &[Chosen]) -> Vec<i64> {
        chosen.iter().map(|c| c.task_id.0).collect()
    }

    #[test]
    fn tenants_take_turns() {
        let queues = vec![
            (tenant(1), (0..10).map(|n| candidate(n, 1, 0)).collect()),
            (tenant(2), vec![candidate(100, 1, 0)]),
        ];
        let (chosen, last) = wanted(10, true, 4).choose(queues, Timestamp(0));
        assert_eq!((ids(&chosen), last), (vec![0, 100, 1, 2], Some(tenant(1))));
    }

    #[test]
    fn paused_kinds_are_not_asked_for() {
        assert_eq!(wanted(1, true, 1).kinds, [("a".to_owned(), 1)]);
    }

    #[test]
    fn suspect_runs_alone_and_takes_everything() {
        let queues = || vec![(tenant(1), vec![candidate(1, 1, LOST_BEFORE_ALONE), candidate(2, 1, 0)])];
        let (chosen, _) = wanted(8, true, 4).choose(queues(), Timestamp(0));
        assert_eq!(chosen, [Chosen { task_id: TaskId(1), units: 8, waited: Duration::ZERO }]);
        let (chosen, _) = wanted(8, false, 4).choose(queues(), Timestamp(0));
        assert_eq!(ids(&chosen), [2], "a busy worker passes it over");
        let (chosen, _) = wanted(8, false, 4).choose(queues(), Timestamp(6_000));
        assert!(chosen.is_empty(), "but not for ever");
    }
}
