//! Brings a database to this version's schema. Forward only, one transaction a migration, one process at a time.

use docmill_core::{Error, Result};
use sqlx_core::executor::Executor as _;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_core::raw_sql::raw_sql;
use sqlx_core::row::Row as _;
use sqlx_postgres::{PgConnection, Postgres};

use super::row::{code, sql_error};
use crate::postgres::check_encoding;

/// Every migration, by name and in order.
pub const MIGRATIONS: &[(&str, &str)] = &[
    ("0001_engine", include_str!("../../../../../migrations/postgres/0001_engine.sql")),
    ("0002_trees", include_str!("../../../../../migrations/postgres/0002_trees.sql")),
    ("0003_cheap_writes", include_str!("../../../../../migrations/postgres/0003_cheap_writes.sql")),
    ("0004_access", include_str!("../../../../../migrations/postgres/0004_access.sql")),
    ("0005_lists", include_str!("../../../../../migrations/postgres/0005_lists.sql")),
    ("0006_understanding", include_str!("../../../../../migrations/postgres/0006_understanding.sql")),
    (
        "0007_understanding_apart",
        include_str!("../../../../../migrations/postgres/0007_understanding_apart.sql"),
    ),
    ("0008_usage", include_str!("../../../../../migrations/postgres/0008_usage.sql")),
    ("0009_records", include_str!("../../../../../migrations/postgres/0009_records.sql")),
    ("0010_catalogue", include_str!("../../../../../migrations/postgres/0010_catalogue.sql")),
    ("0011_senders", include_str!("../../../../../migrations/postgres/0011_senders.sql")),
    ("0012_kinds", include_str!("../../../../../migrations/postgres/0012_kinds.sql")),
    ("0013_other", include_str!("../../../../../migrations/postgres/0013_other.sql")),
];

/// The schema this build works with.
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;

/// Held while a database is migrated; an arbitrary number, but always this one.
const LOCK: i64 = 0x646f_636d_0001;

/// Applies what is missing. A database from a newer docmill is refused and left as it is.
pub(super) async fn migrate(conn: &mut PgConnection) -> Result<()> {
    check_encoding("the store", conn).await?;
    if version(conn).await? == i64::from(SCHEMA_VERSION) {
        return Ok(());
    }
    loop {
        // A migration takes as long as it takes, and whoever waits for one waits as long.
        conn.execute("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
            .await
            .map_err(sql_error("begin migration"))?;
        let step = next_step(conn).await;
        let end = if matches!(step, Ok(Some(_))) { "COMMIT" } else { "ROLLBACK" };
        conn.execute(end).await.map_err(sql_error("end a migration"))?;
        match step? {
            Some(name) => tracing::info!(migration = name, "schema migrated"),
            None => return Ok(()),
        }
    }
}

/// Applies the first migration that is missing; none is left if it answers none.
async fn next_step(conn: &mut PgConnection) -> Result<Option<&'static str>> {
    query::<Postgres>("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *conn)
        .await
        .map_err(sql_error("begin migration"))?;
    raw_sql("CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)")
        .execute(&mut *conn)
        .await
        .map_err(sql_error("begin migration"))?;
    reader_role(conn).await?;
    let found = version(conn).await?;
    if found > i64::from(SCHEMA_VERSION) {
        return Err(Error::conflict(format!(
            "the database has schema version {found}, and this docmill knows versions up to {SCHEMA_VERSION}"
        ))
        .with_hint("it was last used by a newer docmill: use that one, or another database"));
    }
    let Some((name, sql)) = usize::try_from(found).ok().and_then(|n| MIGRATIONS.get(n)) else {
        return Ok(None);
    };
    raw_sql(*sql).execute(&mut *conn).await.map_err(sql_error(name))?;
    raw_sql("DELETE FROM schema_version").execute(&mut *conn).await.map_err(sql_error(name))?;
    query::<Postgres>("INSERT INTO schema_version (version) VALUES ($1)")
        .bind(found + 1)
        .execute(conn)
        .await
        .map_err(sql_error(name))?;
    Ok(Some(name))
}

async fn version(conn: &mut PgConnection) -> Result<i64> {
    let there: bool = query_scalar::<Postgres, bool>("SELECT to_regclass('schema_version') IS NOT NULL")
        .fetch_one(&mut *conn)
        .await
        .map_err(sql_error("read schema version"))?;
    if !there {
        return Ok(0);
    }
    query_scalar::<Postgres, i64>("SELECT coalesce(max(version), 0) FROM schema_version")
        .fetch_one(&mut *conn)
        .await
        .map_err(sql_error("read schema version"))
}

/// Reads for people run as this role (see `readers`). Roles belong to the whole server, so another database, or
/// another process at this moment, may have made it.
async fn reader_role(conn: &mut PgConnection) -> Result<()> {
    let made = raw_sql(
        "DO $$ BEGIN
           IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'docmill_reader') THEN
             CREATE ROLE docmill_reader NOLOGIN;
           END IF;
           IF NOT pg_has_role('docmill_reader', 'MEMBER') THEN
             GRANT docmill_reader TO CURRENT_USER;
           END IF;
         EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
         END $$",
    )
    .execute(conn)
    .await;
    match made {
        Ok(_) => Ok(()),
        Err(e) if code(&e).as_deref() == Some("42501") => Err(Error::invalid_config(
            "the database user may not make the role `docmill_reader`",
        )
        .with_hint(
            "let an administrator run `CREATE ROLE docmill_reader NOLOGIN; GRANT docmill_reader TO <user>`",
        )
        .with_source(e)),
        Err(e) => Err(sql_error("make the role `docmill_reader`")(e)),
    }
}

