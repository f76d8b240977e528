//! Documents, newest first, page by page.

use docmill_core::Result;
use docmill_core::answer::{DocumentLine, ListAnswer};
use docmill_core::clock::Timestamp;
use docmill_core::document::DocumentState;
use docmill_core::id::{DocumentId, TenantId};
use rusqlite::{Connection, params};

use super::super::super::shared::look::bad_cursor;
use super::{EVIDENCE, EVIDENCE_JOIN, collect, state};

/// Rows looked at in one step while a state is searched for.
const STEP: usize = 500;

pub(in super::super) fn list(
    conn: &Connection,
    tenant: TenantId,
    wanted: Option<DocumentState>,
    limit: usize,
    cursor: Option<&str>,
    now: Timestamp,
) -> Result<ListAnswer> {
    let limit = limit.clamp(1, 10_000);
    // The cursor is the last id seen. Ids grow with time, so later arrivals never disturb the pages.
    let mut before = match cursor {
        Some(text) => {
            text.parse::<DocumentId>().map_err(|e| bad_cursor(text).with_source(e))?.as_bytes().to_vec()
        }
        None => vec![0xff; 17],
    };
    let sql = format!(
        "SELECT d.document_id, d.name, d.title, d.media_type, d.bytes, d.created_at, {EVIDENCE}
         FROM document d {EVIDENCE_JOIN}
         WHERE d.tenant_id = ?1 AND d.document_id < ?2 ORDER BY d.document_id DESC LIMIT ?3"
    );
    let step = if wanted.is_some() { STEP.max(limit) } else { limit + 1 };
    let mut documents: Vec<DocumentLine> = Vec::new();
    loop {
        let args = params![tenant.as_bytes(), before, step as i64];
        let page = collect(conn, "list documents", &sql, args, |c| {
            let (document_id, name, title, media_type) = (c.document()?, c.get()?, c.get()?, c.get()?);
            let (bytes, created_at) = (c.count()?, c.time()?);
            let (state, _) = state(c, now)?;
            Ok(DocumentLine { document_id, name, title, media_type, bytes, state, created_at })
        })?;
        let last = page.last().map(|d| d.document_id.as_bytes().to_vec());
        let full = page.len() == step;
        documents.extend(page.into_iter().filter(|d| wanted.is_none_or(|w| d.state == w)));
        match last {
            Some(last) if full && documents.len() <= limit => before = last,
            _ => break,
        }
    }
    let more = documents.len() > limit;
    documents.truncate(limit);
    let next_cursor = documents.last().filter(|_| more).map(|d| d.document_id.to_string());
    Ok(ListAnswer { documents, next_cursor })
}
