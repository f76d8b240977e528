//! What each step of an ingestion has understood of its document. It lies apart from the ingestion and from the record
//! of the step: it is long, and those are written often.

use docmill_core::Result;
use docmill_core::ports::store::Done;
use rusqlite::params;

use super::row::{json as to_json, sql_error};
use super::task::{Belongs, TaskRow};
use super::tx::Tx;

/// Keeps what a task has understood, if it has, and answers the step that its ingestion names for it.
pub(super) fn keep<'a>(
    tx: &Tx<'_>,
    belongs: &Belongs,
    row: &'a TaskRow,
    done: &'a Done,
) -> Result<Option<&'a str>> {
    let Some(understanding) = &done.facts.understanding else { return Ok(None) };
    let step = done.record.as_ref().map_or(&row.kind, |record| &record.step).as_str();
    tx.sql(
        "INSERT INTO understanding (ingestion_id, step, tenant_id, body) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (ingestion_id, step) DO UPDATE SET body = excluded.body",
    )?
    .execute(params![
        belongs.ingestion_id.as_bytes(),
        step,
        belongs.tenant_id.as_bytes(),
        to_json(understanding)?
    ])
    .map_err(sql_error("keep what was understood"))?;
    Ok(Some(step))
}
