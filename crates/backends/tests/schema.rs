//! The committed dump is what the migrations make, and the database itself insists on what it must.

use std::collections::BTreeMap;
use std::sync::Arc;

use docmill_backends::store::sqlite::{SCHEMA_VERSION, SqliteStore, schema_dump};
use docmill_core::ErrorKind;
use docmill_core::clock::{SteppingClock, SystemClock, SystemIds, Timestamp};
use docmill_core::ports::transfer::{Kind, LEFT_OUT, TABLES};
use docmill_testkit::conformance::store::World;

#[test]
fn schema_dump_equals_the_migrations() {
    let committed = include_str!("../../../migrations/sqlite/schema.sql");
    let made = schema_dump().unwrap();
    if made != committed {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite/schema.sql");
        panic!("migrations/sqlite/schema.sql is not what the migrations make; write this to {path}:\n{made}");
    }
}

fn open(path: &std::path::Path) -> docmill_core::Result<SqliteStore> {
    SqliteStore::open(path, Arc::new(SystemClock::new()), Arc::new(SystemIds))
}

#[test]
fn ingestion_needs_exactly_one_of_source_and_uploader() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("docmill.db");
    drop(open(&path).unwrap());
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch(
        "PRAGMA foreign_keys = OFF; INSERT INTO tenant (tenant_id, name, created_at) VALUES (x'01', 't', 0);",
    )
    .unwrap();
    let insert = |source: &str, uploader: &str| {
        conn.execute(
            &format!(
                "INSERT INTO ingestion (ingestion_id, tenant_id, source_id, uploader, source_metadata, origin,
                   receipt_key, name, depth, generation, priority, duplicate, status, created_at, progress_at)
                 VALUES (randomblob(16), x'01', {source}, {uploader}, '{{}}', '', randomblob(16), '', 0, 1, 50, 0,
                   'in_progress', 0, 0)"
            ),
            [],
        )
    };
    assert!(insert("NULL", "'anna'").is_ok());
    assert!(insert("x'02'", "NULL").is_ok());
    for (source, uploader) in [("NULL", "NULL"), ("x'02'", "'anna'")] {
        let error = insert(source, uploader).unwrap_err().to_string();
        assert!(error.contains("CHECK"), "{error}");
    }
}

#[test]
fn database_of_a_newer_version_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("docmill.db");
    drop(open(&path).unwrap());
    let newer = SCHEMA_VERSION + 1;
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", newer).unwrap();
    let error = open(&path).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains(&newer.to_string()), "{error}");
}

#[test]
fn durable_settings_hold_on_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("docmill.db");
    let _store = open(&path).unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    let mode: String = conn.query_row("PRAGMA journal_mode", [], |r| r.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

/// A table or column that nobody has described would be left behind by `docmill migrate`.
#[test]
fn every_table_and_column_is_described_for_moving() {
    let conn = rusqlite::Connection::open_in_memory().unwrap();
    conn.execute_batch(&schema_dump().unwrap()).unwrap();
    let mut statement = conn
        .prepare(
            "SELECT t.name, c.name, c.type FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'",
        )
        .unwrap();
    let columns = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).unwrap();
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for column in columns {
        let (table, column, kind): (String, String, String) = column.unwrap();
        found.entry(table).or_default().insert(column, kind);
    }
    assert!(found.remove("worker").is_some() && LEFT_OUT.iter().any(|(table, _)| *table == "worker"));
    let kind = |kind| match kind {
        Kind::Integer | Kind::Flag => "INTEGER",
        Kind::Real => "REAL",
        Kind::Text => "TEXT",
        Kind::Bytes | Kind::Id => "BLOB",
    };
    let described: BTreeMap<String, BTreeMap<String, String>> = TABLES
        .iter()
        .map(|table| {
            let columns = table.columns.iter().map(|c| (c.name.to_owned(), kind(c.kind).to_owned()));
            (table.name.to_owned(), columns.collect())
        })
        .collect();
    assert_eq!(described, found, "say in core/src/ports/transfer/tables.rs what becomes of it");
}

/// What a document is was in JSON alone before lists looked for it.
#[tokio::test]
async fn kinds_of_documents_of_an_older_version_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("docmill.db");
    let clock = Arc::new(SteppingClock::new(Timestamp(0)));
    let world = World::around(Arc::new(open(&path).unwrap()), Arc::clone(&clock)).await;
    let told = world.being("told", Some("invoice")).await;
    let untold = world.being("untold", None).await;
    let removed = world.being("removed", Some("invoice")).await;
    world.store.remove(world.tenant, removed).await.unwrap().unwrap();
    world.judge_as(world.tenant, untold, Some("letter")).await;
    drop(world);
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(
            "DROP INDEX document_kinds; ALTER TABLE document DROP COLUMN kind;
             ALTER TABLE document DROP COLUMN judged_kind; PRAGMA user_version = 11;",
        )
        .unwrap();
    let world = World::around(Arc::new(open(&path).unwrap()), clock).await;
    assert_eq!(world.listed_as("invoice").await, [told]);
    assert_eq!(world.listed_as("letter").await, [untold]);
}

/// It was kept as if words had told it.
#[tokio::test]
async fn other_of_an_older_version_stands_before_no_meaning() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("docmill.db");
    let clock = Arc::new(SteppingClock::new(Timestamp(0)));
    let world = World::around(Arc::new(open(&path).unwrap()), Arc::clone(&clock)).await;
    let meant = world.being("meant", Some("other")).await;
    let untold = world.being("untold", Some("other")).await;
    world.judge_as(world.tenant, meant, Some("letter")).await;
    drop(world);
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 12).unwrap();
    let world = World::around(Arc::new(open(&path).unwrap()), clock).await;
    assert_eq!(world.listed_as("letter").await, [meant]);
    assert_eq!(world.listed_as("other").await, [untold]);
}

/// A check against a list of values makes SQLite build a table of them for every row it writes.
#[test]
fn writing_a_row_needs_no_temporary_table() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("docmill.db");
    drop(open(&path).unwrap());
    let conn = rusqlite::Connection::open(&path).unwrap();
    let mut tables = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables: Vec<String> = tables.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(tables.contains(&"task".to_owned()));
    for table in tables {
        let mut columns = conn.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
        let columns: Vec<String> = columns.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
        let nulls = vec!["NULL"; columns.len()].join(", ");
        let mut plan = conn.prepare(&format!("EXPLAIN INSERT INTO {table} VALUES ({nulls})")).unwrap();
        let steps: Vec<String> = plan.query_map([], |r| r.get(1)).unwrap().map(Result::unwrap).collect();
        assert!(!steps.contains(&"OpenEphemeral".to_owned()), "{table}: {steps:?}");
    }
}
