//! Tasks by kind, stage and state.

use docmill_core::Result;
use docmill_core::answer::WorkLine;
use docmill_core::id::{BatchId, TenantId};
use docmill_core::ingestion::Stage;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};

use super::super::row::{Columns, sql_error};

pub(in super::super) async fn work(
    conn: &mut PgConnection,
    tenant: TenantId,
    batch: Option<BatchId>,
) -> Result<Vec<WorkLine>> {
    let rows = match batch {
        Some(batch) => query::<Postgres>(
            "SELECT t.kind, t.stage, t.state, count(*)
             FROM ingestion i JOIN task t ON t.ingestion_id = i.ingestion_id
             WHERE i.batch_id = $2 AND i.tenant_id = $1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        )
        .bind(tenant.0)
        .bind(batch.0),
        // Only what has an index: those that have ended may be millions.
        None => query::<Postgres>(
            "SELECT kind, stage, state, count(*) FROM task
             WHERE state IN ('queued', 'running') AND tenant_id = $1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        )
        .bind(tenant.0),
    }
    .fetch_all(conn)
    .await
    .map_err(sql_error("count tasks"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(WorkLine {
                kind: c.get()?,
                stage: c.word(Stage::from_name)?,
                state: c.get()?,
                count: c.count()?,
            })
        })
        .collect()
}
