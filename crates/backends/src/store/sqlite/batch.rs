//! Batches: opening, sealing, pausing, cancelling, and their totals.

use docmill_core::answer::BatchesAnswer;
use docmill_core::batch::{BatchChange, BatchRun, BatchState, BatchTotals, NewBatch, Walk};
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, IngestionId, TenantId};
use docmill_core::task::PRIORITY_STEP_MS;
use docmill_core::{Error, Result};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::json;

use super::super::shared::look::bad_cursor;
use super::row::{Columns, sql_error};
use super::task;
use super::tx::Tx;

pub(super) fn open(tx: &mut Tx<'_>, batch: &NewBatch) -> Result<BatchRun> {
    if let Some(name) = &batch.name
        && let Some(run) = reopen(tx, batch.tenant_id, name)?
    {
        return Ok(run);
    }
    tx.sql(
        "INSERT INTO batch (batch_id, tenant_id, name, kind, state, priority, created_at)
         VALUES (?1, ?2, ?3, ?4, 'open', ?5, ?6)",
    )?
    .execute(params![
        batch.batch_id.as_bytes(),
        batch.tenant_id.as_bytes(),
        batch.name,
        batch.kind,
        batch.priority,
        tx.now.0
    ])
    .map_err(sql_error("open a batch"))?;
    let event = EventBody {
        batch_id: Some(batch.batch_id),
        detail: Some(json!({ "name": batch.name, "kind": batch.kind })),
        ..EventBody::new(EventType::JobQueued)
    };
    tx.event(batch.tenant_id, event);
    Ok(BatchRun { batch_id: batch.batch_id, resumed: false, baseline: 0 })
}

