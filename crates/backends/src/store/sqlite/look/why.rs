//! One answer to "why is this not done?": what it waits for, which attempt, the last error, the next try.

use docmill_core::Result;
use docmill_core::answer::{LeaseLine, WhyAnswer};
use docmill_core::clock::Timestamp;
use docmill_core::disposition::MAX_ATTEMPTS;
use docmill_core::error::ErrorNote;
use docmill_core::id::{BatchId, DocumentId, IngestionId, TenantId, WorkerId};
use docmill_core::ingestion::{IngestionStatus, Stage};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::state::TaskState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::row::sql_error;
use super::show::stage;
use super::{EVIDENCE, EVIDENCE_JOIN, collect, first, state};

struct Item {
    ingestion_id: IngestionId,
    document_id: Option<DocumentId>,
    batch_id: Option<BatchId>,
    status: IngestionStatus,
    result: Option<ResultCode>,
    attempt: u32,
    error: Option<ErrorNote>,
    problems: Vec<Problem>,
    skip_reason: Option<String>,
}

struct Task {
    kind: String,
    stage: Stage,
    state: TaskState,
    run_at: Timestamp,
    owner: Option<WorkerId>,
    lease_until: Option<Timestamp>,
    attempt: u32,
    error: Option<ErrorNote>,
    open_parts: Option<i64>,
    epoch: i64,
}

pub(in super::super) fn why(
    conn: &Connection,
    tenant: TenantId,
    id: &str,
    now: Timestamp,
) -> Result<Option<WhyAnswer>> {
    let Some(item) = newest(conn, tenant, id)? else { return Ok(None) };
    let tasks = open_tasks(conn, item.ingestion_id)?;
    let task = tasks.iter().find(|t| t.state == TaskState::Running).or_else(|| tasks.first());
    let claimed = tasks.iter().any(|t| t.epoch > 0) || item.status != IngestionStatus::InProgress;
    let state = match item.document_id {
        Some(document) => document_state(conn, document, now)?,
        None => item.status.name().to_owned(),
    };
    let waiting_for = match (item.status, task) {
        (IngestionStatus::InProgress, Some(task)) => waiting(conn, &item, task, now)?,
        (IngestionStatus::InProgress, None) => {
            "nothing: it is open but has no task, which docmill does not expect; `docmill reprocess` starts it again"
                .into()
        }
        _ => ended(&item),
    };
    let last_error = task
        .and_then(|t| t.error.clone())
        .or_else(|| item.error.clone())
        .or_else(|| problem_note(item.problems.first()));
    Ok(Some(WhyAnswer {
        id: id.to_owned(),
        state,
        stage: stage(item.status, task.map(|t| t.stage), claimed),
        waiting_for,
        attempt: task.map_or(item.attempt, |t| t.attempt),
        max_attempts: MAX_ATTEMPTS,
        last_error,
        next_try_at: task
            .filter(|t| matches!(t.state, TaskState::Queued | TaskState::Held))
            .map(|t| t.run_at),
        lease: task.and_then(|t| Some(LeaseLine { owner: t.owner?, until: t.lease_until? })),
    }))
}

/// The newest ingestion of a document, or the ingestion itself.
fn newest(conn: &Connection, tenant: TenantId, id: &str) -> Result<Option<Item>> {
    let id: DocumentId = id.parse()?;
    let sql =
        "SELECT ingestion_id, document_id, batch_id, status, result, attempt, error, problems, skip_reason
      FROM ingestion WHERE tenant_id = ?2 AND (ingestion_id = ?1 OR document_id = ?1)
      ORDER BY status = 'in_progress' DESC, generation DESC LIMIT 1";
    first(conn, "look up an item", sql, params![id.as_bytes(), tenant.as_bytes()], |c| {
        Ok(Item {
            ingestion_id: c.ingestion()?,
            document_id: c.document_opt()?,
            batch_id: c.batch_opt()?,
            status: c.word(IngestionStatus::from_name)?,
            result: c.word_opt(ResultCode::from_name)?,
            attempt: c.get()?,
            error: c.json_opt()?,
            problems: c.json_opt()?.unwrap_or_default(),
            skip_reason: c.get()?,
        })
    })
}

