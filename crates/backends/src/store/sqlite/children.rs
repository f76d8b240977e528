//! Members of containers, added in chunks under the unpack task's lease.

use docmill_core::error::ErrorNote;
use docmill_core::id::{BatchId, DocumentId, IngestionId, SourceId};
use docmill_core::ingestion::Origin;
use docmill_core::ports::store::{Arrival, ChildChunk, ChunkAnswer, ManifestEnd};
use docmill_core::{Error, Result, crash};
use rusqlite::{OptionalExtension as _, params};

use super::receive::{self, Admission, Place};
use super::row::{Columns, sql_error};
use super::task::{self, Belongs};
use super::tree;
use super::tx::Tx;

/// Adds a chunk. The same chunk again adds nothing.
pub(super) fn add(tx: &mut Tx<'_>, chunk: &ChildChunk) -> Result<ChunkAnswer> {
    let Some(row) = task::load(tx, chunk.task_id)? else { return Ok(ChunkAnswer::Stale) };
    if !row.held_under(chunk.epoch) {
        return Ok(ChunkAnswer::Stale);
    }
    let parent = row.belongs.ingestion_id;
    let (depth, origin, path) = parent_of(tx, parent)?;
    note_run(tx, &row.belongs, chunk)?;
    crash::point("store.children.manifest");
    let mut tree = tree::load(tx, parent, chunk)?;
    let mut documents = Vec::with_capacity(chunk.children.len());
    let mut added = 0;
    let mut full = None;
    for child in &chunk.children {
        let id = parent.child(&chunk.fingerprint, child.position);
        if let Some(document) = existing(tx, id)? {
            documents.push(document);
            continue;
        }
        if let Err(error) = tree.admit(&child.arrival) {
            full = Some(ErrorNote::from(&error));
            break;
        }
        let refused = tree.refusal(&child.path, &child.arrival).map(Arrival::Refused);
        added += 1;
        if let Some(batch) = row.belongs.batch_id {
            tx.batch(row.belongs.tenant_id, batch).children += 1;
        }
        let admitted = receive::admit(
            tx,
            &Admission {
                tenant_id: row.belongs.tenant_id,
                ingestion_id: id,
                batch_id: row.belongs.batch_id,
                origin: &origin,
                path: &format!("{path}!/{}", child.path),
                // The id is unique already; as a receipt key it puts members into their batch's index.
                receipt_key: id.as_bytes(),
                name: &child.name,
                source_metadata: "{}",
                priority: row.belongs.priority,
                place: Some(Place {
                    parent,
                    position: child.position,
                    fingerprint: &chunk.fingerprint,
                    depth: depth + 1,
                }),
                arrival: refused.as_ref().unwrap_or(&child.arrival),
            },
        )?;
        crash::point("store.children.row");
        documents.push(admitted.map(|a| a.0));
    }
    tree::store(tx, &tree)?;
    tx.sql("UPDATE manifest SET emitted = emitted + ?3 WHERE ingestion_id = ?1 AND fingerprint = ?2")?
        .execute(params![parent.as_bytes(), chunk.fingerprint.0, added])
        .map_err(sql_error("count members"))?;
    crash::point("store.children.counted");
    // A chunk is progress: whoever vanishes after it was not stopped by what came before.
    tx.sql("UPDATE task SET lost = 1 WHERE task_id = ?1")?
        .execute([chunk.task_id.0])
        .map_err(sql_error("note progress"))?;
    tx.sql("UPDATE ingestion SET progress_at = ?2 WHERE ingestion_id = ?1")?
        .execute(params![parent.as_bytes(), tx.now.0])
        .map_err(sql_error("note progress"))?;
    Ok(match full {
        Some(error) => ChunkAnswer::Full { taken: documents, error },
        None => ChunkAnswer::Accepted(documents),
    })
}

fn parent_of(tx: &Tx<'_>, parent: IngestionId) -> Result<(u32, Origin, String)> {
    let mut statement =
        tx.sql("SELECT depth, source_id, uploader, origin FROM ingestion WHERE ingestion_id = ?1")?;
    let (depth, source, uploader, path) = statement
        .query_row([parent.as_bytes()], |r| {
            Ok((r.get(0)?, r.get::<_, Option<Vec<u8>>>(1)?, r.get::<_, Option<String>>(2)?, r.get(3)?))
        })
        .map_err(sql_error("look up a container"))?;
    let origin = match (source, uploader) {
        (Some(id), None) => Origin::Source(SourceId::from_slice(&id)?),
        (None, Some(name)) => Origin::Uploader(name),
        _ => return Err(Error::bug(format!("ingestion {parent} has not exactly one origin"))),
    };
    Ok((depth, origin, path))
}

