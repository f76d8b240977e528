//! Uploads that end in other ways than they should, and two at once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docmill_core::clock::{Clock as _, SystemClock};
use docmill_core::ports::Blobs as _;
use docmill_core::ports::blobs::{Put, Upload};
use docmill_core::{Error, ErrorKind};
use docmill_testkit::cases;
use docmill_testkit::conformance::{Bench, Case};
use futures::FutureExt as _;
use tokio::sync::mpsc;

use super::{Folder, LONG_AGO, PART, assert_whole, document, keys, noise, read, stream};

pub(crate) fn cases() -> Vec<Case<Folder>> {
    cases![
        upload_that_aborts_is_aborted_at_the_server,
        upload_whose_caller_leaves_is_aborted_at_the_server,
        upload_of_a_process_that_is_gone_is_removed_after_a_week,
        two_uploads_of_one_key_make_one_blob,
        upload_to_a_taken_key_leaves_nothing,
    ]
}

async fn upload_that_aborts_is_aborted_at_the_server(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (send, pieces) = mpsc::channel(4);
    tokio::spawn(async move {
        send.send(Ok(noise(1, 2 * PART))).await.unwrap();
        send.send(Err(Error::file_changed("the file kept changing"))).await.unwrap();
    });
    let error = folder.plain().put_if_absent(&document(1), Upload::Stream(pieces)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileChanged);
    assert!(keys(&folder.plain()).await.is_empty());
    folder.settled().await;
}

async fn upload_whose_caller_leaves_is_aborted_at_the_server(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    let blobs = Arc::new(folder.plain_at(&endpoint, ""));
    let (send, pieces) = mpsc::channel(1);
    let put = tokio::spawn({
        let blobs = Arc::clone(&blobs);
        async move { blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await }
    });
    send.send(Ok(noise(1, PART + 1))).await.unwrap();
    // The first part has been sent when more than it went through.
    while proxy.forwarded_bytes() < PART as u64 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    put.abort();
    assert!(put.await.is_err());
    drop(send);
    folder.settled().await;
    assert!(keys(&folder.plain()).await.is_empty());
}

/// Nobody aborts what a killed process began: no destructor runs.
async fn upload_of_a_process_that_is_gone_is_removed_after_a_week(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    let blobs = folder.plain_at(&endpoint, "");
    let (send, pieces) = mpsc::channel(1);
    send.send(Ok(noise(1, PART + 1))).await.unwrap();
    let key = document(1);
    let mut put = Box::pin(blobs.put_if_absent(&key, Upload::Stream(pieces)));
    while proxy.forwarded_bytes() < PART as u64 {
        assert!(put.as_mut().now_or_never().is_none(), "more pieces are to come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    std::mem::forget(put);
    let now = SystemClock::new().now();
    assert!(keys(&folder.plain()).await.is_empty());
    assert_eq!(folder.plain().remove_leftovers(now).await.unwrap(), 0, "it might still be under way");
    let other = folder.plain_at(folder.endpoint(), "-other");
    assert_eq!(other.remove_leftovers(now.plus(LONG_AGO)).await.unwrap(), 0, "it is another's");
    for removed in [1, 0] {
        assert_eq!(folder.plain().remove_leftovers(now.plus(LONG_AGO)).await.unwrap(), removed);
    }
}

async fn two_uploads_of_one_key_make_one_blob(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let contents = [noise(1, PART + 100), noise(2, PART + 200)];
    for round in 0..4 {
        let key = document(round);
        let puts = contents.clone().map(|content| {
            let (blobs, key) = (folder.plain(), key.clone());
            tokio::spawn(async move { blobs.put_if_absent(&key, stream(content)).await.unwrap() })
        });
        let mut made = Vec::new();
        for put in puts {
            made.push(put.await.unwrap());
        }
        let winner = made.iter().position(|put| *put == Put::Created).expect("one of them was first");
        assert_eq!(made[1 - winner], Put::Existed, "only one of them");
        assert!(read(&folder.plain(), &key).await.unwrap() == contents[winner], "the first one stays");
    }
    folder.settled().await;
}

async fn upload_to_a_taken_key_leaves_nothing(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (blobs, first) = (folder.plain(), Bytes::from_static(b"first"));
    blobs.put_if_absent(&document(1), Upload::Bytes(first.clone())).await.unwrap();
    let put = blobs.put_if_absent(&document(1), stream(noise(1, 2 * PART))).await.unwrap();
    assert_eq!(put, Put::Existed);
    assert_eq!(blobs.unfinished().await.unwrap(), 0, "aborted before it returned");
    assert_whole(&folder, &document(1), &first).await;
}
