//! Taking work out of the queue: fair over tenants, ordered by priority and age within one, never waiting for
//! another claim.

use std::collections::{BTreeSet, HashMap};

use docmill_core::id::{BatchId, Epoch, TaskId, TenantId};
use docmill_core::ports::store::ClaimSpec;
use docmill_core::state::TaskState;
use docmill_core::task::Lease;
use docmill_core::{Error, Result, crash};
use sqlx_core::query::query;
use sqlx_postgres::Postgres;
use uuid::Uuid;

use super::super::shared::claim::{Candidate, Chosen, TENANTS_PER_CLAIM, Turn, Wanted};
use super::heads::{Head, Heads, Looked};
use super::row::{Columns, sql_error};
use super::task::{self, BareLease, lease_columns};
use super::tx::Tx;

/// A skip scan over the tenants that have queued tasks, beginning after `$1` and then from the start: one seek a
/// tenant, however long its queue is. At most `$2` of them.
macro_rules! tenants_in_turn {
    () => {
        "WITH RECURSIVE later (tenant_id, n) AS (
           (SELECT tenant_id, 1::bigint FROM task WHERE state = 'queued' AND tenant_id > $1 ORDER BY tenant_id LIMIT 1)
           UNION ALL
           SELECT next.tenant_id, later.n + 1 FROM later CROSS JOIN LATERAL (
             SELECT t.tenant_id FROM task t WHERE t.state = 'queued' AND t.tenant_id > later.tenant_id
             ORDER BY t.tenant_id LIMIT 1) AS next
           WHERE later.n < $2
         ), earlier (tenant_id, n) AS (
           (SELECT tenant_id, 1::bigint FROM task WHERE state = 'queued' AND tenant_id <= $1 ORDER BY tenant_id LIMIT 1)
           UNION ALL
           SELECT next.tenant_id, earlier.n + 1 FROM earlier CROSS JOIN LATERAL (
             SELECT t.tenant_id FROM task t
             WHERE t.state = 'queued' AND t.tenant_id > earlier.tenant_id AND t.tenant_id <= $1
             ORDER BY t.tenant_id LIMIT 1) AS next
           WHERE earlier.n < $2
         ), tenants (tenant_id, place) AS (
           SELECT tenant_id, n FROM later UNION ALL SELECT tenant_id, $2 + n FROM earlier ORDER BY 2 LIMIT $2)"
    };
}

pub(super) use tenants_in_turn;

/// Claims up to `spec.max_tasks`, a task a tenant in turn.
pub(super) async fn claim(tx: &mut Tx, spec: &ClaimSpec, turn: &Turn, heads: &Heads) -> Result<Vec<Lease>> {
    let began = tx.monotonic();
    let kinds = || spec.kinds.iter().map(|(kind, _)| kind);
    let known = heads.known(&kinds(), spec.tenant_id, began);
    let around = match &known {
        Some(known) => Around { paused: tx.paused_kinds().await?, ..Around::of(known, turn.last()) },
        None => look_around(tx, spec, turn).await?,
    };
    let wanted = Wanted::new(spec, &around.paused);
    let queues = around.queues(&wanted, known.as_deref());
    let candidates = candidates(tx, &wanted, around.tenants, &queues).await?;
    if known.is_none() {
        let took = tx.monotonic().saturating_sub(began);
        heads.looked(kinds(), spec.tenant_id, Looked { at: began, took, dead_rows: around.dead_rows });
    }
    heads.found(candidates.heads.into_iter());
    let (chosen, last_served) = wanted.choose(candidates.by_tenant, tx.now);
    turn.served(last_served);
    let leases = take(tx, spec, &chosen).await?;
    let leases = task::with_subjects(tx, leases).await?;
    note_started(tx, &leases).await?;
    crash::point("store.claim.after");
    Ok(leases)
}

/// What a claim may choose from.
struct Around {
    /// Kinds that are paused.
    paused: Vec<String>,
    /// Tenants that have queued tasks, beginning after the one served last.
    tenants: Vec<TenantId>,
    /// Of the tasks; an estimate.
    dead_rows: i64,
}

impl Around {
    /// The tenants of these queues.
    fn of(known: &[Head], last: Option<TenantId>) -> Self {
        let tenants: BTreeSet<TenantId> = known.iter().map(|head| head.tenant_id).collect();
        let (earlier, later): (Vec<_>, Vec<_>) = tenants.into_iter().partition(|t| Some(*t) <= last);
        let tenants = later.into_iter().chain(earlier).take(TENANTS_PER_CLAIM).collect();
        Self { paused: Vec::new(), tenants, dead_rows: 0 }
    }

