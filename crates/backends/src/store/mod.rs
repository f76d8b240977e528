//! The stores, by URL scheme. A new store is a folder and its line in [`SCHEMES`] and [`open`]; the suite in
//! `testkit/src/conformance/store` says what it must do.

#[cfg(feature = "postgres")]
pub mod postgres;
mod shared;
pub mod sqlite;
pub mod transfer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use docmill_core::clock::{Clock, IdGen};
use docmill_core::metrics::StoreMeter;
use docmill_core::ports::Store;
use docmill_core::{Error, Result};

/// What this build has.
#[cfg(feature = "postgres")]
pub static SCHEMES: &[&str] = &[SQLITE, "postgres", "postgresql"];
/// What this build has.
#[cfg(not(feature = "postgres"))]
pub static SCHEMES: &[&str] = &[SQLITE];

const SQLITE: &str = "sqlite";

/// The file of an embedded data directory.
pub const DATABASE: &str = "docmill.db";

/// How a store uses a server.
#[derive(Clone, Copy, Debug)]
pub struct Connections {
    /// Connections of this process at most.
    pub max: u32,
    /// A statement that runs longer is stopped.
    pub statement_timeout: Duration,
}

/// Whether the store of `url` lies in a data directory that one process owns, rather than on a server for many.
pub fn is_embedded(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| scheme == SQLITE)
}

/// Where the file of a `sqlite:` URL lies; a relative path begins at `data_dir`.
pub fn sqlite_file(url: &str, data_dir: &Path) -> PathBuf {
    let rest = url.split_once(':').map_or("", |(_, rest)| rest);
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    data_dir.join(if rest.is_empty() { DATABASE } else { rest })
}

/// Opens the store that `url` names. The caller owns `data_dir` if the store is embedded.
pub async fn open(
    url: &str,
    data_dir: &Path,
    connections: Connections,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGen>,
) -> Result<Arc<dyn Store>> {
    open_metered(url, data_dir, connections, clock, ids, StoreMeter::default()).await
}

/// The same, counting its transactions.
pub async fn open_metered(
    url: &str,
    data_dir: &Path,
    connections: Connections,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGen>,
    meter: StoreMeter,
) -> Result<Arc<dyn Store>> {
    match url.split_once(':') {
        Some((SQLITE, _)) => {
            let path = sqlite_file(url, data_dir);
            let opened = tokio::task::spawn_blocking(move || {
                sqlite::SqliteStore::open_metered(&path, clock, ids, meter)
            });
            let store =
                opened.await.map_err(|e| Error::bug("opening the store was cut short").with_source(e))??;
            Ok(Arc::new(store))
        }
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => {
            let options = postgres::Options {
                max_connections: connections.max,
                statement_timeout: connections.statement_timeout,
                meter,
                ..postgres::Options::default()
            };
            Ok(Arc::new(postgres::PostgresStore::open(url, options, clock, ids).await?))
        }
        _ => Err(unknown(url)),
    }
}

/// The refusal of a URL that names no store of this build.
fn unknown(url: &str) -> Error {
    match url.split_once(':') {
        Some((scheme, _)) => {
            let has: Vec<String> = SCHEMES.iter().map(|scheme| format!("`{scheme}:`")).collect();
            Error::invalid_config(format!("this build has no store for `{scheme}:`"))
                .with_hint(format!("this build has: {}", has.join(", ")))
        }
        None => Error::invalid_config(format!("store `{url}` is not a URL"))
            .with_hint("write a scheme and a place, for instance `sqlite:`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_file_lies_in_the_data_directory_unless_it_says_where() {
        let data = Path::new("/data");
        assert_eq!(sqlite_file("sqlite:", data), Path::new("/data/docmill.db"));
        assert_eq!(sqlite_file("sqlite:other.db", data), Path::new("/data/other.db"));
        assert_eq!(sqlite_file("sqlite:///elsewhere/x.db", data), Path::new("/elsewhere/x.db"));
    }

    #[test]
    fn only_sqlite_is_embedded() {
        assert!(is_embedded("sqlite:"));
        assert!(!is_embedded("postgres://host/database"));
        assert!(!is_embedded("sqlite3x"));
    }
}
