//! Replaying dead letters: what runs again, and what must not go on beside it.

use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::document::DocumentState;
use docmill_core::event::EventType;
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::Store;
use docmill_core::ports::store::{ClaimSpec, Committed, Done, FanOut, Outcome};
use docmill_core::task::{Lease, NewTask, TaskKind};

use super::world::{KIND, LEASE, Reported as _, World, done, failure, new_task};
use crate::conformance::{Bench, Case};

const JOIN: TaskKind = TaskKind::named("join-text");
const LATER: TaskKind = TaskKind::named("classify-document");

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        replayed_part_stops_what_followed_its_join,
        join_that_waits_again_was_not_lost,
        dead_letters_of_one_item_do_not_run_side_by_side,
        replayed_task_stops_what_it_led_to,
        dead_letter_behind_work_in_progress_comes_again_by_itself,
    ]
}

fn dies(end: Option<IngestionEnd>, next: Option<NewTask>) -> Outcome {
    Outcome::Dead { error: failure(ErrorKind::Timeout), charged: true, end, next }
}

fn goes_on(kind: &TaskKind) -> Outcome {
    done(Done { next: Some(new_task(kind)), ..Done::default() })
}

/// All that is queued, of whatever kind.
async fn claim_all(world: &World) -> Vec<Lease> {
    let kinds = vec![(KIND, 9), (JOIN, 9), (LATER, 9)];
    world.store.claim(ClaimSpec { kinds, ..world.spec(9) }).await.unwrap()
}

async fn claim_only(world: &World, kind: &TaskKind) -> Lease {
    let mut leases = claim_all(world).await;
    assert_eq!(leases.len(), 1, "{leases:?}");
    assert_eq!(leases[0].kind, *kind);
    leases.remove(0)
}

/// An item of two parts, one of which has died; the join has its lease.
async fn join_without_a_part(world: &World) -> (String, Lease, Lease) {
    let batch = world.batch(None).await;
    let received = world.receive(Some(batch), 1).await;
    world.seal(batch, 1).await;
    let lease = world.claim_one().await;
    let fan_out = FanOut { parts: vec![new_task(&KIND), new_task(&KIND)], join: new_task(&JOIN) };
    world.report(&lease, done(Done { fan_out: Some(fan_out), ..Done::default() })).await;
    let parts = world.claim(2).await;
    world.clock.advance(Duration::from_secs(1));
    world.report(&parts[0], dies(None, None)).await;
    world.report(&parts[1], done(Done::default())).await;
    let join = claim_only(world, &JOIN).await;
    (received[0].document_id.unwrap().to_string(), parts[0].clone(), join)
}

async fn replayed_part_stops_what_followed_its_join(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (id, part, join) = join_without_a_part(&world).await;
    world.report(&join, goes_on(&LATER)).await;
    let stopped = claim_only(&world, &LATER).await;
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(world.store.dead_replay(world.tenant, Some(&[part.task_id])).await.unwrap(), 1);
    // What would end the item with the text that lacks the part does not go on.
    let held = vec![(stopped.task_id, stopped.epoch)];
    assert_eq!(world.store.renew(world.worker, held, LEASE).await.unwrap(), [stopped.task_id]);
    assert_eq!(world.complete(&stopped).await, Committed::Stale);
    let part = claim_only(&world, &KIND).await;
    assert_eq!(world.report(&join, goes_on(&LATER)).await, Committed::Accepted { next: None }, "a repeat");
    world.report(&part, done(Done::default())).await;
    let join = claim_only(&world, &JOIN).await;
    world.report(&join, goes_on(&LATER)).await;
    let last = claim_only(&world, &LATER).await;
    let mut end = IngestionEnd::completed(docmill_core::problem::ResultCode::Success, Vec::new());
    end.needs_review = true;
    let whole = done(Done { end: Some(end), ..Done::default() });
    assert!(world.report(&last, whole).await.accepted());
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(shown.state, DocumentState::NeedsReview, "the second end is the one that counts");
    assert_eq!(world.count_events(EventType::DocumentProcessed).await, 1);
    assert!(claim_all(&world).await.is_empty());
    world.assert_balanced().await;
}

