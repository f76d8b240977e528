//! Many processes on one index.

use std::sync::Arc;
use std::time::Duration;

use docmill_backends::search::postgres::{Options, PostgresIndex};
use docmill_core::ErrorKind;
use docmill_core::ports::TextIndex as _;
use docmill_core::ports::text_index::{IndexChange, TextQuery};
use docmill_testkit::conformance::{Bench, Case};
use sqlx_core::connection::Connection as _;
use sqlx_core::raw_sql::raw_sql;

use super::{ANNA, BERT, apply, ask, find, put};
use crate::{Database, postgres_server};

pub(super) fn cases() -> Vec<Case<Database>> {
    docmill_testkit::cases![
        racing_followers_apply_each_change_once,
        turn_is_one_process_at_a_time_and_ends_with_the_batch,
        turn_of_a_process_that_died_comes_to_an_end,
        batch_of_a_process_that_died_leaves_nothing,
        batch_that_was_outrun_while_it_waited_changes_nothing,
        connections_that_the_server_cut_are_replaced,
        query_that_takes_too_long_is_stopped,
        rows_of_another_tenant_are_not_seen_whatever_their_words,
        racing_processes_make_the_tables_once,
        index_of_an_older_version_is_built_again,
        index_of_a_newer_version_is_refused_and_left_alone,
        server_that_is_not_there_is_an_error_at_the_start,
    ]
}

const CHANGES: i64 = 60;

/// Follows a log of which every change puts the document of its number; answers how many batches it applied.
async fn follow(index: Arc<PostgresIndex>, in_turn: bool) -> usize {
    let mut applied = 0;
    loop {
        let from = index.watermark().await.unwrap();
        if from == CHANGES {
            return applied;
        }
        if in_turn && index.turn().await.unwrap() != Some(from) {
            tokio::task::yield_now().await;
            continue;
        }
        let upto = (from + 3).min(CHANGES);
        let changes = (from + 1..=upto).map(|n| put(n as u128, &format!("word{n} of{}", from % 7))).collect();
        applied += usize::from(index.apply(changes, from, upto).await.unwrap());
    }
}

async fn racing_followers_apply_each_change_once(bench: Bench<Database>) {
    let database = bench.open().await;
    for in_turn in [false, true] {
        database.index().await.clear().await.unwrap();
        let mut followers = Vec::new();
        for _ in 0..4 {
            followers.push(tokio::spawn(follow(database.index().await, in_turn)));
        }
        let mut batches = 0;
        for follower in followers {
            batches += follower.await.unwrap();
        }
        assert_eq!(batches as i64, CHANGES / 3, "each batch once");
        let index = database.index().await;
        assert_eq!(index.count(ANNA).await.unwrap(), CHANGES as u64);
        for n in 1..=CHANGES {
            assert_eq!(find(&index, &format!("word{n}")).await, [n as u128]);
        }
    }
}

async fn turn_is_one_process_at_a_time_and_ends_with_the_batch(bench: Bench<Database>) {
    let database = bench.open().await;
    let (a, b) = (database.index().await, database.index().await);
    assert_eq!(a.turn().await.unwrap(), Some(0));
    assert_eq!(b.turn().await.unwrap(), None);
    assert_eq!(a.turn().await.unwrap(), Some(0), "whoever has the turn may go on");
    // The turn saves work; it does not keep anybody out.
    assert!(b.apply(vec![put(1, "b")], 0, 1).await.unwrap());
    assert!(!a.apply(vec![put(2, "a")], 0, 2).await.unwrap());
    assert_eq!(b.turn().await.unwrap(), Some(1));
    assert!(b.apply(Vec::new(), 1, 2).await.unwrap());
    assert_eq!(a.turn().await.unwrap(), Some(2));
    a.clear().await.unwrap();
    assert_eq!(b.turn().await.unwrap(), Some(0));
}

