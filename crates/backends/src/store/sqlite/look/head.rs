//! The heads of documents: enough for a search hit, a download or a selection.

use docmill_core::Result;
use docmill_core::clock::Timestamp;
use docmill_core::id::{BlobKey, DocumentId, TenantId};
use docmill_core::ports::store::{DocumentHead, Selected, Selection};
use rusqlite::{Connection, params};

use super::super::super::shared::look::Types;
use super::super::row::Columns;
use super::{EVIDENCE, EVIDENCE_JOIN, collect, first, kind, resolve, state};

const HEAD: &str = "d.document_id, d.name, d.title, d.media_type, d.bytes, d.blob_key, d.transcription_key";

fn read(c: &mut Columns<'_, '_>) -> Result<DocumentHead> {
    Ok(DocumentHead {
        document_id: c.document()?,
        name: c.get()?,
        title: c.get()?,
        media_type: c.get()?,
        bytes: c.count()?,
        key: BlobKey::stored(c.get::<String>()?),
        transcription: c.get::<Option<String>>()?.map(BlobKey::stored),
    })
}

pub(in super::super) fn heads(
    conn: &Connection,
    tenant: TenantId,
    ids: &[DocumentId],
) -> Result<Vec<DocumentHead>> {
    let sql = format!(
        "SELECT {HEAD} FROM document d WHERE d.document_id = ?1 AND d.tenant_id = ?2 AND d.removed = 0"
    );
    let mut out = Vec::with_capacity(ids.len());
    for id in ids {
        out.extend(first(conn, "look up a document", &sql, params![id.as_bytes(), tenant.as_bytes()], read)?);
    }
    Ok(out)
}

pub(in super::super) fn head(conn: &Connection, tenant: TenantId, id: &str) -> Result<Option<DocumentHead>> {
    match resolve(conn, tenant, id)? {
        Some(id) => Ok(heads(conn, tenant, &[id])?.into_iter().next()),
        None => Ok(None),
    }
}

pub(in super::super) fn select(
    conn: &Connection,
    tenant: TenantId,
    selection: &Selection,
    now: Timestamp,
) -> Result<Vec<Selected>> {
    let read_selected = |c: &mut Columns<'_, '_>| {
        let head = read(c)?;
        let hash = c.hash()?;
        let busy = c.flag()?;
        let kind = c.get()?;
        let (state, _) = state(c, now)?;
        Ok((Selected { head, hash, kind, busy }, state))
    };
    // Written only where it is wanted: beside an OR no index is of use.
    let (index, only) = match (selection.ids.is_empty(), &selection.kind) {
        (true, Some(_)) => ("INDEXED BY document_kinds", concat!(kind!(), " = ?4 AND ?5 IS NULL")),
        (true, None) => ("", "?4 IS NULL AND ?5 IS NULL"),
        (false, _) => ("", concat!("(?4 IS NULL OR ", kind!(), " = ?4) AND d.document_id = ?5")),
    };
    let sql = format!(
        "SELECT {HEAD}, d.content_hash,
           EXISTS (SELECT 1 FROM ingestion b WHERE b.document_id = d.document_id AND b.status = 'in_progress'), d.kind,
           {EVIDENCE} FROM document d {index} {EVIDENCE_JOIN}
         WHERE d.tenant_id = ?1 AND d.removed = 0 AND {only}
           AND (?2 IS NULL OR d.media_type = ?2) AND (?3 IS NULL OR substr(d.media_type, 1, length(?3)) = ?3)
         ORDER BY d.document_id"
    );
    let types = Types::of(selection.media_type.as_deref());
    let rows = |id: Option<&DocumentId>| {
        let id = id.map(DocumentId::as_bytes);
        let args = params![tenant.as_bytes(), types.exactly, types.prefix, selection.kind, id];
        collect(conn, "select documents", &sql, args, read_selected)
    };
    let mut found = Vec::new();
    if selection.ids.is_empty() {
        found = rows(None)?;
    }
    for id in &selection.ids {
        found.extend(rows(Some(id))?);
    }
    Ok(found
        .into_iter()
        .filter(|(_, state)| selection.state.is_none_or(|s| s == *state))
        .map(|(selected, _)| selected)
        .collect())
}
