//! A server that goes away, is full, takes no writes or does not answer.

use std::sync::Arc;
use std::time::Duration;

use docmill_backends::store::postgres::{Options, PostgresStore, Time};
use docmill_core::ErrorKind;
use docmill_core::clock::SystemIds;
use docmill_core::event::EventType;
use docmill_core::ports::Store;
use docmill_core::ports::store::Commit;
use docmill_core::problem::ResultCode;
use docmill_testkit::conformance::store::{Reported as _, World, ended};
use docmill_testkit::conformance::{Bench, Case};
use docmill_testkit::faults::Proxy;

use crate::{Database, postgres_server};

pub(crate) fn cases() -> Vec<Case<Database>> {
    docmill_testkit::cases![
        read_only_database_takes_nothing_and_still_answers,
        full_database_takes_nothing,
        connections_that_are_cut_are_replaced,
        report_whose_answer_was_lost_is_counted_once,
        receipt_whose_answer_was_lost_is_known_when_it_is_repeated,
        renewal_does_not_wait_for_busy_connections,
        statement_that_hangs_is_given_up_and_leaves_nothing,
        server_that_is_not_there_is_unavailable,
        too_long_a_name_is_refused,
    ]
}

impl Database {
    /// Ends all connections to this database.
    async fn cut(&self) {
        let sql = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'",
            self.name()
        );
        self.run_outside(&sql).await;
    }

    async fn count(&self, table: &str) -> String {
        self.text(&format!("SELECT count(*)::text FROM {table}")).await
    }
}

async fn read_only_database_takes_nothing_and_still_answers(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 2).await;
    let lease = world.claim_one().await;
    // Totals are folded by whoever looks; a read-only database has those that were folded before.
    assert_eq!(world.totals(batch).await.received, 2);
    let name = database.name();
    database.run_outside(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await;
    database.cut().await;
    let error = world.store.receive(vec![world.receipt(Some(batch), "b.txt", "b")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.hint().unwrap().contains("primary"), "{error}");
    for answer in [
        world.store.claim(world.spec(1)).await.map(|_| ()),
        world.store.sweep(&[world.worker]).await.map(|_| ()),
        world.store.tenant("new").await.map(|_| ()),
    ] {
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Unavailable);
    }
    // Looking goes on.
    let status = world.store.status(world.tenant).await.unwrap();
    assert_eq!((status.documents, status.tasks.running), (2, 1));
    assert_eq!(world.totals(batch).await.received, 2);
    database.run_outside(&format!("ALTER DATABASE {name} RESET default_transaction_read_only")).await;
    database.cut().await;
    assert!(world.complete(&lease).await.accepted(), "and so does work, by itself");
    world.receive(Some(batch), 1).await;
    assert_eq!(world.totals(batch).await.received, 3);
    world.assert_balanced().await;
}