async fn join_that_waits_again_was_not_lost(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (id, part, join) = join_without_a_part(&world).await;
    assert_eq!(world.store.retry(world.tenant, Some(&id)).await.unwrap().count, 1);
    assert_eq!(world.complete(&join).await, Committed::Stale);
    // It is not taken back when the lease that it had would have ended.
    world.clock.advance(2 * LEASE);
    assert_eq!(world.store.sweep(&[]).await.unwrap().requeued, 0);
    let again = claim_only(&world, &KIND).await;
    assert_eq!(again.task_id, part.task_id);
    world.report(&again, done(Done::default())).await;
    let join = claim_only(&world, &JOIN).await;
    assert_eq!((join.attempts.total, join.attempts.lost), (0, 1), "it was taken away, not lost");
    world.complete(&join).await;
    world.assert_balanced().await;
}

async fn dead_letters_of_one_item_do_not_run_side_by_side(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (id, part, join) = join_without_a_part(&world).await;
    world.report(&join, goes_on(&LATER)).await;
    let later = claim_only(&world, &LATER).await;
    world.report(&later, dies(Some(IngestionEnd::failed(failure(ErrorKind::Timeout))), None)).await;
    assert_eq!(world.store.dead(world.tenant, 10).await.unwrap().len(), 2);
    assert_eq!(world.store.retry(world.tenant, Some(&id)).await.unwrap().count, 1);
    let again = claim_only(&world, &KIND).await;
    assert_eq!(again.task_id, part.task_id, "the other one comes again behind the join");
    assert!(world.store.dead(world.tenant, 10).await.unwrap().is_empty());
    world.report(&again, done(Done::default())).await;
    world.report(&claim_only(&world, &JOIN).await, goes_on(&LATER)).await;
    world.complete(&claim_only(&world, &LATER).await).await;
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(shown.ingestions.len(), 1);
    let batch = shown.ingestions[0].batch_id.unwrap();
    let totals = world.totals(batch).await;
    assert_eq!((totals.open, totals.completed, totals.failed, totals.dead), (0, 1, 0, 0));
    world.assert_balanced().await;
}

async fn replayed_task_stops_what_it_led_to(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 1).await;
    world.seal(batch, 1).await;
    let lease = world.claim_one().await;
    world.clock.advance(Duration::from_secs(1));
    world.report(&lease, dies(None, Some(new_task(&LATER)))).await;
    let led_to = claim_only(&world, &LATER).await;
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(world.store.dead_replay(world.tenant, None).await.unwrap(), 1);
    assert_eq!(world.complete(&led_to).await, Committed::Stale);
    let again = claim_only(&world, &KIND).await;
    world.report(&again, goes_on(&LATER)).await;
    world.complete(&claim_only(&world, &LATER).await).await;
    let totals = world.totals(batch).await;
    assert_eq!((totals.open, totals.completed, totals.dead), (0, 1, 0));
    world.assert_balanced().await;
}

async fn dead_letter_behind_work_in_progress_comes_again_by_itself(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (id, part, join) = join_without_a_part(&world).await;
    world.report(&join, goes_on(&LATER)).await;
    let later = claim_only(&world, &LATER).await;
    world.report(&later, dies(Some(IngestionEnd::failed(failure(ErrorKind::Timeout))), None)).await;
    assert_eq!(world.store.dead_replay(world.tenant, Some(&[part.task_id])).await.unwrap(), 1);
    assert_eq!(world.store.dead_replay(world.tenant, Some(&[later.task_id])).await.unwrap(), 1);
    assert!(world.store.dead(world.tenant, 10).await.unwrap().is_empty());
    world.report(&claim_only(&world, &KIND).await, done(Done::default())).await;
    world.report(&claim_only(&world, &JOIN).await, goes_on(&LATER)).await;
    world.complete(&claim_only(&world, &LATER).await).await;
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_ne!(shown.state, DocumentState::Processing);
    world.assert_balanced().await;
}
