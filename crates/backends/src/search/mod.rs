//! Full-text search. One folder a product; the scheme of a URL chooses.
//!
//! - `tantivy`: an index in a directory (`tantivy:index`), the embedded default.
//! - `postgres`: tables on a server (`postgres://…`), for many processes.
//!
//! What a user may type, what it means, what a word is, its stem and what is near to it are the same for every product:
//! `syntax`, `meaning`, `words`, `stems`, `near`. A new product is one new module and its line in [`FACTORIES`]; the suite in
//! `testkit/src/conformance/text_index` says what it must do.

mod common;
mod meaning;
mod near;
#[cfg(feature = "postgres")]
pub mod postgres;
mod stems;
mod syntax;
pub mod tantivy;
mod words;

use std::path::Path;
use std::sync::Arc;

use docmill_core::ports::TextIndex;
use docmill_core::{Error, Result};

#[cfg(feature = "postgres")]
pub use self::postgres::PostgresIndex;
pub use self::tantivy::TantivyIndex;

/// Makes one kind of full-text index.
pub struct Factory {
    /// What stands before the first colon of its URL.
    pub scheme: &'static str,
    /// Opens the index; `rest` is what follows the colon, and a relative path begins at `data_dir`.
    pub open: fn(rest: &str, data_dir: &Path) -> Result<Arc<dyn TextIndex>>,
}

/// What this build has.
pub static FACTORIES: &[Factory] = &[
    Factory { scheme: "tantivy", open: tantivy::from_url },
    #[cfg(feature = "postgres")]
    Factory { scheme: "postgres", open: postgres::from_url },
    #[cfg(feature = "postgres")]
    Factory { scheme: "postgresql", open: postgres::from_url },
];

/// Opens the index that `url` names. Blocks for as long as reading its directory takes; one on a server connects when it
/// is first used.
pub fn open(url: &str, data_dir: &Path) -> Result<Arc<dyn TextIndex>> {
    let (scheme, rest) = url.split_once(':').ok_or_else(|| {
        Error::invalid_config(format!("text index `{url}` is not a URL"))
            .with_hint("write a scheme and a place, for instance `tantivy:index`")
    })?;
    if let Some(factory) = FACTORIES.iter().find(|f| f.scheme == scheme) {
        return (factory.open)(rest, data_dir);
    }
    let known = FACTORIES.iter().map(|f| format!("`{}:`", f.scheme)).collect::<Vec<_>>().join(", ");
    Err(Error::invalid_config(format!("this build has no text index for `{scheme}:`"))
        .with_hint(format!("this build has: {known}")))
}
