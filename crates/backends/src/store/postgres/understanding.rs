//! What each step of an ingestion has understood of its document. It lies apart from the ingestion and from the record
//! of the step: it is long, and those are written often.

use std::collections::BTreeMap;

use docmill_core::Result;
use docmill_core::id::{IngestionId, TenantId};
use docmill_core::ports::store::Done;
use sqlx_core::query::query;
use sqlx_postgres::Postgres;

use super::row::{json as to_json, sql_error};
use super::task::TaskRow;
use super::tx::Tx;

/// What a step has understood, as it is written.
pub(super) struct Understood {
    tenant_id: TenantId,
    body: String,
}

impl Understood {
    /// What a task has understood, if it has, and the step that its ingestion names for it.
    pub(super) fn by(row: &TaskRow, done: &Done) -> Result<Option<(String, Self)>> {
        let Some(understanding) = &done.facts.understanding else { return Ok(None) };
        let step = done.record.as_ref().map_or(&row.kind, |record| &record.step).as_str().to_owned();
        let tenant_id = row.belongs.tenant_id;
        Ok(Some((step, Self { tenant_id, body: to_json(understanding)? })))
    }
}

pub(super) async fn keep(
    tx: &mut Tx,
    understood: &BTreeMap<(IngestionId, String), Understood>,
) -> Result<()> {
    if understood.is_empty() {
        return Ok(());
    }
    query::<Postgres>(
        "INSERT INTO understanding (ingestion_id, step, tenant_id, body)
         SELECT u.* FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[]) AS u
         ON CONFLICT (ingestion_id, step) DO UPDATE SET body = excluded.body",
    )
    .bind(understood.keys().map(|k| k.0.0).collect::<Vec<_>>())
    .bind(understood.keys().map(|k| k.1.as_str()).collect::<Vec<_>>())
    .bind(understood.values().map(|u| u.tenant_id.0).collect::<Vec<_>>())
    .bind(understood.values().map(|u| u.body.as_str()).collect::<Vec<_>>())
    .execute(tx.conn())
    .await
    .map_err(sql_error("keep what was understood"))?;
    Ok(())
}
