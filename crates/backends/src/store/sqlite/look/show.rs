//! Everything about one document.

use std::collections::BTreeMap;

use docmill_core::Result;
use docmill_core::answer::{ArtifactLine, FamilyLine, IngestionLine, ShowAnswer, TimelineLine};
use docmill_core::clock::Timestamp;
use docmill_core::document::DocumentState;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ingestion::{IngestionStatus, Stage};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::understanding::Understanding;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::super::super::shared::look::{member_name, receipts_and_ends, sort_timeline, stage, step_outcome};
use super::super::row::Columns;
use super::super::{records, usage};
use super::{EVIDENCE, EVIDENCE_JOIN, collect, first, resolve, state};

/// Members listed with a container; the rest is found by `list`.
const MAX_CHILDREN: usize = 1000;

pub(in super::super) fn show(
    conn: &Connection,
    tenant: TenantId,
    id: &str,
    now: Timestamp,
) -> Result<Option<ShowAnswer>> {
    let Some(document) = resolve(conn, tenant, id)? else { return Ok(None) };
    let sql = format!(
        "SELECT d.document_id, d.content_hash, d.name, d.media_type, d.bytes, d.title, c.page_count, c.word_count,
           c.language, c.quality, c.problems,
           (SELECT u.body FROM ingestion i JOIN understanding u ON u.ingestion_id = i.ingestion_id AND u.step = i.understood_by
              WHERE i.ingestion_id = d.understood_in),
           {EVIDENCE} FROM document d {EVIDENCE_JOIN} WHERE d.document_id = ?1"
    );
    let answer = first(conn, "show a document", &sql, [document.as_bytes()], |c| {
        let (document_id, content_hash, name, media_type) = (c.document()?, c.hash()?, c.get()?, c.get()?);
        let (bytes, title) = (c.count()?, c.get()?);
        let page_count = c.get()?;
        let word_count: Option<i64> = c.get()?;
        let (language, quality) = (c.get()?, c.get()?);
        let problems: Vec<Problem> = c.json_opt()?.unwrap_or_default();
        let understood = c.json_opt()?.map(Understanding::shown).unwrap_or_default();
        let (state, needs_review) = state(c, now)?;
        Ok(ShowAnswer {
            document_id,
            content_hash,
            name,
            media_type,
            bytes,
            state,
            status: Stage::Completed,
            stale: state == DocumentState::Stale,
            page_count,
            word_count: word_count.and_then(|n| u64::try_from(n).ok()),
            language,
            quality,
            title,
            summary: understood.summary,
            date: understood.date,
            kind: understood.kind,
            tags: understood.tags,
            labels: understood.labels,
            evidence: understood.evidence,
            record: None,
            metadata: BTreeMap::new(),
            problems,
            needs_review,
            review_id: None,
            ingestions: Vec::new(),
            artifacts: Vec::new(),
            parent: None,
            children: Vec::new(),
            usage: Vec::new(),
            timeline: Vec::new(),
        })
    })?;
    let Some(mut answer) = answer else { return Ok(None) };
    answer.ingestions = ingestions(conn, document)?;
    answer.status = answer.ingestions.first().map_or(Stage::Queued, |i| i.stage);
    (answer.record, answer.review_id) = records::shown(conn, tenant, document)?;
    answer.artifacts = artifacts(conn, document)?;
    answer.parent = parent(conn, document)?;
    answer.children = children(conn, document)?;
    answer.usage =
        collect(conn, "list what was paid", usage::OF_DOCUMENT, [document.as_bytes()], usage::line)?;
    answer.timeline = timeline(conn, document, &answer.ingestions)?;
    Ok(Some(answer))
}

fn ingestions(conn: &Connection, document: DocumentId) -> Result<Vec<IngestionLine>> {
    let sql = "SELECT i.ingestion_id, i.batch_id, i.source_id, i.uploader, i.source_metadata, i.origin, i.name,
        i.status, i.result, i.duplicate, i.attempt, i.created_at, i.started_at, i.completed_at, i.skip_reason, i.error,
        (SELECT t.stage FROM task t WHERE t.ingestion_id = i.ingestion_id
           AND t.state IN ('waiting', 'queued', 'held', 'running') ORDER BY t.task_id LIMIT 1),
        EXISTS (SELECT 1 FROM task t WHERE t.ingestion_id = i.ingestion_id AND t.epoch > 0)
      FROM ingestion i WHERE i.document_id = ?1 ORDER BY i.generation DESC";
    collect(conn, "list ingestions", sql, [document.as_bytes()], |c| {
        let (ingestion_id, batch_id) = (c.ingestion()?, c.batch_opt()?);
        let source: Option<Vec<u8>> = c.get()?;
        let source_id = match source {
            Some(bytes) => Some(docmill_core::id::SourceId::from_slice(&bytes)?.to_string()),
            None => None,
        };
        let uploader = c.get()?;
        let source_metadata = c.json_opt()?.unwrap_or(Value::Null);
        let (origin, name) = (c.get()?, c.get()?);
        let status = c.word(IngestionStatus::from_name)?;
        let result = c.word_opt(ResultCode::from_name)?;
        let (duplicate, attempt) = (c.flag()?, c.get()?);
        let (created_at, started_at, completed_at) = (c.time()?, c.time_opt()?, c.time_opt()?);
        let (skip_reason, error) = (c.get()?, c.json_opt()?);
        let open_task = c.word_opt(Stage::from_name)?;
        let claimed = c.flag()?;
        Ok(IngestionLine {
            ingestion_id,
            batch_id,
            source_id,
            uploader,
            source_metadata,
            origin,
            name,
            status,
            stage: stage(status, open_task, claimed),
            result,
            duplicate,
            attempt,
            created_at,
            started_at,
            completed_at,
            skip_reason,
            error,
        })
    })
}

