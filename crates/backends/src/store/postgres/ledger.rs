//! Both sides of the ledger, counted from rows; the expectation comes from walkers and manifests alone.

use docmill_core::Result;
use docmill_core::id::{BatchId, TenantId};
use docmill_core::ingestion::IngestionStatus;
use docmill_core::ledger::{Container, Ledger};
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};

use super::row::{Columns, sql_error};

pub(super) async fn ledger(
    conn: &mut PgConnection,
    tenant: TenantId,
    batch: Option<BatchId>,
) -> Result<Ledger> {
    let mut ledger = Ledger::default();
    expect_batches(conn, tenant, batch, &mut ledger).await?;
    if batch.is_none() {
        ledger.expected += loose(conn, tenant).await?;
    }
    expect_members(conn, tenant, batch, &mut ledger).await?;
    count_items(conn, tenant, batch, &mut ledger).await?;
    Ok(ledger)
}

/// How many tenants have a ledger that does not balance: the same sums as [`ledger`], of all tenants in one pass and
/// without the list of containers. A batch that is still being counted expects the items that are there: what it has
/// received is known only once the outbox is folded, and somebody may receive at any moment.
pub(super) async fn unbalanced(conn: &mut PgConnection) -> Result<u64> {
    query_scalar::<Postgres, i64>(
        "WITH term (tenant_id, missing) AS (
           SELECT tenant_id, expected FROM batch WHERE state <> 'open' AND expected IS NOT NULL
           UNION ALL
           SELECT i.tenant_id, count(*) FROM ingestion i LEFT JOIN batch b ON b.batch_id = i.batch_id
             WHERE i.parent_id IS NULL AND (b.batch_id IS NULL OR b.state = 'open' OR b.expected IS NULL)
             GROUP BY i.tenant_id
           UNION ALL
           SELECT tenant_id, CASE WHEN ended AND declared IS NOT NULL THEN declared - refused ELSE emitted END
             FROM manifest WHERE NOT superseded
           UNION ALL
           SELECT tenant_id, -count(*) FROM ingestion WHERE NOT superseded GROUP BY tenant_id),
         uneven (tenant_id) AS (
           SELECT tenant_id FROM term GROUP BY tenant_id HAVING sum(missing) <> 0
           UNION
           SELECT tenant_id FROM manifest
             WHERE NOT superseded AND ended AND declared IS NOT NULL AND declared <> emitted + refused)
         SELECT count(*) FROM uneven",
    )
    .fetch_one(conn)
    .await
    .map(|n| u64::try_from(n).unwrap_or(0))
    .map_err(sql_error("read the ledger"))
}

/// A sealed batch expects what its walker counted; one that is still being counted, what it has received.
async fn expect_batches(
    conn: &mut PgConnection,
    tenant: TenantId,
    batch: Option<BatchId>,
    ledger: &mut Ledger,
) -> Result<()> {
    let rows = query::<Postgres>(
        "SELECT batch_id, name, state, expected, received FROM batch
         WHERE tenant_id = $1 AND ($2::uuid IS NULL OR batch_id = $2) ORDER BY batch_id",
    )
    .bind(tenant.0)
    .bind(batch.map(|b| b.0))
    .fetch_all(conn)
    .await
    .map_err(sql_error("read the ledger"))?;
    for row in &rows {
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
async fn loose(conn: &mut PgConnection, tenant: TenantId) -> Result<u64> {
    query_scalar::<Postgres, i64>(
        "SELECT count(*) FROM ingestion WHERE batch_id IS NULL AND tenant_id = $1 AND parent_id IS NULL",
    )
    .bind(tenant.0)
    .fetch_one(conn)
    .await
    .map(|n| u64::try_from(n).unwrap_or(0))
    .map_err(sql_error("read the ledger"))
}

/// What containers declared. One that is still being unpacked expects what has come out so far.
async fn expect_members(
    conn: &mut PgConnection,
    tenant: TenantId,
    batch: Option<BatchId>,
    ledger: &mut Ledger,
) -> Result<()> {
    let rows = query::<Postgres>(
        "SELECT m.ingestion_id, i.name, m.declared, m.emitted, m.refused, m.ended
         FROM manifest m JOIN ingestion i ON i.ingestion_id = m.ingestion_id
         WHERE m.tenant_id = $1 AND NOT m.superseded AND ($2::uuid IS NULL OR m.batch_id = $2)
         ORDER BY m.ingestion_id",
    )
    .bind(tenant.0)
    .bind(batch.map(|b| b.0))
    .fetch_all(conn)
    .await
    .map_err(sql_error("read the ledger"))?;
    for row in &rows {
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

async fn count_items(
    conn: &mut PgConnection,
    tenant: TenantId,
    batch: Option<BatchId>,
    ledger: &mut Ledger,
) -> Result<()> {
    let rows = query::<Postgres>(
        "SELECT status, skip_reason, count(*), count(*) FILTER (WHERE duplicate) FROM ingestion
         WHERE tenant_id = $1 AND NOT superseded AND ($2::uuid IS NULL OR batch_id = $2)
         GROUP BY status, skip_reason",
    )
    .bind(tenant.0)
    .bind(batch.map(|b| b.0))
    .fetch_all(conn)
    .await
    .map_err(sql_error("read the ledger"))?;
    for row in &rows {
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
