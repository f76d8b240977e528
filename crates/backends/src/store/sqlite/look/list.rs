//! Documents, newest first, page by page.

use std::collections::VecDeque;

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
use super::{EVIDENCE, EVIDENCE_JOIN, collect, kind, state};

const KIND: &str = kind!();

/// Rows looked at in one step while a state is searched for.
const STEP: usize = 500;

/// Types that a pattern may stand for before it is cheaper to look at all documents.
const MAX_TYPES: usize = 16;

/// One media type, or all that begin alike, or all.
struct Wanted {
    exactly: Option<String>,
    prefix: Option<String>,
}

/// Documents that are asked for by their ids, newest first: a page needs the first few of a thousand that were found.
struct Among {
    rest: VecDeque<DocumentId>,
}

impl Among {
    fn new(ids: &[DocumentId], before: &[u8]) -> Self {
        let mut rest: Vec<_> = ids.iter().copied().filter(|id| id.as_bytes().as_slice() < before).collect();
        rest.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        rest.dedup();
        Self { rest: rest.into() }
    }

    fn next(&mut self, count: usize) -> Vec<DocumentId> {
        self.rest.drain(..count.min(self.rest.len())).collect()
    }
}

/// Where documents are taken from that can be in a state at all.
struct Candidates {
    from: &'static str,
    only: &'static str,
    /// Several ingestions of a document are one line; grouped in the order of the index, nothing has to be sorted.
    grouped: &'static str,
}

