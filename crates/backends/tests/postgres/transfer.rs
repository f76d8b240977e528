//! Moving everything out of a database that others could use.

use std::sync::Arc;
use std::time::Duration;

use docmill_backends::store::postgres::{Options, PostgresStore, PostgresTransfer, Time};
use docmill_core::ErrorKind;
use docmill_core::clock::{Clock, SystemIds, Timestamp};
use docmill_core::id::ContentHash;
use docmill_core::ports::transfer::Origin;
use docmill_core::ports::{Store, Transfer};
use docmill_testkit::conformance::store::World;
use docmill_testkit::conformance::{Bench, Case};

use crate::Database;

pub(crate) fn cases() -> Vec<Case<Database>> {
    docmill_testkit::cases![
        frozen_database_takes_no_writes_and_still_answers,
        database_that_others_are_connected_to_is_refused,
        database_is_moved_by_one_at_a_time,
        outbox_is_numbered_before_everything_is_read,
        worker_that_may_live_is_told_from_one_that_does_not,
        target_that_somebody_opened_meanwhile_is_given_back,
    ]
}

impl Database {
    /// A store of a process that no move takes for company, which gives up soon.
    async fn quiet_store(&self) -> Arc<PostgresStore> {
        let clock = self.clock();
        let time = Time::Of(Arc::clone(&clock) as Arc<dyn Clock>);
        let statement_timeout = Duration::from_millis(400);
        let options = Options { time, statement_timeout, name: "test".into(), ..Options::default() };
        Arc::new(PostgresStore::open(&self.url, options, clock, Arc::new(SystemIds)).await.unwrap())
    }

    async fn source(&self) -> docmill_core::Result<(Arc<PostgresStore>, PostgresTransfer)> {
        PostgresTransfer::open_source(&self.url, self.clock(), Arc::new(SystemIds)).await
    }
}

async fn frozen_database_takes_no_writes_and_still_answers(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = World::around(database.quiet_store().await as Arc<dyn Store>, database.clock()).await;
    let batch = world.batch(Some("b")).await;
    world.receive(Some(batch), 3).await;
    {
        let (_, source) = database.source().await.unwrap();
        source.freeze().await.unwrap();
        let receipt = world.receipt(Some(batch), "late.txt", "late");
        let error = world.store.receive(vec![receipt]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let error = world.store.claim(world.spec(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert_eq!(world.totals(batch).await.received, 3);
        assert_eq!(world.store.status(world.tenant).await.unwrap().tasks.queued, 3);
    }
    // The server lets go with the connection.
    database
        .eventually(
            "SELECT count(*)::text FROM pg_locks WHERE mode = 'ShareLock' AND locktype = 'relation'",
            "0",
        )
        .await;
    world.receive(Some(batch), 1).await;
}

async fn database_that_others_are_connected_to_is_refused(bench: Bench<Database>) {
    let database = bench.open().await;
    let other = database.store().await;
    other.tenant("local").await.unwrap();
    let error = database.source().await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("connected to postgres://"), "{error}");
    assert!(!error.message().contains("postgres@"), "no users and passwords: {error}");
    assert!(error.hint().unwrap().contains("docmill work"), "{error}");
    other.close().await;
    drop(other);
    database.source().await.unwrap();
}

async fn database_is_moved_by_one_at_a_time(bench: Bench<Database>) {
    let database = bench.open().await;
    let first = database.source().await.unwrap();
    let error = database.source().await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("docmill migrate"), "{error}");
    drop(first);
    database.source().await.unwrap();
}

async fn outbox_is_numbered_before_everything_is_read(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = World::around(database.quiet_store().await as Arc<dyn Store>, database.clock()).await;
    drop(world);
    database
        .run(
            "INSERT INTO outbox (tenant_id, at, event_count, events)
             SELECT tenant_id, 1, 1, '[{\"kind\":\"WARNING\",\"status\":\"success\"}]'
             FROM tenant, generate_series(1, 1500)",
        )
        .await;
    let (_, source) = database.source().await.unwrap();
    source.freeze().await.unwrap();
    let table = docmill_core::ports::transfer::Table::named("event").unwrap();
    let mut pieces = source.rows(table, None).await.unwrap();
    let mut rows = 0;
    while let Some(piece) = pieces.recv().await {
        rows += piece.unwrap().len();
    }
    assert_eq!(rows, 1500);
}

async fn worker_that_may_live_is_told_from_one_that_does_not(bench: Bench<Database>) {
    let database = bench.open().await;
    let now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let id = |n: u32| format!("00000000-0000-7000-8000-{n:012}");
    for (n, seen) in [(1, 1_000), (2, 59_000), (3, 61_000), (4, 9_000_000)] {
        database
            .run(&format!("INSERT INTO worker VALUES ('{}', 'h', {n}, 1, '[]', 0, {now} - {seen})", id(n)))
            .await;
    }
    let (_, source) = database.source().await.unwrap();
    let holders = source.holders().await.unwrap();
    let mut found: Vec<_> =
        holders.into_iter().map(|h| (h.worker_id.to_string(), h.place, h.lives)).collect();
    found.sort();
    let expected = [(1, true), (2, true), (3, false), (4, false)];
    let expected = expected.map(|(n, lives)| (id(n), format!("process {n} on h"), lives));
    assert_eq!(found, expected);
}

async fn target_that_somebody_opened_meanwhile_is_given_back(bench: Bench<Database>) {
    let database = bench.open().await;
    let (_, target) =
        PostgresTransfer::open_target(&database.url, database.clock(), Arc::new(SystemIds)).await.unwrap();
    let other = database.store().await;
    other.tenant("local").await.unwrap();
    let origin =
        Origin { from: "x".into(), state: ContentHash::of(b""), blobs: "y".into(), at: Timestamp(0) };
    let error = target.begin(&origin).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(database.text("SELECT (to_regclass('transfer') IS NULL)::text").await, "true");
    other.close().await;
    drop(other);
    target.begin(&origin).await.unwrap();
}
