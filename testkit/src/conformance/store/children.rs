//! Members of containers and their manifests.

use docmill_core::ErrorKind;
use docmill_core::expansion::ExpansionLimits;
use docmill_core::id::{ContentHash, Epoch};
use docmill_core::ingestion::{IngestionEnd, IngestionStatus};
use docmill_core::limits::Limits;
use docmill_core::ports::Store;
use docmill_core::ports::store::{Arrival, ChildChunk, ChunkAnswer, Done, ManifestEnd, NewChild, Outcome};
use docmill_core::problem::ResultCode;
use docmill_core::task::Lease;

use super::world::{KIND, World, done, failure, new_task};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        members_become_ingestions_with_their_place,
        same_chunk_again_adds_nothing,
        chunk_under_an_old_epoch_adds_nothing,
        failed_member_is_accounted_for,
        members_beyond_a_limit_are_accounted_for,
        missing_member_breaks_the_balance,
        broken_unpacking_accounts_for_the_rest,
        other_fingerprint_supersedes_the_members,
        members_count_in_their_batch,
        containers_inside_containers_share_the_limits_of_the_outermost,
        member_that_is_its_own_container_is_not_unpacked_again,
    ]
}

fn member(world: &World, position: u64, text: &str) -> NewChild {
    NewChild {
        position,
        path: format!("inner/{position}.txt"),
        name: format!("{position}.txt"),
        arrival: Arrival::Content(world.content(text), new_task(&KIND)),
    }
}

fn chunk(lease: &Lease, run: &[u8], declared: u64, children: Vec<NewChild>) -> ChildChunk {
    ChildChunk {
        task_id: lease.task_id,
        epoch: lease.epoch,
        fingerprint: ContentHash::of(run),
        declared: Some(declared),
        tree: ExpansionLimits::of_tree(&Limits::default()),
        children,
    }
}

fn unpacked(run: &[u8], declared: u64, refused: u64) -> Outcome {
    done(Done {
        manifest: Some(ManifestEnd { fingerprint: ContentHash::of(run), declared: Some(declared), refused }),
        end: Some(IngestionEnd::completed(ResultCode::Success, Vec::new())),
        ..Done::default()
    })
}

async fn container(world: &World) -> Lease {
    world.take(world.receipt(None, "box.zip", "box")).await;
    world.claim_one().await
}

async fn add(world: &World, chunk: ChildChunk) -> usize {
    match world.store.add_children(chunk).await.unwrap() {
        ChunkAnswer::Accepted(documents) => documents.len(),
        other => panic!("not taken: {other:?}"),
    }
}

async fn members_become_ingestions_with_their_place(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let lease = container(&world).await;
    add(&world, chunk(&lease, b"run", 2, vec![member(&world, 0, "a"), member(&world, 1, "b")])).await;
    world.report(&lease, unpacked(b"run", 2, 0)).await;
    let members = world.claim(5).await;
    assert_eq!(members.len(), 2);
    assert!(members.iter().all(|m| m.subject.depth == 1));
    let document = lease.subject.document.unwrap().document_id;
    let shown = world.store.show(world.tenant, &document.to_string()).await.unwrap().unwrap();
    let places: Vec<_> = shown.children.iter().map(|c| (c.position, c.name.as_str())).collect();
    assert_eq!(places, [(Some(0), "inner/0.txt"), (Some(1), "inner/1.txt")]);
    let child = shown.children[0].document_id.unwrap();
    let child = world.store.show(world.tenant, &child.to_string()).await.unwrap().unwrap();
    assert_eq!(child.parent.unwrap().document_id, Some(document));
    assert_eq!(child.ingestions[0].origin, "box.zip!/inner/0.txt");
    world.assert_balanced().await;
}

async fn same_chunk_again_adds_nothing(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let lease = container(&world).await;
    let first = chunk(&lease, b"run", 2, vec![member(&world, 0, "a"), member(&world, 1, "b")]);
    add(&world, first.clone()).await;
    let events = world.events().await.len();
    add(&world, first).await;
    assert_eq!(world.events().await.len(), events);
    // A retry in a new lease, with fresh proposed document ids, names the same members.
    world.store.sweep(&[world.worker]).await.unwrap();
    let lease = loop {
        let lease = world.claim_one().await;
        if lease.subject.name == "box.zip" {
            break lease;
        }
    };
    add(&world, chunk(&lease, b"run", 2, vec![member(&world, 0, "a"), member(&world, 1, "b")])).await;
    world.report(&lease, unpacked(b"run", 2, 0)).await;
    let ledger = world.store.ledger(world.tenant, None).await.unwrap();
    assert_eq!((ledger.expected, ledger.containers[0].emitted), (3, 2));
    world.assert_balanced().await;
}

async fn chunk_under_an_old_epoch_adds_nothing(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let lease = container(&world).await;
    let mut old = chunk(&lease, b"run", 1, vec![member(&world, 0, "a")]);
    old.epoch = Epoch(lease.epoch.0 - 1);
    assert_eq!(world.store.add_children(old).await.unwrap(), ChunkAnswer::Stale);
    assert_eq!(world.store.status(world.tenant).await.unwrap().documents, 1);
}