    /// The queues to look into, by the place of their tenant.
    fn queues(&self, wanted: &Wanted, known: Option<&[Head]>) -> Vec<Queue> {
        let share = wanted.share(self.tenants.len());
        let mut queues = Vec::with_capacity(self.tenants.len() * wanted.kinds.len());
        for (tenant, tenant_id) in self.tenants.iter().enumerate() {
            for (kind, (name, most)) in wanted.kinds.iter().enumerate() {
                let from = match known {
                    None => Some(i64::MIN),
                    Some(known) => {
                        known.iter().find(|h| h.tenant_id == *tenant_id && h.kind == *name).map(|h| h.key)
                    }
                };
                queues.extend(from.map(|from| Queue { tenant, kind, most: (*most).min(share) as i64, from }));
            }
        }
        queues
    }
}

/// A queue of one tenant and one kind, by their places, and how much of it is looked at.
struct Queue {
    tenant: usize,
    kind: usize,
    most: i64,
    from: i64,
}

/// Looks for tenants that have queued tasks, and for kinds that are paused.
async fn look_around(tx: &mut Tx, spec: &ClaimSpec, turn: &Turn) -> Result<Around> {
    let row = query::<Postgres>(concat!(
        tenants_in_turn!(),
        " SELECT ARRAY(SELECT kind FROM paused_kind), ARRAY(SELECT tenant_id FROM tenants ORDER BY place),
           pg_stat_get_dead_tuples('task'::regclass)"
    ))
    .bind(turn.last().map_or(Uuid::nil(), |t| t.0))
    // A worker of one tenant need not look for others.
    .bind(if spec.tenant_id.is_some() { 1 } else { TENANTS_PER_CLAIM as i64 })
    .fetch_one(tx.conn())
    .await
    .map_err(sql_error("look for tenants"))?;
    let mut c = Columns::new(&row);
    let (paused, tenants) = (c.get()?, c.get::<Vec<Uuid>>()?);
    let tenants = match spec.tenant_id {
        Some(only) => vec![only],
        None => tenants.into_iter().map(TenantId).collect(),
    };
    Ok(Around { paused, tenants, dead_rows: c.get()? })
}

/// The heads of queues, by tenant.
struct Candidates {
    by_tenant: Vec<(TenantId, Vec<Candidate>)>,
    heads: Vec<Head>,
}

/// The heads of the queues. They are locked, so that no other claim takes them; one that another claim looks at is
/// passed over instead of waited for.
async fn candidates(
    tx: &mut Tx,
    wanted: &Wanted,
    tenants: Vec<TenantId>,
    queues: &[Queue],
) -> Result<Candidates> {
    let mut found = Candidates {
        by_tenant: tenants.into_iter().map(|tenant| (tenant, Vec::new())).collect(),
        heads: Vec::new(),
    };
    if queues.is_empty() {
        return Ok(found);
    }
    let tenant_of = |q: &Queue| found.by_tenant.get(q.tenant).map_or(Uuid::nil(), |t| t.0.0);
    let kind_of = |q: &Queue| wanted.kinds.get(q.kind).map_or("", |k| k.0.as_str());
    // A queue begins at its first task that can be seen, also if another claim holds it or it is not due yet.
    let rows = query::<Postgres>(
        "SELECT q.place, h.order_key, t.task_id, t.units, t.lost, t.order_key, t.run_at
         FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[]) WITH ORDINALITY
             AS q (tenant_id, kind, most, start, place)
           CROSS JOIN LATERAL (
             SELECT order_key FROM task
             WHERE state = 'queued' AND tenant_id = q.tenant_id AND kind = q.kind AND order_key >= q.start
             ORDER BY order_key LIMIT 1) AS h
           CROSS JOIN LATERAL (
             SELECT task_id, units, lost, order_key, run_at FROM task
             WHERE state = 'queued' AND tenant_id = q.tenant_id AND kind = q.kind AND order_key >= h.order_key
               AND run_at <= $5
             ORDER BY order_key, task_id LIMIT q.most FOR UPDATE SKIP LOCKED) AS t",
    )
    .bind(queues.iter().map(tenant_of).collect::<Vec<_>>())
    .bind(queues.iter().map(kind_of).collect::<Vec<_>>())
    .bind(queues.iter().map(|q| q.most).collect::<Vec<_>>())
    .bind(queues.iter().map(|q| q.from).collect::<Vec<_>>())
    .bind(tx.now.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for work"))?;
    let mut last_place = 0;
    for row in &rows {
        let mut c = Columns::new(row);
        let (place, key): (usize, i64) = (c.int()?, c.get()?);
        let Some(queue) = queues.get(place.saturating_sub(1)) else { continue };
        let candidate = Candidate {
            kind: queue.kind,
            task_id: c.task()?,
            units: c.int()?,
            lost: c.int()?,
            order_key: c.get()?,
            run_at: c.time()?,
        };
        let Some((tenant_id, candidates)) = found.by_tenant.get_mut(queue.tenant) else { continue };
        candidates.push(candidate);
        if place != last_place {
            last_place = place;
            found.heads.push(Head { tenant_id: *tenant_id, kind: kind_of(queue).to_owned(), key });
        }
    }
    Ok(found)
}

