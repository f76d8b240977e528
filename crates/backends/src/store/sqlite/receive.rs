//! Taking items in: document (upsert), ingestion and first task in one transaction.

use std::collections::BTreeSet;

use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, ContentHash, DocumentId, IngestionId, SourceId, TenantId};
use docmill_core::ingestion::{IngestionStatus, Origin};
use docmill_core::ports::store::{Accepted, Arrival, Receipt, Received, StoredContent, Terms};
use docmill_core::task::NewTask;
use docmill_core::{Error, Result, crash};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::json;

use super::super::shared::{self, receive::receipt_key};
use super::row::{Columns, sql_error};
use super::task::{self, Begin, Belongs};
use super::tx::Tx;
use super::{access, finish};

/// The place of an item in its container.
pub(super) struct Place<'a> {
    pub(super) parent: IngestionId,
    pub(super) position: u64,
    pub(super) fingerprint: &'a ContentHash,
    pub(super) depth: u32,
}

/// What an ingestion row is made of.
pub(super) struct Admission<'a> {
    pub(super) tenant_id: TenantId,
    pub(super) ingestion_id: IngestionId,
    pub(super) batch_id: Option<BatchId>,
    pub(super) origin: &'a Origin,
    pub(super) path: &'a str,
    pub(super) receipt_key: &'a [u8],
    pub(super) name: &'a str,
    pub(super) source_metadata: &'a str,
    pub(super) priority: u8,
    pub(super) place: Option<Place<'a>>,
    pub(super) arrival: &'a Arrival,
}

/// The documents that have this content.
pub(super) fn known(
    conn: &Connection,
    tenant: TenantId,
    hashes: &[ContentHash],
) -> Result<Vec<Option<DocumentId>>> {
    let mut statement = conn
        .prepare_cached("SELECT document_id FROM document WHERE tenant_id = ?1 AND content_hash = ?2")
        .map_err(sql_error("look up content"))?;
    hashes
        .iter()
        .map(|hash| {
            statement
                .query_row(params![tenant.as_bytes(), hash.0], |r| r.get::<_, [u8; 16]>(0))
                .optional()
                .map_err(sql_error("look up content"))?
                .map(|id| DocumentId::from_slice(&id))
                .transpose()
        })
        .collect()
}

/// Takes items in on terms: the same request again gets its first answer.
pub(super) fn accept(tx: &mut Tx<'_>, receipts: &[Receipt], terms: &Terms) -> Result<Accepted> {
    let tenant = receipts.first().map(|receipt| receipt.tenant_id);
    if let (Some(tenant), Some(once)) = (tenant, &terms.once)
        && let Some(received) = access::first_answer(tx, tenant, once)?
    {
        return Ok(Accepted { received, repeated: true });
    }
    if terms.unsealed {
        let batches: BTreeSet<_> = receipts.iter().filter_map(|r| Some((r.batch_id?, r.tenant_id))).collect();
        for (batch, tenant) in batches {
            shared::receive::check_unsealed(batch, state_of(tx, tenant, batch)?.as_deref())?;
        }
    }
    let received: Vec<Received> = receipts.iter().map(|r| receive(tx, r)).collect::<Result<_>>()?;
    if let Some(tenant) = tenant {
        if let Some(once) = &terms.once {
            access::keep_answer(tx, tenant, once, &received)?;
        }
        if let Some(audit) = &terms.audit {
            access::audit(tx, tenant, audit.clone())?;
        }
    }
    Ok(Accepted { received, repeated: false })
}

/// Takes one item in.
pub(super) fn receive(tx: &mut Tx<'_>, receipt: &Receipt) -> Result<Received> {
    let content = match &receipt.arrival {
        Arrival::Content(stored, _) => Some(&stored.hash),
        Arrival::Refused(_) => None,
    };
    let key = receipt_key(&receipt.path_bytes, content);
    if let Some(batch) = receipt.batch_id {
        shared::receive::check_open(batch, state_of(tx, receipt.tenant_id, batch)?.as_deref())?;
        if let Some((ingestion_id, document_id)) = find_receipt(tx, batch, &key)? {
            return Ok(Received { ingestion_id, document_id, known: true, duplicate: false });
        }
        if let Arrival::Content(stored, first) = &receipt.arrival {
            let refused = receipt_key(&receipt.path_bytes, None);
            if let Some((ingestion_id, None)) = find_receipt(tx, batch, &refused)? {
                return readmit(tx, receipt, ingestion_id, &key, stored, first);
            }
        }
        tx.batch(receipt.tenant_id, batch).received += 1;
    }
    let admitted = admit(
        tx,
        &Admission {
            tenant_id: receipt.tenant_id,
            ingestion_id: receipt.ingestion_id,
            batch_id: receipt.batch_id,
            origin: &receipt.origin,
            path: &receipt.path,
            receipt_key: &key,
            name: &receipt.name,
            source_metadata: &receipt.source_metadata.to_string(),
            priority: receipt.priority,
            place: None,
            arrival: &receipt.arrival,
        },
    )?;
    Ok(Received {
        ingestion_id: receipt.ingestion_id,
        document_id: admitted.map(|a| a.0),
        known: false,
        duplicate: admitted.is_some_and(|a| a.1),
    })
}

