//! What documents lack, by cause.

use docmill_core::answer::{ProblemGroup, ProblemSample};
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::problem::ResultCode;
use docmill_core::{ErrorKind, Result};
use rusqlite::{Connection, params};

use super::super::row::Columns;
use super::collect;

/// Items shown of each group.
const SAMPLES: usize = 5;

/// Items that have a problem: documents by their newest ended ingestion, and items that never became one. Most have
/// none, and the index of those that have is small.
macro_rules! having {
    () => {
        "FROM ingestion i LEFT JOIN document d ON d.document_id = i.document_id
         WHERE i.tenant_id = ?1 AND i.problems IS NOT NULL AND i.superseded = 0
           AND (i.document_id IS NULL OR d.current_ingestion_id = i.ingestion_id AND d.removed = 0)"
    };
}

pub(in super::super) fn problems(conn: &Connection, tenant: TenantId) -> Result<Vec<ProblemGroup>> {
    let groups = concat!(
        "SELECT i.problems ->> '$[0].kind', min(i.problems ->> '$[0].code'), count(*), sum(i.status = 'failed') ",
        having!(),
        " GROUP BY 1 ORDER BY 3 DESC, 1"
    );
    let mut groups = collect(conn, "count problems", groups, [tenant.as_bytes()], |c| {
        Ok(ProblemGroup {
            cause: c.word(ErrorKind::from_name)?,
            code: c.word(ResultCode::from_name)?,
            count: c.count()?,
            failed: c.count()?,
            samples: Vec::new(),
        })
    })?;
    let samples = concat!(
        "SELECT i.ingestion_id, i.document_id, i.name, i.problems ->> '$[0].message', i.completed_at ",
        having!(),
        " AND i.problems ->> '$[0].kind' = ?2 ORDER BY i.ingestion_id DESC LIMIT ?3"
    );
    for group in &mut groups {
        let args = params![tenant.as_bytes(), group.cause.name(), SAMPLES as i64];
        group.samples = collect(conn, "show problems", samples, args, |c| {
            Ok(ProblemSample {
                ingestion_id: c.ingestion()?,
                document_id: c.document_opt()?,
                name: c.get()?,
                message: c.get()?,
                at: c.time_opt()?,
            })
        })?;
    }
    Ok(groups)
}

pub(in super::super) fn having_problem(
    conn: &Connection,
    tenant: TenantId,
    cause: ErrorKind,
) -> Result<Vec<DocumentId>> {
    let sql = concat!(
        "SELECT i.document_id ",
        having!(),
        " AND i.problems ->> '$[0].kind' = ?2 AND i.document_id IS NOT NULL ORDER BY i.document_id"
    );
    collect(conn, "look for a problem", sql, params![tenant.as_bytes(), cause.name()], document)
}

fn document(c: &mut Columns<'_, '_>) -> Result<DocumentId> {
    c.document()
}
