//! What was paid for: one row a call, however often it is told.

use docmill_core::Result;
use docmill_core::id::{IngestionId, TenantId};
use docmill_core::ports::store::Done;
use docmill_core::usage::{Usage, UsageLine};
use sqlx_core::query::query;
use sqlx_postgres::Postgres;

use super::row::{Columns, sql_error};
use super::task::TaskRow;
use super::tx::Tx;

/// What a task has paid for.
pub(super) struct Paid {
    tenant_id: TenantId,
    ingestion_id: IngestionId,
    step: String,
    usage: Usage,
}

impl Paid {
    pub(super) fn by(row: &TaskRow, done: &Done) -> impl Iterator<Item = Self> {
        done.usage.iter().map(|usage| Self {
            tenant_id: row.belongs.tenant_id,
            ingestion_id: row.belongs.ingestion_id,
            step: row.kind.as_str().to_owned(),
            usage: usage.clone(),
        })
    }
}

/// A statement a call: calls take seconds, so they are few.
pub(super) async fn keep(tx: &mut Tx, paid: &[Paid]) -> Result<()> {
    for Paid { tenant_id, ingestion_id, step, usage } in paid {
        let now = tx.now;
        query::<Postgres>(
            "INSERT INTO usage (ingestion_id, call, tenant_id, step, provider, model, tokens_in, tokens_out, cost, at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (tenant_id, call) DO NOTHING",
        )
        .bind(ingestion_id.0)
        .bind(&usage.call)
        .bind(tenant_id.0)
        .bind(step)
        .bind(&usage.provider)
        .bind(&usage.model)
        .bind(usage.tokens_in as i64)
        .bind(usage.tokens_out as i64)
        .bind(usage.cost)
        .bind(now.0)
        .execute(tx.conn())
        .await
        .map_err(sql_error("keep what was paid"))?;
    }
    Ok(())
}

/// What was paid for the document `$1` of the tenant `$2`.
pub(super) const OF_DOCUMENT: &str =
    "SELECT u.step, u.ingestion_id, u.provider, u.model, u.tokens_in, u.tokens_out, u.cost, u.at
     FROM usage u JOIN ingestion i ON i.ingestion_id = u.ingestion_id
     WHERE i.document_id = $1 AND u.tenant_id = $2 ORDER BY u.at, u.ingestion_id, u.call";

pub(super) fn line(c: &mut Columns<'_>) -> Result<UsageLine> {
    Ok(UsageLine {
        step: c.get()?,
        ingestion_id: c.ingestion()?,
        provider: c.get()?,
        model: c.get()?,
        tokens_in: c.count()?,
        tokens_out: c.count()?,
        cost: c.get()?,
        at: c.time()?,
    })
}
