//! Batches: exact ends, pauses, cancellation.

use docmill_core::ErrorKind;
use docmill_core::batch::{BatchChange, BatchState, Walk};
use docmill_core::document::DocumentState;
use docmill_core::event::EventType;
use docmill_core::id::IngestionId;
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::Store;
use docmill_core::ports::store::{ClaimSpec, Committed, Done, FanOut, Outcome, Terms};
use docmill_core::task::TaskKind;

use super::world::World;
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        batch_finishes_once_when_sealed_and_done,
        batch_sealed_after_its_work_finishes_at_the_seal,
        empty_batch_finishes_at_the_seal,
        sealed_batch_takes_no_uploads_until_it_is_opened_again,
        item_that_was_walked_but_not_stored_breaks_the_balance,
        paused_batch_is_held_and_goes_on,
        work_of_a_paused_batch_does_not_continue,
        cancelled_batch_stops_what_runs,
        cancelled_resumption_of_a_batch_leaves_the_ledger_balanced,
        cancelled_rerun_leaves_its_document_as_it_was,
        dead_part_of_a_cancelled_item_goes_on_with_the_others,
        cancelled_batch_comes_back_only_by_name_and_can_be_stopped_again,
        finished_batch_is_not_cancelled,
        replayed_item_reopens_its_batch_silently,
        batch_is_found_by_name_and_by_id,
    ]
}

async fn batch_finishes_once_when_sealed_and_done(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 2).await;
    for lease in world.claim(1).await {
        world.complete(&lease).await;
    }
    assert_eq!(world.totals(batch).await.state, BatchState::Open);
    assert_eq!(world.seal(batch, 2).await.state, BatchState::Sealed);
    assert_eq!(world.count_events(EventType::JobFinished).await, 0);
    for lease in world.claim(1).await {
        world.complete(&lease).await;
    }
    let totals = world.totals(batch).await;
    assert_eq!((totals.state, totals.expected), (BatchState::Finished, Some(2)));
    assert!(totals.finished_at.is_some() && totals.change_seq > 0);
    for kind in [EventType::JobQueued, EventType::JobStarted, EventType::JobFinished] {
        assert_eq!(world.count_events(kind).await, 1, "{kind:?}");
    }
}

async fn batch_sealed_after_its_work_finishes_at_the_seal(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 1).await;
    let lease = world.claim_one().await;
    world.complete(&lease).await;
    assert_eq!(world.count_events(EventType::JobFinished).await, 0);
    assert_eq!(world.seal(batch, 1).await.state, BatchState::Finished);
    assert_eq!(world.count_events(EventType::JobFinished).await, 1);
}

async fn empty_batch_finishes_at_the_seal(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    assert_eq!(world.seal(batch, 0).await.state, BatchState::Finished);
    world.assert_balanced().await;
}

async fn sealed_batch_takes_no_uploads_until_it_is_opened_again(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("x")).await;
    let terms = |unsealed| Terms { unsealed, ..Terms::default() };
    let send = |name: &str, terms| world.store.accept(vec![world.receipt(Some(batch), name, name)], terms);
    send("a.txt", terms(true)).await.unwrap();
    world.seal(batch, 1).await;
    let sealed = send("b.txt", terms(true)).await.unwrap_err();
    assert_eq!(sealed.kind(), ErrorKind::Conflict);
    let lease = world.claim_one().await;
    world.complete(&lease).await;
    let finished = send("b.txt", terms(true)).await.unwrap_err();
    assert_eq!(finished.kind(), ErrorKind::Conflict);
    world.assert_balanced().await;
    world.batch(Some("x")).await;
    send("b.txt", terms(true)).await.unwrap();
    world.seal(batch, 2).await;
    world.assert_balanced().await;
}

async fn item_that_was_walked_but_not_stored_breaks_the_balance(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("x")).await;
    world.receive(Some(batch), 2).await;
    world.seal(batch, 3).await;
    world.assert_unbalanced().await;
    // The next run meets all three, two of them known.
    world.batch(Some("x")).await;
    world.receive(Some(batch), 1).await;
    let walk = Walk { walked: 3, known: 2, baseline: 2 };
    world.store.seal_batch(world.tenant, batch, walk).await.unwrap();
    world.assert_balanced().await;
}

async fn paused_batch_is_held_and_goes_on(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let received = world.receive(Some(batch), 2).await;
    let change = |change| world.store.change_batch(world.tenant, batch, change);
    change(BatchChange::Pause).await.unwrap();
    world.receive(Some(batch), 1).await;
    assert!(world.claim(5).await.is_empty());
    let status = world.store.status(world.tenant).await.unwrap();
    assert_eq!((status.tasks.queued, status.tasks.held), (0, 3));
    let why = world.store.why(world.tenant, &received[0].ingestion_id.to_string()).await.unwrap().unwrap();
    assert!(why.waiting_for.contains("paused"), "{}", why.waiting_for);
    change(BatchChange::Resume).await.unwrap();
    assert_eq!(world.claim(5).await.len(), 3);
    world.assert_balanced().await;
}

