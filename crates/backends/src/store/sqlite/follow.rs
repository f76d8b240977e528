//! What followers and maintenance read: the change log, reusable results, blob keys.

use docmill_core::Result;
use docmill_core::artifact::Artifact;
use docmill_core::clock::Timestamp;
use docmill_core::id::{BlobKey, ContentHash, IngestionId, TenantId};
use docmill_core::ports::filter::Particulars;
use docmill_core::ports::store::{ChangedDocument, StepRecord};
use docmill_core::task::TaskKind;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::claim;
use super::look::kind;
use super::row::{Columns, json, sql_error};

pub(super) fn changes(conn: &Connection, after: i64, limit: usize) -> Result<Vec<ChangedDocument>> {
    let mut statement = conn
        .prepare_cached(&format!(
            "SELECT d.change_seq, d.tenant_id, d.document_id, d.removed, d.name, d.title, d.media_type, d.transcription_key,
               coalesce(c.language, i.language), {},
               (SELECT u.body FROM understanding u WHERE u.ingestion_id = i.ingestion_id AND u.step = i.understood_by)
             FROM document d
               LEFT JOIN ingestion c ON c.ingestion_id = d.current_ingestion_id
               LEFT JOIN ingestion i ON i.ingestion_id = d.understood_in
             WHERE d.change_seq > ?1 ORDER BY d.change_seq LIMIT ?2",
            kind!()
        ))
        .map_err(sql_error("read changes"))?;
    let mut rows = statement.query(params![after, limit as i64]).map_err(sql_error("read changes"))?;
    let mut out = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("read changes"))? {
        let mut c = Columns::new(row);
        out.push(ChangedDocument {
            seq: c.get()?,
            tenant_id: c.tenant()?,
            document_id: c.document()?,
            removed: c.flag()?,
            name: c.get()?,
            title: c.get()?,
            media_type: c.get()?,
            transcription: c.get::<Option<String>>()?.map(BlobKey::stored),
            particulars: Particulars::of(c.get()?, c.get()?, c.json_opt()?.unwrap_or_default()),
        });
    }
    Ok(out)
}

pub(super) fn last_change(conn: &Connection) -> Result<i64> {
    conn.prepare_cached("SELECT value FROM counter WHERE name = 'change_seq'")
        .and_then(|mut s| s.query_row([], |r| r.get(0)))
        .map_err(sql_error("read the change number"))
}

pub(super) fn find_step(
    conn: &Connection,
    tenant: TenantId,
    step: &TaskKind,
    fingerprint: &ContentHash,
) -> Result<Option<StepRecord>> {
    let mut statement = conn
        .prepare_cached(
            "SELECT s.body, u.body FROM step_result s
               LEFT JOIN understanding u ON u.ingestion_id = s.ingestion_id AND u.step = s.step
             WHERE s.tenant_id = ?1 AND s.step = ?2 AND s.fingerprint = ?3 AND s.degraded = 0 AND s.reused = 0 LIMIT 1",
        )
        .map_err(sql_error("look for a result"))?;
    let mut rows = statement
        .query(params![tenant.as_bytes(), step.as_str(), fingerprint.0])
        .map_err(sql_error("look for a result"))?;
    match rows.next().map_err(sql_error("look for a result"))? {
        Some(row) => {
            let mut c = Columns::new(row);
            let (record, understanding) = (c.json_opt::<StepRecord>()?, c.json_opt()?);
            Ok(record.map(|record| record.with_understanding(understanding)))
        }
        None => Ok(None),
    }
}

pub(super) fn artifacts(conn: &Connection, ingestion: IngestionId, prefix: &str) -> Result<Vec<Artifact>> {
    let mut statement = conn
        .prepare_cached(
            "SELECT name, blob_key, hash, bytes, media_type FROM artifact
             WHERE ingestion_id = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY name",
        )
        .map_err(sql_error("list artifacts"))?;
    let mut rows =
        statement.query(params![ingestion.as_bytes(), prefix]).map_err(sql_error("list artifacts"))?;
    let mut out = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error("list artifacts"))? {
        let mut c = Columns::new(row);
        out.push(Artifact {
            name: c.get()?,
            key: BlobKey::stored(c.get::<String>()?),
            hash: c.hash()?,
            bytes: c.count()?,
            media_type: c.get()?,
        });
    }
    Ok(out)
}

