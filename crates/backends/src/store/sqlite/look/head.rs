//! The heads of documents: enough for a search hit, a download or a selection.

use docmill_core::Result;
use docmill_core::clock::Timestamp;
use docmill_core::id::{BlobKey, DocumentId, TenantId};
use docmill_core::ports::store::{DocumentHead, Selected, Selection};
use rusqlite::{Connection, params};

use super::super::row::Columns;
use super::{EVIDENCE, EVIDENCE_JOIN, collect, first, resolve, state};

const HEAD: &str = "d.document_id, d.name, d.title, d.media_type, d.bytes, d.blob_key, d.transcription_key";

/// What kind of document `d` was found to be.
const KIND: &str = "(SELECT json_extract(u.body, '$.type') FROM ingestion k
    JOIN understanding u ON u.ingestion_id = k.ingestion_id AND u.step = k.understood_by
    WHERE k.ingestion_id = d.understood_in)";

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
    let columns = format!(
        "SELECT {HEAD}, d.content_hash,
           EXISTS (SELECT 1 FROM ingestion b WHERE b.document_id = d.document_id AND b.status = 'in_progress'), {KIND},
           {EVIDENCE} FROM document d {EVIDENCE_JOIN}"
    );
    let found = if selection.ids.is_empty() {
        let sql = format!("{columns} WHERE d.tenant_id = ?1 AND d.removed = 0 ORDER BY d.document_id");
        collect(conn, "select documents", &sql, [tenant.as_bytes()], read_selected)?
    } else {
        let sql = format!("{columns} WHERE d.tenant_id = ?1 AND d.document_id = ?2 AND d.removed = 0");
        let mut found = Vec::new();
        for id in &selection.ids {
            let args = params![tenant.as_bytes(), id.as_bytes()];
            found.extend(first(conn, "select documents", &sql, args, read_selected)?);
        }
        found
    };
    Ok(found
        .into_iter()
        .filter(|(_, state)| selection.state.is_none_or(|s| s == *state))
        .map(|(selected, _)| selected)
        .filter(|s| selection.media_type.as_ref().is_none_or(|t| s.head.media_type.as_ref() == Some(t)))
        .collect())
}