async fn full_database_takes_nothing(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    // The server's own error, in the middle of a transaction: documents and ingestions have been written by then.
    database
        .run(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
               $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no space left'; END $$;
             CREATE TRIGGER full_disk BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION full_disk()",
        )
        .await;
    let error = world.store.receive(vec![world.receipt(None, "a.txt", "a")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DiskFull);
    for table in ["document", "ingestion", "task", "outbox", "event"] {
        assert_eq!(database.count(table).await, "0", "{table}");
    }
    database.run("DROP TRIGGER full_disk ON task").await;
    world.take(world.receipt(None, "a.txt", "a")).await;
    world.assert_balanced().await;
}

async fn connections_that_are_cut_are_replaced(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    world.receive(None, 4).await;
    for _ in 0..4 {
        database.cut().await;
        let lease = world.claim_one().await;
        database.cut().await;
        let held = vec![(lease.task_id, lease.epoch)];
        assert!(world.store.renew(world.worker, held, Duration::from_mins(1)).await.unwrap().is_empty());
        database.cut().await;
        assert!(world.complete(&lease).await.accepted());
    }
    database.cut().await;
    world.assert_balanced().await;
    assert_eq!(world.store.open_tasks(&[docmill_testkit::conformance::store::KIND], None).await.unwrap(), 0);
}

/// A store whose connections go through a proxy.
async fn through_a_proxy(database: &Database) -> (PostgresStore, Proxy) {
    let (before, rest) = database.url.split_once('@').unwrap();
    let (server, name) = rest.split_once('/').unwrap();
    let proxy = Proxy::start(server).unwrap();
    let url = format!("{before}@{}/{name}", proxy.address());
    (postgres_server::open_at(&url, database.clock()).await.unwrap(), proxy)
}

async fn report_whose_answer_was_lost_is_counted_once(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    let batch = world.batch(None).await;
    world.receive(Some(batch), 1).await;
    let lease = world.claim_one().await;
    // Nothing is left to be numbered, so the next commit through the proxy is that of the report.
    world.events().await;
    let (store, proxy) = through_a_proxy(&database).await;
    let report = || Commit {
        task_id: lease.task_id,
        epoch: lease.epoch,
        duration: Duration::ZERO,
        outcome: ended(ResultCode::Success),
        continue_for: None,
    };
    proxy.lose_answers_to("COMMIT", 1);
    assert_eq!(store.commit(report()).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(proxy.lost_answers(), 1);
    for _ in 0..2 {
        assert!(store.commit(report()).await.unwrap().accepted());
    }
    world.seal(batch, 1).await;
    assert_eq!(world.count_events(EventType::TaskFinished).await, 1);
    let totals = world.totals(batch).await;
    assert_eq!((totals.completed, totals.open), (1, 0));
    world.assert_balanced().await;
}

async fn receipt_whose_answer_was_lost_is_known_when_it_is_repeated(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    let batch = world.batch(None).await;
    world.events().await;
    let (store, proxy) = through_a_proxy(&database).await;
    proxy.lose_answers_to("COMMIT", 1);
    let error = store.receive(vec![world.receipt(Some(batch), "a.txt", "a")]).await.unwrap_err();
    assert_eq!((error.kind(), proxy.lost_answers()), (ErrorKind::Unavailable, 1));
    // Whoever repeats it does not know the ids of the first time.
    let again = store.receive(vec![world.receipt(Some(batch), "a.txt", "a")]).await.unwrap();
    assert!(again[0].known);
    world.seal(batch, 1).await;
    let totals = world.totals(batch).await;
    assert_eq!((totals.received, totals.duplicates), (1, 0));
    assert_eq!(world.count_events(EventType::DocumentAdded).await, 1);
}

/// Holds a lock that every receipt needs, until it is dropped.
async fn lock_documents(database: &Database) -> sqlx_postgres::PgConnection {
    let mut conn = postgres_server::connect(&database.url).await.unwrap();
    sqlx_core::raw_sql::raw_sql("BEGIN; LOCK TABLE document IN ACCESS EXCLUSIVE MODE")
        .execute(&mut conn)
        .await
        .unwrap();
    conn
}

async fn renewal_does_not_wait_for_busy_connections(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = Arc::new(database.world().await);
    world.receive(None, 1).await;
    let lease = world.claim_one().await;
    let lock = lock_documents(&database).await;
    let waiting: Vec<_> = (0..20)
        .map(|n| {
            let world = Arc::clone(&world);
            tokio::spawn(
                async move { world.take(world.receipt(None, &format!("{n}"), &format!("{n}"))).await },
            )
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    for _ in 0..5 {
        let held = vec![(lease.task_id, lease.epoch)];
        let renewed = world.store.renew(world.worker, held, Duration::from_mins(1));
        let lost =
            tokio::time::timeout(Duration::from_secs(2), renewed).await.expect("it does not wait").unwrap();
        assert!(lost.is_empty());
    }
    drop(lock);
    for receipt in waiting {
        receipt.await.unwrap();
    }
}

async fn statement_that_hangs_is_given_up_and_leaves_nothing(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    let clock = database.clock();
    let options = Options {
        time: Time::Of(Arc::clone(&clock) as _),
        statement_timeout: Duration::from_millis(600),
        ..Options::default()
    };
    let hasty = PostgresStore::open(&database.url, options, clock, Arc::new(SystemIds)).await.unwrap();
    let lock = lock_documents(&database).await;
    let error = hasty.receive(vec![world.receipt(None, "a.txt", "a")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    drop(lock);
    assert_eq!(database.count("ingestion").await, "0");
    hasty.receive(vec![world.receipt(None, "a.txt", "a")]).await.unwrap();
}

async fn server_that_is_not_there_is_unavailable(bench: Bench<Database>) {
    let database = bench.open().await;
    let clock = database.clock();
    let nowhere = "postgres://nobody@127.0.0.1:1/nothing";
    let opened = PostgresStore::open(nowhere, Options::default(), clock, Arc::new(SystemIds)).await;
    let error = opened.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.hint().is_some(), "{error}");
}

async fn too_long_a_name_is_refused(bench: Bench<Database>) {
    let database = bench.open().await;
    let world: World = database.world().await;
    // Not compressible, so that no trick of the server makes it fit its index.
    let name: String = (0..400)
        .map(|n| docmill_core::id::ContentHash::of(&[n as u8, (n / 256) as u8]).to_string())
        .collect();
    let error = world.store.tenant(&name).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert_eq!(database.count("tenant").await, "1");
}
