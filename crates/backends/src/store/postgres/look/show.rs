//! Everything about one document.

use std::collections::BTreeMap;

use docmill_core::Result;
use docmill_core::answer::{ArtifactLine, FamilyLine, IngestionLine, ShowAnswer, TimelineLine};
use docmill_core::clock::Timestamp;
use docmill_core::document::DocumentState;
use docmill_core::id::{DocumentId, SourceId, TenantId};
use docmill_core::ingestion::{IngestionStatus, Stage};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::understanding::Understanding;
use serde_json::Value;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::super::super::shared::look::{member_name, receipts_and_ends, sort_timeline, stage, step_outcome};
use super::super::row::{Columns, sql_error};
use super::super::{records, usage};
use super::{evidence, evidence_from, resolve, state};

/// A document of a tenant, and the connection to ask about it.
struct Asked<'c> {
    conn: &'c mut PgConnection,
    tenant: TenantId,
    document: DocumentId,
}

impl Asked<'_> {
    /// Collects the rows of a query about the document `$1` of the tenant `$2`.
    async fn collect<T>(
        &mut self,
        doing: &'static str,
        sql: &'static str,
        mut read: impl FnMut(&mut Columns<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let rows = query::<Postgres>(sql)
            .bind(self.document.0)
            .bind(self.tenant.0)
            .fetch_all(&mut *self.conn)
            .await
            .map_err(sql_error(doing))?;
        rows.iter().map(|row| read(&mut Columns::new(row))).collect()
    }
}

pub(in super::super) async fn show(
    conn: &mut PgConnection,
    tenant: TenantId,
    id: &str,
    now: Timestamp,
) -> Result<Option<ShowAnswer>> {
    let Some(document) = resolve(conn, tenant, id).await? else { return Ok(None) };
    let mut asked = Asked { conn, tenant, document };
    let Some(mut answer) = itself(&mut asked, now).await? else { return Ok(None) };
    answer.ingestions = ingestions(&mut asked).await?;
    answer.status = answer.ingestions.first().map_or(Stage::Queued, |i| i.stage);
    (answer.record, answer.review_id) = records::shown(asked.conn, tenant, document).await?;
    answer.artifacts = artifacts(&mut asked).await?;
    answer.parent = parent(&mut asked).await?;
    answer.children = children(&mut asked).await?;
    answer.usage = asked.collect("list what was paid", usage::OF_DOCUMENT, usage::line).await?;
    answer.timeline = timeline(&mut asked, &answer.ingestions).await?;
    Ok(Some(answer))
}

async fn itself(asked: &mut Asked<'_>, now: Timestamp) -> Result<Option<ShowAnswer>> {
    let sql = concat!(
        "SELECT d.document_id, d.content_hash, d.name, d.media_type, d.bytes, d.title, c.page_count, c.word_count,
           c.language, c.quality, c.problems,
           (SELECT u.body FROM ingestion i JOIN understanding u ON u.ingestion_id = i.ingestion_id AND u.step = i.understood_by
              WHERE i.ingestion_id = d.understood_in), ",
        evidence!(),
        evidence_from!(),
        "WHERE d.document_id = $1 AND d.tenant_id = $2"
    );
    let found = asked.collect("show a document", sql, |c| {
        let (document_id, content_hash, name, media_type) = (c.document()?, c.hash()?, c.get()?, c.get()?);
        let (bytes, title) = (c.count()?, c.get()?);
        let (page_count, word_count) = (c.int_opt()?, c.int_opt()?);
        let (language, quality) = (c.get()?, c.get::<Option<f64>>()?);
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
            word_count,
            language,
            quality: quality.map(|q| q as f32),
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
    });
    Ok(found.await?.into_iter().next())
}

async fn ingestions(asked: &mut Asked<'_>) -> Result<Vec<IngestionLine>> {
    let sql = "SELECT i.ingestion_id, i.batch_id, i.source_id, i.uploader, i.source_metadata, i.origin, i.name,
        i.status, i.result, i.duplicate, i.attempt, i.created_at, i.started_at, i.completed_at, i.skip_reason, i.error,
        (SELECT t.stage FROM task t WHERE t.ingestion_id = i.ingestion_id
           AND t.state IN ('waiting', 'queued', 'held', 'running') ORDER BY t.task_id LIMIT 1),
        EXISTS (SELECT 1 FROM task t WHERE t.ingestion_id = i.ingestion_id AND t.epoch > 0)
      FROM ingestion i WHERE i.document_id = $1 AND i.tenant_id = $2 ORDER BY i.generation DESC";
    let lines = asked.collect("list ingestions", sql, |c| {
        let (ingestion_id, batch_id) = (c.ingestion()?, c.batch_opt()?);
        let source_id = c.get::<Option<Uuid>>()?.map(|id| SourceId(id).to_string());
        let uploader = c.get()?;
        let source_metadata = c.json_opt()?.unwrap_or(Value::Null);
        let (origin, name) = (c.get()?, c.get()?);
        let status = c.word(IngestionStatus::from_name)?;
        let result = c.word_opt(ResultCode::from_name)?;
        let (duplicate, attempt) = (c.flag()?, c.int()?);
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
    });
    lines.await
}

