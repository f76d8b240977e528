//! Everything about one ingestion.

use docmill_core::Result;
use docmill_core::answer::IngestionAnswer;
use docmill_core::clock::Timestamp;
use docmill_core::id::{IngestionId, SourceId, TenantId};
use docmill_core::ingestion::{IngestionStatus, Stage};
use docmill_core::problem::ResultCode;
use serde_json::Value;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::super::super::shared::look::{is_stale, stage};
use super::super::row::{Columns, sql_error};

pub(in super::super) async fn ingestion(
    conn: &mut PgConnection,
    tenant: TenantId,
    id: IngestionId,
    now: Timestamp,
) -> Result<Option<IngestionAnswer>> {
    let row = query::<Postgres>(
        "SELECT i.ingestion_id, CASE WHEN NOT d.removed THEN i.document_id END, i.batch_id, i.source_id, i.uploader,
           i.source_metadata, i.origin, i.name, i.status, i.result, i.duplicate, i.attempt, i.media_type, i.page_count,
           i.word_count, i.language, i.quality, i.created_at, i.started_at, i.completed_at, i.progress_at, i.skip_reason,
           i.error, i.problems,
           (SELECT t.stage FROM task t WHERE t.ingestion_id = i.ingestion_id
              AND t.state IN ('waiting', 'queued', 'held', 'running') ORDER BY t.task_id LIMIT 1),
           EXISTS (SELECT 1 FROM task t WHERE t.ingestion_id = i.ingestion_id AND t.epoch > 0)
         FROM ingestion i LEFT JOIN document d ON d.document_id = i.document_id
         WHERE i.ingestion_id = $1 AND i.tenant_id = $2",
    )
    .bind(id.0)
    .bind(tenant.0)
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up an ingestion"))?;
    let Some(row) = row else { return Ok(None) };
    let mut c = Columns::new(&row);
    let (ingestion_id, document_id, batch_id) = (c.ingestion()?, c.document_opt()?, c.batch_opt()?);
    let source_id = c.get::<Option<Uuid>>()?.map(|id| SourceId(id).to_string());
    let uploader = c.get()?;
    let source_metadata = c.json_opt()?.unwrap_or(Value::Null);
    let (origin, name) = (c.get()?, c.get()?);
    let status = c.word(IngestionStatus::from_name)?;
    let result = c.word_opt(ResultCode::from_name)?;
    let (duplicate, attempt) = (c.flag()?, c.int()?);
    let (media_type, page_count, word_count) = (c.get()?, c.int_opt()?, c.int_opt()?);
    let (language, quality) = (c.get()?, c.get::<Option<f64>>()?);
    let (created_at, started_at, completed_at) = (c.time()?, c.time_opt()?, c.time_opt()?);
    let progress_at = c.time()?;
    let (skip_reason, error) = (c.get()?, c.json_opt()?);
    let problems = c.json_opt()?.unwrap_or_default();
    let open_task = c.word_opt(Stage::from_name)?;
    let claimed = c.flag()?;
    Ok(Some(IngestionAnswer {
        ingestion_id,
        document_id,
        batch_id,
        source_id,
        uploader,
        source_metadata,
        origin,
        name,
        status: stage(status, open_task, claimed),
        stale: is_stale(status, progress_at, now),
        result,
        duplicate,
        attempt,
        media_type,
        page_count,
        word_count,
        language,
        quality: quality.map(|q| q as f32),
        created_at,
        started_at,
        completed_at,
        skip_reason,
        error,
        problems,
    }))
}