async fn work_of_a_paused_batch_does_not_continue(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 1).await;
    let lease = world.claim_one().await;
    world.store.change_batch(world.tenant, batch, BatchChange::Pause).await.unwrap();
    let commit = docmill_core::ports::store::Commit {
        task_id: lease.task_id,
        epoch: lease.epoch,
        duration: std::time::Duration::ZERO,
        outcome: super::done(Done { next: Some(super::new_task(&super::world::KIND)), ..Default::default() }),
        continue_for: Some(super::world::LEASE),
    };
    assert_eq!(world.store.commit(commit).await.unwrap(), Committed::Accepted { next: None });
    assert!(world.claim(5).await.is_empty());
}

async fn cancelled_batch_stops_what_runs(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 3).await;
    let lease = world.claim_one().await;
    let stopped = world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    assert_eq!(stopped, 3);
    assert_eq!(world.complete(&lease).await, Committed::Stale);
    let held = vec![(lease.task_id, lease.epoch)];
    let lost = world.store.renew(world.worker, held, super::world::LEASE).await.unwrap();
    assert_eq!(lost, [lease.task_id]);
    assert!(world.claim(5).await.is_empty());
    let totals = world.totals(batch).await;
    assert_eq!((totals.state, totals.cancelled, totals.open), (BatchState::Cancelled, 3, 0));
    assert_eq!(world.count_events(EventType::ImportCancelled).await, 1);
    let again = world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    assert_eq!(again, 0);
    assert_eq!(world.count_events(EventType::ImportCancelled).await, 1);
    world.assert_balanced().await;
}

async fn cancelled_resumption_of_a_batch_leaves_the_ledger_balanced(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("march mail")).await;
    world.receive(Some(batch), 2).await;
    world.seal(batch, 2).await;
    for lease in world.claim(2).await {
        world.complete(&lease).await;
    }
    // The same command again: its walk meets more, and is cancelled before it has counted everything.
    assert_eq!(world.batch(Some("march mail")).await, batch);
    world.receive(Some(batch), 3).await;
    world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    let totals = world.totals(batch).await;
    assert_eq!((totals.expected, totals.completed, totals.cancelled), (None, 2, 3));
    world.assert_balanced().await;
}

async fn cancelled_rerun_leaves_its_document_as_it_was(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let done = world.receive(None, 1).await[0].document_id.unwrap();
    world.complete(&world.claim_one().await).await;
    let before = world.store.show(world.tenant, &done.to_string()).await.unwrap().unwrap().state;
    assert_eq!(before, DocumentState::Ready);
    let again = world.batch(None).await;
    let item = (IngestionId(world.worker().0), done, super::new_task(&super::world::KIND));
    assert_eq!(world.store.reprocess(world.tenant, again, vec![item]).await.unwrap(), 1);
    world.store.change_batch(world.tenant, again, BatchChange::Cancel).await.unwrap();
    let after = world.store.show(world.tenant, &done.to_string()).await.unwrap().unwrap();
    assert_eq!((after.state, after.ingestions.len()), (before, 2));
    world.assert_balanced().await;
}

async fn dead_part_of_a_cancelled_item_goes_on_with_the_others(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let received = world.receive(Some(batch), 1).await;
    world.seal(batch, 1).await;
    let join_kind = TaskKind::named("join-text");
    let fan_out = FanOut {
        parts: (0..3).map(|_| super::new_task(&super::world::KIND)).collect(),
        join: super::new_task(&join_kind),
    };
    let lease = world.claim_one().await;
    world.report(&lease, super::done(Done { fan_out: Some(fan_out), ..Done::default() })).await;
    // One part dies, one runs and one waits when a person cancels the batch.
    let parts = world.claim(2).await;
    let error = super::failure(ErrorKind::Timeout);
    world.report(&parts[0], Outcome::Dead { error, charged: true, end: None, next: None }).await;
    world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    assert_eq!(world.totals(batch).await.cancelled, 1);
    let id = received[0].ingestion_id.to_string();
    assert_eq!(world.store.retry(world.tenant, Some(&id)).await.unwrap().count, 1);
    let again = world.claim(5).await;
    assert_eq!(again.len(), 3, "the join waits for all of them");
    for part in &again {
        world.report(part, super::done(Done::default())).await;
    }
    let joins = world.store.claim(ClaimSpec { kinds: vec![(join_kind, 1)], ..world.spec(1) }).await.unwrap();
    assert_eq!(joins.len(), 1);
    world.complete(&joins[0]).await;
    let totals = world.totals(batch).await;
    assert_eq!((totals.open, totals.completed, totals.cancelled, totals.dead), (0, 1, 0, 0));
    world.assert_balanced().await;
}

