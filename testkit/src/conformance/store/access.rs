//! Keys, the audit log, requests that are done once, and documents that are taken out.

use std::time::Duration;

use docmill_core::ErrorKind;
use docmill_core::access::{Actor, NewAudit, NewKey, Once, Role, Secret};
use docmill_core::batch::BatchChange;
use docmill_core::clock::Clock as _;
use docmill_core::id::{ContentHash, KeyId, TenantId};
use docmill_core::ingestion::{IngestionEnd, Stage};
use docmill_core::ports::Store;
use docmill_core::ports::store::{Accepted, ListQuery, Outcome, Terms};
use docmill_core::problem::{Problem, ResultCode};
use serde_json::json;

use super::world::{World, done, failure};
use crate::conformance::{Bench, Case};

pub(super) fn cases() -> Vec<Case<dyn Store>> {
    crate::cases![
        key_opens_its_tenant_until_it_is_revoked,
        keys_of_other_tenants_are_not_seen,
        audit_log_is_a_chain_of_each_tenant,
        racing_entries_of_the_audit_log_do_not_break_the_chain,
        request_with_a_key_is_done_once,
        racing_requests_with_a_key_are_done_once,
        request_with_a_key_is_forgotten_after_a_day,
        refused_request_leaves_no_key,
        removed_document_leaves_an_account_and_nothing_else,
        removed_document_stops_its_work,
        content_that_was_removed_while_it_came_is_refused,
        problems_are_grouped_by_their_first_cause,
        batches_are_listed_newest_first,
        priority_of_a_batch_reorders_what_waits,
        list_knows_types_and_ids,
        pages_of_a_pattern_and_of_named_documents_are_in_order,
        ingestion_tells_of_items_without_a_document,
    ]
}

pub(in crate::conformance) fn entry(action: &str) -> NewAudit {
    NewAudit {
        actor: Actor::local(),
        action: action.into(),
        subject: None,
        detail: json!({ "a": [1, "ü\u{0}"] }),
    }
}

pub(in crate::conformance) fn new_key(world: &World, tenant: TenantId, name: &str) -> (Secret, NewKey) {
    let id = world.worker().0;
    let mut random = [0; 24];
    random[..16].copy_from_slice(id.as_bytes());
    let secret = Secret::new(random);
    let key = NewKey {
        key_id: KeyId(id),
        tenant_id: tenant,
        name: name.into(),
        role: Role::Write,
        hash: secret.hash(),
        shown: secret.shown(),
    };
    (secret, key)
}

async fn key_opens_its_tenant_until_it_is_revoked(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    assert_eq!(world.store.count_keys().await.unwrap().made, 0);
    let (secret, key) = new_key(&world, world.tenant, "script");
    let id = key.key_id;
    let line = world.store.add_key(key, entry("key.create")).await.unwrap();
    assert_eq!((line.role, line.revoked_at), (Role::Write, None));
    let holder = world.store.find_key(&Secret::hash_of(secret.expose())).await.unwrap().unwrap();
    assert_eq!((holder.tenant_id, holder.key_id, holder.name.as_str()), (world.tenant, id, "script"));
    assert!(world.store.find_key(&ContentHash::of(b"another")).await.unwrap().is_none());
    assert_eq!(world.store.key(id).await.unwrap().unwrap().1, secret.hash());
    assert!(world.store.revoke_key(world.tenant, id, entry("key.revoke")).await.unwrap());
    assert!(world.store.find_key(&secret.hash()).await.unwrap().is_none());
    assert!(world.store.key(id).await.unwrap().is_none());
    let counts = world.store.count_keys().await.unwrap();
    assert_eq!((counts.made, counts.valid), (1, 0));
    let keys = world.store.keys(world.tenant).await.unwrap();
    assert!(keys.len() == 1 && keys[0].revoked_at.is_some());
    assert_eq!(world.store.audit_log(world.tenant, 0, 10).await.unwrap().entries.len(), 2);
}

