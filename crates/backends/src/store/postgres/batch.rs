//! Batches: opening, sealing, pausing, cancelling, and their totals.

use docmill_core::answer::BatchesAnswer;
use docmill_core::batch::{BatchChange, BatchRun, BatchState, BatchTotals, NewBatch, Walk};
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, IngestionId, TenantId};
use docmill_core::task::PRIORITY_STEP_MS;
use docmill_core::{Error, Result};
use serde_json::json;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, PgRow, Postgres};

use super::super::shared::look::bad_cursor;
use super::row::{Columns, sql_error, text, text_opt};
use super::task;
use super::tx::Tx;

pub(super) async fn open(tx: &mut Tx, batch: &NewBatch) -> Result<BatchRun> {
    let name = text_opt(batch.name.as_deref());
    if let Some(name) = &name
        && let Some(run) = reopen(tx, batch.tenant_id, name).await?
    {
        return Ok(run);
    }
    query::<Postgres>(
        "INSERT INTO batch (batch_id, tenant_id, name, kind, state, priority, created_at)
         VALUES ($1, $2, $3, $4, 'open', $5, $6)",
    )
    .bind(batch.batch_id.0)
    .bind(batch.tenant_id.0)
    .bind(name)
    .bind(text(&batch.kind))
    .bind(i64::from(batch.priority))
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("open a batch"))?;
    let event = EventBody {
        batch_id: Some(batch.batch_id),
        detail: Some(json!({ "name": batch.name, "kind": batch.kind })),
        ..EventBody::new(EventType::JobQueued)
    };
    tx.event(batch.tenant_id, event);
    Ok(BatchRun { batch_id: batch.batch_id, resumed: false, baseline: 0 })
}

/// The caller has folded the outbox, so `received` counts all that came before.
async fn reopen(tx: &mut Tx, tenant: TenantId, name: &str) -> Result<Option<BatchRun>> {
    let row = query::<Postgres>(
        "SELECT batch_id, state, received FROM batch WHERE tenant_id = $1 AND name = $2 FOR UPDATE",
    )
    .bind(tenant.0)
    .bind(name)
    .fetch_optional(tx.conn())
    .await
    .map_err(sql_error("look up a batch"))?;
    let Some(row) = row else { return Ok(None) };
    let mut c = Columns::new(&row);
    let (batch_id, state, baseline) = (c.batch()?, c.word(BatchState::from_name)?, c.count()?);
    if state == BatchState::Cancelled {
        return Err(Error::conflict(format!("batch `{name}` has been cancelled"))
            .with_hint("choose another name for a new batch"));
    }
    query::<Postgres>("UPDATE batch SET state = 'open' WHERE batch_id = $1")
        .bind(batch_id.0)
        .execute(tx.conn())
        .await
        .map_err(sql_error("reopen a batch"))?;
    Ok(Some(BatchRun { batch_id, resumed: true, baseline }))
}

pub(super) async fn seal(tx: &mut Tx, tenant: TenantId, batch: BatchId, walk: Walk) -> Result<()> {
    let sealed = query::<Postgres>(
        "UPDATE batch SET state = 'sealed', expected = $3, sealed_at = $4
         WHERE batch_id = $1 AND tenant_id = $2 AND state <> 'cancelled'",
    )
    .bind(batch.0)
    .bind(tenant.0)
    .bind(walk.expected() as i64)
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("seal a batch"))?
    .rows_affected();
    if sealed == 0 {
        return Err(Error::conflict(format!("batch {batch} has been cancelled, or there is none")));
    }
    // An empty change makes the sequencer look whether the batch has ended.
    tx.batch(tenant, batch);
    Ok(())
}

