//! Taking a document out.
//!
//! Its row stays, without name, content and type, so that followers hear of it and its ingestions keep the account
//! whole. Everything that was made from it goes: an equal document that comes later starts anew.

use docmill_core::Result;
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, BlobKey, ContentHash, DocumentId, IngestionId, TaskId, TenantId};
use serde_json::json;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::Postgres;
use uuid::Uuid;

use super::row::{Columns, sql_error};
use super::tx::Tx;
use super::{catalogue, reviews, steer, task};

/// Answers the blobs that nothing names any more, or nothing if the tenant has no such document.
pub(super) async fn remove(
    tx: &mut Tx,
    tenant: TenantId,
    document: DocumentId,
) -> Result<Option<Vec<BlobKey>>> {
    let batches = query_scalar::<Postgres, Uuid>(
        "SELECT DISTINCT batch_id FROM ingestion
         WHERE document_id = $1 AND tenant_id = $2 AND batch_id IS NOT NULL",
    )
    .bind(document.0)
    .bind(tenant.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look up batches"))?;
    tx.lock_batches(batches.into_iter().map(BatchId)).await?;
    // Whoever opens another ingestion of it waits here, and finds it gone.
    let original = query_scalar::<Postgres, String>(
        "SELECT blob_key FROM document WHERE document_id = $1 AND tenant_id = $2 AND NOT removed FOR UPDATE",
    )
    .bind(document.0)
    .bind(tenant.0)
    .fetch_optional(tx.conn())
    .await
    .map_err(sql_error("look up a document"))?;
    let Some(original) = original else { return Ok(None) };
    stop(tx, tenant, document).await?;
    let mut keys: Vec<BlobKey> = query_scalar::<Postgres, String>(
        "SELECT a.blob_key FROM artifact a JOIN ingestion i ON i.ingestion_id = a.ingestion_id
         WHERE i.document_id = $1",
    )
    .bind(document.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("list artifacts"))?
    .into_iter()
    .map(BlobKey::stored)
    .collect();
    keys.push(BlobKey::stored(original));
    let forgotten = reviews::FORGET.into_iter().chain([
        "DELETE FROM artifact WHERE ingestion_id IN (SELECT ingestion_id FROM ingestion WHERE document_id = $1)",
        "DELETE FROM step_result WHERE ingestion_id IN (SELECT ingestion_id FROM ingestion WHERE document_id = $1)",
        "DELETE FROM understanding WHERE ingestion_id IN (SELECT ingestion_id FROM ingestion WHERE document_id = $1)",
        "UPDATE ingestion SET title = NULL, transcription_key = NULL, understood_by = NULL, source_metadata = '{}' WHERE document_id = $1",
    ]);
    for sql in forgotten {
        query::<Postgres>(sql)
            .bind(document.0)
            .execute(tx.conn())
            .await
            .map_err(sql_error("forget what was made"))?;
    }
    catalogue::forget(tx, tenant, document).await?;
    // The hash makes room for the same content; no content has this one.
    query::<Postgres>(
        "UPDATE document SET removed = true, content_hash = $2, bytes = 0, name = '', blob_key = '', media_type = NULL,
           kind = NULL, judged_kind = NULL, title = NULL, transcription_key = NULL, understood_in = NULL,
           record_in = NULL, needs_review = false WHERE document_id = $1",
    )
    .bind(document.0)
    .bind(ContentHash::of(document.as_bytes()).0.as_slice())
    .execute(tx.conn())
    .await
    .map_err(sql_error("remove a document"))?;
    tx.document_changed(tenant, document, None);
    let detail = Some(json!({ "removed": true }));
    tx.event(
        tenant,
        EventBody { document_id: Some(document), detail, ..EventBody::new(EventType::Notification) },
    );
    Ok(Some(keys))
}

/// Cancels what is open, and dismisses its dead letters.
async fn stop(tx: &mut Tx, tenant: TenantId, document: DocumentId) -> Result<()> {
    let rows = query::<Postgres>(
        "SELECT ingestion_id FROM ingestion WHERE document_id = $1 AND tenant_id = $2 AND status = 'in_progress'
         ORDER BY ingestion_id",
    )
    .bind(document.0)
    .bind(tenant.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for open items"))?;
    let open: Vec<IngestionId> = rows.iter().map(|r| Columns::new(r).ingestion()).collect::<Result<_>>()?;
    task::cancel_open(tx, &open).await?;
    // Now, and not at the end: an end writes what it found to the document.
    tx.write_ends().await?;
    let dead = query_scalar::<Postgres, i64>(
        "SELECT t.task_id FROM task t JOIN ingestion i ON i.ingestion_id = t.ingestion_id
         WHERE i.document_id = $1 AND i.tenant_id = $2 AND t.state = 'dead' ORDER BY t.task_id",
    )
    .bind(document.0)
    .bind(tenant.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for dead letters"))?;
    let dead: Vec<TaskId> = dead.into_iter().map(TaskId).collect();
    if !dead.is_empty() {
        steer::drop_dead(tx, tenant, Some(&dead)).await?;
    }
    Ok(())
}
