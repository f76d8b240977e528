//! Who works where.

use docmill_core::Result;
use docmill_core::answer::WorkerLine;
use docmill_core::clock::Timestamp;
use docmill_core::event::{EventBody, EventStatus, EventType};
use docmill_core::id::WorkerId;
use docmill_core::ports::store::NewWorker;
use serde_json::json;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};

use super::super::shared::worker::{kept_since, shown_since};
use super::row::{Columns, json as to_json, sql_error, text};
use super::tx::Tx;

pub(super) async fn register(tx: &mut Tx, worker: &NewWorker) -> Result<()> {
    query::<Postgres>(
        "INSERT INTO worker (worker_id, host, pid, slots, kinds, started_at, seen_at)
         VALUES ($1, $2, $3, $4, $5, $6, $6)
         ON CONFLICT (worker_id) DO UPDATE SET seen_at = excluded.seen_at",
    )
    .bind(worker.worker_id.0)
    .bind(text(&worker.host))
    .bind(i64::from(worker.pid))
    .bind(i64::from(worker.slots))
    .bind(to_json(&worker.kinds)?)
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("register a worker"))?;
    announce(tx, worker.worker_id, EventType::WorkerStarted, EventStatus::Success).await
}

/// Notes that a worker lives.
pub(super) const BEAT: &str = "UPDATE worker SET seen_at = $2 WHERE worker_id = $1";

pub(super) async fn retire(tx: &mut Tx, worker: WorkerId) -> Result<()> {
    remove(tx, &[worker], EventStatus::Success).await
}

/// Takes dead workers off the list.
pub(super) async fn forget(tx: &mut Tx, dead: &[WorkerId]) -> Result<()> {
    if dead.is_empty() { Ok(()) } else { remove(tx, dead, EventStatus::Error).await }
}

/// Takes those off the list that have not been seen for long and hold nothing: nobody else notices that a process of
/// another machine is gone.
pub(super) async fn forget_unseen(tx: &mut Tx) -> Result<()> {
    // One that notes at this moment that it lives keeps its row.
    let unseen = query::<Postgres>(
        "SELECT worker_id FROM worker w WHERE seen_at <= $1
           AND NOT EXISTS (SELECT 1 FROM task t WHERE t.state = 'running' AND t.owner = w.worker_id)
         ORDER BY worker_id FOR UPDATE SKIP LOCKED",
    )
    .bind(kept_since(tx.now))
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for workers"))?;
    let unseen: Vec<WorkerId> = unseen.iter().map(|row| Columns::new(row).worker()).collect::<Result<_>>()?;
    forget(tx, &unseen).await
}

async fn remove(tx: &mut Tx, workers: &[WorkerId], status: EventStatus) -> Result<()> {
    let removed = query::<Postgres>("DELETE FROM worker WHERE worker_id = ANY($1) RETURNING worker_id")
        .bind(workers.iter().map(|w| w.0).collect::<Vec<_>>())
        .fetch_all(tx.conn())
        .await
        .map_err(sql_error("retire workers"))?;
    for row in &removed {
        let worker = Columns::new(row).worker()?;
        announce(tx, worker, EventType::WorkerFinished, status).await?;
    }
    Ok(())
}

/// A worker serves every tenant, so every tenant hears of it.
async fn announce(tx: &mut Tx, worker: WorkerId, kind: EventType, status: EventStatus) -> Result<()> {
    let tenants = query::<Postgres>("SELECT tenant_id FROM tenant")
        .fetch_all(tx.conn())
        .await
        .map_err(sql_error("list tenants"))?;
    for row in &tenants {
        let detail = Some(json!({ "worker_id": worker }));
        let tenant = Columns::new(row).tenant()?;
        tx.event(tenant, EventBody { status, detail, ..EventBody::new(kind) });
    }
    Ok(())
}

/// Those that have been seen lately.
pub(super) async fn list(conn: &mut PgConnection, now: Timestamp) -> Result<Vec<WorkerLine>> {
    let rows = query::<Postgres>(
        "SELECT w.worker_id, host, pid, slots, kinds, started_at, seen_at,
           (SELECT count(*) FROM task t WHERE t.state = 'running' AND t.owner = w.worker_id)
         FROM worker w WHERE seen_at > $1 ORDER BY started_at, worker_id",
    )
    .bind(shown_since(now))
    .fetch_all(conn)
    .await
    .map_err(sql_error("list workers"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            let (worker_id, host, pid, slots) = (c.worker()?, c.get()?, c.int()?, c.int()?);
            let kinds = c.json_opt()?.unwrap_or_default();
            let (started_at, seen_at, running) = (c.time()?, c.time()?, c.count()?);
            let state = if running > 0 { "busy" } else { "free" }.into();
            Ok(WorkerLine { worker_id, host, pid, slots, running, state, kinds, started_at, seen_at })
        })
        .collect()
}