pub(super) async fn change(
    tx: &mut Tx,
    tenant: TenantId,
    batch: BatchId,
    change: BatchChange,
) -> Result<u64> {
    // Everyone who adds or moves its tasks holds the batch by KEY SHARE: after this, none of them is under way.
    let row = query::<Postgres>("SELECT state FROM batch WHERE batch_id = $1 AND tenant_id = $2 FOR UPDATE")
        .bind(batch.0)
        .bind(tenant.0)
        .fetch_optional(tx.conn())
        .await
        .map_err(sql_error("look up a batch"))?;
    let Some(row) = row else { return Err(Error::not_found(format!("there is no batch {batch}"))) };
    let state = Columns::new(&row).word(BatchState::from_name)?;
    let was_cancelled = state == BatchState::Cancelled;
    // A batch that has finished has nothing left to cancel, and can still be opened again by its name. What a person has
    // started again of a cancelled one can be stopped again.
    let is_over = match change {
        BatchChange::Cancel => state == BatchState::Finished,
        _ => was_cancelled,
    };
    if is_over {
        return Ok(0);
    }
    tx.aftermath.changed = true;
    match change {
        BatchChange::Pause => {
            set_paused(tx, batch, true).await?;
            move_tasks(tx, batch, "queued", "held").await
        }
        BatchChange::Resume => {
            set_paused(tx, batch, false).await?;
            tx.aftermath.work = true;
            move_tasks(tx, batch, "held", "queued").await
        }
        BatchChange::Cancel => cancel(tx, tenant, batch, !was_cancelled).await,
        BatchChange::Priority(priority) => set_priority(tx, batch, priority).await,
    }
}

/// Later items take the batch's priority; what waits or runs takes the new one with its age.
async fn set_priority(tx: &mut Tx, batch: BatchId, priority: u8) -> Result<u64> {
    for sql in [
        "UPDATE batch SET priority = $2 WHERE batch_id = $1",
        "UPDATE ingestion SET priority = $2 WHERE batch_id = $1 AND status = 'in_progress'",
    ] {
        query::<Postgres>(sql)
            .bind(batch.0)
            .bind(i64::from(priority))
            .execute(tx.conn())
            .await
            .map_err(sql_error("change the priority of a batch"))?;
    }
    // By way of the open ingestions: tasks have no index by batch.
    let changed = query::<Postgres>(
        "UPDATE task SET order_key = order_key + ($2 - priority) * $3, priority = $2
         WHERE state IN ('waiting', 'queued', 'held', 'running') AND ingestion_id IN (
           SELECT ingestion_id FROM ingestion WHERE batch_id = $1 AND status = 'in_progress')",
    )
    .bind(batch.0)
    .bind(i64::from(priority))
    .bind(PRIORITY_STEP_MS)
    .execute(tx.conn())
    .await
    .map_err(sql_error("change the priority of a batch"))?;
    Ok(changed.rows_affected())
}

async fn set_paused(tx: &mut Tx, batch: BatchId, paused: bool) -> Result<()> {
    query::<Postgres>("UPDATE batch SET paused = $2 WHERE batch_id = $1")
        .bind(batch.0)
        .bind(paused)
        .execute(tx.conn())
        .await
        .map_err(sql_error("pause or resume a batch"))?;
    Ok(())
}

async fn move_tasks(tx: &mut Tx, batch: BatchId, from: &str, to: &str) -> Result<u64> {
    // By way of the open ingestions: tasks have no index by batch.
    let moved = query::<Postgres>(
        "UPDATE task SET state = $3 WHERE state = $2 AND ingestion_id IN (
           SELECT ingestion_id FROM ingestion WHERE batch_id = $1 AND status = 'in_progress')",
    )
    .bind(batch.0)
    .bind(from)
    .bind(to)
    .execute(tx.conn())
    .await
    .map_err(sql_error("move the tasks of a batch"))?;
    Ok(moved.rows_affected())
}

/// Subscribers are told the first time only.
async fn cancel(tx: &mut Tx, tenant: TenantId, batch: BatchId, first: bool) -> Result<u64> {
    // What was expected before the batch was opened again does not count what has come in since.
    query::<Postgres>(
        "UPDATE batch SET state = 'cancelled', paused = false, finished_at = coalesce(finished_at, $2),
           expected = CASE WHEN state = 'open' THEN NULL ELSE expected END
         WHERE batch_id = $1",
    )
    .bind(batch.0)
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("cancel a batch"))?;
    let rows = query::<Postgres>(
        "SELECT ingestion_id FROM ingestion WHERE batch_id = $1 AND status = 'in_progress' ORDER BY ingestion_id",
    )
    .bind(batch.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for open items"))?;
    let open: Vec<IngestionId> = rows.iter().map(|r| Columns::new(r).ingestion()).collect::<Result<_>>()?;
    let stopped = task::cancel_open(tx, &open).await?;
    if first {
        let detail = Some(json!({ "items": open.len(), "tasks": stopped }));
        let event = EventBody { batch_id: Some(batch), detail, ..EventBody::new(EventType::ImportCancelled) };
        tx.event(tenant, event);
    }
    Ok(open.len() as u64)
}

