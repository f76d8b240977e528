//! The lease protocol as a property: any sequence of claims, reports, losses, pauses and cancellations, on any
//! store, agrees with a model that knows nothing but `core::state`, and the ledger balances after each step.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed property")]

use std::collections::BTreeMap;
use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::batch::BatchChange;
use docmill_core::clock::Clock as _;
use docmill_core::id::{BatchId, Epoch, TaskId, WorkerId};
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::store::{ClaimSpec, Commit, Committed, Outcome};
use docmill_core::problem::ResultCode;
use docmill_core::state::{TaskEvent, TaskState, transition};
use docmill_core::task::{LOST_BEFORE_ALONE, Lease, MAX_LOST, Size};
use proptest::prelude::*;

use crate::conformance::store::{Reported as _, World, ended, failure};

const WORKERS: usize = 3;

/// One step. Numbers choose among what is there at that moment.
#[derive(Clone, Debug)]
pub enum Op {
    /// Items come in.
    Receive(u8),
    /// A worker claims.
    Claim(u8, u8),
    /// A lease that was ever given is reported as done, whether it is still held or not.
    Complete(u8),
    /// A lease is reported as failed, to be tried again.
    Retry(u8, bool),
    /// A lease is reported as failed for good.
    Die(u8),
    /// A lease is handed back.
    Release(u8),
    /// A worker renews all it believes to hold.
    Renew(u8),
    /// Time passes.
    Pass(u8),
    /// Someone sweeps; perhaps a worker is known to be dead.
    Sweep(Option<u8>),
    /// The batch is paused or goes on.
    Pause(bool),
    /// Dead letters are replayed.
    Replay,
    /// Dead letters are dismissed.
    Drop,
}

/// Any step, the common ones more often.
pub fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (1_u8..5).prop_map(Op::Receive),
        6 => (any::<u8>(), 1_u8..6).prop_map(|(w, n)| Op::Claim(w, n)),
        5 => any::<u8>().prop_map(Op::Complete),
        3 => (any::<u8>(), any::<bool>()).prop_map(|(l, c)| Op::Retry(l, c)),
        1 => any::<u8>().prop_map(Op::Die),
        2 => any::<u8>().prop_map(Op::Release),
        2 => any::<u8>().prop_map(Op::Renew),
        3 => (1_u8..90).prop_map(Op::Pass),
        3 => proptest::option::of(any::<u8>()).prop_map(Op::Sweep),
        1 => any::<bool>().prop_map(Op::Pause),
        1 => Just(Op::Replay),
        1 => Just(Op::Drop),
    ]
}

/// What the model knows of a task.
struct Known {
    state: TaskState,
    epoch: i64,
    owner: Option<usize>,
    until: i64,
    attempt: u32,
    lost: u32,
    reported: Option<i64>,
}

/// The model beside the store.
struct Model {
    tasks: BTreeMap<i64, Known>,
    leases: Vec<(Lease, usize)>,
    paused: bool,
}

impl Model {
    fn step(&mut self, id: TaskId, event: TaskEvent) {
        let task = self.tasks.get_mut(&id.0).expect("a task of the model");
        task.state = transition(task.state, event).expect("a legal step");
        // A paused batch keeps what comes back to it.
        if task.state == TaskState::Queued && self.paused {
            task.state = transition(TaskState::Queued, TaskEvent::Hold).expect("a legal step");
        }
    }

    fn holds(&self, lease: &Lease) -> bool {
        self.tasks
            .get(&lease.task_id.0)
            .is_some_and(|t| t.state == TaskState::Running && t.epoch == lease.epoch.0)
    }

    fn count(&self, state: TaskState) -> u64 {
        self.tasks.values().filter(|t| t.state == state).count() as u64
    }
}

/// Plays `ops` on the store of `world` and on the model, and compares them after each.
pub async fn play(world: &World, ops: &[Op]) {
    let batch = world.batch(Some("property")).await;
    let workers: Vec<WorkerId> = (0..WORKERS).map(|_| world.worker()).collect();
    let mut model = Model { tasks: BTreeMap::new(), leases: Vec::new(), paused: false };
    for op in ops {
        apply(world, batch, &workers, &mut model, op).await;
        let status = world.store.status(world.tenant).await.unwrap();
        assert_eq!(status.tasks.queued, model.count(TaskState::Queued), "queued after {op:?}");
        assert_eq!(status.tasks.held, model.count(TaskState::Held), "held after {op:?}");
        assert_eq!(status.tasks.running, model.count(TaskState::Running), "running after {op:?}");
        assert_eq!(status.tasks.dead, model.count(TaskState::Dead), "dead after {op:?}");
        world.assert_balanced().await;
    }
    let ids: Vec<i64> = world.events().await.iter().map(|e| e.id).collect();
    assert_eq!(ids, (1..=ids.len() as i64).collect::<Vec<_>>(), "events are gapless");
}

