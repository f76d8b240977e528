//! Holding, losing and reporting work.

use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::clock::Clock as _;
use docmill_core::disposition::MAX_ATTEMPTS;
use docmill_core::event::{EventStatus, EventType};
use docmill_core::fingerprint::fingerprint;
use docmill_core::id::{ContentHash, Epoch, WorkerId};
use docmill_core::ingestion::{Facts, IngestionEnd, IngestionStatus};
use docmill_core::ports::Store;
use docmill_core::ports::store::{
    ClaimSpec, Commit, Committed, Done, FanOut, NewWorker, Outcome, Receipt, StepRecord,
};
use docmill_core::problem::ResultCode;
use docmill_core::task::{LOST_BEFORE_ALONE, Lease, MAX_LOST, NewTask, Size, TaskKind};
use docmill_core::understanding::Understanding;

use super::world::{KIND, LEASE, Reported as _, World, done, ended, failure, new_task};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        renewed_lease_is_not_swept,
        expired_lease_is_swept_and_its_report_is_stale,
        renewal_after_a_sweep_says_lost,
        dead_workers_tasks_are_swept_at_once,
        two_sweeps_take_back_once,
        release_costs_nothing,
        repeated_report_gets_the_first_answer,
        repeated_report_returns_the_same_continuation,
        report_of_an_old_epoch_changes_nothing,
        retry_counts_only_when_charged,
        escalation_begins_a_new_size,
        losses_are_bounded_and_reports_clear_them,
        dead_letter_can_be_replayed_and_dropped,
        dead_letter_hands_on_what_does_not_depend_on_it,
        failing_is_counted_from_the_first_failure_until_a_replay,
        continuation_is_leased_at_once,
        unasked_continuation_is_queued,
        join_runs_after_its_last_part,
        dead_part_does_not_block_its_join,
        dead_part_is_replayed_with_its_dead_join,
        degraded_result_is_never_reused,
        workers_are_listed_while_they_live,
        workers_that_are_not_seen_any_more_leave_the_list,
        why_tells_that_no_worker_takes_the_kind,
    ]
}

async fn renewed_lease_is_not_swept(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    for _ in 0..10 {
        world.clock.advance(Duration::from_secs(45));
        let held = vec![(lease.task_id, lease.epoch)];
        assert!(world.store.renew(world.worker, held, LEASE).await.unwrap().is_empty());
        assert_eq!(world.store.sweep(&[]).await.unwrap().requeued, 0);
    }
    assert!(world.complete(&lease).await.accepted());
}

async fn expired_lease_is_swept_and_its_report_is_stale(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let old = world.claim_one().await;
    world.clock.advance(LEASE + Duration::from_secs(1));
    assert_eq!(world.store.sweep(&[]).await.unwrap().requeued, 1);
    let new = world.claim_one().await;
    assert!(new.epoch > old.epoch);
    assert_eq!(new.attempts.total, 0, "a lost lease costs no attempt");
    assert_eq!(world.complete(&old).await, Committed::Stale);
    assert!(world.complete(&new).await.accepted());
    assert_eq!(world.complete(&old).await, Committed::Stale);
    world.assert_balanced().await;
}

async fn renewal_after_a_sweep_says_lost(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    world.clock.advance(LEASE * 2);
    world.store.sweep(&[]).await.unwrap();
    let lost = world.store.renew(world.worker, vec![(lease.task_id, lease.epoch)], LEASE).await.unwrap();
    assert_eq!(lost, [lease.task_id]);
}

async fn dead_workers_tasks_are_swept_at_once(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 3).await;
    world.claim(2).await;
    let other = ClaimSpec { worker_id: world.worker(), ..world.spec(1) };
    world.store.claim(other).await.unwrap();
    assert_eq!(world.store.sweep(&[world.worker]).await.unwrap().requeued, 2);
}

