//! Counts over all tenants, for metrics.

use docmill_core::Result;
use docmill_core::answer::IngestionCounts;
use docmill_core::batch::BatchState;
use docmill_core::ingestion::IngestionStatus;
use docmill_core::ports::store::Tally;
use rusqlite::Connection;

use super::super::super::shared::tally::Tasks;
use super::{collect, first};

/// Each state is read from its own small index; tasks that have ended well are never touched. Held ones have no
/// index, because there nearly never are any: only paused batches are looked through.
const TASKS: &str = "
    SELECT 'queued', kind, count(*) FROM task WHERE state = 'queued' GROUP BY kind
    UNION ALL SELECT 'running', kind, count(*) FROM task WHERE state = 'running' GROUP BY kind
    UNION ALL SELECT 'dead', kind, count(*) FROM task WHERE state = 'dead' GROUP BY kind
    UNION ALL SELECT 'held', t.kind, count(*) FROM batch b
      CROSS JOIN ingestion i ON i.batch_id = b.batch_id AND i.status = 'in_progress'
      CROSS JOIN task t ON t.ingestion_id = i.ingestion_id AND t.state = 'held'
      WHERE b.paused = 1 GROUP BY t.kind";

/// Batches keep their own totals; only items outside any batch are counted one by one.
const INGESTIONS: &str = "
    SELECT 'in_progress', coalesce(sum(open), 0) FROM batch
    UNION ALL SELECT 'completed', coalesce(sum(completed), 0) FROM batch
    UNION ALL SELECT 'failed', coalesce(sum(failed), 0) FROM batch
    UNION ALL SELECT 'skipped', coalesce(sum(skipped), 0) FROM batch
    UNION ALL SELECT 'cancelled', coalesce(sum(cancelled), 0) FROM batch
    UNION ALL SELECT status, count(*) FROM ingestion WHERE batch_id IS NULL GROUP BY status";

/// A tenant's last event is that of the last row of its log, or the floor if all rows have been pruned.
const OTHERS: &str = "
    SELECT (SELECT count(*) FROM document WHERE removed = 0), (SELECT count(*) FROM worker),
      (SELECT coalesce(sum(coalesce((SELECT max(last_seq) FROM event e WHERE e.tenant_id = t.tenant_id),
        t.event_floor)), 0) FROM tenant t)";

pub(in super::super) fn tally(conn: &Connection) -> Result<Tally> {
    let mut tasks = Tasks::default();
    for (state, kind, n) in
        collect(conn, "count tasks", TASKS, [], |c| Ok((c.get::<String>()?, c.get::<String>()?, c.count()?)))?
    {
        tasks.add(&state, kind, n);
    }
    let mut ingestions = IngestionCounts::default();
    for (status, n) in collect(conn, "count ingestions", INGESTIONS, [], |c| {
        Ok((c.word(IngestionStatus::from_name)?, c.count()?))
    })? {
        ingestions.add(status, n);
    }
    let batches =
        collect(conn, "count batches", "SELECT state, count(*) FROM batch GROUP BY state", [], |c| {
            Ok((c.word(BatchState::from_name)?, c.count()?))
        })?;
    let (documents, workers, events) =
        first(conn, "count", OTHERS, [], |c| Ok((c.count()?, c.count()?, c.count()?)))?.unwrap_or_default();
    Ok(Tally { documents, ingestions, tasks: tasks.into(), batches, workers, events })
}
