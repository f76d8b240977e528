//! Taking items in.

use docmill_core::error::ErrorNote;
use docmill_core::ingestion::{IngestionEnd, IngestionStatus};
use docmill_core::ports::Store;
use docmill_core::ports::store::{Arrival, ListQuery};
use docmill_core::{Error, ErrorKind};

use super::world::{KIND, World};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        same_bytes_twice_make_one_document_and_two_ingestions,
        same_item_in_a_named_batch_is_known,
        changed_content_under_an_old_path_is_a_new_item,
        tenants_never_share_a_document,
        refused_item_is_accounted_for,
        refused_item_goes_on_when_it_can_be_read,
        cancelled_batch_takes_nothing_in,
        failing_receipt_leaves_nothing_behind,
        reopened_store_holds_everything,
        racing_receipts_of_one_content_make_one_document,
    ]
}

async fn same_bytes_twice_make_one_document_and_two_ingestions(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let first = world.take(world.receipt(None, "a.txt", "same")).await;
    let second = world.take(world.receipt(None, "b.txt", "same")).await;
    assert_eq!(first.document_id, second.document_id);
    assert_ne!(first.ingestion_id, second.ingestion_id);
    assert_eq!((first.duplicate, second.duplicate), (false, true));
    let status = world.store.status(world.tenant).await.unwrap();
    assert_eq!((status.documents, status.ingestions.in_progress), (1, 2));
    world.assert_balanced().await;
}

async fn same_item_in_a_named_batch_is_known(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("x")).await;
    let first = world.take(world.receipt(Some(batch), "a.txt", "one")).await;
    assert_eq!(world.batch(Some("x")).await, batch, "the name resumes the batch");
    let again = world.take(world.receipt(Some(batch), "a.txt", "one")).await;
    assert!(again.known && !first.known);
    assert_eq!(again.ingestion_id, first.ingestion_id);
    assert_eq!(world.totals(batch).await.received, 1);
    assert_eq!(world.store.open_tasks(&[KIND], None).await.unwrap(), 1);
    assert_eq!(world.store.open_tasks(&[], None).await.unwrap(), 0, "other kinds are not waited for");
}

async fn changed_content_under_an_old_path_is_a_new_item(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("x")).await;
    world.take(world.receipt(Some(batch), "a.txt", "one")).await;
    let changed = world.take(world.receipt(Some(batch), "a.txt", "two")).await;
    assert!(!changed.known);
    assert_eq!(world.totals(batch).await.received, 2);
}

async fn tenants_never_share_a_document(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let other = world.store.tenant("other").await.unwrap();
    let ours = world.take(world.receipt(None, "a.txt", "same")).await;
    let mut receipt = world.receipt(None, "a.txt", "same");
    receipt.tenant_id = other;
    let theirs = world.take(receipt).await;
    assert_ne!(ours.document_id, theirs.document_id);
    assert!(!theirs.duplicate);
    let id = ours.document_id.unwrap().to_string();
    assert!(world.store.show(other, &id).await.unwrap().is_none(), "a foreign id is not found");
    assert!(world.store.why(other, &id).await.unwrap().is_none());
    assert!(world.store.head(other, &id).await.unwrap().is_none());
    assert!(world.store.heads(other, &[ours.document_id.unwrap()]).await.unwrap().is_empty());
    assert_eq!(world.store.list(other, &ListQuery::all(10)).await.unwrap().documents.len(), 1);
}

fn unreadable() -> Arrival {
    Arrival::Refused(IngestionEnd::failed(ErrorNote::from(&Error::unreadable("cannot read `a.txt`"))))
}

async fn refused_item_is_accounted_for(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let mut receipt = world.receipt(Some(batch), "a.txt", "");
    receipt.arrival = unreadable();
    let received = world.take(receipt).await;
    assert_eq!(received.document_id, None);
    let totals = world.seal(batch, 1).await;
    assert_eq!((totals.failed, totals.open), (1, 0));
    let why = world.store.why(world.tenant, &received.ingestion_id.to_string()).await.unwrap().unwrap();
    assert_eq!(why.last_error.unwrap().kind, ErrorKind::Unreadable);
    world.assert_balanced().await;
}

async fn refused_item_goes_on_when_it_can_be_read(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("x")).await;
    let mut receipt = world.receipt(Some(batch), "a.txt", "");
    receipt.arrival = unreadable();
    let refused = world.take(receipt).await;
    let received = world.take(world.receipt(Some(batch), "a.txt", "at last")).await;
    assert_eq!(received.ingestion_id, refused.ingestion_id);
    assert!(received.document_id.is_some() && received.known);
    let lease = world.claim_one().await;
    world.complete(&lease).await;
    let totals = world.seal(batch, 1).await;
    assert_eq!((totals.received, totals.completed, totals.failed), (1, 1, 0));
    world.assert_balanced().await;
}

async fn cancelled_batch_takes_nothing_in(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(Some("x")).await;
    let change = docmill_core::batch::BatchChange::Cancel;
    world.store.change_batch(world.tenant, batch, change).await.unwrap();
    let error = world.store.receive(vec![world.receipt(Some(batch), "a", "a")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
}

async fn failing_receipt_leaves_nothing_behind(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let nowhere = docmill_core::id::BatchId(world.worker().0);
    let good = world.receipt(None, "a.txt", "a");
    let bad = world.receipt(Some(nowhere), "b.txt", "b");
    assert!(world.store.receive(vec![good, bad]).await.is_err());
    let status = world.store.status(world.tenant).await.unwrap();
    assert_eq!((status.documents, status.last_event), (0, 0), "one transaction: all or nothing");
}

async fn reopened_store_holds_everything(bench: Bench<dyn Store>) {
    let received = {
        let world = World::open(&bench).await;
        world.receive(None, 3).await
    };
    let world = World::open(&bench).await;
    let status = world.store.status(world.tenant).await.unwrap();
    assert_eq!((status.documents, status.tasks.queued), (3, 3));
    let id = received[0].ingestion_id.to_string();
    let shown = world.store.show(world.tenant, &id).await.unwrap().unwrap();
    assert_eq!(shown.ingestions[0].status, IngestionStatus::InProgress);
    assert_eq!(shown.ingestions[0].uploader.as_deref(), Some("tester"));
    assert_eq!(shown.ingestions[0].source_metadata, serde_json::json!({ "by": "test" }));
}

async fn racing_receipts_of_one_content_make_one_document(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let receipts: Vec<_> = (0..20).map(|n| world.receipt(None, &format!("{n}.txt"), "same")).collect();
    let tasks: Vec<_> = receipts
        .into_iter()
        .map(|receipt| {
            let store = std::sync::Arc::clone(&world.store);
            tokio::spawn(async move { store.receive(vec![receipt]).await })
        })
        .collect();
    let mut documents = std::collections::BTreeSet::new();
    let mut fresh = 0;
    for task in tasks {
        let received = task.await.unwrap().unwrap().remove(0);
        documents.insert(received.document_id);
        fresh += usize::from(!received.duplicate);
    }
    assert_eq!((documents.len(), fresh), (1, 1));
}
