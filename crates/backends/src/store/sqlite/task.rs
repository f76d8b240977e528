//! Task rows: putting them in and reading them back as leases.

use std::collections::HashMap;

use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, BlobKey, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId};
use docmill_core::ingestion::{IngestionEnd, IngestionStatus, Stage};
use docmill_core::problem::ResultCode;
use docmill_core::state::TaskState;
use docmill_core::task::{Attempts, Lease, NewTask, Size, Subject, SubjectDocument, TaskKind, order_key};
use docmill_core::{Error, Result, crash};
use rusqlite::{OptionalExtension as _, Row, params};

use super::finish;
use super::row::{Columns, sql_error};
use super::tx::Tx;

/// What a new task belongs to.
#[derive(Clone, Copy)]
pub(super) struct Belongs {
    pub(super) tenant_id: TenantId,
    pub(super) ingestion_id: IngestionId,
    pub(super) document_id: Option<DocumentId>,
    pub(super) batch_id: Option<BatchId>,
    pub(super) priority: u8,
}

/// How a new task begins.
#[derive(Clone, Copy)]
pub(super) enum Begin {
    /// In the queue, or held if its batch is paused. A part names its join.
    Queued { join: Option<TaskId> },
    /// As a join that waits for its parts.
    Waiting { parts: usize },
    /// Already leased: the continuation of a task on the same worker.
    Leased { worker: WorkerId, until: i64 },
}

/// Inserts a task and notes its event.
pub(super) fn insert(tx: &mut Tx<'_>, belongs: &Belongs, new: &NewTask, begin: Begin) -> Result<TaskId> {
    let state = match begin {
        Begin::Queued { .. } => queued_or_held(tx, belongs.batch_id)?,
        Begin::Waiting { .. } => TaskState::Waiting,
        Begin::Leased { .. } => TaskState::Running,
    };
    let (owner, until, epoch) = match begin {
        Begin::Leased { worker, until } => (Some(worker), Some(until), 1),
        Begin::Queued { .. } | Begin::Waiting { .. } => (None, None, 0),
    };
    let join = if let Begin::Queued { join } = begin { join.map(|id| id.0) } else { None };
    let parts = if let Begin::Waiting { parts } = begin { Some(parts as i64) } else { None };
    let now = tx.now;
    let id = tx
        .sql(
            "INSERT INTO task (tenant_id, ingestion_id, batch_id, kind, stage, state, size, units, priority, run_at,
               order_key, epoch, owner, lease_until, lost, payload, join_id, open_parts, queued_at, document_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?12, ?15, ?16, ?17, ?10, ?18)",
        )?
        .insert(params![
            belongs.tenant_id.as_bytes(),
            belongs.ingestion_id.as_bytes(),
            belongs.batch_id.as_ref().map(BatchId::as_bytes),
            new.kind.as_str(),
            new.stage.name(),
            state.name(),
            new.size.name(),
            new.units,
            belongs.priority,
            now.0,
            order_key(now, belongs.priority),
            epoch,
            owner.as_ref().map(WorkerId::as_bytes),
            until,
            new.payload,
            join,
            parts,
            belongs.document_id.as_ref().map(DocumentId::as_bytes),
        ])
        .map_err(sql_error("queue a task"))?;
    crash::point("store.receive.task");
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
    Ok(TaskId(id))
}

