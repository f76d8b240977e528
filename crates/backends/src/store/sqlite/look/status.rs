//! Counts of everything, cheap enough to be asked every second.

use docmill_core::Result;
use docmill_core::answer::{IndexState, IngestionCounts, StatusAnswer, TaskCounts};
use docmill_core::clock::Timestamp;
use docmill_core::id::TenantId;
use docmill_core::ingestion::IngestionStatus;
use rusqlite::Connection;

use super::super::row::{Columns, sql_error};
use super::super::{batch, events, follow, worker};
use super::{collect, first};

/// Batches shown.
const RECENT_BATCHES: usize = 20;

pub(in super::super) fn status(
    conn: &Connection,
    tenant: TenantId,
    docs_per_s: f64,
    now: Timestamp,
) -> Result<StatusAnswer> {
    let count = |sql: &str| -> Result<u64> {
        conn.prepare_cached(sql)
            .and_then(|mut s| s.query_row([tenant.as_bytes()], |r| r.get::<_, i64>(0)))
            .map(|n| u64::try_from(n).unwrap_or(0))
            .map_err(sql_error("count"))
    };
    let (last_event, _) = events::bounds(conn, tenant)?;
    Ok(StatusAnswer {
        documents: count("SELECT count(*) FROM document WHERE tenant_id = ?1 AND removed = 0")?,
        ingestions: ingestions(conn, tenant)?,
        tasks: TaskCounts {
            queued: count("SELECT count(*) FROM task WHERE state = 'queued' AND tenant_id = ?1")?,
            held: held(conn, tenant)?,
            running: count("SELECT count(*) FROM task WHERE state = 'running' AND tenant_id = ?1")?,
            dead: count("SELECT count(*) FROM task WHERE state = 'dead' AND tenant_id = ?1")?,
        },
        workers: worker::list(conn, now)?,
        docs_per_s,
        batches: batch::recent(conn, tenant, RECENT_BATCHES)?,
        index: IndexState { watermark: 0, last: follow::last_change(conn)? },
        meanings: None,
        paused_kinds: collect(
            conn,
            "list paused kinds",
            "SELECT kind FROM paused_kind ORDER BY kind",
            [],
            text,
        )?,
        free_disk_bytes: None,
        last_event,
    })
}

/// Held tasks have no index, because there nearly never are any: only paused batches are looked through.
fn held(conn: &Connection, tenant: TenantId) -> Result<u64> {
    let sql =
        "SELECT coalesce(sum((SELECT count(*) FROM ingestion i JOIN task t ON t.ingestion_id = i.ingestion_id
        WHERE i.batch_id = b.batch_id AND i.status = 'in_progress' AND t.state = 'held')), 0)
      FROM batch b WHERE b.tenant_id = ?1 AND b.paused = 1";
    Ok(first(conn, "count held tasks", sql, [tenant.as_bytes()], number)?.unwrap_or(0))
}

/// Batches keep their own totals; only items outside any batch are counted one by one.
fn ingestions(conn: &Connection, tenant: TenantId) -> Result<IngestionCounts> {
    let sql = "SELECT coalesce(sum(open), 0), coalesce(sum(completed), 0), coalesce(sum(failed), 0),
        coalesce(sum(skipped), 0), coalesce(sum(cancelled), 0) FROM batch WHERE tenant_id = ?1";
    let mut counts = first(conn, "count ingestions", sql, [tenant.as_bytes()], |c| {
        Ok(IngestionCounts {
            in_progress: c.count()?,
            completed: c.count()?,
            failed: c.count()?,
            skipped: c.count()?,
            cancelled: c.count()?,
        })
    })?
    .unwrap_or_default();
    let loose =
        "SELECT status, count(*) FROM ingestion WHERE tenant_id = ?1 AND batch_id IS NULL GROUP BY status";
    let loose = collect(conn, "count ingestions", loose, [tenant.as_bytes()], |c| {
        Ok((c.word(IngestionStatus::from_name)?, c.count()?))
    })?;
    for (status, n) in loose {
        counts.add(status, n);
    }
    Ok(counts)
}

fn text(c: &mut Columns<'_, '_>) -> Result<String> {
    c.get()
}

fn number(c: &mut Columns<'_, '_>) -> Result<u64> {
    c.count()
}
