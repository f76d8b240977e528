//! Every blob store against the suite of its port.

#[cfg(feature = "s3")]
mod s3_server;

use std::process::ExitCode;
use std::sync::Arc;

use docmill_backends::blobs::{LocalBlobs, Metered};
use docmill_core::metrics::BlobMeter;
use docmill_core::ports::Blobs;
use docmill_testkit::conformance::{self, Backend, blobs};

fn main() -> ExitCode {
    let local = Backend::<dyn Blobs>::embedded("local", |place| async move {
        Ok(Arc::new(LocalBlobs::open(&place.dir().join("blobs"))?) as Arc<dyn Blobs>)
    });
    let metered = Backend::<dyn Blobs>::embedded("metered", |place| async move {
        let local = Arc::new(LocalBlobs::open(&place.dir().join("blobs"))?);
        Ok(Arc::new(Metered::new(local, BlobMeter::default(), place.clock())) as Arc<dyn Blobs>)
    });
    let mut trials = blobs::suite().against([local, metered]);
    #[cfg(feature = "s3")]
    {
        let s3 = Backend::<dyn Blobs>::asked_by(s3_server::VARIABLE, "s3", |place| async move {
            s3_server::open(&place)
        });
        trials.extend(blobs::suite().against([s3]));
    }
    conformance::run(trials)
}