/// The schema of the database at `url`, as text to compare with the committed dump: tables with their columns,
/// constraints, indexes and policies, in order of their names.
pub async fn schema_dump(url: &str) -> Result<String> {
    use sqlx_core::connection::Connection as _;
    let mut conn = PgConnection::connect(url).await.map_err(sql_error("connect"))?;
    let rows = query::<Postgres>(DUMP).fetch_all(&mut conn).await.map_err(sql_error("dump schema"))?;
    let mut out = String::from(
        "-- What all migrations together make, as the server's catalogue tells it. Compared by a test, not run.\n",
    );
    for row in &rows {
        let line: String = row.try_get(0).map_err(sql_error("dump schema"))?;
        out.push_str(&line);
        out.push('\n');
    }
    conn.close().await.map_err(sql_error("close a connection"))?;
    Ok(out)
}

/// One line a column, constraint, index, policy and sequence.
const DUMP: &str = "
WITH t AS (
  SELECT c.oid, c.relname FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
), line AS (
  SELECT relname, 0 AS kind, 0::bigint AS place, format(E'\\nTABLE %s', relname) AS text FROM t
  UNION ALL
  SELECT t.relname, 1, a.attnum, format('  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attcollation = 'pg_catalog.\"C\"'::regcollation THEN ' COLLATE \"C\"' ELSE '' END,
      CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
      coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), ''))
    FROM t JOIN pg_attribute a ON a.attrelid = t.oid LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
    WHERE a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT t.relname, 2, row_number() OVER (ORDER BY x.conname COLLATE \"C\"), '  ' || pg_get_constraintdef(x.oid)
    FROM t JOIN pg_constraint x ON x.conrelid = t.oid WHERE x.contype <> 'n'
  UNION ALL
  SELECT t.relname, 3, row_number() OVER (ORDER BY x.relname COLLATE \"C\"),
      '  ' || regexp_replace(replace(pg_get_indexdef(i.indexrelid), current_schema() || '.', ''), '\\s+', ' ', 'g')
    FROM t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class x ON x.oid = i.indexrelid
    WHERE NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)
  UNION ALL
  SELECT t.relname, 4, 0, format('  POLICY %s FOR %s TO %s USING %s', p.policyname, p.cmd, p.roles,
      regexp_replace(p.qual, '\\s+', ' ', 'g'))
    FROM t JOIN pg_policies p ON p.tablename = t.relname AND p.schemaname = current_schema()
  UNION ALL
  SELECT s.sequencename, 5, 0, format(E'\\nSEQUENCE %s INCREMENT BY %s', s.sequencename, s.increment_by)
    FROM pg_sequences s WHERE s.schemaname = current_schema()
)
SELECT text FROM line ORDER BY relname COLLATE \"C\", kind, place";
