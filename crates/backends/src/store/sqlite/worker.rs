//! Who works where.

use docmill_core::Result;
use docmill_core::answer::WorkerLine;
use docmill_core::clock::Timestamp;
use docmill_core::event::{EventBody, EventStatus, EventType};
use docmill_core::id::{TenantId, WorkerId};
use docmill_core::ports::store::NewWorker;
use rusqlite::{Connection, params};
use serde_json::json;

use super::super::shared::worker::{kept_since, shown_since};
use super::row::{Columns, json as to_json, sql_error};
use super::tx::Tx;

pub(super) fn register(tx: &mut Tx<'_>, worker: &NewWorker) -> Result<()> {
    tx.sql(
        "INSERT INTO worker (worker_id, host, pid, slots, kinds, started_at, seen_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
         ON CONFLICT (worker_id) DO UPDATE SET seen_at = excluded.seen_at",
    )?
    .execute(params![
        worker.worker_id.as_bytes(),
        worker.host,
        worker.pid,
        worker.slots,
        to_json(&worker.kinds)?,
        tx.now.0
    ])
    .map_err(sql_error("register a worker"))?;
    announce(tx, worker.worker_id, EventType::WorkerStarted, EventStatus::Success)
}

/// Notes that a worker lives; false if it is not on the list.
pub(super) fn beat(tx: &Tx<'_>, worker: WorkerId) -> Result<bool> {
    let noted = tx
        .sql("UPDATE worker SET seen_at = ?2 WHERE worker_id = ?1")?
        .execute(params![worker.as_bytes(), tx.now.0])
        .map_err(sql_error("note a worker"))?;
    Ok(noted > 0)
}

pub(super) fn retire(tx: &mut Tx<'_>, worker: WorkerId) -> Result<()> {
    remove(tx, worker, EventStatus::Success)
}

/// Takes dead workers off the list.
pub(super) fn forget(tx: &mut Tx<'_>, dead: &[WorkerId]) -> Result<()> {
    dead.iter().try_for_each(|worker| remove(tx, *worker, EventStatus::Error))
}

/// Takes those off the list that have not been seen for long and hold nothing: nobody else notices that a process of
/// another machine is gone.
pub(super) fn forget_unseen(tx: &mut Tx<'_>) -> Result<()> {
    let unseen: Vec<[u8; 16]> = tx
        .sql(
            "SELECT worker_id FROM worker w WHERE seen_at <= ?1
               AND NOT EXISTS (SELECT 1 FROM task t WHERE t.state = 'running' AND t.owner = w.worker_id)",
        )?
        .query_map([kept_since(tx.now)], |r| r.get(0))
        .and_then(Iterator::collect)
        .map_err(sql_error("look for workers"))?;
    unseen.iter().try_for_each(|id| remove(tx, WorkerId::from_slice(id)?, EventStatus::Error))
}

fn remove(tx: &mut Tx<'_>, worker: WorkerId, status: EventStatus) -> Result<()> {
    let removed = tx
        .sql("DELETE FROM worker WHERE worker_id = ?1")?
        .execute([worker.as_bytes()])
        .map_err(sql_error("retire a worker"))?;
    if removed > 0 { announce(tx, worker, EventType::WorkerFinished, status) } else { Ok(()) }
}

/// A worker serves every tenant, so every tenant hears of it.
fn announce(tx: &mut Tx<'_>, worker: WorkerId, kind: EventType, status: EventStatus) -> Result<()> {
    let tenants: Vec<[u8; 16]> = tx
        .sql("SELECT tenant_id FROM tenant")?
        .query_map([], |r| r.get(0))
        .and_then(Iterator::collect)
        .map_err(sql_error("list tenants"))?;
    for tenant in tenants {
        let detail = Some(json!({ "worker_id": worker }));
        tx.event(TenantId::from_slice(&tenant)?, EventBody { status, detail, ..EventBody::new(kind) });
    }
    Ok(())
}

/// Those that have been seen lately.
pub(super) fn list(conn: &Connection, now: Timestamp) -> Result<Vec<WorkerLine>> {
    let mut statement = conn
        .prepare_cached(
            "SELECT w.worker_id, host, pid, slots, kinds, started_at, seen_at,
               (SELECT count(*) FROM task t WHERE t.state = 'running' AND t.owner = w.worker_id)
             FROM worker w WHERE seen_at > ?1 ORDER BY started_at",
        )
        .map_err(sql_error("list workers"))?;
    let mut rows = statement.query([shown_since(now)]).map_err(sql_error("list workers"))?;
    let mut workers = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("list workers"))? {
        let mut c = Columns::new(row);
        let (worker_id, host, pid, slots) = (c.worker()?, c.get()?, c.get()?, c.get()?);
        let kinds = c.json_opt()?.unwrap_or_default();
        let (started_at, seen_at, running) = (c.time()?, c.time()?, c.count()?);
        let state = if running > 0 { "busy" } else { "free" }.into();
        workers.push(WorkerLine { worker_id, host, pid, slots, running, state, kinds, started_at, seen_at });
    }
    Ok(workers)
}