async fn keys_of_other_tenants_are_not_seen(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let other = world.store.tenant("other").await.unwrap();
    let (_, key) = new_key(&world, other, "theirs");
    let id = key.key_id;
    world.store.add_key(key, entry("key.create")).await.unwrap();
    assert!(world.store.keys(world.tenant).await.unwrap().is_empty());
    assert!(!world.store.revoke_key(world.tenant, id, entry("key.revoke")).await.unwrap());
    assert!(world.store.audit_log(world.tenant, 0, 10).await.unwrap().entries.is_empty());
    let names: Vec<String> = world.store.tenants().await.unwrap().into_iter().map(|t| t.name).collect();
    assert_eq!(names, ["local", "other"]);
    assert_eq!(world.store.find_tenant("other").await.unwrap(), Some(other));
    assert_eq!(world.store.find_tenant("nobody").await.unwrap(), None);
}

async fn audit_log_is_a_chain_of_each_tenant(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let other = world.store.tenant("other").await.unwrap();
    for n in 0..5 {
        world.store.audit(world.tenant, entry(&format!("a{n}"))).await.unwrap();
        world.store.audit(other, entry("theirs")).await.unwrap();
        world.clock.advance(Duration::from_millis(7));
    }
    let all = world.store.audit_log(world.tenant, 0, 10).await.unwrap();
    assert!(all.intact && all.next == 5, "{all:?}");
    let actions: Vec<&str> = all.entries.iter().map(|e| e.action.as_str()).collect();
    assert_eq!(actions, ["a0", "a1", "a2", "a3", "a4"]);
    let rest = world.store.audit_log(world.tenant, 3, 1).await.unwrap();
    assert!(rest.intact && rest.entries.len() == 1 && rest.next == 4, "{rest:?}");
}

async fn racing_entries_of_the_audit_log_do_not_break_the_chain(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let writes = (0..12).map(|n| world.store.audit(world.tenant, entry(&format!("a{n}"))));
    for written in futures::future::join_all(writes).await {
        written.unwrap();
    }
    let all = world.store.audit_log(world.tenant, 0, 100).await.unwrap();
    assert!(all.intact && all.entries.len() == 12, "{all:?}");
}

pub(in crate::conformance) fn once(key: &str, request: &str) -> Terms {
    Terms {
        once: Some(Once { key: key.into(), fingerprint: ContentHash::of(request.as_bytes()) }),
        audit: Some(entry("document.add")),
        unsealed: false,
    }
}

async fn send(world: &World, text: &str, terms: Terms) -> docmill_core::Result<Accepted> {
    world.store.accept(vec![world.receipt(None, "a.txt", text)], terms).await
}

async fn request_with_a_key_is_done_once(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let first = send(&world, "x", once("k", "x")).await.unwrap();
    assert!(!first.repeated);
    for _ in 0..3 {
        let again = send(&world, "x", once("k", "x")).await.unwrap();
        assert!(again.repeated && again.received == first.received, "{again:?}");
    }
    let error = send(&world, "y", once("k", "y")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    // Another tenant's key of that name is another key.
    let other = world.store.tenant("other").await.unwrap();
    let mut receipt = world.receipt(None, "a.txt", "x");
    receipt.tenant_id = other;
    assert!(!world.store.accept(vec![receipt], once("k", "x")).await.unwrap().repeated);
    assert_eq!(world.store.list(world.tenant, &ListQuery::all(10)).await.unwrap().documents.len(), 1);
    assert_eq!(
        world.store.audit_log(world.tenant, 0, 10).await.unwrap().entries.len(),
        1,
        "of what was done"
    );
    world.assert_balanced().await;
}

async fn racing_requests_with_a_key_are_done_once(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let sent = (0..8).map(|_| send(&world, "x", once("k", "x")));
    let answers: Vec<Accepted> =
        futures::future::join_all(sent).await.into_iter().map(|answer| answer.unwrap()).collect();
    assert_eq!(answers.iter().filter(|a| !a.repeated).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|a| a.received == answers[0].received), "{answers:?}");
    world.assert_balanced().await;
}

async fn request_with_a_key_is_forgotten_after_a_day(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    send(&world, "x", once("k", "x")).await.unwrap();
    world.clock.advance(Once::HONOURED_FOR.saturating_sub(Duration::from_secs(1)));
    assert!(send(&world, "x", once("k", "x")).await.unwrap().repeated);
    world.clock.advance(Duration::from_secs(2));
    let later = send(&world, "y", once("k", "y")).await.unwrap();
    assert!(!later.repeated);
    world.clock.advance(Once::HONOURED_FOR + Duration::from_secs(1));
    world.store.prune_events(world.clock.now().minus(Duration::from_hours(1000))).await.unwrap();
    assert!(!send(&world, "y", once("k", "y")).await.unwrap().repeated);
}

