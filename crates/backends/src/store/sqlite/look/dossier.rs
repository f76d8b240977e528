//! Everything about every ingestion.

use docmill_core::Result;
use docmill_core::dossier::{Dossier, ManifestLine, ResultLine, TaskLine};
use docmill_core::id::{BlobKey, IngestionId, TaskId, TenantId};
use docmill_core::ingestion::{Facts, IngestionStatus, Stage};
use docmill_core::problem::ResultCode;
use docmill_core::state::TaskState;
use docmill_core::task::{Attempts, Size, TaskKind};
use rusqlite::{Connection, params};

use super::super::follow;
use super::super::row::Columns;
use super::collect;

pub(in super::super) fn dossiers(
    conn: &Connection,
    tenant: TenantId,
    after: Option<IngestionId>,
    limit: usize,
) -> Result<Vec<Dossier>> {
    let sql =
        "SELECT ingestion_id, document_id, batch_id, parent_id, position, depth, superseded, origin, name,
        duplicate, status, result, skip_reason, error, problems, needs_review, attempt,
        media_type, page_count, word_count, language, quality, title, transcription_key,
        (SELECT u.body FROM understanding u WHERE u.ingestion_id = i.ingestion_id AND u.step = i.understood_by)
      FROM ingestion i WHERE tenant_id = ?1 AND ingestion_id > ?2 ORDER BY ingestion_id LIMIT ?3";
    let after = after.map_or([0; 16], |id| *id.as_bytes());
    let mut dossiers =
        collect(conn, "list ingestions", sql, params![tenant.as_bytes(), after, limit as i64], ingestion)?;
    for dossier in &mut dossiers {
        let id = dossier.ingestion_id;
        dossier.tasks = tasks(conn, id)?;
        dossier.results = results(conn, id)?;
        dossier.manifests = manifests(conn, id)?;
        dossier.artifacts = follow::artifacts(conn, id, "")?;
    }
    Ok(dossiers)
}

fn ingestion(c: &mut Columns<'_, '_>) -> Result<Dossier> {
    Ok(Dossier {
        ingestion_id: c.ingestion()?,
        document_id: c.document_opt()?,
        batch_id: c.batch_opt()?,
        parent_id: c.get::<Option<Vec<u8>>>()?.map(|id| IngestionId::from_slice(&id)).transpose()?,
        position: number(c)?,
        depth: c.get()?,
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
        attempt: c.get()?,
        facts: Facts {
            media_type: c.get()?,
            page_count: c.get()?,
            word_count: number(c)?,
            language: c.get()?,
            quality: c.get()?,
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

fn number(c: &mut Columns<'_, '_>) -> Result<Option<u64>> {
    Ok(c.get::<Option<i64>>()?.and_then(|n| u64::try_from(n).ok()))
}

fn tasks(conn: &Connection, ingestion: IngestionId) -> Result<Vec<TaskLine>> {
    let sql = "SELECT task_id, kind, stage, state, size, attempt, size_attempt, lost, owner, error
      FROM task WHERE ingestion_id = ?1 ORDER BY task_id";
    collect(conn, "list tasks", sql, [ingestion.as_bytes()], |c| {
        Ok(TaskLine {
            task_id: TaskId(c.get()?),
            kind: TaskKind::stored(c.get::<String>()?),
            stage: c.word(Stage::from_name)?,
            state: c.word(TaskState::from_name)?,
            size: c.word(Size::from_name)?,
            attempts: Attempts { total: c.get()?, in_size: c.get()?, lost: c.get()? },
            owner: c.worker_opt()?,
            error: c.json_opt()?,
        })
    })
}

fn results(conn: &Connection, ingestion: IngestionId) -> Result<Vec<ResultLine>> {
    let sql = "SELECT step, fingerprint, degraded, reused FROM step_result WHERE ingestion_id = ?1
      ORDER BY step, fingerprint";
    collect(conn, "list results", sql, [ingestion.as_bytes()], |c| {
        Ok(ResultLine {
            step: TaskKind::stored(c.get::<String>()?),
            fingerprint: c.hash()?,
            degraded: c.flag()?,
            reused: c.flag()?,
        })
    })
}

fn manifests(conn: &Connection, ingestion: IngestionId) -> Result<Vec<ManifestLine>> {
    let sql = "SELECT fingerprint, declared, emitted, refused, ended, superseded FROM manifest
      WHERE ingestion_id = ?1 ORDER BY fingerprint";
    collect(conn, "list manifests", sql, [ingestion.as_bytes()], |c| {
        Ok(ManifestLine {
            fingerprint: c.hash()?,
            declared: number(c)?,
            emitted: c.count()?,
            refused: c.count()?,
            ended: c.flag()?,
            superseded: c.flag()?,
        })
    })
}
