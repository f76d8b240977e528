//! Claiming: order, fairness, capacity, pauses.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::ports::Store;
use docmill_core::ports::store::{Arrival, ClaimSpec, Commit, Committed, Done, FanOut, Outcome};
use docmill_core::task::{Lease, Size, TaskKind, UNITS_PER_SLOT};

use super::world::{KIND, LEASE, Reported as _, World, done, failure, new_task};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        empty_queue_gives_nothing,
        claim_gives_each_task_once_to_racing_workers,
        claim_skips_what_is_not_due,
        claim_tells_how_long_a_task_was_due,
        claim_takes_lower_priority_numbers_first,
        old_work_overtakes_fresh_priority,
        small_tenant_is_served_within_ten_claims,
        small_tenant_runs_within_ten_of_a_hundred_thousand,
        claim_keeps_to_the_kinds_and_their_limits,
        claim_keeps_to_the_free_capacity,
        oversized_task_runs_on_an_idle_worker,
        waiting_large_task_is_not_passed_over_for_ever,
        paused_kind_is_not_claimed,
        work_of_a_paused_kind_does_not_continue,
        worker_of_one_tenant_sees_no_other,
        tenant_behind_many_that_have_nothing_due_is_served,
        next_due_tells_the_earliest,
    ]
}

async fn empty_queue_gives_nothing(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    assert!(world.claim(10).await.is_empty());
    assert_eq!(world.store.next_due(&[KIND]).await.unwrap(), None);
}

async fn claim_gives_each_task_once_to_racing_workers(bench: Bench<dyn Store>) {
    let world = Arc::new(World::open(&bench).await);
    world.receive(None, 1000).await;
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let world = Arc::clone(&world);
            let worker_id = world.worker();
            tokio::spawn(async move {
                let mut got = Vec::new();
                loop {
                    let leases = world.store.claim(ClaimSpec { worker_id, ..world.spec(7) }).await.unwrap();
                    if leases.is_empty() {
                        return got;
                    }
                    got.extend(leases.iter().map(|l| l.task_id));
                }
            })
        })
        .collect();
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    let distinct: BTreeSet<_> = all.iter().collect();
    assert_eq!((all.len(), distinct.len()), (1000, 1000));
}

async fn claim_tells_how_long_a_task_was_due(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    world.clock.advance(Duration::from_secs(7));
    let lease = world.claim_one().await;
    assert_eq!(lease.waited, Some(Duration::from_secs(7)));
    let (task_id, epoch) = (lease.task_id, lease.epoch);
    let outcome = done(Done { next: Some(new_task(&KIND)), ..Done::default() });
    let commit = Commit { task_id, epoch, duration: Duration::ZERO, outcome, continue_for: Some(LEASE) };
    let Committed::Accepted { next: Some(next) } = world.store.commit(commit).await.unwrap() else {
        panic!("nothing follows");
    };
    assert_eq!(next.waited, None, "what follows at once has not waited");
    // A retry waits from the moment on for which it was ordered.
    let now = docmill_core::clock::Clock::now(world.clock.as_ref());
    let retry = Outcome::Retry {
        error: failure(ErrorKind::ChildCrashed),
        run_at: now.plus(Duration::from_secs(30)),
        size: Size::Small,
        units: 1,
        charged: true,
    };
    world.report(&next, retry).await;
    world.clock.advance(Duration::from_secs(32));
    assert_eq!(world.claim_one().await.waited, Some(Duration::from_secs(2)));
}

async fn claim_skips_what_is_not_due(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    let later = docmill_core::clock::Clock::now(world.clock.as_ref()).plus(Duration::from_secs(30));
    let retry = Outcome::Retry {
        error: failure(ErrorKind::ChildCrashed),
        run_at: later,
        size: Size::Small,
        units: 1,
        charged: true,
    };
    world.report(&lease, retry).await;
    assert!(world.claim(1).await.is_empty());
    assert_eq!(world.store.next_due(&[KIND]).await.unwrap(), Some(later));
    world.clock.advance(Duration::from_secs(30));
    assert_eq!(world.claim_one().await.attempts.total, 1);
}

