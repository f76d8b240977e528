//! Tasks by kind, stage and state.

use docmill_core::Result;
use docmill_core::answer::WorkLine;
use docmill_core::id::{BatchId, TenantId};
use docmill_core::ingestion::Stage;
use rusqlite::{Connection, params};

use super::super::row::Columns;
use super::collect;

pub(in super::super) fn work(
    conn: &Connection,
    tenant: TenantId,
    batch: Option<BatchId>,
) -> Result<Vec<WorkLine>> {
    let doing = "count tasks";
    match batch {
        Some(batch) => collect(
            conn,
            doing,
            "SELECT t.kind, t.stage, t.state, count(*)
             FROM ingestion i JOIN task t ON t.ingestion_id = i.ingestion_id
             WHERE i.batch_id = ?2 AND i.tenant_id = ?1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            params![tenant.as_bytes(), batch.as_bytes()],
            line,
        ),
        // Only what has an index: those that have ended may be millions.
        None => collect(
            conn,
            doing,
            "SELECT kind, stage, 'queued', count(*) FROM task WHERE state = 'queued' AND tenant_id = ?1
               GROUP BY kind, stage
             UNION ALL SELECT kind, stage, 'running', count(*) FROM task WHERE state = 'running' AND tenant_id = ?1
               GROUP BY kind, stage
             ORDER BY 1, 2, 3",
            params![tenant.as_bytes()],
            line,
        ),
    }
}

fn line(c: &mut Columns<'_, '_>) -> Result<WorkLine> {
    Ok(WorkLine { kind: c.get()?, stage: c.word(Stage::from_name)?, state: c.get()?, count: c.count()? })
}
