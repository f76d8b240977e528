//! Taking items in: documents (upsert), ingestions and first tasks of many items in one transaction, a statement a
//! table.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, BlobKey, ContentHash, DocumentId, IngestionId, TenantId};
use docmill_core::ingestion::{IngestionStatus, Origin};
use docmill_core::ports::store::{Accepted, Arrival, Receipt, Received, StoredContent, Terms};
use docmill_core::task::NewTask;
use docmill_core::{Error, Result, crash};
use serde_json::json;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};

use super::super::shared::receive::{check_open, check_unsealed, receipt_key};
use super::access;
use super::finish::Ending;
use super::row::{Columns, code, sql_error, text};
use super::task::{self, Begin, Belongs};
use super::tx::Tx;

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
    pub(super) path: Cow<'a, str>,
    pub(super) receipt_key: [u8; 16],
    pub(super) name: &'a str,
    pub(super) source_metadata: String,
    pub(super) priority: u8,
    pub(super) place: Option<Place<'a>>,
    pub(super) arrival: Cow<'a, Arrival>,
}

/// A document that an ingestion is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfDocument {
    pub(super) document_id: DocumentId,
    /// The content was there before.
    pub(super) duplicate: bool,
    /// Orders the ingestions of a document where clocks cannot.
    generation: i64,
}

/// The documents that have this content.
pub(super) async fn known(
    conn: &mut PgConnection,
    tenant: TenantId,
    hashes: &[ContentHash],
) -> Result<Vec<Option<DocumentId>>> {
    let rows = query::<Postgres>(
        "SELECT content_hash, document_id FROM document WHERE tenant_id = $1 AND content_hash = ANY($2)",
    )
    .bind(tenant.0)
    .bind(hashes.iter().map(|h| h.0.to_vec()).collect::<Vec<_>>())
    .fetch_all(conn)
    .await
    .map_err(sql_error("look up content"))?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in &rows {
        let mut c = Columns::new(row);
        found.insert(c.hash()?, c.document()?);
    }
    Ok(hashes.iter().map(|h| found.get(h).copied()).collect())
}

/// The items of a batch that it holds already, by their receipt keys.
type Receipts = HashMap<(BatchId, [u8; 16]), (IngestionId, Option<DocumentId>)>;

/// Takes items in on terms: the same request again gets its first answer.
pub(super) async fn accept(tx: &mut Tx, receipts: &[Receipt], terms: &Terms) -> Result<Accepted> {
    let tenant = receipts.first().map(|receipt| receipt.tenant_id);
    if let (Some(tenant), Some(once)) = (tenant, &terms.once)
        && let Some(received) = access::first_answer(tx, tenant, once).await?
    {
        return Ok(Accepted { received, repeated: true });
    }
    if terms.unsealed {
        tx.lock_batches(receipts.iter().filter_map(|r| r.batch_id)).await?;
        for receipt in receipts {
            let Some(batch) = receipt.batch_id else { continue };
            let found = tx.locked_batch(batch).filter(|b| b.tenant_id == receipt.tenant_id);
            check_unsealed(batch, found.map(|b| b.state.name()))?;
        }
    }
    let received = receive(tx, receipts).await?;
    if let Some(tenant) = tenant {
        if let Some(once) = &terms.once {
            access::keep_answer(tx, tenant, once, &received).await?;
        }
        if let Some(audit) = &terms.audit {
            access::audit(tx, tenant, audit);
        }
    }
    Ok(Accepted { received, repeated: false })
}

