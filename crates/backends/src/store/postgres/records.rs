//! Schemas of users, and records: written with the report that brings them, current with the end of their ingestion.

use docmill_core::extraction::Extraction;
use docmill_core::id::{DocumentId, IngestionId, TenantId};
use docmill_core::ports::store::Done;
use docmill_core::record::{
    KeptRecord, NewRecord, RecordAnswer, RecordLine, RecordQuery, RecordState, StoredSchema,
};
use docmill_core::{Error, Result};
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::look::resolve;
use super::row::{Columns, json as to_json, sql_error, text, text_opt};
use super::task::{Belongs, TaskRow};
use super::tx::Tx;

/// Answers the version that this text has, or gets. Two who bring texts at once meet at the key: the second one's
/// transaction is repeated and finds the first.
pub(super) async fn put_schema(tx: &mut Tx, tenant: TenantId, name: &str, body: &str) -> Result<u32> {
    let newest = query::<Postgres>(
        "SELECT version, body FROM schema WHERE tenant_id = $1 AND name = $2 ORDER BY version DESC LIMIT 1",
    )
    .bind(tenant.0)
    .bind(text(name))
    .fetch_optional(tx.conn())
    .await
    .map_err(sql_error("look up a schema"))?;
    let version = match &newest {
        None => 1,
        Some(row) => {
            let mut c = Columns::new(row);
            let (version, known): (u32, String) = (c.int()?, c.get()?);
            if known == text(body) {
                return Ok(version);
            }
            version + 1
        }
    };
    query::<Postgres>(
        "INSERT INTO schema (tenant_id, name, version, body, created_at) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(tenant.0)
    .bind(text(name))
    .bind(i64::from(version))
    .bind(text(body))
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("keep a schema"))?;
    Ok(version)
}

pub(super) async fn schemas(conn: &mut PgConnection, tenant: TenantId) -> Result<Vec<StoredSchema>> {
    let rows = query::<Postgres>(
        "SELECT DISTINCT ON (name) name, version, body, created_at FROM schema WHERE tenant_id = $1
         ORDER BY name, version DESC",
    )
    .bind(tenant.0)
    .fetch_all(conn)
    .await
    .map_err(sql_error("list schemas"))?;
    rows.iter().map(|row| stored(&mut Columns::new(row))).collect()
}

pub(super) async fn schema(
    conn: &mut PgConnection,
    tenant: TenantId,
    name: &str,
    version: Option<u32>,
) -> Result<Option<StoredSchema>> {
    let row = query::<Postgres>(
        "SELECT name, version, body, created_at FROM schema
         WHERE tenant_id = $1 AND name = $2 AND ($3::bigint IS NULL OR version = $3) ORDER BY version DESC LIMIT 1",
    )
    .bind(tenant.0)
    .bind(text(name))
    .bind(version.map(i64::from))
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up a schema"))?;
    row.map(|row| stored(&mut Columns::new(&row))).transpose()
}

fn stored(c: &mut Columns<'_>) -> Result<StoredSchema> {
    Ok(StoredSchema { name: c.get()?, version: c.int()?, text: c.get()?, created_at: c.time()? })
}

/// A record that a task brings.
pub(super) struct Extracted {
    belongs: Belongs,
    document: DocumentId,
    new: Box<NewRecord>,
}

impl Extracted {
    pub(super) fn by(row: &TaskRow, done: &Done) -> Result<Option<Self>> {
        let Some(new) = &done.extracted else { return Ok(None) };
        let Some(document) = row.belongs.document_id else {
            let id = row.belongs.ingestion_id;
            return Err(Error::bug(format!("ingestion {id} has a record and no document")));
        };
        Ok(Some(Self { belongs: row.belongs, document, new: new.clone() }))
    }
}