async fn turn_of_a_process_that_died_comes_to_an_end(bench: Bench<Database>) {
    let database = bench.open().await;
    let (a, b) = (database.index().await, database.index().await);
    assert_eq!(a.turn().await.unwrap(), Some(0));
    drop(a);
    let left = "SELECT (held_until > clock_timestamp() AND held_until < clock_timestamp() + interval '1 minute')::text
        FROM text_index_state";
    assert_eq!(database.text(left).await, "true");
    database.run("UPDATE text_index_state SET held_until = clock_timestamp() - interval '1 second'").await;
    assert_eq!(b.turn().await.unwrap(), Some(0));
}

/// Holds a lock that lets a batch write its rows and then wait, until it is dropped.
async fn hold_back(database: &Database) -> sqlx_postgres::PgConnection {
    let mut conn = postgres_server::connect(&database.url).await.unwrap();
    raw_sql("BEGIN; LOCK TABLE text_index_tenant IN EXCLUSIVE MODE").execute(&mut conn).await.unwrap();
    conn
}

const HELD_BACK: &str = "SELECT count(*)::text FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO text_index_tenant%'";

async fn batch_of_a_process_that_died_leaves_nothing(bench: Bench<Database>) {
    let database = bench.open().await;
    let index = database.index().await;
    apply(&index, vec![put(1, "old"), put(2, "old")]).await;
    let held_back = hold_back(&database).await;
    let changes =
        || vec![put(1, "new"), put(3, "new"), IndexChange::Remove(ANNA, super::document(2, "").document_id)];
    let dying = {
        let (index, changes) = (Arc::clone(&index), changes());
        tokio::spawn(async move { index.apply(changes, 1, 2).await })
    };
    database.eventually(HELD_BACK, "1").await;
    // All rows are written, and then the server loses the process.
    database.run(&HELD_BACK.replace("count(*)::text", "pg_terminate_backend(pid)")).await;
    assert_eq!(dying.await.unwrap().unwrap_err().kind(), ErrorKind::Unavailable);
    held_back.close().await.unwrap();
    let next = database.index().await;
    assert_eq!((next.watermark().await.unwrap(), next.count(ANNA).await.unwrap()), (1, 2));
    assert_eq!((find(&next, "old").await, find(&next, "new").await), (vec![1, 2], vec![]));
    assert!(next.apply(changes(), 1, 2).await.unwrap());
    assert_eq!((find(&next, "old").await, find(&next, "new").await), (vec![], vec![1, 3]));
    assert_eq!(next.count(ANNA).await.unwrap(), 2);
}

async fn batch_that_was_outrun_while_it_waited_changes_nothing(bench: Bench<Database>) {
    let database = bench.open().await;
    let (slow, fast) = (database.index().await, database.index().await);
    let held_back = hold_back(&database).await;
    let first = {
        let fast = Arc::clone(&fast);
        tokio::spawn(async move { fast.apply(vec![put(1, "new")], 0, 5).await })
    };
    database.eventually(HELD_BACK, "1").await;
    // While a batch is being applied nobody else waits for it or gets the turn.
    assert!(!slow.apply(vec![put(1, "old")], 0, 3).await.unwrap());
    assert_eq!(slow.turn().await.unwrap(), None);
    assert_eq!(slow.watermark().await.unwrap(), 0);
    held_back.close().await.unwrap();
    assert!(first.await.unwrap().unwrap());
    assert!(!slow.apply(vec![put(1, "old")], 0, 9).await.unwrap());
    assert_eq!(slow.watermark().await.unwrap(), 5);
    assert_eq!(find(&slow, "new").await, [1]);
}

async fn connections_that_the_server_cut_are_replaced(bench: Bench<Database>) {
    let database = bench.open().await;
    let index = database.index().await;
    apply(&index, vec![put(1, "apple")]).await;
    database
        .run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = 'docmill search'",
        )
        .await;
    // The first to use a connection may be told that it is gone; nobody is told so twice.
    let mut answers = Vec::new();
    for _ in 0..5 {
        answers.push(index.query(ask("apple")).await.is_ok());
    }
    assert!(answers.ends_with(&[true, true]), "{answers:?}");
}

