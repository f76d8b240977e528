//! The committed dump is what the migrations make, and both databases have the same tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use docmill_backends::store::postgres::{Options, PostgresStore, SCHEMA_VERSION, schema_dump};
use docmill_backends::store::sqlite;
use docmill_core::ErrorKind;
use docmill_core::clock::{SystemClock, SystemIds};
use docmill_core::ports::transfer::{Column, Kind, LEFT_OUT, TABLES, Table};
use docmill_testkit::conformance::{Bench, Case};

use crate::Database;

pub(crate) fn cases() -> Vec<Case<Database>> {
    docmill_testkit::cases![
        schema_dump_equals_the_migrations,
        both_databases_have_the_same_tables_and_columns,
        every_table_and_column_is_described_for_moving,
        racing_processes_migrate_once,
        database_of_a_newer_version_is_refused_and_left_alone,
        kinds_of_documents_of_an_older_version_are_found,
        other_of_an_older_version_stands_before_no_meaning,
        row_level_security_leaves_the_index_of_kinds_its_use,
    ]
}

async fn schema_dump_equals_the_migrations(bench: Bench<Database>) {
    let committed = include_str!("../../../../migrations/postgres/schema.sql");
    let made = schema_dump(&bench.open().await.url).await.unwrap();
    if made != committed {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/postgres/schema.sql");
        panic!(
            "migrations/postgres/schema.sql is not what the migrations make; write this to {path}:\n{made}"
        );
    }
}

/// What a type of one database is in the other.
fn kind(database_type: &str) -> &'static str {
    match database_type {
        "BLOB" | "bytea" | "uuid" => "bytes",
        "INTEGER" | "bigint" | "boolean" => "number",
        "REAL" | "double precision" => "real",
        "TEXT" | "text" => "text",
        other => panic!("the type {other} has no counterpart yet"),
    }
}

type Tables = BTreeMap<String, BTreeMap<String, (&'static str, bool)>>;

fn of_sqlite() -> Tables {
    let conn = rusqlite::Connection::open_in_memory().unwrap();
    conn.execute_batch(&sqlite::schema_dump().unwrap()).unwrap();
    let mut tables = Tables::new();
    let mut statement = conn
        .prepare(
            "SELECT t.name, c.name, c.type, c.\"notnull\" FROM sqlite_schema t JOIN pragma_table_info(t.name) c
             WHERE t.type = 'table'",
        )
        .unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (table, column, kind_of): (String, String, String) =
            (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap());
        tables.entry(table).or_default().insert(column, (kind(&kind_of), row.get(3).unwrap()));
    }
    tables
}

/// What only many writers need, what SQLite keeps in its header, and what Tantivy keeps in files.
const ONLY_ON_POSTGRES: &[&str] = &[
    "outbox",
    "schema_version",
    "text_index_row",
    "text_index_state",
    "text_index_tenant",
    "text_index_word",
];

/// The tables that both databases should have, and the names of the others.
async fn of_postgres(database: &Database) -> (Tables, BTreeSet<String>) {
    let columns = "SELECT table_name || ' ' || column_name || ' ' || is_nullable || ' ' || data_type
        FROM information_schema.columns WHERE table_schema = 'public'";
    let (mut tables, mut others) = (Tables::new(), BTreeSet::new());
    for line in database.texts(columns).await.unwrap() {
        let mut words = line.splitn(4, ' ').map(str::to_owned);
        let mut word = || words.next().unwrap();
        let (table, column, nullable, kind_of) = (word(), word(), word(), word());
        if ONLY_ON_POSTGRES.contains(&table.as_str()) {
            others.insert(table);
            continue;
        }
        tables.entry(table).or_default().insert(column, (kind(&kind_of), nullable == "NO"));
    }
    (tables, others)
}

async fn both_databases_have_the_same_tables_and_columns(bench: Bench<Database>) {
    let database = bench.open().await;
    // The index makes its own tables, in the database of the store if that is where it is.
    database.index().await;
    let (postgres, others) = of_postgres(&database).await;
    assert_eq!(postgres, of_sqlite());
    assert_eq!(others.iter().map(String::as_str).collect::<Vec<_>>(), ONLY_ON_POSTGRES);
    assert_eq!(SCHEMA_VERSION, sqlite::SCHEMA_VERSION);
}

