//! What a person does to single items: retry, dead letters, pausing a kind.

use std::collections::{BTreeMap, BTreeSet};

use docmill_core::answer::{CountAnswer, DeadLine};
use docmill_core::id::{DocumentId, IngestionId, TaskId, TenantId};
use docmill_core::ingestion::IngestionStatus;
use docmill_core::state::{TaskEvent, TaskState};
use docmill_core::task::{PRIORITY_STEP_MS, TaskKind};
use docmill_core::{Error, Result};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::shared::steer::{
    OF_A_CANCELLED_BATCH, Of, Piece, Revival, no_dead_letter, nothing_to_retry, revival,
};
use super::commit::apply;
use super::row::{Columns, sql_error};
use super::task::{self, Belongs};
use super::tx::Tx;

pub(super) fn pause_kind(tx: &mut Tx<'_>, kind: &TaskKind, paused: bool) -> Result<()> {
    let sql = if paused {
        "INSERT OR IGNORE INTO paused_kind (kind) VALUES (?1)"
    } else {
        "DELETE FROM paused_kind WHERE kind = ?1"
    };
    tx.sql(sql)?.execute([kind.as_str()]).map_err(sql_error("pause a kind"))?;
    tx.pauses_changed();
    tx.aftermath.work |= !paused;
    Ok(())
}

/// Queues the dead tasks of one item, or of all that ended badly, again.
pub(super) fn retry(tx: &mut Tx<'_>, tenant: TenantId, id: Option<&str>) -> Result<CountAnswer> {
    let Some(id) = id else {
        let skipped = all_dead(tx, tenant, Of::Cancelled)?.len() as u64;
        let mut answer = CountAnswer { count: replay(tx, tenant, None)?, skipped, ..CountAnswer::default() };
        if skipped > 0 {
            answer.reasons.insert(OF_A_CANCELLED_BATCH.into(), skipped);
        }
        return Ok(answer);
    };
    let ingestions = ingestions_of(tx, tenant, id)?;
    if ingestions.is_empty() {
        return Err(Error::not_found(format!("there is no document or ingestion {id}")));
    }
    let mut answer = CountAnswer::default();
    for (ingestion, status, has_document) in ingestions {
        let dead = dead_of(tx, ingestion)?;
        revive(tx, &dead)?;
        if dead.is_empty() {
            answer.skipped += 1;
            let reason = nothing_to_retry(status, has_document);
            *answer.reasons.entry(reason.into()).or_default() += 1;
        } else {
            answer.count += 1;
        }
    }
    Ok(answer)
}

fn ingestions_of(
    tx: &Tx<'_>,
    tenant: TenantId,
    id: &str,
) -> Result<Vec<(IngestionId, IngestionStatus, bool)>> {
    let id: DocumentId = id.parse()?;
    let mut statement = tx.sql(
        "SELECT ingestion_id, status, document_id IS NOT NULL FROM ingestion
         WHERE tenant_id = ?1 AND (ingestion_id = ?2 OR document_id = ?2)",
    )?;
    let mut rows =
        statement.query(params![tenant.as_bytes(), id.as_bytes()]).map_err(sql_error("look up an item"))?;
    let mut out = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("look up an item"))? {
        let mut c = Columns::new(row);
        out.push((c.ingestion()?, c.word(IngestionStatus::from_name)?, c.flag()?));
    }
    Ok(out)
}

/// Queues dead letters again; all of the tenant's if `ids` is none, but those of batches that somebody has cancelled.
pub(super) fn replay(tx: &mut Tx<'_>, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
    let ids = match ids {
        Some(ids) => chosen(tx, tenant, ids, "('dead', 'dropped')")?,
        None => all_dead(tx, tenant, Of::Others)?,
    };
    revive(tx, &ids)?;
    Ok(ids.len() as u64)
}

/// Dismisses dead letters; all of the tenant's if `ids` is none.
pub(super) fn drop_dead(tx: &mut Tx<'_>, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
    let ids = match ids {
        Some(ids) => chosen(tx, tenant, ids, "('dead')")?,
        None => all_dead(tx, tenant, Of::Any)?,
    };
    for id in &ids {
        let Some(row) = task::load(tx, *id)? else { continue };
        let state = apply(row.state, TaskEvent::Drop)?;
        tx.sql("UPDATE task SET state = ?2 WHERE task_id = ?1")?
            .execute(params![id.0, state.name()])
            .map_err(sql_error("drop a dead letter"))?;
        if let Some(batch) = row.belongs.batch_id {
            tx.batch(tenant, batch).dead -= 1;
        }
    }
    Ok(ids.len() as u64)
}

