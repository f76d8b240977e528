//! What a worker reports: the one place where results become current. Everything it brings along happens in
//! this transaction or not at all, and only under the epoch that holds the task.

use docmill_core::error::ErrorNote;
use docmill_core::event::{EventBody, EventStatus, EventType};
use docmill_core::id::{Epoch, TaskId};
use docmill_core::ingestion::{Facts, IngestionEnd};
use docmill_core::ports::store::{Commit, Committed, Done, Outcome, StepRecord};
use docmill_core::state::{TaskEvent, TaskState, transition};
use docmill_core::task::{Lease, Size, order_key};
use docmill_core::{Error, Result, crash};
use rusqlite::params;
use serde_json::json;

use super::row::{json as to_json, sql_error};
use super::task::{self, Begin, Belongs, TaskRow};
use super::tx::Tx;
use super::{children, finish, records, understanding, usage};

/// Accepts a report, or says that it comes too late.
pub(super) fn commit(tx: &mut Tx<'_>, commit: &Commit) -> Result<Committed> {
    let Some(row) = task::load(tx, commit.task_id)? else { return Ok(Committed::Stale) };
    if row.reported_epoch == Some(commit.epoch.0) {
        return repeated(tx, &row);
    }
    if !row.held_under(commit.epoch) {
        return Ok(Committed::Stale);
    }
    crash::point("store.commit.fenced");
    match &commit.outcome {
        Outcome::Done(done) => accept_done(tx, commit, &row, done),
        Outcome::Retry { error, run_at, size, units, charged } => {
            let again = Again { run_at: run_at.0, size: *size, units: *units };
            accept_retry(tx, commit, &row, error, &again, *charged)
        }
        Outcome::Dead { error, charged, end, next } => {
            bury(tx, commit.task_id, commit.epoch, &row, error, *charged, end.as_ref())?;
            if let Some(new) = next {
                task::insert(tx, &row.belongs, new, Begin::Queued { join: None })?;
            }
            Ok(Committed::Accepted { next: None })
        }
    }
}

/// The same report once more: the first answer, as far as it still holds.
fn repeated(tx: &Tx<'_>, row: &TaskRow) -> Result<Committed> {
    let next = match row.next_task_id {
        Some(next) => task::lease(tx, TaskId(next))?.filter(|l| l.epoch == Epoch(1)),
        None => None,
    };
    Ok(Committed::Accepted { next: next.map(Box::new) })
}

fn accept_done(tx: &mut Tx<'_>, commit: &Commit, row: &TaskRow, done: &Done) -> Result<Committed> {
    let belongs = &row.belongs;
    if let Some(record) = &done.record {
        store_record(tx, belongs, record, row.attempt, commit)?;
        crash::point("store.commit.result");
    }
    store_artifacts(tx, belongs, done)?;
    let understood_by = understanding::keep(tx, belongs, row, done)?;
    note_facts(tx, belongs, &done.facts, understood_by, commit)?;
    usage::keep(tx, belongs, row, done)?;
    records::keep(tx, belongs, done)?;
    if let Some(manifest) = &done.manifest {
        children::end_run(tx, belongs, manifest)?;
    }
    let next = match (&done.next, &done.fan_out) {
        (Some(_), Some(_)) => return Err(Error::bug("a task cannot both continue and fan out")),
        (Some(new), None) => Some(hand_on(tx, commit, row, belongs, new)?),
        (None, Some(fan_out)) => {
            let begin = Begin::Waiting { parts: fan_out.parts.len() };
            let join = task::insert(tx, belongs, &fan_out.join, begin)?;
            for part in &fan_out.parts {
                task::insert(tx, belongs, part, Begin::Queued { join: Some(join) })?;
            }
            None
        }
        (None, None) => None,
    };
    crash::point("store.commit.next");
    set_done(tx, commit, row, next.as_ref().map(|n| n.0))?;
    part_ended(tx, row);
    if let Some(end) = &done.end {
        finish::end(tx, belongs.ingestion_id, end)?;
    }
    tx.event(belongs.tenant_id, finished(row, EventStatus::Success, None));
    Ok(Committed::Accepted { next: next.and_then(|n| n.1).map(Box::new) })
}

fn set_done(tx: &Tx<'_>, commit: &Commit, row: &TaskRow, next: Option<TaskId>) -> Result<()> {
    let state = apply(row.state, TaskEvent::Succeed)?;
    tx.sql(
        "UPDATE task SET state = ?2, owner = NULL, lease_until = NULL, lost = 0, reported_epoch = epoch,
           next_task_id = ?3, duration_ms = ?4, finished_at = ?5 WHERE task_id = ?1",
    )?
    .execute(params![
        commit.task_id.0,
        state.name(),
        next.map(|n| n.0),
        commit.duration.as_millis() as i64,
        tx.now.0
    ])
    .map_err(sql_error("end a task"))?;
    Ok(())
}