async fn refused_request_leaves_no_key(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    world.store.change_batch(world.tenant, batch, BatchChange::Cancel).await.unwrap();
    let receipt = world.receipt(Some(batch), "a.txt", "x");
    assert!(world.store.accept(vec![receipt], once("k", "x")).await.is_err());
    assert!(!send(&world, "x", once("k", "x")).await.unwrap().repeated);
    assert_eq!(world.store.audit_log(world.tenant, 0, 10).await.unwrap().entries.len(), 1);
}

async fn removed_document_leaves_an_account_and_nothing_else(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let received = world.take(world.receipt(Some(batch), "a.txt", "same")).await;
    world.take(world.receipt(Some(batch), "b.txt", "other")).await;
    for lease in world.claim(2).await {
        world.complete(&lease).await;
    }
    world.seal(batch, 2).await;
    let id = received.document_id.unwrap();
    let before = world.store.last_change().await.unwrap();
    let other = world.store.tenant("other").await.unwrap();
    assert!(world.store.remove(other, id).await.unwrap().is_none(), "a foreign id is not there");
    let keys = world.store.remove(world.tenant, id).await.unwrap().unwrap();
    assert!(keys.iter().any(|key| key.as_str().contains(&id.to_string())), "{keys:?}");
    assert_eq!(world.store.referenced(&keys).await.unwrap(), vec![false; keys.len()]);
    assert!(world.store.remove(world.tenant, id).await.unwrap().is_none(), "once is enough");
    let text = id.to_string();
    assert!(world.store.show(world.tenant, &text).await.unwrap().is_none());
    assert!(world.store.head(world.tenant, &text).await.unwrap().is_none());
    assert!(world.store.why(world.tenant, &text).await.unwrap().is_none());
    assert_eq!(world.store.status(world.tenant).await.unwrap().documents, 1);
    assert_eq!(world.store.list(world.tenant, &ListQuery::all(10)).await.unwrap().documents.len(), 1);
    let left = world.store.ingestion(world.tenant, received.ingestion_id).await.unwrap().unwrap();
    assert_eq!((left.document_id, left.status), (None, Stage::Completed));
    let changes = world.store.changes(before, 10).await.unwrap();
    assert!(changes.len() == 1 && changes[0].removed && changes[0].document_id == id, "{changes:?}");
    world.assert_balanced().await;
    let again = world.take(world.receipt(None, "a.txt", "same")).await;
    assert!(
        again.document_id != Some(id) && !again.duplicate,
        "the same content is a new document: {again:?}"
    );
    world.assert_balanced().await;
}

async fn removed_document_stops_its_work(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let batch = world.batch(None).await;
    let running = world.take(world.receipt(Some(batch), "a.txt", "running")).await;
    let lease = world.claim_one().await;
    let dead = world.take(world.receipt(Some(batch), "b.txt", "dead")).await;
    let dying = world.claim_one().await;
    let error = failure(ErrorKind::Timeout);
    let end = Some(IngestionEnd::failed(error.clone()));
    world.report(&dying, Outcome::Dead { end, error, charged: true, next: None }).await;
    assert_eq!(world.totals(batch).await.dead, 1);
    for received in [&running, &dead] {
        world.store.remove(world.tenant, received.document_id.unwrap()).await.unwrap().unwrap();
    }
    assert_eq!(world.complete(&lease).await, docmill_core::ports::store::Committed::Stale);
    assert!(world.store.dead(world.tenant, 10).await.unwrap().is_empty());
    let replayed = world.store.dead_replay(world.tenant, Some(&[dying.task_id])).await;
    assert_eq!(replayed.unwrap_err().kind(), ErrorKind::NotFound);
    let totals = world.totals(batch).await;
    assert_eq!((totals.open, totals.cancelled, totals.failed, totals.dead), (0, 1, 1, 0), "{totals:?}");
    world.assert_balanced().await;
}

