//! The tables of the index, and whether they are ours to use.
//!
//! The index is derived. Tables of an older version are dropped with a warning, and the index is built again from the
//! store; tables of a newer one are left alone.

use docmill_core::{Error, Result};
use sqlx_core::connection::Connection as _;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_core::raw_sql::raw_sql;
use sqlx_core::sql_str::SqlSafeStr as _;
use sqlx_postgres::{PgConnection, Postgres};

use super::broken;
use crate::postgres::check_encoding;

/// Raised by one whenever `schema.sql`, `lexeme`, `rows` or the rules of `words` change.
pub(super) const VERSION: i32 = 1;

const TABLES: &str = include_str!("schema.sql");

/// Held while the tables are made; an arbitrary number, but always this one.
const LOCK: i64 = 0x646f_636d_0003;

/// Makes the tables, unless they are there. Any number of processes may do so at once.
pub(super) async fn prepare(conn: &mut PgConnection) -> Result<()> {
    check_encoding("the text index", conn).await?;
    if version(conn).await? == Some(VERSION) {
        return Ok(());
    }
    // Whoever waits for another process waits as long as that takes.
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
            tracing::warn!(version = older, "the text index of an older docmill is dropped and built again");
            raw_sql("DROP TABLE text_index_state, text_index_tenant, text_index_row")
                .execute(&mut *tx)
                .await
                .map_err(broken("drop its old tables"))?;
        }
        None => {}
    }
    raw_sql(TABLES).execute(&mut *tx).await.map_err(broken("make its tables"))?;
    query::<Postgres>("INSERT INTO text_index_state (version) VALUES ($1)")
        .bind(VERSION)
        .execute(&mut *tx)
        .await
        .map_err(broken("make its tables"))?;
    tx.commit().await.map_err(broken("make its tables"))
}

/// What to say to whoever meets an index that this docmill cannot use.
pub(super) fn other_version(found: i32) -> Error {
    Error::conflict(format!("the text index has version {found}, and this docmill uses version {VERSION}")).with_hint(
        "another docmill uses this database: run the same version everywhere, or give this one another database",
    )
}

/// The version of the tables, if there are any.
async fn version(conn: &mut PgConnection) -> Result<Option<i32>> {
    // Not by `to_regclass`, which may remember that the table was not there before this process had to wait.
    let there: bool = query_scalar::<Postgres, bool>(
        "SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'text_index_state' AND pg_table_is_visible(oid))",
    )
    .fetch_one(&mut *conn)
    .await
    .map_err(broken("read its version"))?;
    if !there {
        return Ok(None);
    }
    query_scalar::<Postgres, i32>("SELECT version FROM text_index_state")
        .fetch_optional(conn)
        .await
        .map_err(broken("read its version"))
}