/// Takes items in.
async fn receive(tx: &mut Tx, receipts: &[Receipt]) -> Result<Vec<Received>> {
    tx.check_tenants(receipts.iter().map(|r| r.tenant_id)).await?;
    tx.lock_batches(receipts.iter().filter_map(|r| r.batch_id)).await?;
    let mut held = find_receipts(tx, receipts).await?;
    let mut answers: Vec<Option<Received>> = vec![None; receipts.len()];
    let mut fresh: Vec<(usize, Admission<'_>)> = Vec::new();
    let mut fresh_keys = HashSet::new();
    for (at, receipt) in receipts.iter().enumerate() {
        let key = receipt_key(&receipt.path_bytes, content_of(receipt));
        if let Some(batch) = receipt.batch_id {
            let state = tx.locked_batch(batch).filter(|b| b.tenant_id == receipt.tenant_id);
            check_open(batch, state.map(|b| b.state.name()))?;
            let refused = receipt_key(&receipt.path_bytes, None);
            // The same item twice in one call: the first is written, so that the second finds it.
            if fresh_keys.contains(&(batch, key)) || fresh_keys.contains(&(batch, refused)) {
                admit_fresh(tx, &mut fresh, &mut held, &mut answers).await?;
                tx.write_ends().await?;
            }
            if let Some((ingestion_id, document_id)) = held.get(&(batch, key)).copied() {
                answers[at] = Some(Received { ingestion_id, document_id, known: true, duplicate: false });
                continue;
            }
            if let Arrival::Content(stored, first) = &receipt.arrival
                && let Some((ingestion_id, None)) = held.get(&(batch, refused)).copied()
            {
                let received = readmit(tx, receipt, ingestion_id, &key, stored, first).await?;
                held.remove(&(batch, refused));
                held.insert((batch, key), (ingestion_id, received.document_id));
                answers[at] = Some(received);
                continue;
            }
            fresh_keys.insert((batch, key));
            tx.batch(receipt.tenant_id, batch).received += 1;
        }
        fresh.push((at, admission(receipt, key)));
    }
    admit_fresh(tx, &mut fresh, &mut held, &mut answers).await?;
    answers
        .into_iter()
        .map(|a| a.ok_or_else(|| Error::bug("an item was received without an answer")))
        .collect()
}

fn content_of(receipt: &Receipt) -> Option<&ContentHash> {
    match &receipt.arrival {
        Arrival::Content(stored, _) => Some(&stored.hash),
        Arrival::Refused(_) => None,
    }
}

fn admission(receipt: &Receipt, key: [u8; 16]) -> Admission<'_> {
    Admission {
        tenant_id: receipt.tenant_id,
        ingestion_id: receipt.ingestion_id,
        batch_id: receipt.batch_id,
        origin: &receipt.origin,
        path: Cow::Borrowed(&receipt.path),
        receipt_key: key,
        name: &receipt.name,
        source_metadata: receipt.source_metadata.to_string(),
        priority: receipt.priority,
        place: None,
        arrival: Cow::Borrowed(&receipt.arrival),
    }
}

