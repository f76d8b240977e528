//! What a person does to single items: retry, dead letters, pausing a kind.

use std::collections::{BTreeMap, HashMap};

use docmill_core::answer::{CountAnswer, DeadLine};
use docmill_core::id::{DocumentId, IngestionId, TaskId, TenantId};
use docmill_core::ingestion::IngestionStatus;
use docmill_core::state::{TaskEvent, TaskState};
use docmill_core::task::{TaskKind, order_key};
use docmill_core::{Error, Result};
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};

use super::super::shared::steer::{no_dead_letter, nothing_to_retry};
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
        let count = replay(tx, tenant, None).await?;
        return Ok(CountAnswer { count, ..CountAnswer::default() });
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

/// Queues dead letters again; all of the tenant's if `ids` is none.
pub(super) async fn replay(tx: &mut Tx, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
    let ids = chosen(tx, tenant, ids, &["dead", "dropped"]).await?;
    revive(tx, &ids).await
}

/// Dismisses dead letters; all of the tenant's if `ids` is none.
pub(super) async fn drop_dead(tx: &mut Tx, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
    let ids = chosen(tx, tenant, ids, &["dead"]).await?;
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

async fn chosen(
    tx: &mut Tx,
    tenant: TenantId,
    ids: Option<&[TaskId]>,
    states: &[&str],
) -> Result<Vec<TaskId>> {
    let rows = match ids {
        None => {
            query::<Postgres>("SELECT task_id FROM task WHERE state = 'dead' AND tenant_id = $1")
                .bind(tenant.0)
                .fetch_all(tx.conn())
                .await
        }
        Some(ids) => {
            query::<Postgres>(
                "SELECT task_id FROM task WHERE task_id = ANY($2) AND tenant_id = $1 AND state = ANY($3)
                   AND NOT EXISTS (SELECT 1 FROM document d WHERE d.document_id = task.document_id AND d.removed)",
            )
            .bind(tenant.0)
            .bind(ids.iter().map(|t| t.0).collect::<Vec<_>>())
            .bind(states)
            .fetch_all(tx.conn())
            .await
        }
    };
    let rows = rows.map_err(sql_error("look for dead letters"))?;
    let found: Vec<TaskId> = rows.iter().map(|r| Columns::new(r).task()).collect::<Result<_>>()?;
    match ids.and_then(|ids| ids.iter().find(|id| !found.contains(id))) {
        Some(missing) => Err(no_dead_letter(*missing)),
        None => Ok(found),
    }
}

/// Gives dead tasks fresh attempts, and opens their ingestions again. Answers how many.
async fn revive(tx: &mut Tx, ids: &[TaskId]) -> Result<u64> {
    let mut rows: Vec<TaskRow> = task::lock(tx, ids).await?.into_values().collect();
    rows.retain(|r| matches!(r.state, TaskState::Dead | TaskState::Dropped));
    if rows.is_empty() {
        return Ok(0);
    }
    rows.sort_unstable_by_key(|r| r.task_id);
    let mut states = Vec::with_capacity(rows.len());
    for row in &rows {
        apply(row.state, TaskEvent::Replay)?;
        states.push(tx.queued_or_held(row.belongs.batch_id)?.name());
    }
    query::<Postgres>(
        "UPDATE task t SET state = u.state, epoch = t.epoch + 1, attempt = 0, size_attempt = 0, lost = 0,
           finished_at = NULL, run_at = $1, order_key = u.order_key
         FROM unnest($2::bigint[], $3::text[], $4::bigint[]) AS u (task_id, state, order_key)
         WHERE t.task_id = u.task_id",
    )
    .bind(tx.now.0)
    .bind(rows.iter().map(|r| r.task_id.0).collect::<Vec<_>>())
    .bind(states)
    .bind(rows.iter().map(|r| order_key(tx.now, r.belongs.priority)).collect::<Vec<_>>())
    .execute(tx.conn())
    .await
    .map_err(sql_error("replay dead letters"))?;
    reopen_joins(tx, &rows).await?;
    tx.aftermath.work = true;
    let reopened = reopen(tx, &rows).await?;
    for row in &rows {
        if let Some(batch) = row.belongs.batch_id {
            tx.batch(row.belongs.tenant_id, batch).dead -= i64::from(row.state == TaskState::Dead);
        }
    }
    let of: HashMap<IngestionId, _> = rows.iter().map(|r| (r.belongs.ingestion_id, r.belongs)).collect();
    for (ingestion, status) in reopened {
        if let Some((tenant, batch)) = of.get(&ingestion).and_then(|b| Some((b.tenant_id, b.batch_id?))) {
            let totals = tx.batch(tenant, batch);
            totals.count(status, -1);
            totals.open += 1;
        }
    }
    Ok(rows.len() as u64)
}

/// A join has run, or waits, without these parts: it waits for them once more. Parts that were cancelled while the join
/// still counted them go on with it: it would wait for them for ever.
async fn reopen_joins(tx: &mut Tx, rows: &[TaskRow]) -> Result<()> {
    let mut parts: BTreeMap<i64, i64> = BTreeMap::new();
    for join in rows.iter().filter_map(|r| r.join_id) {
        *parts.entry(join).or_default() += 1;
    }
    if parts.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = parts.keys().copied().collect();
    let dead = query::<Postgres>(
        "SELECT tenant_id, batch_id FROM task
         WHERE task_id = ANY($1) AND state = 'dead' AND batch_id IS NOT NULL ORDER BY task_id FOR UPDATE",
    )
    .bind(&ids)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look up joins"))?;
    for row in &dead {
        let mut c = Columns::new(row);
        let (tenant, batch) = (c.tenant()?, c.batch()?);
        tx.batch(tenant, batch).dead -= 1;
    }
    query::<Postgres>(
        "UPDATE task t SET state = 'waiting', epoch = t.epoch + 1, open_parts = greatest(0, t.open_parts) + u.parts
         FROM unnest($1::bigint[], $2::bigint[]) AS u (task_id, parts) WHERE t.task_id = u.task_id",
    )
    .bind(&ids)
    .bind(parts.values().copied().collect::<Vec<_>>())
    .execute(tx.conn())
    .await
    .map_err(sql_error("reopen joins"))?;
    // The order is that of `core::task::order_key`.
    query::<Postgres>(
        "UPDATE task t SET state = CASE WHEN b.paused THEN 'held' ELSE 'queued' END, epoch = t.epoch + 1, lost = 0,
           finished_at = NULL, run_at = $3, order_key = $3 + t.priority * 60000
         FROM task j LEFT JOIN batch b ON b.batch_id = j.batch_id
         WHERE j.task_id = ANY($2) AND t.ingestion_id = ANY($1) AND t.join_id = j.task_id AND t.state = 'cancelled'",
    )
    .bind(rows.iter().map(|r| r.belongs.ingestion_id.0).collect::<Vec<_>>())
    .bind(&ids)
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("queue cancelled parts again"))?;
    Ok(())
}

/// Puts ended ingestions back to work; answers how they had ended.
async fn reopen(tx: &mut Tx, rows: &[TaskRow]) -> Result<Vec<(IngestionId, IngestionStatus)>> {
    let found = query::<Postgres>(
        "SELECT ingestion_id, status FROM ingestion WHERE ingestion_id = ANY($1) AND status <> 'in_progress'
         ORDER BY ingestion_id FOR UPDATE",
    )
    .bind(rows.iter().map(|r| r.belongs.ingestion_id.0).collect::<Vec<_>>())
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
