//! Taking work out of the queue: fair over tenants, ordered by priority and age within one.

use std::collections::HashMap;
use std::time::Duration;

use docmill_core::clock::Timestamp;
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, Epoch, TaskId, TenantId, WorkerId};
use docmill_core::ports::store::ClaimSpec;
use docmill_core::task::Lease;
use docmill_core::{Error, Result, crash};
use rusqlite::{OptionalExtension as _, Statement, params};

use super::super::shared::claim::{Candidate, Chosen, TENANTS_PER_CLAIM, Turn, Wanted};
use super::row::sql_error;
use super::task::{self, LEASE_COLUMNS, Subjects, lease_columns};
use super::tx::Tx;

/// Claims up to `spec.max_tasks`, a task a tenant in turn.
pub(super) fn claim(tx: &mut Tx<'_>, spec: &ClaimSpec, turn: &Turn) -> Result<Vec<Lease>> {
    let wanted = Wanted::new(spec, &paused_kinds(tx)?);
    let tenants = tenants(tx, spec, turn)?;
    let share = wanted.share(tenants.len());
    let mut found = Found::default();
    let mut queues = Vec::with_capacity(tenants.len());
    for tenant in tenants {
        queues.push((tenant, candidates(tx, tenant, &wanted, share, &mut found)?));
    }
    let (chosen, served) = wanted.choose(queues, tx.now);
    let mut take = tx.sql(TAKE)?;
    let mut leases = Vec::with_capacity(chosen.len());
    for Chosen { task_id, units, waited } in chosen {
        let lease = found.leases.remove(&task_id);
        let lease = lease.ok_or_else(|| Error::bug(format!("task {task_id} was chosen twice")))?;
        let lease = take_with(&mut take, lease, spec, tx.now)?;
        leases.push(Lease { units, waited: Some(waited), ..lease });
    }
    turn.served(served);
    note_started(tx, &leases)?;
    crash::point("store.claim.after");
    Ok(leases)
}

pub(super) fn paused_kinds(tx: &Tx<'_>) -> Result<Vec<String>> {
    tx.sql("SELECT kind FROM paused_kind")?
        .query_map([], |r| r.get(0))
        .and_then(Iterator::collect)
        .map_err(sql_error("look for paused kinds"))
}

/// A skip scan: one seek a tenant, however long its queue is.
pub(super) const NEXT_TENANT: &str =
    "SELECT tenant_id FROM task WHERE state = 'queued' AND tenant_id > ?1 ORDER BY tenant_id LIMIT 1";

/// The next tenant that has queued tasks, after the id `from`. `statement` is [`NEXT_TENANT`].
pub(super) fn next_tenant(statement: &mut Statement<'_>, from: &[u8]) -> Result<Option<TenantId>> {
    statement
        .query_row([from], |r| r.get::<_, [u8; 16]>(0))
        .optional()
        .map_err(sql_error("look for tenants"))?
        .map(|id| TenantId::from_slice(&id))
        .transpose()
}

/// Tenants that have queued tasks, beginning after the one that was served last.
fn tenants(tx: &Tx<'_>, spec: &ClaimSpec, turn: &Turn) -> Result<Vec<TenantId>> {
    if let Some(tenant) = spec.tenant_id {
        return Ok(vec![tenant]);
    }
    let start = turn.last();
    let mut after = tx.sql(NEXT_TENANT)?;
    let mut next = |from: &[u8]| next_tenant(&mut after, from);
    let mut found = Vec::new();
    let mut from: Vec<u8> = start.map(|t| t.as_bytes().to_vec()).unwrap_or_default();
    let mut wrapped = start.is_none();
    while found.len() < TENANTS_PER_CLAIM {
        match next(&from)? {
            Some(tenant) if found.first() == Some(&tenant) => break,
            Some(tenant) => {
                found.push(tenant);
                from = tenant.as_bytes().to_vec();
                if wrapped && Some(tenant) == start {
                    break;
                }
            }
            None if wrapped => break,
            None => {
                wrapped = true;
                from.clear();
            }
        }
    }
    Ok(found)
}

/// The tasks at the heads of queues, as leases that nobody has yet.
#[derive(Default)]
struct Found {
    leases: HashMap<TaskId, Lease>,
    subjects: Subjects,
}