fn artifacts(conn: &Connection, document: DocumentId) -> Result<Vec<ArtifactLine>> {
    let sql = "SELECT a.name, a.blob_key, a.bytes, a.media_type, a.ingestion_id
      FROM artifact a JOIN ingestion i ON i.ingestion_id = a.ingestion_id
      WHERE i.document_id = ?1 ORDER BY i.generation DESC, a.name";
    collect(conn, "list artifacts", sql, [document.as_bytes()], |c| {
        Ok(ArtifactLine {
            name: c.get()?,
            key: c.get()?,
            bytes: c.count()?,
            media_type: c.get()?,
            ingestion_id: c.ingestion()?,
        })
    })
}

fn relative(c: &mut Columns<'_, '_>) -> Result<FamilyLine> {
    Ok(FamilyLine {
        ingestion_id: c.ingestion()?,
        document_id: c.document_opt()?,
        name: c.get()?,
        position: c.get::<Option<i64>>()?.and_then(|n| u64::try_from(n).ok()),
        status: c.word(IngestionStatus::from_name)?,
        result: c.word_opt(ResultCode::from_name)?,
        title: c.get()?,
    })
}

/// The container it was first found in.
fn parent(conn: &Connection, document: DocumentId) -> Result<Option<FamilyLine>> {
    let sql = "SELECT p.ingestion_id, d.document_id, p.name, p.position, p.status, p.result, d.title
      FROM ingestion i JOIN ingestion p ON p.ingestion_id = i.parent_id
        LEFT JOIN document d ON d.document_id = p.document_id AND d.removed = 0
      WHERE i.document_id = ?1 AND i.superseded = 0 ORDER BY i.generation LIMIT 1";
    first(conn, "look up a container", sql, [document.as_bytes()], relative)
}

/// The members that its newest unpacking gave.
fn children(conn: &Connection, document: DocumentId) -> Result<Vec<FamilyLine>> {
    let sql = "SELECT k.ingestion_id, d.document_id, k.origin, k.position, k.status, k.result, d.title
      FROM ingestion k LEFT JOIN document d ON d.document_id = k.document_id AND d.removed = 0
      WHERE k.superseded = 0 AND k.parent_id = (
        SELECT m.ingestion_id FROM manifest m JOIN ingestion i ON i.ingestion_id = m.ingestion_id
        WHERE i.document_id = ?1 AND m.superseded = 0 ORDER BY i.generation DESC LIMIT 1)
      ORDER BY k.position LIMIT ?2";
    let mut lines =
        collect(conn, "list members", sql, params![document.as_bytes(), MAX_CHILDREN as i64], relative)?;
    for line in &mut lines {
        line.name = member_name(&line.name).to_owned();
    }
    Ok(lines)
}

fn timeline(
    conn: &Connection,
    document: DocumentId,
    ingestions: &[IngestionLine],
) -> Result<Vec<TimelineLine>> {
    let mut lines = receipts_and_ends(ingestions);
    let steps = "SELECT s.at, s.ingestion_id, s.step, s.reused, s.degraded, s.attempt, s.duration_ms
      FROM step_result s JOIN ingestion i ON i.ingestion_id = s.ingestion_id WHERE i.document_id = ?1";
    lines.extend(collect(conn, "read the timeline", steps, [document.as_bytes()], |c| {
        let (at, ingestion_id, what) = (c.time()?, c.ingestion()?, c.get()?);
        let (reused, degraded, attempt) = (c.flag()?, c.flag()?, c.get::<u32>()?);
        let outcome = step_outcome(reused, degraded).into();
        let duration_ms = Some(c.count()?);
        Ok(TimelineLine { at, ingestion_id, what, outcome, attempt: attempt + 1, duration_ms, detail: None })
    })?);
    let failures = "SELECT f.at, t.ingestion_id, t.kind, f.outcome, f.attempt, f.size, f.error
      FROM task_failure f JOIN task t ON t.task_id = f.task_id JOIN ingestion i ON i.ingestion_id = t.ingestion_id
      WHERE i.document_id = ?1";
    lines.extend(collect(conn, "read the timeline", failures, [document.as_bytes()], |c| {
        let (at, ingestion_id, what, outcome) = (c.time()?, c.ingestion()?, c.get()?, c.get()?);
        let attempt = c.get()?;
        let size: String = c.get()?;
        let error: Option<docmill_core::error::ErrorNote> = c.json_opt()?;
        let detail = error.map(|e| format!("{} on {size}: {}", e.kind, e.message));
        Ok(TimelineLine { at, ingestion_id, what, outcome, attempt, duration_ms: None, detail })
    })?);
    sort_timeline(&mut lines);
    Ok(lines)
}
