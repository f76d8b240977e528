//! What a person does to single items: retry, dead letters, pausing a kind.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use docmill_core::answer::{CountAnswer, DeadLine};
use docmill_core::id::{BatchId, DocumentId, IngestionId, TaskId, TenantId};
use docmill_core::ingestion::IngestionStatus;
use docmill_core::state::{TaskEvent, TaskState};
use docmill_core::task::{PRIORITY_STEP_MS, TaskKind};
use docmill_core::{Error, Result};
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::super::shared::steer::{
    OF_A_CANCELLED_BATCH, Of, Piece, Revival, no_dead_letter, nothing_to_retry, revival,
};
use super::commit::apply;
use super::row::{Columns, sql_error, text};
use super::task::{self, TaskRow};
use super::tx::Tx;

pub(super) async fn pause_kind(tx: &mut Tx, kind: &TaskKind, paused: bool) -> Result<()> {
    let sql = if paused {
        "INSERT INTO paused_kind (kind) VALUES ($1) ON CONFLICT DO NOTHING"
    } else {
        "DELETE FROM paused_kind WHERE kind = $1"
    };
    query::<Postgres>(sql)
        .bind(text(kind.as_str()))
        .execute(tx.conn())
        .await
        .map_err(sql_error("pause a kind"))?;
    tx.aftermath.work |= !paused;
    Ok(())
}

/// Queues the dead tasks of one item, or of all that ended badly, again.
pub(super) async fn retry(tx: &mut Tx, tenant: TenantId, id: Option<&str>) -> Result<CountAnswer> {
    let Some(id) = id else {
        let skipped = all_dead(tx, tenant, Of::Cancelled).await?.len() as u64;
        let count = replay(tx, tenant, None).await?;
        let mut answer = CountAnswer { count, skipped, ..CountAnswer::default() };
        if skipped > 0 {
            answer.reasons.insert(OF_A_CANCELLED_BATCH.into(), skipped);
        }
        return Ok(answer);
    };
    let ingestions = ingestions_of(tx, tenant, id).await?;
    if ingestions.is_empty() {
        return Err(Error::not_found(format!("there is no document or ingestion {id}")));
    }
    let dead = query::<Postgres>(
        "SELECT task_id, ingestion_id FROM task WHERE ingestion_id = ANY($1) AND state = 'dead'",
    )
    .bind(ingestions.iter().map(|i| i.0.0).collect::<Vec<_>>())
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for dead letters"))?;
    let mut of: HashMap<IngestionId, Vec<TaskId>> = HashMap::new();
    for row in &dead {
        let mut c = Columns::new(row);
        let task = c.task()?;
        of.entry(c.ingestion()?).or_default().push(task);
    }
    let tasks: Vec<TaskId> = of.values().flatten().copied().collect();
    revive(tx, &tasks).await?;
    let mut answer = CountAnswer::default();
    for (ingestion, status, has_document) in ingestions {
        if of.contains_key(&ingestion) {
            answer.count += 1;
        } else {
            answer.skipped += 1;
            *answer.reasons.entry(nothing_to_retry(status, has_document).into()).or_default() += 1;
        }
    }
    Ok(answer)
}

async fn ingestions_of(
    tx: &mut Tx,
    tenant: TenantId,
    id: &str,
) -> Result<Vec<(IngestionId, IngestionStatus, bool)>> {
    let id: DocumentId = id.parse()?;
    let rows = query::<Postgres>(
        "SELECT ingestion_id, status, document_id IS NOT NULL FROM ingestion
         WHERE tenant_id = $1 AND (ingestion_id = $2 OR document_id = $2)",
    )
    .bind(tenant.0)
    .bind(id.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look up an item"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok((c.ingestion()?, c.word(IngestionStatus::from_name)?, c.flag()?))
        })
        .collect()
}

/// Queues dead letters again; all of the tenant's if `ids` is none, but those of batches that somebody has cancelled.
pub(super) async fn replay(tx: &mut Tx, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
    let ids = match ids {
        Some(ids) => chosen(tx, tenant, ids, &["dead", "dropped"]).await?,
        None => all_dead(tx, tenant, Of::Others).await?,
    };
    revive(tx, &ids).await
}

