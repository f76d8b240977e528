//! The event log.

use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::clock::Clock as _;
use docmill_core::event::{EventFilter, EventType};
use docmill_core::ports::Store;

use super::world::World;
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        events_are_numbered_without_gaps,
        events_are_numbered_without_gaps_under_racing_writers,
        cursor_sees_each_event_once,
        filters_select_by_type_batch_and_document,
        pruned_log_answers_an_old_cursor_clearly,
        cursor_beyond_the_end_is_refused,
        tenants_have_their_own_numbers,
        document_tells_its_whole_story_once,
    ]
}

async fn events_are_numbered_without_gaps(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 20).await;
    for lease in world.claim(20).await {
        world.complete(&lease).await;
    }
    let ids: Vec<_> = world.events().await.iter().map(|e| e.id).collect();
    assert_eq!(ids, (1..=ids.len() as i64).collect::<Vec<_>>());
    assert_eq!(world.store.status(world.tenant).await.unwrap().last_event, ids.len() as i64);
}

async fn events_are_numbered_without_gaps_under_racing_writers(bench: Bench<dyn Store>) {
    let world = std::sync::Arc::new(World::open(&bench).await);
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let world = std::sync::Arc::clone(&world);
            tokio::spawn(async move {
                for _ in 0..10 {
                    world.receive(None, 1).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let ids: Vec<_> = world.events().await.iter().map(|e| e.id).collect();
    assert_eq!(ids, (1..=80).collect::<Vec<_>>());
}

async fn cursor_sees_each_event_once(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 10).await;
    let mut seen = Vec::new();
    let mut after = 0;
    loop {
        let filter = EventFilter { after, limit: Some(3), ..EventFilter::default() };
        let page = world.store.events(world.tenant, &filter).await.unwrap();
        if page.events.is_empty() {
            break;
        }
        seen.extend(page.events.iter().map(|e| e.id));
        after = page.next;
    }
    assert_eq!(seen, (1..=20).collect::<Vec<_>>());
}

async fn filters_select_by_type_batch_and_document(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let received = world.receive(Some(batch), 2).await;
    world.receive(None, 2).await;
    let read =
        async |filter: EventFilter| world.store.events(world.tenant, &filter).await.unwrap().events.len();
    let types = vec![EventType::DocumentAdded];
    assert_eq!(read(EventFilter { types, ..EventFilter::default() }).await, 4);
    assert_eq!(read(EventFilter { batch_id: Some(batch), ..EventFilter::default() }).await, 5);
    let document_id = received[0].document_id;
    assert_eq!(read(EventFilter { document_id, ..EventFilter::default() }).await, 2);
}

async fn pruned_log_answers_an_old_cursor_clearly(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 2).await;
    world.clock.advance(Duration::from_hours(48));
    world.receive(None, 1).await;
    let before = world.clock.now().minus(Duration::from_hours(24));
    assert!(world.store.prune_events(before).await.unwrap() > 0);
    let old = EventFilter { after: 1, ..EventFilter::default() };
    let error = world.store.events(world.tenant, &old).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    let from_start = world.store.events(world.tenant, &EventFilter::default()).await.unwrap();
    assert_eq!(from_start.oldest, 5);
    assert_eq!(from_start.events.iter().map(|e| e.id).collect::<Vec<_>>(), [5, 6]);
    world.receive(None, 1).await;
    let last = world.events().await.last().unwrap().id;
    assert_eq!(last, 8, "numbers go on where they were");
}

async fn cursor_beyond_the_end_is_refused(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let read = async |after| {
        let filter = EventFilter { after, ..EventFilter::default() };
        world.store.events(world.tenant, &filter).await
    };
    assert!(read(0).await.unwrap().events.is_empty(), "the beginning of an empty log is its end");
    assert_eq!(read(1).await.unwrap_err().kind(), ErrorKind::InvalidRequest);
    world.receive(None, 1).await;
    assert!(read(2).await.unwrap().events.is_empty());
    let error = read(3).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().contains("the last event is 2"), "{error}");
    // What is pruned leaves its numbers behind.
    world.clock.advance(Duration::from_hours(48));
    assert!(world.store.prune_events(world.clock.now()).await.unwrap() > 0);
    assert!(read(2).await.unwrap().events.is_empty());
    assert_eq!(read(3).await.unwrap_err().kind(), ErrorKind::InvalidRequest);
}

async fn tenants_have_their_own_numbers(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 2).await;
    let other = world.store.tenant("other").await.unwrap();
    assert!(world.store.events(other, &EventFilter::default()).await.unwrap().events.is_empty());
    let mut receipt = world.receipt(None, "a", "a");
    receipt.tenant_id = other;
    world.take(receipt).await;
    let theirs = world.store.events(other, &EventFilter::default()).await.unwrap().events;
    assert_eq!(theirs[0].id, 1);
    assert!(theirs.iter().all(|e| e.tenant == other));
}

async fn document_tells_its_whole_story_once(bench: Bench<dyn Store>) {
    use EventType::{DocumentAdded, DocumentProcessed, TaskAdded, TaskFinished};
    let world = World::open(&bench).await;
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    world.store.sweep(&[world.worker]).await.unwrap();
    let again = world.claim_one().await;
    world.complete(&lease).await;
    world.complete(&again).await;
    world.complete(&again).await;
    let story: Vec<_> = world.events().await.iter().map(|e| e.kind).collect();
    assert_eq!(story, [DocumentAdded, TaskAdded, DocumentProcessed, TaskFinished]);
}
