//! Between docmill and the server stands a network that fails.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docmill_backends::blobs::s3::Timing;
use docmill_core::ErrorKind;
use docmill_core::ports::Blobs as _;
use docmill_core::ports::blobs::{Put, Upload};
use docmill_testkit::cases;
use docmill_testkit::conformance::{Bench, Case};

use super::{Folder, PART, assert_whole, document, keys, noise, read, stream};

pub(crate) fn cases() -> Vec<Case<Folder>> {
    cases![
        lost_answer_to_a_put_makes_no_second_blob,
        lost_answer_to_any_step_of_an_upload_is_made_good,
        lost_answer_is_an_error_without_patience,
        truncated_content_is_never_half_content,
        download_that_breaks_off_is_gone_on_with,
        download_that_breaks_off_without_patience_is_no_file,
        upload_outlives_cut_connections,
        upload_outlives_a_server_that_is_away_for_a_moment,
        listing_outlives_cut_connections,
        silence_is_an_error_and_passes,
    ]
}

async fn lost_answer_to_a_put_makes_no_second_blob(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    let (blobs, content) = (folder.patient_at(&endpoint), noise(1, 100_000));
    proxy.lose_answers_to("PUT /", 2);
    assert_eq!(
        blobs.put_if_absent(&document(1), Upload::Bytes(content.clone())).await.unwrap(),
        Put::Existed,
        "nobody can tell who made it"
    );
    assert_eq!(proxy.lost_answers(), 2);
    assert_whole(&folder, &document(1), &content).await;
}

async fn lost_answer_to_any_step_of_an_upload_is_made_good(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    let (blobs, content) = (folder.patient_at(&endpoint), noise(1, 2 * PART + 1));
    for (n, step) in (1..).zip(["?uploads", "partNumber=1&", "partNumber=3&", "?uploadId=", "HEAD /"]) {
        proxy.lose_answers_to(step, 1);
        blobs.put_if_absent(&document(1), stream(content.clone())).await.unwrap();
        assert_eq!(proxy.lost_answers(), n, "{step}");
        assert_whole(&folder, &document(1), &content).await;
        blobs.delete(&document(1)).await.unwrap();
    }
}

async fn lost_answer_is_an_error_without_patience(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    proxy.lose_answers_to("PUT /", 1);
    let blobs = folder.plain_at(&endpoint, "");
    let error = blobs.put_if_absent(&document(1), Upload::Bytes(noise(1, 10))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert_eq!(proxy.lost_answers(), 1);
}

async fn truncated_content_is_never_half_content(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let content = noise(1, 200_000);
    folder.plain().put_if_absent(&document(1), Upload::Bytes(content.clone())).await.unwrap();
    let (proxy, endpoint) = folder.proxy();
    for after in [1, 100, 1_000, 100_000, 200_000] {
        proxy.truncate_answers(after, 1);
        let error = read(&folder.plain_at(&endpoint, ""), &document(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "after {after} bytes: {error:?}");
        proxy.truncate_answers(after, 2);
        assert!(read(&*folder.patient_at(&endpoint), &document(1)).await.unwrap() == content);
        proxy.truncate_answers(after, 1);
        let range = folder.patient_at(&endpoint).get_range(&document(1), 5..150_000).await.unwrap();
        assert!(range == content.slice(5..150_000));
        proxy.recover();
    }
}

async fn download_that_breaks_off_is_gone_on_with(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let content = noise(1, 5 * PART);
    folder.plain().put_if_absent(&document(1), stream(content.clone())).await.unwrap();
    let (proxy, endpoint) = folder.proxy();
    let blobs = folder.patient_at(&endpoint);
    for after in [100, PART as u64, 4 * PART as u64] {
        proxy.truncate_answers(after, 3);
        assert!(read(&*blobs, &document(1)).await.unwrap() == content, "broken after {after} bytes");
        proxy.recover();
    }
}

async fn download_that_breaks_off_without_patience_is_no_file(bench: Bench<Folder>) {
    let folder = bench.open().await;
    folder.plain().put_if_absent(&document(1), stream(noise(1, 2 * PART))).await.unwrap();
    let (proxy, endpoint) = folder.proxy();
    proxy.truncate_answers(PART as u64, 2);
    let error = read(&folder.plain_at(&endpoint, ""), &document(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    let left = std::fs::read_dir(folder.place().dir()).unwrap().count();
    assert_eq!(left, 0, "no temporary file stays");
}

async fn upload_outlives_cut_connections(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    let (blobs, content) = (folder.patient_at(&endpoint), noise(1, 4 * PART));
    let put = tokio::spawn({
        let (blobs, upload) = (Arc::clone(&blobs), stream(content.clone()));
        async move { blobs.put_if_absent(&document(1), upload).await }
    });
    for megabytes in [3, 9, 16] {
        while proxy.forwarded_bytes() < megabytes << 20 {
            assert!(!put.is_finished(), "it ended before {megabytes} MB went through");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        proxy.cut();
    }
    put.await.unwrap().unwrap();
    assert_whole(&folder, &document(1), &content).await;
}

async fn upload_outlives_a_server_that_is_away_for_a_moment(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    let (blobs, content) = (folder.patient_at(&endpoint), noise(1, 3 * PART));
    let put = tokio::spawn({
        let (blobs, upload) = (Arc::clone(&blobs), stream(content.clone()));
        async move { blobs.put_if_absent(&document(1), upload).await }
    });
    while proxy.forwarded_bytes() < PART as u64 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    proxy.refuse().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!put.is_finished(), "it waits for the server");
    proxy.recover();
    put.await.unwrap().unwrap();
    assert_whole(&folder, &document(1), &content).await;
}

async fn listing_outlives_cut_connections(bench: Bench<Folder>) {
    const MANY: u128 = 2_300;
    let folder = bench.open().await;
    let blobs = Arc::new(folder.plain());
    let puts = (0..MANY).map(|n| {
        let blobs = Arc::clone(&blobs);
        tokio::spawn(
            async move { blobs.put_if_absent(&document(n), Upload::Bytes(Bytes::new())).await.unwrap() },
        )
    });
    futures::future::join_all(puts).await;
    let (proxy, endpoint) = folder.proxy();
    // One page after another is cut in its middle.
    proxy.truncate_answers(50_000, 3);
    let listed = keys(&*folder.patient_at(&endpoint)).await;
    assert_eq!(listed.len(), MANY as usize);
    assert!(listed.windows(2).all(|pair| pair[0] < pair[1]), "each once");
}

async fn silence_is_an_error_and_passes(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    let blobs = folder.plain_at(&endpoint, "");
    blobs.put_if_absent(&document(1), Upload::Bytes(noise(1, 10))).await.unwrap();
    proxy.black_hole();
    let timing = Timing { silence: Duration::from_secs(2), ..Timing::default() };
    let error = folder.timed_at(&endpoint, "", timing).open(&document(1), 10).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
    assert!(error.chain().contains("said nothing for 2 seconds"), "{}", error.chain());
    proxy.recover();
    assert_eq!(blobs.open(&document(1), 10).await.unwrap().len(), 10);
}