async fn content_that_was_removed_while_it_came_is_refused(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let first = world.receipt(None, "a.txt", "same");
    let received = world.take(first.clone()).await;
    world.store.remove(world.tenant, received.document_id.unwrap()).await.unwrap().unwrap();
    // Whoever brings it had found it there, and so wrote no blob and names the old document.
    let mut late = world.receipt(None, "a.txt", "same");
    late.arrival = first.arrival;
    let error = world.store.receive(vec![late]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    world.assert_balanced().await;
}

async fn problems_are_grouped_by_their_first_cause(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.receive(None, 4).await;
    for (n, lease) in world.claim(4).await.into_iter().enumerate() {
        let problem = |kind| Problem::new(kind, format!("trouble {n}"));
        let end = match n {
            0 => IngestionEnd::completed(ResultCode::Success, Vec::new()),
            1 => IngestionEnd::failed(failure(ErrorKind::Timeout)),
            _ => IngestionEnd::completed(
                ResultCode::PasswordProtected,
                vec![problem(ErrorKind::Encrypted), problem(ErrorKind::Timeout)],
            ),
        };
        world
            .report(&lease, done(docmill_core::ports::store::Done { end: Some(end), ..Default::default() }))
            .await;
    }
    let groups = world.store.problems(world.tenant).await.unwrap();
    let shape: Vec<_> = groups.iter().map(|g| (g.cause, g.count, g.failed, g.samples.len())).collect();
    assert_eq!(shape, [(ErrorKind::Encrypted, 2, 0, 2), (ErrorKind::Timeout, 1, 1, 1)]);
    assert_eq!(groups[0].code, ResultCode::PasswordProtected);
    let having = world.store.having_problem(world.tenant, ErrorKind::Encrypted).await.unwrap();
    assert_eq!(having.len(), 2);
    assert!(having.iter().all(|id| received.iter().any(|r| r.document_id == Some(*id))));
    let other = world.store.tenant("other").await.unwrap();
    assert!(world.store.problems(other).await.unwrap().is_empty());
    // A document that was read well later has no problem any more.
    let id = having[0];
    world.store.remove(world.tenant, id).await.unwrap().unwrap();
    assert_eq!(world.store.problems(world.tenant).await.unwrap()[0].count, 1);
}

async fn batches_are_listed_newest_first(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let mut made = Vec::new();
    for n in 0..5 {
        made.push(world.batch(Some(&format!("b{n}"))).await);
    }
    made.reverse();
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = world.store.batches(world.tenant, 2, cursor.as_deref()).await.unwrap();
        seen.extend(page.batches.iter().map(|b| b.batch_id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, made);
    let other = world.store.tenant("other").await.unwrap();
    assert!(world.store.batches(other, 10, None).await.unwrap().batches.is_empty());
    let error = world.store.batches(world.tenant, 10, Some("odd")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
}

async fn priority_of_a_batch_reorders_what_waits(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let (late, early) = (world.batch(None).await, world.batch(None).await);
    world.receive(Some(late), 2).await;
    world.receive(Some(early), 2).await;
    let changed = world.store.change_batch(world.tenant, early, BatchChange::Priority(1)).await.unwrap();
    assert_eq!(changed, 2);
    assert_eq!(world.totals(early).await.priority, 1);
    let order: Vec<_> = world.claim(4).await.into_iter().map(|lease| lease.subject.batch_id).collect();
    assert_eq!(order, [Some(early), Some(early), Some(late), Some(late)]);
    world.assert_balanced().await;
}

async fn list_knows_types_and_ids(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.receive(None, 3).await;
    for (n, lease) in world.claim(3).await.into_iter().enumerate() {
        let media_type = Some(["image/png", "image/jpeg", "text/plain"][n].to_owned());
        let facts = docmill_core::ingestion::Facts { media_type, ..Default::default() };
        let end = Some(IngestionEnd::completed(ResultCode::Success, Vec::new()));
        world
            .report(&lease, done(docmill_core::ports::store::Done { facts, end, ..Default::default() }))
            .await;
    }
    let count =
        async |query: ListQuery| world.store.list(world.tenant, &query).await.unwrap().documents.len();
    let of = |kind: &str| ListQuery { media_type: Some(kind.into()), ..ListQuery::all(10) };
    assert_eq!(count(of("image/png")).await, 1);
    assert_eq!(count(of("image/*")).await, 2);
    assert_eq!(count(of("image")).await, 0);
    assert_eq!(count(of("*/*")).await, 3);
    let ids: Vec<_> = received.iter().filter_map(|r| r.document_id).take(2).collect();
    let some = ListQuery { ids: Some(ids.clone()), ..ListQuery::all(10) };
    assert_eq!(count(some.clone()).await, 2);
    assert_eq!(count(ListQuery { ids: Some(Vec::new()), ..some.clone() }).await, 0);
    assert_eq!(count(ListQuery { limit: 1, ..some }).await, 1);
    let other = world.store.tenant("other").await.unwrap();
    let theirs = ListQuery { ids: Some(ids), ..ListQuery::all(10) };
    assert!(world.store.list(other, &theirs).await.unwrap().documents.is_empty());
}

async fn pages_of_a_pattern_and_of_named_documents_are_in_order(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let received = world.receive(None, 12).await;
    for (n, lease) in world.claim(12).await.into_iter().enumerate() {
        let media_type = Some(["image/png", "text/plain", "image/jpeg", "imagery/x"][n % 4].to_owned());
        let facts = docmill_core::ingestion::Facts { media_type, ..Default::default() };
        let end = Some(IngestionEnd::completed(ResultCode::Success, Vec::new()));
        world
            .report(&lease, done(docmill_core::ports::store::Done { facts, end, ..Default::default() }))
            .await;
    }
    let all_pages = async |query: ListQuery| {
        let (mut seen, mut query) = (Vec::new(), query);
        loop {
            let page = world.store.list(world.tenant, &query).await.unwrap();
            assert!(page.documents.len() <= query.limit);
            seen.extend(page.documents.iter().map(|line| (line.document_id, line.media_type.clone())));
            query.cursor = page.next_cursor;
            if query.cursor.is_none() {
                return seen;
            }
        }
    };
    let images = all_pages(ListQuery { media_type: Some("image/*".into()), ..ListQuery::all(2) }).await;
    assert_eq!(images.len(), 6);
    assert!(images.iter().all(|(_, kind)| kind.as_deref().is_some_and(|kind| kind.starts_with("image/"))));
    assert!(images.is_sorted_by(|a, b| a.0 > b.0), "{images:?}");
    let mut named: Vec<_> = received.iter().filter_map(|r| r.document_id).skip(3).collect();
    let query = ListQuery { ids: Some(named.clone()), ..ListQuery::all(4) };
    let found: Vec<_> = all_pages(query.clone()).await.into_iter().map(|(id, _)| id).collect();
    named.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(found, named);
    let both = ListQuery { media_type: Some("image/*".into()), ..query };
    let found = all_pages(both).await;
    assert!(found.iter().all(|(id, _)| named.contains(id)) && found.len() < 6, "{found:?}");
}

async fn ingestion_tells_of_items_without_a_document(bench: Bench<dyn Store>) {
    let world = World::open(&bench).await;
    let mut receipt = world.receipt(None, "locked.txt", "x");
    let end = IngestionEnd::failed(failure(ErrorKind::Unreadable));
    receipt.arrival = docmill_core::ports::store::Arrival::Refused(end);
    let refused = world.take(receipt).await;
    let told = world.store.ingestion(world.tenant, refused.ingestion_id).await.unwrap().unwrap();
    assert_eq!((told.document_id, told.status, told.problems.len()), (None, Stage::Failed, 1));
    let other = world.store.tenant("other").await.unwrap();
    assert!(world.store.ingestion(other, refused.ingestion_id).await.unwrap().is_none());
    let open = world.receive(None, 1).await.remove(0);
    let told = world.store.ingestion(world.tenant, open.ingestion_id).await.unwrap().unwrap();
    assert_eq!((told.status, told.stale, told.document_id), (Stage::Queued, false, open.document_id));
    world.clock.advance(Duration::from_mins(11));
    assert!(world.store.ingestion(world.tenant, open.ingestion_id).await.unwrap().unwrap().stale);
}
