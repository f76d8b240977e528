//! A folder of its own for each test, in a bucket of the server that `DOCMILL_TEST_S3` points to. The bucket must be
//! there; the keys are those of the environment, or what `.ci/servers.sh` starts its server with.
#![allow(dead_code, reason = "not every test binary uses all of it")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use docmill_backends::blobs::s3::{S3Blobs, Timing};
use docmill_backends::blobs::{self, Surroundings};
use docmill_core::clock::{SystemClock, SystemEntropy};
use docmill_core::config::{BlobSettings, CloudVariables};
use docmill_core::ports::Blobs;
use docmill_core::{Error, Result};
use docmill_testkit::conformance::Place;

/// Where the server is.
pub(crate) const VARIABLE: &str = "DOCMILL_TEST_S3";

/// How a server of one's own is started: this command with a port and a directory.
pub(crate) const COMMAND: &str = "DOCMILL_TEST_S3_COMMAND";

/// What the tests put everything into.
pub(crate) const BUCKET: &str = "docmill-test";

/// Settings for a server, with nothing else to lean on.
pub(crate) fn settings(endpoint: &str, retry_for: Duration) -> BlobSettings {
    let mut variables = vec![
        ("AWS_ACCESS_KEY_ID".to_owned(), "test".to_owned()),
        ("AWS_SECRET_ACCESS_KEY".to_owned(), "test".to_owned()),
    ];
    variables.extend(given());
    let variables = CloudVariables::of(variables);
    BlobSettings { endpoint: endpoint.to_owned(), retry_for, variables, ..BlobSettings::default() }
}

/// The store as docmill opens it.
pub(crate) fn open(place: &Place) -> Result<Arc<dyn Blobs>> {
    let endpoint = place.url().ok_or_else(|| Error::bug("no server was asked for"))?;
    let settings = settings(endpoint, Duration::from_secs(30));
    blobs::open(&format!("s3://{BUCKET}/{}", place.name()), &around(&settings, place.dir()))
}

/// The store with nothing before it.
pub(crate) fn plain(settings: &BlobSettings, folder: &str, dir: &Path, timing: Timing) -> Result<S3Blobs> {
    S3Blobs::open(&format!("//{BUCKET}/{folder}"), &around(settings, dir), timing)
}

pub(crate) fn around<'s>(settings: &'s BlobSettings, data_dir: &'s Path) -> Surroundings<'s> {
    let (clock, entropy) = (Arc::new(SystemClock::new()), Arc::new(SystemEntropy));
    Surroundings { data_dir, settings, clock, entropy }
}

/// Keys for a server that was not started by `.ci/servers.sh`.
#[expect(clippy::disallowed_methods, reason = "tests of servers are asked for through the environment")]
fn given() -> Vec<(String, String)> {
    std::env::vars().filter(|(name, _)| name.starts_with(CloudVariables::PREFIX)).collect()
}
