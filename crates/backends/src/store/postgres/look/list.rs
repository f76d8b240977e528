//! Documents, newest first, page by page.

use docmill_core::Result;
use docmill_core::answer::{DocumentLine, ListAnswer};
use docmill_core::clock::Timestamp;
use docmill_core::document::DocumentState;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::store::ListQuery;
use docmill_core::problem::ResultCode;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, PgRow, Postgres};

use super::super::super::shared::look::{Types, bad_cursor};
use super::super::row::{Columns, sql_error, text};
use super::{evidence, evidence_from, kind, state};

/// Rows looked at in one step while a state is searched for.
const STEP: usize = 500;

/// The list, of documents that can be in a state at all: a small index holds those and nothing else. Most documents are
/// ready, so that those are looked for among all, or among all of one kind or of one media type.
fn statement(wanted: &ListQuery, one_type: bool) -> &'static str {
    macro_rules! list {
        ($($only:expr),+) => {
            concat!(
                "SELECT d.document_id, d.name, d.title, d.media_type, ",
                kind!(),
                ", d.bytes, d.created_at, c.page_count, c.language, c.result, c.error, ",
                evidence!(),
                evidence_from!(),
                "WHERE d.tenant_id = $1 AND NOT d.removed AND ($2::uuid IS NULL OR d.document_id < $2)
                   AND ($4::text IS NULL OR d.media_type = $4)
                   AND ($5::text IS NULL OR starts_with(d.media_type, $5))
                   AND ($6::uuid[] IS NULL OR d.document_id = ANY($6))
                   AND ($7::text IS NULL OR c.language = $7)
                   AND ($8::bigint IS NULL OR d.created_at >= $8) AND ($9::bigint IS NULL OR d.created_at < $9)
                   AND ($10::uuid IS NULL OR EXISTS (SELECT 1 FROM ingestion b
                     WHERE b.document_id = d.document_id AND b.batch_id = $10 AND b.tenant_id = $1))
                   AND ($11::text IS NULL OR ",
                kind!(),
                " = $11) ",
                $($only,)+
                " ORDER BY d.document_id DESC LIMIT $3"
            )
        };
    }
    if wanted.tag.is_some() {
        // Few documents have any one tag, whatever state they are in.
        return list!(
            "AND d.document_id IN (SELECT k.document_id FROM document_tag k WHERE k.tenant_id = $1 AND k.key = $12)"
        );
    }
    match wanted.state {
        None | Some(DocumentState::Ready) if wanted.kind.is_some() => {
            list!("AND ", kind!(), " = $11")
        }
        None | Some(DocumentState::Ready) if one_type => list!("AND d.media_type = $4"),
        None | Some(DocumentState::Ready) => list!(""),
        Some(DocumentState::NeedsReview) => list!("AND d.needs_review"),
        Some(DocumentState::Stale | DocumentState::Processing) => list!(
            "AND d.document_id IN (SELECT k.document_id FROM ingestion k
               WHERE k.tenant_id = $1 AND k.status = 'in_progress')"
        ),
        Some(DocumentState::Failed) => list!(
            "AND d.document_id IN (SELECT k.document_id FROM ingestion k
               WHERE k.tenant_id = $1 AND (k.status = 'failed' OR k.status = 'cancelled'))"
        ),
        Some(DocumentState::Unclassified) => list!("AND d.title IS NULL AND d.understood_in IS NOT NULL"),
        Some(DocumentState::Unsupported) => list!(
            "AND d.document_id IN (SELECT k.document_id FROM ingestion k
               WHERE k.tenant_id = $1 AND k.result = 'UNSUPPORTED')"
        ),
    }
}

pub(in super::super) async fn list(
    conn: &mut PgConnection,
    tenant: TenantId,
    wanted: &ListQuery,
    now: Timestamp,
) -> Result<ListAnswer> {
    let limit = wanted.limit.clamp(1, 10_000);
    // The cursor is the last id seen. Ids grow with time, so later arrivals never disturb the pages.
    let mut before = match &wanted.cursor {
        Some(text) => Some(text.parse::<DocumentId>().map_err(|e| bad_cursor(text).with_source(e))?),
        None => None,
    };
    let types = Types::of(wanted.media_type.as_deref());
    let ids = wanted.ids.as_ref().map(|ids| ids.iter().map(|d| d.0).collect::<Vec<_>>());
    let step = if wanted.state.is_some() { STEP.max(limit) } else { limit + 1 };
    let sql = statement(wanted, types.exactly.is_some());
    let mut documents: Vec<DocumentLine> = Vec::new();
    loop {
        let mut asked = query::<Postgres>(sql)
            .bind(tenant.0)
            .bind(before.map(|d| d.0))
            .bind(step as i64)
            .bind(types.exactly.map(text))
            .bind(types.prefix.map(text))
            .bind(&ids)
            .bind(wanted.language.as_deref().map(text))
            .bind(wanted.since.map(|at| at.0))
            .bind(wanted.until.map(|at| at.0))
            .bind(wanted.batch.map(|batch| batch.0))
            .bind(wanted.kind.as_deref().map(text));
        if let Some(tag) = &wanted.tag {
            asked = asked.bind(text(tag));
        }
        let rows = asked.fetch_all(&mut *conn).await.map_err(sql_error("list documents"))?;
        let page: Vec<DocumentLine> = rows.iter().map(|row| line(row, now)).collect::<Result<_>>()?;
        let last = page.last().map(|d| d.document_id);
        let full = page.len() == step;
        documents.extend(page.into_iter().filter(|d| wanted.state.is_none_or(|w| d.state == w)));
        if last.is_none() || !full || documents.len() > limit {
            break;
        }
        before = last;
    }
    let more = documents.len() > limit;
    documents.truncate(limit);
    let next_cursor = documents.last().filter(|_| more).map(|d| d.document_id.to_string());
    Ok(ListAnswer { documents, next_cursor })
}

fn line(row: &PgRow, now: Timestamp) -> Result<DocumentLine> {
    let mut c = Columns::new(row);
    let (document_id, name, title, media_type) = (c.document()?, c.get()?, c.get()?, c.get()?);
    let (kind, bytes, created_at) = (c.get()?, c.count()?, c.time()?);
    let (page_count, language) = (c.int_opt()?, c.get()?);
    let (result, error) = (c.word_opt(ResultCode::from_name)?, c.json_opt()?);
    let (state, _) = state(&mut c, now)?;
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
}
