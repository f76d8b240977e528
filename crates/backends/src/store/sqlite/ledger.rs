//! Both sides of the ledger, counted from rows; the expectation comes from walkers and manifests alone.

use docmill_core::Result;
use docmill_core::id::{BatchId, TenantId};
use docmill_core::ingestion::IngestionStatus;
use docmill_core::ledger::{Container, Ledger};
use rusqlite::{Connection, params};

use super::row::{Columns, sql_error};

pub(super) fn ledger(conn: &Connection, tenant: TenantId, batch: Option<BatchId>) -> Result<Ledger> {
    let mut ledger = Ledger::default();
    expect_batches(conn, tenant, batch, &mut ledger)?;
    if batch.is_none() {
        ledger.expected += loose(conn, tenant)?;
    }
    expect_members(conn, tenant, batch, &mut ledger)?;
    count_items(conn, tenant, batch, &mut ledger)?;
    Ok(ledger)
}

/// How many tenants have a ledger that does not balance: the same sums as [`ledger`], of all tenants in one pass and
/// without the list of containers.
pub(super) fn unbalanced(conn: &Connection) -> Result<u64> {
    conn.prepare_cached(
        "WITH term (tenant_id, missing) AS (
           SELECT tenant_id, CASE WHEN state = 'open' OR expected IS NULL THEN received ELSE expected END FROM batch
           UNION ALL
           SELECT tenant_id, count(*) FROM ingestion WHERE batch_id IS NULL AND parent_id IS NULL GROUP BY tenant_id
           UNION ALL
           SELECT tenant_id, CASE WHEN ended AND declared IS NOT NULL THEN declared - refused ELSE emitted END
             FROM manifest WHERE superseded = 0
           UNION ALL
           SELECT tenant_id, -count(*) FROM ingestion WHERE superseded = 0 GROUP BY tenant_id),
         uneven (tenant_id) AS (
           SELECT tenant_id FROM term GROUP BY tenant_id HAVING sum(missing) <> 0
           UNION
           SELECT tenant_id FROM manifest
             WHERE superseded = 0 AND ended AND declared IS NOT NULL AND declared <> emitted + refused)
         SELECT count(*) FROM uneven",
    )
    .and_then(|mut s| s.query_row([], |r| r.get::<_, i64>(0)))
    .map(|n| u64::try_from(n).unwrap_or(0))
    .map_err(sql_error("read the ledger"))
}

/// A sealed batch expects what its walker counted; one that is still being counted, what it has received.
fn expect_batches(
    conn: &Connection,
    tenant: TenantId,
    batch: Option<BatchId>,
    ledger: &mut Ledger,
) -> Result<()> {
    let mut statement = conn
        .prepare_cached(
            "SELECT batch_id, name, state, expected, received FROM batch
             WHERE tenant_id = ?1 AND (?2 IS NULL OR batch_id = ?2) ORDER BY batch_id",
        )
        .map_err(sql_error("read the ledger"))?;
    let mut rows = statement
        .query(params![tenant.as_bytes(), batch.as_ref().map(BatchId::as_bytes)])
        .map_err(sql_error("read the ledger"))?;
    while let Some(row) = rows.next().map_err(sql_error("read the ledger"))? {
        let mut c = Columns::new(row);
        let id = c.batch()?;
        let name: Option<String> = c.get()?;
        let state: String = c.get()?;
        let expected: Option<i64> = c.get()?;
        let received = c.count()?;
        match (state.as_str(), expected) {
            ("open", _) | (_, None) => {
                ledger.expected += received;
                if state == "open" {
                    ledger.unsealed.push(name.unwrap_or_else(|| id.to_string()));
                }
            }
            (_, Some(expected)) => ledger.expected += u64::try_from(expected).unwrap_or(0),
        }
    }
    Ok(())
}

/// Items that came in outside any batch expect themselves.
fn loose(conn: &Connection, tenant: TenantId) -> Result<u64> {
    conn.prepare_cached(
        "SELECT count(*) FROM ingestion WHERE batch_id IS NULL AND tenant_id = ?1 AND parent_id IS NULL",
    )
    .and_then(|mut s| s.query_row([tenant.as_bytes()], |r| r.get::<_, i64>(0)))
    .map(|n| u64::try_from(n).unwrap_or(0))
    .map_err(sql_error("read the ledger"))
}

/// What containers declared. One that is still being unpacked expects what has come out so far.
fn expect_members(
    conn: &Connection,
    tenant: TenantId,
    batch: Option<BatchId>,
    ledger: &mut Ledger,
) -> Result<()> {
    let mut statement = conn
        .prepare_cached(
            "SELECT m.ingestion_id, i.name, m.declared, m.emitted, m.refused, m.ended
             FROM manifest m JOIN ingestion i ON i.ingestion_id = m.ingestion_id
             WHERE m.tenant_id = ?1 AND m.superseded = 0 AND (?2 IS NULL OR m.batch_id = ?2)
             ORDER BY m.ingestion_id",
        )
        .map_err(sql_error("read the ledger"))?;
    let mut rows = statement
        .query(params![tenant.as_bytes(), batch.as_ref().map(BatchId::as_bytes)])
        .map_err(sql_error("read the ledger"))?;
    while let Some(row) = rows.next().map_err(sql_error("read the ledger"))? {
        let mut c = Columns::new(row);
        let (id, name) = (c.ingestion()?, c.get()?);
        let declared: Option<i64> = c.get()?;
        let (emitted, refused, ended) = (c.count()?, c.count()?, c.flag()?);
        let met = emitted + refused;
        let expected = if ended { declared.map_or(met, |n| u64::try_from(n).unwrap_or(0)) } else { met };
        ledger.expected += expected;
        ledger.failed += refused;
        ledger.containers.push(Container { id, name, expected, emitted, failed: refused, ended });
    }
    Ok(())
}

fn count_items(
    conn: &Connection,
    tenant: TenantId,
    batch: Option<BatchId>,
    ledger: &mut Ledger,
) -> Result<()> {
    let mut statement = conn
        .prepare_cached(
            "SELECT status, skip_reason, count(*), sum(duplicate) FROM ingestion
             WHERE tenant_id = ?1 AND superseded = 0 AND (?2 IS NULL OR batch_id = ?2)
             GROUP BY status, skip_reason",
        )
        .map_err(sql_error("read the ledger"))?;
    let mut rows = statement
        .query(params![tenant.as_bytes(), batch.as_ref().map(BatchId::as_bytes)])
        .map_err(sql_error("read the ledger"))?;
    while let Some(row) = rows.next().map_err(sql_error("read the ledger"))? {
        let mut c = Columns::new(row);
        let status = c.word(IngestionStatus::from_name)?;
        let reason: Option<String> = c.get()?;
        let (count, duplicates) = (c.count()?, c.count()?);
        ledger.duplicates += duplicates;
        match status {
            IngestionStatus::InProgress => ledger.open += count,
            IngestionStatus::Completed => ledger.completed += count,
            IngestionStatus::Failed => ledger.failed += count,
            IngestionStatus::Cancelled => ledger.cancelled += count,
            IngestionStatus::Skipped => {
                *ledger.skipped.entry(reason.unwrap_or_else(|| "no reason".into())).or_default() += count;
            }
        }
    }
    Ok(())
}
