//! Task rows: putting them in, many at once, and reading them back as leases.

use std::collections::HashMap;
use std::time::Duration;

use docmill_core::clock::Timestamp;
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, BlobKey, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId};
use docmill_core::ingestion::{IngestionEnd, IngestionStatus, Stage};
use docmill_core::problem::ResultCode;
use docmill_core::state::TaskState;
use docmill_core::task::{
    Attempts, Lease, NewTask, PRIORITY_STEP_MS, Size, Subject, SubjectDocument, TaskKind, order_key,
};
use docmill_core::{Error, Result, crash};
use sqlx_core::query::query;
use sqlx_postgres::{PgRow, Postgres};
use uuid::Uuid;

use super::finish::Ending;
use super::row::{Columns, sql_error, text, text_opt};
use super::tx::Tx;

/// What a new task belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belongs {
    pub(super) tenant_id: TenantId,
    pub(super) ingestion_id: IngestionId,
    pub(super) document_id: Option<DocumentId>,
    pub(super) batch_id: Option<BatchId>,
    pub(super) priority: u8,
}

/// How a new task begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin {
    /// In the queue, or held if its batch is paused. A part names its join.
    Queued { join: Option<TaskId> },
    /// As a join that waits for its parts.
    Waiting { parts: usize },
    /// Already leased: the continuation of a task on the same worker.
    Leased { worker: WorkerId, until: Timestamp },
}

/// A task that is written when the transaction ends.
#[derive(Debug)]
pub(super) struct TaskInsert {
    task_id: TaskId,
    belongs: Belongs,
    new: NewTask,
    begin: Begin,
    state: TaskState,
}

/// Adds a task and notes its event.
pub(super) async fn add(tx: &mut Tx, belongs: &Belongs, new: &NewTask, begin: Begin) -> Result<TaskId> {
    let state = match begin {
        Begin::Queued { .. } => tx.queued_or_held(belongs.batch_id)?,
        Begin::Waiting { .. } => TaskState::Waiting,
        Begin::Leased { .. } => TaskState::Running,
    };
    let task_id = tx.next_task().await?;
    tx.new_tasks.push(TaskInsert { task_id, belongs: *belongs, new: new.clone(), begin, state });
    tx.aftermath.work |= state == TaskState::Queued;
    tx.event(
        belongs.tenant_id,
        EventBody {
            batch_id: belongs.batch_id,
            document_id: belongs.document_id,
            ingestion_id: Some(belongs.ingestion_id),
            task_kind: Some(new.kind.clone()),
            ..EventBody::new(EventType::TaskAdded)
        },
    );
    Ok(task_id)
}

/// Writes the tasks that were added.
pub(super) async fn insert_gathered(tx: &mut Tx) -> Result<()> {
    let tasks = std::mem::take(&mut tx.new_tasks);
    if tasks.is_empty() {
        return Ok(());
    }
    let now = tx.now;
    let leased = |t: &TaskInsert| match t.begin {
        Begin::Leased { worker, until } => Some((worker, until)),
        Begin::Queued { .. } | Begin::Waiting { .. } => None,
    };
    query::<Postgres>(
        "INSERT INTO task (task_id, tenant_id, ingestion_id, batch_id, document_id, kind, stage, state, size, units,
           priority, run_at, order_key, epoch, owner, lease_until, lost, payload, join_id, open_parts, queued_at)
         SELECT u.task_id, u.tenant_id, u.ingestion_id, u.batch_id, u.document_id, u.kind, u.stage, u.state, u.size,
           u.units, u.priority, $1, u.order_key, u.epoch, u.owner, u.lease_until, u.epoch, u.payload, u.join_id,
           u.open_parts, $1
         FROM unnest($2::bigint[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[],
           $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::uuid[], $16::bigint[],
           $17::text[], $18::bigint[], $19::bigint[])
           AS u (task_id, tenant_id, ingestion_id, batch_id, document_id, kind, stage, state, size, units, priority,
             order_key, epoch, owner, lease_until, payload, join_id, open_parts)",
    )
    .bind(now.0)
    .bind(tasks.iter().map(|t| t.task_id.0).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| t.belongs.tenant_id.0).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| t.belongs.ingestion_id.0).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| t.belongs.batch_id.map(|b| b.0)).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| t.belongs.document_id.map(|d| d.0)).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| text(t.new.kind.as_str())).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| t.new.stage.name()).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| t.state.name()).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| t.new.size.name()).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| i64::from(t.new.units)).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| i64::from(t.belongs.priority)).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| order_key(now, t.belongs.priority)).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| i64::from(leased(t).is_some())).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| leased(t).map(|l| l.0.0)).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| leased(t).map(|l| l.1.0)).collect::<Vec<_>>())
    .bind(tasks.iter().map(|t| text_opt(t.new.payload.as_deref())).collect::<Vec<_>>())
    .bind(
        tasks
            .iter()
            .map(|t| if let Begin::Queued { join } = t.begin { join.map(|j| j.0) } else { None })
            .collect::<Vec<_>>(),
    )
    .bind(
        tasks
            .iter()
            .map(|t| if let Begin::Waiting { parts } = t.begin { Some(parts as i64) } else { None })
            .collect::<Vec<_>>(),
    )
    .execute(tx.conn())
    .await
    .map_err(sql_error("queue tasks"))?;
    crash::point("store.receive.task");
    Ok(())
}