/// The state of a batch, if the tenant has it.
fn state_of(tx: &Tx<'_>, tenant: TenantId, batch: BatchId) -> Result<Option<String>> {
    tx.sql("SELECT state FROM batch WHERE batch_id = ?1 AND tenant_id = ?2")?
        .query_row(params![batch.as_bytes(), tenant.as_bytes()], |r| r.get(0))
        .optional()
        .map_err(sql_error("look up a batch"))
}

fn find_receipt(
    tx: &Tx<'_>,
    batch: BatchId,
    key: &[u8],
) -> Result<Option<(IngestionId, Option<DocumentId>)>> {
    let mut statement =
        tx.sql("SELECT ingestion_id, document_id FROM ingestion WHERE batch_id = ?1 AND receipt_key = ?2")?;
    let mut rows = statement.query(params![batch.as_bytes(), key]).map_err(sql_error("look up a receipt"))?;
    let Some(row) = rows.next().map_err(sql_error("look up a receipt"))? else { return Ok(None) };
    let mut c = Columns::new(row);
    Ok(Some((c.ingestion()?, c.document_opt()?)))
}

/// An item that could not be read when the batch first met it can be read now: its ingestion goes on with
/// the content, so that the batch counts it once.
fn readmit(
    tx: &mut Tx<'_>,
    receipt: &Receipt,
    ingestion_id: IngestionId,
    key: &[u8],
    stored: &StoredContent,
    first: &NewTask,
) -> Result<Received> {
    let (document_id, duplicate, generation) = upsert_document(tx, receipt.tenant_id, &receipt.name, stored)?;
    let status: String = tx
        .sql("SELECT status FROM ingestion WHERE ingestion_id = ?1")?
        .query_row([ingestion_id.as_bytes()], |r| r.get(0))
        .map_err(sql_error("look up an ingestion"))?;
    tx.sql(
        "UPDATE ingestion SET document_id = ?2, receipt_key = ?3, generation = ?4, duplicate = ?5,
           status = 'in_progress', result = NULL, skip_reason = NULL, error = NULL, problems = NULL,
           completed_at = NULL, progress_at = ?6
         WHERE ingestion_id = ?1",
    )?
    .execute(params![ingestion_id.as_bytes(), document_id.as_bytes(), key, generation, duplicate, tx.now.0])
    .map_err(sql_error("readmit an item"))?;
    if let Some(batch) = receipt.batch_id {
        let totals = tx.batch(receipt.tenant_id, batch);
        totals.open += 1;
        totals.duplicates += i64::from(duplicate);
        if let Some(status) = IngestionStatus::from_name(&status) {
            totals.count(status, -1);
        }
    }
    let belongs = Belongs {
        tenant_id: receipt.tenant_id,
        ingestion_id,
        document_id: Some(document_id),
        batch_id: receipt.batch_id,
        priority: receipt.priority,
    };
    task::insert(tx, &belongs, first, Begin::Queued { join: None })?;
    Ok(Received { ingestion_id, document_id: Some(document_id), known: true, duplicate })
}

/// Makes the rows of a new ingestion. Answers its document and whether the content was there before.
pub(super) fn admit(tx: &mut Tx<'_>, a: &Admission<'_>) -> Result<Option<(DocumentId, bool)>> {
    let document = match a.arrival {
        Arrival::Content(stored, _) => Some(upsert_document(tx, a.tenant_id, a.name, stored)?),
        Arrival::Refused(_) => None,
    };
    insert_ingestion(tx, a, document)?;
    if let Some(batch) = a.batch_id {
        let duplicate = document.is_some_and(|d| d.1);
        let totals = tx.batch(a.tenant_id, batch);
        totals.open += 1;
        totals.duplicates += i64::from(duplicate);
    }
    let document_id = document.map(|d| d.0);
    tx.event(
        a.tenant_id,
        EventBody {
            batch_id: a.batch_id,
            document_id,
            ingestion_id: Some(a.ingestion_id),
            detail: Some(json!({ "origin": a.path, "duplicate": document.is_some_and(|d| d.1) })),
            ..EventBody::new(EventType::DocumentAdded)
        },
    );
    match a.arrival {
        Arrival::Content(_, first) => {
            let belongs = Belongs {
                tenant_id: a.tenant_id,
                ingestion_id: a.ingestion_id,
                document_id,
                batch_id: a.batch_id,
                priority: a.priority,
            };
            task::insert(tx, &belongs, first, Begin::Queued { join: None })?;
        }
        Arrival::Refused(end) => {
            finish::end(tx, a.ingestion_id, end)?;
        }
    }
    Ok(document.map(|d| (d.0, d.1)))
}

