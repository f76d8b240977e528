//! Connections for looking. What is read for people and programs is read as `docmill_reader` and shows one tenant's
//! rows only, by row-level security; what the engine reads for itself names its tenants in the query.

use docmill_core::Result;
use docmill_core::id::TenantId;
use sqlx_postgres::PgTransaction;

use super::db::Db;
use super::row::sql_error;

/// Begins a look-up on behalf of a tenant: one state, no writes, nobody else's rows.
pub(super) async fn of_tenant(db: &Db, tenant: TenantId) -> Result<PgTransaction<'static>> {
    // An id is hexadecimal digits and hyphens, so it needs no quoting. Both settings end with the transaction.
    db.begin_read(&format!("SET LOCAL ROLE docmill_reader; SET LOCAL app.tenant = '{tenant}'")).await
}

/// Begins a look-up of the engine.
pub(super) async fn of_engine(db: &Db) -> Result<PgTransaction<'static>> {
    db.begin_read("").await
}

/// Ends a look-up. There is nothing to keep.
pub(super) async fn end<T>(tx: PgTransaction<'static>, answer: Result<T>) -> Result<T> {
    let ended = tx.rollback().await.map_err(sql_error("end a look-up"));
    let answer = answer?;
    ended.map(|()| answer)
}

/// Runs `$look`, a `Result`, in the transaction that `$begin` gives.
macro_rules! look {
    ($begin:expr, |$conn:ident| $look:expr) => {{
        let mut tx = $begin.await?;
        let answer = {
            let $conn: &mut sqlx_postgres::PgConnection = &mut tx;
            $look
        };
        $crate::store::postgres::readers::end(tx, answer).await
    }};
}

pub(super) use look;