async fn two_sweeps_take_back_once(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 5).await;
    world.claim(5).await;
    world.clock.advance(LEASE * 2);
    let (a, b) = tokio::join!(world.store.sweep(&[]), world.store.sweep(&[]));
    assert_eq!(a.unwrap().requeued + b.unwrap().requeued, 5);
}

async fn release_costs_nothing(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    for _ in 0..20 {
        let lease = world.claim_one().await;
        assert_eq!((lease.attempts.total, lease.attempts.lost), (0, 1));
        assert_eq!(world.store.release(vec![(lease.task_id, lease.epoch)]).await.unwrap(), 1);
        let again = world.store.release(vec![(lease.task_id, lease.epoch)]).await.unwrap();
        assert_eq!(again, 0, "what is not held cannot be released");
    }
}

async fn repeated_report_gets_the_first_answer(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    assert!(world.complete(&lease).await.accepted());
    let before = world.events().await.len();
    assert!(world.complete(&lease).await.accepted(), "a lost reply is harmless");
    assert_eq!(world.events().await.len(), before, "and nothing happens twice");
    world.assert_balanced().await;
}

fn report(lease: &Lease, outcome: Outcome) -> Commit {
    Commit {
        task_id: lease.task_id,
        epoch: lease.epoch,
        duration: Duration::ZERO,
        outcome,
        continue_for: Some(LEASE),
    }
}

async fn repeated_report_returns_the_same_continuation(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    let commit = report(&lease, done(Done { next: Some(new_task(&KIND)), ..Done::default() }));
    let first = world.store.commit(commit.clone()).await.unwrap();
    let second = world.store.commit(commit).await.unwrap();
    assert_eq!(first, second);
    let Committed::Accepted { next: Some(next) } = first else { panic!("no continuation") };
    assert_ne!(next.task_id, lease.task_id);
}

async fn report_of_an_old_epoch_changes_nothing(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    let mut old = report(&lease, ended(ResultCode::Success));
    old.epoch = Epoch(lease.epoch.0 - 1);
    assert_eq!(world.store.commit(old).await.unwrap(), Committed::Stale);
    let status = world.store.status(world.tenant).await.unwrap();
    assert_eq!((status.tasks.running, status.ingestions.completed), (1, 0));
}

fn retry(world: &World, charged: bool, size: Size) -> Outcome {
    let error = failure(ErrorKind::ChildCrashed);
    Outcome::Retry { error, run_at: world.clock.now(), size, units: 1, charged }
}

async fn retry_counts_only_when_charged(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.receive(None, 1).await;
    for _ in 0..5 {
        let lease = world.claim_one().await;
        assert_eq!(lease.attempts.total, 0);
        world.report(&lease, retry(&world, false, Size::Small)).await;
    }
    let lease = world.claim_one().await;
    world.report(&lease, retry(&world, true, Size::Small)).await;
    let lease = world.claim_one().await;
    assert_eq!((lease.attempts.total, lease.attempts.in_size), (1, 1));
    let why = world.store.why(world.tenant, &received[0].ingestion_id.to_string()).await.unwrap().unwrap();
    assert_eq!((why.attempt, why.max_attempts), (1, MAX_ATTEMPTS));
    assert_eq!(why.last_error.unwrap().kind, ErrorKind::ChildCrashed);
    assert_eq!(why.lease.unwrap().owner, world.worker);
}

async fn escalation_begins_a_new_size(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    world.report(&lease, retry(&world, true, Size::Large)).await;
    let lease = world.claim_one().await;
    assert_eq!((lease.size, lease.attempts.total, lease.attempts.in_size), (Size::Large, 1, 0));
}

