//! Opening the store, and telling those who wait what a commit means to them. Its verbs are in `verbs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use docmill_core::Result;
use docmill_core::clock::{Clock, IdGen};
use docmill_core::metrics::StoreMeter;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tokio::sync::watch;

use super::super::shared::claim::Turn;
use super::super::shared::pace::Pace;
use super::super::shared::worker::Announced;
use super::readers::Readers;
use super::row::sql_error;
use super::writer::Writer;
use super::{migrate, transfer};

/// The embedded store.
pub struct SqliteStore {
    pub(super) path: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) writer: Writer,
    pub(super) readers: Readers,
    pub(super) turn: Arc<Turn>,
    pub(super) pace: Arc<Pace>,
    pub(super) announced: Announced,
    pub(super) work: watch::Sender<u64>,
    pub(super) documents: watch::Sender<u64>,
    pub(super) changed: watch::Sender<u64>,
}

impl SqliteStore {
    /// Opens or makes the database file. The caller has made sure that no other process owns it.
    pub fn open(path: &Path, clock: Arc<dyn Clock>, ids: Arc<dyn IdGen>) -> Result<Self> {
        Self::open_metered(path, clock, ids, StoreMeter::default())
    }

    /// The same, counting its transactions.
    pub fn open_metered(
        path: &Path,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
        meter: StoreMeter,
    ) -> Result<Self> {
        let conn = connect(path)?;
        transfer::refuse_half_done(&conn, path)?;
        Self::start(conn, path, clock, ids, meter)
    }

    /// Opens it even if it is a half-done copy of another store, to compare it with that one.
    pub fn open_half_done(path: &Path, clock: Arc<dyn Clock>, ids: Arc<dyn IdGen>) -> Result<Self> {
        Self::start(connect(path)?, path, clock, ids, StoreMeter::default())
    }

    fn start(
        mut conn: Connection,
        path: &Path,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
        meter: StoreMeter,
    ) -> Result<Self> {
        migrate::migrate(&mut conn)?;
        let (work, documents, changed) =
            (watch::Sender::new(0), watch::Sender::new(0), watch::Sender::new(0));
        let pace = Arc::new(Pace::default());
        let after = {
            let (work, documents, changed) = (work.clone(), documents.clone(), changed.clone());
            let pace = Arc::clone(&pace);
            let clock = Arc::clone(&clock);
            move |aftermath: super::tx::Aftermath| {
                if aftermath.work {
                    work.send_modify(|n| *n += 1);
                }
                if aftermath.documents {
                    documents.send_modify(|n| *n += 1);
                }
                if aftermath.changed {
                    changed.send_modify(|n| *n += 1);
                }
                if aftermath.ended > 0 {
                    pace.note(clock.monotonic(), aftermath.ended);
                }
            }
        };
        Ok(Self {
            path: path.to_owned(),
            writer: Writer::start(conn, Arc::clone(&clock), ids, meter, after)?,
            readers: Readers::new(path),
            turn: Arc::new(Turn::default()),
            pace,
            announced: Announced::default(),
            work,
            documents,
            changed,
            clock,
        })
    }
}

/// A connection that may write, set as all of them are.
pub(super) fn connect(path: &Path) -> Result<Connection> {
    let conn = Connection::open(path).map_err(|e| {
        sql_error("open its file")(e).with_hint(format!("check that `{}` can be written", path.display()))
    })?;
    configure(&conn)?;
    Ok(conn)
}

fn configure(conn: &Connection) -> Result<()> {
    // FULL: an accepted item survives a power cut. WAL: readers do not wait for the writer.
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;",
    )
    .map_err(sql_error("prepare its file"))?;
    // References are checked wherever tests run; four more look-ups for every new task are not worth it where
    // the same statements have passed them.
    conn.pragma_update(None, "foreign_keys", cfg!(debug_assertions))
        .map_err(sql_error("prepare its file"))?;
    conn.busy_timeout(Duration::from_secs(5)).map_err(sql_error("prepare its file"))?;
    // Without this SQLite compiles a statement anew whenever a bound value changes that might change its plan,
    // and the parser stood high in the writer's profile.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(sql_error("prepare its file"))?;
    conn.set_prepared_statement_cache_capacity(128);
    Ok(())
}
