//! Content of all sizes, and folders beside each other.

use bytes::Bytes;
use docmill_core::ErrorKind;
use docmill_core::clock::{Clock as _, SystemClock};
use docmill_core::id::BlobKey;
use docmill_core::ports::Blobs as _;
use docmill_core::ports::blobs::{Put, Upload};
use docmill_testkit::cases;
use docmill_testkit::conformance::{Bench, Case};
use uuid::Uuid;

use super::{Folder, LONG_AGO, PART, assert_whole, document, keys, noise, read, stream};

pub(crate) fn cases() -> Vec<Case<Folder>> {
    cases![
        content_of_many_parts_is_whole,
        content_at_the_edge_of_a_part_is_whole,
        bytes_of_many_parts_are_whole,
        ranges_reach_over_the_edges_of_parts,
        rename_of_a_large_blob_is_a_copy_in_parts,
        rename_repeated_after_each_step_ends_the_same,
        folders_that_begin_alike_share_nothing,
    ]
}

const MIB: usize = 1024 * 1024;

async fn content_of_many_parts_is_whole(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let content = noise(1, 3 * PART + 12_345);
    let put = folder.plain().put_if_absent(&document(1), stream(content.clone())).await.unwrap();
    assert_eq!(put, Put::Created);
    assert_whole(&folder, &document(1), &content).await;
    folder.settled().await;
}

async fn content_at_the_edge_of_a_part_is_whole(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let blobs = folder.plain();
    for (n, len) in (0_u128..).zip([PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 1]) {
        let content = noise(n as u64, len);
        assert_eq!(blobs.put_if_absent(&document(n), stream(content.clone())).await.unwrap(), Put::Created);
        assert!(read(&blobs, &document(n)).await.unwrap() == content, "{len} bytes");
    }
    folder.settled().await;
}

async fn bytes_of_many_parts_are_whole(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let content = noise(2, 2 * PART + 1);
    let blobs = folder.plain();
    assert_eq!(
        blobs.put_if_absent(&document(1), Upload::Bytes(content.clone())).await.unwrap(),
        Put::Created
    );
    assert_eq!(
        blobs.put_if_absent(&document(1), Upload::Bytes(noise(3, PART + 1))).await.unwrap(),
        Put::Existed
    );
    assert_whole(&folder, &document(1), &content).await;
}

async fn ranges_reach_over_the_edges_of_parts(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (blobs, content) = (folder.plain(), noise(4, 2 * PART));
    blobs.put_if_absent(&document(1), stream(content.clone())).await.unwrap();
    for range in [PART - 10..PART + 10, 0..1, 2 * PART - 1..2 * PART] {
        let asked = range.start as u64..range.end as u64;
        assert_eq!(blobs.get_range(&document(1), asked).await.unwrap(), content.slice(range));
    }
}

async fn rename_of_a_large_blob_is_a_copy_in_parts(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let blobs = folder.plain();
    // The server copies 64 MiB in one go.
    let content = noise(5, 70 * MIB);
    let upload = BlobKey::upload(Uuid::from_u128(1));
    blobs.put_if_absent(&upload, stream(content.clone())).await.unwrap();
    assert_eq!(blobs.rename_if_absent(&upload, &document(1)).await.unwrap(), Put::Created);
    assert_whole(&folder, &document(1), &content).await;
}

/// What a crash after any request of a rename leaves is made good by the next rename.
async fn rename_repeated_after_each_step_ends_the_same(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (proxy, endpoint) = folder.proxy();
    let content = noise(6, PART + 1);
    let upload = BlobKey::upload(Uuid::from_u128(1));
    for (n, step) in (1..).zip(["HEAD /", "?uploads", "partNumber=1", "?uploadId=", "DELETE /"]) {
        let blobs = folder.plain();
        blobs.put_if_absent(&upload, stream(content.clone())).await.unwrap();
        proxy.lose_answers_to(step, 1);
        let error = folder.plain_at(&endpoint, "").rename_if_absent(&upload, &document(1)).await.unwrap_err();
        assert_eq!((error.kind(), proxy.lost_answers()), (ErrorKind::Unavailable, n), "{step}: {error:?}");
        proxy.recover();
        blobs.rename_if_absent(&upload, &document(1)).await.unwrap();
        assert_whole(&folder, &document(1), &content).await;
        if step == "?uploads" {
            // Nobody knows the upload that was begun, so nobody can abort it.
            assert_eq!(blobs.remove_leftovers(SystemClock::new().now().plus(LONG_AGO)).await.unwrap(), 1);
        }
        folder.settled().await;
        blobs.delete(&document(1)).await.unwrap();
    }
}

async fn folders_that_begin_alike_share_nothing(bench: Bench<Folder>) {
    let folder = bench.open().await;
    let (one, other) = (folder.plain(), folder.plain_at(folder.endpoint(), "-other"));
    one.put_if_absent(&document(1), Upload::Bytes(Bytes::from_static(b"one"))).await.unwrap();
    let put = other.put_if_absent(&document(1), Upload::Bytes(Bytes::from_static(b"other"))).await.unwrap();
    assert_eq!(put, Put::Created);
    other.put_if_absent(&document(2), Upload::Bytes(Bytes::from_static(b"more"))).await.unwrap();
    assert_eq!(keys(&one).await, [document(1).as_str()]);
    assert_eq!(keys(&other).await.len(), 2);
    assert_eq!(read(&one, &document(1)).await.unwrap(), "one");
    other.delete(&document(1)).await.unwrap();
    assert_eq!(read(&one, &document(1)).await.unwrap(), "one");
    for n in [1, 2] {
        other.delete(&document(n)).await.unwrap();
    }
}
