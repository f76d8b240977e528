//! Where bytes lie. One file a product; the scheme of a URL chooses.
//!
//! - `local`: files below a directory (`file:blobs`), the embedded default.
//!
//! A new store is one new file and its line in [`FACTORIES`]; the suite in
//! `testkit/src/conformance/blobs.rs` says what it must do.

mod failure;
mod group_sync;
pub mod local;
mod staging;

use std::path::Path;
use std::sync::Arc;

use docmill_core::ports::Blobs;
use docmill_core::{Error, Result};

pub use local::LocalBlobs;

/// Makes one kind of blob store.
pub struct Factory {
    /// What stands before the first colon of its URL.
    pub scheme: &'static str,
    /// Opens the store; `rest` is what follows the colon, and a relative path begins at `data_dir`.
    pub open: fn(rest: &str, data_dir: &Path) -> Result<Arc<dyn Blobs>>,
}

/// What this build has.
pub static FACTORIES: &[Factory] = &[Factory { scheme: "file", open: local::from_url }];

/// Opens the store that `url` names.
pub fn open(url: &str, data_dir: &Path) -> Result<Arc<dyn Blobs>> {
    let (scheme, rest) = url.split_once(':').ok_or_else(|| {
        Error::invalid_config(format!("blob store `{url}` is not a URL"))
            .with_hint("write a scheme and a place, for instance `file:blobs`")
    })?;
    match FACTORIES.iter().find(|f| f.scheme == scheme) {
        Some(factory) => (factory.open)(rest, data_dir),
        None => Err(Error::invalid_config(format!("this build has no blob store for `{scheme}:`"))
            .with_hint(format!("this build has: {}", schemes()))),
    }
}

fn schemes() -> String {
    FACTORIES.iter().map(|f| format!("`{}:`", f.scheme)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;

    use super::*;

    #[test]
    fn open_of_an_unknown_scheme_lists_what_the_build_has() {
        let dir = tempfile::tempdir().unwrap();
        let Err(error) = open("s3://bucket", dir.path()) else { panic!("s3 is not in this build") };
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert_eq!(error.message(), "this build has no blob store for `s3:`");
        assert_eq!(error.hint(), Some("this build has: `file:`"));
    }

    #[test]
    fn open_without_a_scheme_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(open("blobs", dir.path()).err().map(|e| e.kind()), Some(ErrorKind::InvalidConfig));
    }

    #[tokio::test]
    async fn open_resolves_a_relative_path_inside_the_data_directory() {
        let dir = tempfile::tempdir().unwrap();
        open("file:blobs", dir.path()).unwrap();
        assert!(dir.path().join("blobs").is_dir());
        let absolute = dir.path().join("other");
        open(&format!("file://{}", absolute.display()), dir.path()).unwrap();
        assert!(absolute.is_dir());
    }
}
