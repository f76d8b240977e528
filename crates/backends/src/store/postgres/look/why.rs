//! One answer to "why is this not done?": what it waits for, which attempt, the last error, the next try.

use docmill_core::Result;
use docmill_core::answer::WhyAnswer;
use docmill_core::clock::Timestamp;
use docmill_core::id::{DocumentId, IngestionId, TenantId};
use docmill_core::ingestion::{IngestionStatus, Stage};
use docmill_core::problem::ResultCode;
use docmill_core::state::TaskState;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};

use super::super::super::shared::look::{self as shared, Item, OpenTask, Surroundings};
use super::super::super::shared::worker::shown_since;
use super::super::row::{Columns, sql_error};
use super::{evidence, evidence_from, state};

pub(in super::super) async fn why(
    conn: &mut PgConnection,
    tenant: TenantId,
    id: &str,
    now: Timestamp,
) -> Result<Option<WhyAnswer>> {
    let Some(item) = newest(conn, tenant, id).await? else { return Ok(None) };
    let tasks = open_tasks(conn, tenant, item.ingestion_id).await?;
    let state = match item.document_id {
        Some(document) => document_state(conn, tenant, document, now).await?,
        None => item.status.name().to_owned(),
    };
    let around = surroundings(conn, tenant, shared::foremost(&tasks), now).await?;
    Ok(Some(shared::why(id, &item, &tasks, state, &around, now)))
}

/// The newest ingestion of a document, or the ingestion itself.
async fn newest(conn: &mut PgConnection, tenant: TenantId, id: &str) -> Result<Option<Item>> {
    let id: DocumentId = id.parse()?;
    let row = query::<Postgres>(
        "SELECT i.ingestion_id, d.document_id, i.batch_id, i.status, i.result, i.attempt, i.error, i.problems, i.skip_reason
         FROM ingestion i LEFT JOIN document d ON d.document_id = i.document_id AND NOT d.removed
         WHERE i.tenant_id = $2 AND (i.ingestion_id = $1 OR i.document_id = $1)
           AND (i.ingestion_id = $1 OR d.document_id IS NOT NULL)
         ORDER BY i.status = 'in_progress' DESC, i.generation DESC LIMIT 1",
    )
    .bind(id.0)
    .bind(tenant.0)
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up an item"))?;
    let Some(row) = row else { return Ok(None) };
    let mut c = Columns::new(&row);
    Ok(Some(Item {
        ingestion_id: c.ingestion()?,
        document_id: c.document_opt()?,
        batch_id: c.batch_opt()?,
        status: c.word(IngestionStatus::from_name)?,
        result: c.word_opt(ResultCode::from_name)?,
        attempt: c.int()?,
        error: c.json_opt()?,
        problems: c.json_opt()?.unwrap_or_default(),
        skip_reason: c.get()?,
    }))
}

async fn open_tasks(
    conn: &mut PgConnection,
    tenant: TenantId,
    ingestion: IngestionId,
) -> Result<Vec<OpenTask>> {
    let rows = query::<Postgres>(
        "SELECT kind, stage, state, run_at, owner, lease_until, attempt, error, open_parts, epoch FROM task
         WHERE ingestion_id = $1 AND tenant_id = $2 AND state IN ('waiting', 'queued', 'held', 'running')
         ORDER BY state = 'waiting', task_id",
    )
    .bind(ingestion.0)
    .bind(tenant.0)
    .fetch_all(conn)
    .await
    .map_err(sql_error("look up tasks"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(OpenTask {
                kind: c.get()?,
                stage: c.word(Stage::from_name)?,
                state: c.word(TaskState::from_name)?,
                run_at: c.time()?,
                owner: c.worker_opt()?,
                lease_until: c.time_opt()?,
                attempt: c.int()?,
                error: c.json_opt()?,
                open_parts: c.get()?,
                epoch: c.get()?,
            })
        })
        .collect()
}

async fn document_state(
    conn: &mut PgConnection,
    tenant: TenantId,
    document: DocumentId,
    now: Timestamp,
) -> Result<String> {
    let row = query::<Postgres>(concat!(
        "SELECT ",
        evidence!(),
        evidence_from!(),
        "WHERE d.document_id = $1 AND d.tenant_id = $2"
    ))
    .bind(document.0)
    .bind(tenant.0)
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up a document"))?;
    let found = row.as_ref().map(|row| state(&mut Columns::new(row), now)).transpose()?;
    Ok(found.map_or("", |(state, _)| state.name()).to_owned())
}

/// Only a queued task makes anyone ask how busy the engine is.
async fn surroundings(
    conn: &mut PgConnection,
    tenant: TenantId,
    task: Option<&OpenTask>,
    now: Timestamp,
) -> Result<Surroundings> {
    let Some(task) = task.filter(|t| t.state == TaskState::Queued) else {
        return Ok(Surroundings { kind_paused: false, any_worker: true, queued: 0 });
    };
    let row = query::<Postgres>(
        // A worker that names no kinds takes all.
        "SELECT EXISTS (SELECT 1 FROM paused_kind WHERE kind = $1),
           EXISTS (SELECT 1 FROM worker
             WHERE seen_at > $3 AND (kinds::jsonb = '[]' OR kinds::jsonb @> to_jsonb($1::text))),
           (SELECT count(*) FROM task WHERE state = 'queued' AND tenant_id = $2)",
    )
    .bind(&task.kind)
    .bind(tenant.0)
    .bind(shown_since(now))
    .fetch_one(conn)
    .await
    .map_err(sql_error("look how busy the engine is"))?;
    let mut c = Columns::new(&row);
    Ok(Surroundings { kind_paused: c.flag()?, any_worker: c.flag()?, queued: c.get()? })
}