async fn claim_takes_lower_priority_numbers_first(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    for (path, priority) in [("c", 90), ("a", 1), ("b", 50)] {
        let mut receipt = world.receipt(None, path, path);
        receipt.priority = priority;
        world.take(receipt).await;
    }
    let order: Vec<_> = world.claim(3).await.into_iter().map(|l| l.subject.name).collect();
    assert_eq!(order, ["a", "b", "c"]);
}

async fn old_work_overtakes_fresh_priority(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.take(world.receipt(None, "old", "old")).await;
    world.clock.advance(Duration::from_mins(50));
    let mut fresh = world.receipt(None, "fresh", "fresh");
    fresh.priority = 1;
    world.take(fresh).await;
    assert_eq!(world.claim_one().await.subject.name, "old", "a step of priority is worth a minute, no more");
}

async fn small_tenant_is_served_within_ten_claims(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 500).await;
    let mut receipt = world.receipt(None, "single.txt", "single");
    receipt.tenant_id = world.store.tenant("small").await.unwrap();
    world.take(receipt).await;
    let mut claims = 0;
    loop {
        claims += 1;
        assert!(claims <= 10, "the small tenant waits behind the large one");
        if world.claim_one().await.subject.name == "single.txt" {
            break;
        }
    }
    let batched = world.claim(50).await;
    assert_eq!(batched.len(), 50, "a tenant alone gets everything");
}

async fn small_tenant_runs_within_ten_of_a_hundred_thousand(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let first = world.claim_one().await;
    // Parts of one document are tasks like any others.
    let (parts, join) = (vec![new_task(&KIND); 100_000], new_task(&TaskKind::named("join-text")));
    let queued = done(Done { fan_out: Some(FanOut { parts, join }), ..Done::default() });
    assert!(world.report(&first, queued).await.accepted());
    let small = world.store.tenant("small").await.unwrap();
    for max in [1, 4, 8] {
        let name = format!("single-{max}.txt");
        let mut receipt = world.receipt(None, &name, &name);
        receipt.tenant_id = small;
        world.take(receipt).await;
        let mut claimed = 0;
        loop {
            let leases = world.claim(max).await;
            if let Some(place) = leases.iter().position(|l| l.subject.name == name) {
                claimed += place + 1;
                break;
            }
            claimed += leases.len();
            assert!(claimed < 10, "the small tenant waits behind the large one");
        }
        assert!(claimed <= 10, "{claimed} tasks were claimed before the small tenant's");
    }
}

async fn claim_keeps_to_the_kinds_and_their_limits(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let other = TaskKind::named("unpack-document");
    for n in 0..6 {
        let mut receipt = world.receipt(None, &format!("{n}"), &format!("{n}"));
        let kind = if n % 2 == 0 { &KIND } else { &other };
        receipt.arrival = Arrival::Content(world.content(&format!("{n}")), new_task(kind));
        world.take(receipt).await;
    }
    let spec = ClaimSpec { kinds: vec![(KIND, 2)], ..world.spec(10) };
    let leases = world.store.claim(spec).await.unwrap();
    assert_eq!(leases.len(), 2);
    assert!(leases.iter().all(|l| l.kind == KIND));
    let spec = ClaimSpec { kinds: vec![(KIND, 9), (other, 1)], ..world.spec(10) };
    assert_eq!(world.store.claim(spec).await.unwrap().len(), 2);
}

async fn claim_keeps_to_the_free_capacity(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    for n in 0..4 {
        let mut receipt = world.receipt(None, &format!("{n}"), &format!("{n}"));
        let mut task = new_task(&KIND);
        task.units = UNITS_PER_SLOT;
        receipt.arrival = Arrival::Content(world.content(&format!("{n}")), task);
        world.take(receipt).await;
    }
    let spec = ClaimSpec { units: 2 * UNITS_PER_SLOT, idle: false, ..world.spec(10) };
    assert_eq!(world.store.claim(spec).await.unwrap().len(), 2);
}

async fn large(world: &World, name: &str) {
    let mut receipt = world.receipt(None, name, name);
    let mut task = new_task(&KIND);
    (task.size, task.units) = (Size::Large, 100 * UNITS_PER_SLOT);
    receipt.arrival = Arrival::Content(world.content(name), task);
    world.take(receipt).await;
}