/// A statement a record: few documents have one. What a person has decided about is not overwritten.
pub(super) async fn keep(tx: &mut Tx, extracted: &[Extracted]) -> Result<()> {
    for Extracted { belongs, document, new } in extracted {
        let found = &new.extraction;
        let reasons = if new.reasons.is_empty() { None } else { Some(to_json(&new.reasons)?) };
        query::<Postgres>(
            "INSERT INTO record (ingestion_id, tenant_id, document_id, schema, version, body, valid, confidence, model,
               tokens_in, tokens_out, missing, reasons, at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
             ON CONFLICT (ingestion_id) DO UPDATE SET schema = excluded.schema, version = excluded.version,
               body = excluded.body, valid = excluded.valid, confidence = excluded.confidence, model = excluded.model,
               tokens_in = excluded.tokens_in, tokens_out = excluded.tokens_out, missing = excluded.missing,
               reasons = excluded.reasons, at = excluded.at
             WHERE NOT EXISTS (SELECT 1 FROM review v WHERE v.ingestion_id = record.ingestion_id
               AND v.state IN ('accepted', 'corrected', 'rejected'))",
        )
        .bind(belongs.ingestion_id.0)
        .bind(belongs.tenant_id.0)
        .bind(document.0)
        .bind(text(&found.schema))
        .bind(i64::from(new.version))
        .bind(to_json(found)?)
        .bind(found.valid)
        .bind(f64::from(found.confidence))
        .bind(text_opt(found.model.as_deref()))
        .bind(found.tokens_in as i64)
        .bind(found.tokens_out as i64)
        .bind(i64::from(new.missing()))
        .bind(reasons)
        .bind(tx.now.0)
        .execute(tx.conn())
        .await
        .map_err(sql_error("keep a record"))?;
    }
    Ok(())
}

/// Which record document `d` has once the ingestion of `i` and its record `r` have ended: the newest, unless a person has
/// decided about the older one, by the same version of the schema: a record that was rejected does not come back.
macro_rules! holds {
    () => {
        "CASE
           WHEN r.ingestion_id IS NULL THEN d.record_in
           WHEN EXISTS (SELECT 1 FROM record h JOIN review v ON v.ingestion_id = h.ingestion_id
               WHERE h.ingestion_id = d.record_in AND v.state IN ('accepted', 'corrected', 'rejected')
                 AND h.schema = r.schema AND h.version = r.version) THEN d.record_in
           ELSE r.ingestion_id END"
    };
}

pub(super) use holds;

/// Puts the record that holds for a document into the queue if a person should look, in the transaction that made it hold.
/// The document is locked: whoever decides locks it before the review, too.
pub(super) async fn settle(
    tx: &mut Tx,
    document: DocumentId,
    ingestion: IngestionId,
    holds: IngestionId,
) -> Result<()> {
    let now = tx.now.0;
    if holds == ingestion {
        query::<Postgres>(
            "UPDATE review SET state = 'superseded', locked_by = NULL, locked_until = NULL, decided_at = $3
             WHERE document_id = $1 AND ingestion_id <> $2 AND state = 'open'",
        )
        .bind(document.0)
        .bind(ingestion.0)
        .bind(now)
        .execute(tx.conn())
        .await
        .map_err(sql_error("close older reviews"))?;
        query::<Postgres>(
            "INSERT INTO review (ingestion_id, tenant_id, document_id, schema, state, reasons, confidence, missing,
               created_at)
             SELECT ingestion_id, tenant_id, document_id, schema, 'open', reasons, confidence, missing, $2
             FROM record WHERE ingestion_id = $1 AND reasons IS NOT NULL
             ON CONFLICT (ingestion_id) DO NOTHING",
        )
        .bind(ingestion.0)
        .bind(now)
        .execute(tx.conn())
        .await
        .map_err(sql_error("ask for a review"))?;
    }
    for sql in [
        "UPDATE document SET needs_review = true WHERE document_id = $1
           AND EXISTS (SELECT 1 FROM review v WHERE v.ingestion_id = $2 AND v.state = 'open')",
        "UPDATE ingestion SET needs_review = true WHERE document_id = $1 AND ingestion_id = $2
           AND EXISTS (SELECT 1 FROM review v WHERE v.ingestion_id = $2 AND v.state = 'open')",
    ] {
        query::<Postgres>(sql)
            .bind(document.0)
            .bind(holds.0)
            .execute(tx.conn())
            .await
            .map_err(sql_error("flag a document"))?;
    }
    Ok(())
}

