//! Stores that are set up wrong say so, and what to change.

use std::time::Duration;

use docmill_backends::blobs;
use docmill_core::clock::{Clock as _, SystemClock};
use docmill_core::config::CloudVariables;
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::Upload;
use docmill_core::{Error, ErrorKind};
use docmill_testkit::cases;
use docmill_testkit::conformance::{Bench, Case};

use super::{Folder, document, noise, s3_server, stream};

pub(crate) fn cases() -> Vec<Case<Folder>> {
    cases![
        wrong_bucket_is_named,
        wrong_keys_are_named,
        keys_without_the_right_are_told_which,
        server_that_is_not_there_is_named,
        factory_tells_at_once,
    ]
}

/// What comes of everything that a store may be asked first.
async fn errors(blobs: &dyn Blobs) -> Vec<Error> {
    let mut errors = refusals(blobs).await;
    errors.push(blobs.list("documents").await.unwrap().recv().await.unwrap().unwrap_err());
    errors.push(blobs.remove_leftovers(SystemClock::new().now()).await.unwrap_err());
    errors
}

/// The same of what concerns single blobs.
async fn refusals(blobs: &dyn Blobs) -> Vec<Error> {
    vec![
        blobs.put_if_absent(&document(1), Upload::Bytes(noise(1, 10))).await.unwrap_err(),
        blobs.put_if_absent(&document(1), stream(noise(1, 7 << 20))).await.unwrap_err(),
        blobs.open(&document(1), 10).await.unwrap_err(),
    ]
}

async fn wrong_bucket_is_named(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let settings = s3_server::settings(folder.endpoint(), Duration::from_secs(30));
    let around = s3_server::around(&settings, folder.place().dir());
    let blobs = blobs::open("s3://there-is-no-such-bucket/x", &around).unwrap();
    for error in errors(&*blobs).await {
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error:?}");
        assert!(error.message().contains("there-is-no-such-bucket"), "{error:?}");
        assert!(error.hint().unwrap().contains("`blobs.url`"), "{:?}", error.hint());
    }
}

async fn wrong_keys_are_named(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let mut settings = s3_server::settings(folder.endpoint(), Duration::from_secs(30));
    let key = settings.variables.get("AWS_ACCESS_KEY_ID").unwrap().to_owned();
    settings.variables = CloudVariables::of([
        ("AWS_ACCESS_KEY_ID".to_owned(), key),
        ("AWS_SECRET_ACCESS_KEY".to_owned(), "not the right one".to_owned()),
    ]);
    let around = s3_server::around(&settings, folder.place().dir());
    let blobs = blobs::open(&format!("s3://{}/x", s3_server::BUCKET), &around).unwrap();
    for error in errors(&*blobs).await {
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error:?}");
        assert!(error.hint().unwrap().contains("AWS_SECRET_ACCESS_KEY"), "{:?}", error.hint());
        assert!(!error.chain().contains("not the right one"), "a secret in {}", error.chain());
    }
}

/// The keys of `.ci/servers.sh` may touch nothing below `denied/`.
async fn keys_without_the_right_are_told_which(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let settings = s3_server::settings(folder.endpoint(), Duration::from_secs(30));
    let around = s3_server::around(&settings, folder.place().dir());
    let blobs = blobs::open(&format!("s3://{}/denied", s3_server::BUCKET), &around).unwrap();
    for error in refusals(&*blobs).await {
        assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error:?}");
        assert!(error.hint().unwrap().contains("s3:PutObject"), "{:?}", error.hint());
    }
    // There are no words in the answer to a mere look.
    let error = blobs.info(&document(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{error:?}");
}

async fn server_that_is_not_there_is_named(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    proxy.refuse().await;
    for error in errors(&folder.plain_at(&endpoint, "")).await {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
        assert!(error.chain().contains(&endpoint), "{}", error.chain());
        assert!(error.hint().unwrap().contains("`blobs.endpoint`"), "{:?}", error.hint());
    }
}

async fn factory_tells_at_once(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let mut settings = s3_server::settings(folder.endpoint(), Duration::ZERO);
    settings.variables = CloudVariables::default();
    let around = s3_server::around(&settings, folder.place().dir());
    for (url, words) in [("s3:", "names no bucket"), ("s3://bucket", "no credentials")] {
        let error = blobs::open(url, &around).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert!(error.message().contains(words) && error.hint().is_some(), "{error:?}");
    }
}
