//! One answer to "why is this not done?": what it waits for, which attempt, the last error, the next try.

use docmill_core::Result;
use docmill_core::answer::WhyAnswer;
use docmill_core::clock::Timestamp;
use docmill_core::id::{DocumentId, IngestionId, TenantId};
use docmill_core::ingestion::{IngestionStatus, Stage};
use docmill_core::problem::ResultCode;
use docmill_core::state::TaskState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::super::shared::look::{self as shared, Item, OpenTask, Surroundings};
use super::super::super::shared::worker::shown_since;
use super::super::row::sql_error;
use super::{EVIDENCE, EVIDENCE_JOIN, collect, first, state};

pub(in super::super) fn why(
    conn: &Connection,
    tenant: TenantId,
    id: &str,
    now: Timestamp,
) -> Result<Option<WhyAnswer>> {
    let Some(item) = newest(conn, tenant, id)? else { return Ok(None) };
    let tasks = open_tasks(conn, item.ingestion_id)?;
    let state = match item.document_id {
        Some(document) => document_state(conn, document, now)?,
        None => item.status.name().to_owned(),
    };
    let around = surroundings(conn, tenant, shared::foremost(&tasks), now)?;
    Ok(Some(shared::why(id, &item, &tasks, state, &around, now)))
}

/// The newest ingestion of a document, or the ingestion itself.
fn newest(conn: &Connection, tenant: TenantId, id: &str) -> Result<Option<Item>> {
    let id: DocumentId = id.parse()?;
    let sql =
        "SELECT i.ingestion_id, d.document_id, i.batch_id, i.status, i.result, i.attempt, i.error, i.problems, i.skip_reason
      FROM ingestion i LEFT JOIN document d ON d.document_id = i.document_id AND d.removed = 0
      WHERE i.tenant_id = ?2 AND (i.ingestion_id = ?1 OR i.document_id = ?1)
        AND (i.ingestion_id = ?1 OR d.document_id IS NOT NULL)
      ORDER BY i.status = 'in_progress' DESC, i.generation DESC LIMIT 1";
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

fn open_tasks(conn: &Connection, ingestion: IngestionId) -> Result<Vec<OpenTask>> {
    let sql =
        "SELECT kind, stage, state, run_at, owner, lease_until, attempt, error, open_parts, epoch FROM task
      WHERE ingestion_id = ?1 AND state IN ('waiting', 'queued', 'held', 'running')
      ORDER BY state = 'waiting', task_id";
    collect(conn, "look up tasks", sql, [ingestion.as_bytes()], |c| {
        Ok(OpenTask {
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

/// Only a queued task makes anyone ask how busy the engine is.
fn surroundings(
    conn: &Connection,
    tenant: TenantId,
    task: Option<&OpenTask>,
    now: Timestamp,
) -> Result<Surroundings> {
    match task.filter(|t| t.state == TaskState::Queued) {
        Some(task) => Ok(Surroundings {
            kind_paused: kind_paused(conn, &task.kind)?,
            any_worker: any_worker(conn, &task.kind, now)?,
            queued: queued(conn, tenant)?,
        }),
        None => Ok(Surroundings { kind_paused: false, any_worker: true, queued: 0 }),
    }
}

fn kind_paused(conn: &Connection, kind: &str) -> Result<bool> {
    conn.prepare_cached("SELECT 1 FROM paused_kind WHERE kind = ?1")
        .and_then(|mut s| s.query_row([kind], |_| Ok(())).optional())
        .map(|found| found.is_some())
        .map_err(sql_error("look for paused kinds"))
}

/// A worker that names no kinds takes all.
fn any_worker(conn: &Connection, kind: &str, now: Timestamp) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM worker WHERE seen_at > ?2
        AND (kinds = '[]' OR EXISTS (SELECT 1 FROM json_each(worker.kinds) WHERE value = ?1)))";
    conn.prepare_cached(sql)
        .and_then(|mut s| s.query_row(params![kind, shown_since(now)], |r| r.get(0)))
        .map_err(sql_error("look for workers"))
}

fn queued(conn: &Connection, tenant: TenantId) -> Result<i64> {
    conn.prepare_cached("SELECT count(*) FROM task WHERE state = 'queued' AND tenant_id = ?1")
        .and_then(|mut s| s.query_row([tenant.as_bytes()], |r| r.get(0)))
        .map_err(sql_error("count tasks"))
}
