//! Everything about every ingestion. What hangs on them is read for a whole page at once.

use std::collections::HashMap;

use docmill_core::Result;
use docmill_core::artifact::Artifact;
use docmill_core::dossier::{Dossier, ManifestLine, ResultLine, TaskLine};
use docmill_core::id::{BlobKey, IngestionId, TenantId};
use docmill_core::ingestion::{Facts, IngestionStatus, Stage};
use docmill_core::problem::ResultCode;
use docmill_core::state::TaskState;
use docmill_core::task::{Attempts, Size, TaskKind};
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::super::row::{Columns, sql_error};

pub(in super::super) async fn dossiers(
    conn: &mut PgConnection,
    tenant: TenantId,
    after: Option<IngestionId>,
    limit: usize,
) -> Result<Vec<Dossier>> {
    let rows = query::<Postgres>(
        "SELECT ingestion_id, document_id, batch_id, parent_id, position, depth, superseded, origin, name, duplicate,
           status, result, skip_reason, error, problems, needs_review, attempt, media_type, page_count, word_count,
           language, quality, title, transcription_key,
           (SELECT u.body FROM understanding u WHERE u.ingestion_id = i.ingestion_id AND u.step = i.understood_by)
         FROM ingestion i WHERE tenant_id = $1 AND ingestion_id > $2 ORDER BY ingestion_id LIMIT $3",
    )
    .bind(tenant.0)
    .bind(after.map_or(Uuid::nil(), |id| id.0))
    .bind(i64::try_from(limit).unwrap_or(i64::MAX))
    .fetch_all(&mut *conn)
    .await
    .map_err(sql_error("list ingestions"))?;
    let mut dossiers: Vec<Dossier> =
        rows.iter().map(|row| ingestion(&mut Columns::new(row))).collect::<Result<_>>()?;
    let mut page = Page { conn, tenant, ids: dossiers.iter().map(|d| d.ingestion_id.0).collect() };
    let mut tasks = tasks(&mut page).await?;
    let mut results = results(&mut page).await?;
    let mut manifests = manifests(&mut page).await?;
    let mut artifacts = artifacts(&mut page).await?;
    for dossier in &mut dossiers {
        let id = dossier.ingestion_id;
        dossier.tasks = tasks.remove(&id).unwrap_or_default();
        dossier.results = results.remove(&id).unwrap_or_default();
        dossier.manifests = manifests.remove(&id).unwrap_or_default();
        dossier.artifacts = artifacts.remove(&id).unwrap_or_default();
    }
    Ok(dossiers)
}

fn ingestion(c: &mut Columns<'_>) -> Result<Dossier> {
    Ok(Dossier {
        ingestion_id: c.ingestion()?,
        document_id: c.document_opt()?,
        batch_id: c.batch_opt()?,
        parent_id: c.get::<Option<Uuid>>()?.map(IngestionId),
        position: c.int_opt()?,
        depth: c.int()?,
        superseded: c.flag()?,
        origin: c.get()?,
        name: c.get()?,
        duplicate: c.flag()?,
        status: c.word(IngestionStatus::from_name)?,
        result: c.word_opt(ResultCode::from_name)?,
        skip_reason: c.get()?,
        error: c.json_opt()?,
        problems: c.json_opt()?.unwrap_or_default(),
        needs_review: c.flag()?,
        attempt: c.int()?,
        facts: Facts {
            media_type: c.get()?,
            page_count: c.int_opt()?,
            word_count: c.int_opt()?,
            language: c.get()?,
            quality: c.get::<Option<f64>>()?.map(|q| q as f32),
            title: c.get()?,
            transcription: c.get::<Option<String>>()?.map(BlobKey::stored),
            understanding: c.json_opt()?,
        },
        tasks: Vec::new(),
        results: Vec::new(),
        manifests: Vec::new(),
        artifacts: Vec::new(),
    })
}

