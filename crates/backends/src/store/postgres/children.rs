//! Members of containers, added in chunks under the unpack task's lease.

use std::borrow::Cow;
use std::collections::HashMap;

use docmill_core::error::ErrorNote;
use docmill_core::id::{DocumentId, IngestionId, SourceId};
use docmill_core::ingestion::Origin;
use docmill_core::ports::store::{Arrival, ChildChunk, ChunkAnswer, ManifestEnd};
use docmill_core::{Error, Result, crash};
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::Postgres;
use uuid::Uuid;

use super::receive::{self, Admission, Place};
use super::row::{Columns, sql_error};
use super::task::{self, Belongs};
use super::tree;
use super::tx::Tx;

/// Adds a chunk. The same chunk again adds nothing.
pub(super) async fn add(tx: &mut Tx, chunk: &ChildChunk) -> Result<ChunkAnswer> {
    let Some(row) = task::lock(tx, &[chunk.task_id]).await?.remove(&chunk.task_id) else {
        return Ok(ChunkAnswer::Stale);
    };
    if !row.held_under(chunk.epoch) {
        return Ok(ChunkAnswer::Stale);
    }
    let parent = row.belongs.ingestion_id;
    let (depth, origin, path) = parent_of(tx, parent).await?;
    note_run(tx, &row.belongs, chunk).await?;
    crash::point("store.children.manifest");
    let mut tree = tree::load(tx, parent, chunk).await?;
    let ids: Vec<IngestionId> =
        chunk.children.iter().map(|c| parent.child(&chunk.fingerprint, c.position)).collect();
    let existing = existing(tx, &ids).await?;
    let mut documents: Vec<Option<DocumentId>> = Vec::with_capacity(chunk.children.len());
    // Where the answer of each new member belongs.
    let mut places = Vec::new();
    let mut admissions: Vec<Admission<'_>> = Vec::new();
    let mut full = None;
    for (child, id) in chunk.children.iter().zip(&ids) {
        if let Some(document) = existing.get(id) {
            documents.push(*document);
            continue;
        }
        if let Err(error) = tree.admit(&child.arrival) {
            full = Some(ErrorNote::from(&error));
            break;
        }
        let arrival = match tree.refusal(&child.path, &child.arrival) {
            Some(end) => Cow::Owned(Arrival::Refused(end)),
            None => Cow::Borrowed(&child.arrival),
        };
        places.push(documents.len());
        documents.push(None);
        admissions.push(Admission {
            tenant_id: row.belongs.tenant_id,
            ingestion_id: *id,
            batch_id: row.belongs.batch_id,
            origin: &origin,
            path: Cow::Owned(format!("{path}!/{}", child.path)),
            // The id is unique already; as a receipt key it puts members into their batch's index.
            receipt_key: *id.as_bytes(),
            name: &child.name,
            source_metadata: "{}".into(),
            priority: row.belongs.priority,
            place: Some(Place {
                parent,
                position: child.position,
                fingerprint: &chunk.fingerprint,
                depth: depth + 1,
            }),
            arrival,
        });
    }
    if let Some(batch) = row.belongs.batch_id {
        tx.batch(row.belongs.tenant_id, batch).children += admissions.len() as i64;
    }
    let admitted = receive::admit(tx, &admissions).await?;
    crash::point("store.children.row");
    for (place, document) in places.into_iter().zip(admitted) {
        documents[place] = document.map(|d| d.document_id);
    }
    tree::store(tx, &tree).await?;
    note_progress(tx, &row.belongs, chunk, admissions.len()).await?;
    Ok(match full {
        Some(error) => ChunkAnswer::Full { taken: documents, error },
        None => ChunkAnswer::Accepted(documents),
    })
}

async fn note_progress(tx: &mut Tx, belongs: &Belongs, chunk: &ChildChunk, added: usize) -> Result<()> {
    query::<Postgres>(
        "UPDATE manifest SET emitted = emitted + $3 WHERE ingestion_id = $1 AND fingerprint = $2",
    )
    .bind(belongs.ingestion_id.0)
    .bind(chunk.fingerprint.0.as_slice())
    .bind(added as i64)
    .execute(tx.conn())
    .await
    .map_err(sql_error("count members"))?;
    crash::point("store.children.counted");
    // A chunk is progress: whoever vanishes after it was not stopped by what came before.
    query::<Postgres>("UPDATE task SET lost = 1 WHERE task_id = $1")
        .bind(chunk.task_id.0)
        .execute(tx.conn())
        .await
        .map_err(sql_error("note progress"))?;
    query::<Postgres>("UPDATE ingestion SET progress_at = $2 WHERE ingestion_id = $1")
        .bind(belongs.ingestion_id.0)
        .bind(tx.now.0)
        .execute(tx.conn())
        .await
        .map_err(sql_error("note progress"))?;
    Ok(())
}