/// The document of this content: id, whether it was there before, and the generation of this ingestion.
pub(super) fn upsert_document(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    name: &str,
    stored: &StoredContent,
) -> Result<(DocumentId, bool, i64)> {
    // The generation is taken here, under the writer's lock: it orders ingestions where clocks cannot.
    let mut statement = tx.sql(
        "INSERT INTO document (document_id, tenant_id, content_hash, bytes, name, blob_key, last_generation, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7)
         ON CONFLICT (tenant_id, content_hash) DO UPDATE SET last_generation = last_generation + 1
         RETURNING document_id, last_generation",
    )?;
    let (id, generation) = statement
        .query_row(
            params![
                stored.document_id.as_bytes(),
                tenant.as_bytes(),
                stored.hash.0,
                stored.bytes as i64,
                name,
                stored.key.as_str(),
                tx.now.0
            ],
            |r| Ok((r.get::<_, [u8; 16]>(0)?, r.get::<_, i64>(1)?)),
        )
        .map_err(|e| match e.sqlite_error_code() {
            // Its content was there when it was looked for, and was taken out before this.
            Some(rusqlite::ErrorCode::ConstraintViolation) => {
                Error::unavailable(format!("content {} was removed while it was received", stored.hash))
                    .with_source(e)
                    .with_hint("send it again")
            }
            _ => sql_error("store a document")(e),
        })?;
    crash::point("store.receive.document");
    Ok((DocumentId::from_slice(&id)?, generation > 1, generation))
}

fn insert_ingestion(
    tx: &mut Tx<'_>,
    a: &Admission<'_>,
    document: Option<(DocumentId, bool, i64)>,
) -> Result<()> {
    let (source, uploader) = match a.origin {
        Origin::Source(id) => (Some(id), None),
        Origin::Uploader(name) => (None, Some(name)),
    };
    let place = a.place.as_ref();
    tx.sql(
        "INSERT INTO ingestion (ingestion_id, tenant_id, document_id, batch_id, source_id, uploader, source_metadata,
           origin, receipt_key, name, parent_id, position, run_fingerprint, depth, generation, priority, duplicate,
           status, created_at, progress_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, 'in_progress', ?18, ?18)",
    )?
    .execute(params![
        a.ingestion_id.as_bytes(),
        a.tenant_id.as_bytes(),
        document.as_ref().map(|d| d.0.as_bytes()),
        a.batch_id.as_ref().map(BatchId::as_bytes),
        source.map(SourceId::as_bytes),
        uploader,
        a.source_metadata,
        a.path,
        a.receipt_key,
        a.name,
        place.map(|p| p.parent.as_bytes()),
        place.map(|p| p.position as i64),
        place.map(|p| p.fingerprint.0),
        place.map_or(0, |p| p.depth),
        document.map_or(0, |d| d.2),
        a.priority,
        document.is_some_and(|d| d.1),
        tx.now.0,
    ])
    .map_err(sql_error("store an ingestion"))?;
    crash::point("store.receive.ingestion");
    Ok(())
}

/// Opens a further ingestion of a document that is there.
pub(super) fn reprocess(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    batch: BatchId,
    ingestion_id: IngestionId,
    document: DocumentId,
    first: &NewTask,
) -> Result<bool> {
    let found = {
        let mut statement = tx.sql(
            "SELECT content_hash, bytes, name, blob_key FROM document
             WHERE document_id = ?1 AND tenant_id = ?2 AND removed = 0 AND NOT EXISTS (
               SELECT 1 FROM ingestion i WHERE i.document_id = document.document_id AND i.status = 'in_progress')",
        )?;
        let mut rows = statement
            .query(params![document.as_bytes(), tenant.as_bytes()])
            .map_err(sql_error("look up a document"))?;
        match rows.next().map_err(sql_error("look up a document"))? {
            Some(row) => {
                let mut c = Columns::new(row);
                let hash = c.hash()?;
                let bytes = c.count()?;
                let name: String = c.get()?;
                let key = docmill_core::id::BlobKey::stored(c.get::<String>()?);
                Some((StoredContent { document_id: document, hash, bytes, key }, name))
            }
            None => None,
        }
    };
    let Some((stored, name)) = found else { return Ok(false) };
    let priority = tx
        .sql("SELECT priority FROM batch WHERE batch_id = ?1")?
        .query_row([batch.as_bytes()], |r| r.get(0))
        .map_err(sql_error("look up a batch"))?;
    tx.batch(tenant, batch).received += 1;
    let arrival = Arrival::Content(stored, first.clone());
    admit(
        tx,
        &Admission {
            tenant_id: tenant,
            ingestion_id,
            batch_id: Some(batch),
            origin: &Origin::Uploader("reprocess".into()),
            path: &format!("document:{document}"),
            receipt_key: &receipt_key(ingestion_id.as_bytes(), None),
            name: &name,
            source_metadata: "{}",
            priority,
            place: None,
            arrival: &arrival,
        },
    )?;
    Ok(true)
}