/// Dismisses dead letters; all of the tenant's if `ids` is none.
pub(super) async fn drop_dead(tx: &mut Tx, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
    let ids = match ids {
        Some(ids) => chosen(tx, tenant, ids, &["dead"]).await?,
        None => all_dead(tx, tenant, Of::Any).await?,
    };
    let rows = task::lock(tx, &ids).await?;
    // Somebody else may have replayed one while this waited for it.
    let dead: Vec<&TaskRow> = rows.values().filter(|r| r.state == TaskState::Dead).collect();
    for row in &dead {
        apply(row.state, TaskEvent::Drop)?;
        if let Some(batch) = row.belongs.batch_id {
            tx.batch(tenant, batch).dead -= 1;
        }
    }
    query::<Postgres>("UPDATE task SET state = 'dropped' WHERE task_id = ANY($1)")
        .bind(dead.iter().map(|r| r.task_id.0).collect::<Vec<_>>())
        .execute(tx.conn())
        .await
        .map_err(sql_error("drop dead letters"))?;
    Ok(dead.len() as u64)
}

async fn all_dead(tx: &mut Tx, tenant: TenantId, of: Of) -> Result<Vec<TaskId>> {
    let rows = query::<Postgres>(
        "SELECT task_id FROM task WHERE state = 'dead' AND tenant_id = $1
           AND ($2::boolean IS NULL OR $2 = EXISTS (SELECT 1 FROM batch b
             WHERE b.batch_id = task.batch_id AND b.state = 'cancelled'))",
    )
    .bind(tenant.0)
    .bind(of.cancelled())
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for dead letters"))?;
    rows.iter().map(|r| Columns::new(r).task()).collect()
}

async fn chosen(tx: &mut Tx, tenant: TenantId, ids: &[TaskId], states: &[&str]) -> Result<Vec<TaskId>> {
    let rows = query::<Postgres>(
        "SELECT task_id FROM task WHERE task_id = ANY($2) AND tenant_id = $1 AND state = ANY($3)
           AND NOT EXISTS (SELECT 1 FROM document d WHERE d.document_id = task.document_id AND d.removed)",
    )
    .bind(tenant.0)
    .bind(ids.iter().map(|t| t.0).collect::<Vec<_>>())
    .bind(states)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for dead letters"))?;
    let found: Vec<TaskId> = rows.iter().map(|r| Columns::new(r).task()).collect::<Result<_>>()?;
    match ids.iter().find(|id| !found.contains(id)) {
        Some(missing) => Err(no_dead_letter(*missing)),
        None => Ok(found),
    }
}

/// Gives dead tasks fresh attempts, opens their ingestions again, and stops what must not go on beside them. Answers how
/// many.
async fn revive(tx: &mut Tx, ids: &[TaskId]) -> Result<u64> {
    if ids.is_empty() {
        return Ok(0);
    }
    let wanted: BTreeSet<TaskId> = ids.iter().copied().collect();
    let mut revived = 0;
    let mut moves = Moves::default();
    let mut put_back: Vec<&Around> = Vec::new();
    let around = lock_around(tx, ids).await?;
    for ingestion in &around {
        let found = ingestion.pieces.iter().filter(|p| wanted.contains(&p.task_id));
        // Somebody else may have replayed one while this waited for it.
        revived += found.filter(|p| matches!(p.state, TaskState::Dead | TaskState::Dropped)).count() as u64;
        let revival = revival(&ingestion.pieces, &wanted);
        moves.add(&revival, tx.queued_or_held(ingestion.batch_id)?)?;
        if revival.runs() {
            put_back.push(ingestion);
        }
        if let Some(batch) = ingestion.batch_id {
            tx.batch(ingestion.tenant_id, batch).dead -= revival.dead();
        }
    }
    moves.write(tx).await?;
    tx.aftermath.work |= !put_back.is_empty();
    let reopened = reopen(tx, put_back.iter().map(|around| around.ingestion_id.0).collect()).await?;
    let of: HashMap<IngestionId, &Around> = put_back.into_iter().map(|a| (a.ingestion_id, a)).collect();
    for (ingestion, status) in reopened {
        if let Some((tenant, batch)) = of.get(&ingestion).and_then(|a| Some((a.tenant_id, a.batch_id?))) {
            let totals = tx.batch(tenant, batch);
            totals.count(status, -1);
            totals.open += 1;
        }
    }
    Ok(revived)
}

/// An ingestion of which dead letters are replayed, with those of its tasks that matter.
struct Around {
    ingestion_id: IngestionId,
    tenant_id: TenantId,
    batch_id: Option<BatchId>,
    pieces: Vec<Piece>,
}