async fn apply(world: &World, batch: BatchId, workers: &[WorkerId], model: &mut Model, op: &Op) {
    match op {
        Op::Receive(count) => receive(world, batch, model, *count).await,
        Op::Claim(worker, max) => claim(world, workers, model, *worker as usize % WORKERS, *max).await,
        Op::Complete(pick) => {
            let outcome = || ended(ResultCode::Success);
            report(world, model, *pick, TaskEvent::Succeed, false, &outcome).await;
        }
        Op::Retry(pick, charged) => {
            let now = world.clock.now();
            let error = failure(ErrorKind::ChildCrashed);
            let outcome = || Outcome::Retry {
                error: error.clone(),
                run_at: now,
                size: Size::Small,
                units: 1,
                charged: *charged,
            };
            report(world, model, *pick, TaskEvent::Retry, *charged, &outcome).await;
        }
        Op::Die(pick) => {
            let error = failure(ErrorKind::Timeout);
            let end = IngestionEnd::failed(error.clone());
            let outcome =
                || Outcome::Dead { error: error.clone(), charged: true, end: Some(end.clone()), next: None };
            report(world, model, *pick, TaskEvent::Die, true, &outcome).await;
        }
        Op::Release(pick) => release(world, model, *pick).await,
        Op::Renew(worker) => renew(world, workers, model, *worker as usize % WORKERS).await,
        Op::Pass(seconds) => world.clock.advance(Duration::from_secs(u64::from(*seconds))),
        Op::Sweep(dead) => sweep(world, workers, model, dead.map(|w| w as usize % WORKERS)).await,
        Op::Pause(paused) => {
            let change = if *paused { BatchChange::Pause } else { BatchChange::Resume };
            world.store.change_batch(world.tenant, batch, change).await.unwrap();
            model.paused = *paused;
            let (from, event) = if *paused {
                (TaskState::Queued, TaskEvent::Hold)
            } else {
                (TaskState::Held, TaskEvent::Unhold)
            };
            for task in model.tasks.values_mut().filter(|t| t.state == from) {
                task.state = transition(task.state, event).unwrap();
            }
        }
        Op::Replay => {
            let replayed = world.store.dead_replay(world.tenant, None).await.unwrap();
            let dead = in_state(model, TaskState::Dead);
            assert_eq!(replayed, dead.len() as u64);
            for id in dead {
                model.step(TaskId(id), TaskEvent::Replay);
                let task = model.tasks.get_mut(&id).unwrap();
                (task.epoch, task.attempt, task.lost) = (task.epoch + 1, 0, 0);
            }
        }
        Op::Drop => {
            let dropped = world.store.dead_drop(world.tenant, None).await.unwrap();
            let dead = in_state(model, TaskState::Dead);
            assert_eq!(dropped, dead.len() as u64);
            for id in dead {
                model.step(TaskId(id), TaskEvent::Drop);
            }
        }
    }
}

fn in_state(model: &Model, state: TaskState) -> Vec<i64> {
    model.tasks.iter().filter(|(_, t)| t.state == state).map(|(id, _)| *id).collect()
}

async fn receive(world: &World, batch: BatchId, model: &mut Model, count: u8) {
    let before = model.tasks.len() as i64;
    world.receive(Some(batch), count as usize).await;
    let state = if model.paused { TaskState::Held } else { TaskState::Queued };
    for id in before + 1..=before + i64::from(count) {
        let known = Known { state, epoch: 0, owner: None, until: 0, attempt: 0, lost: 0, reported: None };
        model.tasks.insert(id, known);
    }
}

async fn claim(world: &World, workers: &[WorkerId], model: &mut Model, worker: usize, max: u8) {
    let spec = ClaimSpec { worker_id: workers[worker], ..world.spec(max as usize) };
    let until = world.clock.now().plus(spec.lease).0;
    let most = model.count(TaskState::Queued).min(u64::from(max));
    let leases = world.store.claim(spec).await.unwrap();
    let suspects = leases.iter().filter(|l| l.alone()).count();
    assert!(leases.len() as u64 <= most && (most == 0) == leases.is_empty(), "a claim takes what there is");
    assert!(suspects == 0 || leases.len() == 1, "a task that workers vanished with is given alone");
    let any_suspect =
        model.tasks.values().any(|t| t.state == TaskState::Queued && t.lost + 1 >= LOST_BEFORE_ALONE);
    assert!(any_suspect || leases.len() as u64 == most, "and nothing less");
    for lease in leases {
        model.step(lease.task_id, TaskEvent::Claim);
        let task = model.tasks.get_mut(&lease.task_id.0).unwrap();
        task.epoch += 1;
        task.lost += 1;
        (task.owner, task.until) = (Some(worker), until);
        assert_eq!(lease.epoch, Epoch(task.epoch));
        assert_eq!((lease.attempts.total, lease.attempts.lost), (task.attempt, task.lost));
        model.leases.push((lease, worker));
    }
}

