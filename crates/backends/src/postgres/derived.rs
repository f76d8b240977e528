//! What indexes on a PostgreSQL server share. They are derived from the store, so they have no migrations: their tables
//! are made when they are first needed, and those of an older version are thrown away, or brought up to date where
//! making them again is dear. One process at a time has the turn to bring them further.

use std::time::Duration;

use docmill_core::{Error, Result};
use sqlx_core::connection::Connection as _;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_core::raw_sql::raw_sql;
use sqlx_core::sql_str::SqlSafeStr as _;
use sqlx_postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, Postgres};
use uuid::Uuid;

use super::{check_encoding, failure};

/// A connection that cannot be had within this time is an outage.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that has been idle for so long is asked whether it still lives before it is used.
const FRESH: Duration = Duration::from_secs(1);

/// What an error of the driver means.
pub(crate) type Translation = fn(sqlx_core::Error) -> Error;

/// An index.
pub(crate) struct Derived {
    /// As messages call it.
    pub(crate) what: &'static str,
    /// What its tables must be; raised by one whenever they, or what is in them, change.
    pub(crate) version: i32,
    /// Held while tables are made: an arbitrary number, but always the same, and no other's.
    pub(crate) lock: i64,
    /// What must be there before the tables, and what it means if it cannot be.
    pub(crate) extension: Option<(&'static str, Translation)>,
    /// Makes the tables.
    pub(crate) make: &'static str,
    /// Drops them.
    pub(crate) remove: &'static str,
    /// The version that can be brought up to date, and how.
    pub(crate) upgrade: Option<(i32, &'static str)>,
    /// A turn ends by itself after so long, if the process that had it is gone or very slow.
    pub(crate) turn: &'static str,
    /// What is asked of the table with its state.
    pub(crate) state: State,
}

/// Statements about the one row that says how far an index is, made by [`state!`].
pub(crate) struct State {
    pub(crate) there: &'static str,
    pub(crate) version: &'static str,
    pub(crate) begin: &'static str,
    pub(crate) turn: &'static str,
}

/// The statements for a table. It has the columns `only_one`, `version`, `watermark`, `holder` and `held_until`.
macro_rules! state {
    ($table:literal) => {
        $crate::postgres::derived::State {
            // Not by `to_regclass`, which may remember that the table was not there before this process had to wait.
            there: concat!(
                "SELECT EXISTS (SELECT FROM pg_class WHERE relname = '",
                $table,
                "' AND pg_table_is_visible(oid))"
            ),
            version: concat!("SELECT version FROM ", $table),
            begin: concat!("INSERT INTO ", $table, " (version) VALUES ($1)"),
            // A row that somebody holds at this moment belongs to somebody who has the turn.
            turn: concat!(
                "UPDATE ",
                $table,
                " SET holder = $1, held_until = clock_timestamp() + $2::text::interval
                 WHERE only_one IN (SELECT only_one FROM ",
                $table,
                " WHERE version = $3 AND (holder IS NULL OR holder = $1 OR held_until < clock_timestamp())
                  FOR UPDATE SKIP LOCKED)"
            ),
        }
    };
}
pub(crate) use state;

/// What there is once the tables are known to be there.
pub(crate) struct Ready {
    pub(crate) pool: PgPool,
    /// This process, where it asks for a turn.
    holder: Uuid,
}

impl Derived {
    /// Translates a driver error; `doing` says what was being done.
    pub(crate) fn broken(&self, doing: &'static str) -> impl FnOnce(sqlx_core::Error) -> Error {
        let what = self.what;
        move |error| failure(what, doing, error)
    }

    /// What to say to whoever meets an index that this docmill cannot use.
    pub(crate) fn other_version(&self, found: i32) -> Error {
        let Self { what, version, .. } = self;
        Error::conflict(format!("{what} has version {found}, and this docmill uses version {version}")).with_hint(
            "another docmill uses this database: run the same version everywhere, or give this one another database",
        )
    }

    /// Connects, and makes the tables if they are not there. `settings` are those of the connections that are used then:
    /// some are unknown to a server before what they belong to is there.
    pub(crate) async fn connect(
        &self,
        options: &PgConnectOptions,
        settings: &[(&str, &str)],
        max_connections: u32,
    ) -> Result<Ready> {
        let mut conn = PgConnection::connect_with(options).await.map_err(|e| {
            self.broken("connect to its database")(e)
                .with_hint(format!("check the URL of {} and its server", self.what))
        })?;
        self.prepare(&mut conn).await?;
        let holder = query_scalar::<Postgres, Uuid>("SELECT gen_random_uuid()")
            .fetch_one(&mut conn)
            .await
            .map_err(self.broken("get a name for this process"))?;
        conn.close().await.map_err(self.broken("close a connection"))?;
        let pool = PgPoolOptions::new()
            // One is for changes, the others for queries.
            .max_connections(max_connections.max(2))
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .before_acquire(|conn, since| {
                Box::pin(async move {
                    if since.idle_for >= FRESH {
                        conn.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(options.clone().options(settings.iter().copied()));
        Ok(Ready { pool, holder })
    }

    /// Asks for the turn; whether this process has it.
    pub(crate) async fn take_turn(&self, ready: &Ready) -> Result<bool> {
        let taken = query::<Postgres>(self.state.turn)
            .bind(ready.holder)
            .bind(self.turn)
            .bind(self.version)
            .execute(&ready.pool)
            .await
            .map_err(self.broken("give a turn"))?;
        Ok(taken.rows_affected() > 0)
    }

    /// Makes the tables, unless they are there. Any number of processes may do so at once.
    async fn prepare(&self, conn: &mut PgConnection) -> Result<()> {
        check_encoding(self.what, conn).await?;
        if self.found(conn).await? == Some(self.version) {
            return Ok(());
        }
        let making = "make its tables";
        // Whoever waits for another process waits as long as that takes.
        let mut tx = conn
            .begin_with("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0".into_sql_str())
            .await
            .map_err(self.broken(making))?;
        query::<Postgres>("SELECT pg_advisory_xact_lock($1)")
            .bind(self.lock)
            .execute(&mut *tx)
            .await
            .map_err(self.broken(making))?;
        match (self.found(&mut tx).await?, self.upgrade) {
            (Some(found), _) if found == self.version => {
                return tx.rollback().await.map_err(self.broken(making));
            }
            (Some(newer), _) if newer > self.version => return Err(self.other_version(newer)),
            (Some(older), Some((from, sql))) if older == from => {
                tracing::info!(version = older, "{} of an older docmill is brought up to date", self.what);
                raw_sql(sql).execute(&mut *tx).await.map_err(self.broken("bring its tables up to date"))?;
                return tx.commit().await.map_err(self.broken(making));
            }
            (Some(older), _) => {
                tracing::warn!(
                    version = older,
                    "{} of an older docmill is dropped and built again",
                    self.what
                );
                raw_sql(self.remove).execute(&mut *tx).await.map_err(self.broken("drop its old tables"))?;
            }
            (None, _) => {}
        }
        if let Some((sql, missing)) = self.extension {
            raw_sql(sql).execute(&mut *tx).await.map_err(missing)?;
        }
        raw_sql(self.make).execute(&mut *tx).await.map_err(self.broken(making))?;
        query::<Postgres>(self.state.begin)
            .bind(self.version)
            .execute(&mut *tx)
            .await
            .map_err(self.broken(making))?;
        tx.commit().await.map_err(self.broken(making))
    }

    /// The version of the tables, if there are any.
    async fn found(&self, conn: &mut PgConnection) -> Result<Option<i32>> {
        let reading = "read its version";
        let there: bool = query_scalar::<Postgres, bool>(self.state.there)
            .fetch_one(&mut *conn)
            .await
            .map_err(self.broken(reading))?;
        if !there {
            return Ok(None);
        }
        query_scalar::<Postgres, i32>(self.state.version)
            .fetch_optional(conn)
            .await
            .map_err(self.broken(reading))
    }
}