fn reopen(tx: &mut Tx<'_>, tenant: TenantId, name: &str) -> Result<Option<BatchRun>> {
    let found: Option<([u8; 16], String, i64)> = tx
        .sql("SELECT batch_id, state, received FROM batch WHERE tenant_id = ?1 AND name = ?2")?
        .query_row(params![tenant.as_bytes(), name], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
        .optional()
        .map_err(sql_error("look up a batch"))?;
    let Some((id, state, received)) = found else { return Ok(None) };
    if state == BatchState::Cancelled.name() {
        return Err(Error::conflict(format!("batch `{name}` has been cancelled"))
            .with_hint("choose another name for a new batch"));
    }
    let batch_id = BatchId::from_slice(&id)?;
    tx.sql("UPDATE batch SET state = 'open' WHERE batch_id = ?1")?
        .execute([&id])
        .map_err(sql_error("reopen a batch"))?;
    Ok(Some(BatchRun { batch_id, resumed: true, baseline: u64::try_from(received).unwrap_or(0) }))
}

pub(super) fn seal(tx: &mut Tx<'_>, tenant: TenantId, batch: BatchId, walk: Walk) -> Result<()> {
    let sealed = tx
        .sql(
            "UPDATE batch SET state = 'sealed', expected = ?3, sealed_at = ?4
             WHERE batch_id = ?1 AND tenant_id = ?2 AND state <> 'cancelled'",
        )?
        .execute(params![batch.as_bytes(), tenant.as_bytes(), walk.expected() as i64, tx.now.0])
        .map_err(sql_error("seal a batch"))?;
    if sealed == 0 {
        return Err(Error::conflict(format!("batch {batch} has been cancelled, or there is none")));
    }
    // An empty change makes the transaction look whether the batch has ended.
    tx.batch(tenant, batch);
    Ok(())
}

pub(super) fn change(tx: &mut Tx<'_>, tenant: TenantId, batch: BatchId, change: BatchChange) -> Result<u64> {
    let ours = params![batch.as_bytes(), tenant.as_bytes()];
    let state: Option<String> = tx
        .sql("SELECT state FROM batch WHERE batch_id = ?1 AND tenant_id = ?2")?
        .query_row(ours, |r| r.get(0))
        .optional()
        .map_err(sql_error("look up a batch"))?;
    let Some(state) = state else { return Err(Error::not_found(format!("there is no batch {batch}"))) };
    let was_cancelled = state == BatchState::Cancelled.name();
    // A batch that has finished has nothing left to cancel, and can still be opened again by its name. What a person has
    // started again of a cancelled one can be stopped again.
    let is_over = match change {
        BatchChange::Cancel => state == BatchState::Finished.name(),
        _ => was_cancelled,
    };
    if is_over {
        return Ok(0);
    }
    tx.pauses_changed();
    tx.aftermath.changed = true;
    match change {
        BatchChange::Pause => {
            tx.sql("UPDATE batch SET paused = 1 WHERE batch_id = ?1")?
                .execute([batch.as_bytes()])
                .map_err(sql_error("pause a batch"))?;
            move_tasks(tx, batch, "queued", "held")
        }
        BatchChange::Resume => {
            tx.sql("UPDATE batch SET paused = 0 WHERE batch_id = ?1")?
                .execute([batch.as_bytes()])
                .map_err(sql_error("resume a batch"))?;
            tx.aftermath.work = true;
            move_tasks(tx, batch, "held", "queued")
        }
        BatchChange::Cancel => cancel(tx, tenant, batch, !was_cancelled),
        BatchChange::Priority(priority) => set_priority(tx, batch, priority),
    }
}

/// Later items take the batch's priority; what waits or runs takes the new one with its age.
fn set_priority(tx: &Tx<'_>, batch: BatchId, priority: u8) -> Result<u64> {
    for sql in [
        "UPDATE batch SET priority = ?2 WHERE batch_id = ?1",
        "UPDATE ingestion SET priority = ?2 WHERE batch_id = ?1 AND status = 'in_progress'",
    ] {
        tx.sql(sql)?
            .execute(params![batch.as_bytes(), priority])
            .map_err(sql_error("change the priority of a batch"))?;
    }
    let changed = tx
        .sql(
            "UPDATE task SET order_key = order_key + (?2 - priority) * ?3, priority = ?2
             WHERE batch_id = ?1 AND state IN ('waiting', 'queued', 'held', 'running')",
        )?
        .execute(params![batch.as_bytes(), priority, PRIORITY_STEP_MS])
        .map_err(sql_error("change the priority of a batch"))?;
    Ok(changed as u64)
}

fn move_tasks(tx: &Tx<'_>, batch: BatchId, from: &str, to: &str) -> Result<u64> {
    let moved = tx
        .sql("UPDATE task SET state = ?3 WHERE batch_id = ?1 AND state = ?2")?
        .execute(params![batch.as_bytes(), from, to])
        .map_err(sql_error("move the tasks of a batch"))?;
    Ok(moved as u64)
}

/// Subscribers are told the first time only.
fn cancel(tx: &mut Tx<'_>, tenant: TenantId, batch: BatchId, first: bool) -> Result<u64> {
    // What was expected before the batch was opened again does not count what has come in since.
    tx.sql(
        "UPDATE batch SET state = 'cancelled', paused = 0, finished_at = coalesce(finished_at, ?2),
           expected = CASE WHEN state = 'open' THEN NULL ELSE expected END WHERE batch_id = ?1",
    )?
    .execute(params![batch.as_bytes(), tx.now.0])
    .map_err(sql_error("cancel a batch"))?;
    let open: Vec<[u8; 16]> = tx
        .sql("SELECT ingestion_id FROM ingestion WHERE batch_id = ?1 AND status = 'in_progress'")?
        .query_map([batch.as_bytes()], |r| r.get(0))
        .and_then(Iterator::collect)
        .map_err(sql_error("look for open items"))?;
    let mut stopped = 0;
    for id in &open {
        stopped += task::cancel_open(tx, IngestionId::from_slice(id)?)?;
    }
    if first {
        let detail = Some(json!({ "items": open.len(), "tasks": stopped }));
        let event = EventBody { batch_id: Some(batch), detail, ..EventBody::new(EventType::ImportCancelled) };
        tx.event(tenant, event);
    }
    Ok(open.len() as u64)
}

const COLUMNS: &str =
    "batch_id, name, kind, state, paused, priority, expected, received, children, open, completed,
    failed, skipped, cancelled, duplicates, dead, change_seq, created_at, finished_at FROM batch";

fn totals(row: &Row<'_>) -> Result<BatchTotals> {
    let mut c = Columns::new(row);
    Ok(BatchTotals {
        batch_id: c.batch()?,
        name: c.get()?,
        kind: c.get()?,
        state: c.word(BatchState::from_name)?,
        paused: c.flag()?,
        priority: c.get()?,
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
pub(super) fn find(conn: &Connection, tenant: TenantId, id_or_name: &str) -> Result<Option<BatchTotals>> {
    let id = id_or_name.parse::<BatchId>().ok();
    let mut statement = conn
        .prepare_cached(&format!(
            "SELECT {COLUMNS} WHERE tenant_id = ?1 AND (batch_id = ?2 OR name = ?3)
             ORDER BY batch_id = ?2 DESC LIMIT 1"
        ))
        .map_err(sql_error("look up a batch"))?;
    let mut rows = statement
        .query(params![tenant.as_bytes(), id.as_ref().map(BatchId::as_bytes), id_or_name])
        .map_err(sql_error("look up a batch"))?;
    rows.next().map_err(sql_error("look up a batch"))?.map(totals).transpose()
}

/// Open ones and the latest others, newest first.
pub(super) fn recent(conn: &Connection, tenant: TenantId, limit: usize) -> Result<Vec<BatchTotals>> {
    let mut statement = conn
        .prepare_cached(&format!("SELECT {COLUMNS} WHERE tenant_id = ?1 ORDER BY batch_id DESC LIMIT ?2"))
        .map_err(sql_error("list batches"))?;
    let mut rows =
        statement.query(params![tenant.as_bytes(), limit as i64]).map_err(sql_error("list batches"))?;
    let mut out = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("list batches"))? {
        out.push(totals(row)?);
    }
    Ok(out)
}

/// Newest first, page by page; the cursor is the last id seen.
pub(super) fn page(
    conn: &Connection,
    tenant: TenantId,
    limit: usize,
    cursor: Option<&str>,
) -> Result<BatchesAnswer> {
    let before = match cursor {
        Some(text) => {
            text.parse::<BatchId>().map_err(|e| bad_cursor(text).with_source(e))?.as_bytes().to_vec()
        }
        None => vec![0xff; 17],
    };
    let sql =
        format!("SELECT {COLUMNS} WHERE tenant_id = ?1 AND batch_id < ?2 ORDER BY batch_id DESC LIMIT ?3");
    let mut statement = conn.prepare_cached(&sql).map_err(sql_error("list batches"))?;
    let mut rows = statement
        .query(params![tenant.as_bytes(), before, limit as i64 + 1])
        .map_err(sql_error("list batches"))?;
    let mut batches = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("list batches"))? {
        batches.push(totals(row)?);
    }
    let more = batches.len() > limit;
    batches.truncate(limit);
    let next_cursor = batches.last().filter(|_| more).map(|b| b.batch_id.to_string());
    Ok(BatchesAnswer { batches, next_cursor })
}