/// Locks these tasks, after their batches, and with them what else of their ingestions is open or may be put back to work.
async fn lock_around(tx: &mut Tx, ids: &[TaskId]) -> Result<Vec<Around>> {
    let batches = query::<Postgres>(
        "SELECT DISTINCT batch_id FROM task WHERE task_id = ANY($1) AND batch_id IS NOT NULL",
    )
    .bind(ids.iter().map(|t| t.0).collect::<Vec<_>>())
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for dead letters"))?;
    let batches: Vec<BatchId> = batches.iter().map(|r| Columns::new(r).batch()).collect::<Result<_>>()?;
    tx.lock_batches(batches).await?;
    let mut locked: BTreeSet<TaskId> = BTreeSet::new();
    loop {
        // Parts before their join: a report locks them in this order.
        let rows = query::<Postgres>(
            "SELECT ingestion_id, tenant_id, batch_id, task_id, state, join_id, open_parts IS NOT NULL, queued_at
             FROM task
             WHERE ingestion_id IN (SELECT ingestion_id FROM task WHERE task_id = ANY($1))
               AND (task_id = ANY($1) OR open_parts IS NOT NULL
                 OR state IN ('waiting', 'queued', 'held', 'running', 'cancelled'))
             ORDER BY open_parts IS NOT NULL, task_id FOR UPDATE",
        )
        .bind(ids.iter().map(|t| t.0).collect::<Vec<_>>())
        .fetch_all(tx.conn())
        .await
        .map_err(sql_error("look for dead letters"))?;
        let mut around: BTreeMap<IngestionId, Around> = BTreeMap::new();
        let mut known = true;
        for row in &rows {
            let mut c = Columns::new(row);
            let (ingestion_id, tenant_id, batch_id) = (c.ingestion()?, c.tenant()?, c.batch_opt()?);
            let piece = Piece {
                task_id: c.task()?,
                state: c.word(TaskState::from_name)?,
                join_id: c.get()?,
                joins: c.flag()?,
                queued_at: c.time()?,
            };
            known &= !locked.insert(piece.task_id);
            let new = || Around { ingestion_id, tenant_id, batch_id, pieces: Vec::new() };
            around.entry(ingestion_id).or_insert_with(new).pieces.push(piece);
        }
        // While one was waited for, its report may have added what follows it. Once all that is open is held here, nothing
        // can be added any more.
        if known {
            return Ok(around.into_values().collect());
        }
    }
}

