//! Connections for looking. Each sees the last commit and never waits for the writer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use docmill_core::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::row::sql_error;

/// As many look-ups at once.
const READERS: usize = 4;

pub(super) struct Readers {
    path: PathBuf,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            idle: Arc::new(Mutex::new(Vec::new())),
            permits: Arc::new(Semaphore::new(READERS)),
        }
    }

    /// Runs `look` in one read transaction, so that it sees one state.
    pub(super) async fn read<T, F>(&self, look: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.on_reader(move |conn| {
            let tx = conn.transaction().map_err(sql_error("begin a look-up"))?;
            let answer = look(&tx);
            tx.finish().map_err(sql_error("end a look-up"))?;
            answer
        })
        .await
    }

    /// Runs `look` outside any transaction, for the few statements that insist on it.
    pub(super) async fn read_unfenced<T, F>(&self, look: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.on_reader(move |conn| look(conn)).await
    }

    async fn on_reader<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|e| Error::shutting_down("the store is closed").with_source(e))?;
        let idle = Arc::clone(&self.idle);
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || {
            let pooled = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut conn = match pooled {
                Some(conn) => conn,
                None => open(&path)?,
            };
            let answer = work(&mut conn);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
            drop(permit);
            answer
        })
        .await
        .map_err(|e| Error::bug("a look-up panicked").with_source(e))?
    }
}

pub(super) fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(sql_error("open a reader"))?;
    // A reader may meet the writer's checkpoint; waiting a moment is right, failing is not.
    conn.busy_timeout(std::time::Duration::from_secs(5)).map_err(sql_error("open a reader"))?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(sql_error("open a reader"))?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}
