//! Schemas of users, and records: written with the report that brings them, current with the end of their ingestion.

use docmill_core::id::{DocumentId, IngestionId, TenantId};
use docmill_core::ports::store::Done;
use docmill_core::record::{KeptRecord, RecordAnswer, RecordLine, RecordQuery, RecordState, StoredSchema};
use docmill_core::{Error, Result};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::look::{collect, first, resolve};
use super::row::{Columns, json as to_json, sql_error};
use super::task::Belongs;
use super::tx::Tx;

/// Answers the version that this text has, or gets. The writer is one thread, so nothing comes between look and entry.
pub(super) fn put_schema(tx: &Tx<'_>, tenant: TenantId, name: &str, text: &str) -> Result<u32> {
    let newest: Option<(u32, String)> = tx
        .sql("SELECT version, body FROM schema WHERE tenant_id = ?1 AND name = ?2 ORDER BY version DESC LIMIT 1")?
        .query_row(params![tenant.as_bytes(), name], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()
        .map_err(sql_error("look up a schema"))?;
    let version = match newest {
        Some((version, known)) if known == text => return Ok(version),
        Some((version, _)) => version + 1,
        None => 1,
    };
    tx.sql("INSERT INTO schema (tenant_id, name, version, body, created_at) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![tenant.as_bytes(), name, version, text, tx.now.0])
        .map_err(sql_error("keep a schema"))?;
    Ok(version)
}

pub(super) fn schemas(conn: &Connection, tenant: TenantId) -> Result<Vec<StoredSchema>> {
    let sql = "SELECT s.name, s.version, s.body, s.created_at FROM schema s WHERE s.tenant_id = ?1
        AND s.version = (SELECT max(n.version) FROM schema n WHERE n.tenant_id = s.tenant_id AND n.name = s.name)
      ORDER BY s.name";
    collect(conn, "list schemas", sql, [tenant.as_bytes()], stored)
}

pub(super) fn schema(
    conn: &Connection,
    tenant: TenantId,
    name: &str,
    version: Option<u32>,
) -> Result<Option<StoredSchema>> {
    let sql = "SELECT name, version, body, created_at FROM schema
      WHERE tenant_id = ?1 AND name = ?2 AND (?3 IS NULL OR version = ?3) ORDER BY version DESC LIMIT 1";
    first(conn, "look up a schema", sql, params![tenant.as_bytes(), name, version], stored)
}

fn stored(c: &mut Columns<'_, '_>) -> Result<StoredSchema> {
    Ok(StoredSchema { name: c.get()?, version: c.get()?, text: c.get()?, created_at: c.time()? })
}

/// Keeps the record that a task brings. What a person has decided about is not overwritten.
pub(super) fn keep(tx: &Tx<'_>, belongs: &Belongs, done: &Done) -> Result<()> {
    let Some(new) = &done.extracted else { return Ok(()) };
    let Some(document) = belongs.document_id else {
        return Err(Error::bug(format!("ingestion {} has a record and no document", belongs.ingestion_id)));
    };
    let found = &new.extraction;
    let reasons = if new.reasons.is_empty() { None } else { Some(to_json(&new.reasons)?) };
    tx.sql(
        "INSERT INTO record (ingestion_id, tenant_id, document_id, schema, version, body, valid, confidence, model,
           tokens_in, tokens_out, missing, reasons, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (ingestion_id) DO UPDATE SET schema = excluded.schema, version = excluded.version,
           body = excluded.body, valid = excluded.valid, confidence = excluded.confidence, model = excluded.model,
           tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out, missing = excluded.missing,
           reasons = excluded.reasons, at = excluded.at
         WHERE NOT EXISTS (SELECT 1 FROM review v WHERE v.ingestion_id = record.ingestion_id
           AND v.state IN ('accepted', 'corrected', 'rejected'))",
    )?
    .execute(params![
        belongs.ingestion_id.as_bytes(),
        belongs.tenant_id.as_bytes(),
        document.as_bytes(),
        found.schema,
        new.version,
        to_json(found)?,
        found.valid,
        f64::from(found.confidence),
        found.model,
        found.tokens_in as i64,
        found.tokens_out as i64,
        new.missing(),
        reasons,
        tx.now.0,
    ])
    .map_err(sql_error("keep a record"))?;
    Ok(())
}

/// Which record document `?1` has once the ingestion of `i` and its record `r` have ended: the newest, unless a person
/// has decided about the older one, by the same version of the schema: a record that was rejected does not come back.
pub(super) const HOLDS: &str = "CASE
    WHEN r.ingestion_id IS NULL THEN document.record_in
    WHEN EXISTS (SELECT 1 FROM record h JOIN review v ON v.ingestion_id = h.ingestion_id
        WHERE h.ingestion_id = document.record_in AND v.state IN ('accepted', 'corrected', 'rejected')
          AND h.schema = r.schema AND h.version = r.version) THEN document.record_in
    ELSE r.ingestion_id END";

/// Puts the record that holds for a document into the queue if a person should look, in the transaction that made it hold.
pub(super) fn settle(
    tx: &Tx<'_>,
    document: DocumentId,
    ingestion: IngestionId,
    holds: IngestionId,
) -> Result<()> {
    if holds == ingestion {
        tx.sql(
            "UPDATE review SET state = 'superseded', locked_by = NULL, locked_until = NULL, decided_at = ?3
             WHERE document_id = ?1 AND ingestion_id <> ?2 AND state = 'open'",
        )?
        .execute(params![document.as_bytes(), ingestion.as_bytes(), tx.now.0])
        .map_err(sql_error("close older reviews"))?;
        tx.sql(
            "INSERT INTO review (ingestion_id, tenant_id, document_id, schema, state, reasons, confidence, missing,
               created_at)
             SELECT ingestion_id, tenant_id, document_id, schema, 'open', reasons, confidence, missing, ?2
             FROM record WHERE ingestion_id = ?1 AND reasons IS NOT NULL
             ON CONFLICT (ingestion_id) DO NOTHING",
        )?
        .execute(params![ingestion.as_bytes(), tx.now.0])
        .map_err(sql_error("ask for a review"))?;
    }
    let open = "EXISTS (SELECT 1 FROM review v WHERE v.ingestion_id = ?2 AND v.state = 'open')";
    for sql in [
        format!("UPDATE document SET needs_review = 1 WHERE document_id = ?1 AND {open}"),
        format!(
            "UPDATE ingestion SET needs_review = 1 WHERE document_id = ?1 AND ingestion_id = ?2 AND {open}"
        ),
    ] {
        tx.sql(&sql)?
            .execute(params![document.as_bytes(), holds.as_bytes()])
            .map_err(sql_error("flag a document"))?;
    }
    Ok(())
}

const KEPT: &str = "SELECT r.ingestion_id, r.document_id, r.version, r.body FROM record r
  JOIN document d ON d.record_in = r.ingestion_id WHERE d.document_id = ?1 AND d.tenant_id = ?2 AND d.removed = 0";

pub(super) fn record(conn: &Connection, tenant: TenantId, id: &str) -> Result<Option<KeptRecord>> {
    let Some(document) = resolve(conn, tenant, id)? else { return Ok(None) };
    first(conn, "look up a record", KEPT, params![document.as_bytes(), tenant.as_bytes()], |c| {
        let (ingestion_id, document_id, version) = (c.ingestion()?, c.document()?, c.get()?);
        let extraction = c.json_opt()?.ok_or_else(|| Error::bug("a record has no body"))?;
        Ok(KeptRecord { ingestion_id, document_id, version, extraction })
    })
}

pub(super) fn ingestion_id(c: &mut Columns<'_, '_>) -> Result<IngestionId> {
    c.ingestion()
}

/// The record of a document as it is shown, and the review that waits for a person.
pub(super) fn shown(
    conn: &Connection,
    tenant: TenantId,
    document: DocumentId,
) -> Result<(Option<RecordAnswer>, Option<IngestionId>)> {
    let kept = record(conn, tenant, &document.to_string())?;
    let Some(kept) = kept else { return Ok((None, None)) };
    let sql = "SELECT ingestion_id FROM review WHERE ingestion_id = ?1 AND state = 'open'";
    let review = first(conn, "look up a review", sql, [kept.ingestion_id.as_bytes()], ingestion_id)?;
    Ok((Some(RecordAnswer::new(kept.version, kept.extraction)), review))
}

pub(super) fn records(conn: &Connection, tenant: TenantId, query: &RecordQuery) -> Result<Vec<RecordLine>> {
    let sql = "SELECT r.document_id, d.name, d.created_at, r.schema, r.version, coalesce(v.state, 'passed'), r.valid,
        r.confidence, r.body
      FROM record r JOIN document d ON d.document_id = r.document_id AND d.record_in = r.ingestion_id
        LEFT JOIN review v ON v.ingestion_id = r.ingestion_id
      WHERE r.tenant_id = ?1 AND r.schema = ?2 AND d.removed = 0 AND (?3 IS NULL OR r.document_id > ?3)
        AND CASE WHEN ?4 IS NULL THEN coalesce(v.state, 'passed') <> 'rejected' ELSE coalesce(v.state, 'passed') = ?4 END
        AND (?5 IS NULL OR d.created_at >= ?5) AND (?6 IS NULL OR d.created_at < ?6)
      ORDER BY r.document_id LIMIT ?7";
    let args = params![
        tenant.as_bytes(),
        query.schema,
        query.after.as_ref().map(DocumentId::as_bytes),
        query.state.map(RecordState::name),
        query.since.map(|t| t.0),
        query.until.map(|t| t.0),
        query.limit as i64,
    ];
    collect(conn, "list records", sql, args, |c| {
        let (document_id, name, created_at) = (c.document()?, c.get()?, c.time()?);
        let (schema, version) = (c.get()?, c.get()?);
        let (state, valid) = (c.word(RecordState::from_name)?, c.flag()?);
        let confidence = c.get::<f64>()? as f32;
        let found: docmill_core::extraction::Extraction =
            c.json_opt()?.ok_or_else(|| Error::bug("a record has no body"))?;
        Ok(RecordLine {
            document_id,
            name,
            created_at,
            schema,
            version,
            state,
            valid,
            confidence,
            data: found.data,
        })
    })
}
