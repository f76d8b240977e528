//! What was paid for: one row a call, however often it is told.

use docmill_core::Result;
use docmill_core::ports::store::Done;
use docmill_core::usage::UsageLine;
use rusqlite::params;

use super::row::{Columns, sql_error};
use super::task::{Belongs, TaskRow};
use super::tx::Tx;

/// Keeps what a task has paid for.
pub(super) fn keep(tx: &Tx<'_>, belongs: &Belongs, row: &TaskRow, done: &Done) -> Result<()> {
    for usage in &done.usage {
        tx.sql(
            "INSERT INTO usage (ingestion_id, call, tenant_id, step, provider, model, tokens_in, tokens_out, cost, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (tenant_id, call) DO NOTHING",
        )?
        .execute(params![
            belongs.ingestion_id.as_bytes(),
            usage.call,
            belongs.tenant_id.as_bytes(),
            row.kind.as_str(),
            usage.provider,
            usage.model,
            usage.tokens_in as i64,
            usage.tokens_out as i64,
            usage.cost,
            tx.now.0,
        ])
        .map_err(sql_error("keep what was paid"))?;
    }
    Ok(())
}

/// What was paid for the document `?1`.
pub(super) const OF_DOCUMENT: &str =
    "SELECT u.step, u.ingestion_id, u.provider, u.model, u.tokens_in, u.tokens_out, u.cost, u.at
     FROM usage u JOIN ingestion i ON i.ingestion_id = u.ingestion_id
     WHERE i.document_id = ?1 ORDER BY u.at, u.ingestion_id, u.call";

pub(super) fn line(c: &mut Columns<'_, '_>) -> Result<UsageLine> {
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
