//! The event log: read by cursor, pruned by age.

use docmill_core::Result;
use docmill_core::answer::EventsAnswer;
use docmill_core::clock::Timestamp;
use docmill_core::event::{Event, EventBody, EventFilter};
use docmill_core::id::TenantId;
use rusqlite::{Connection, params};

use super::super::shared::events::{check_cursor, limit, matches};
use super::row::{Columns, json, sql_error};
use super::tx::Tx;

/// Events after the cursor.
pub(super) fn read(conn: &Connection, tenant: TenantId, filter: &EventFilter) -> Result<EventsAnswer> {
    let (last, floor) = bounds(conn, tenant)?;
    check_cursor(filter, floor, last)?;
    let limit = limit(filter);
    let mut statement = conn
        .prepare_cached(
            "SELECT first_seq, at, body FROM event WHERE tenant_id = ?1 AND last_seq > ?2 ORDER BY last_seq",
        )
        .map_err(sql_error("read events"))?;
    let mut rows =
        statement.query(params![tenant.as_bytes(), filter.after]).map_err(sql_error("read events"))?;
    let mut events = Vec::new();
    let mut next = filter.after;
    'rows: while let Some(row) = rows.next().map_err(sql_error("read events"))? {
        let mut c = Columns::new(row);
        let (first, at): (i64, Timestamp) = (c.get()?, c.time()?);
        let bodies: Vec<EventBody> = c.json_opt()?.unwrap_or_default();
        for (id, body) in (first..).zip(bodies) {
            if id <= filter.after {
                continue;
            }
            if events.len() >= limit {
                break 'rows;
            }
            next = id;
            if matches(filter, &body) {
                events.push(Event::numbered(id, at, tenant, body));
            }
        }
    }
    Ok(EventsAnswer { events, oldest: (floor + 1).min(last.max(1)), next })
}

/// The number of the last event, and up to which number they have been pruned.
pub(super) fn bounds(conn: &Connection, tenant: TenantId) -> Result<(i64, i64)> {
    conn.prepare_cached(
        "SELECT coalesce((SELECT max(last_seq) FROM event WHERE tenant_id = ?1), event_floor), event_floor
           FROM tenant WHERE tenant_id = ?1",
    )
    .and_then(|mut s| s.query_row([tenant.as_bytes()], |r| Ok((r.get(0)?, r.get(1)?))))
    .map_err(sql_error("read the event number"))
}

/// Appends events under the numbers that follow the last one.
pub(super) fn append(tx: &Tx<'_>, tenant: TenantId, bodies: &[EventBody]) -> Result<()> {
    let (before, _) = bounds(tx.conn(), tenant)?;
    let last = before + bodies.len() as i64;
    tx.sql("INSERT INTO event (tenant_id, last_seq, first_seq, at, body) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![tenant.as_bytes(), last, before + 1, tx.now.0, json(&bodies)?])
        .map_err(sql_error("append events"))?;
    Ok(())
}

/// Removes whole rows older than `before` and remembers where the log now begins.
pub(super) fn prune(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64> {
    tx.sql(
        "UPDATE tenant SET event_floor = max(event_floor, coalesce(
           (SELECT max(last_seq) FROM event e WHERE e.tenant_id = tenant.tenant_id AND e.at < ?1), 0))",
    )?
    .execute([before.0])
    .map_err(sql_error("prune events"))?;
    super::access::prune(tx)?;
    let removed = tx
        .sql(
            "DELETE FROM event WHERE last_seq <= (SELECT event_floor FROM tenant t WHERE t.tenant_id = event.tenant_id)",
        )?
        .execute([])
        .map_err(sql_error("prune events"))?;
    Ok(removed as u64)
}