/// Gives locked tasks to the worker that asks.
async fn take(tx: &mut Tx, spec: &ClaimSpec, chosen: &[Chosen]) -> Result<Vec<BareLease>> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    // Claims without a report are counted: that is what stops a task that takes its worker down with it.
    let rows = query::<Postgres>(concat!(
        "UPDATE task SET state = 'running', epoch = epoch + 1, owner = $2, lease_until = $3, lost = lost + 1
         WHERE task_id = ANY($1) RETURNING ",
        lease_columns!()
    ))
    .bind(chosen.iter().map(|c| c.task_id.0).collect::<Vec<_>>())
    .bind(spec.worker_id.0)
    .bind(tx.now.plus(spec.lease).0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("claim tasks"))?;
    let mut taken: HashMap<TaskId, BareLease> = HashMap::with_capacity(rows.len());
    for row in &rows {
        let lease = task::read_lease(row)?;
        taken.insert(lease.task_id, lease);
    }
    chosen
        .iter()
        .map(|c| {
            let mut lease = taken
                .remove(&c.task_id)
                .ok_or_else(|| Error::bug(format!("task {} left the queue by itself", c.task_id)))?;
            lease.units = c.units;
            lease.waited = Some(c.waited);
            Ok(lease)
        })
        .collect()
}

/// Leaves a note for the sequencer about batches of which this is the first claim: it alone writes the totals of
/// batches, and it tells JOB_STARTED once.
async fn note_started(tx: &mut Tx, leases: &[Lease]) -> Result<()> {
    let mut batches: Vec<(BatchId, TenantId)> =
        leases.iter().filter_map(|l| Some((l.subject.batch_id?, l.subject.tenant_id))).collect();
    batches.sort_unstable();
    batches.dedup();
    if batches.is_empty() {
        return Ok(());
    }
    let rows =
        query::<Postgres>("SELECT batch_id FROM batch WHERE batch_id = ANY($1) AND started_at IS NULL")
            .bind(batches.iter().map(|b| b.0.0).collect::<Vec<_>>())
            .fetch_all(tx.conn())
            .await
            .map_err(sql_error("look for new batches"))?;
    for row in &rows {
        let id = Columns::new(row).batch()?;
        if let Some((_, tenant)) = batches.iter().find(|b| b.0 == id) {
            tx.batch_changes(*tenant, id).started = true;
        }
    }
    Ok(())
}

/// Hands work back untouched: no attempt, no loss.
pub(super) async fn release(tx: &mut Tx, held: &[(TaskId, Epoch)]) -> Result<u64> {
    let ids: Vec<TaskId> = held.iter().map(|h| h.0).collect();
    let rows = task::lock(tx, &ids).await?;
    let mut back: HashMap<TaskId, TaskState> = HashMap::new();
    for (task, epoch) in held {
        if let Some(row) = rows.get(task).filter(|r| r.held_under(*epoch)) {
            back.insert(*task, tx.queued_or_held(row.belongs.batch_id)?);
        }
    }
    if back.is_empty() {
        return Ok(0);
    }
    query::<Postgres>(
        "UPDATE task t SET state = u.state, owner = NULL, lease_until = NULL, lost = greatest(0, t.lost - 1)
         FROM unnest($1::bigint[], $2::text[]) AS u (task_id, state) WHERE t.task_id = u.task_id",
    )
    .bind(back.keys().map(|t| t.0).collect::<Vec<_>>())
    .bind(back.values().map(|s| s.name()).collect::<Vec<_>>())
    .execute(tx.conn())
    .await
    .map_err(sql_error("release tasks"))?;
    tx.aftermath.work = true;
    Ok(back.len() as u64)
}

/// Prolongs what is still held by `$3`; answers the pairs that are.
pub(super) const RENEW: &str = "
    WITH held AS (
      SELECT t.task_id FROM task t JOIN unnest($1::bigint[], $2::bigint[]) AS u (task_id, epoch)
        ON t.task_id = u.task_id AND t.epoch = u.epoch
      WHERE t.owner = $3 AND t.state = 'running' ORDER BY t.task_id FOR UPDATE OF t)
    UPDATE task SET lease_until = $4 FROM held
    WHERE task.task_id = held.task_id AND task.owner = $3 AND task.state = 'running'
    RETURNING task.task_id, task.epoch";

/// Which of `asked` were not `renewed`, in their order.
pub(super) fn lost(asked: &[(TaskId, Epoch)], renewed: &[(TaskId, Epoch)]) -> Vec<TaskId> {
    asked.iter().filter(|pair| !renewed.contains(pair)).map(|pair| pair.0).collect()
}