async fn losses_are_bounded_and_reports_clear_them(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 1).await;
    world.seal(batch, 1).await;
    for n in 1..MAX_LOST {
        let lease = world.claim_one().await;
        assert_eq!(lease.attempts.lost, n);
        assert_eq!(lease.alone(), n >= LOST_BEFORE_ALONE);
        assert_eq!(world.store.sweep(&[world.worker]).await.unwrap().requeued, 1);
    }
    let lease = world.claim_one().await;
    let swept = world.store.sweep(&[world.worker]).await.unwrap();
    assert_eq!((swept.requeued, swept.exhausted.len()), (0, 1));
    let task = &swept.exhausted[0];
    assert_eq!(world.complete(&lease).await, Committed::Stale, "its old worker cannot report any more");
    let error = failure(ErrorKind::WorkerLost);
    let end = IngestionEnd::failed(error.clone());
    world.store.bury(task.task_id, task.epoch, error.clone(), end.clone()).await.unwrap();
    world.store.bury(task.task_id, task.epoch, error, end).await.unwrap();
    let totals = world.totals(batch).await;
    assert_eq!((totals.failed, totals.dead, totals.open), (1, 1, 0));
    world.assert_balanced().await;
}

async fn dead_letter_can_be_replayed_and_dropped(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 1).await;
    world.seal(batch, 1).await;
    let die = |error| Outcome::Dead {
        end: Some(IngestionEnd::failed(error)),
        error: failure(ErrorKind::Timeout),
        charged: true,
        next: None,
    };
    let lease = world.claim_one().await;
    world.report(&lease, die(failure(ErrorKind::Timeout))).await;
    let dead = world.store.dead(world.tenant, 10).await.unwrap();
    assert_eq!((dead.len(), dead[0].attempt), (1, 1));
    assert!(world.claim(1).await.is_empty());
    let twice = [dead[0].task_id; 2];
    assert_eq!(
        world.store.dead_replay(world.tenant, Some(&twice)).await.unwrap(),
        1,
        "named twice, done once"
    );
    world.assert_balanced().await;
    let lease = world.claim_one().await;
    assert_eq!(lease.attempts.total, 0, "a replay begins afresh");
    world.report(&lease, die(failure(ErrorKind::Timeout))).await;
    assert_eq!(world.store.dead_replay(world.tenant, None).await.unwrap(), 1);
    let lease = world.claim_one().await;
    world.report(&lease, die(failure(ErrorKind::Timeout))).await;
    assert_eq!(world.store.dead_drop(world.tenant, Some(&twice)).await.unwrap(), 1);
    assert!(world.store.dead(world.tenant, 10).await.unwrap().is_empty());
    assert_eq!(world.totals(batch).await.dead, 0);
    let missing = world.store.dead_drop(world.tenant, Some(&[dead[0].task_id])).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    world.assert_balanced().await;
}

async fn dead_letter_hands_on_what_does_not_depend_on_it(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let received = world.receive(Some(batch), 1).await;
    world.seal(batch, 1).await;
    let lease = world.claim_one().await;
    let next = Some(NewTask { payload: Some("{}".into()), ..new_task(&KIND) });
    let dead =
        || Outcome::Dead { error: failure(ErrorKind::Bug), charged: true, end: None, next: next.clone() };
    assert_eq!(world.report(&lease, dead()).await, Committed::Accepted { next: None });
    world.report(&lease, dead()).await;
    let totals = world.totals(batch).await;
    assert_eq!((totals.dead, totals.open, totals.completed), (1, 1, 0));
    let next = world.claim(5).await;
    assert_eq!(next.len(), 1, "queued once, however often it is reported");
    assert_eq!(next[0].subject.ingestion_id, received[0].ingestion_id);
    assert_eq!((next[0].payload.as_deref(), next[0].attempts.total), (Some("{}"), 0));
    world.complete(&next[0]).await;
    let totals = world.totals(batch).await;
    assert_eq!((totals.dead, totals.open, totals.completed), (1, 0, 1));
    world.assert_balanced().await;
}