/// What a lease is read from, in the order of [`read_lease`]. A task that has never failed has no error, and nobody looks
/// for its failures.
macro_rules! lease_columns {
    () => {
        "task_id, epoch, owner, lease_until, kind, stage, size, units, priority, attempt, size_attempt, lost, payload,
         CASE WHEN error IS NOT NULL THEN (SELECT min(f.at) FROM task_failure f
           WHERE f.task_id = task.task_id AND f.epoch > coalesce((SELECT max(d.epoch) FROM task_failure d
             WHERE d.task_id = task.task_id AND d.outcome = 'dead'), -1)) END, ingestion_id"
    };
}

pub(super) use lease_columns;

/// The owner of a task that is not leased.
const NOBODY: WorkerId = WorkerId(Uuid::nil());

/// A lease whose subject is still to be looked up.
pub(super) struct BareLease {
    pub(super) task_id: TaskId,
    pub(super) epoch: Epoch,
    pub(super) worker_id: WorkerId,
    pub(super) until: Timestamp,
    pub(super) kind: TaskKind,
    pub(super) stage: Stage,
    pub(super) size: Size,
    pub(super) units: u32,
    pub(super) priority: u8,
    pub(super) attempts: Attempts,
    pub(super) payload: Option<String>,
    pub(super) failing_since: Option<Timestamp>,
    pub(super) waited: Option<Duration>,
    pub(super) ingestion_id: IngestionId,
}

/// Reads a row of `lease_columns`.
pub(super) fn read_lease(row: &PgRow) -> Result<BareLease> {
    let mut c = Columns::new(row);
    Ok(BareLease {
        task_id: c.task()?,
        epoch: Epoch(c.get()?),
        worker_id: c.worker_opt()?.unwrap_or(NOBODY),
        until: c.time_opt()?.unwrap_or_default(),
        kind: c.word(|k| Some(TaskKind::stored(k)))?,
        stage: c.word(Stage::from_name)?,
        size: c.word(Size::from_name)?,
        units: c.int()?,
        priority: c.int()?,
        attempts: Attempts { total: c.int()?, in_size: c.int()?, lost: c.int()? },
        payload: c.get()?,
        failing_since: c.time_opt()?,
        waited: None,
        ingestion_id: c.ingestion()?,
    })
}

/// The lease that a task has which the transaction adds.
pub(super) fn new_lease(
    task_id: TaskId,
    belongs: &Belongs,
    new: &NewTask,
    worker_id: WorkerId,
    until: Timestamp,
) -> BareLease {
    BareLease {
        task_id,
        epoch: Epoch(1),
        worker_id,
        until,
        kind: new.kind.clone(),
        stage: new.stage,
        size: new.size,
        units: new.units,
        priority: belongs.priority,
        attempts: Attempts { total: 0, in_size: 0, lost: 1 },
        payload: new.payload.clone(),
        failing_since: None,
        waited: None,
        ingestion_id: belongs.ingestion_id,
    }
}