async fn oversized_task_runs_on_an_idle_worker(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    large(&world, "large").await;
    let busy = ClaimSpec { idle: false, ..world.spec(1) };
    assert!(world.store.claim(busy).await.unwrap().is_empty());
    assert_eq!(world.claim_one().await.size, Size::Large);
}

async fn waiting_large_task_is_not_passed_over_for_ever(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    large(&world, "large").await;
    world.receive(None, 2).await;
    let busy = || ClaimSpec { idle: false, ..world.spec(1) };
    assert_eq!(
        world.store.claim(busy()).await.unwrap().len(),
        0,
        "the head does not fit and nothing else is offered in a claim of one"
    );
    world.clock.advance(Duration::from_secs(30));
    world.receive(None, 5).await;
    let busy = ClaimSpec { idle: false, ..world.spec(10) };
    assert!(world.store.claim(busy).await.unwrap().is_empty(), "the worker drains for the one that waits");
    assert_eq!(world.claim_one().await.size, Size::Large);
}

async fn paused_kind_is_not_claimed(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.receive(None, 1).await;
    world.store.pause_kind(&KIND, true).await.unwrap();
    assert!(world.claim(1).await.is_empty());
    assert_eq!(world.store.open_tasks(&[KIND], None).await.unwrap(), 0, "nobody waits for it");
    assert_eq!(world.store.status(world.tenant).await.unwrap().paused_kinds, [KIND.as_str()]);
    let why = world.store.why(world.tenant, &received[0].ingestion_id.to_string()).await.unwrap().unwrap();
    assert!(why.waiting_for.contains("paused"), "{}", why.waiting_for);
    world.store.pause_kind(&KIND, false).await.unwrap();
    assert_eq!(world.claim(1).await.len(), 1);
}

async fn work_of_a_paused_kind_does_not_continue(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 2).await;
    let next = TaskKind::named("unpack-document");
    let go_on = |lease: &Lease| Commit {
        task_id: lease.task_id,
        epoch: lease.epoch,
        duration: Duration::ZERO,
        outcome: done(Done { next: Some(new_task(&next)), ..Done::default() }),
        continue_for: Some(LEASE),
    };
    let (first, second) = (world.claim_one().await, world.claim_one().await);
    world.store.pause_kind(&next, true).await.unwrap();
    assert_eq!(world.store.commit(go_on(&first)).await.unwrap(), Committed::Accepted { next: None });
    world.store.pause_kind(&next, false).await.unwrap();
    let Committed::Accepted { next: Some(given) } = world.store.commit(go_on(&second)).await.unwrap() else {
        panic!("what is not paused goes on");
    };
    assert_eq!(given.kind, next);
    let spec = ClaimSpec { kinds: vec![(next, 5)], ..world.spec(5) };
    assert_eq!(world.store.claim(spec).await.unwrap().len(), 1, "what was kept back is queued");
}

async fn worker_of_one_tenant_sees_no_other(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 3).await;
    let other = world.store.tenant("other").await.unwrap();
    let spec = ClaimSpec { tenant_id: Some(other), ..world.spec(10) };
    assert!(world.store.claim(spec).await.unwrap().is_empty());
}

async fn tenant_behind_many_that_have_nothing_due_is_served(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let other = TaskKind::named("classify-document");
    for n in 0..100 {
        let mut receipt = world.receipt(None, "a.txt", &format!("text {n}"));
        receipt.tenant_id = world.store.tenant(&format!("tenant {n}")).await.unwrap();
        // Only the last of them has work of the kind that this worker takes.
        if let (Arrival::Content(_, first), true) = (&mut receipt.arrival, n < 99) {
            first.kind = other.clone();
        }
        world.take(receipt).await;
    }
    let mut claims = 0;
    while world.claim(1).await.is_empty() {
        claims += 1;
        assert!(claims < 5, "it waits for ever behind those who have no work of this kind");
    }
}

async fn next_due_tells_the_earliest(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let now = docmill_core::clock::Clock::now(world.clock.as_ref());
    world.receive(None, 2).await;
    assert_eq!(world.store.next_due(&[KIND]).await.unwrap(), Some(now));
    assert_eq!(world.store.next_due(&[TaskKind::named("no-op")]).await.unwrap(), None);
}