async fn failing_is_counted_from_the_first_failure_until_a_replay(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    // It waited for long: that is none of its failing.
    world.clock.advance(Duration::from_hours(7));
    let lease = world.claim_one().await;
    assert_eq!(lease.failing_since, None);
    let first = world.clock.now();
    world.report(&lease, retry(&world, false, Size::Small)).await;
    for _ in 0..2 {
        world.clock.advance(Duration::from_mins(10));
        let lease = world.claim_one().await;
        assert_eq!(lease.failing_since, Some(first));
        world.report(&lease, retry(&world, false, Size::Small)).await;
    }
    let lease = world.claim_one().await;
    let error = failure(ErrorKind::Unavailable);
    let end = Some(IngestionEnd::failed(error.clone()));
    world.report(&lease, Outcome::Dead { error, charged: false, end, next: None }).await;
    world.clock.advance(Duration::from_hours(7));
    assert_eq!(world.store.dead_replay(world.tenant, None).await.unwrap(), 1);
    let lease = world.claim_one().await;
    assert_eq!(lease.failing_since, None, "a replay begins afresh");
    let again = world.clock.now();
    world.report(&lease, retry(&world, false, Size::Small)).await;
    assert_eq!(world.claim_one().await.failing_since, Some(again));
}

async fn continuation_is_leased_at_once(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    let facts = Facts { media_type: Some("text/plain".into()), ..Facts::default() };
    let next = Some(new_task(&TaskKind::named("join-text")));
    let commit = report(&lease, done(Done { next, facts, ..Done::default() }));
    let Committed::Accepted { next: Some(next) } = world.store.commit(commit).await.unwrap() else {
        panic!("no continuation")
    };
    assert_eq!(next.worker_id, world.worker);
    assert_eq!(next.subject.media_type.as_deref(), Some("text/plain"), "it sees what was just found out");
    assert!(world.claim(1).await.is_empty());
    assert!(world.complete(&next).await.accepted());
    world.assert_balanced().await;
}

async fn unasked_continuation_is_queued(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    let outcome = done(Done { next: Some(new_task(&KIND)), ..Done::default() });
    assert_eq!(world.report(&lease, outcome).await, Committed::Accepted { next: None });
    assert_eq!(world.claim(5).await.len(), 1);
}

async fn fan_out(world: &World, parts: usize) -> Vec<Lease> {
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    let fan_out = FanOut {
        parts: (0..parts).map(|_| new_task(&KIND)).collect(),
        join: new_task(&TaskKind::named("join-text")),
    };
    world.report(&lease, done(Done { fan_out: Some(fan_out), ..Done::default() })).await;
    world.claim(parts + 1).await
}

async fn join_runs_after_its_last_part(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let parts = fan_out(&world, 3).await;
    assert_eq!(parts.len(), 3);
    let join = || ClaimSpec { kinds: vec![(TaskKind::named("join-text"), 9)], ..world.spec(9) };
    for part in &parts {
        assert!(world.store.claim(join()).await.unwrap().is_empty());
        world.report(part, done(Done::default())).await;
        world.report(part, done(Done::default())).await;
    }
    let joins = world.store.claim(join()).await.unwrap();
    assert_eq!(joins.len(), 1);
    world.complete(&joins[0]).await;
    world.assert_balanced().await;
}

async fn dead_part_does_not_block_its_join(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let parts = fan_out(&world, 2).await;
    let dead = Outcome::Dead { error: failure(ErrorKind::Timeout), charged: true, end: None, next: None };
    world.report(&parts[0], dead).await;
    world.report(&parts[1], done(Done::default())).await;
    let spec = ClaimSpec { kinds: vec![(TaskKind::named("join-text"), 9)], ..world.spec(9) };
    assert_eq!(world.store.claim(spec).await.unwrap().len(), 1);
}

