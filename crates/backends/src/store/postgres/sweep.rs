//! Taking back what nobody holds any more. Only this moves a running task back into the queue behind its
//! worker's back, and it raises the epoch while doing so. Any number of sweepers may run.

use docmill_core::Result;
use docmill_core::error::ErrorNote;
use docmill_core::id::{BatchId, Epoch, TaskId, WorkerId};
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::store::Swept;
use docmill_core::state::TaskState;
use docmill_core::task::MAX_LOST;
use sqlx_core::query::query;
use sqlx_postgres::Postgres;
use uuid::Uuid;

use super::commit::Reports;
use super::row::{Columns, sql_error};
use super::task::{self, lease_columns};
use super::tx::Tx;
use super::worker;

/// How long an exhausted task stays out of the way while its end is being decided.
const DECISION_MS: i64 = 60_000;

/// Requeues tasks whose lease has run out or whose worker is known to be dead.
pub(super) async fn sweep(tx: &mut Tx, dead: &[WorkerId]) -> Result<Swept> {
    let owners: Vec<Uuid> = dead.iter().map(|w| w.0).collect();
    let (mut requeued, mut states, mut exhausted) = (Vec::new(), Vec::new(), Vec::new());
    for (task, batch, lost) in expired(tx, &owners).await? {
        if lost >= MAX_LOST {
            exhausted.push(task.0);
        } else {
            requeued.push(task.0);
            states.push(tx.queued_or_held(batch)?.name());
        }
    }
    let mut swept = Swept { requeued: requeued.len() as u64, ..Swept::default() };
    if !requeued.is_empty() {
        tracing::debug!(tasks = ?requeued, "tasks taken back");
        tx.aftermath.work |= states.contains(&TaskState::Queued.name());
        query::<Postgres>(
            "UPDATE task t SET state = u.state, epoch = t.epoch + 1, owner = NULL, lease_until = NULL
             FROM unnest($1::bigint[], $2::text[]) AS u (task_id, state) WHERE t.task_id = u.task_id",
        )
        .bind(requeued)
        .bind(states)
        .execute(tx.conn())
        .await
        .map_err(sql_error("take back tasks"))?;
    }
    if !exhausted.is_empty() {
        // They stay leased, to nobody who works: if the end is not decided in time, the next sweep meets them again.
        let rows = query::<Postgres>(concat!(
            "UPDATE task SET epoch = epoch + 1, lease_until = $2 WHERE task_id = ANY($1) RETURNING ",
            lease_columns!()
        ))
        .bind(exhausted)
        .bind(tx.now.0 + DECISION_MS)
        .fetch_all(tx.conn())
        .await
        .map_err(sql_error("take back tasks"))?;
        let leases = rows.iter().map(task::read_lease).collect::<Result<Vec<_>>>()?;
        swept.exhausted = task::with_subjects(tx, leases).await?;
    }
    worker::forget(tx, dead).await?;
    Ok(swept)
}

/// Locks the tasks that nobody holds any more. One that is being reported or swept at this moment is left out.
async fn expired(tx: &mut Tx, dead: &[Uuid]) -> Result<Vec<(TaskId, Option<BatchId>, u32)>> {
    let found = query::<Postgres>(
        "SELECT task_id, batch_id FROM task WHERE state = 'running' AND (lease_until < $1 OR owner = ANY($2))",
    )
    .bind(tx.now.0)
    .bind(dead)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for lost tasks"))?;
    let (mut ids, mut batches) = (Vec::with_capacity(found.len()), Vec::new());
    for row in &found {
        let mut c = Columns::new(row);
        ids.push(c.get::<i64>()?);
        batches.extend(c.batch_opt()?);
    }
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    tx.lock_batches(batches).await?;
    let locked = query::<Postgres>(
        "SELECT task_id, batch_id, lost FROM task
         WHERE task_id = ANY($3) AND state = 'running' AND (lease_until < $1 OR owner = ANY($2))
         ORDER BY task_id FOR UPDATE SKIP LOCKED",
    )
    .bind(tx.now.0)
    .bind(dead)
    .bind(ids)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for lost tasks"))?;
    locked
        .iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok((c.task()?, c.batch_opt()?, c.int()?))
        })
        .collect()
}

/// Ends an exhausted task.
pub(super) async fn bury(
    tx: &mut Tx,
    task_id: TaskId,
    epoch: Epoch,
    error: &ErrorNote,
    end: &IngestionEnd,
) -> Result<()> {
    let rows = task::lock(tx, &[task_id]).await?;
    let Some(row) = rows.get(&task_id).filter(|r| r.held_under(epoch)) else { return Ok(()) };
    let mut reports = Reports::default();
    reports.bury(tx, epoch, row, error, false, Some(end))?;
    reports.write(tx).await
}
