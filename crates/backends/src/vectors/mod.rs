//! Search by meaning. One folder a product; the scheme of a URL chooses.
//!
//! - `flat`: all vectors in memory and in a file (`flat:vectors`), the embedded default.
//! - `postgres`: tables on a server with pgvector (`postgres://…`), for many processes.
//!
//! A new product is one new module and its line in [`open`]; the suite in `testkit/src/conformance/vector_index.rs` says
//! what it must do.

pub mod flat;
#[cfg(feature = "postgres")]
pub mod postgres;

use std::path::Path;
use std::sync::Arc;

use docmill_core::ports::VectorIndex;
use docmill_core::{Error, Result};

pub use self::flat::FlatIndex;
#[cfg(feature = "postgres")]
pub use self::postgres::PostgresVectors;

/// The most documents a query can ask for.
const MAX_HITS: usize = 1_000;

/// Opens the index that `url` names; a relative path begins at `data_dir`. One on a server connects when it is first used.
pub fn open(url: &str, data_dir: &Path) -> Result<Arc<dyn VectorIndex>> {
    match url.split_once(':') {
        Some(("flat", path)) => Ok(Arc::new(FlatIndex::new(&data_dir.join(path)))),
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => Ok(Arc::new(PostgresVectors::new(url)?)),
        _ => Err(Error::invalid_config(format!("this build has no vector index for `{url}`"))
            .with_hint("write for instance `flat:vectors`")),
    }
}