/// Looks up what the tasks are about, all at once, and keeps their order.
pub(super) async fn with_subjects(tx: &mut Tx, leases: Vec<BareLease>) -> Result<Vec<Lease>> {
    let subjects = subjects(tx, leases.iter().map(|l| l.ingestion_id)).await?;
    leases
        .into_iter()
        .map(|l| {
            let subject = subjects.get(&l.ingestion_id).cloned().ok_or_else(|| {
                Error::bug(format!("a task names ingestion {}, which is not there", l.ingestion_id))
            })?;
            Ok(Lease {
                task_id: l.task_id,
                epoch: l.epoch,
                worker_id: l.worker_id,
                until: l.until,
                kind: l.kind,
                stage: l.stage,
                size: l.size,
                units: l.units,
                priority: l.priority,
                attempts: l.attempts,
                payload: l.payload,
                failing_since: l.failing_since,
                waited: l.waited,
                subject,
            })
        })
        .collect()
}

async fn subjects(
    tx: &mut Tx,
    ingestions: impl Iterator<Item = IngestionId>,
) -> Result<HashMap<IngestionId, Subject>> {
    let mut ids: Vec<Uuid> = ingestions.map(|i| i.0).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = query::<Postgres>(
        "SELECT i.ingestion_id, i.tenant_id, i.batch_id, i.name, i.depth, i.media_type, i.duplicate, i.document_id,
           d.content_hash, d.blob_key, d.bytes
         FROM ingestion i LEFT JOIN document d ON d.document_id = i.document_id WHERE i.ingestion_id = ANY($1)",
    )
    .bind(ids)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("load ingestions"))?;
    let mut subjects = HashMap::with_capacity(rows.len());
    for row in &rows {
        let mut c = Columns::new(row);
        let (ingestion_id, tenant_id, batch_id, name) =
            (c.ingestion()?, c.tenant()?, c.batch_opt()?, c.get()?);
        let (depth, media_type, duplicate) = (c.int()?, c.get()?, c.flag()?);
        let document = match c.document_opt()? {
            Some(document_id) => Some(SubjectDocument {
                document_id,
                content_hash: c.hash()?,
                key: BlobKey::stored(c.get::<String>()?),
                bytes: c.count()?,
            }),
            None => None,
        };
        let subject =
            Subject { tenant_id, batch_id, ingestion_id, document, name, depth, media_type, duplicate };
        subjects.insert(ingestion_id, subject);
    }
    Ok(subjects)
}

/// A task as the writing verbs need it.
#[derive(Debug)]
pub(super) struct TaskRow {
    pub(super) task_id: TaskId,
    pub(super) state: TaskState,
    pub(super) epoch: Epoch,
    pub(super) owner: Option<WorkerId>,
    pub(super) reported_epoch: Option<i64>,
    pub(super) next_task_id: Option<i64>,
    pub(super) kind: TaskKind,
    pub(super) size: Size,
    pub(super) units: u32,
    pub(super) run_at: Timestamp,
    pub(super) attempt: u32,
    pub(super) size_attempt: u32,
    pub(super) join_id: Option<i64>,
    pub(super) belongs: Belongs,
}

/// Locks tasks, after their batches, and loads them. Numbers that no task has are left out.
pub(super) async fn lock(tx: &mut Tx, tasks: &[TaskId]) -> Result<HashMap<TaskId, TaskRow>> {
    let mut ids: Vec<i64> = tasks.iter().map(|t| t.0).collect();
    ids.sort_unstable();
    ids.dedup();
    // The batch of a task never changes, so it can be asked for before the task is locked.
    let batches = query::<Postgres>(
        "SELECT DISTINCT batch_id FROM task WHERE task_id = ANY($1) AND batch_id IS NOT NULL",
    )
    .bind(&ids)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("load tasks"))?;
    let batches: Vec<BatchId> = batches.iter().map(|r| Columns::new(r).batch()).collect::<Result<_>>()?;
    tx.lock_batches(batches).await?;
    let rows = query::<Postgres>(
        "SELECT task_id, state, epoch, owner, reported_epoch, next_task_id, kind, size, units, run_at, attempt,
           size_attempt, join_id, tenant_id, ingestion_id, document_id, batch_id, priority
         FROM task WHERE task_id = ANY($1) ORDER BY task_id FOR UPDATE",
    )
    .bind(&ids)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("load tasks"))?;
    rows.iter().map(|row| read_row(row).map(|r| (r.task_id, r))).collect()
}