/// The next task: leased at once to the worker that reports, or queued.
fn hand_on(
    tx: &mut Tx<'_>,
    commit: &Commit,
    row: &TaskRow,
    belongs: &Belongs,
    new: &docmill_core::task::NewTask,
) -> Result<(TaskId, Option<Lease>)> {
    let begin = match (commit.continue_for, row.owner) {
        // What is paused does not go on just because its worker is at hand.
        (Some(lease), Some(worker))
            if task::queued_or_held(tx, belongs.batch_id)? == TaskState::Queued
                && !tx.is_paused(&new.kind)? =>
        {
            Begin::Leased { worker, until: tx.now.plus(lease).0 }
        }
        _ => Begin::Queued { join: None },
    };
    let id = task::insert(tx, belongs, new, begin)?;
    let lease = match begin {
        Begin::Leased { .. } => task::lease(tx, id)?,
        Begin::Queued { .. } | Begin::Waiting { .. } => None,
    };
    Ok((id, lease))
}

fn store_record(
    tx: &Tx<'_>,
    belongs: &Belongs,
    record: &StepRecord,
    attempt: u32,
    commit: &Commit,
) -> Result<()> {
    tx.sql(
        "INSERT INTO step_result (ingestion_id, step, fingerprint, tenant_id, degraded, reused, body, attempt,
           duration_ms, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (ingestion_id, step, fingerprint) DO UPDATE SET degraded = excluded.degraded,
           reused = excluded.reused, body = excluded.body, attempt = excluded.attempt,
           duration_ms = excluded.duration_ms, at = excluded.at",
    )?
    .execute(params![
        belongs.ingestion_id.as_bytes(),
        record.step.as_str(),
        record.fingerprint.0,
        belongs.tenant_id.as_bytes(),
        record.degraded,
        record.reused,
        to_json(record)?,
        attempt,
        commit.duration.as_millis() as i64,
        tx.now.0,
    ])
    .map_err(sql_error("store a result"))?;
    Ok(())
}

fn store_artifacts(tx: &Tx<'_>, belongs: &Belongs, done: &Done) -> Result<()> {
    for artifact in &done.artifacts {
        tx.sql(
            "INSERT INTO artifact (ingestion_id, name, blob_key, hash, bytes, media_type) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (ingestion_id, name) DO UPDATE SET blob_key = excluded.blob_key, hash = excluded.hash,
               bytes = excluded.bytes, media_type = excluded.media_type",
        )?
        .execute(params![
            belongs.ingestion_id.as_bytes(),
            artifact.name,
            artifact.key.as_str(),
            artifact.hash.0,
            artifact.bytes as i64,
            artifact.media_type,
        ])
        .map_err(sql_error("store an artifact"))?;
        crash::point("store.commit.artifact");
    }
    Ok(())
}

/// An ingestion shows its progress this often: each note costs a page that is written.
const PROGRESS_EVERY_MS: i64 = 1_000;

fn note_facts(
    tx: &mut Tx<'_>,
    belongs: &Belongs,
    facts: &Facts,
    understood_by: Option<&str>,
    commit: &Commit,
) -> Result<()> {
    let nothing_new = *facts == Facts::default();
    if nothing_new && !tx.first_progress(belongs.ingestion_id) {
        return Ok(());
    }
    let now = tx.now;
    // The last condition alone decides whether there is anything to write.
    tx.sql(
        "UPDATE ingestion SET media_type = coalesce(?2, media_type), page_count = coalesce(?3, page_count),
           word_count = coalesce(?4, word_count), language = coalesce(?5, language),
           quality = coalesce(?6, quality), title = coalesce(?7, title),
           transcription_key = coalesce(?8, transcription_key), understood_by = coalesce(?13, understood_by),
           progress_at = ?9, started_at = coalesce(started_at, ?10)
         WHERE ingestion_id = ?1 AND (?11 OR started_at IS NULL OR progress_at <= ?12)",
    )?
    .execute(params![
        belongs.ingestion_id.as_bytes(),
        facts.media_type,
        facts.page_count,
        facts.word_count.map(|n| n as i64),
        facts.language,
        facts.quality,
        facts.title,
        facts.transcription.as_ref().map(docmill_core::id::BlobKey::as_str),
        now.0,
        now.minus(commit.duration).0,
        !nothing_new,
        now.0 - PROGRESS_EVERY_MS,
        understood_by,
    ])
    .map_err(sql_error("note facts"))?;
    Ok(())
}