async fn dead_part_is_replayed_with_its_dead_join(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let join_kind = TaskKind::named("join-text");
    let join = || ClaimSpec { kinds: vec![(join_kind.clone(), 9)], ..world.spec(9) };
    let dead = |end| Outcome::Dead { error: failure(ErrorKind::Timeout), charged: true, end, next: None };
    world.receive(Some(batch), 1).await;
    world.seal(batch, 1).await;
    let lease = world.claim_one().await;
    let fan_out = FanOut { parts: vec![new_task(&KIND)], join: new_task(&join_kind) };
    world.report(&lease, done(Done { fan_out: Some(fan_out), ..Done::default() })).await;
    let part = world.claim_one().await;
    world.report(&part, dead(None)).await;
    let lease = world.store.claim(join()).await.unwrap().remove(0);
    let failed = IngestionEnd::failed(failure(ErrorKind::Timeout));
    world.report(&lease, dead(Some(failed))).await;
    assert_eq!(world.totals(batch).await.dead, 2);
    // The part alone: its join waits for it, and is no dead letter any more.
    assert_eq!(world.store.dead_replay(world.tenant, Some(&[part.task_id])).await.unwrap(), 1);
    assert_eq!(world.totals(batch).await.dead, 0);
    world.report(&world.claim_one().await, done(Done::default())).await;
    let lease = world.store.claim(join()).await.unwrap().remove(0);
    world.complete(&lease).await;
    let totals = world.totals(batch).await;
    assert_eq!((totals.open, totals.completed, totals.failed, totals.dead), (0, 1, 0, 0));
    world.assert_balanced().await;
}

async fn degraded_result_is_never_reused(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let print = fingerprint("extract-text", 1, "", &[ContentHash::of(b"x")]);
    let understanding = Some(Understanding { kind: Some("letter".into()), ..Understanding::default() });
    let facts = Facts { title: Some("t".into()), understanding, ..Facts::default() };
    for (degraded, reused) in [(true, false), (false, true), (false, false)] {
        assert_eq!(world.store.find_step(world.tenant, &KIND, &print).await.unwrap(), None);
        world.receive(None, 1).await;
        let lease = world.claim_one().await;
        let record = StepRecord {
            step: KIND,
            fingerprint: print,
            degraded,
            reused,
            facts: facts.clone(),
            artifacts: Vec::new(),
            problems: Vec::new(),
            members: false,
        };
        let whole = Done { record: Some(record), facts: facts.clone(), ..Done::default() };
        world.report(&lease, done(whole)).await;
    }
    let found = world.store.find_step(world.tenant, &KIND, &print).await.unwrap().unwrap();
    assert_eq!(found.facts, facts);
    let other = world.store.tenant("other").await.unwrap();
    assert_eq!(world.store.find_step(other, &KIND, &print).await.unwrap(), None);
}

async fn workers_are_listed_while_they_live(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let new = |worker_id| NewWorker { worker_id, host: "here".into(), pid: 1, slots: 8, kinds: Vec::new() };
    let other = world.worker();
    world.store.register_worker(new(world.worker)).await.unwrap();
    world.store.register_worker(new(other)).await.unwrap();
    world.receive(None, 1).await;
    world.claim_one().await;
    world.clock.advance(Duration::from_secs(5));
    world.store.beat(other).await.unwrap();
    let listed = world.store.workers().await.unwrap();
    assert_eq!(listed.len(), 2);
    let busy = listed.iter().find(|w| w.worker_id == world.worker).unwrap();
    assert_eq!((busy.state.as_str(), busy.running), ("busy", 1));
    let seen = listed.iter().find(|w| w.worker_id == other).unwrap();
    assert!(seen.seen_at > seen.started_at);
    world.store.retire_worker(other).await.unwrap();
    world.store.sweep(&[world.worker]).await.unwrap();
    assert!(world.store.workers().await.unwrap().is_empty());
    let ended = world.store.status(world.tenant).await.unwrap();
    assert_eq!(
        ended.ingestions,
        docmill_core::answer::IngestionCounts { in_progress: 1, ..Default::default() }
    );
    assert_eq!(IngestionStatus::InProgress.name(), "in_progress");
}