/// Dismisses the dead letters of one ingestion.
pub(super) fn drop_dead_of(tx: &mut Tx<'_>, tenant: TenantId, ingestion: IngestionId) -> Result<()> {
    let dead = dead_of(tx, ingestion)?;
    if !dead.is_empty() {
        drop_dead(tx, tenant, Some(&dead))?;
    }
    Ok(())
}

fn dead_of(tx: &Tx<'_>, ingestion: IngestionId) -> Result<Vec<TaskId>> {
    tx.sql("SELECT task_id FROM task WHERE ingestion_id = ?1 AND state = 'dead'")?
        .query_map([ingestion.as_bytes()], |r| r.get(0).map(TaskId))
        .and_then(Iterator::collect)
        .map_err(sql_error("look for dead letters"))
}

fn all_dead(tx: &Tx<'_>, tenant: TenantId, of: Of) -> Result<Vec<TaskId>> {
    tx.sql(
        "SELECT task_id FROM task WHERE state = 'dead' AND tenant_id = ?1
           AND (?2 IS NULL OR ?2 = EXISTS (SELECT 1 FROM batch b
             WHERE b.batch_id = task.batch_id AND b.state = 'cancelled'))
         ORDER BY task_id",
    )?
    .query_map(params![tenant.as_bytes(), of.cancelled()], |r| r.get(0).map(TaskId))
    .and_then(Iterator::collect)
    .map_err(sql_error("look for dead letters"))
}

fn chosen(tx: &Tx<'_>, tenant: TenantId, ids: &[TaskId], states: &str) -> Result<Vec<TaskId>> {
    let mut statement =
        tx.sql(&format!(
            "SELECT 1 FROM task WHERE task_id = ?1 AND tenant_id = ?2 AND state IN {states}
               AND NOT EXISTS (SELECT 1 FROM document d WHERE d.document_id = task.document_id AND d.removed = 1)"
        ))?;
    for id in ids {
        let found: Option<i64> = statement
            .query_row(params![id.0, tenant.as_bytes()], |r| r.get(0))
            .optional()
            .map_err(sql_error("look for dead letters"))?;
        if found.is_none() {
            return Err(no_dead_letter(*id));
        }
    }
    let mut chosen = ids.to_vec();
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

/// Gives dead tasks fresh attempts, opens their ingestions again, and stops what must not go on beside them.
fn revive(tx: &mut Tx<'_>, ids: &[TaskId]) -> Result<()> {
    let mut of: BTreeMap<IngestionId, (Belongs, BTreeSet<TaskId>)> = BTreeMap::new();
    for id in ids {
        let Some(row) = task::load(tx, *id)? else { continue };
        of.entry(row.belongs.ingestion_id).or_insert((row.belongs, BTreeSet::new())).1.insert(*id);
    }
    for (ingestion, (belongs, wanted)) in of {
        let revival = revival(&pieces(tx, ingestion)?, &wanted);
        move_tasks(tx, &belongs, &revival)?;
        let reopened = if revival.runs() { reopen(tx, ingestion)? } else { None };
        if let Some(batch) = belongs.batch_id {
            let totals = tx.batch(belongs.tenant_id, batch);
            totals.dead -= revival.dead();
            if let Some(status) = reopened {
                totals.count(status, -1);
                totals.open += 1;
            }
        }
    }
    Ok(())
}

fn pieces(tx: &Tx<'_>, ingestion: IngestionId) -> Result<Vec<Piece>> {
    let mut statement = tx.sql(
        "SELECT task_id, state, join_id, open_parts IS NOT NULL, queued_at FROM task WHERE ingestion_id = ?1
         ORDER BY task_id",
    )?;
    let mut rows = statement.query([ingestion.as_bytes()]).map_err(sql_error("look up tasks"))?;
    let mut pieces = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("look up tasks"))? {
        let mut c = Columns::new(row);
        pieces.push(Piece {
            task_id: TaskId(c.get()?),
            state: c.word(TaskState::from_name)?,
            join_id: c.get()?,
            joins: c.flag()?,
            queued_at: c.time()?,
        });
    }
    Ok(pieces)
}