macro_rules! columns {
    () => {
        "SELECT batch_id, name, kind, state, paused, priority, expected, received, children, open, completed, failed,
           skipped, cancelled, duplicates, dead, change_seq, created_at, finished_at FROM batch "
    };
}

fn totals(row: &PgRow) -> Result<BatchTotals> {
    let mut c = Columns::new(row);
    Ok(BatchTotals {
        batch_id: c.batch()?,
        name: c.get()?,
        kind: c.get()?,
        state: c.word(BatchState::from_name)?,
        paused: c.flag()?,
        priority: c.int()?,
        expected: c.get::<Option<i64>>()?.map(|n| u64::try_from(n).unwrap_or(0)),
        received: c.count()?,
        children: c.count()?,
        open: c.count()?,
        completed: c.count()?,
        failed: c.count()?,
        skipped: c.count()?,
        cancelled: c.count()?,
        duplicates: c.count()?,
        dead: c.count()?,
        change_seq: c.get()?,
        created_at: c.time()?,
        finished_at: c.time_opt()?,
    })
}

/// By id or by name. What looks like an id is one: a batch may be called like another's id.
pub(super) async fn find(
    conn: &mut PgConnection,
    tenant: TenantId,
    id_or_name: &str,
) -> Result<Option<BatchTotals>> {
    let id = id_or_name.parse::<BatchId>().ok();
    let row = query::<Postgres>(concat!(
        columns!(),
        "WHERE tenant_id = $1 AND (batch_id = $2 OR name = $3) ORDER BY batch_id = $2 DESC NULLS LAST LIMIT 1"
    ))
    .bind(tenant.0)
    .bind(id.map(|b| b.0))
    .bind(text(id_or_name))
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up a batch"))?;
    row.as_ref().map(totals).transpose()
}

/// Open ones and the latest others, newest first.
pub(super) async fn recent(
    conn: &mut PgConnection,
    tenant: TenantId,
    limit: usize,
) -> Result<Vec<BatchTotals>> {
    let rows = query::<Postgres>(concat!(columns!(), "WHERE tenant_id = $1 ORDER BY batch_id DESC LIMIT $2"))
        .bind(tenant.0)
        .bind(limit as i64)
        .fetch_all(conn)
        .await
        .map_err(sql_error("list batches"))?;
    rows.iter().map(totals).collect()
}

/// Newest first, page by page; the cursor is the last id seen.
pub(super) async fn page(
    conn: &mut PgConnection,
    tenant: TenantId,
    limit: usize,
    cursor: Option<&str>,
) -> Result<BatchesAnswer> {
    let before = match cursor {
        Some(text) => Some(text.parse::<BatchId>().map_err(|e| bad_cursor(text).with_source(e))?),
        None => None,
    };
    let rows = query::<Postgres>(concat!(
        columns!(),
        "WHERE tenant_id = $1 AND ($2::uuid IS NULL OR batch_id < $2) ORDER BY batch_id DESC LIMIT $3"
    ))
    .bind(tenant.0)
    .bind(before.map(|b| b.0))
    .bind(limit as i64 + 1)
    .fetch_all(conn)
    .await
    .map_err(sql_error("list batches"))?;
    let mut batches: Vec<BatchTotals> = rows.iter().map(totals).collect::<Result<_>>()?;
    let more = batches.len() > limit;
    batches.truncate(limit);
    let next_cursor = batches.last().filter(|_| more).map(|b| b.batch_id.to_string());
    Ok(BatchesAnswer { batches, next_cursor })
}
