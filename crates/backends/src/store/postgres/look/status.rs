//! Counts of everything, cheap enough to be asked every second.

use docmill_core::Result;
use docmill_core::answer::{IndexState, IngestionCounts, StatusAnswer, TaskCounts, WorkerLine};
use docmill_core::id::TenantId;
use docmill_core::ingestion::IngestionStatus;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};

use super::super::row::{Columns, sql_error};
use super::super::{batch, events, follow};

/// Batches shown.
const RECENT_BATCHES: usize = 20;

pub(in super::super) async fn status(
    conn: &mut PgConnection,
    tenant: TenantId,
    docs_per_s: f64,
    workers: Vec<WorkerLine>,
) -> Result<StatusAnswer> {
    // Held tasks have no index, because there nearly never are any: only paused batches are looked through.
    let row = query::<Postgres>(
        "SELECT (SELECT count(*) FROM document WHERE tenant_id = $1 AND NOT removed),
           (SELECT count(*) FROM task WHERE state = 'queued' AND tenant_id = $1),
           (SELECT count(*) FROM batch b JOIN ingestion i ON i.batch_id = b.batch_id AND i.status = 'in_progress'
              JOIN task t ON t.ingestion_id = i.ingestion_id AND t.state = 'held'
              WHERE b.tenant_id = $1 AND b.paused),
           (SELECT count(*) FROM task WHERE state = 'running' AND tenant_id = $1),
           (SELECT count(*) FROM task WHERE state = 'dead' AND tenant_id = $1)",
    )
    .bind(tenant.0)
    .fetch_one(&mut *conn)
    .await
    .map_err(sql_error("count"))?;
    let mut c = Columns::new(&row);
    let documents = c.count()?;
    let tasks = TaskCounts { queued: c.count()?, held: c.count()?, running: c.count()?, dead: c.count()? };
    let (last_event, _) = events::bounds(conn, &[tenant]).await?.get(&tenant).copied().unwrap_or_default();
    Ok(StatusAnswer {
        documents,
        ingestions: ingestions(conn, tenant).await?,
        tasks,
        workers,
        docs_per_s,
        batches: batch::recent(conn, tenant, RECENT_BATCHES).await?,
        index: IndexState { watermark: 0, last: follow::last_change(conn).await? },
        meanings: None,
        paused_kinds: query_scalar::<Postgres, String>("SELECT kind FROM paused_kind ORDER BY kind")
            .fetch_all(conn)
            .await
            .map_err(sql_error("list paused kinds"))?,
        free_disk_bytes: None,
        last_event,
    })
}

/// Batches keep their own totals; only items outside any batch are counted one by one.
async fn ingestions(conn: &mut PgConnection, tenant: TenantId) -> Result<IngestionCounts> {
    let rows = query::<Postgres>(
        "SELECT coalesce(sum(open), 0)::bigint, coalesce(sum(completed), 0)::bigint, coalesce(sum(failed), 0)::bigint,
           coalesce(sum(skipped), 0)::bigint, coalesce(sum(cancelled), 0)::bigint FROM batch WHERE tenant_id = $1",
    )
    .bind(tenant.0)
    .fetch_one(&mut *conn)
    .await
    .map_err(sql_error("count ingestions"))?;
    let mut c = Columns::new(&rows);
    let mut counts = IngestionCounts {
        in_progress: c.count()?,
        completed: c.count()?,
        failed: c.count()?,
        skipped: c.count()?,
        cancelled: c.count()?,
    };
    let loose = query::<Postgres>(
        "SELECT status, count(*) FROM ingestion WHERE tenant_id = $1 AND batch_id IS NULL GROUP BY status",
    )
    .bind(tenant.0)
    .fetch_all(conn)
    .await
    .map_err(sql_error("count ingestions"))?;
    for row in &loose {
        let mut c = Columns::new(row);
        counts.add(c.word(IngestionStatus::from_name)?, c.count()?);
    }
    Ok(counts)
}