async fn failed_member_is_accounted_for(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let lease = container(&world).await;
    let locked = NewChild {
        arrival: Arrival::Refused(IngestionEnd::failed(failure(ErrorKind::Encrypted))),
        ..member(&world, 1, "")
    };
    add(&world, chunk(&lease, b"run", 2, vec![member(&world, 0, "a"), locked])).await;
    world.report(&lease, unpacked(b"run", 2, 0)).await;
    let ledger = world.store.ledger(world.tenant, None).await.unwrap();
    assert_eq!((ledger.expected, ledger.failed, ledger.open, ledger.completed), (3, 1, 1, 1));
    let document = lease.subject.document.unwrap().document_id;
    let shown = world.store.show(world.tenant, &document.to_string()).await.unwrap().unwrap();
    assert_eq!(shown.children[1].result, Some(ResultCode::PasswordProtected));
    world.assert_balanced().await;
}

async fn members_beyond_a_limit_are_accounted_for(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let lease = container(&world).await;
    add(&world, chunk(&lease, b"run", 10, vec![member(&world, 0, "a")])).await;
    world.report(&lease, unpacked(b"run", 10, 9)).await;
    let ledger = world.store.ledger(world.tenant, None).await.unwrap();
    assert_eq!((ledger.expected, ledger.failed), (11, 9));
    world.assert_balanced().await;
}

async fn missing_member_breaks_the_balance(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let lease = container(&world).await;
    add(&world, chunk(&lease, b"run", 3, vec![member(&world, 0, "a")])).await;
    world.report(&lease, unpacked(b"run", 3, 0)).await;
    // Two declared members are nowhere.
    world.assert_unbalanced().await;
}

async fn broken_unpacking_accounts_for_the_rest(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let lease = container(&world).await;
    add(&world, chunk(&lease, b"run", 5, vec![member(&world, 0, "a")])).await;
    let error = failure(ErrorKind::Timeout);
    let dead =
        Outcome::Dead { end: Some(IngestionEnd::failed(error.clone())), error, charged: true, next: None };
    world.report(&lease, dead).await;
    let ledger = world.store.ledger(world.tenant, None).await.unwrap();
    assert_eq!((ledger.expected, ledger.failed, ledger.open), (6, 5, 1));
    world.assert_balanced().await;
    // A replay unpacks again and the account is settled anew.
    world.store.dead_replay(world.tenant, None).await.unwrap();
    world.assert_balanced().await;
}

async fn other_fingerprint_supersedes_the_members(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let lease = container(&world).await;
    add(&world, chunk(&lease, b"old", 2, vec![member(&world, 0, "a"), member(&world, 1, "b")])).await;
    add(&world, chunk(&lease, b"new", 1, vec![member(&world, 0, "c")])).await;
    world.report(&lease, unpacked(b"new", 1, 0)).await;
    let ledger = world.store.ledger(world.tenant, None).await.unwrap();
    assert_eq!((ledger.expected, ledger.open, ledger.completed, ledger.cancelled), (2, 1, 1, 0));
    world.assert_balanced().await;
    assert_eq!(world.claim(5).await.len(), 1, "tasks of superseded members are gone");
}

async fn members_count_in_their_batch(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.take(world.receipt(Some(batch), "box.zip", "box")).await;
    world.seal(batch, 1).await;
    let lease = world.claim_one().await;
    add(&world, chunk(&lease, b"run", 1, vec![member(&world, 0, "a")])).await;
    world.report(&lease, unpacked(b"run", 1, 0)).await;
    let totals = world.totals(batch).await;
    assert_eq!((totals.received, totals.children, totals.open), (1, 1, 1));
    let member = world.claim_one().await;
    world.complete(&member).await;
    let totals = world.totals(batch).await;
    assert_eq!((totals.completed, totals.open, totals.state.name()), (2, 0, "finished"));
}

async fn containers_inside_containers_share_the_limits_of_the_outermost(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let tree = ExpansionLimits::of_tree(&Limits { max_tree_entries: 4, ..Limits::default() });
    let outer = container(&world).await;
    let two = vec![member(&world, 0, "first box"), member(&world, 1, "second box")];
    add(&world, ChildChunk { tree, ..chunk(&outer, b"run", 2, two) }).await;
    world.report(&outer, unpacked(b"run", 2, 0)).await;

    let first = world.claim_one().await;
    let one = ChildChunk { tree, ..chunk(&first, b"run 1", 1, vec![member(&world, 0, "a")]) };
    add(&world, one.clone()).await;
    // Repeated members are not counted again.
    add(&world, one).await;
    world.report(&first, unpacked(b"run 1", 1, 0)).await;

    let second = world.claim_one().await;
    let three = (0..3).map(|n| member(&world, n, &format!("b{n}"))).collect();
    let answer = world.store.add_children(ChildChunk { tree, ..chunk(&second, b"run 2", 3, three) }).await;
    let ChunkAnswer::Full { taken, error } = answer.unwrap() else { panic!("four members are allowed") };
    assert_eq!(taken.len(), 1);
    assert_eq!(error.kind, ErrorKind::LimitExceeded);
    assert!(error.hint.unwrap().contains("limits.max_tree_entries"));
    world.report(&second, unpacked(b"run 2", 3, 2)).await;
    let ledger = world.store.ledger(world.tenant, None).await.unwrap();
    assert_eq!((ledger.expected, ledger.failed), (7, 2), "the two that were refused are accounted for");
    world.assert_balanced().await;
}

async fn member_that_is_its_own_container_is_not_unpacked_again(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let lease = container(&world).await;
    add(&world, chunk(&lease, b"run", 1, vec![member(&world, 0, "box")])).await;
    world.report(&lease, unpacked(b"run", 1, 0)).await;
    assert!(world.claim(5).await.is_empty());
    let document = lease.subject.document.unwrap().document_id;
    let shown = world.store.show(world.tenant, &document.to_string()).await.unwrap().unwrap();
    assert_eq!(shown.children[0].status, IngestionStatus::Failed);
    world.assert_balanced().await;
}
