//! What stands before a store over a network, before one that goes wrong by plan.

#![expect(clippy::unwrap_used, reason = "test binary")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docmill_backends::blobs::{LocalBlobs, Patience, RetryingBlobs};
use docmill_core::clock::{ScriptedEntropy, SystemClock};
use docmill_core::id::{BlobKey, DocumentId};
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{Content, Put, Upload};
use docmill_core::{Error, ErrorKind};
use docmill_testkit::faults::{BlobFault, BlobFaults, FaultyBlobs};
use tempfile::TempDir;
use tokio::sync::mpsc;
use uuid::Uuid;

/// A local store that goes wrong as planned, and patience before it.
struct Bench {
    _dir: TempDir,
    local: Arc<LocalBlobs>,
    faulty: Arc<FaultyBlobs>,
    blobs: RetryingBlobs,
}

fn bench(faults: BlobFaults) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let local = Arc::new(LocalBlobs::open(dir.path()).unwrap());
    let faulty = Arc::new(FaultyBlobs::new(Arc::clone(&local) as Arc<dyn Blobs>, faults));
    // The time of these tests jumps over pauses, and the clock does not notice: tries alone count.
    let (clock, entropy) = (Arc::new(SystemClock::new()), Arc::new(ScriptedEntropy::new([0.0])));
    let patience = Patience::new(Duration::from_mins(5), clock, entropy);
    let blobs = RetryingBlobs::new(Arc::clone(&faulty) as Arc<dyn Blobs>, patience);
    Bench { _dir: dir, local, faulty, blobs }
}

fn planned(faults: &[BlobFault]) -> Bench {
    bench(BlobFaults::script(faults.iter().copied().map(Some)))
}

fn document(n: u128) -> BlobKey {
    BlobKey::document(DocumentId(Uuid::from_u128(n)), "a.txt")
}

fn whole(content: &'static str) -> Upload {
    Upload::Bytes(Bytes::from_static(content.as_bytes()))
}

