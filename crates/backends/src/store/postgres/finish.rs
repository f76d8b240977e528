//! How ingestions end, and how that shows on their documents: newest generation wins, in the same transaction, so
//! no crash can separate them.

use std::collections::{BTreeMap, HashMap};

use docmill_core::event::{EventBody, EventStatus, EventType};
use docmill_core::id::{BatchId, DocumentId, IngestionId, TenantId};
use docmill_core::ingestion::{IngestionEnd, IngestionStatus};
use docmill_core::{Result, crash};
use serde_json::json;
use sqlx_core::query::query;
use sqlx_postgres::Postgres;
use uuid::Uuid;

use super::records::{self, holds};
use super::row::{Columns, json as to_json, note_json, sql_error, text_opt};
use super::tx::Tx;

/// An ingestion that ends with the transaction, unless it has ended before.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) ingestion_id: IngestionId,
    pub(super) end: IngestionEnd,
}

/// An ingestion that did end.
struct Ended {
    tenant_id: TenantId,
    batch_id: Option<BatchId>,
    document_id: Option<DocumentId>,
    generation: i64,
}

/// Ends what was gathered. Answers the events of those that were in progress; the others are left as they are.
pub(super) async fn end_gathered(tx: &mut Tx) -> Result<HashMap<IngestionId, (TenantId, Vec<EventBody>)>> {
    let endings = std::mem::take(&mut tx.endings);
    if endings.is_empty() {
        return Ok(HashMap::new());
    }
    let ended = end_ingestions(tx, &endings).await?;
    update_documents(tx, &ended).await?;
    account_for_members(tx, &endings, &ended).await?;
    crash::point("store.commit.end");
    let mut events = HashMap::new();
    for ending in &endings {
        let Some(row) = ended.get(&ending.ingestion_id) else { continue };
        tx.aftermath.ended += 1;
        if let Some(batch) = row.batch_id {
            let totals = tx.batch(row.tenant_id, batch);
            totals.open -= 1;
            totals.count(ending.end.status, 1);
        }
        events.insert(ending.ingestion_id, (row.tenant_id, told(ending, row)));
    }
    Ok(events)
}

async fn end_ingestions(tx: &mut Tx, endings: &[Ending]) -> Result<HashMap<IngestionId, Ended>> {
    let problems = |e: &Ending| {
        if e.end.problems.is_empty() { Ok(None) } else { to_json(&e.end.problems).map(Some) }
    };
    let rows = query::<Postgres>(
        "UPDATE ingestion i SET status = u.status, result = u.result, skip_reason = u.skip_reason, error = u.error,
           problems = u.problems, needs_review = u.needs_review, completed_at = $8, progress_at = $8,
           started_at = coalesce(i.started_at, $8)
         FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[])
           AS u (ingestion_id, status, result, skip_reason, error, problems, needs_review)
         WHERE i.ingestion_id = u.ingestion_id AND i.status = 'in_progress'
         RETURNING i.ingestion_id, i.tenant_id, i.batch_id, i.document_id, i.generation",
    )
    .bind(endings.iter().map(|e| e.ingestion_id.0).collect::<Vec<_>>())
    .bind(endings.iter().map(|e| e.end.status.name()).collect::<Vec<_>>())
    .bind(endings.iter().map(|e| e.end.result.name()).collect::<Vec<_>>())
    .bind(endings.iter().map(|e| text_opt(e.end.skip_reason.as_deref())).collect::<Vec<_>>())
    .bind(endings.iter().map(|e| note_json(e.end.error.as_ref())).collect::<Result<Vec<_>>>()?)
    .bind(endings.iter().map(problems).collect::<Result<Vec<_>>>()?)
    .bind(endings.iter().map(|e| e.end.needs_review).collect::<Vec<_>>())
    .bind(tx.now.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("end ingestions"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            let id = c.ingestion()?;
            let ended = Ended {
                tenant_id: c.tenant()?,
                batch_id: c.batch_opt()?,
                document_id: c.document_opt()?,
                generation: c.get()?,
            };
            Ok((id, ended))
        })
        .collect()
}