async fn admit_fresh(
    tx: &mut Tx,
    fresh: &mut Vec<(usize, Admission<'_>)>,
    held: &mut Receipts,
    answers: &mut [Option<Received>],
) -> Result<()> {
    let (places, admissions): (Vec<usize>, Vec<Admission<'_>>) = fresh.drain(..).unzip();
    let admitted = admit(tx, &admissions).await?;
    for ((at, admission), document) in places.into_iter().zip(&admissions).zip(admitted) {
        let document_id = document.map(|d| d.document_id);
        if let Some(batch) = admission.batch_id {
            held.insert((batch, admission.receipt_key), (admission.ingestion_id, document_id));
        }
        answers[at] = Some(Received {
            ingestion_id: admission.ingestion_id,
            document_id,
            known: false,
            duplicate: document.is_some_and(|d| d.duplicate),
        });
    }
    Ok(())
}

async fn find_receipts(tx: &mut Tx, receipts: &[Receipt]) -> Result<Receipts> {
    let (mut batches, mut keys) = (Vec::new(), Vec::new());
    for receipt in receipts {
        let Some(batch) = receipt.batch_id else { continue };
        let content = content_of(receipt);
        batches.push(batch.0);
        keys.push(receipt_key(&receipt.path_bytes, content).to_vec());
        if content.is_some() {
            batches.push(batch.0);
            keys.push(receipt_key(&receipt.path_bytes, None).to_vec());
        }
    }
    let mut found = Receipts::new();
    if keys.is_empty() {
        return Ok(found);
    }
    let rows = query::<Postgres>(
        "SELECT i.batch_id, i.receipt_key, i.ingestion_id, i.document_id
         FROM unnest($1::uuid[], $2::bytea[]) AS u (batch_id, receipt_key)
           JOIN ingestion i ON i.batch_id = u.batch_id AND i.receipt_key = u.receipt_key",
    )
    .bind(batches)
    .bind(keys)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look up receipts"))?;
    for row in &rows {
        let mut c = Columns::new(row);
        let batch = c.batch()?;
        let key = <[u8; 16]>::try_from(c.get::<&[u8]>()?)
            .map_err(|e| Error::bug("a stored receipt key is not 16 bytes").with_source(e))?;
        found.insert((batch, key), (c.ingestion()?, c.document_opt()?));
    }
    Ok(found)
}

/// An item that could not be read when the batch first met it can be read now: its ingestion goes on with
/// the content, so that the batch counts it once.
async fn readmit(
    tx: &mut Tx,
    receipt: &Receipt,
    ingestion_id: IngestionId,
    key: &[u8; 16],
    stored: &StoredContent,
    first: &NewTask,
) -> Result<Received> {
    let row = query::<Postgres>("SELECT status FROM ingestion WHERE ingestion_id = $1 FOR UPDATE")
        .bind(ingestion_id.0)
        .fetch_one(tx.conn())
        .await
        .map_err(sql_error("look up an ingestion"))?;
    let status = Columns::new(&row).word(IngestionStatus::from_name)?;
    let document = upsert_documents(tx, &[(receipt.tenant_id, receipt.name.as_str(), stored)])
        .await?
        .pop()
        .ok_or_else(|| Error::bug("a document was stored without an answer"))?;
    query::<Postgres>(
        "UPDATE ingestion SET document_id = $2, receipt_key = $3, generation = $4, duplicate = $5,
           status = 'in_progress', result = NULL, skip_reason = NULL, error = NULL, problems = NULL,
           completed_at = NULL, progress_at = $6
         WHERE ingestion_id = $1",
    )
    .bind(ingestion_id.0)
    .bind(document.document_id.0)
    .bind(key.as_slice())
    .bind(document.generation)
    .bind(document.duplicate)
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("readmit an item"))?;
    if let Some(batch) = receipt.batch_id {
        let totals = tx.batch(receipt.tenant_id, batch);
        totals.open += 1;
        totals.duplicates += i64::from(document.duplicate);
        totals.count(status, -1);
    }
    let belongs = Belongs {
        tenant_id: receipt.tenant_id,
        ingestion_id,
        document_id: Some(document.document_id),
        batch_id: receipt.batch_id,
        priority: receipt.priority,
    };
    task::add(tx, &belongs, first, Begin::Queued { join: None }).await?;
    let (document_id, duplicate) = (Some(document.document_id), document.duplicate);
    Ok(Received { ingestion_id, document_id, known: true, duplicate })
}

/// Makes the rows of new ingestions. Answers the document of each that has one.
pub(super) async fn admit(tx: &mut Tx, admissions: &[Admission<'_>]) -> Result<Vec<Option<OfDocument>>> {
    if admissions.is_empty() {
        return Ok(Vec::new());
    }
    let contents: Vec<_> = admissions
        .iter()
        .filter_map(|a| match a.arrival.as_ref() {
            Arrival::Content(stored, _) => Some((a.tenant_id, a.name, stored)),
            Arrival::Refused(_) => None,
        })
        .collect();
    let mut stored = upsert_documents(tx, &contents).await?.into_iter();
    let documents: Vec<Option<OfDocument>> = admissions
        .iter()
        .map(|a| if matches!(a.arrival.as_ref(), Arrival::Content(..)) { stored.next() } else { None })
        .collect();
    insert_ingestions(tx, admissions, &documents).await?;
    for (a, document) in admissions.iter().zip(&documents) {
        let duplicate = document.is_some_and(|d| d.duplicate);
        if let Some(batch) = a.batch_id {
            let totals = tx.batch(a.tenant_id, batch);
            totals.open += 1;
            totals.duplicates += i64::from(duplicate);
        }
        let document_id = document.map(|d| d.document_id);
        tx.event(
            a.tenant_id,
            EventBody {
                batch_id: a.batch_id,
                document_id,
                ingestion_id: Some(a.ingestion_id),
                detail: Some(json!({ "origin": a.path, "duplicate": duplicate })),
                ..EventBody::new(EventType::DocumentAdded)
            },
        );
        match a.arrival.as_ref() {
            Arrival::Content(_, first) => {
                let belongs = Belongs {
                    tenant_id: a.tenant_id,
                    ingestion_id: a.ingestion_id,
                    document_id,
                    batch_id: a.batch_id,
                    priority: a.priority,
                };
                task::add(tx, &belongs, first, Begin::Queued { join: None }).await?;
            }
            Arrival::Refused(end) => tx.end(Ending { ingestion_id: a.ingestion_id, end: end.clone() }),
        }
    }
    Ok(documents)
}

/// The documents of these contents, in their order. Content that comes more than once takes as many generations.
async fn upsert_documents(
    tx: &mut Tx,
    contents: &[(TenantId, &str, &StoredContent)],
) -> Result<Vec<OfDocument>> {
    if contents.is_empty() {
        return Ok(Vec::new());
    }
    // In the order of their keys, so that two transactions never wait for each other's documents.
    let mut distinct: BTreeMap<(TenantId, ContentHash), (usize, i64)> = BTreeMap::new();
    for (at, (tenant, _, stored)) in contents.iter().enumerate() {
        distinct.entry((*tenant, stored.hash)).or_insert((at, 0)).1 += 1;
    }
    let of = |at: usize| contents[at];
    // The generation is taken here, under the row's lock: it orders ingestions where clocks cannot.
    let rows = query::<Postgres>(
        "INSERT INTO document (document_id, tenant_id, content_hash, bytes, name, blob_key, last_generation, created_at)
         SELECT u.*, $8 FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bigint[], $5::text[], $6::text[],
           $7::bigint[]) AS u
         ON CONFLICT (tenant_id, content_hash) DO UPDATE
           SET last_generation = document.last_generation + excluded.last_generation
         RETURNING tenant_id, content_hash, document_id, last_generation",
    )
    .bind(distinct.values().map(|(at, _)| of(*at).2.document_id.0).collect::<Vec<_>>())
    .bind(distinct.keys().map(|k| k.0.0).collect::<Vec<_>>())
    .bind(distinct.keys().map(|k| k.1.0.to_vec()).collect::<Vec<_>>())
    .bind(distinct.values().map(|(at, _)| of(*at).2.bytes as i64).collect::<Vec<_>>())
    .bind(distinct.values().map(|(at, _)| text(of(*at).1)).collect::<Vec<_>>())
    .bind(distinct.values().map(|(at, _)| text(of(*at).2.key.as_str())).collect::<Vec<_>>())
    .bind(distinct.values().map(|(_, times)| *times).collect::<Vec<_>>())
    .bind(tx.now.0)
    .fetch_all(tx.conn())
    .await
    .map_err(|e| match code(&e).as_deref() {
        // Content was there when it was looked for, and was taken out before this. Whoever sends it again finds it gone.
        Some("23505") => Error::unavailable("content was removed while it was received")
            .with_source(e.to_string())
            .with_hint("send it again"),
        _ => sql_error("store documents")(e),
    })?;
    let mut next: HashMap<(TenantId, ContentHash), (DocumentId, i64)> = HashMap::with_capacity(rows.len());
    for row in &rows {
        let mut c = Columns::new(row);
        let key = (c.tenant()?, c.hash()?);
        let (document, last): (_, i64) = (c.document()?, c.get()?);
        let times = distinct.get(&key).map_or(1, |d| d.1);
        next.insert(key, (document, last - times + 1));
    }
    crash::point("store.receive.document");
    contents
        .iter()
        .map(|(tenant, _, stored)| {
            let (document_id, generation) = next
                .get_mut(&(*tenant, stored.hash))
                .ok_or_else(|| Error::bug("a document was stored without an answer"))?;
            let taken = *generation;
            *generation += 1;
            Ok(OfDocument { document_id: *document_id, duplicate: taken > 1, generation: taken })
        })
        .collect()
}

async fn insert_ingestions(
    tx: &mut Tx,
    admissions: &[Admission<'_>],
    documents: &[Option<OfDocument>],
) -> Result<()> {
    let source = |a: &Admission<'_>| match a.origin {
        Origin::Source(id) => Some(id.0),
        Origin::Uploader(_) => None,
    };
    let uploader = |a: &Admission<'_>| match a.origin {
        Origin::Source(_) => None,
        Origin::Uploader(name) => Some(text(name)),
    };
    let place = |a: &Admission<'_>, of: fn(&Place<'_>) -> i64| a.place.as_ref().map(of);
    query::<Postgres>(
        "INSERT INTO ingestion (ingestion_id, tenant_id, document_id, batch_id, source_id, uploader, source_metadata,
           origin, receipt_key, name, parent_id, position, run_fingerprint, depth, generation, priority, duplicate,
           status, created_at, progress_at)
         SELECT u.*, 'in_progress', $18, $18
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[],
           $9::bytea[], $10::text[], $11::uuid[], $12::bigint[], $13::bytea[], $14::bigint[], $15::bigint[],
           $16::bigint[], $17::boolean[]) AS u",
    )
    .bind(admissions.iter().map(|a| a.ingestion_id.0).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| a.tenant_id.0).collect::<Vec<_>>())
    .bind(documents.iter().map(|d| d.map(|d| d.document_id.0)).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| a.batch_id.map(|b| b.0)).collect::<Vec<_>>())
    .bind(admissions.iter().map(source).collect::<Vec<_>>())
    .bind(admissions.iter().map(uploader).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| text(&a.source_metadata)).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| text(&a.path)).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| a.receipt_key.to_vec()).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| text(a.name)).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| a.place.as_ref().map(|p| p.parent.0)).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| place(a, |p| p.position as i64)).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| a.place.as_ref().map(|p| p.fingerprint.0.to_vec())).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| place(a, |p| i64::from(p.depth)).unwrap_or(0)).collect::<Vec<_>>())
    .bind(documents.iter().map(|d| d.map_or(0, |d| d.generation)).collect::<Vec<_>>())
    .bind(admissions.iter().map(|a| i64::from(a.priority)).collect::<Vec<_>>())
    .bind(documents.iter().map(|d| d.is_some_and(|d| d.duplicate)).collect::<Vec<_>>())
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("store ingestions"))?;
    crash::point("store.receive.ingestion");
    Ok(())
}