/// If this task is a part, its join comes one step nearer.
fn part_ended(tx: &mut Tx<'_>, row: &TaskRow) {
    if let Some(join) = row.join_id {
        tx.part_ended(join);
    }
}

/// When and where a task is tried again.
struct Again {
    run_at: i64,
    size: Size,
    units: u32,
}

fn accept_retry(
    tx: &mut Tx<'_>,
    commit: &Commit,
    row: &TaskRow,
    error: &ErrorNote,
    again: &Again,
    charged: bool,
) -> Result<Committed> {
    let charge = u32::from(charged);
    let size_attempt = if again.size == row.size { row.size_attempt + charge } else { 0 };
    apply(row.state, TaskEvent::Retry)?;
    let state = task::queued_or_held(tx, row.belongs.batch_id)?;
    tx.sql(
        "UPDATE task SET state = ?2, owner = NULL, lease_until = NULL, lost = 0, reported_epoch = epoch,
           next_task_id = NULL, run_at = ?3, order_key = ?4, size = ?5, units = ?6, attempt = attempt + ?7,
           size_attempt = ?8, error = ?9 WHERE task_id = ?1",
    )?
    .execute(params![
        commit.task_id.0,
        state.name(),
        again.run_at,
        order_key(docmill_core::clock::Timestamp(again.run_at), row.belongs.priority),
        again.size.name(),
        again.units,
        charge,
        size_attempt,
        to_json(error)?,
    ])
    .map_err(sql_error("queue a retry"))?;
    let outcome = if again.size == row.size { "retry" } else { "escalated" };
    note_failure(tx, commit.task_id, commit.epoch, row, error, charge, outcome)?;
    tx.aftermath.work = true;
    Ok(Committed::Accepted { next: None })
}

/// Makes a dead letter of a task.
pub(super) fn bury(
    tx: &mut Tx<'_>,
    task_id: TaskId,
    epoch: Epoch,
    row: &TaskRow,
    error: &ErrorNote,
    charged: bool,
    end: Option<&IngestionEnd>,
) -> Result<()> {
    let state = apply(row.state, TaskEvent::Die)?;
    let charge = u32::from(charged);
    tx.sql(
        "UPDATE task SET state = ?2, owner = NULL, lease_until = NULL, lost = 0, reported_epoch = epoch,
           next_task_id = NULL, attempt = attempt + ?3, size_attempt = size_attempt + ?3, error = ?4, finished_at = ?5
         WHERE task_id = ?1",
    )?
    .execute(params![task_id.0, state.name(), charge, to_json(error)?, tx.now.0])
    .map_err(sql_error("bury a task"))?;
    note_failure(tx, task_id, epoch, row, error, charge, "dead")?;
    part_ended(tx, row);
    if let Some(batch) = row.belongs.batch_id {
        tx.batch(row.belongs.tenant_id, batch).dead += 1;
    }
    tx.event(row.belongs.tenant_id, finished(row, EventStatus::Error, Some(error)));
    if let Some(end) = end {
        finish::end(tx, row.belongs.ingestion_id, end)?;
    }
    Ok(())
}

fn note_failure(
    tx: &Tx<'_>,
    task_id: TaskId,
    epoch: Epoch,
    row: &TaskRow,
    error: &ErrorNote,
    charge: u32,
    outcome: &str,
) -> Result<()> {
    tx.sql(
        "INSERT OR REPLACE INTO task_failure (task_id, epoch, attempt, size, outcome, error, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        task_id.0,
        epoch.0,
        row.attempt + charge,
        row.size.name(),
        outcome,
        to_json(error)?,
        tx.now.0
    ])
    .map_err(sql_error("note a failure"))?;
    tx.sql("UPDATE ingestion SET attempt = attempt + ?2, progress_at = ?3 WHERE ingestion_id = ?1")?
        .execute(params![row.belongs.ingestion_id.as_bytes(), charge, tx.now.0])
        .map_err(sql_error("note a failure"))?;
    Ok(())
}

fn finished(row: &TaskRow, status: EventStatus, error: Option<&ErrorNote>) -> EventBody {
    EventBody {
        batch_id: row.belongs.batch_id,
        document_id: row.belongs.document_id,
        ingestion_id: Some(row.belongs.ingestion_id),
        task_kind: Some(row.kind.clone()),
        status,
        detail: error.map(|e| json!({ "kind": e.kind, "message": e.message })),
        ..EventBody::new(EventType::TaskFinished)
    }
}

/// The state machine's word, as docmill's error.
pub(super) fn apply(state: TaskState, event: TaskEvent) -> Result<TaskState> {
    transition(state, event)
        .map_err(|e| Error::bug("the store was asked for an impossible step").with_source(e))
}