async fn query_that_takes_too_long_is_stopped(bench: Bench<Database>) {
    let database = bench.open().await;
    apply(&*database.index().await, vec![put(1, "apple")]).await;
    let options = Options { query_timeout: Duration::from_millis(200), ..Options::default() };
    let index = PostgresIndex::open(&database.url, options).await.unwrap();
    let mut conn = postgres_server::connect(&database.url).await.unwrap();
    raw_sql("BEGIN; LOCK TABLE text_index_row IN ACCESS EXCLUSIVE MODE").execute(&mut conn).await.unwrap();
    let error = index.query(ask("apple")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    conn.close().await.unwrap();
    assert_eq!(find(&index, "apple").await, [1]);
}

async fn rows_of_another_tenant_are_not_seen_whatever_their_words(bench: Bench<Database>) {
    let database = bench.open().await;
    let index = database.index().await;
    let long = "apple pear ".repeat(500);
    apply(&index, vec![put(1, "apple pear"), put(2, &long)]).await;
    // As if two tenants' words were spelled alike.
    database
        .run(
            "UPDATE text_index_row SET tenant_id = '00000000-0000-0000-0000-00000000000b';
             INSERT INTO text_index_tenant SELECT '00000000-0000-0000-0000-00000000000b', documents, long_documents,
               spilled_documents FROM text_index_tenant",
        )
        .await;
    for query in
        ["apple", "app*", "\"apple pear\"", "-plum", "apple OR pear", "name:file*", "apple -\"pear pear\""]
    {
        assert!(find(&index, query).await.is_empty(), "{query}");
        let theirs = index.query(TextQuery { tenant_id: BERT, ..ask(query) }).await.unwrap();
        assert!(theirs.hits.is_empty(), "{query}: their words are spelled otherwise");
    }
}

async fn racing_processes_make_the_tables_once(bench: Bench<Database>) {
    let database = bench.open().await;
    let (a, b, c) = tokio::join!(database.index(), database.index(), database.index());
    for index in [a, b, c] {
        assert_eq!(index.watermark().await.unwrap(), 0);
        index.close().await;
    }
    assert_eq!(database.text("SELECT count(*)::text FROM text_index_state").await, "1");
}

async fn index_of_an_older_version_is_built_again(bench: Bench<Database>) {
    let database = bench.open().await;
    let old = database.index().await;
    apply(&old, vec![put(1, "apple")]).await;
    database.run("UPDATE text_index_state SET version = 0").await;
    let index = database.index().await;
    assert_eq!((index.watermark().await.unwrap(), index.count(ANNA).await.unwrap()), (0, 0));
    apply(&index, vec![put(1, "apple")]).await;
    assert_eq!(find(&index, "apple").await, [1]);
}

async fn index_of_a_newer_version_is_refused_and_left_alone(bench: Bench<Database>) {
    let database = bench.open().await;
    let running = database.index().await;
    apply(&running, vec![put(1, "apple")]).await;
    database.run("UPDATE text_index_state SET version = 1000").await;
    let opened = PostgresIndex::open(&database.url, Options::default()).await;
    let error = opened.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("1000"), "{error}");
    // One that was there before stops following.
    assert_eq!(running.turn().await.unwrap(), None);
    assert_eq!(running.watermark().await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(running.apply(vec![put(2, "pear")], 1, 2).await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(database.text("SELECT count(*)::text FROM text_index_row").await, "1");
}

async fn server_that_is_not_there_is_an_error_at_the_start(bench: Bench<Database>) {
    let database = bench.open().await;
    let gone = database.url.replace(&database.name(), "docmill_no_such_database");
    let error = PostgresIndex::open(&gone, Options::default()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.hint().is_some(), "{error}");
    let error = PostgresIndex::open("postgres://[", Options::default()).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    // By its URL it is there at once, and connects when it is used.
    let index = docmill_backends::search::open(&database.url, std::path::Path::new("/nowhere")).unwrap();
    assert_eq!(index.watermark().await.unwrap(), 0);
}