fn move_tasks(tx: &mut Tx<'_>, belongs: &Belongs, revival: &Revival) -> Result<()> {
    let now = tx.now.0;
    let waits = task::queued_or_held(tx, belongs.batch_id)?.name();
    for piece in &revival.replay {
        apply(piece.state, TaskEvent::Replay)?;
        tx.sql(
            "UPDATE task SET state = ?2, epoch = epoch + 1, attempt = 0, size_attempt = 0, lost = 0,
               finished_at = NULL, run_at = ?3, order_key = ?3 + priority * ?4 WHERE task_id = ?1",
        )?
        .execute(params![piece.task_id.0, waits, now, PRIORITY_STEP_MS])
        .map_err(sql_error("replay a dead letter"))?;
    }
    for (join, parts) in &revival.reopen {
        let state = apply(join.state, TaskEvent::Reopen)?;
        let fresh = matches!(join.state, TaskState::Dead | TaskState::Dropped);
        tx.sql(
            "UPDATE task SET state = ?2, epoch = epoch + 1, owner = NULL, lease_until = NULL, lost = 0,
               finished_at = NULL, open_parts = max(0, open_parts) + ?3, attempt = iif(?4, 0, attempt),
               size_attempt = iif(?4, 0, size_attempt) WHERE task_id = ?1",
        )?
        .execute(params![join.task_id.0, state.name(), parts, fresh])
        .map_err(sql_error("reopen a join"))?;
    }
    for piece in &revival.recall {
        apply(piece.state, TaskEvent::Recall)?;
        tx.sql(
            "UPDATE task SET state = ?2, epoch = epoch + 1, lost = 0, finished_at = NULL, run_at = ?3,
               order_key = ?3 + priority * ?4 WHERE task_id = ?1",
        )?
        .execute(params![piece.task_id.0, waits, now, PRIORITY_STEP_MS])
        .map_err(sql_error("queue a cancelled part again"))?;
    }
    for piece in &revival.cancel {
        let state = apply(piece.state, TaskEvent::Cancel)?;
        // Raising the epoch is what stops a running worker: nothing it reports is accepted any more.
        tx.sql(
            "UPDATE task SET state = ?2, epoch = epoch + 1, owner = NULL, lease_until = NULL, finished_at = ?3
             WHERE task_id = ?1",
        )?
        .execute(params![piece.task_id.0, state.name(), now])
        .map_err(sql_error("stop a task"))?;
    }
    for piece in revival.drop.iter().filter(|piece| piece.state == TaskState::Dead) {
        let state = apply(piece.state, TaskEvent::Drop)?;
        tx.sql("UPDATE task SET state = ?2 WHERE task_id = ?1")?
            .execute(params![piece.task_id.0, state.name()])
            .map_err(sql_error("drop a dead letter"))?;
    }
    tx.aftermath.work |= revival.runs();
    Ok(())
}

/// Puts an ended ingestion back to work; answers how it had ended.
fn reopen(tx: &Tx<'_>, ingestion: IngestionId) -> Result<Option<IngestionStatus>> {
    let status: String = tx
        .sql("SELECT status FROM ingestion WHERE ingestion_id = ?1")?
        .query_row([ingestion.as_bytes()], |r| r.get(0))
        .map_err(sql_error("look up an ingestion"))?;
    if status == IngestionStatus::InProgress.name() {
        return Ok(None);
    }
    tx.sql(
        "UPDATE ingestion SET status = 'in_progress', result = NULL, skip_reason = NULL, error = NULL, problems = NULL,
           needs_review = 0, completed_at = NULL, progress_at = ?2 WHERE ingestion_id = ?1",
    )?
    .execute(params![ingestion.as_bytes(), tx.now.0])
    .map_err(sql_error("reopen an ingestion"))?;
    tx.sql("UPDATE manifest SET ended = 0, refused = 0 WHERE ingestion_id = ?1 AND superseded = 0")?
        .execute([ingestion.as_bytes()])
        .map_err(sql_error("reopen a manifest"))?;
    Ok(IngestionStatus::from_name(&status))
}

/// Dead letters, newest first.
pub(super) fn dead(conn: &Connection, tenant: TenantId, limit: usize) -> Result<Vec<DeadLine>> {
    let mut statement = conn
        .prepare_cached(
            "SELECT t.task_id, t.kind, t.ingestion_id, i.document_id, i.name, t.attempt, t.error, t.finished_at
             FROM task t JOIN ingestion i ON i.ingestion_id = t.ingestion_id
             WHERE t.state = 'dead' AND t.tenant_id = ?1 ORDER BY t.finished_at DESC, t.task_id DESC LIMIT ?2",
        )
        .map_err(sql_error("list dead letters"))?;
    let mut rows =
        statement.query(params![tenant.as_bytes(), limit as i64]).map_err(sql_error("list dead letters"))?;
    let mut out = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("list dead letters"))? {
        let mut c = Columns::new(row);
        out.push(DeadLine {
            task_id: TaskId(c.get()?),
            kind: c.get()?,
            ingestion_id: c.ingestion()?,
            document_id: c.document_opt()?,
            name: c.get()?,
            attempt: c.get()?,
            error: c.json_opt()?,
            died_at: c.time_opt()?,
        });
    }
    Ok(out)
}