/// Opens further ingestions of documents that are there and have none open. Answers how many.
pub(super) async fn reprocess(
    tx: &mut Tx,
    tenant: TenantId,
    batch: BatchId,
    items: &[(IngestionId, DocumentId, NewTask)],
) -> Result<u64> {
    tx.lock_batches([batch]).await?;
    let found = tx.locked_batch(batch).filter(|b| b.tenant_id == tenant);
    check_open(batch, found.map(|b| b.state.name()))?;
    let priority = found.map_or(0, |b| b.priority);
    let mut ready = idle_documents(tx, tenant, items.iter().map(|i| i.1)).await?;
    let origin = Origin::Uploader("reprocess".into());
    let mut chosen = Vec::new();
    for (ingestion, document, first) in items {
        // A document that is named twice is started once.
        if let Some((stored, name)) = ready.remove(document) {
            chosen.push((*ingestion, name, Arrival::Content(stored, first.clone())));
        }
    }
    let admissions: Vec<Admission<'_>> = chosen
        .iter()
        .map(|(ingestion, name, arrival)| {
            let document =
                if let Arrival::Content(stored, _) = arrival { Some(stored.document_id) } else { None };
            Admission {
                tenant_id: tenant,
                ingestion_id: *ingestion,
                batch_id: Some(batch),
                origin: &origin,
                path: Cow::Owned(format!("document:{}", document.map(|d| d.to_string()).unwrap_or_default())),
                receipt_key: receipt_key(ingestion.as_bytes(), None),
                name,
                source_metadata: "{}".into(),
                priority,
                place: None,
                arrival: Cow::Borrowed(arrival),
            }
        })
        .collect();
    tx.batch(tenant, batch).received += admissions.len() as i64;
    admit(tx, &admissions).await?;
    Ok(admissions.len() as u64)
}