fn open_tasks(conn: &Connection, ingestion: IngestionId) -> Result<Vec<Task>> {
    let sql =
        "SELECT kind, stage, state, run_at, owner, lease_until, attempt, error, open_parts, epoch FROM task
      WHERE ingestion_id = ?1 AND state IN ('waiting', 'queued', 'held', 'running')
      ORDER BY state = 'waiting', task_id";
    collect(conn, "look up tasks", sql, [ingestion.as_bytes()], |c| {
        Ok(Task {
            kind: c.get()?,
            stage: c.word(Stage::from_name)?,
            state: c.word(TaskState::from_name)?,
            run_at: c.time()?,
            owner: c.worker_opt()?,
            lease_until: c.time_opt()?,
            attempt: c.get()?,
            error: c.json_opt()?,
            open_parts: c.get()?,
            epoch: c.get()?,
        })
    })
}

fn document_state(conn: &Connection, document: DocumentId, now: Timestamp) -> Result<String> {
    let sql = format!("SELECT {EVIDENCE} FROM document d {EVIDENCE_JOIN} WHERE d.document_id = ?1");
    let found = first(conn, "look up a document", &sql, [document.as_bytes()], |c| state(c, now))?;
    Ok(found.map_or("", |(state, _)| state.name()).to_owned())
}

fn waiting(conn: &Connection, item: &Item, task: &Task, now: Timestamp) -> Result<String> {
    Ok(match task.state {
        TaskState::Running => {
            let owner = task.owner.map(|o| o.to_string()).unwrap_or_default();
            format!("worker {owner}, which is doing {} now", task.kind)
        }
        TaskState::Held => {
            let batch = item.batch_id.map(|b| b.to_string()).unwrap_or_default();
            format!("batch {batch} is paused; `docmill resume {batch}` lets it go on")
        }
        TaskState::Waiting => {
            format!("{} parts of {} to end", task.open_parts.unwrap_or(0), task.kind)
        }
        _ if kind_paused(conn, &task.kind)? => {
            format!("{0} is paused; `docmill resume --kind {0}` lets it go on", task.kind)
        }
        _ if task.run_at > now => format!("the next try of {}", task.kind),
        _ if !any_worker(conn)? => {
            format!(
                "a worker: none is running; `docmill serve` or `docmill work` starts one to do {}",
                task.kind
            )
        }
        _ => format!("a free worker to do {}; {} tasks are queued", task.kind, queued(conn)?),
    })
}

fn kind_paused(conn: &Connection, kind: &str) -> Result<bool> {
    conn.prepare_cached("SELECT 1 FROM paused_kind WHERE kind = ?1")
        .and_then(|mut s| s.query_row([kind], |_| Ok(())).optional())
        .map(|found| found.is_some())
        .map_err(sql_error("look for paused kinds"))
}

fn any_worker(conn: &Connection) -> Result<bool> {
    conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM worker)")
        .and_then(|mut s| s.query_row([], |r| r.get(0)))
        .map_err(sql_error("look for workers"))
}

fn queued(conn: &Connection) -> Result<i64> {
    conn.prepare_cached("SELECT count(*) FROM task WHERE state = 'queued'")
        .and_then(|mut s| s.query_row([], |r| r.get(0)))
        .map_err(sql_error("count tasks"))
}

fn ended(item: &Item) -> String {
    match item.status {
        IngestionStatus::Completed | IngestionStatus::InProgress => match item.result {
            Some(ResultCode::Success) | None => "nothing: it is done".into(),
            Some(code) => format!("nothing: it is done, with result {}", code.name()),
        },
        IngestionStatus::Failed if item.document_id.is_none() => {
            "nothing: its content never came in; make it readable and ingest it again with the same --batch"
                .into()
        }
        IngestionStatus::Failed => "a person: `docmill retry` starts it again".into(),
        IngestionStatus::Skipped => {
            format!("nothing: it was skipped ({})", item.skip_reason.as_deref().unwrap_or("no reason"))
        }
        IngestionStatus::Cancelled => "nothing: it was cancelled; `docmill reprocess` starts it again".into(),
    }
}

fn problem_note(problem: Option<&Problem>) -> Option<ErrorNote> {
    problem.map(|p| ErrorNote { kind: p.kind, message: p.message.clone(), hint: None })
}