async fn text(blobs: &dyn Blobs, key: &BlobKey) -> String {
    match blobs.open(key, u64::MAX).await.unwrap() {
        Content::Inline(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Content::File(..) => unreachable!("all may come inline"),
    }
}

#[tokio::test(start_paused = true)]
async fn put_that_is_refused_is_made_again() {
    let bench = planned(&[BlobFault::Refused, BlobFault::Refused]);
    assert_eq!(bench.blobs.put_if_absent(&document(1), whole("content")).await.unwrap(), Put::Created);
    assert_eq!(bench.faulty.calls(), ["put"; 3]);
    assert_eq!(text(&*bench.local, &document(1)).await, "content");
}

#[tokio::test(start_paused = true)]
async fn put_whose_answer_was_lost_is_found_by_its_length() {
    let bench = planned(&[BlobFault::AnswerLost]);
    assert_eq!(bench.blobs.put_if_absent(&document(1), whole("content")).await.unwrap(), Put::Existed);
    assert_eq!(bench.faulty.calls(), ["put", "put", "info"]);
    assert_eq!(text(&*bench.local, &document(1)).await, "content");
}

#[tokio::test(start_paused = true)]
async fn put_that_cannot_be_seen_yet_is_asked_for_again() {
    let bench = bench(BlobFaults::script([
        Some(BlobFault::AnswerLost),
        None,
        Some(BlobFault::NotYetThere),
        None,
        Some(BlobFault::WrongLength),
    ]));
    assert_eq!(bench.blobs.put_if_absent(&document(1), whole("content")).await.unwrap(), Put::Existed);
    assert_eq!(bench.faulty.calls(), ["put", "put", "info", "put", "info", "put", "info"]);
}

#[tokio::test(start_paused = true)]
async fn put_to_a_key_that_was_taken_before_is_no_mistake() {
    let bench = planned(&[]);
    bench.local.put_if_absent(&document(1), whole("first")).await.unwrap();
    assert_eq!(bench.blobs.put_if_absent(&document(1), whole("another")).await.unwrap(), Put::Existed);
    assert_eq!(bench.faulty.calls(), ["put"], "nobody failed, so nobody doubts");
}

#[tokio::test(start_paused = true)]
async fn put_never_takes_a_blob_of_another_length_for_its_own() {
    let bench = planned(&[BlobFault::Refused]);
    bench.local.put_if_absent(&document(1), whole("half")).await.unwrap();
    let error = bench.blobs.put_if_absent(&document(1), whole("all of it")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("has 4 bytes, but 9 were sent"), "{error}");
    assert_eq!(text(&*bench.local, &document(1)).await, "half");
}

#[tokio::test(start_paused = true)]
async fn stream_is_sent_once_because_its_pieces_are_gone() {
    for fault in [BlobFault::Refused, BlobFault::Truncated] {
        let bench = planned(&[fault]);
        let (send, pieces) = mpsc::channel(4);
        send.send(Ok(Bytes::from_static(b"piece"))).await.unwrap();
        drop(send);
        let error = bench.blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(bench.faulty.calls(), ["put"]);
        assert_eq!(bench.local.info(&document(1)).await.unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn reads_are_repeated_and_a_missing_blob_is_doubted_for_a_while() {
    let bench = planned(&[BlobFault::Truncated, BlobFault::NotYetThere, BlobFault::Refused]);
    bench.local.put_if_absent(&document(1), whole("content")).await.unwrap();
    assert_eq!(text(&bench.blobs, &document(1)).await, "content");
    assert_eq!(bench.faulty.calls(), ["open"; 4]);
    let missing = planned(&[]);
    assert_eq!(missing.blobs.open(&document(1), 9).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(missing.faulty.calls(), ["open"; 3]);
    assert_eq!(missing.blobs.info(&document(1)).await.unwrap(), None);
    assert_eq!(
        missing.faulty.calls()[3..],
        ["info"],
        "asking whether something is there takes no for an answer"
    );
}

#[tokio::test(start_paused = true)]
async fn rename_and_delete_whose_answers_were_lost_come_out_the_same() {
    let bench = planned(&[BlobFault::AnswerLost]);
    let upload = BlobKey::upload(Uuid::from_u128(1));
    bench.local.put_if_absent(&upload, whole("content")).await.unwrap();
    assert_eq!(bench.blobs.rename_if_absent(&upload, &document(1)).await.unwrap(), Put::Existed);
    assert_eq!(text(&*bench.local, &document(1)).await, "content");
    assert_eq!(bench.local.info(&upload).await.unwrap(), None);
    let bench = planned(&[BlobFault::AnswerLost, BlobFault::Refused]);
    bench.local.put_if_absent(&document(1), whole("content")).await.unwrap();
    bench.blobs.delete(&document(1)).await.unwrap();
    assert_eq!(bench.local.info(&document(1)).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn error_that_would_stay_is_told_at_once() {
    let bench = planned(&[]);
    let key = BlobKey::stored("../x");
    let error = bench.blobs.put_if_absent(&key, whole("out")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert_eq!(bench.faulty.calls(), ["put"]);
}

#[tokio::test(start_paused = true)]
async fn everything_arrives_whole_through_a_store_that_often_fails() -> Result<(), Error> {
    let bench = bench(BlobFaults::seeded(20_260_101, 40));
    for n in 0..60 {
        let (upload, content) =
            (BlobKey::upload(Uuid::from_u128(n)), Bytes::from(vec![n as u8; n as usize * 10]));
        bench.blobs.put_if_absent(&upload, Upload::Bytes(content.clone())).await?;
        bench.blobs.rename_if_absent(&upload, &document(n)).await?;
        assert_eq!(bench.local.info(&upload).await?, None, "{n}");
        assert_eq!(bench.local.info(&document(n)).await?.map(|info| info.bytes), Some(content.len() as u64));
        // A blob that is looked for may stay away longer than patience lasts, but never comes back changed.
        match bench.blobs.open(&document(n), u64::MAX).await {
            Ok(Content::Inline(bytes)) => assert_eq!(bytes, content),
            Ok(Content::File(..)) => unreachable!("all may come inline"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound),
        }
    }
    let happened = bench.faulty.happened();
    assert_eq!(happened.len(), BlobFault::ALL.len(), "{happened:?}");
    Ok(())
}