/// A newer run that found nothing keeps what an older one has read: a document never gets worse. And one that was
/// cancelled has found out nothing at all: what an earlier one has said still holds, and so does what an earlier one that
/// is still at work will say. So ends of one document are applied one after the other, oldest first; those of different
/// documents together.
async fn update_documents(tx: &mut Tx, ended: &HashMap<IngestionId, Ended>) -> Result<()> {
    let mut rounds: Vec<BTreeMap<DocumentId, (IngestionId, &Ended)>> = Vec::new();
    let mut by_age: Vec<_> =
        ended.iter().filter_map(|(id, e)| Some((e.generation, e.document_id?, *id, e))).collect();
    by_age.sort_unstable_by_key(|e| (e.1, e.0));
    for (_, document, id, e) in by_age {
        match rounds.iter_mut().find(|r| !r.contains_key(&document)) {
            Some(round) => {
                round.insert(document, (id, e));
            }
            None => rounds.push(BTreeMap::from([(document, (id, e))])),
        }
    }
    for round in rounds {
        let rows = query::<Postgres>(concat!(
            "UPDATE document d SET
               current_generation = CASE WHEN i.status = 'cancelled' THEN d.current_generation ELSE u.generation END,
               current_ingestion_id = u.ingestion_id,
               needs_review = CASE WHEN i.status = 'cancelled' THEN d.needs_review ELSE i.needs_review END,
               media_type = coalesce(i.media_type, d.media_type),
               title = coalesce(i.title, d.title),
               transcription_key = coalesce(i.transcription_key, d.transcription_key),
               understood_in = CASE WHEN i.understood_by IS NULL THEN d.understood_in ELSE i.ingestion_id END,
               kind = CASE WHEN i.understood_by IS NULL THEN d.kind ELSE
                 (SELECT replace(u.body, '\\u0000', '\\ufffd')::json ->> 'type' FROM understanding u
                   WHERE u.ingestion_id = i.ingestion_id AND u.step = i.understood_by) END,
               record_in = ",
            holds!(),
            " FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS u (document_id, ingestion_id, generation)
               JOIN ingestion i ON i.ingestion_id = u.ingestion_id
               LEFT JOIN record r ON r.ingestion_id = i.ingestion_id
             WHERE d.document_id = u.document_id AND d.current_generation <= u.generation
               AND (i.status <> 'cancelled' OR coalesce(d.current_ingestion_id, i.ingestion_id) = i.ingestion_id)
             RETURNING d.document_id, d.record_in",
        ))
        .bind(round.keys().map(|d| d.0).collect::<Vec<_>>())
        .bind(round.values().map(|e| e.0.0).collect::<Vec<_>>())
        .bind(round.values().map(|e| e.1.generation).collect::<Vec<_>>())
        .fetch_all(tx.conn())
        .await
        .map_err(sql_error("update documents"))?;
        for row in &rows {
            let mut c = Columns::new(row);
            let (document, record) = (c.document()?, c.get::<Option<Uuid>>()?);
            if let Some((ingestion, e)) = round.get(&document) {
                tx.document_changed(e.tenant_id, document, e.batch_id);
                if let Some(record) = record {
                    records::settle(tx, document, *ingestion, IngestionId(record)).await?;
                }
            }
        }
    }
    Ok(())
}

/// Members that a broken unpacking never reached are lost with it: they count as failed, each of them.
async fn account_for_members(
    tx: &mut Tx,
    endings: &[Ending],
    ended: &HashMap<IngestionId, Ended>,
) -> Result<()> {
    let failed: Vec<_> = endings
        .iter()
        .filter(|e| e.end.status == IngestionStatus::Failed && ended.contains_key(&e.ingestion_id))
        .map(|e| e.ingestion_id.0)
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    query::<Postgres>(
        "UPDATE manifest SET ended = true, refused = greatest(0, coalesce(declared, emitted) - emitted)
         WHERE ingestion_id = ANY($1) AND NOT ended AND NOT superseded",
    )
    .bind(failed)
    .execute(tx.conn())
    .await
    .map_err(sql_error("end manifests"))?;
    Ok(())
}

fn told(ending: &Ending, row: &Ended) -> Vec<EventBody> {
    let end = &ending.end;
    let about = |kind, status| EventBody {
        batch_id: row.batch_id,
        document_id: row.document_id,
        ingestion_id: Some(ending.ingestion_id),
        status,
        ..EventBody::new(kind)
    };
    let mut bodies = Vec::with_capacity(2);
    if let Some(problem) = end.problems.first() {
        let (kind, status) = match end.status {
            IngestionStatus::Failed => (EventType::Error, EventStatus::Error),
            _ => (EventType::Warning, EventStatus::Success),
        };
        let detail = json!({ "code": problem.code, "kind": problem.kind, "message": problem.message });
        bodies.push(EventBody { detail: Some(detail), ..about(kind, status) });
    }
    let status = match end.status {
        IngestionStatus::Failed | IngestionStatus::Cancelled => EventStatus::Error,
        _ => EventStatus::Success,
    };
    let detail = json!({ "status": end.status, "result": end.result });
    bodies.push(EventBody { detail: Some(detail), ..about(EventType::DocumentProcessed, status) });
    bodies
}
