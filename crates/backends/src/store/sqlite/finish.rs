//! How an ingestion ends, and how that shows on its document: newest generation wins, in the same
//! transaction, so no crash can separate them.

use docmill_core::event::{EventBody, EventStatus, EventType};
use docmill_core::id::IngestionId;
use docmill_core::ingestion::{IngestionEnd, IngestionStatus};
use docmill_core::{Result, crash};
use rusqlite::{OptionalExtension as _, params};
use serde_json::json;

use super::records;
use super::row::{Columns, json as to_json, note_json, sql_error};
use super::tx::Tx;

/// Ends an ingestion that is in progress. Answers false if it had ended before, and changes nothing then.
pub(super) fn end(tx: &mut Tx<'_>, ingestion: IngestionId, end: &IngestionEnd) -> Result<bool> {
    let now = tx.now;
    let problems = if end.problems.is_empty() { None } else { Some(to_json(&end.problems)?) };
    let (tenant, batch, document, generation) = {
        let mut statement = tx.sql(
            "UPDATE ingestion SET status = ?2, result = ?3, skip_reason = ?4, error = ?5, problems = ?6,
               needs_review = ?7, completed_at = ?8, progress_at = ?8, started_at = coalesce(started_at, ?8)
             WHERE ingestion_id = ?1 AND status = 'in_progress'
             RETURNING tenant_id, batch_id, document_id, generation",
        )?;
        let mut rows = statement
            .query(params![
                ingestion.as_bytes(),
                end.status.name(),
                end.result.name(),
                end.skip_reason,
                note_json(end.error.as_ref())?,
                problems,
                end.needs_review,
                now.0,
            ])
            .map_err(sql_error("end an ingestion"))?;
        let Some(row) = rows.next().map_err(sql_error("end an ingestion"))? else { return Ok(false) };
        let mut c = Columns::new(row);
        (c.tenant()?, c.batch_opt()?, c.document_opt()?, c.get::<i64>()?)
    };
    let mut change = 0;
    if let Some(document) = document {
        let number = tx.next_change()?;
        // A newer run that found nothing keeps what an older one has read: a document never gets worse. And one that was
        // cancelled has found out nothing at all: what an earlier one has said still holds, and so does what an earlier
        // one that is still at work will say.
        let sql = format!(
            "UPDATE document SET current_generation = iif(i.status = 'cancelled', document.current_generation, ?2),
               current_ingestion_id = ?3,
               needs_review = iif(i.status = 'cancelled', document.needs_review, i.needs_review),
               media_type = coalesce(i.media_type, document.media_type), title = coalesce(i.title, document.title),
               transcription_key = coalesce(i.transcription_key, document.transcription_key),
               understood_in = iif(i.understood_by IS NULL, document.understood_in, i.ingestion_id),
               kind = iif(i.understood_by IS NULL, document.kind,
                 (SELECT json_extract(u.body, '$.type') FROM understanding u
                   WHERE u.ingestion_id = i.ingestion_id AND u.step = i.understood_by)),
               record_in = {}, change_seq = ?4
             FROM ingestion i LEFT JOIN record r ON r.ingestion_id = i.ingestion_id
             WHERE document.document_id = ?1 AND i.ingestion_id = ?3 AND document.current_generation <= ?2
               AND (i.status <> 'cancelled' OR coalesce(document.current_ingestion_id, ?3) = ?3)
             RETURNING record_in",
            records::HOLDS
        );
        let holds: Option<Option<[u8; 16]>> = tx
            .sql(&sql)?
            .query_row(params![document.as_bytes(), generation, ingestion.as_bytes(), number], |r| r.get(0))
            .optional()
            .map_err(sql_error("update a document"))?;
        if let Some(record) = holds {
            tx.take_change(number);
            change = number;
            if let Some(record) = record {
                records::settle(tx, document, ingestion, IngestionId::from_slice(&record)?)?;
            }
        }
    }
    if let Some(batch) = batch {
        let totals = tx.batch(tenant, batch);
        totals.open -= 1;
        totals.count(end.status, 1);
        totals.change_seq = totals.change_seq.max(change);
    }
    if end.status == IngestionStatus::Failed {
        // Members that a broken unpacking never reached are lost with it: they count as failed, each of them.
        tx.sql(
            "UPDATE manifest SET ended = 1, refused = max(0, coalesce(declared, emitted) - emitted)
             WHERE ingestion_id = ?1 AND ended = 0 AND superseded = 0",
        )?
        .execute([ingestion.as_bytes()])
        .map_err(sql_error("end a manifest"))?;
    }
    crash::point("store.commit.end");
    tx.aftermath.ended += 1;
    let about = |kind, status| EventBody {
        batch_id: batch,
        document_id: document,
        ingestion_id: Some(ingestion),
        status,
        ..EventBody::new(kind)
    };
    if let Some(problem) = end.problems.first() {
        let (kind, status) = match end.status {
            IngestionStatus::Failed => (EventType::Error, EventStatus::Error),
            _ => (EventType::Warning, EventStatus::Success),
        };
        let detail = json!({ "code": problem.code, "kind": problem.kind, "message": problem.message });
        tx.event(tenant, EventBody { detail: Some(detail), ..about(kind, status) });
    }
    let status = match end.status {
        IngestionStatus::Failed | IngestionStatus::Cancelled => EventStatus::Error,
        _ => EventStatus::Success,
    };
    let detail = json!({ "status": end.status, "result": end.result });
    tx.event(tenant, EventBody { detail: Some(detail), ..about(EventType::DocumentProcessed, status) });
    Ok(true)
}
