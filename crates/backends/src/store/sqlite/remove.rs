//! Taking a document out.
//!
//! Its row stays, without name, content and type, so that followers hear of it and its ingestions keep the account
//! whole. Everything that was made from it goes: an equal document that comes later starts anew.

use docmill_core::Result;
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BlobKey, ContentHash, DocumentId, IngestionId, TenantId};
use rusqlite::{OptionalExtension as _, params};
use serde_json::json;

use super::row::sql_error;
use super::tx::Tx;
use super::{catalogue, reviews, steer, task};

/// Answers the blobs that nothing names any more, or nothing if the tenant has no such document.
pub(super) fn remove(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    document: DocumentId,
) -> Result<Option<Vec<BlobKey>>> {
    let original: Option<String> = tx
        .sql("SELECT blob_key FROM document WHERE document_id = ?1 AND tenant_id = ?2 AND removed = 0")?
        .query_row(params![document.as_bytes(), tenant.as_bytes()], |r| r.get(0))
        .optional()
        .map_err(sql_error("look up a document"))?;
    let Some(original) = original else { return Ok(None) };
    for ingestion in ingestions(tx, document)? {
        task::cancel_open(tx, ingestion)?;
        steer::drop_dead_of(tx, tenant, ingestion)?;
    }
    let mut keys: Vec<BlobKey> = tx
        .sql(
            "SELECT a.blob_key FROM artifact a JOIN ingestion i ON i.ingestion_id = a.ingestion_id
             WHERE i.document_id = ?1",
        )?
        .query_map([document.as_bytes()], |r| r.get::<_, String>(0).map(BlobKey::stored))
        .and_then(Iterator::collect)
        .map_err(sql_error("list artifacts"))?;
    keys.push(BlobKey::stored(original));
    let forgotten = reviews::FORGET.into_iter().chain([
        "DELETE FROM artifact WHERE ingestion_id IN (SELECT ingestion_id FROM ingestion WHERE document_id = ?1)",
        "DELETE FROM step_result WHERE ingestion_id IN (SELECT ingestion_id FROM ingestion WHERE document_id = ?1)",
        "DELETE FROM understanding WHERE ingestion_id IN (SELECT ingestion_id FROM ingestion WHERE document_id = ?1)",
        "UPDATE ingestion SET title = NULL, transcription_key = NULL, understood_by = NULL, source_metadata = '{}' WHERE document_id = ?1",
    ]);
    for sql in forgotten {
        tx.sql(sql)?.execute([document.as_bytes()]).map_err(sql_error("forget what was made"))?;
    }
    catalogue::forget(tx, tenant, document)?;
    let number = tx.next_change()?;
    // The hash makes room for the same content; no content has this one.
    tx.sql(
        "UPDATE document SET removed = 1, content_hash = ?2, bytes = 0, name = '', blob_key = '', media_type = NULL,
           kind = NULL, judged_kind = NULL, title = NULL, transcription_key = NULL, understood_in = NULL,
           record_in = NULL, needs_review = 0, change_seq = ?3 WHERE document_id = ?1",
    )?
    .execute(params![document.as_bytes(), ContentHash::of(document.as_bytes()).0, number])
    .map_err(sql_error("remove a document"))?;
    tx.take_change(number);
    let detail = Some(json!({ "removed": true }));
    tx.event(
        tenant,
        EventBody { document_id: Some(document), detail, ..EventBody::new(EventType::Notification) },
    );
    Ok(Some(keys))
}

fn ingestions(tx: &Tx<'_>, document: DocumentId) -> Result<Vec<IngestionId>> {
    let rows: Vec<[u8; 16]> = tx
        .sql("SELECT ingestion_id FROM ingestion WHERE document_id = ?1 ORDER BY ingestion_id")?
        .query_map([document.as_bytes()], |r| r.get(0))
        .and_then(Iterator::collect)
        .map_err(sql_error("list ingestions"))?;
    rows.iter().map(|id| IngestionId::from_slice(id)).collect()
}
