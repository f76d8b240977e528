//! Taking work out of the queue: fair over tenants, ordered by priority and age within one.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, Epoch, TaskId, TenantId, WorkerId};
use docmill_core::ports::store::ClaimSpec;
use docmill_core::task::Lease;
use docmill_core::{Result, crash};
use rusqlite::{OptionalExtension as _, params};

use super::row::sql_error;
use super::task;
use super::tx::Tx;

/// A claim looks at so many tenants; the next claim goes on with those after them.
const TENANTS_PER_CLAIM: usize = 64;

/// A task that is too large for the free capacity is passed over by smaller ones for so long; then the worker
/// drains for it, so that it is not passed over for ever.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where the round over tenants stands. It is a hint: losing it costs nothing.
#[derive(Default)]
pub(super) struct Turn(Mutex<Option<TenantId>>);

struct Candidate {
    task: i64,
    order_key: i64,
    run_at: i64,
    units: u32,
}

/// Claims up to `spec.max_tasks`, a task a tenant in turn.
pub(super) fn claim(tx: &mut Tx<'_>, spec: &ClaimSpec, turn: &Turn) -> Result<Vec<Lease>> {
    let paused = paused_kinds(tx)?;
    let tenants = tenants(tx, spec, turn)?;
    let mut kinds_left: Vec<(&str, usize)> = spec
        .kinds
        .iter()
        .filter(|(kind, max)| *max > 0 && !paused.iter().any(|p| p == kind.as_str()))
        .map(|(kind, max)| (kind.as_str(), *max))
        .collect();
    // Enough of each tenant that the round below rarely runs dry before the claim is full.
    let share = (2 * spec.max_tasks).div_ceil(tenants.len().max(1)).min(spec.max_tasks);
    let mut queues = Vec::with_capacity(tenants.len());
    for tenant in &tenants {
        queues.push((*tenant, candidates(tx, *tenant, &kinds_left, share)?));
    }
    let mut units_left = spec.units;
    let mut leases = Vec::new();
    let mut last_served = None;
    'rounds: while leases.len() < spec.max_tasks && queues.iter().any(|(_, q)| !q.is_empty()) {
        for (tenant, queue) in &mut queues {
            let Some((kind, candidate)) = queue.pop_front() else { continue };
            let Some(left) = kinds_left.get_mut(kind).filter(|k| k.1 > 0) else { continue };
            let oversized = spec.idle && leases.is_empty();
            if candidate.units > units_left && !oversized {
                if tx.now.0 - candidate.run_at > PATIENCE.as_millis() as i64 {
                    break 'rounds;
                }
                continue;
            }
            if let Some(lease) = take(tx, TaskId(candidate.task), spec)? {
                left.1 -= 1;
                units_left = units_left.saturating_sub(lease.units);
                leases.push(lease);
                last_served = Some(*tenant);
            }
            if leases.len() >= spec.max_tasks {
                break 'rounds;
            }
        }
    }
    if let Some(tenant) = last_served {
        *turn.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(tenant);
    }
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

/// Tenants that have queued tasks, beginning after the one that was served last.
fn tenants(tx: &Tx<'_>, spec: &ClaimSpec, turn: &Turn) -> Result<Vec<TenantId>> {
    if let Some(tenant) = spec.tenant_id {
        return Ok(vec![tenant]);
    }
    let start = *turn.0.lock().unwrap_or_else(PoisonError::into_inner);
    // A skip scan: one seek a tenant, however long its queue is.
    let mut after = tx.sql(
        "SELECT tenant_id FROM task WHERE state = 'queued' AND tenant_id > ?1 ORDER BY tenant_id LIMIT 1",
    )?;
    let mut next = |from: &[u8]| -> Result<Option<TenantId>> {
        after
            .query_row([from], |r| r.get::<_, [u8; 16]>(0))
            .optional()
            .map_err(sql_error("look for tenants"))?
            .map(|id| TenantId::from_slice(&id))
            .transpose()
    };
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

/// The head of a tenant's queue over all kinds, in order. The number is the kind's place in `kinds`.
fn candidates(
    tx: &Tx<'_>,
    tenant: TenantId,
    kinds: &[(&str, usize)],
    share: usize,
) -> Result<VecDeque<(usize, Candidate)>> {
    let mut all = Vec::new();
    for (place, (kind, max)) in kinds.iter().enumerate() {
        let limit = share.min(*max);
        let mut statement = tx.sql(
            "SELECT task_id, order_key, run_at, units FROM task
             WHERE state = 'queued' AND tenant_id = ?1 AND kind = ?2 AND run_at <= ?3
             ORDER BY order_key, task_id LIMIT ?4",
        )?;
        let rows = statement
            .query_map(params![tenant.as_bytes(), kind, tx.now.0, limit as i64], |r| {
                Ok(Candidate { task: r.get(0)?, order_key: r.get(1)?, run_at: r.get(2)?, units: r.get(3)? })
            })
            .map_err(sql_error("look for work"))?;
        for row in rows {
            all.push((place, row.map_err(sql_error("look for work"))?));
        }
    }
    all.sort_by_key(|(_, c)| (c.order_key, c.task));
    Ok(all.into())
}

fn take(tx: &mut Tx<'_>, task: TaskId, spec: &ClaimSpec) -> Result<Option<Lease>> {
    let until = tx.now.plus(spec.lease);
    // `lost` counts claims without a report: it is what stops a task that takes its worker down with it.
    tx.sql(
        "UPDATE task SET state = 'running', epoch = epoch + 1, owner = ?2, lease_until = ?3, lost = lost + 1
         WHERE task_id = ?1 AND state = 'queued'",
    )?
    .execute(params![task.0, spec.worker_id.as_bytes(), until.0])
    .map_err(sql_error("claim a task"))?;
    task::lease(tx, task)
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
