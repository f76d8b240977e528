//! Opens a store by its URL to move everything out of it or into it.

use std::path::Path;
use std::sync::Arc;

use docmill_core::clock::{Clock, IdGen};
use docmill_core::ports::{Store, Transfer};
use docmill_core::{Error, Result};

use super::sqlite::{SqliteStore, SqliteTransfer};
use super::{SQLITE, sqlite_file, unknown};

/// Which side of a move it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Everything comes out of it. It must be there and whole.
    Source,
    /// Everything goes into it. It is made if it is not there, and may be half done.
    Target,
}

/// A store, and the whole of it.
pub type Whole = (Arc<dyn Store>, Arc<dyn Transfer>);

/// Opens the store that `url` names; a relative path begins at `data_dir`, which the caller owns if the store is embedded.
pub async fn open(
    url: &str,
    data_dir: &Path,
    side: Side,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGen>,
) -> Result<Whole> {
    match url.split_once(':') {
        Some((SQLITE, _)) => {
            let path = sqlite_file(url, data_dir);
            tokio::task::spawn_blocking(move || open_sqlite(&path, side, clock, ids))
                .await
                .map_err(|e| Error::bug("opening a store was cut short").with_source(e))?
        }
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => {
            use super::postgres::PostgresTransfer;
            let (store, transfer) = match side {
                Side::Source => PostgresTransfer::open_source(url, clock, ids).await?,
                Side::Target => PostgresTransfer::open_target(url, clock, ids).await?,
            };
            Ok((store, Arc::new(transfer)))
        }
        _ => Err(unknown(url)),
    }
}

fn open_sqlite(path: &Path, side: Side, clock: Arc<dyn Clock>, ids: Arc<dyn IdGen>) -> Result<Whole> {
    let store = match side {
        Side::Source => {
            let there = path.try_exists().map_err(|e| {
                Error::unavailable(format!("cannot look for `{}`", path.display())).with_source(e)
            })?;
            if !there {
                return Err(Error::not_found(format!("there is no database at `{}`", path.display()))
                    .with_hint("name the data directory to copy from with `--data DIR`"));
            }
            SqliteStore::open(path, clock, ids)?
        }
        Side::Target => SqliteStore::open_half_done(path, clock, ids)?,
    };
    let transfer = SqliteTransfer::open(path)?;
    Ok((Arc::new(store), Arc::new(transfer)))
}