async fn cancelled_batch_comes_back_only_by_name_and_can_be_stopped_again(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let received = world.receive(Some(batch), 2).await;
    let leases = world.claim(2).await;
    let error = super::failure(ErrorKind::Timeout);
    for lease in &leases {
        let end = Some(IngestionEnd::failed(error.clone()));
        world.report(lease, Outcome::Dead { error: error.clone(), charged: true, end, next: None }).await;
    }
    world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    // Who asks for everything does not mean what was stopped.
    assert_eq!(world.store.dead_replay(world.tenant, None).await.unwrap(), 0);
    let all = world.store.retry(world.tenant, None).await.unwrap();
    assert_eq!((all.count, all.skipped, all.reasons.len()), (0, 2, 1));
    assert!(world.claim(5).await.is_empty());
    // Who names one does, and may think better of it.
    let id = received[0].ingestion_id.to_string();
    assert_eq!(world.store.retry(world.tenant, Some(&id)).await.unwrap().count, 1);
    let lease = world.claim_one().await;
    assert_eq!(world.totals(batch).await.open, 1);
    let cancel = async || world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    assert_eq!((cancel().await, cancel().await), (1, 0));
    assert_eq!(world.complete(&lease).await, Committed::Stale);
    assert_eq!(world.count_events(EventType::ImportCancelled).await, 1, "told once");
    let totals = world.totals(batch).await;
    assert_eq!((totals.state, totals.open), (BatchState::Cancelled, 0));
    assert_eq!((totals.failed, totals.cancelled, totals.dead), (1, 1, 1));
    assert_eq!(world.store.dead_drop(world.tenant, None).await.unwrap(), 1, "dismissing means all");
    world.assert_balanced().await;
}

async fn finished_batch_is_not_cancelled(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("march mail")).await;
    world.receive(Some(batch), 1).await;
    world.seal(batch, 1).await;
    let lease = world.claim_one().await;
    world.complete(&lease).await;
    assert_eq!(world.totals(batch).await.state, BatchState::Finished);
    let stopped = world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    assert_eq!((stopped, world.totals(batch).await.state), (0, BatchState::Finished));
    assert_eq!(world.count_events(EventType::ImportCancelled).await, 0);
    assert_eq!(world.batch(Some("march mail")).await, batch, "it can be opened again");
}

async fn replayed_item_reopens_its_batch_silently(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let received = world.receive(Some(batch), 1).await;
    world.seal(batch, 1).await;
    let lease = world.claim_one().await;
    let error = super::failure(ErrorKind::Timeout);
    let dead =
        Outcome::Dead { end: Some(IngestionEnd::failed(error.clone())), error, charged: true, next: None };
    world.report(&lease, dead).await;
    assert_eq!(world.totals(batch).await.state, BatchState::Finished);
    let id = received[0].document_id.unwrap().to_string();
    assert_eq!(world.store.retry(world.tenant, Some(&id)).await.unwrap().count, 1);
    assert_eq!(world.totals(batch).await.state, BatchState::Sealed);
    assert_eq!(world.store.retry(world.tenant, Some(&id)).await.unwrap().count, 0, "clicks do not add up");
    let lease = world.claim_one().await;
    world.complete(&lease).await;
    let totals = world.totals(batch).await;
    assert_eq!((totals.state, totals.completed, totals.failed), (BatchState::Finished, 1, 0));
    assert_eq!(world.count_events(EventType::JobFinished).await, 1);
    world.assert_balanced().await;
}

async fn batch_is_found_by_name_and_by_id(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("march mail")).await;
    let found = world.store.find_batch(world.tenant, "march mail").await.unwrap().unwrap();
    assert_eq!(found.batch_id, batch);
    assert!(world.store.find_batch(world.tenant, &batch.to_string()).await.unwrap().is_some());
    // Whatever others are called, an id means what has it.
    for older in [batch, world.batch(Some("may mail")).await] {
        let named = world.batch(Some(&older.to_string())).await;
        assert_ne!(named, older);
        let found = world.store.find_batch(world.tenant, &older.to_string()).await.unwrap().unwrap();
        assert_eq!(found.batch_id, older);
    }
    assert!(world.store.find_batch(world.tenant, "april mail").await.unwrap().is_none());
    let other = world.store.tenant("other").await.unwrap();
    assert!(world.store.find_batch(other, "march mail").await.unwrap().is_none());
}