fn read_row(row: &PgRow) -> Result<TaskRow> {
    let mut c = Columns::new(row);
    Ok(TaskRow {
        task_id: c.task()?,
        state: c.word(TaskState::from_name)?,
        epoch: Epoch(c.get()?),
        owner: c.worker_opt()?,
        reported_epoch: c.get()?,
        next_task_id: c.get()?,
        kind: c.word(|k| Some(TaskKind::stored(k)))?,
        size: c.word(Size::from_name)?,
        units: c.int()?,
        run_at: c.time()?,
        attempt: c.int()?,
        size_attempt: c.int()?,
        join_id: c.get()?,
        belongs: Belongs {
            tenant_id: c.tenant()?,
            ingestion_id: c.ingestion()?,
            document_id: c.document_opt()?,
            batch_id: c.batch_opt()?,
            priority: c.int()?,
        },
    })
}

impl TaskRow {
    /// Whether the holder of `epoch` still owns the task.
    pub(super) fn held_under(&self, epoch: Epoch) -> bool {
        self.state == TaskState::Running && self.epoch == epoch
    }
}

/// Cancels what is open of these ingestions, and the ingestions with it. Answers how many tasks it stopped.
pub(super) async fn cancel_open(tx: &mut Tx, ingestions: &[IngestionId]) -> Result<u64> {
    if ingestions.is_empty() {
        return Ok(0);
    }
    // Raising the epoch is what stops a running worker: nothing it reports is accepted any more.
    let stopped = query::<Postgres>(
        "UPDATE task SET state = 'cancelled', epoch = epoch + 1, owner = NULL, lease_until = NULL, finished_at = $2
         WHERE ingestion_id = ANY($1) AND state IN ('waiting', 'queued', 'held', 'running')",
    )
    .bind(ingestions.iter().map(|i| i.0).collect::<Vec<_>>())
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("cancel tasks"))?
    .rows_affected();
    for ingestion in ingestions {
        let end = IngestionEnd {
            status: IngestionStatus::Cancelled,
            result: ResultCode::Cancelled,
            error: None,
            skip_reason: None,
            problems: Vec::new(),
            needs_review: false,
        };
        tx.end(Ending { ingestion_id: *ingestion, end });
    }
    Ok(stopped)
}

/// Brings joins nearer by the parts that ended; the last one queues its join.
pub(super) async fn count_parts(tx: &mut Tx) -> Result<()> {
    let parts = std::mem::take(&mut tx.parts_ended);
    if parts.is_empty() {
        return Ok(());
    }
    // A join belongs to the batch of its parts, which is locked already, so it cannot be paused in between.
    let queued = query::<Postgres>(
        "UPDATE task t SET open_parts = t.open_parts - u.ended,
           state = CASE WHEN t.state = 'waiting' AND t.open_parts - u.ended <= 0
             THEN CASE WHEN b.paused THEN 'held' ELSE 'queued' END ELSE t.state END,
           run_at = CASE WHEN t.state = 'waiting' AND t.open_parts - u.ended <= 0 THEN $3 ELSE t.run_at END,
           order_key = CASE WHEN t.state = 'waiting' AND t.open_parts - u.ended <= 0
             THEN $3 + t.priority * $4 ELSE t.order_key END
         FROM unnest($1::bigint[], $2::bigint[]) AS u (task_id, ended)
           JOIN task j ON j.task_id = u.task_id LEFT JOIN batch b ON b.batch_id = j.batch_id
         WHERE t.task_id = u.task_id RETURNING t.state = 'queued'",
    )
    .bind(parts.keys().copied().collect::<Vec<_>>())
    .bind(parts.values().copied().collect::<Vec<_>>())
    .bind(tx.now.0)
    .bind(PRIORITY_STEP_MS)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("count parts"))?;
    for row in &queued {
        tx.aftermath.work |= Columns::new(row).flag()?;
    }
    Ok(())
}
