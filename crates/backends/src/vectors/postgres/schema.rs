//! The tables of the index, and whether the server can have them.

use docmill_core::{Error, ErrorKind, Result};
use sqlx_core::connection::Connection as _;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_core::raw_sql::raw_sql;
use sqlx_core::sql_str::SqlSafeStr as _;
use sqlx_postgres::{PgConnection, Postgres};

use super::broken;
use crate::postgres::check_encoding;

/// Raised by one whenever `schema.sql` changes.
pub(super) const VERSION: i32 = 1;

const TABLES: &str = include_str!("schema.sql");

/// Held while the tables are made; an arbitrary number, but always this one.
const LOCK: i64 = 0x646f_636d_0005;

/// Makes the tables, unless they are there. Any number of processes may do so at once.
pub(super) async fn prepare(conn: &mut PgConnection) -> Result<()> {
    check_encoding("the vector index", conn).await?;
    if version(conn).await? == Some(VERSION) {
        return Ok(());
    }
    let mut tx = conn
        .begin_with("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0".into_sql_str())
        .await
        .map_err(broken("make its tables"))?;
    query::<Postgres>("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *tx)
        .await
        .map_err(broken("make its tables"))?;
    match version(&mut tx).await? {
        Some(VERSION) => return tx.rollback().await.map_err(broken("make its tables")),
        Some(newer) if newer > VERSION => return Err(other_version(newer)),
        Some(older) => {
            tracing::warn!(
                version = older,
                "the vector index of an older docmill is dropped and built again"
            );
            raw_sql("DROP TABLE vector_index_state, vector_index_document, vector_index_passage")
                .execute(&mut *tx)
                .await
                .map_err(broken("drop its old tables"))?;
        }
        None => {}
    }
    raw_sql("CREATE EXTENSION IF NOT EXISTS vector").execute(&mut *tx).await.map_err(no_extension)?;
    raw_sql(TABLES).execute(&mut *tx).await.map_err(broken("make its tables"))?;
    query::<Postgres>("INSERT INTO vector_index_state (version) VALUES ($1)")
        .bind(VERSION)
        .execute(&mut *tx)
        .await
        .map_err(broken("make its tables"))?;
    tx.commit().await.map_err(broken("make its tables"))
}

fn no_extension(error: sqlx_core::Error) -> Error {
    if crate::postgres::is_connection_lost(&error) {
        return broken("make its tables")(error);
    }
    Error::new(ErrorKind::MissingDependency, "the database has no pgvector, which search by meaning needs")
        .with_hint("install pgvector 0.8 on the server, and let an administrator run `CREATE EXTENSION vector` in this database")
        .with_source(error)
}

/// What to say to whoever meets an index that this docmill cannot use.
pub(super) fn other_version(found: i32) -> Error {
    Error::conflict(format!("the vector index has version {found}, and this docmill uses version {VERSION}")).with_hint(
        "another docmill uses this database: run the same version everywhere, or give this one another database",
    )
}

/// The version of the tables, if there are any.
async fn version(conn: &mut PgConnection) -> Result<Option<i32>> {
    // Not by `to_regclass`, which may remember that the table was not there before this process had to wait.
    let there: bool = query_scalar::<Postgres, bool>(
        "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'vector_index_state' AND pg_table_is_visible(oid))",
    )
    .fetch_one(&mut *conn)
    .await
    .map_err(broken("read its version"))?;
    if !there {
        return Ok(None);
    }
    query_scalar::<Postgres, i32>("SELECT version FROM vector_index_state")
        .fetch_optional(conn)
        .await
        .map_err(broken("read its version"))
}
