//! A server of one's own that is killed and started again.

use std::sync::Arc;
use std::time::Duration;

use docmill_backends::blobs;
use docmill_core::ErrorKind;
use docmill_core::config::{BlobSettings, CloudVariables};
use docmill_core::ports::blobs::{Put, Upload};
use docmill_testkit::cases;
use docmill_testkit::conformance::{Bench, Case, Place};
use docmill_testkit::faults::OwnServer;
use rustix::process::Signal;
use tokio::sync::mpsc;

use super::{PART, document, keys, noise, read, s3_server, stream};

pub(crate) fn cases() -> Vec<Case<Place>> {
    cases![restart_in_the_middle_of_an_upload_leaves_nothing_of_it, restart_between_two_puts_is_waited_for]
}

fn start(place: &Place) -> OwnServer {
    OwnServer::start(place.url().unwrap(), &[])
}

/// With keys that are the same after a restart.
fn settings(server: &OwnServer, retry_for: Duration) -> BlobSettings {
    let pairs = [("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")];
    let variables = CloudVariables::of(pairs.map(|(k, v)| (k.to_owned(), v.to_owned())));
    let endpoint = format!("http://127.0.0.1:{}", server.port());
    BlobSettings { endpoint, retry_for, variables, ..BlobSettings::default() }
}

async fn restart_in_the_middle_of_an_upload_leaves_nothing_of_it(bench: Bench<Place>) {
    let place = bench.open().await;
    let mut server = start(&place);
    let settings = settings(&server, Duration::from_mins(1));
    let around = s3_server::around(&settings, place.dir());
    let blobs = blobs::open(&format!("s3://{}/x", s3_server::BUCKET), &around).unwrap();
    let old = noise(1, 1_000);
    blobs.put_if_absent(&document(1), Upload::Bytes(old.clone())).await.unwrap();

    let content = noise(2, 2 * PART + 1);
    let (send, pieces) = mpsc::channel(1);
    let put = tokio::spawn({
        let blobs = Arc::clone(&blobs);
        async move { blobs.put_if_absent(&document(2), Upload::Stream(pieces)).await }
    });
    send.send(Ok(content.slice(..PART))).await.unwrap();
    send.send(Ok(content.slice(PART..=PART))).await.unwrap();
    // The second piece fits into the channel only when the first part is under way.
    send.send(Ok(content.slice(PART + 1..2 * PART))).await.unwrap();
    server.end(Signal::KILL);
    server.start_again();
    // Whoever reads them may have given up meanwhile.
    drop(send.send(Ok(content.slice(2 * PART..))).await);
    drop(send);

    // This server forgets uploads when it ends; another may know them still. Half of one is nowhere.
    match put.await.unwrap() {
        Ok(_) => assert!(read(&*blobs, &document(2)).await.unwrap() == content),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
            assert_eq!(blobs.info(&document(2)).await.unwrap(), None);
            assert_eq!(
                blobs.put_if_absent(&document(2), stream(content.clone())).await.unwrap(),
                Put::Created
            );
            assert!(read(&*blobs, &document(2)).await.unwrap() == content);
        }
    }
    assert_eq!(read(&*blobs, &document(1)).await.unwrap(), old, "what was put before is still there");
}

async fn restart_between_two_puts_is_waited_for(bench: Bench<Place>) {
    let place = bench.open().await;
    let mut server = start(&place);
    let settings = settings(&server, Duration::from_mins(1));
    let around = s3_server::around(&settings, place.dir());
    let blobs = blobs::open(&format!("s3://{}/x", s3_server::BUCKET), &around).unwrap();
    blobs.put_if_absent(&document(1), Upload::Bytes(noise(1, 10))).await.unwrap();
    server.end(Signal::KILL);
    let put = tokio::spawn({
        let blobs = Arc::clone(&blobs);
        async move { blobs.put_if_absent(&document(2), Upload::Bytes(noise(2, 20))).await }
    });
    tokio::task::yield_now().await;
    server.start_again();
    assert_eq!(put.await.unwrap().unwrap(), Put::Created);
    assert_eq!(keys(&*blobs).await.len(), 2);
}