async fn parent_of(tx: &mut Tx, parent: IngestionId) -> Result<(u32, Origin, String)> {
    let row =
        query::<Postgres>("SELECT depth, source_id, uploader, origin FROM ingestion WHERE ingestion_id = $1")
            .bind(parent.0)
            .fetch_one(tx.conn())
            .await
            .map_err(sql_error("look up a container"))?;
    let mut c = Columns::new(&row);
    let depth = c.int()?;
    let origin = match (c.get::<Option<Uuid>>()?, c.get::<Option<String>>()?) {
        (Some(id), None) => Origin::Source(SourceId(id)),
        (None, Some(name)) => Origin::Uploader(name),
        _ => return Err(Error::bug(format!("ingestion {parent} has not exactly one origin"))),
    };
    Ok((depth, origin, c.get()?))
}

async fn note_run(tx: &mut Tx, belongs: &Belongs, chunk: &ChildChunk) -> Result<()> {
    query::<Postgres>(
        "INSERT INTO manifest (ingestion_id, fingerprint, tenant_id, batch_id, declared) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (ingestion_id, fingerprint)
         DO UPDATE SET declared = coalesce(excluded.declared, manifest.declared)",
    )
    .bind(belongs.ingestion_id.0)
    .bind(chunk.fingerprint.0.as_slice())
    .bind(belongs.tenant_id.0)
    .bind(belongs.batch_id.map(|b| b.0))
    .bind(chunk.declared.map(|n| n as i64))
    .execute(tx.conn())
    .await
    .map_err(sql_error("store a manifest"))?;
    Ok(())
}

/// Members that are there already, and their documents if their bytes could be had.
async fn existing(tx: &mut Tx, ids: &[IngestionId]) -> Result<HashMap<IngestionId, Option<DocumentId>>> {
    let rows =
        query::<Postgres>("SELECT ingestion_id, document_id FROM ingestion WHERE ingestion_id = ANY($1)")
            .bind(ids.iter().map(|i| i.0).collect::<Vec<_>>())
            .fetch_all(tx.conn())
            .await
            .map_err(sql_error("look up members"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok((c.ingestion()?, c.document_opt()?))
        })
        .collect()
}

/// Ends an unpack run. Runs with another fingerprint, and everything that came out of them, are superseded:
/// they leave the ledger together.
pub(super) async fn end_run(tx: &mut Tx, belongs: &Belongs, end: &ManifestEnd) -> Result<()> {
    let parent = belongs.ingestion_id;
    query::<Postgres>(
        "INSERT INTO manifest (ingestion_id, fingerprint, tenant_id, batch_id, declared, refused, ended)
         VALUES ($1, $2, $3, $4, $5, $6, true)
         ON CONFLICT (ingestion_id, fingerprint) DO UPDATE SET declared = coalesce(excluded.declared, manifest.declared),
           refused = excluded.refused, ended = true, superseded = false",
    )
    .bind(parent.0)
    .bind(end.fingerprint.0.as_slice())
    .bind(belongs.tenant_id.0)
    .bind(belongs.batch_id.map(|b| b.0))
    .bind(end.declared.map(|n| n as i64))
    .bind(end.refused as i64)
    .execute(tx.conn())
    .await
    .map_err(sql_error("end a manifest"))?;
    let replaced = query_scalar::<Postgres, bool>(
        "SELECT EXISTS (SELECT 1 FROM manifest WHERE ingestion_id = $1 AND fingerprint <> $2 AND NOT superseded)",
    )
    .bind(parent.0)
    .bind(end.fingerprint.0.as_slice())
    .fetch_one(tx.conn())
    .await
    .map_err(sql_error("look for older runs"))?;
    if replaced { supersede(tx, parent, end).await } else { Ok(()) }
}

async fn supersede(tx: &mut Tx, parent: IngestionId, end: &ManifestEnd) -> Result<()> {
    let rows = query::<Postgres>(
        "WITH RECURSIVE family (id) AS (
           SELECT ingestion_id FROM ingestion
             WHERE parent_id = $1 AND run_fingerprint <> $2 AND NOT superseded
           UNION ALL
           SELECT i.ingestion_id FROM ingestion i JOIN family f ON i.parent_id = f.id)
         UPDATE ingestion SET superseded = true WHERE ingestion_id IN (SELECT id FROM family)
         RETURNING ingestion_id, status = 'in_progress'",
    )
    .bind(parent.0)
    .bind(end.fingerprint.0.as_slice())
    .fetch_all(tx.conn())
    .await
    .map_err(sql_error("supersede members"))?;
    let (mut family, mut open) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in &rows {
        let mut c = Columns::new(row);
        let id = c.ingestion()?;
        family.push(id.0);
        if c.flag()? {
            open.push(id);
        }
    }
    task::cancel_open(tx, &open).await?;
    query::<Postgres>(
        "UPDATE manifest SET superseded = true
         WHERE ingestion_id = ANY($3) OR (ingestion_id = $1 AND fingerprint <> $2)",
    )
    .bind(parent.0)
    .bind(end.fingerprint.0.as_slice())
    .bind(family)
    .execute(tx.conn())
    .await
    .map_err(sql_error("supersede manifests"))?;
    Ok(())
}