/// Locks documents and leaves out those that have an open ingestion.
async fn idle_documents(
    tx: &mut Tx,
    tenant: TenantId,
    documents: impl Iterator<Item = DocumentId>,
) -> Result<HashMap<DocumentId, (StoredContent, String)>> {
    let ids: Vec<_> = documents.map(|d| d.0).collect();
    let rows = query::<Postgres>(
        "SELECT document_id, content_hash, bytes, name, blob_key FROM document
         WHERE document_id = ANY($1) AND tenant_id = $2 AND NOT removed ORDER BY document_id FOR NO KEY UPDATE",
    )
    .bind(&ids)
    .bind(tenant.0)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look up documents"))?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in &rows {
        let mut c = Columns::new(row);
        let document_id = c.document()?;
        let (hash, bytes, name) = (c.hash()?, c.count()?, c.get::<String>()?);
        let key = BlobKey::stored(c.get::<String>()?);
        found.insert(document_id, (StoredContent { document_id, hash, bytes, key }, name));
    }
    // Asked only now: another transaction may have opened one while this one waited for the document.
    let busy = query::<Postgres>(
        "SELECT DISTINCT document_id FROM ingestion WHERE document_id = ANY($1) AND status = 'in_progress'",
    )
    .bind(&ids)
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("look for open ingestions"))?;
    for row in &busy {
        found.remove(&Columns::new(row).document()?);
    }
    Ok(found)
}