fn note_run(tx: &Tx<'_>, belongs: &Belongs, chunk: &ChildChunk) -> Result<()> {
    tx.sql(
        "INSERT INTO manifest (ingestion_id, fingerprint, tenant_id, batch_id, declared) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ingestion_id, fingerprint) DO UPDATE SET declared = coalesce(excluded.declared, declared)",
    )?
    .execute(params![
        belongs.ingestion_id.as_bytes(),
        chunk.fingerprint.0,
        belongs.tenant_id.as_bytes(),
        belongs.batch_id.as_ref().map(BatchId::as_bytes),
        chunk.declared.map(|n| n as i64),
    ])
    .map_err(sql_error("store a manifest"))?;
    Ok(())
}

/// The document of a child that is there already.
#[expect(clippy::option_option, reason = "outer: is it there; inner: could its bytes be had")]
fn existing(tx: &Tx<'_>, id: IngestionId) -> Result<Option<Option<DocumentId>>> {
    let mut statement = tx.sql("SELECT document_id FROM ingestion WHERE ingestion_id = ?1")?;
    let mut rows = statement.query([id.as_bytes()]).map_err(sql_error("look up a member"))?;
    match rows.next().map_err(sql_error("look up a member"))? {
        Some(row) => Columns::new(row).document_opt().map(Some),
        None => Ok(None),
    }
}

/// Ends an unpack run. Runs with another fingerprint, and everything that came out of them, are superseded:
/// they leave the ledger together.
pub(super) fn end_run(tx: &mut Tx<'_>, belongs: &Belongs, end: &ManifestEnd) -> Result<()> {
    let parent = belongs.ingestion_id;
    tx.sql(
        "INSERT INTO manifest (ingestion_id, fingerprint, tenant_id, batch_id, declared, refused, ended)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1)
         ON CONFLICT (ingestion_id, fingerprint) DO UPDATE SET
           declared = coalesce(excluded.declared, declared), refused = excluded.refused, ended = 1, superseded = 0",
    )?
    .execute(params![
        parent.as_bytes(),
        end.fingerprint.0,
        belongs.tenant_id.as_bytes(),
        belongs.batch_id.as_ref().map(BatchId::as_bytes),
        end.declared.map(|n| n as i64),
        end.refused as i64,
    ])
    .map_err(sql_error("end a manifest"))?;
    let replaced: Option<i64> = tx
        .sql(
            "SELECT 1 FROM manifest WHERE ingestion_id = ?1 AND fingerprint <> ?2 AND superseded = 0 LIMIT 1",
        )?
        .query_row(params![parent.as_bytes(), end.fingerprint.0], |r| r.get(0))
        .optional()
        .map_err(sql_error("look for older runs"))?;
    if replaced.is_some() {
        supersede(tx, parent, end)?;
    }
    Ok(())
}

fn supersede(tx: &mut Tx<'_>, parent: IngestionId, end: &ManifestEnd) -> Result<()> {
    let family = "WITH RECURSIVE family (id) AS (
        SELECT ingestion_id FROM ingestion
          WHERE parent_id = ?1 AND run_fingerprint <> ?2 AND superseded = 0
        UNION ALL
        SELECT i.ingestion_id FROM ingestion i JOIN family f ON i.parent_id = f.id)";
    let args = params![parent.as_bytes(), end.fingerprint.0];
    let open: Vec<[u8; 16]> = tx
        .sql(&format!(
            "{family} SELECT ingestion_id FROM ingestion
               WHERE status = 'in_progress' AND ingestion_id IN (SELECT id FROM family)"
        ))?
        .query_map(args, |r| r.get(0))
        .and_then(Iterator::collect)
        .map_err(sql_error("look for replaced members"))?;
    for id in open {
        task::cancel_open(tx, IngestionId::from_slice(&id)?)?;
    }
    for sql in [
        format!("{family} UPDATE ingestion SET superseded = 1 WHERE ingestion_id IN (SELECT id FROM family)"),
        format!(
            "{family} UPDATE manifest SET superseded = 1
               WHERE ingestion_id IN (SELECT id FROM family) OR (ingestion_id = ?1 AND fingerprint <> ?2)"
        ),
    ] {
        tx.sql(&sql)?.execute(args).map_err(sql_error("supersede members"))?;
    }
    Ok(())
}