/// Where a task of this batch waits.
pub(super) fn queued_or_held(tx: &mut Tx<'_>, batch: Option<BatchId>) -> Result<TaskState> {
    let Some(batch) = batch else { return Ok(TaskState::Queued) };
    if !tx.any_batch_paused()? {
        return Ok(TaskState::Queued);
    }
    let paused: Option<bool> = tx
        .sql("SELECT paused FROM batch WHERE batch_id = ?1")?
        .query_row([batch.as_bytes()], |r| r.get(0))
        .optional()
        .map_err(sql_error("look up a batch"))?;
    Ok(if paused == Some(true) { TaskState::Held } else { TaskState::Queued })
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

/// How many columns those are.
pub(super) const LEASE_COLUMNS: usize = 15;

/// The owner of a task that is not leased.
const NOBODY: WorkerId = WorkerId(uuid::Uuid::nil());

/// What tasks are about, remembered while many of one ingestion are claimed together.
#[derive(Default)]
pub(super) struct Subjects(HashMap<IngestionId, Subject>);

/// The lease on a running task, with all that its handler needs.
pub(super) fn lease(tx: &Tx<'_>, task: TaskId) -> Result<Option<Lease>> {
    let mut statement =
        tx.sql(concat!("SELECT ", lease_columns!(), " FROM task WHERE task_id = ?1 AND state = 'running'"))?;
    let mut rows = statement.query([task.0]).map_err(sql_error("load a task"))?;
    match rows.next().map_err(sql_error("load a task"))? {
        Some(row) => read_lease(tx, row, &mut Subjects::default()).map(Some),
        None => Ok(None),
    }
}

/// Reads a row of `lease_columns`.
pub(super) fn read_lease(tx: &Tx<'_>, row: &Row<'_>, subjects: &mut Subjects) -> Result<Lease> {
    let mut c = Columns::new(row);
    Ok(Lease {
        task_id: TaskId(c.get()?),
        epoch: Epoch(c.get()?),
        worker_id: c.worker_opt()?.unwrap_or(NOBODY),
        until: c.time_opt()?.unwrap_or_default(),
        kind: c.word(|k| Some(TaskKind::stored(k)))?,
        stage: c.word(Stage::from_name)?,
        size: c.word(Size::from_name)?,
        units: c.get()?,
        priority: c.get()?,
        attempts: Attempts { total: c.get()?, in_size: c.get()?, lost: c.get()? },
        payload: c.get()?,
        failing_since: c.time_opt()?,
        waited: None,
        subject: subjects.find(tx, c.ingestion()?)?,
    })
}

impl Subjects {
    fn find(&mut self, tx: &Tx<'_>, ingestion: IngestionId) -> Result<Subject> {
        if let Some(subject) = self.0.get(&ingestion) {
            return Ok(subject.clone());
        }
        let subject = subject(tx, ingestion)?;
        self.0.insert(ingestion, subject.clone());
        Ok(subject)
    }
}

fn subject(tx: &Tx<'_>, ingestion_id: IngestionId) -> Result<Subject> {
    let mut statement = tx.sql(
        "SELECT i.tenant_id, i.batch_id, i.name, i.depth, i.media_type, i.duplicate, i.document_id, d.content_hash,
           d.blob_key, d.bytes
         FROM ingestion i LEFT JOIN document d ON d.document_id = i.document_id WHERE i.ingestion_id = ?1",
    )?;
    let mut rows = statement.query([ingestion_id.as_bytes()]).map_err(sql_error("load an ingestion"))?;
    let Some(row) = rows.next().map_err(sql_error("load an ingestion"))? else {
        return Err(Error::bug(format!("a task names ingestion {ingestion_id}, which is not there")));
    };
    let mut c = Columns::new(row);
    let (tenant_id, batch_id, name) = (c.tenant()?, c.batch_opt()?, c.get()?);
    let (depth, media_type, duplicate) = (c.get()?, c.get()?, c.flag()?);
    let document = match c.document_opt()? {
        Some(document_id) => Some(SubjectDocument {
            document_id,
            content_hash: c.hash()?,
            key: BlobKey::stored(c.get::<String>()?),
            bytes: c.count()?,
        }),
        None => None,
    };
    Ok(Subject { tenant_id, batch_id, ingestion_id, document, name, depth, media_type, duplicate })
}

/// A task as the writing verbs need it.
pub(super) struct TaskRow {
    pub(super) state: TaskState,
    pub(super) epoch: Epoch,
    pub(super) owner: Option<WorkerId>,
    pub(super) reported_epoch: Option<i64>,
    pub(super) next_task_id: Option<i64>,
    pub(super) kind: TaskKind,
    pub(super) size: Size,
    pub(super) attempt: u32,
    pub(super) size_attempt: u32,
    pub(super) join_id: Option<i64>,
    pub(super) belongs: Belongs,
}

/// Loads a task; `None` if there is none of that number.
pub(super) fn load(tx: &Tx<'_>, task: TaskId) -> Result<Option<TaskRow>> {
    let mut statement = tx.sql(
        "SELECT state, epoch, owner, reported_epoch, next_task_id, kind, size, attempt, size_attempt, join_id, tenant_id,
           ingestion_id, document_id, batch_id, priority FROM task WHERE task_id = ?1",
    )?;
    let mut rows = statement.query([task.0]).map_err(sql_error("load a task"))?;
    let Some(row) = rows.next().map_err(sql_error("load a task"))? else { return Ok(None) };
    let mut c = Columns::new(row);
    Ok(Some(TaskRow {
        state: c.word(TaskState::from_name)?,
        epoch: Epoch(c.get()?),
        owner: c.worker_opt()?,
        reported_epoch: c.get()?,
        next_task_id: c.get()?,
        kind: c.word(|k| Some(TaskKind::stored(k)))?,
        size: c.word(Size::from_name)?,
        attempt: c.get()?,
        size_attempt: c.get()?,
        join_id: c.get()?,
        belongs: Belongs {
            tenant_id: c.tenant()?,
            ingestion_id: c.ingestion()?,
            document_id: c.document_opt()?,
            batch_id: c.batch_opt()?,
            priority: c.get()?,
        },
    }))
}

impl TaskRow {
    /// Whether the holder of `epoch` still owns the task.
    pub(super) fn held_under(&self, epoch: Epoch) -> bool {
        self.state == TaskState::Running && self.epoch == epoch
    }
}

/// Cancels what is open of an ingestion, and the ingestion with it. Answers how many tasks it stopped.
pub(super) fn cancel_open(tx: &mut Tx<'_>, ingestion: IngestionId) -> Result<usize> {
    // Raising the epoch is what stops a running worker: nothing it reports is accepted any more.
    let stopped = tx
        .sql(
            "UPDATE task SET state = 'cancelled', epoch = epoch + 1, owner = NULL, lease_until = NULL, finished_at = ?2
             WHERE ingestion_id = ?1 AND state IN ('waiting', 'queued', 'held', 'running')",
        )?
        .execute(params![ingestion.as_bytes(), tx.now.0])
        .map_err(sql_error("cancel tasks"))?;
    let end = IngestionEnd {
        status: IngestionStatus::Cancelled,
        result: ResultCode::Cancelled,
        error: None,
        skip_reason: None,
        problems: Vec::new(),
        needs_review: false,
    };
    finish::end(tx, ingestion, &end)?;
    Ok(stopped)
}

/// Brings a join nearer by so many parts; the last one queues it.
pub(super) fn parts_ended(tx: &mut Tx<'_>, join: TaskId, ended: i64) -> Result<()> {
    tx.sql("UPDATE task SET open_parts = open_parts - ?2 WHERE task_id = ?1")?
        .execute(params![join.0, ended])
        .map_err(sql_error("count parts"))?;
    let open: i64 = tx
        .sql("SELECT open_parts FROM task WHERE task_id = ?1")?
        .query_row([join.0], |r| r.get(0))
        .map_err(sql_error("count parts"))?;
    if open > 0 {
        return Ok(());
    }
    let Some(row) = load(tx, join)? else { return Ok(()) };
    let state = queued_or_held(tx, row.belongs.batch_id)?;
    let queued = tx
        .sql("UPDATE task SET state = ?2, run_at = ?3, order_key = ?4 WHERE task_id = ?1 AND state = 'waiting'")?
        .execute(params![join.0, state.name(), tx.now.0, order_key(tx.now, row.belongs.priority)])
        .map_err(sql_error("queue a join"))?;
    tx.aftermath.work |= queued > 0;
    Ok(())
}