/// The ingestions of a page, and the connection to ask about them.
struct Page<'c> {
    conn: &'c mut PgConnection,
    tenant: TenantId,
    ids: Vec<Uuid>,
}

impl Page<'_> {
    /// What hangs on the ingestions `$1` of the tenant `$2`. The first column is the ingestion.
    async fn collect<T>(
        &mut self,
        doing: &'static str,
        sql: &'static str,
        read: impl Fn(&mut Columns<'_>) -> Result<T>,
    ) -> Result<HashMap<IngestionId, Vec<T>>> {
        let rows = query::<Postgres>(sql)
            .bind(&self.ids)
            .bind(self.tenant.0)
            .fetch_all(&mut *self.conn)
            .await
            .map_err(sql_error(doing))?;
        let mut found: HashMap<IngestionId, Vec<T>> = HashMap::new();
        for row in &rows {
            let mut c = Columns::new(row);
            found.entry(c.ingestion()?).or_default().push(read(&mut c)?);
        }
        Ok(found)
    }
}

async fn tasks(page: &mut Page<'_>) -> Result<HashMap<IngestionId, Vec<TaskLine>>> {
    let sql =
        "SELECT ingestion_id, task_id, kind, stage, state, size, attempt, size_attempt, lost, owner, error
      FROM task WHERE ingestion_id = ANY($1) AND tenant_id = $2 ORDER BY task_id";
    let tasks = page.collect("list tasks", sql, |c| {
        Ok(TaskLine {
            task_id: c.task()?,
            kind: TaskKind::stored(c.get::<String>()?),
            stage: c.word(Stage::from_name)?,
            state: c.word(TaskState::from_name)?,
            size: c.word(Size::from_name)?,
            attempts: Attempts { total: c.int()?, in_size: c.int()?, lost: c.int()? },
            owner: c.worker_opt()?,
            error: c.json_opt()?,
        })
    });
    tasks.await
}

async fn results(page: &mut Page<'_>) -> Result<HashMap<IngestionId, Vec<ResultLine>>> {
    let sql = "SELECT ingestion_id, step, fingerprint, degraded, reused FROM step_result
      WHERE ingestion_id = ANY($1) AND tenant_id = $2 ORDER BY step, fingerprint";
    let results = page.collect("list results", sql, |c| {
        Ok(ResultLine {
            step: TaskKind::stored(c.get::<String>()?),
            fingerprint: c.hash()?,
            degraded: c.flag()?,
            reused: c.flag()?,
        })
    });
    results.await
}

async fn manifests(page: &mut Page<'_>) -> Result<HashMap<IngestionId, Vec<ManifestLine>>> {
    let sql = "SELECT ingestion_id, fingerprint, declared, emitted, refused, ended, superseded FROM manifest
      WHERE ingestion_id = ANY($1) AND tenant_id = $2 ORDER BY fingerprint";
    let manifests = page.collect("list manifests", sql, |c| {
        Ok(ManifestLine {
            fingerprint: c.hash()?,
            declared: c.int_opt()?,
            emitted: c.count()?,
            refused: c.count()?,
            ended: c.flag()?,
            superseded: c.flag()?,
        })
    });
    manifests.await
}

async fn artifacts(page: &mut Page<'_>) -> Result<HashMap<IngestionId, Vec<Artifact>>> {
    let sql = "SELECT a.ingestion_id, a.name, a.blob_key, a.hash, a.bytes, a.media_type
      FROM artifact a JOIN ingestion i ON i.ingestion_id = a.ingestion_id
      WHERE a.ingestion_id = ANY($1) AND i.tenant_id = $2 ORDER BY a.name";
    let artifacts = page.collect("list artifacts", sql, |c| {
        Ok(Artifact {
            name: c.get()?,
            key: BlobKey::stored(c.get::<String>()?),
            hash: c.hash()?,
            bytes: c.count()?,
            media_type: c.get()?,
        })
    });
    artifacts.await
}