/// Reports a lease that was given at any time. Only the one that holds changes anything.
async fn report(
    world: &World,
    model: &mut Model,
    pick: u8,
    event: TaskEvent,
    charged: bool,
    outcome: &dyn Fn() -> Outcome,
) {
    let Some((lease, _)) = picked(model, pick) else { return };
    let held = model.holds(&lease);
    let repeated = model.tasks[&lease.task_id.0].reported == Some(lease.epoch.0);
    let commit = Commit {
        task_id: lease.task_id,
        epoch: lease.epoch,
        duration: Duration::ZERO,
        outcome: outcome(),
        continue_for: None,
    };
    let answer = world.store.commit(commit).await.unwrap();
    if repeated {
        assert!(answer.accepted(), "a repeated report gets its answer again");
    } else if held {
        assert!(answer.accepted(), "the holder's report is accepted");
        model.step(lease.task_id, event);
        let task = model.tasks.get_mut(&lease.task_id.0).unwrap();
        task.attempt += u32::from(charged);
        (task.lost, task.owner, task.reported) = (0, None, Some(lease.epoch.0));
    } else {
        assert_eq!(answer, Committed::Stale, "an old epoch changes nothing");
    }
}

fn picked(model: &Model, pick: u8) -> Option<(Lease, usize)> {
    let count = model.leases.len();
    // The latest leases are the interesting ones.
    (count > 0).then(|| model.leases[count - 1 - (pick as usize % count.min(8))].clone())
}

async fn release(world: &World, model: &mut Model, pick: u8) {
    let Some((lease, _)) = picked(model, pick) else { return };
    let held = model.holds(&lease);
    let released = world.store.release(vec![(lease.task_id, lease.epoch)]).await.unwrap();
    assert_eq!(released, u64::from(held));
    if held {
        model.step(lease.task_id, TaskEvent::Release);
        let task = model.tasks.get_mut(&lease.task_id.0).unwrap();
        task.lost -= 1;
        task.owner = None;
    }
}

async fn renew(world: &World, workers: &[WorkerId], model: &mut Model, worker: usize) {
    let believed: Vec<Lease> =
        model.leases.iter().filter(|(_, w)| *w == worker).map(|(l, _)| l.clone()).collect();
    let held = believed.iter().map(|l| (l.task_id, l.epoch)).collect();
    let lease = Duration::from_mins(1);
    let lost = world.store.renew(workers[worker], held, lease).await.unwrap();
    let expected: Vec<TaskId> = believed.iter().filter(|l| !model.holds(l)).map(|l| l.task_id).collect();
    assert_eq!(lost, expected, "exactly what is not held any more is lost");
    let until = world.clock.now().plus(lease).0;
    let renewed: Vec<i64> = believed.iter().filter(|l| model.holds(l)).map(|l| l.task_id.0).collect();
    for id in renewed {
        model.tasks.get_mut(&id).unwrap().until = until;
    }
}

async fn sweep(world: &World, workers: &[WorkerId], model: &mut Model, dead: Option<usize>) {
    let named: Vec<WorkerId> = dead.iter().map(|w| workers[*w]).collect();
    let now = world.clock.now().0;
    let expired: Vec<i64> = model
        .tasks
        .iter()
        .filter(|(_, t)| t.state == TaskState::Running)
        .filter(|(_, t)| t.until < now || (dead.is_some() && t.owner == dead))
        .map(|(id, _)| *id)
        .collect();
    let swept = world.store.sweep(&named).await.unwrap();
    let mut requeued = 0;
    for id in expired {
        let task = model.tasks.get_mut(&id).unwrap();
        task.epoch += 1;
        if task.lost >= MAX_LOST {
            let lease = swept.exhausted.iter().find(|l| l.task_id.0 == id).expect("it is exhausted");
            let error = failure(ErrorKind::WorkerLost);
            let end = IngestionEnd::failed(error.clone());
            world.store.bury(lease.task_id, lease.epoch, error, end).await.unwrap();
            (task.lost, task.owner, task.reported) = (0, None, Some(lease.epoch.0));
            model.step(TaskId(id), TaskEvent::Die);
        } else {
            task.owner = None;
            requeued += 1;
            model.step(TaskId(id), TaskEvent::Lose);
        }
    }
    assert_eq!(swept.requeued, requeued, "a sweep takes back exactly what nobody holds");
}
