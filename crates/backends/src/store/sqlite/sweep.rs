//! Taking back what nobody holds any more. Only this moves a running task back into the queue behind its
//! worker's back, and it raises the epoch while doing so.

use docmill_core::Result;
use docmill_core::error::ErrorNote;
use docmill_core::id::{Epoch, TaskId, WorkerId};
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ports::store::Swept;
use docmill_core::task::MAX_LOST;
use rusqlite::params;

use super::row::{Columns, sql_error};
use super::tx::Tx;
use super::{commit, task, worker};

/// How long an exhausted task stays out of the way while its end is being decided.
const DECISION_MS: i64 = 60_000;

/// Requeues tasks whose lease has run out or whose worker is known to be dead.
pub(super) fn sweep(tx: &mut Tx<'_>, dead: &[WorkerId]) -> Result<Swept> {
    let mut swept = Swept::default();
    for (task_id, lost, owner_dead) in expired(tx, dead)? {
        let Some(row) = task::load(tx, task_id)? else { continue };
        if lost >= MAX_LOST {
            // It stays leased, to nobody who works: if the end is not decided in time, the next sweep meets
            // it again.
            tx.sql("UPDATE task SET epoch = epoch + 1, lease_until = ?2 WHERE task_id = ?1")?
                .execute(params![task_id.0, tx.now.0 + DECISION_MS])
                .map_err(sql_error("take back a task"))?;
            swept.exhausted.extend(task::lease(tx, task_id)?);
            continue;
        }
        let state = task::queued_or_held(tx, row.belongs.batch_id)?;
        tx.sql(
            "UPDATE task SET state = ?2, epoch = epoch + 1, owner = NULL, lease_until = NULL WHERE task_id = ?1",
        )?
        .execute(params![task_id.0, state.name()])
        .map_err(sql_error("take back a task"))?;
        swept.requeued += 1;
        tracing::debug!(task_id = task_id.0, owner_dead, "task taken back");
    }
    tx.aftermath.work |= swept.requeued > 0;
    worker::forget(tx, dead)?;
    worker::forget_unseen(tx)?;
    Ok(swept)
}

fn expired(tx: &Tx<'_>, dead: &[WorkerId]) -> Result<Vec<(TaskId, u32, bool)>> {
    let mut statement =
        tx.sql("SELECT task_id, lost, owner, lease_until FROM task WHERE state = 'running'")?;
    let mut rows = statement.query([]).map_err(sql_error("look for lost tasks"))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("look for lost tasks"))? {
        let mut c = Columns::new(row);
        let (task, lost) = (TaskId(c.get()?), c.get()?);
        let owner = c.worker()?;
        let until = c.time()?;
        let owner_dead = dead.contains(&owner);
        if owner_dead || until < tx.now {
            found.push((task, lost, owner_dead));
        }
    }
    Ok(found)
}

/// Ends an exhausted task.
pub(super) fn bury(
    tx: &mut Tx<'_>,
    task_id: TaskId,
    epoch: Epoch,
    error: &ErrorNote,
    end: &IngestionEnd,
) -> Result<()> {
    match task::load(tx, task_id)? {
        Some(row) if row.held_under(epoch) => commit::bury(tx, task_id, epoch, &row, error, false, Some(end)),
        _ => Ok(()),
    }
}
