//! Task rows: putting them in and reading them back as leases.

use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, BlobKey, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId};
use docmill_core::ingestion::{IngestionEnd, IngestionStatus, Stage};
use docmill_core::problem::ResultCode;
use docmill_core::state::TaskState;
use docmill_core::task::{Attempts, Lease, NewTask, Size, Subject, SubjectDocument, TaskKind, order_key};
use docmill_core::{Result, crash};
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
               order_key, epoch, owner, lease_until, lost, payload, join_id, open_parts, queued_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?12, ?15, ?16, ?17, ?10)",
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

const LEASE_COLUMNS: &str =
    "t.task_id, t.epoch, t.owner, t.lease_until, t.kind, t.stage, t.size, t.units, t.priority,
    t.attempt, t.size_attempt, t.lost, t.payload, t.queued_at, t.tenant_id, t.batch_id, t.ingestion_id,
    i.name, i.depth, i.media_type, i.duplicate, i.document_id, d.content_hash, d.blob_key, d.bytes
  FROM task t JOIN ingestion i ON i.ingestion_id = t.ingestion_id
  LEFT JOIN document d ON d.document_id = i.document_id";

/// The lease on a running task, with all that its handler needs.
pub(super) fn lease(conn: &Tx<'_>, task: TaskId) -> Result<Option<Lease>> {
    let mut statement =
        conn.sql(&format!("SELECT {LEASE_COLUMNS} WHERE t.task_id = ?1 AND t.state = 'running'"))?;
    let mut rows = statement.query([task.0]).map_err(sql_error("load a task"))?;
    match rows.next().map_err(sql_error("load a task"))? {
        Some(row) => read_lease(row).map(Some),
        None => Ok(None),
    }
}

fn read_lease(row: &Row<'_>) -> Result<Lease> {
    let mut c = Columns::new(row);
    let task_id = TaskId(c.get()?);
    let epoch = Epoch(c.get()?);
    let worker_id = c.worker()?;
    let until = c.time()?;
    let kind = c.word(|k| Some(TaskKind::stored(k)))?;
    let stage = c.word(Stage::from_name)?;
    let size = c.word(Size::from_name)?;
    let units = c.get()?;
    let priority = c.get()?;
    let attempts = Attempts { total: c.get()?, in_size: c.get()?, lost: c.get()? };
    let payload = c.get()?;
    let queued_at = c.time()?;
    let tenant_id = c.tenant()?;
    let batch_id = c.batch_opt()?;
    let ingestion_id = c.ingestion()?;
    let name = c.get()?;
    let depth = c.get()?;
    let media_type = c.get()?;
    let duplicate = c.flag()?;
    let document = match c.document_opt()? {
        Some(document_id) => Some(SubjectDocument {
            document_id,
            content_hash: c.hash()?,
            key: BlobKey::stored(c.get::<String>()?),
            bytes: c.count()?,
        }),
        None => None,
    };
    let subject = Subject { tenant_id, batch_id, ingestion_id, document, name, depth, media_type, duplicate };
    Ok(Lease {
        task_id,
        epoch,
        worker_id,
        until,
        kind,
        stage,
        size,
        units,
        priority,
        attempts,
        payload,
        queued_at,
        subject,
    })
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
        "SELECT t.state, t.epoch, t.owner, t.reported_epoch, t.next_task_id, t.kind, t.size, t.attempt,
               t.size_attempt, t.join_id, t.tenant_id, t.ingestion_id, i.document_id, t.batch_id, t.priority
             FROM task t JOIN ingestion i ON i.ingestion_id = t.ingestion_id WHERE t.task_id = ?1",
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