/// What becomes of tasks, gathered over ingestions: each kind is written by one statement.
#[derive(Default)]
struct Moves {
    replay: Vec<(i64, &'static str)>,
    /// Joins, their additional parts, and whether they get fresh attempts.
    reopen: Vec<(i64, i64, bool)>,
    recall: Vec<(i64, &'static str)>,
    cancel: Vec<i64>,
    drop: Vec<i64>,
}

impl Moves {
    /// `waits` is where a task of this ingestion waits.
    fn add(&mut self, revival: &Revival, waits: TaskState) -> Result<()> {
        for piece in &revival.replay {
            apply(piece.state, TaskEvent::Replay)?;
            self.replay.push((piece.task_id.0, waits.name()));
        }
        for (join, parts) in &revival.reopen {
            apply(join.state, TaskEvent::Reopen)?;
            let fresh = matches!(join.state, TaskState::Dead | TaskState::Dropped);
            self.reopen.push((join.task_id.0, *parts, fresh));
        }
        for piece in &revival.recall {
            apply(piece.state, TaskEvent::Recall)?;
            self.recall.push((piece.task_id.0, waits.name()));
        }
        for piece in &revival.cancel {
            apply(piece.state, TaskEvent::Cancel)?;
            self.cancel.push(piece.task_id.0);
        }
        for piece in revival.drop.iter().filter(|piece| piece.state == TaskState::Dead) {
            apply(piece.state, TaskEvent::Drop)?;
            self.drop.push(piece.task_id.0);
        }
        Ok(())
    }

    async fn write(self, tx: &mut Tx) -> Result<()> {
        let now = tx.now.0;
        if !self.replay.is_empty() {
            query::<Postgres>(
                "UPDATE task t SET state = u.state, epoch = t.epoch + 1, attempt = 0, size_attempt = 0, lost = 0,
                   finished_at = NULL, run_at = $1, order_key = $1 + t.priority * $2
                 FROM unnest($3::bigint[], $4::text[]) AS u (task_id, state) WHERE t.task_id = u.task_id",
            )
            .bind(now)
            .bind(PRIORITY_STEP_MS)
            .bind(self.replay.iter().map(|r| r.0).collect::<Vec<_>>())
            .bind(self.replay.iter().map(|r| r.1).collect::<Vec<_>>())
            .execute(tx.conn())
            .await
            .map_err(sql_error("replay dead letters"))?;
        }
        if !self.reopen.is_empty() {
            query::<Postgres>(
                "UPDATE task t SET state = 'waiting', epoch = t.epoch + 1, owner = NULL, lease_until = NULL, lost = 0,
                   finished_at = NULL, open_parts = greatest(0, t.open_parts) + u.parts,
                   attempt = CASE WHEN u.fresh THEN 0 ELSE t.attempt END,
                   size_attempt = CASE WHEN u.fresh THEN 0 ELSE t.size_attempt END
                 FROM unnest($1::bigint[], $2::bigint[], $3::boolean[]) AS u (task_id, parts, fresh)
                 WHERE t.task_id = u.task_id",
            )
            .bind(self.reopen.iter().map(|r| r.0).collect::<Vec<_>>())
            .bind(self.reopen.iter().map(|r| r.1).collect::<Vec<_>>())
            .bind(self.reopen.iter().map(|r| r.2).collect::<Vec<_>>())
            .execute(tx.conn())
            .await
            .map_err(sql_error("reopen joins"))?;
        }
        if !self.recall.is_empty() {
            query::<Postgres>(
                "UPDATE task t SET state = u.state, epoch = t.epoch + 1, lost = 0, finished_at = NULL, run_at = $1,
                   order_key = $1 + t.priority * $2
                 FROM unnest($3::bigint[], $4::text[]) AS u (task_id, state) WHERE t.task_id = u.task_id",
            )
            .bind(now)
            .bind(PRIORITY_STEP_MS)
            .bind(self.recall.iter().map(|r| r.0).collect::<Vec<_>>())
            .bind(self.recall.iter().map(|r| r.1).collect::<Vec<_>>())
            .execute(tx.conn())
            .await
            .map_err(sql_error("queue cancelled parts again"))?;
        }
        if !self.cancel.is_empty() {
            // Raising the epoch is what stops a running worker: nothing it reports is accepted any more.
            query::<Postgres>(
                "UPDATE task SET state = 'cancelled', epoch = epoch + 1, owner = NULL, lease_until = NULL,
                   finished_at = $2
                 WHERE task_id = ANY($1)",
            )
            .bind(self.cancel)
            .bind(now)
            .execute(tx.conn())
            .await
            .map_err(sql_error("stop tasks"))?;
        }
        if !self.drop.is_empty() {
            query::<Postgres>("UPDATE task SET state = 'dropped' WHERE task_id = ANY($1)")
                .bind(self.drop)
                .execute(tx.conn())
                .await
                .map_err(sql_error("drop dead letters"))?;
        }
        Ok(())
    }
}

/// Puts ended ingestions back to work; answers how they had ended.
async fn reopen(tx: &mut Tx, ingestions: Vec<Uuid>) -> Result<Vec<(IngestionId, IngestionStatus)>> {
    let found = query::<Postgres>(
        "SELECT ingestion_id, status FROM ingestion WHERE ingestion_id = ANY($1) AND status <> 'in_progress'
         ORDER BY ingestion_id FOR UPDATE",
    )
    .bind(ingestions)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look up ingestions"))?;
    let mut ended = Vec::with_capacity(found.len());
    for row in &found {
        let mut c = Columns::new(row);
        ended.push((c.ingestion()?, c.word(IngestionStatus::from_name)?));
    }
    if ended.is_empty() {
        return Ok(ended);
    }
    let ids: Vec<_> = ended.iter().map(|e| e.0.0).collect();
    query::<Postgres>(
        "UPDATE ingestion SET status = 'in_progress', result = NULL, skip_reason = NULL, error = NULL, problems = NULL,
           needs_review = false, completed_at = NULL, progress_at = $2 WHERE ingestion_id = ANY($1)",
    )
    .bind(&ids)
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("reopen ingestions"))?;
    query::<Postgres>(
        "UPDATE manifest SET ended = false, refused = 0 WHERE ingestion_id = ANY($1) AND NOT superseded",
    )
    .bind(&ids)
    .execute(tx.conn())
    .await
    .map_err(sql_error("reopen manifests"))?;
    Ok(ended)
}

/// Dead letters, newest first.
pub(super) async fn dead(conn: &mut PgConnection, tenant: TenantId, limit: usize) -> Result<Vec<DeadLine>> {
    let rows = query::<Postgres>(
        "SELECT t.task_id, t.kind, t.ingestion_id, i.document_id, i.name, t.attempt, t.error, t.finished_at
         FROM task t JOIN ingestion i ON i.ingestion_id = t.ingestion_id
         WHERE t.state = 'dead' AND t.tenant_id = $1 ORDER BY t.finished_at DESC, t.task_id DESC LIMIT $2",
    )
    .bind(tenant.0)
    .bind(i64::try_from(limit).unwrap_or(i64::MAX))
    .fetch_all(conn)
    .await
    .map_err(sql_error("list dead letters"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(DeadLine {
                task_id: c.task()?,
                kind: c.get()?,
                ingestion_id: c.ingestion()?,
                document_id: c.document_opt()?,
                name: c.get()?,
                attempt: c.int()?,
                error: c.json_opt()?,
                died_at: c.time_opt()?,
            })
        })
        .collect()
}
