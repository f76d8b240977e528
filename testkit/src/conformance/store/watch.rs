//! Counting over all tenants, for those who watch the machine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::answer::{IngestionCounts, TaskCounts};
use docmill_core::batch::{BatchChange, BatchState};
use docmill_core::clock::Clock as _;
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::Store;
use docmill_core::ports::store::{NewWorker, Outcome, Tally};
use docmill_core::task::TaskKind;

use super::world::{KIND, World, failure};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        tally_of_nothing_is_nothing,
        tally_counts_over_all_tenants,
        tally_counts_what_is_held_and_what_is_dead,
        tally_of_events_survives_their_pruning,
        balance_of_one_tenant_does_not_hide_that_of_another,
    ]
}

/// The same store for another tenant, a moment later, so that ids differ.
async fn beside(world: &World, name: &str) -> World {
    world.clock.advance(Duration::from_millis(1));
    let mut other = World::around(Arc::clone(&world.store), Arc::clone(&world.clock)).await;
    other.tenant = world.store.tenant(name).await.unwrap();
    other
}

fn of_kind(tally: &Tally, kind: &TaskKind) -> TaskCounts {
    tally.tasks.iter().find(|(of, _)| of == kind).map(|(_, counts)| *counts).unwrap_or_default()
}

async fn tally_of_nothing_is_nothing(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    assert_eq!(world.store.tally().await.unwrap(), Tally::default());
    assert_eq!(world.store.unbalanced().await.unwrap(), 0);
}

async fn tally_counts_over_all_tenants(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let other = beside(&world, "other").await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 3).await;
    other.receive(None, 2).await;
    let worker = NewWorker { worker_id: world.worker, host: "h".into(), pid: 1, slots: 1, kinds: Vec::new() };
    world.store.register_worker(worker).await.unwrap();
    let leases = world.claim(2).await;
    world.complete(&leases[0]).await;
    let tally = world.store.tally().await.unwrap();
    assert_eq!(tally.documents, 5);
    let ingestions = IngestionCounts { in_progress: 4, completed: 1, ..IngestionCounts::default() };
    assert_eq!(tally.ingestions, ingestions);
    assert_eq!(of_kind(&tally, &KIND), TaskCounts { queued: 3, running: 1, ..TaskCounts::default() });
    assert_eq!(tally.workers, 1);
    let batches: BTreeMap<BatchState, u64> = tally.batches.iter().copied().filter(|(_, n)| *n > 0).collect();
    assert_eq!(batches, BTreeMap::from([(BatchState::Open, 1)]));
    let events = world.events().await.len() + other.events().await.len();
    assert_eq!(tally.events, events as u64);
    world.assert_balanced().await;
}

async fn tally_counts_what_is_held_and_what_is_dead(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 2).await;
    let lease = world.claim_one().await;
    let error = failure(ErrorKind::Bug);
    let end = Some(IngestionEnd::failed(error.clone()));
    world.report(&lease, Outcome::Dead { error, charged: true, end, next: None }).await;
    world.store.change_batch(world.tenant, batch, BatchChange::Pause).await.unwrap();
    let tally = world.store.tally().await.unwrap();
    assert_eq!(of_kind(&tally, &KIND), TaskCounts { held: 1, dead: 1, ..TaskCounts::default() });
    assert_eq!((tally.ingestions.failed, tally.ingestions.in_progress), (1, 1));
}

async fn tally_of_events_survives_their_pruning(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    world.receive(None, 3).await;
    let before = world.store.tally().await.unwrap().events;
    assert!(before > 0);
    world.clock.advance(Duration::from_secs(10));
    world.store.prune_events(world.clock.now()).await.unwrap();
    assert_eq!(world.store.tally().await.unwrap().events, before);
}

async fn balance_of_one_tenant_does_not_hide_that_of_another(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let other = beside(&world, "other").await;
    // One tenant has one item less than it should, the other one more: together they would balance.
    for (world, received, walked) in [(&world, 1, 2), (&other, 2, 1)] {
        let batch = world.batch(None).await;
        world.receive(Some(batch), received).await;
        world.seal(batch, walked).await;
    }
    assert_eq!(world.store.unbalanced().await.unwrap(), 2);
}
