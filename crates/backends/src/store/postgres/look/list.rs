//! Documents, newest first, page by page.

use docmill_core::Result;
use docmill_core::answer::{DocumentLine, ListAnswer};
use docmill_core::clock::Timestamp;
use docmill_core::document::DocumentState;
use docmill_core::id::{DocumentId, TenantId};
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, PgRow, Postgres};

use super::super::super::shared::look::bad_cursor;
use super::super::row::{Columns, sql_error};
use super::{evidence, evidence_from, state};

/// Rows looked at in one step while a state is searched for.
const STEP: usize = 500;

pub(in super::super) async fn list(
    conn: &mut PgConnection,
    tenant: TenantId,
    wanted: Option<DocumentState>,
    limit: usize,
    cursor: Option<&str>,
    now: Timestamp,
) -> Result<ListAnswer> {
    let limit = limit.clamp(1, 10_000);
    // The cursor is the last id seen. Ids grow with time, so later arrivals never disturb the pages.
    let mut before = match cursor {
        Some(text) => Some(text.parse::<DocumentId>().map_err(|e| bad_cursor(text).with_source(e))?),
        None => None,
    };
    let step = if wanted.is_some() { STEP.max(limit) } else { limit + 1 };
    let mut documents: Vec<DocumentLine> = Vec::new();
    loop {
        let rows = query::<Postgres>(concat!(
            "SELECT d.document_id, d.name, d.title, d.media_type, d.bytes, d.created_at, ",
            evidence!(),
            evidence_from!(),
            "WHERE d.tenant_id = $1 AND ($2::uuid IS NULL OR d.document_id < $2)
             ORDER BY d.document_id DESC LIMIT $3"
        ))
        .bind(tenant.0)
        .bind(before.map(|d| d.0))
        .bind(step as i64)
        .fetch_all(&mut *conn)
        .await
        .map_err(sql_error("list documents"))?;
        let page: Vec<DocumentLine> = rows.iter().map(|row| line(row, now)).collect::<Result<_>>()?;
        let last = page.last().map(|d| d.document_id);
        let full = page.len() == step;
        documents.extend(page.into_iter().filter(|d| wanted.is_none_or(|w| d.state == w)));
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
    let (bytes, created_at) = (c.count()?, c.time()?);
    let (state, _) = state(&mut c, now)?;
    Ok(DocumentLine { document_id, name, title, media_type, bytes, state, created_at })
}
