//! Documents, newest first, page by page.

use docmill_core::Result;
use docmill_core::answer::{DocumentLine, ListAnswer};
use docmill_core::clock::Timestamp;
use docmill_core::document::DocumentState;
use docmill_core::id::{BatchId, DocumentId, TenantId};
use docmill_core::ports::store::ListQuery;
use docmill_core::problem::ResultCode;
use rusqlite::{Connection, params};

use super::super::super::shared::look::{Types, bad_cursor};
use super::super::row::json;
use super::{EVIDENCE, EVIDENCE_JOIN, collect, state};

/// Rows looked at in one step while a state is searched for.
const STEP: usize = 500;

/// Where documents are taken from that can be in a state at all.
struct Candidates {
    from: &'static str,
    only: &'static str,
    /// Several ingestions of a document are one line; grouped in the order of the index, nothing has to be sorted.
    grouped: &'static str,
}

impl Candidates {
    /// A small index holds those of most states and nothing else. Most documents are ready, so that those are looked for
    /// among all, or among all of one media type.
    fn of(state: Option<DocumentState>, one_type: bool) -> Self {
        let by_ingestion = |only| Self {
            from: "ingestion k CROSS JOIN document d ON d.document_id = k.document_id",
            only,
            grouped: "GROUP BY k.document_id ORDER BY k.document_id",
        };
        let by_document = |from, only| Self { from, only, grouped: "ORDER BY d.document_id" };
        match state {
            None | Some(DocumentState::Ready) if one_type => by_document(
                "document d INDEXED BY document_types",
                "d.tenant_id = ?1 AND d.media_type = ?4 AND d.document_id < ?2",
            ),
            None | Some(DocumentState::Ready) => {
                by_document("document d", "d.tenant_id = ?1 AND d.document_id < ?2")
            }
            Some(DocumentState::NeedsReview) => by_document(
                "document d INDEXED BY document_review",
                "d.tenant_id = ?1 AND d.document_id < ?2 AND d.needs_review = 1",
            ),
            Some(DocumentState::Stale | DocumentState::Processing) => {
                by_ingestion("k.tenant_id = ?1 AND k.document_id < ?2 AND k.status = 'in_progress'")
            }
            Some(DocumentState::Failed) => by_ingestion(
                "k.tenant_id = ?1 AND k.document_id < ?2 AND (k.status = 'failed' OR k.status = 'cancelled')",
            ),
            Some(DocumentState::Unclassified) => by_document(
                "document d INDEXED BY document_unclassified",
                "d.tenant_id = ?1 AND d.document_id < ?2 AND d.title IS NULL AND d.understood_in IS NOT NULL",
            ),
            Some(DocumentState::Unsupported) => {
                by_ingestion("k.tenant_id = ?1 AND k.document_id < ?2 AND k.result = 'UNSUPPORTED'")
            }
        }
    }
}

pub(in super::super) fn list(
    conn: &Connection,
    tenant: TenantId,
    query: &ListQuery,
    now: Timestamp,
) -> Result<ListAnswer> {
    let limit = query.limit.clamp(1, 10_000);
    // The cursor is the last id seen. Ids grow with time, so later arrivals never disturb the pages.
    let mut before = match &query.cursor {
        Some(text) => {
            text.parse::<DocumentId>().map_err(|e| bad_cursor(text).with_source(e))?.as_bytes().to_vec()
        }
        None => vec![0xff; 17],
    };
    let types = Types::of(query.media_type.as_deref());
    let ids = query.ids.as_ref().map(|ids| json(&ids.iter().map(hex).collect::<Vec<_>>())).transpose()?;
    let Candidates { from, only, grouped } = Candidates::of(query.state, types.exactly.is_some());
    let sql = format!(
        "SELECT d.document_id, d.name, d.title, d.media_type, d.bytes, d.created_at, c.page_count, c.language,
           c.result, c.error, {EVIDENCE}
         FROM {from} {EVIDENCE_JOIN}
         WHERE {only} AND d.removed = 0
           AND (?4 IS NULL OR d.media_type = ?4) AND (?5 IS NULL OR substr(d.media_type, 1, length(?5)) = ?5)
           AND (?6 IS NULL OR d.document_id IN (SELECT unhex(value) FROM json_each(?6)))
           AND (?7 IS NULL OR c.language = ?7)
           AND (?8 IS NULL OR d.created_at >= ?8) AND (?9 IS NULL OR d.created_at < ?9)
           AND (?10 IS NULL OR EXISTS (SELECT 1 FROM ingestion b
             WHERE b.document_id = d.document_id AND b.batch_id = ?10 AND b.tenant_id = ?1))
         {grouped} DESC LIMIT ?3"
    );
    let step = if query.state.is_some() { STEP.max(limit) } else { limit + 1 };
    let mut documents: Vec<DocumentLine> = Vec::new();
    loop {
        let args = params![
            tenant.as_bytes(),
            before,
            step as i64,
            types.exactly,
            types.prefix,
            ids,
            query.language,
            query.since.map(|at| at.0),
            query.until.map(|at| at.0),
            query.batch.as_ref().map(BatchId::as_bytes)
        ];
        let page = collect(conn, "list documents", &sql, args, |c| {
            let (document_id, name, title, media_type) = (c.document()?, c.get()?, c.get()?, c.get()?);
            let (bytes, created_at) = (c.count()?, c.time()?);
            let (page_count, language) = (c.get()?, c.get()?);
            let (result, error) = (c.word_opt(ResultCode::from_name)?, c.json_opt()?);
            let (state, _) = state(c, now)?;
            Ok(DocumentLine {
                document_id,
                name,
                title,
                media_type,
                bytes,
                state,
                page_count,
                language,
                result,
                error,
                created_at,
            })
        })?;
        let last = page.last().map(|d| d.document_id.as_bytes().to_vec());
        let full = page.len() == step;
        documents.extend(page.into_iter().filter(|d| query.state.is_none_or(|w| d.state == w)));
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

fn hex(id: &DocumentId) -> String {
    id.0.simple().to_string()
}
