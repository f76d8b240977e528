//! Looking: what people and programs see. Nothing here writes, and all of it runs under row-level security; the
//! tenant stands in every query all the same.

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
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::super::shared::look as shared;
use super::row::{Columns, sql_error};

/// What the state of document `d` is derived from: last progress of its open ingestion, and how its newest
/// ended one ended.
macro_rules! evidence {
    () => {
        "(SELECT min(o.progress_at) FROM ingestion o
            WHERE o.document_id = d.document_id AND o.status = 'in_progress'), c.status, c.result, d.needs_review,
          (d.title IS NOT NULL OR d.understood_in IS NULL), (d.transcription_key IS NOT NULL)"
    };
}

/// The tables that [`evidence!`] reads.
macro_rules! evidence_from {
    () => {
        " FROM document d LEFT JOIN ingestion c ON c.ingestion_id = d.current_ingestion_id "
    };
}

/// What document `d` is: as its words tell, or else its meaning; `other` if something tried to tell. Written as the index
/// `document_kinds` has it.
macro_rules! kind {
    () => {
        "CASE WHEN d.kind IS NOT NULL THEN d.kind WHEN d.judged_kind IS NOT NULL THEN d.judged_kind
           WHEN d.understood_in IS NOT NULL THEN 'other' END"
    };
}

pub(super) use kind;
use {evidence, evidence_from};

fn state(c: &mut Columns<'_>, now: Timestamp) -> Result<(DocumentState, bool)> {
    let open = c.time_opt()?;
    let status = c.word_opt(IngestionStatus::from_name)?;
    let result = c.word_opt(ResultCode::from_name)?;
    let flags = shared::Flags { needs_review: c.flag()?, titled: c.flag()?, readable: c.flag()? };
    Ok(shared::document_state(open, status, result, flags, now))
}

/// The document behind a document or ingestion id.
pub(super) async fn resolve(
    conn: &mut PgConnection,
    tenant: TenantId,
    id: &str,
) -> Result<Option<DocumentId>> {
    let id: DocumentId = id.parse()?;
    let found: Option<Uuid> = query_scalar::<Postgres, Uuid>(
        "SELECT document_id FROM document WHERE document_id = $1 AND tenant_id = $2 AND NOT removed
         UNION ALL SELECT i.document_id FROM ingestion i JOIN document d ON d.document_id = i.document_id
           WHERE i.ingestion_id = $1 AND i.tenant_id = $2 AND NOT d.removed LIMIT 1",
    )
    .bind(id.0)
    .bind(tenant.0)
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up a document"))?;
    Ok(found.map(DocumentId))
}