impl Candidates {
    /// A small index holds those of most states and nothing else. Most documents are ready, so that those are looked for
    /// among all, or among all of one kind or of one media type.
    fn of(query: &ListQuery, one_type: bool) -> Self {
        let by_ingestion = |only| Self {
            from: "ingestion k CROSS JOIN document d ON d.document_id = k.document_id",
            only,
            grouped: "GROUP BY k.document_id ORDER BY k.document_id",
        };
        let by_document = |from, only| Self { from, only, grouped: "ORDER BY d.document_id" };
        if query.tag.is_some() {
            // Few documents have any one tag, whatever state they are in.
            return Self {
                from: "document_tag k CROSS JOIN document d ON d.document_id = k.document_id",
                only: "k.tenant_id = ?1 AND k.key = ?11 AND k.document_id < ?2",
                grouped: "ORDER BY k.document_id",
            };
        }
        match query.state {
            None | Some(DocumentState::Ready) if query.kind.is_some() => by_document(
                "document d INDEXED BY document_kinds",
                concat!("d.tenant_id = ?1 AND ", kind!(), " = ?12 AND d.document_id < ?2"),
            ),
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
    let wanted = Types::of(query.media_type.as_deref());
    let types = each_type(conn, tenant, query.state, &wanted)?;
    let mut among = query.ids.as_deref().map(|ids| Among::new(ids, &before));
    let Candidates { from, only, grouped } =
        Candidates::of(query, types.iter().all(|types| types.exactly.is_some()));
    // Written only where it is wanted: beside an OR no index is of use.
    let named = match &among {
        Some(_) => "AND d.document_id IN (SELECT unhex(value) FROM json_each(?6))",
        None => "AND ?6 IS NULL",
    };
    let sql = format!(
        "SELECT d.document_id, d.name, d.title, d.media_type, {KIND}, d.bytes, d.created_at,
           c.page_count, c.language, c.result, c.error, {EVIDENCE}
         FROM {from} {EVIDENCE_JOIN}
         WHERE {only} AND d.removed = 0
           AND (?4 IS NULL OR d.media_type = ?4) AND (?5 IS NULL OR substr(d.media_type, 1, length(?5)) = ?5)
           AND (?12 IS NULL OR {KIND} = ?12) {named}
           AND (?7 IS NULL OR c.language = ?7)
           AND (?8 IS NULL OR d.created_at >= ?8) AND (?9 IS NULL OR d.created_at < ?9)
           AND (?10 IS NULL OR EXISTS (SELECT 1 FROM ingestion b
             WHERE b.document_id = d.document_id AND b.batch_id = ?10 AND b.tenant_id = ?1))
         {grouped} DESC LIMIT ?3"
    );
    let step = if query.state.is_some() { STEP.max(limit) } else { limit + 1 };
    let rows = |types: &Wanted, before: &[u8], ids: Option<&str>| {
        let args = params![
            tenant.as_bytes(),
            before,
            step as i64,
            types.exactly.as_deref(),
            types.prefix.as_deref(),
            ids,
            query.language,
            query.since.map(|at| at.0),
            query.until.map(|at| at.0),
            query.batch.as_ref().map(BatchId::as_bytes),
            query.tag,
            query.kind
        ];
        collect(conn, "list documents", &sql, args, |c| {
            let (document_id, name, title, media_type) = (c.document()?, c.get()?, c.get()?, c.get()?);
            let (kind, bytes, created_at) = (c.get()?, c.count()?, c.time()?);
            let (page_count, language) = (c.get()?, c.get()?);
            let (result, error) = (c.word_opt(ResultCode::from_name)?, c.json_opt()?);
            let (state, _) = state(c, now)?;
            Ok(DocumentLine {
                document_id,
                name,
                title,
                media_type,
                kind,
                bytes,
                state,
                page_count,
                language,
                result,
                error,
                created_at,
            })
        })
    };
    let mut documents: Vec<DocumentLine> = Vec::new();
    loop {
        let some = among.as_mut().map(|among| among.next(step));
        let ids = some.map(|some| json(&some.iter().map(hex).collect::<Vec<_>>())).transpose()?;
        let mut page = Vec::new();
        for types in &types {
            page.extend(rows(types, &before, ids.as_deref())?);
        }
        if types.len() > 1 {
            page.sort_unstable_by_key(|line| std::cmp::Reverse(line.document_id));
            page.truncate(step);
        }
        let last = page.last().map(|d| d.document_id.as_bytes().to_vec());
        let full = page.len() == step;
        documents.extend(page.into_iter().filter(|d| query.state.is_none_or(|w| d.state == w)));
        let enough = documents.len() > limit;
        match (&among, last) {
            (Some(among), _) if !enough && !among.rest.is_empty() => {}
            (None, Some(last)) if !enough && full => before = last,
            _ => break,
        }
    }
    let more = documents.len() > limit;
    documents.truncate(limit);
    let next_cursor = documents.last().filter(|_| more).map(|d| d.document_id.to_string());
    Ok(ListAnswer { documents, next_cursor })
}

/// The types that a pattern stands for, one by one: the index holds the documents of each in their order, and of `image/*`
/// as a whole in none. Where the pattern is no help (many types, or a state that has a small index), it stays as it is.
fn each_type(
    conn: &Connection,
    tenant: TenantId,
    state: Option<DocumentState>,
    wanted: &Types,
) -> Result<Vec<Wanted>> {
    let as_it_is = || {
        vec![Wanted { exactly: wanted.exactly.map(str::to_owned), prefix: wanted.prefix.map(str::to_owned) }]
    };
    let (Some(prefix), None | Some(DocumentState::Ready)) = (wanted.prefix, state) else {
        return Ok(as_it_is());
    };
    // From one type to the next through the index: as many steps as there are types, however many documents.
    let sql = "WITH RECURSIVE type (name) AS (
           SELECT min(media_type) FROM document
           WHERE tenant_id = ?1 AND removed = 0 AND media_type >= ?2
           UNION ALL
           SELECT (SELECT min(media_type) FROM document
             WHERE tenant_id = ?1 AND removed = 0 AND media_type > type.name)
           FROM type WHERE substr(type.name, 1, length(?2)) = ?2
         )
         SELECT name FROM type WHERE substr(name, 1, length(?2)) = ?2 LIMIT ?3";
    let args = params![tenant.as_bytes(), prefix, (MAX_TYPES + 1) as i64];
    let names = collect(conn, "types of documents", sql, args, |c| {
        let name: String = c.get()?;
        Ok(name)
    })?;
    if names.len() > MAX_TYPES {
        return Ok(as_it_is());
    }
    Ok(names.into_iter().map(|name| Wanted { exactly: Some(name), prefix: None }).collect())
}

fn hex(id: &DocumentId) -> String {
    id.0.simple().to_string()
}
