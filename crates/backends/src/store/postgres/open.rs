//! Opening the store, and telling those who wait what a commit means to them. Its verbs are in `verbs`.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::clock::{Clock, IdGen};
use docmill_core::metrics::StoreMeter;
use docmill_core::{ErrorKind, Result, crash};
use sqlx_core::connection::Connection as _;
use sqlx_postgres::PgConnection;
use tokio::sync::watch;

use super::super::shared::claim::Turn;
use super::super::shared::pace::Pace;
use super::super::shared::worker::Announced;
use super::db::{self, Db, Time};
use super::heads::Heads;
use super::hints::{Hints, Waiters};
use super::renewer::Renewer;
use super::row::sql_error;
use super::sequencer::{self, Sequencer};
use super::sweep::Sweeps;
use super::tx::Aftermath;
use super::writer::Writer;
use super::{migrate, transfer};
use crate::postgres::connect_options;

/// How the store uses its server.
#[derive(Clone)]
pub struct Options {
    /// Whose clock decides about leases.
    pub time: Time,
    /// Connections of this process at most, beside one for renewals.
    pub max_connections: u32,
    /// A statement that runs longer is stopped, and what it was part of fails as `unavailable`.
    pub statement_timeout: Duration,
    /// What the server knows this process by.
    pub name: String,
    /// Counts its transactions.
    pub meter: StoreMeter,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time: Time::OfServer,
            max_connections: 10,
            statement_timeout: Duration::from_secs(30),
            name: "docmill".into(),
            meter: StoreMeter::default(),
        }
    }
}

/// The store on a PostgreSQL server.
pub struct PostgresStore {
    pub(super) db: Db,
    pub(super) writer: Writer,
    pub(super) renewer: Renewer,
    pub(super) sequencer: Sequencer,
    pub(super) hints: Hints,
    pub(super) waiters: Waiters,
    pub(super) turn: Arc<Turn>,
    pub(super) heads: Arc<Heads>,
    pub(super) sweeps: Sweeps,
    pub(super) pace: Arc<Pace>,
    pub(super) announced: Announced,
    pub(super) closed: watch::Sender<bool>,
}

impl PostgresStore {
    /// Connects to the database at `url` and brings its schema up to date. Any number of processes may do so.
    pub async fn open(
        url: &str,
        options: Options,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
    ) -> Result<Self> {
        let mut conn = connect(url, &options).await?;
        transfer::refuse_half_done(&mut conn).await?;
        Self::start(conn, url, options, clock, ids).await
    }

    /// Opens it even if it is a half-done copy of another store, to compare it with that one.
    pub async fn open_half_done(
        url: &str,
        options: Options,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
    ) -> Result<Self> {
        let conn = connect(url, &options).await?;
        Self::start(conn, url, options, clock, ids).await
    }

    async fn start(
        mut conn: PgConnection,
        url: &str,
        options: Options,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
    ) -> Result<Self> {
        migrate::migrate(&mut conn).await?;
        conn.close().await.map_err(sql_error("close a connection"))?;
        let connect = connect_options("the store", url, &options.name, options.statement_timeout)?;
        let pool = db::pool(connect, options.max_connections.max(4));
        let db = Db {
            pool,
            time: options.time,
            clock,
            ids,
            numbers: Arc::default(),
            outbox: Arc::default(),
            tenants: Arc::default(),
            meter: options.meter,
        };
        let closed = watch::Sender::new(false);
        let waiters = Waiters::new();
        let heads = Arc::new(Heads::default());
        let hints = Hints::start(&db, waiters.clone(), &heads, &closed.subscribe());
        let sequencer = {
            let hints = hints.clone();
            Sequencer::start(db.clone(), closed.subscribe(), move |folded| hints.changed(folded.documents))
        };
        let (pace, turn) = (Arc::new(Pace::default()), Arc::new(Turn::default()));
        let writer = {
            let (hints, wake) = (hints.clone(), Arc::clone(&sequencer.wake));
            let (pace, clock) = (Arc::clone(&pace), Arc::clone(&db.clock));
            Writer::start(db.clone(), Arc::clone(&turn), Arc::clone(&heads), move |aftermath| {
                tell(aftermath, &hints, &wake, &pace, clock.as_ref());
            })
        };
        let renewals =
            connect_options("the store", url, &format!("{} renewals", options.name), Duration::from_secs(5))?;
        let renewer = Renewer::start(move || db::pool(renewals, 1), db.time.clone())?;
        Ok(Self {
            db,
            writer,
            renewer,
            sequencer,
            hints,
            waiters,
            turn,
            heads,
            sweeps: Sweeps::default(),
            pace,
            announced: Announced::default(),
            closed,
        })
    }

    /// Numbers all that has been committed, or says why it cannot.
    pub(super) async fn fold_everything(&self) -> Result<()> {
        sequencer::fold_all(&self.db).await.map(drop)
    }

    /// Closes its connections, and waits until they are closed.
    pub async fn close(&self) {
        self.closed.send_replace(true);
        self.db.pool.close().await;
    }

    pub(super) fn after<T>(&self, (answer, aftermath): (T, Aftermath)) -> T {
        crash::point("store.group.before_reply");
        tell(aftermath, &self.hints, &self.sequencer.wake, &self.pace, self.db.clock.as_ref());
        answer
    }

    /// Numbers what has been committed, so that a look-up sees it. A database that takes no writes still answers:
    /// what it has is what it had when it stopped.
    pub(super) async fn fold(&self) -> Result<()> {
        match sequencer::fold_all(&self.db).await {
            Ok(folded) => {
                if folded.rows > 0 {
                    self.hints.changed(folded.documents);
                }
                Ok(())
            }
            Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::DiskFull) => {
                tracing::warn!(error = %error.chain(), "the outbox could not be folded before a look-up");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// A connection of its own. Not from the pool, which waits for a server to come back: one that is not there at the start is
/// a mistake.
async fn connect(url: &str, options: &Options) -> Result<PgConnection> {
    let options = connect_options("the store", url, &options.name, options.statement_timeout)?;
    PgConnection::connect_with(&options).await.map_err(|e| {
        sql_error("connect to its database")(e).with_hint("check the URL of the store and its server")
    })
}

/// Tells those who wait what a commit means to them.
fn tell(
    aftermath: Aftermath,
    hints: &Hints,
    sequencer: &tokio::sync::Notify,
    pace: &Pace,
    clock: &dyn Clock,
) {
    if aftermath.work {
        hints.work();
    }
    if aftermath.changed {
        hints.changed(false);
    }
    if aftermath.outbox {
        sequencer.notify_one();
    }
    if aftermath.ended > 0 {
        pace.note(clock.monotonic(), aftermath.ended);
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.closed.send_replace(true);
    }
}