/// The head of a tenant's queue over all kinds.
fn candidates(
    tx: &Tx<'_>,
    tenant: TenantId,
    wanted: &Wanted,
    share: usize,
    found: &mut Found,
) -> Result<Vec<Candidate>> {
    let mut all = Vec::new();
    for (place, (kind, max)) in wanted.kinds.iter().enumerate() {
        let limit = share.min(*max);
        let mut statement = tx.sql(concat!(
            "SELECT ",
            lease_columns!(),
            ", order_key, run_at FROM task
             WHERE state = 'queued' AND tenant_id = ?1 AND kind = ?2 AND run_at <= ?3
             ORDER BY order_key, task_id LIMIT ?4",
        ))?;
        let mut rows = statement
            .query(params![tenant.as_bytes(), kind, tx.now.0, limit as i64])
            .map_err(sql_error("look for work"))?;
        while let Some(row) = rows.next().map_err(sql_error("look for work"))? {
            let lease = task::read_lease(tx, row, &mut found.subjects)?;
            // By their places: looking a name up compares it with the names of all columns, for each row.
            let column = |at| row.get(at).map_err(sql_error("look for work"));
            let (order_key, run_at) = (column(LEASE_COLUMNS)?, Timestamp(column(LEASE_COLUMNS + 1)?));
            let (task_id, units, lost) = (lease.task_id, lease.units, lease.attempts.lost);
            all.push(Candidate { task_id, kind: place, units, lost, order_key, run_at });
            found.leases.insert(task_id, lease);
        }
    }
    Ok(all)
}

/// Nothing else writes between the look at the queue and this, so the task is still queued; and a plain UPDATE spares
/// the temporary table that returning the row needs.
const TAKE: &str = "UPDATE task SET state = 'running', epoch = ?2, owner = ?3, lease_until = ?4, lost = ?5
     WHERE task_id = ?1 AND state = 'queued'";

/// Gives a queued task to the worker that asks. `statement` is [`TAKE`].
fn take_with(
    statement: &mut Statement<'_>,
    mut lease: Lease,
    spec: &ClaimSpec,
    now: Timestamp,
) -> Result<Lease> {
    lease.epoch = Epoch(lease.epoch.0 + 1);
    // Claims without a report are counted: that is what stops a task that takes its worker down with it.
    lease.attempts.lost += 1;
    (lease.worker_id, lease.until) = (spec.worker_id, now.plus(spec.lease));
    let taken = statement
        .execute(params![
            lease.task_id.0,
            lease.epoch.0,
            spec.worker_id.as_bytes(),
            lease.until.0,
            lease.attempts.lost
        ])
        .map_err(sql_error("claim a task"))?;
    if taken == 1 {
        Ok(lease)
    } else {
        Err(Error::bug(format!("task {} left the queue by itself", lease.task_id)))
    }
}

/// JOB_STARTED, once a batch.
fn note_started(tx: &mut Tx<'_>, leases: &[Lease]) -> Result<()> {
    let mut batches: Vec<(BatchId, TenantId)> =
        leases.iter().filter_map(|l| Some((l.subject.batch_id?, l.subject.tenant_id))).collect();
    batches.sort_unstable();
    batches.dedup();
    for (batch, tenant) in batches {
        let started = tx
            .sql("UPDATE batch SET started_at = ?2 WHERE batch_id = ?1 AND started_at IS NULL")?
            .execute(params![batch.as_bytes(), tx.now.0])
            .map_err(sql_error("start a batch"))?;
        if started > 0 {
            tx.event(tenant, EventBody { batch_id: Some(batch), ..EventBody::new(EventType::JobStarted) });
        }
    }
    Ok(())
}

/// Prolongs what is still held; answers what is not.
pub(super) fn renew(
    tx: &mut Tx<'_>,
    worker: WorkerId,
    held: &[(TaskId, Epoch)],
    lease: Duration,
) -> Result<Vec<TaskId>> {
    let until = tx.now.plus(lease);
    let mut statement = tx.sql(
        "UPDATE task SET lease_until = ?4 WHERE task_id = ?1 AND epoch = ?2 AND owner = ?3 AND state = 'running'",
    )?;
    let mut lost = Vec::new();
    for (task, epoch) in held {
        let renewed = statement
            .execute(params![task.0, epoch.0, worker.as_bytes(), until.0])
            .map_err(sql_error("renew a lease"))?;
        if renewed == 0 {
            lost.push(*task);
        }
    }
    Ok(lost)
}

/// Hands work back untouched: no attempt, no loss.
pub(super) fn release(tx: &mut Tx<'_>, held: &[(TaskId, Epoch)]) -> Result<u64> {
    let mut released = 0;
    for (task, epoch) in held {
        let Some(row) = task::load(tx, *task)? else { continue };
        if !row.held_under(*epoch) {
            continue;
        }
        let state = task::queued_or_held(tx, row.belongs.batch_id)?;
        tx.sql(
            "UPDATE task SET state = ?2, owner = NULL, lease_until = NULL, lost = max(0, lost - 1) WHERE task_id = ?1",
        )?
        .execute(params![task.0, state.name()])
        .map_err(sql_error("release a task"))?;
        released += 1;
    }
    tx.aftermath.work |= released > 0;
    Ok(released)
}
