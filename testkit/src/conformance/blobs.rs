//! What every blob store must do.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed case")]

use std::collections::BTreeSet;
use std::io::{Read, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use docmill_core::error::{Error, ErrorKind};
use docmill_core::id::{BlobKey, ContentHash, DocumentId, IngestionId};
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{Content, Put, Upload};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{Bench, Suite};
use crate::cases;

type Subject = Bench<dyn Blobs>;

/// The suite of the port.
pub fn suite() -> Suite<dyn Blobs> {
    Suite {
        port: "blobs",
        cases: cases![
            put_twice_keeps_the_first,
            put_of_one_key_by_many_creates_once,
            put_of_many_keys_at_once_keeps_all,
            put_of_nothing_makes_an_empty_blob,
            put_survives_reopening,
            put_accepts_every_key_docmill_makes,
            put_refuses_keys_that_leave_the_store,
            stream_is_stored_whole,
            stream_that_aborts_leaves_nothing,
            stream_whose_caller_leaves_leaves_nothing,
            stream_of_fifty_megabytes_is_never_held_in_memory,
            stream_to_a_taken_key_keeps_the_first,
            rename_moves_the_blob,
            rename_to_a_taken_key_removes_the_upload,
            rename_again_reports_existed,
            rename_of_nothing_is_not_found,
            open_gives_small_inline_and_large_as_file,
            open_of_nothing_is_not_found,
            range_is_cut_at_the_end_and_refused_beyond,
            range_of_nothing_is_not_found,
            info_tells_length_or_none,
            delete_twice_is_no_error,
            delete_lets_the_key_be_put_again,
            list_shows_everything_once_below_its_folder,
            list_of_an_unknown_folder_is_empty,
            list_hides_uploads_in_progress,
            free_bytes_is_plausible,
            leftovers_spare_what_is_under_way,
        ],
    }
}

fn document(n: u128) -> BlobKey {
    BlobKey::document(DocumentId(Uuid::from_u128(n)), "a.txt")
}

fn artifact(n: u128, content: &str) -> BlobKey {
    let hash = ContentHash::of(content.as_bytes());
    BlobKey::artifact(IngestionId(Uuid::from_u128(n)), "transcription", &hash, "json")
}

fn whole(content: &'static str) -> Upload {
    Upload::Bytes(Bytes::from_static(content.as_bytes()))
}

async fn text(blobs: &dyn Blobs, key: &BlobKey) -> String {
    match blobs.open(key, u64::MAX).await.unwrap() {
        Content::Inline(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Content::File(..) => String::from("(a file, although all may come inline)"),
    }
}

async fn keys(blobs: &dyn Blobs, prefix: &str) -> Vec<String> {
    let mut pieces = blobs.list(prefix).await.unwrap();
    let mut keys = Vec::new();
    while let Some(piece) = pieces.recv().await {
        keys.extend(piece.unwrap().into_iter().map(|info| info.key.as_str().to_owned()));
    }
    keys.sort();
    keys
}

async fn put_twice_keeps_the_first(bench: Subject) {
    let blobs = bench.open().await;
    assert_eq!(blobs.put_if_absent(&document(1), whole("first")).await.unwrap(), Put::Created);
    assert_eq!(blobs.put_if_absent(&document(1), whole("second")).await.unwrap(), Put::Existed);
    assert_eq!(text(&*blobs, &document(1)).await, "first");
}

async fn put_of_one_key_by_many_creates_once(bench: Subject) {
    let blobs = bench.open().await;
    let puts = (0..32).map(|n| {
        let blobs = Arc::clone(&blobs);
        tokio::spawn(async move {
            let content = Bytes::from(format!("content {n:02}"));
            blobs.put_if_absent(&artifact(1, "x"), Upload::Bytes(content)).await.unwrap()
        })
    });
    let puts: Vec<Put> = futures::future::join_all(puts).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(puts.iter().filter(|put| **put == Put::Created).count(), 1);
    assert_eq!(text(&*blobs, &artifact(1, "x")).await.len(), "content 00".len());
}

async fn put_of_many_keys_at_once_keeps_all(bench: Subject) {
    let blobs = bench.open().await;
    let puts = (0..300_u128).map(|n| {
        let blobs = Arc::clone(&blobs);
        tokio::spawn(async move {
            let content = Bytes::from(n.to_string());
            blobs.put_if_absent(&artifact(n, "x"), Upload::Bytes(content)).await.unwrap()
        })
    });
    for put in futures::future::join_all(puts).await {
        assert_eq!(put.unwrap(), Put::Created);
    }
    for n in 0..300 {
        assert_eq!(text(&*blobs, &artifact(n, "x")).await, n.to_string());
    }
}

async fn put_of_nothing_makes_an_empty_blob(bench: Subject) {
    let blobs = bench.open().await;
    blobs.put_if_absent(&document(1), whole("")).await.unwrap();
    assert_eq!(text(&*blobs, &document(1)).await, "");
    assert_eq!(blobs.info(&document(1)).await.unwrap().unwrap().bytes, 0);
}

async fn put_survives_reopening(bench: Subject) {
    let blobs = bench.open().await;
    blobs.put_if_absent(&document(1), whole("kept")).await.unwrap();
    drop(blobs);
    assert_eq!(text(&*bench.open().await, &document(1)).await, "kept");
}

async fn put_accepts_every_key_docmill_makes(bench: Subject) {
    let blobs = bench.open().await;
    let hash = ContentHash::of(b"");
    for key in [
        BlobKey::document(DocumentId(Uuid::nil()), ""),
        BlobKey::document(DocumentId(Uuid::max()), "x.PDF"),
        BlobKey::document(DocumentId(Uuid::from_u128(7)), "../../etc/passwd"),
        BlobKey::document(DocumentId(Uuid::from_u128(8)), "a.b\0c"),
        BlobKey::artifact(IngestionId(Uuid::nil()), "page-0001", &hash, "jpg"),
        BlobKey::artifact(IngestionId(Uuid::max()), "x", &hash, "tar.gz"),
        BlobKey::upload(Uuid::max()),
    ] {
        assert_eq!(blobs.put_if_absent(&key, whole("odd")).await.unwrap(), Put::Created, "{key}");
        assert_eq!(text(&*blobs, &key).await, "odd", "{key}");
        assert_eq!(blobs.info(&key).await.unwrap().unwrap().key, key);
    }
    assert_eq!(keys(&*blobs, "").await.len(), 7);
}

async fn put_refuses_keys_that_leave_the_store(bench: Subject) {
    let blobs = bench.open().await;
    for key in ["", "/etc/x", "../x", "documents/../../x", "documents//x", "a\0b", ".staging/x", "documents/"]
    {
        let key = BlobKey::stored(key);
        let error = blobs.put_if_absent(&key, whole("out")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{key}");
        assert_eq!(blobs.open(&key, 1).await.unwrap_err().kind(), ErrorKind::InvalidRequest, "{key}");
        assert!(
            blobs.delete(&key).await.is_err() && blobs.rename_if_absent(&key, &document(1)).await.is_err()
        );
    }
    assert!(keys(&*blobs, "").await.is_empty());
}

async fn stream_is_stored_whole(bench: Subject) {
    let blobs = bench.open().await;
    let (send, pieces) = mpsc::channel(2);
    let put = tokio::spawn({
        let blobs = Arc::clone(&blobs);
        async move { blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await }
    });
    for piece in ["one ", "", "two ", "three"] {
        send.send(Ok(Bytes::from_static(piece.as_bytes()))).await.unwrap();
    }
    drop(send);
    assert_eq!(put.await.unwrap().unwrap(), Put::Created);
    assert_eq!(text(&*blobs, &document(1)).await, "one two three");
}

async fn stream_that_aborts_leaves_nothing(bench: Subject) {
    let blobs = bench.open().await;
    let (send, pieces) = mpsc::channel(2);
    send.send(Ok(Bytes::from_static(b"half"))).await.unwrap();
    send.send(Err(Error::file_changed("the file kept changing"))).await.unwrap();
    let error = blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileChanged, "the error of the stream is handed on");
    assert_eq!(blobs.info(&document(1)).await.unwrap(), None);
    assert!(keys(&*blobs, "").await.is_empty());
}

async fn stream_whose_caller_leaves_leaves_nothing(bench: Subject) {
    let blobs = bench.open().await;
    let (send, pieces) = mpsc::channel(1);
    let put = tokio::spawn({
        let blobs = Arc::clone(&blobs);
        async move { blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await }
    });
    // When the second piece fits into the channel, the first one has been taken: the upload is under way.
    send.send(Ok(Bytes::from_static(b"half"))).await.unwrap();
    send.send(Ok(Bytes::from_static(b"more"))).await.unwrap();
    put.abort();
    assert!(put.await.is_err());
    drop(send);
    assert!(keys(&*blobs, "").await.is_empty());
    assert_eq!(blobs.put_if_absent(&document(1), whole("again")).await.unwrap(), Put::Created);
    assert_eq!(text(&*blobs, &document(1)).await, "again");
}

/// A piece of a stream that knows how many of its kind are in memory.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn stream_of_fifty_megabytes_is_never_held_in_memory(bench: Subject) {
    const PIECE: usize = 64 * 1024;
    const PIECES: usize = 800;
    // A remote store may collect parts of some megabytes before it sends one.
    const MOST: usize = 16 * 1024 * 1024 / PIECE;
    let blobs = bench.open().await;
    let (send, pieces) = mpsc::channel(4);
    let put = tokio::spawn({
        let blobs = Arc::clone(&blobs);
        async move { blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await }
    });
    let alive = Arc::new(AtomicUsize::new(0));
    let mut peak = 0;
    for n in 0..PIECES {
        peak = peak.max(alive.fetch_add(1, Ordering::SeqCst) + 1);
        let piece = Counted(vec![n as u8; PIECE], Arc::clone(&alive));
        send.send(Ok(Bytes::from_owner(piece))).await.unwrap();
    }
    drop(send);
    assert_eq!(put.await.unwrap().unwrap(), Put::Created);
    assert!(peak <= MOST, "{peak} of {PIECES} pieces were held at once, more than {MOST}");
    assert_eq!(blobs.info(&document(1)).await.unwrap().unwrap().bytes, (PIECE * PIECES) as u64);
    let last = (PIECE * (PIECES - 1)) as u64;
    assert_eq!(&blobs.get_range(&document(1), last..last + 2).await.unwrap()[..], [(PIECES - 1) as u8; 2]);
}

async fn stream_to_a_taken_key_keeps_the_first(bench: Subject) {
    let blobs = bench.open().await;
    blobs.put_if_absent(&document(1), whole("first")).await.unwrap();
    let (send, pieces) = mpsc::channel(2);
    send.send(Ok(Bytes::from_static(b"second"))).await.unwrap();
    drop(send);
    assert_eq!(blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await.unwrap(), Put::Existed);
    assert_eq!(text(&*blobs, &document(1)).await, "first");
}

async fn rename_moves_the_blob(bench: Subject) {
    let blobs = bench.open().await;
    let upload = BlobKey::upload(Uuid::from_u128(1));
    blobs.put_if_absent(&upload, whole("content")).await.unwrap();
    assert_eq!(blobs.rename_if_absent(&upload, &document(1)).await.unwrap(), Put::Created);
    assert_eq!(text(&*blobs, &document(1)).await, "content");
    assert_eq!(blobs.info(&upload).await.unwrap(), None);
}

async fn rename_to_a_taken_key_removes_the_upload(bench: Subject) {
    let blobs = bench.open().await;
    let upload = BlobKey::upload(Uuid::from_u128(1));
    blobs.put_if_absent(&document(1), whole("first")).await.unwrap();
    blobs.put_if_absent(&upload, whole("second")).await.unwrap();
    assert_eq!(blobs.rename_if_absent(&upload, &document(1)).await.unwrap(), Put::Existed);
    assert_eq!(text(&*blobs, &document(1)).await, "first");
    assert_eq!(blobs.info(&upload).await.unwrap(), None);
}

async fn rename_again_reports_existed(bench: Subject) {
    let blobs = bench.open().await;
    let upload = BlobKey::upload(Uuid::from_u128(1));
    blobs.put_if_absent(&upload, whole("content")).await.unwrap();
    blobs.rename_if_absent(&upload, &document(1)).await.unwrap();
    assert_eq!(blobs.rename_if_absent(&upload, &document(1)).await.unwrap(), Put::Existed);
    assert_eq!(text(&*blobs, &document(1)).await, "content");
}

async fn rename_of_nothing_is_not_found(bench: Subject) {
    let blobs = bench.open().await;
    let error = blobs.rename_if_absent(&BlobKey::upload(Uuid::nil()), &document(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

async fn open_gives_small_inline_and_large_as_file(bench: Subject) {
    let blobs = bench.open().await;
    blobs.put_if_absent(&document(1), whole("0123456789")).await.unwrap();
    match blobs.open(&document(1), 10).await.unwrap() {
        Content::Inline(bytes) => assert_eq!(&bytes[..], b"0123456789"),
        Content::File(..) => unreachable!("ten bytes may come inline"),
    }
    match blobs.open(&document(1), 9).await.unwrap() {
        Content::Inline(_) => unreachable!("ten bytes may not come inline"),
        Content::File(file, len) => {
            assert_eq!(len, 10);
            let mut content = String::new();
            (&*file).rewind().unwrap();
            (&*file).take(20).read_to_string(&mut content).unwrap();
            assert_eq!(content, "0123456789");
        }
    }
}

async fn open_of_nothing_is_not_found(bench: Subject) {
    let blobs = bench.open().await;
    assert_eq!(blobs.open(&document(1), 9).await.unwrap_err().kind(), ErrorKind::NotFound);
    blobs.put_if_absent(&artifact(1, "x"), whole("x")).await.unwrap();
    let folder = BlobKey::stored("ingestions");
    assert_eq!(blobs.open(&folder, 9).await.unwrap_err().kind(), ErrorKind::NotFound, "a folder is no blob");
}

async fn range_is_cut_at_the_end_and_refused_beyond(bench: Subject) {
    let blobs = bench.open().await;
    blobs.put_if_absent(&document(1), whole("0123456789")).await.unwrap();
    for (range, expected) in
        [(0..10, "0123456789"), (3..5, "34"), (8..99, "89"), (0..u64::MAX, "0123456789"), (4..4, "")]
    {
        let bytes = blobs.get_range(&document(1), range.clone()).await.unwrap();
        assert_eq!(&bytes[..], expected.as_bytes(), "{range:?}");
    }
    for range in [10..11, 11..20, u64::MAX - 1..u64::MAX] {
        let error = blobs.get_range(&document(1), range.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{range:?}");
    }
}

async fn range_of_nothing_is_not_found(bench: Subject) {
    let blobs = bench.open().await;
    assert_eq!(blobs.get_range(&document(1), 0..1).await.unwrap_err().kind(), ErrorKind::NotFound);
}

async fn info_tells_length_or_none(bench: Subject) {
    let blobs = bench.open().await;
    assert_eq!(blobs.info(&document(1)).await.unwrap(), None);
    blobs.put_if_absent(&document(1), whole("content")).await.unwrap();
    let info = blobs.info(&document(1)).await.unwrap().unwrap();
    assert_eq!((info.key, info.bytes), (document(1), 7));
    assert!(info.modified_at.0 > 1_700_000_000_000, "{}", info.modified_at);
}

async fn delete_twice_is_no_error(bench: Subject) {
    let blobs = bench.open().await;
    blobs.put_if_absent(&artifact(1, "x"), whole("x")).await.unwrap();
    blobs.delete(&artifact(1, "x")).await.unwrap();
    blobs.delete(&artifact(1, "x")).await.unwrap();
    assert_eq!(blobs.info(&artifact(1, "x")).await.unwrap(), None);
}

async fn delete_lets_the_key_be_put_again(bench: Subject) {
    let blobs = bench.open().await;
    for content in ["first", "second"] {
        assert_eq!(blobs.put_if_absent(&artifact(1, "x"), whole(content)).await.unwrap(), Put::Created);
        assert_eq!(text(&*blobs, &artifact(1, "x")).await, content);
        blobs.delete(&artifact(1, "x")).await.unwrap();
    }
}

async fn list_shows_everything_once_below_its_folder(bench: Subject) {
    // More than one page of any store.
    const MANY: u128 = 2_500;
    let blobs = bench.open().await;
    let puts = (0..MANY).map(|n| {
        let blobs = Arc::clone(&blobs);
        tokio::spawn(async move { blobs.put_if_absent(&document(n), whole("x")).await.unwrap() })
    });
    futures::future::join_all(puts).await;
    blobs.put_if_absent(&artifact(1, "x"), whole("xyz")).await.unwrap();
    let listed = keys(&*blobs, "documents").await;
    assert_eq!(listed.len(), MANY as usize);
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), MANY as usize, "each once");
    assert_eq!(keys(&*blobs, "ingestions").await, [artifact(1, "x").as_str()]);
    assert_eq!(keys(&*blobs, "").await.len(), MANY as usize + 1);
    let folder = format!("ingestions/{}", Uuid::from_u128(1));
    let piece = blobs.list(&folder).await.unwrap().recv().await.unwrap().unwrap();
    assert_eq!((piece.len(), piece[0].bytes), (1, 3));
}

async fn list_of_an_unknown_folder_is_empty(bench: Subject) {
    let blobs = bench.open().await;
    assert!(keys(&*blobs, "uploads").await.is_empty());
    assert!(blobs.list("../").await.is_err());
}

async fn list_hides_uploads_in_progress(bench: Subject) {
    let blobs = bench.open().await;
    let (send, pieces) = mpsc::channel(1);
    let put = tokio::spawn({
        let blobs = Arc::clone(&blobs);
        async move { blobs.put_if_absent(&document(1), Upload::Stream(pieces)).await }
    });
    for piece in ["half", "more"] {
        send.send(Ok(Bytes::from_static(piece.as_bytes()))).await.unwrap();
    }
    assert!(keys(&*blobs, "").await.is_empty());
    assert_eq!(blobs.info(&document(1)).await.unwrap(), None);
    drop(send);
    put.await.unwrap().unwrap();
    assert_eq!(keys(&*blobs, "").await, [document(1).as_str()]);
}

async fn free_bytes_is_plausible(bench: Subject) {
    let blobs = bench.open().await;
    if let Some(free) = blobs.free_bytes().await.unwrap() {
        assert!(free > 0 && free < u64::MAX / 2, "{free}");
    }
}

async fn leftovers_spare_what_is_under_way(bench: Subject) {
    let blobs = bench.open().await;
    blobs.put_if_absent(&document(1), whole("kept")).await.unwrap();
    let (send, pieces) = mpsc::channel(1);
    let put = tokio::spawn({
        let blobs = Arc::clone(&blobs);
        async move { blobs.put_if_absent(&document(2), Upload::Stream(pieces)).await }
    });
    // More than any store sends in one go, so that something lies about by now.
    let piece = Bytes::from(vec![7; 8 * 1024 * 1024]);
    for _ in 0..3 {
        send.send(Ok(piece.clone())).await.unwrap();
    }
    let now = blobs.info(&document(1)).await.unwrap().unwrap().modified_at;
    assert_eq!(blobs.remove_leftovers(now).await.unwrap(), 0);
    drop(send);
    assert_eq!(put.await.unwrap().unwrap(), Put::Created);
    assert_eq!(blobs.info(&document(2)).await.unwrap().unwrap().bytes, 3 * piece.len() as u64);
}
