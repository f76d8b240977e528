//! Looking: what people and programs see. Nothing here writes.

mod dossier;
mod head;
mod ingestion;
mod list;
mod problems;
mod show;
mod status;
mod tally;
mod why;
mod work;

pub(super) use dossier::dossiers;
pub(super) use head::{head, heads, select};
pub(super) use ingestion::ingestion;
pub(super) use list::list;
pub(super) use problems::{having_problem, problems};
pub(super) use show::show;
pub(super) use status::status;
pub(super) use tally::tally;
pub(super) use why::why;
pub(super) use work::work;

use docmill_core::Result;
use docmill_core::clock::Timestamp;
use docmill_core::document::DocumentState;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ingestion::IngestionStatus;
use docmill_core::problem::ResultCode;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::shared::look as shared;
use super::row::{Columns, sql_error};

/// What the state of document `d` is derived from: last progress of its open ingestion, and how its newest
/// ended one ended.
const EVIDENCE: &str = "(SELECT min(o.progress_at) FROM ingestion o
    WHERE o.document_id = d.document_id AND o.status = 'in_progress'), c.status, c.result, d.needs_review,
    d.title IS NOT NULL OR d.understood_in IS NULL, d.transcription_key IS NOT NULL";
const EVIDENCE_JOIN: &str = "LEFT JOIN ingestion c ON c.ingestion_id = d.current_ingestion_id";

/// What document `d` is: as its words tell, or else its meaning; `other` if something tried to tell. Written as the index
/// `document_kinds` has it.
macro_rules! kind {
    () => {
        "coalesce(d.kind, d.judged_kind, iif(d.understood_in IS NULL, NULL, 'other'))"
    };
}

pub(super) use kind;

fn state(c: &mut Columns<'_, '_>, now: Timestamp) -> Result<(DocumentState, bool)> {
    let open = c.time_opt()?;
    let status = c.word_opt(IngestionStatus::from_name)?;
    let result = c.word_opt(ResultCode::from_name)?;
    let flags = shared::Flags { needs_review: c.flag()?, titled: c.flag()?, readable: c.flag()? };
    Ok(shared::document_state(open, status, result, flags, now))
}

/// The document behind a document or ingestion id.
pub(super) fn resolve(conn: &Connection, tenant: TenantId, id: &str) -> Result<Option<DocumentId>> {
    let id: DocumentId = id.parse()?;
    let found: Option<[u8; 16]> = conn
        .prepare_cached(
            "SELECT document_id FROM document WHERE document_id = ?1 AND tenant_id = ?2 AND removed = 0
             UNION ALL SELECT i.document_id FROM ingestion i JOIN document d ON d.document_id = i.document_id
               WHERE i.ingestion_id = ?1 AND i.tenant_id = ?2 AND d.removed = 0 LIMIT 1",
        )
        .and_then(|mut s| s.query_row(params![id.as_bytes(), tenant.as_bytes()], |r| r.get(0)).optional())
        .map_err(sql_error("look up a document"))?;
    found.map(|id| DocumentId::from_slice(&id)).transpose()
}

/// Collects the rows of a query.
pub(super) fn collect<T>(
    conn: &Connection,
    doing: &'static str,
    sql: &str,
    args: impl rusqlite::Params,
    mut read: impl FnMut(&mut Columns<'_, '_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = conn.prepare_cached(sql).map_err(sql_error(doing))?;
    let mut rows = statement.query(args).map_err(sql_error(doing))?;
    let mut out = Vec::new();
    while let Some(row) = rows.next().map_err(sql_error(doing))? {
        out.push(read(&mut Columns::new(row))?);
    }
    Ok(out)
}

/// The one row of a query, or none.
pub(super) fn first<T>(
    conn: &Connection,
    doing: &'static str,
    sql: &str,
    args: impl rusqlite::Params,
    read: impl FnMut(&mut Columns<'_, '_>) -> Result<T>,
) -> Result<Option<T>> {
    collect(conn, doing, sql, args, read).map(|rows| rows.into_iter().next())
}
