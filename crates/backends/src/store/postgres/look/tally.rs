//! Counts over all tenants, for metrics. They are the engine's to read, not a person's, so no tenant is named.

use docmill_core::Result;
use docmill_core::answer::IngestionCounts;
use docmill_core::batch::BatchState;
use docmill_core::ingestion::IngestionStatus;
use docmill_core::ports::store::Tally;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};

use super::super::super::shared::tally::Tasks;
use super::super::row::{Columns, sql_error};

/// Each state is read from its own small index; tasks that have ended well are never touched. Held ones have no
/// index, because there nearly never are any: only paused batches are looked through.
const TASKS: &str = "
    SELECT 'queued', kind, count(*) FROM task WHERE state = 'queued' GROUP BY kind
    UNION ALL SELECT 'running', kind, count(*) FROM task WHERE state = 'running' GROUP BY kind
    UNION ALL SELECT 'dead', kind, count(*) FROM task WHERE state = 'dead' GROUP BY kind
    UNION ALL SELECT 'held', t.kind, count(*) FROM batch b
      JOIN ingestion i ON i.batch_id = b.batch_id AND i.status = 'in_progress'
      JOIN task t ON t.ingestion_id = i.ingestion_id AND t.state = 'held'
      WHERE b.paused GROUP BY t.kind";

/// Batches keep their own totals; only items outside any batch are counted one by one.
const INGESTIONS: &str = "
    SELECT t.status, t.n::bigint FROM (SELECT sum(open) AS open, sum(completed) AS completed, sum(failed) AS failed,
        sum(skipped) AS skipped, sum(cancelled) AS cancelled FROM batch) AS b
      CROSS JOIN LATERAL (VALUES ('in_progress', b.open), ('completed', b.completed), ('failed', b.failed),
        ('skipped', b.skipped), ('cancelled', b.cancelled)) AS t (status, n)
      WHERE t.n IS NOT NULL
    UNION ALL SELECT status, count(*) FROM ingestion WHERE batch_id IS NULL GROUP BY status";

/// A tenant's last event is that of the last row of its log, or the floor if all rows have been pruned.
const OTHERS: &str = "
    SELECT (SELECT count(*) FROM document WHERE NOT removed), (SELECT count(*) FROM worker),
      (SELECT coalesce(sum(coalesce((SELECT max(last_seq) FROM event e WHERE e.tenant_id = t.tenant_id),
        t.event_floor)), 0)::bigint FROM tenant t)";

pub(in super::super) async fn tally(conn: &mut PgConnection) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut tasks = Tasks::default();
    let rows = query::<Postgres>(TASKS).fetch_all(&mut *conn).await.map_err(sql_error("count tasks"))?;
    for row in &rows {
        let mut c = Columns::new(row);
        let state: String = c.get()?;
        tasks.add(&state, c.get()?, c.count()?);
    }
    tally.tasks = tasks.into();
    let rows =
        query::<Postgres>(INGESTIONS).fetch_all(&mut *conn).await.map_err(sql_error("count ingestions"))?;
    let mut ingestions = IngestionCounts::default();
    for row in &rows {
        let mut c = Columns::new(row);
        ingestions.add(c.word(IngestionStatus::from_name)?, c.count()?);
    }
    tally.ingestions = ingestions;
    let rows = query::<Postgres>("SELECT state, count(*) FROM batch GROUP BY state")
        .fetch_all(&mut *conn)
        .await
        .map_err(sql_error("count batches"))?;
    for row in &rows {
        let mut c = Columns::new(row);
        tally.batches.push((c.word(BatchState::from_name)?, c.count()?));
    }
    let row = query::<Postgres>(OTHERS).fetch_one(conn).await.map_err(sql_error("count"))?;
    let mut c = Columns::new(&row);
    (tally.documents, tally.workers, tally.events) = (c.count()?, c.count()?, c.count()?);
    Ok(tally)
}