pub(super) async fn record(
    conn: &mut PgConnection,
    tenant: TenantId,
    id: &str,
) -> Result<Option<KeptRecord>> {
    let Some(document) = resolve(conn, tenant, id).await? else { return Ok(None) };
    let row = query::<Postgres>(
        "SELECT r.ingestion_id, r.document_id, r.version, r.body FROM record r
           JOIN document d ON d.record_in = r.ingestion_id
         WHERE d.document_id = $1 AND d.tenant_id = $2 AND NOT d.removed",
    )
    .bind(document.0)
    .bind(tenant.0)
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up a record"))?;
    let Some(row) = row else { return Ok(None) };
    let mut c = Columns::new(&row);
    let (ingestion_id, document_id, version) = (c.ingestion()?, c.document()?, c.int()?);
    Ok(Some(KeptRecord { ingestion_id, document_id, version, extraction: body(&mut c)? }))
}

/// The record itself, as it is kept.
pub(super) fn body(c: &mut Columns<'_>) -> Result<Extraction> {
    c.json_opt()?.ok_or_else(|| Error::bug("a record has no body"))
}

/// The record of a document as it is shown, and the review that waits for a person.
pub(super) async fn shown(
    conn: &mut PgConnection,
    tenant: TenantId,
    document: DocumentId,
) -> Result<(Option<RecordAnswer>, Option<IngestionId>)> {
    let kept = record(conn, tenant, &document.to_string()).await?;
    let Some(kept) = kept else { return Ok((None, None)) };
    let review = query_scalar::<Postgres, Uuid>(
        "SELECT ingestion_id FROM review WHERE ingestion_id = $1 AND tenant_id = $2 AND state = 'open'",
    )
    .bind(kept.ingestion_id.0)
    .bind(tenant.0)
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up a review"))?;
    Ok((Some(RecordAnswer::new(kept.version, kept.extraction)), review.map(IngestionId)))
}

pub(super) async fn records(
    conn: &mut PgConnection,
    tenant: TenantId,
    query: &RecordQuery,
) -> Result<Vec<RecordLine>> {
    let rows = sqlx_core::query::query::<Postgres>(
        "SELECT r.document_id, d.name, d.created_at, r.schema, r.version, coalesce(v.state, 'passed'), r.valid,
           r.confidence, r.body
         FROM record r JOIN document d ON d.document_id = r.document_id AND d.record_in = r.ingestion_id
           LEFT JOIN review v ON v.ingestion_id = r.ingestion_id
         WHERE r.tenant_id = $1 AND r.schema = $2 AND NOT d.removed AND ($3::uuid IS NULL OR r.document_id > $3)
           AND CASE WHEN $4::text IS NULL THEN coalesce(v.state, 'passed') <> 'rejected'
             ELSE coalesce(v.state, 'passed') = $4 END
           AND ($5::bigint IS NULL OR d.created_at >= $5) AND ($6::bigint IS NULL OR d.created_at < $6)
         ORDER BY r.document_id LIMIT $7",
    )
    .bind(tenant.0)
    .bind(text(&query.schema))
    .bind(query.after.map(|id| id.0))
    .bind(query.state.map(RecordState::name))
    .bind(query.since.map(|t| t.0))
    .bind(query.until.map(|t| t.0))
    .bind(i64::try_from(query.limit).unwrap_or(i64::MAX))
    .fetch_all(conn)
    .await
    .map_err(sql_error("list records"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            let (document_id, name, created_at) = (c.document()?, c.get()?, c.time()?);
            let (schema, version) = (c.get()?, c.int()?);
            let (state, valid) = (c.word(RecordState::from_name)?, c.flag()?);
            let confidence = c.get::<f64>()? as f32;
            let data = body(&mut c)?.data;
            Ok(RecordLine { document_id, name, created_at, schema, version, state, valid, confidence, data })
        })
        .collect()
}