/// A table or column that nobody has described would be left behind by `docmill migrate`.
async fn every_table_and_column_is_described_for_moving(bench: Bench<Database>) {
    let database = bench.open().await;
    let columns =
        "SELECT table_name || ' ' || column_name || ' ' || data_type || coalesce(' ' || collation_name, '')
        FROM information_schema.columns WHERE table_schema = 'public'";
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for line in database.texts(columns).await.unwrap() {
        let mut words = line.splitn(3, ' ').map(str::to_owned);
        let mut word = || words.next().unwrap();
        let (table, column, kind) = (word(), word(), word());
        found.entry(table).or_default().insert(column, kind);
    }
    for (left_out, _) in LEFT_OUT {
        assert!(found.remove(*left_out).is_some(), "{left_out} is not there to be left out");
    }
    let described = |table: &Table, column: &Column| {
        match column.kind {
            Kind::Integer => "bigint",
            Kind::Flag => "boolean",
            Kind::Real => "double precision",
            // Rows go in the order of the key, which must be the same on every database.
            Kind::Text if table.key.contains(&column.name) => "text C",
            Kind::Text => "text",
            Kind::Bytes => "bytea",
            Kind::Id => "uuid",
        }
        .to_owned()
    };
    for table in TABLES {
        let mut columns = found.remove(table.name).unwrap_or_default();
        for column in table.columns {
            let kind = columns.remove(column.name).unwrap_or_default();
            let (kind, expected) = (kind.as_str(), described(table, column));
            let fits = kind == expected || (expected == "text" && kind == "text C");
            assert!(fits, "{}.{} is `{kind}`, described as `{expected}`", table.name, column.name);
        }
        assert!(columns.is_empty(), "{}: {columns:?} are not described", table.name);
    }
    assert!(found.is_empty(), "say in core/src/ports/transfer/tables.rs what becomes of {found:?}");
}

async fn racing_processes_migrate_once(bench: Bench<Database>) {
    let database = bench.open().await;
    let name = format!("{}_empty", database.name());
    database.run_outside(&format!("CREATE DATABASE {name}")).await;
    let url = database.url.replace(&database.name(), &name);
    let open = async || {
        let clock = Arc::new(SystemClock::new());
        PostgresStore::open(&url, Options::default(), clock, Arc::new(SystemIds)).await
    };
    let (a, b, c) = tokio::join!(open(), open(), open());
    let stores = [a.unwrap(), b.unwrap(), c.unwrap()];
    assert_eq!(schema_dump(&url).await.unwrap(), schema_dump(&database.url).await.unwrap());
    for store in stores {
        store.close().await;
    }
    database.run_outside(&format!("DROP DATABASE {name} WITH (FORCE)")).await;
}

async fn database_of_a_newer_version_is_refused_and_left_alone(bench: Bench<Database>) {
    let database = bench.open().await;
    let newer = SCHEMA_VERSION + 1;
    database.run(&format!("UPDATE schema_version SET version = {newer}")).await;
    let clock = Arc::new(SystemClock::new());
    let refused = PostgresStore::open(&database.url, Options::default(), clock, Arc::new(SystemIds)).await;
    let error = refused.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains(&newer.to_string()), "{error}");
    let version = database.text("SELECT version::text FROM schema_version").await;
    assert_eq!(version, newer.to_string());
}

/// What a document is was in JSON alone before lists looked for it.
async fn kinds_of_documents_of_an_older_version_are_found(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    let told = world.being("told", Some("invoice")).await;
    let untold = world.being("untold", None).await;
    let removed = world.being("removed", Some("invoice")).await;
    world.store.remove(world.tenant, removed).await.unwrap().unwrap();
    world.judge_as(world.tenant, untold, Some("letter")).await;
    database
        .run(
            "DROP INDEX document_kinds; ALTER TABLE document DROP COLUMN kind, DROP COLUMN judged_kind;
             UPDATE schema_version SET version = 11",
        )
        .await;
    let world = database.world().await;
    assert_eq!(world.listed_as("invoice").await, [told]);
    assert_eq!(world.listed_as("letter").await, [untold]);
}

/// It was kept as if words had told it.
async fn other_of_an_older_version_stands_before_no_meaning(bench: Bench<Database>) {
    let database = bench.open().await;
    let world = database.world().await;
    let meant = world.being("meant", Some("other")).await;
    let untold = world.being("untold", Some("other")).await;
    world.judge_as(world.tenant, meant, Some("letter")).await;
    database.run("UPDATE schema_version SET version = 12").await;
    let world = database.world().await;
    assert_eq!(world.listed_as("letter").await, [meant]);
    assert_eq!(world.listed_as("other").await, [untold]);
}

/// What might tell rows of other tenants is looked up in no index, and the planner thinks that of many expressions.
async fn row_level_security_leaves_the_index_of_kinds_its_use(bench: Bench<Database>) {
    let database = bench.open().await;
    let tenant = database.world().await.tenant;
    database
        .run(&format!(
            "INSERT INTO document (document_id, tenant_id, content_hash, bytes, name, blob_key, created_at, kind)
               SELECT md5(n::text)::uuid, '{tenant}', decode(md5(n::text), 'hex'), 1, n, n, 0, 'kind ' || n % 100
               FROM generate_series(1, 20000) AS n;
             ANALYZE document"
        ))
        .await;
    let plan = database
        .texts(&format!(
            "BEGIN; SET LOCAL ROLE docmill_reader; SELECT set_config('app.tenant', '{tenant}', true);
             EXPLAIN SELECT document_id FROM document
               WHERE tenant_id = '{tenant}' AND NOT removed
                 AND CASE WHEN kind IS NOT NULL THEN kind WHEN judged_kind IS NOT NULL THEN judged_kind
                   WHEN understood_in IS NOT NULL THEN 'other' END = 'kind 7'
               ORDER BY document_id DESC LIMIT 50"
        ))
        .await
        .unwrap()
        .join("\n");
    assert!(plan.contains("document_kinds"), "{plan}");
}
