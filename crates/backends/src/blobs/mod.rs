//! Where bytes lie. One file or folder a product; the scheme of a URL chooses.
//!
//! - `local`: files below a directory (`file:blobs`), the embedded default.
//! - `s3`: a bucket of AWS or of any server that speaks S3 (`s3://bucket/prefix`).
//!
//! `retrying` stands before a store that is reached over a network.
//!
//! `metered` counts the calls of any of them.
//!
//! A new store is one new file and its line in [`FACTORIES`]; the suite in
//! `testkit/src/conformance/blobs.rs` says what it must do.

mod failure;
mod group_sync;
mod keys;
pub mod local;
mod metered;
mod patience;
pub mod retrying;
#[cfg(feature = "s3")]
pub mod s3;
mod staging;

use std::path::Path;
use std::sync::Arc;

use docmill_core::clock::{Clock, Entropy};
use docmill_core::config::BlobSettings;
use docmill_core::ports::Blobs;
use docmill_core::{Error, Result};

pub use local::LocalBlobs;
pub use metered::Metered;
pub use patience::Patience;
pub use retrying::RetryingBlobs;

/// What a store may need beside its URL.
pub struct Surroundings<'s> {
    /// Where relative paths begin, and where temporary files may lie.
    pub data_dir: &'s Path,
    /// How a server is reached.
    pub settings: &'s BlobSettings,
    /// Measures for how long something is tried.
    pub clock: Arc<dyn Clock>,
    /// Spreads what is tried again.
    pub entropy: Arc<dyn Entropy>,
}

/// Makes one kind of blob store.
pub struct Factory {
    /// What stands before the first colon of its URL.
    pub scheme: &'static str,
    /// Opens the store; `rest` is what follows the colon. Talks to nobody yet.
    pub open: fn(rest: &str, around: &Surroundings<'_>) -> Result<Arc<dyn Blobs>>,
}

/// What this build has.
pub static FACTORIES: &[Factory] = &[
    Factory { scheme: "file", open: local::from_url },
    #[cfg(feature = "s3")]
    Factory { scheme: "s3", open: s3::from_url },
];

/// Stores that a build may lack, with the feature that brings them.
const OPTIONAL: &[(&str, &str)] = &[("s3", "s3")];

/// Opens the store that `url` names.
pub fn open(url: &str, around: &Surroundings<'_>) -> Result<Arc<dyn Blobs>> {
    let (scheme, rest) = url.split_once(':').ok_or_else(|| {
        Error::invalid_config(format!("blob store `{url}` is not a URL"))
            .with_hint("write a scheme and a place, for instance `file:blobs`")
    })?;
    match FACTORIES.iter().find(|f| f.scheme == scheme) {
        Some(factory) => (factory.open)(rest, around),
        None => Err(Error::invalid_config(format!("this build has no blob store for `{scheme}:`"))
            .with_hint(way_out(scheme))),
    }
}

fn way_out(scheme: &str) -> String {
    let has = FACTORIES.iter().map(|f| format!("`{}:`", f.scheme)).collect::<Vec<_>>().join(", ");
    match OPTIONAL.iter().find(|(optional, _)| *optional == scheme) {
        Some((_, feature)) => format!("this build has: {has}; build docmill with the feature `{feature}`"),
        None => format!("this build has: {has}"),
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;
    use docmill_core::clock::{SystemClock, SystemEntropy};

    use super::*;

    fn opened(url: &str, data_dir: &Path) -> Result<Arc<dyn Blobs>> {
        let settings = BlobSettings::default();
        let (clock, entropy) = (Arc::new(SystemClock::new()), Arc::new(SystemEntropy));
        open(url, &Surroundings { data_dir, settings: &settings, clock, entropy })
    }

    #[test]
    fn open_of_an_unknown_scheme_lists_what_the_build_has() {
        let dir = tempfile::tempdir().unwrap();
        let error = opened("ftp://host/x", dir.path()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert_eq!(error.message(), "this build has no blob store for `ftp:`");
        assert!(error.hint().unwrap().starts_with("this build has: `file:`"), "{:?}", error.hint());
    }

    #[test]
    #[cfg(not(feature = "s3"))]
    fn open_of_a_store_that_the_build_lacks_names_its_feature() {
        let dir = tempfile::tempdir().unwrap();
        let error = opened("s3://bucket", dir.path()).err().unwrap();
        assert_eq!(error.hint(), Some("this build has: `file:`; build docmill with the feature `s3`"));
    }

    #[test]
    fn open_without_a_scheme_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(opened("blobs", dir.path()).err().map(|e| e.kind()), Some(ErrorKind::InvalidConfig));
    }

    #[tokio::test]
    async fn open_resolves_a_relative_path_inside_the_data_directory() {
        let dir = tempfile::tempdir().unwrap();
        opened("file:blobs", dir.path()).unwrap();
        assert!(dir.path().join("blobs").is_dir());
        let absolute = dir.path().join("other");
        opened(&format!("file://{}", absolute.display()), dir.path()).unwrap();
        assert!(absolute.is_dir());
    }
}
