//! Connections, time, and transactions that are begun again where nothing is lost by it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use docmill_core::Result;
use docmill_core::clock::{Clock, IdGen, Timestamp};
use docmill_core::id::TenantId;
use docmill_core::metrics::StoreMeter;
use sqlx_core::query_scalar::query_scalar;
use sqlx_core::sql_str::{AssertSqlSafe, SqlSafeStr as _, SqlStr};
use sqlx_postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgTransaction, Postgres};

use super::floor::Floor;
use super::numbers::Numbers;
use super::row::{is_connection_lost, sql_error};

/// A connection that cannot be had within this time is an outage.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// Waits between attempts to begin a transaction on a server that went away.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Whose clock decides about leases and retries.
#[derive(Clone)]
pub enum Time {
    /// The server's: the one clock that all processes share.
    OfServer,
    /// A given one, for tests that move it.
    Of(Arc<dyn Clock>),
}

impl Time {
    /// What time it is.
    pub(super) async fn now(&self, conn: &mut PgConnection) -> Result<Timestamp> {
        self.now_raw(conn).await.map_err(sql_error("ask the server for the time"))
    }

    /// What time it is, with the driver's own error.
    pub(super) async fn now_raw(
        &self,
        conn: &mut PgConnection,
    ) -> std::result::Result<Timestamp, sqlx_core::Error> {
        match self {
            Self::Of(clock) => Ok(clock.now()),
            Self::OfServer => {
                query_scalar::<Postgres, i64>("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
                    .fetch_one(conn)
                    .await
                    .map(Timestamp)
            }
        }
    }
}

/// What every verb works with.
#[derive(Clone)]
pub(super) struct Db {
    pub(super) pool: PgPool,
    pub(super) time: Time,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn IdGen>,
    pub(super) numbers: Arc<Numbers>,
    pub(super) outbox: Arc<Floor>,
    /// Tenants that are known to be there; none is ever removed.
    pub(super) tenants: Arc<Mutex<HashSet<TenantId>>>,
    pub(super) meter: StoreMeter,
}

impl Db {
    /// Begins a transaction. Until the first statement nothing can be lost, so a connection that the server has
    /// closed (it was restarted, an idle one was cut) is replaced here, with growing pauses.
    ///
    /// All of them are durable, also those of claims, whose effects are only work that is still to do: a claim that a
    /// crash of the server undoes is given to somebody else under the same epoch, and then two may report under it.
    pub(super) async fn begin(&self) -> Result<PgTransaction<'static>> {
        self.begin_with("BEGIN".into_sql_str()).await
    }

    /// Begins a read transaction that sees one state; `setup` follows the BEGIN.
    pub(super) async fn begin_read(&self, setup: &str) -> Result<PgTransaction<'static>> {
        let sql = format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {setup}");
        self.begin_with(AssertSqlSafe(sql).into_sql_str()).await
    }

    async fn begin_with(&self, sql: SqlStr) -> Result<PgTransaction<'static>> {
        let begun = self.clock.monotonic();
        let mut pause = FIRST_PAUSE;
        // One attempt for each connection that may lie in the pool, and one more: a clock that stands still in a
        // test must not make this loop endless.
        let mut left = self.pool.options().get_max_connections() + 4;
        loop {
            let error = match self.pool.begin_with(sql.clone()).await {
                Ok(tx) => return Ok(tx),
                Err(error) => error,
            };
            left = left.saturating_sub(1);
            let waited = self.clock.monotonic().saturating_sub(begun);
            if !is_connection_lost(&error) || left == 0 || waited >= ACQUIRE_TIMEOUT {
                return Err(sql_error("begin a transaction")(error));
            }
            tracing::debug!(error = %error, "connection lost; trying another");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// A pool that connects when it is first used.
pub(super) fn pool(options: PgConnectOptions, size: u32) -> PgPool {
    PgPoolOptions::new()
        .max_connections(size)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // `begin` notices a dead connection itself; asking before each use would cost a round trip each time.
        .test_before_acquire(false)
        .connect_lazy_with(options)
}