async fn workers_that_are_not_seen_any_more_leave_the_list(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let new = |worker_id| NewWorker { worker_id, host: "there".into(), pid: 1, slots: 8, kinds: Vec::new() };
    let idle = world.worker();
    world.store.register_worker(new(world.worker)).await.unwrap();
    world.store.register_worker(new(idle)).await.unwrap();
    let listed = async || -> Vec<WorkerId> {
        let workers = world.store.workers().await.unwrap();
        let shown = world.store.status(world.tenant).await.unwrap().workers;
        assert_eq!(workers.len(), shown.len());
        workers.into_iter().map(|worker| worker.worker_id).collect()
    };
    let finished = async || world.count_events(EventType::WorkerFinished).await;
    let id = world.receive(None, 2).await[0].ingestion_id.to_string();
    let held = world.claim_one().await;
    world.clock.advance(Duration::from_secs(100));
    world.store.beat(world.worker).await.unwrap();
    assert_eq!(listed().await.len(), 2, "a beat may be late");
    world.clock.advance(Duration::from_secs(30));
    assert_eq!(listed().await, [world.worker]);
    // Its machine may only have been cut off: it comes back by itself.
    world.store.beat(idle).await.unwrap();
    assert_eq!(listed().await.len(), 2);
    world.clock.advance(Duration::from_mins(11));
    let keeps = vec![(held.task_id, held.epoch)];
    assert!(world.store.renew(world.worker, keeps, LEASE).await.unwrap().is_empty());
    let waiting = world.store.why(world.tenant, &id).await.unwrap().unwrap();
    assert!(listed().await.is_empty() && waiting.lease.is_some());
    assert_eq!(finished().await, 0);
    world.store.sweep(&[]).await.unwrap();
    assert_eq!(finished().await, 1, "one that holds a task is not gone");
    let told = world.events().await.into_iter().find(|e| e.kind == EventType::WorkerFinished).unwrap();
    assert_eq!(told.status, EventStatus::Error);
    world.store.sweep(&[]).await.unwrap();
    assert_eq!(finished().await, 1);
    // It was taken for gone and lives: it is announced again, unless it says itself that it goes.
    world.store.beat(idle).await.unwrap();
    assert_eq!(listed().await, [idle]);
    assert_eq!(world.count_events(EventType::WorkerStarted).await, 3);
    world.store.retire_worker(idle).await.unwrap();
    world.store.beat(idle).await.unwrap();
    assert!(listed().await.is_empty());
}

async fn why_tells_that_no_worker_takes_the_kind(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let id = world.receive(None, 2).await[0].ingestion_id.to_string();
    let other = world.store.tenant("other").await.unwrap();
    world.take(Receipt { tenant_id: other, ..world.receipt(None, "theirs.txt", "theirs") }).await;
    let waiting_for = async || world.store.why(world.tenant, &id).await.unwrap().unwrap().waiting_for;
    let register = async |kinds: &[&str]| {
        let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let worker_id = world.worker();
        let worker = NewWorker { worker_id, host: "h".into(), pid: 1, slots: 1, kinds };
        world.store.register_worker(worker).await.unwrap();
        worker_id
    };
    assert!(waiting_for().await.contains("none that does extract-text is running"));
    register(&["join-text", "text"]).await;
    assert!(waiting_for().await.contains("none that does extract-text is running"));
    let fit = register(&["join-text", "extract-text"]).await;
    assert_eq!(
        waiting_for().await,
        "a free worker to do extract-text; 2 tasks are queued",
        "its own tenant's"
    );
    world.store.retire_worker(fit).await.unwrap();
    register(&[]).await;
    assert!(waiting_for().await.starts_with("a free worker"), "one without kinds takes all");
    world.clock.advance(Duration::from_mins(3));
    assert!(waiting_for().await.contains("is running"), "one that is not seen any more takes nothing");
}
