//! Taking back what nobody holds any more. Only this moves a running task back into the queue behind its
//! worker's back, and it raises the epoch while doing so. Any number of sweepers may run.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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

/// Up to when this process has taken back what ran out, so that a sweep need not look at every lease that ever ended:
/// those of tasks that are done stay in the index while any transaction keeps a snapshot from before.
#[derive(Default)]
pub(super) struct Sweeps(Mutex<Option<Last>>);

/// What a sweep has looked at.
#[derive(Clone, Copy)]
pub(super) struct Last {
    /// Leases that ran out before this moment of the server have been taken back.
    until: i64,
    /// When everything was looked at, by the clock of this process.
    whole_at: Duration,
}

/// A lease that was written by a transaction which took longer than the lease is found by a look at everything.
const WHOLE_EVERY: Duration = Duration::from_mins(5);
/// Leases of so long before the last sweep are looked at again.
const MARGIN_MS: i64 = 5_000;

impl Sweeps {
    /// From which end of leases on to look, and since when that is so.
    fn begin(&self, now: Duration) -> (i64, Duration) {
        match *self.lock() {
            Some(last) if now.saturating_sub(last.whole_at) < WHOLE_EVERY => {
                (last.until.saturating_sub(MARGIN_MS), last.whole_at)
            }
            _ => (i64::MIN, now),
        }
    }

    /// A sweep was committed.
    pub(super) fn end(&self, last: Last) {
        *self.lock() = Some(last);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Last>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Requeues tasks whose lease has run out or whose worker is known to be dead.
pub(super) async fn sweep(tx: &mut Tx, dead: &[WorkerId], sweeps: &Sweeps) -> Result<(Swept, Last)> {
    let owners: Vec<Uuid> = dead.iter().map(|w| w.0).collect();
    let (from, whole_at) = sweeps.begin(tx.monotonic());
    let Expired { tasks, left_out } = expired(tx, &owners, from).await?;
    // One that another transaction holds at this moment is met again.
    let last = Last { until: left_out.map_or(tx.now.0, |end| end.min(tx.now.0)), whole_at };
    let (mut requeued, mut states, mut exhausted) = (Vec::new(), Vec::new(), Vec::new());
    for (task, batch, lost) in tasks {
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
    worker::forget_unseen(tx).await?;
    Ok((swept, last))
}

/// What nobody holds any more.
#[derive(Default)]
struct Expired {
    tasks: Vec<(TaskId, Option<BatchId>, u32)>,
    /// The earliest end of a lease that ran out and could not be locked.
    left_out: Option<i64>,
}

/// Locks the tasks that nobody holds any more, of leases that ran out at `from` or later. One that is being reported
/// or swept at this moment is left out.
async fn expired(tx: &mut Tx, dead: &[Uuid], from: i64) -> Result<Expired> {
    // Two questions to the index, neither of which has to look at rows to pass over them.
    let found = query::<Postgres>(
        "SELECT task_id, batch_id, lease_until FROM task
         WHERE state = 'running' AND lease_until >= $3 AND lease_until < $1
         UNION ALL SELECT task_id, batch_id, lease_until FROM task
         WHERE state = 'running' AND owner = ANY($2) AND NOT (lease_until >= $3 AND lease_until < $1)",
    )
    .bind(tx.now.0)
    .bind(dead)
    .bind(from)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for lost tasks"))?;
    let (mut leases, mut batches) = (BTreeMap::new(), Vec::new());
    for row in &found {
        let mut c = Columns::new(row);
        let (task, batch) = (c.task()?, c.batch_opt()?);
        leases.insert(task, c.get::<i64>()?);
        batches.extend(batch);
    }
    if leases.is_empty() {
        return Ok(Expired::default());
    }
    tx.lock_batches(batches).await?;
    let locked = query::<Postgres>(
        "SELECT task_id, batch_id, lost FROM task
         WHERE task_id = ANY($3) AND state = 'running' AND (lease_until < $1 OR owner = ANY($2))
         ORDER BY task_id FOR UPDATE SKIP LOCKED",
    )
    .bind(tx.now.0)
    .bind(dead)
    .bind(leases.keys().map(|t| t.0).collect::<Vec<_>>())
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for lost tasks"))?;
    let mut tasks = Vec::with_capacity(locked.len());
    for row in &locked {
        let mut c = Columns::new(row);
        let task = c.task()?;
        leases.remove(&task);
        tasks.push((task, c.batch_opt()?, c.int()?));
    }
    Ok(Expired { tasks, left_out: leases.into_values().min() })
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
