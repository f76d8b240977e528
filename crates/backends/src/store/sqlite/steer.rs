//! What a person does to single items: retry, dead letters, pausing a kind.

use docmill_core::answer::{CountAnswer, DeadLine};
use docmill_core::id::{DocumentId, IngestionId, TaskId, TenantId};
use docmill_core::ingestion::IngestionStatus;
use docmill_core::state::{TaskEvent, TaskState};
use docmill_core::task::{TaskKind, order_key};
use docmill_core::{Error, Result};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::shared::steer::{no_dead_letter, nothing_to_retry};
use super::commit::apply;
use super::row::{Columns, sql_error};
use super::task::{self, TaskRow};
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
        let count = replay(tx, tenant, None)?;
        return Ok(CountAnswer { count, ..CountAnswer::default() });
    };
    let ingestions = ingestions_of(tx, tenant, id)?;
    if ingestions.is_empty() {
        return Err(Error::not_found(format!("there is no document or ingestion {id}")));
    }
    let mut answer = CountAnswer::default();
    for (ingestion, status, has_document) in ingestions {
        let dead: Vec<i64> = tx
            .sql("SELECT task_id FROM task WHERE ingestion_id = ?1 AND state = 'dead' ORDER BY task_id")?
            .query_map([ingestion.as_bytes()], |r| r.get(0))
            .and_then(Iterator::collect)
            .map_err(sql_error("look for dead letters"))?;
        for task in &dead {
            revive(tx, TaskId(*task))?;
        }
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

/// Queues dead letters again; all of the tenant's if `ids` is none.
pub(super) fn replay(tx: &mut Tx<'_>, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
    let ids = chosen(tx, tenant, ids, "('dead', 'dropped')")?;
    for id in &ids {
        revive(tx, *id)?;
    }
    Ok(ids.len() as u64)
}

/// Dismisses dead letters; all of the tenant's if `ids` is none.
pub(super) fn drop_dead(tx: &mut Tx<'_>, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
    let ids = chosen(tx, tenant, ids, "('dead')")?;
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
    let dead: Vec<TaskId> = tx
        .sql("SELECT task_id FROM task WHERE ingestion_id = ?1 AND state = 'dead'")?
        .query_map([ingestion.as_bytes()], |r| r.get(0).map(TaskId))
        .and_then(Iterator::collect)
        .map_err(sql_error("look for dead letters"))?;
    if !dead.is_empty() {
        drop_dead(tx, tenant, Some(&dead))?;
    }
    Ok(())
}

fn chosen(tx: &Tx<'_>, tenant: TenantId, ids: Option<&[TaskId]>, states: &str) -> Result<Vec<TaskId>> {
    let Some(ids) = ids else {
        return tx
            .sql("SELECT task_id FROM task WHERE state = 'dead' AND tenant_id = ?1 ORDER BY task_id")?
            .query_map([tenant.as_bytes()], |r| r.get(0).map(TaskId))
            .and_then(Iterator::collect)
            .map_err(sql_error("look for dead letters"));
    };
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

/// Gives a dead task fresh attempts, and opens its ingestion again.
fn revive(tx: &mut Tx<'_>, id: TaskId) -> Result<()> {
    let Some(row) = task::load(tx, id)? else { return Ok(()) };
    apply(row.state, TaskEvent::Replay)?;
    let was_dead = row.state == TaskState::Dead;
    let state = task::queued_or_held(tx, row.belongs.batch_id)?;
    tx.sql(
        "UPDATE task SET state = ?2, epoch = epoch + 1, attempt = 0, size_attempt = 0, lost = 0, finished_at = NULL,
           run_at = ?3, order_key = ?4 WHERE task_id = ?1",
    )?
    .execute(params![id.0, state.name(), tx.now.0, order_key(tx.now, row.belongs.priority)])
    .map_err(sql_error("replay a dead letter"))?;
    if let Some(join) = row.join_id {
        reopen_join(tx, &row, join)?;
    }
    tx.aftermath.work = true;
    let batch = row.belongs.batch_id;
    let reopened = reopen(tx, row.belongs.ingestion_id)?;
    if let Some(batch) = batch {
        let totals = tx.batch(row.belongs.tenant_id, batch);
        totals.dead -= i64::from(was_dead);
        if let Some(status) = reopened {
            totals.count(status, -1);
            totals.open += 1;
        }
    }
    Ok(())
}

/// A join has run, or waits, without this part: it waits for it once more. Parts that were cancelled while the join still
/// counted them go on with it: it would wait for them for ever.
fn reopen_join(tx: &mut Tx<'_>, part: &TaskRow, join: i64) -> Result<()> {
    let was_dead = task::load(tx, TaskId(join))?.is_some_and(|row| row.state == TaskState::Dead);
    tx.sql(
        "UPDATE task SET state = 'waiting', epoch = epoch + 1, open_parts = max(0, open_parts) + 1 WHERE task_id = ?1",
    )?
    .execute([join])
    .map_err(sql_error("reopen a join"))?;
    if let (true, Some(batch)) = (was_dead, part.belongs.batch_id) {
        tx.batch(part.belongs.tenant_id, batch).dead -= 1;
    }
    let state = task::queued_or_held(tx, part.belongs.batch_id)?;
    tx.sql(
        "UPDATE task SET state = ?2, epoch = epoch + 1, lost = 0, finished_at = NULL, run_at = ?3, order_key = ?4
         WHERE ingestion_id = ?5 AND join_id = ?1 AND state = 'cancelled'",
    )?
    .execute(params![
        join,
        state.name(),
        tx.now.0,
        order_key(tx.now, part.belongs.priority),
        part.belongs.ingestion_id.as_bytes()
    ])
    .map_err(sql_error("queue cancelled parts again"))?;
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
