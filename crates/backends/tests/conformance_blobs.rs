//! Every blob store against the suite of its port.

use std::process::ExitCode;
use std::sync::Arc;

use docmill_backends::blobs::LocalBlobs;
use docmill_core::ports::Blobs;
use docmill_testkit::conformance::{self, Backend, blobs};

fn main() -> ExitCode {
    let local = Backend::embedded("local", |place| async move {
        Ok(Arc::new(LocalBlobs::open(&place.dir().join("blobs"))?) as Arc<dyn Blobs>)
    });
    conformance::run(blobs::suite().against([local]))
}
