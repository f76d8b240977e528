//! What documents lack, by cause.

use std::collections::BTreeMap;

use docmill_core::answer::{ProblemGroup, ProblemSample};
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::problem::Problem;
use docmill_core::{ErrorKind, Result};
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};

use super::super::row::{Columns, sql_error};

/// Items shown of each group.
const SAMPLES: usize = 5;

/// Items with problems looked at in one step.
const STEP: i64 = 5000;

/// An item and its first problem.
struct Item {
    sample: ProblemSample,
    problem: Problem,
    failed: bool,
}

/// Items that have a problem, newest first: documents by their newest ended ingestion, and items that never became one.
/// Problems are text, because `jsonb` refuses what JSON allows, so they are taken apart here; the index of the items
/// that have some is small.
async fn each(conn: &mut PgConnection, tenant: TenantId, mut found: impl FnMut(Item)) -> Result<()> {
    let mut before = uuid::Uuid::max();
    loop {
        let rows = query::<Postgres>(
            "SELECT i.ingestion_id, i.document_id, i.name, i.completed_at, i.status = 'failed', i.problems
             FROM ingestion i LEFT JOIN document d ON d.document_id = i.document_id
             WHERE i.tenant_id = $1 AND i.ingestion_id < $2 AND i.problems IS NOT NULL AND NOT i.superseded
               AND (i.document_id IS NULL OR d.current_ingestion_id = i.ingestion_id AND NOT d.removed)
             ORDER BY i.ingestion_id DESC LIMIT $3",
        )
        .bind(tenant.0)
        .bind(before)
        .bind(STEP)
        .fetch_all(&mut *conn)
        .await
        .map_err(sql_error("count problems"))?;
        for row in &rows {
            let mut c = Columns::new(row);
            let (ingestion_id, document_id, name) = (c.ingestion()?, c.document_opt()?, c.get()?);
            let (at, failed) = (c.time_opt()?, c.flag()?);
            let problems: Vec<Problem> = c.json_opt()?.unwrap_or_default();
            before = ingestion_id.0;
            if let Some(problem) = problems.into_iter().next() {
                let message = problem.message.clone();
                let sample = ProblemSample { ingestion_id, document_id, name, message, at };
                found(Item { sample, problem, failed });
            }
        }
        if (rows.len() as i64) < STEP {
            return Ok(());
        }
    }
}

pub(in super::super) async fn problems(
    conn: &mut PgConnection,
    tenant: TenantId,
) -> Result<Vec<ProblemGroup>> {
    let mut groups: BTreeMap<&'static str, ProblemGroup> = BTreeMap::new();
    each(conn, tenant, |item| {
        let (cause, code) = (item.problem.kind, item.problem.code);
        let group = groups.entry(cause.name()).or_insert_with(|| ProblemGroup {
            cause,
            code,
            count: 0,
            failed: 0,
            samples: Vec::new(),
        });
        group.count += 1;
        group.failed += u64::from(item.failed);
        if group.samples.len() < SAMPLES {
            group.samples.push(item.sample);
        }
    })
    .await?;
    let mut groups: Vec<ProblemGroup> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    Ok(groups)
}

pub(in super::super) async fn having_problem(
    conn: &mut PgConnection,
    tenant: TenantId,
    cause: ErrorKind,
) -> Result<Vec<DocumentId>> {
    let mut ids = Vec::new();
    each(conn, tenant, |item| {
        if item.problem.kind == cause {
            ids.extend(item.sample.document_id);
        }
    })
    .await?;
    ids.sort_unstable();
    Ok(ids)
}
