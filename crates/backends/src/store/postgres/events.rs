//! The event log: read by cursor, pruned by age.

use std::collections::HashMap;

use docmill_core::Result;
use docmill_core::answer::EventsAnswer;
use docmill_core::clock::Timestamp;
use docmill_core::event::{Event, EventBody, EventFilter};
use docmill_core::id::TenantId;
use sqlx_core::query::query;
use sqlx_postgres::{PgConnection, Postgres};

use super::super::shared::events::{check_cursor, limit, matches};
use super::row::{Columns, sql_error};
use super::sequencer;
use super::tx::Tx;

/// Rows fetched at once; a row holds the events of one commit.
const PAGE: i64 = 200;

/// Events after the cursor.
pub(super) async fn read(
    conn: &mut PgConnection,
    tenant: TenantId,
    filter: &EventFilter,
) -> Result<EventsAnswer> {
    let (last, floor) = bounds(conn, &[tenant]).await?.get(&tenant).copied().unwrap_or_default();
    check_cursor(filter, floor, last)?;
    let limit = limit(filter);
    let mut events = Vec::new();
    let mut next = filter.after;
    // The last event of the last row that was read whole.
    let mut behind = filter.after;
    'pages: loop {
        let rows = query::<Postgres>(
            "SELECT first_seq, last_seq, at, body FROM event WHERE tenant_id = $1 AND last_seq > $2
             ORDER BY last_seq LIMIT $3",
        )
        .bind(tenant.0)
        .bind(behind)
        .bind(PAGE)
        .fetch_all(&mut *conn)
        .await
        .map_err(sql_error("read events"))?;
        for row in &rows {
            let mut c = Columns::new(row);
            let (first, row_last, at): (i64, i64, Timestamp) = (c.get()?, c.get()?, c.time()?);
            let bodies: Vec<EventBody> = c.json_opt()?.unwrap_or_default();
            for (id, body) in (first..).zip(bodies) {
                if id <= filter.after {
                    continue;
                }
                if events.len() >= limit {
                    break 'pages;
                }
                next = id;
                if matches(filter, &body) {
                    events.push(Event::numbered(id, at, tenant, body));
                }
            }
            behind = row_last;
        }
        if (rows.len() as i64) < PAGE {
            break;
        }
    }
    Ok(EventsAnswer { events, oldest: (floor + 1).min(last.max(1)), next })
}

/// The number of each tenant's last event, and up to which number they have been pruned.
pub(super) async fn bounds(
    conn: &mut PgConnection,
    tenants: &[TenantId],
) -> Result<HashMap<TenantId, (i64, i64)>> {
    let rows = query::<Postgres>(
        "SELECT tenant_id, event_floor,
           (SELECT max(last_seq) FROM event WHERE event.tenant_id = tenant.tenant_id)
         FROM tenant WHERE tenant_id = ANY($1)",
    )
    .bind(tenants.iter().map(|t| t.0).collect::<Vec<_>>())
    .fetch_all(conn)
    .await
    .map_err(sql_error("read the event number"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            let (tenant, floor) = (c.tenant()?, c.get()?);
            Ok((tenant, (c.get::<Option<i64>>()?.unwrap_or(floor), floor)))
        })
        .collect()
}

/// Removes whole rows older than `before` and remembers where the log now begins.
pub(super) async fn prune(tx: &mut Tx, before: Timestamp) -> Result<u64> {
    super::access::prune(tx).await?;
    // Nobody numbers events in between.
    sequencer::lock(tx.conn()).await?;
    query::<Postgres>(
        "UPDATE tenant SET event_floor = greatest(event_floor, old.last_seq)
         FROM (SELECT tenant_id, max(last_seq) AS last_seq FROM event WHERE at < $1 GROUP BY tenant_id) AS old
         WHERE tenant.tenant_id = old.tenant_id",
    )
    .bind(before.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("prune events"))?;
    let removed = query::<Postgres>(
        "DELETE FROM event USING tenant
         WHERE event.tenant_id = tenant.tenant_id AND event.last_seq <= tenant.event_floor",
    )
    .execute(tx.conn())
    .await
    .map_err(sql_error("prune events"))?;
    Ok(removed.rows_affected())
}