/// When the next task of these kinds is due.
pub(super) fn next_due(conn: &Connection, kinds: &[TaskKind], now: Timestamp) -> Result<Option<Timestamp>> {
    let mut tenants = conn.prepare_cached(claim::NEXT_TENANT).map_err(sql_error("look for work"))?;
    let mut earliest: Option<i64> = None;
    let mut from = Vec::new();
    while let Some(tenant) = claim::next_tenant(&mut tenants, &from)? {
        from = tenant.as_bytes().to_vec();
        for kind in kinds {
            let due = due_of(conn, tenant, kind, now)?;
            earliest = [earliest, due].into_iter().flatten().min();
            if earliest.is_some_and(|at| at <= now.0) {
                return Ok(earliest.map(Timestamp));
            }
        }
    }
    Ok(earliest.map(Timestamp))
}

/// Most of a long queue is due, so the first question ends at the first row; only a queue of nothing but later
/// tasks is looked through.
fn due_of(conn: &Connection, tenant: TenantId, kind: &TaskKind, now: Timestamp) -> Result<Option<i64>> {
    let ask = |sql: &str| -> Result<Option<i64>> {
        conn.prepare_cached(sql)
            .and_then(|mut s| {
                s.query_row(params![tenant.as_bytes(), kind.as_str(), now.0], |r| r.get::<_, Option<i64>>(0))
                    .optional()
            })
            .map(Option::flatten)
            .map_err(sql_error("look for work"))
    };
    let due = ask(
        "SELECT run_at FROM task WHERE state = 'queued' AND tenant_id = ?1 AND kind = ?2 AND run_at <= ?3
        AND kind NOT IN (SELECT kind FROM paused_kind) LIMIT 1",
    )?;
    if due.is_some() {
        return Ok(due);
    }
    ask("SELECT min(run_at) FROM task WHERE state = 'queued' AND tenant_id = ?1 AND kind = ?2 AND run_at > ?3
        AND kind NOT IN (SELECT kind FROM paused_kind)")
}

pub(super) fn open_tasks(conn: &Connection, kinds: &[TaskKind], tenant: Option<TenantId>) -> Result<u64> {
    let kinds = json(&kinds)?;
    conn.prepare_cached(
        "SELECT (SELECT count(*) FROM task WHERE state = 'queued' AND kind IN (SELECT value FROM json_each(?1))
             AND kind NOT IN (SELECT kind FROM paused_kind) AND (?2 IS NULL OR tenant_id = ?2))
           + (SELECT count(*) FROM task WHERE state = 'running' AND (?2 IS NULL OR tenant_id = ?2))",
    )
    .and_then(|mut s| {
        s.query_row(params![kinds, tenant.as_ref().map(TenantId::as_bytes)], |r| r.get::<_, i64>(0))
    })
    .map(|n| u64::try_from(n).unwrap_or(0))
    .map_err(sql_error("count tasks"))
}

/// Keys that rows name, in order.
pub(super) fn blob_keys(conn: &Connection, after: Option<&BlobKey>, limit: usize) -> Result<Vec<BlobKey>> {
    let mut statement = conn
        .prepare_cached(
            "SELECT blob_key FROM document WHERE blob_key > ?1
             UNION SELECT blob_key FROM artifact WHERE blob_key > ?1 ORDER BY 1 LIMIT ?2",
        )
        .map_err(sql_error("list blob keys"))?;
    statement
        .query_map(params![after.map_or("", BlobKey::as_str), limit as i64], |r| {
            r.get::<_, String>(0).map(BlobKey::stored)
        })
        .and_then(Iterator::collect)
        .map_err(sql_error("list blob keys"))
}

/// Which of these keys a row names. The key of an original holds the document's id, so both look-ups are by an index.
pub(super) fn referenced(conn: &Connection, keys: &[BlobKey]) -> Result<Vec<bool>> {
    let mut artifact = conn
        .prepare_cached("SELECT 1 FROM artifact WHERE blob_key = ?1")
        .map_err(sql_error("look up a blob key"))?;
    let mut document = conn
        .prepare_cached("SELECT 1 FROM document WHERE document_id = ?1 AND blob_key = ?2")
        .map_err(sql_error("look up a blob key"))?;
    let mut out = Vec::with_capacity(keys.len());
    for key in keys {
        let found: Option<i64> = match key.original_of() {
            Some(id) => document.query_row(params![id.as_bytes(), key.as_str()], |r| r.get(0)).optional(),
            None => artifact.query_row([key.as_str()], |r| r.get(0)).optional(),
        }
        .map_err(sql_error("look up a blob key"))?;
        out.push(found.is_some());
    }
    Ok(out)
}
