//! Tenants: kept apart by the server itself, and served in turn.

use docmill_core::ErrorKind;
use docmill_core::id::TenantId;
use docmill_core::ports::store::Outcome;
use docmill_testkit::conformance::store::{World, failure};
use docmill_testkit::conformance::{Bench, Case};

use crate::Database;

pub(crate) fn cases() -> Vec<Case<Database>> {
    docmill_testkit::cases![
        query_without_its_where_shows_one_tenant_only,
        reader_that_names_no_tenant_sees_nothing,
        reader_changes_nothing_and_sees_no_outbox,
        every_table_of_tenants_has_a_policy,
        unknown_tenant_is_refused,
    ]
}

/// A document of a tenant with everything that hangs on one.
async fn fill(world: &World, tenant: TenantId, name: &str) {
    let mut receipt = world.receipt(None, name, name);
    receipt.tenant_id = tenant;
    world.take(receipt).await;
    let spec = docmill_core::ports::store::ClaimSpec { tenant_id: Some(tenant), ..world.spec(1) };
    let lease = world.store.claim(spec).await.unwrap().remove(0);
    let error = failure(ErrorKind::ChildCrashed);
    let size = docmill_core::task::Size::Small;
    let run_at = docmill_core::clock::Timestamp(0);
    world.report(&lease, Outcome::Retry { error, run_at, size, units: 1, charged: true }).await;
    world.store.events(tenant, &docmill_core::event::EventFilter::default()).await.unwrap();
}

async fn two_tenants(bench: &Bench<Database>) -> (std::sync::Arc<Database>, World, TenantId) {
    let database = bench.open().await;
    let world = database.world().await;
    let other = world.store.tenant("other").await.unwrap();
    fill(&world, world.tenant, "ours.txt").await;
    fill(&world, other, "theirs.txt").await;
    database
        .run(
            "INSERT INTO artifact (ingestion_id, name, blob_key, hash, bytes, media_type)
               SELECT ingestion_id, 'a', ingestion_id::text, '', 0, '' FROM ingestion;
             INSERT INTO manifest (ingestion_id, fingerprint, tenant_id) SELECT ingestion_id, '', tenant_id FROM ingestion;
             INSERT INTO step_result (ingestion_id, step, fingerprint, tenant_id, degraded, reused, body, attempt,
               duration_ms, at) SELECT ingestion_id, 's', '', tenant_id, false, false, '{}', 0, 0, 0 FROM ingestion;
             INSERT INTO source (source_id, tenant_id, kind, name, created_at)
               SELECT gen_random_uuid(), tenant_id, 'k', 'n', 0 FROM tenant;
             INSERT INTO batch (batch_id, tenant_id, kind, state, priority, created_at)
               SELECT gen_random_uuid(), tenant_id, 'k', 'open', 50, 0 FROM tenant;
             INSERT INTO api_key (key_id, tenant_id, name, role, hash, shown, created_at)
               SELECT gen_random_uuid(), tenant_id, 'n', 'read', tenant_id::text::bytea, '', 0 FROM tenant;
             INSERT INTO audit_log (tenant_id, seq, at, actor, action, detail, previous, hash)
               SELECT tenant_id, 1, 0, 'a', 'b', '{}', '', '' FROM tenant;",
        )
        .await;
    (database, world, other)
}

/// Tables whose rows belong to a tenant, by themselves or by what they hang on.
const TABLES: &[&str] = &[
    "tenant",
    "source",
    "batch",
    "document",
    "ingestion",
    "task",
    "task_failure",
    "step_result",
    "artifact",
    "manifest",
    "event",
    "api_key",
    "audit_log",
];

fn as_reader(tenant: TenantId, query: &str) -> String {
    format!("BEGIN; SET LOCAL ROLE docmill_reader; SET LOCAL app.tenant = '{tenant}'; {query}; ROLLBACK")
}

async fn query_without_its_where_shows_one_tenant_only(bench: Bench<Database>) {
    let (database, world, other) = two_tenants(&bench).await;
    for table in TABLES {
        let all = format!("SELECT count(*)::text FROM {table}");
        let everything: i64 = database.text(&all).await.parse().unwrap();
        assert!(everything >= 2, "{table} holds rows of both: {everything}");
        let ours: i64 = database.text(&as_reader(world.tenant, &all)).await.parse().unwrap();
        let theirs: i64 = database.text(&as_reader(other, &all)).await.parse().unwrap();
        assert!(ours > 0 && theirs > 0, "{table}: everyone sees their own");
        assert_eq!(ours + theirs, everything, "{table}: and nothing else");
    }
    let names = as_reader(other, "SELECT name FROM document");
    assert_eq!(database.texts(&names).await.unwrap(), ["theirs.txt"]);
}

async fn reader_that_names_no_tenant_sees_nothing(bench: Bench<Database>) {
    let (database, ..) = two_tenants(&bench).await;
    for table in TABLES {
        let query =
            format!("BEGIN; SET LOCAL ROLE docmill_reader; SELECT count(*)::text FROM {table}; ROLLBACK");
        assert!(database.texts(&query).await.is_err(), "{table}");
    }
}

async fn reader_changes_nothing_and_sees_no_outbox(bench: Bench<Database>) {
    let (database, world, _) = two_tenants(&bench).await;
    for query in [
        "UPDATE document SET name = ''",
        "DELETE FROM task",
        "SELECT events FROM outbox",
        "SELECT answer FROM idempotency",
    ] {
        assert!(database.texts(&as_reader(world.tenant, query)).await.is_err(), "{query}");
    }
}

async fn every_table_of_tenants_has_a_policy(bench: Bench<Database>) {
    let database = bench.open().await;
    let readable = "SELECT c.relname::text FROM pg_class c WHERE c.relkind = 'r'
        AND c.relnamespace = 'public'::regnamespace AND has_table_privilege('docmill_reader', c.oid, 'SELECT')
        AND NOT (c.relrowsecurity AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid)) ORDER BY 1";
    // These say how the engine stands, and nothing about anybody's documents.
    assert_eq!(database.texts(readable).await.unwrap(), ["counter", "paused_kind", "worker"]);
}

async fn unknown_tenant_is_refused(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    let mut receipt = world.receipt(None, "a.txt", "a");
    receipt.tenant_id = TenantId(world.worker().0);
    let error = world.store.receive(vec![receipt]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(database.text("SELECT count(*)::text FROM document").await, "0");
}