async fn artifacts(asked: &mut Asked<'_>) -> Result<Vec<ArtifactLine>> {
    let sql = "SELECT a.name, a.blob_key, a.bytes, a.media_type, a.ingestion_id
      FROM artifact a JOIN ingestion i ON i.ingestion_id = a.ingestion_id
      WHERE i.document_id = $1 AND i.tenant_id = $2 ORDER BY i.generation DESC, a.name";
    let lines = asked.collect("list artifacts", sql, |c| {
        Ok(ArtifactLine {
            name: c.get()?,
            key: c.get()?,
            bytes: c.count()?,
            media_type: c.get()?,
            ingestion_id: c.ingestion()?,
        })
    });
    lines.await
}

fn relative(c: &mut Columns<'_>) -> Result<FamilyLine> {
    Ok(FamilyLine {
        ingestion_id: c.ingestion()?,
        document_id: c.document_opt()?,
        name: c.get()?,
        position: c.int_opt()?,
        status: c.word(IngestionStatus::from_name)?,
        result: c.word_opt(ResultCode::from_name)?,
        title: c.get()?,
    })
}

/// The container it was first found in.
async fn parent(asked: &mut Asked<'_>) -> Result<Option<FamilyLine>> {
    let sql = "SELECT p.ingestion_id, d.document_id, p.name, p.position, p.status, p.result, d.title
      FROM ingestion i JOIN ingestion p ON p.ingestion_id = i.parent_id
        LEFT JOIN document d ON d.document_id = p.document_id AND NOT d.removed
      WHERE i.document_id = $1 AND i.tenant_id = $2 AND NOT i.superseded ORDER BY i.generation LIMIT 1";
    Ok(asked.collect("look up a container", sql, relative).await?.into_iter().next())
}

/// The members that its newest unpacking gave; a thousand are listed with a container, the rest is found by `list`.
async fn children(asked: &mut Asked<'_>) -> Result<Vec<FamilyLine>> {
    let sql = "SELECT k.ingestion_id, d.document_id, k.origin, k.position, k.status, k.result, d.title
      FROM ingestion k LEFT JOIN document d ON d.document_id = k.document_id AND NOT d.removed
      WHERE NOT k.superseded AND k.tenant_id = $2 AND k.parent_id = (
        SELECT m.ingestion_id FROM manifest m JOIN ingestion i ON i.ingestion_id = m.ingestion_id
        WHERE i.document_id = $1 AND i.tenant_id = $2 AND NOT m.superseded ORDER BY i.generation DESC LIMIT 1)
      ORDER BY k.position LIMIT 1000";
    let mut lines = asked.collect("list members", sql, relative).await?;
    for line in &mut lines {
        line.name = member_name(&line.name).to_owned();
    }
    Ok(lines)
}

async fn timeline(asked: &mut Asked<'_>, ingestions: &[IngestionLine]) -> Result<Vec<TimelineLine>> {
    let mut lines = receipts_and_ends(ingestions);
    let steps = "SELECT s.at, s.ingestion_id, s.step, s.reused, s.degraded, s.attempt, s.duration_ms
      FROM step_result s JOIN ingestion i ON i.ingestion_id = s.ingestion_id
      WHERE i.document_id = $1 AND i.tenant_id = $2 ORDER BY s.ingestion_id, s.step, s.fingerprint";
    let steps = asked.collect("read the timeline", steps, |c| {
        let (at, ingestion_id, what) = (c.time()?, c.ingestion()?, c.get()?);
        let (reused, degraded, attempt) = (c.flag()?, c.flag()?, c.int::<u32>()?);
        let outcome = step_outcome(reused, degraded).into();
        let duration_ms = Some(c.count()?);
        Ok(TimelineLine { at, ingestion_id, what, outcome, attempt: attempt + 1, duration_ms, detail: None })
    });
    lines.extend(steps.await?);
    let failures = "SELECT f.at, t.ingestion_id, t.kind, f.outcome, f.attempt, f.size, f.error
      FROM task_failure f JOIN task t ON t.task_id = f.task_id JOIN ingestion i ON i.ingestion_id = t.ingestion_id
      WHERE i.document_id = $1 AND i.tenant_id = $2 ORDER BY f.task_id, f.epoch";
    let failures = asked.collect("read the timeline", failures, |c| {
        let (at, ingestion_id, what, outcome) = (c.time()?, c.ingestion()?, c.get()?, c.get()?);
        let attempt = c.int()?;
        let size: String = c.get()?;
        let error: Option<docmill_core::error::ErrorNote> = c.json_opt()?;
        let detail = error.map(|e| format!("{} on {size}: {}", e.kind, e.message));
        Ok(TimelineLine { at, ingestion_id, what, outcome, attempt, duration_ms: None, detail })
    });
    lines.extend(failures.await?);
    sort_timeline(&mut lines);
    Ok(lines)
}
