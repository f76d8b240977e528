//! What blobs on S3 do beyond what every store must do: large content in parts, two writers of one key, and servers
//! and networks that fail in the middle.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed step is a failed case")]

mod content;
mod faults;
mod restart;
#[path = "../s3_server/mod.rs"]
mod s3_server;
mod setup;
mod uploads;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use docmill_backends::blobs;
use docmill_backends::blobs::s3::{S3Blobs, Timing};
use docmill_core::Result;
use docmill_core::id::{BlobKey, ContentHash, DocumentId};
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{Content, Upload};
use docmill_testkit::conformance::{self, Backend, Place, Suite};
use docmill_testkit::faults::Proxy;
use tokio::sync::mpsc;
use uuid::Uuid;

/// What goes in one request.
const PART: usize = 6 * 1024 * 1024;

/// A week and a day.
const LONG_AGO: Duration = Duration::from_hours(8 * 24);

/// A folder of its own in the bucket, and ways to open it.
pub(crate) struct Folder {
    place: Arc<Place>,
}

impl Folder {
    pub(crate) fn endpoint(&self) -> &str {
        self.place.url().expect("a server was asked for")
    }

    /// The store with nothing before it: what fails, fails.
    pub(crate) fn plain(&self) -> S3Blobs {
        self.plain_at(self.endpoint(), "")
    }

    /// The same at another address, or in a folder with more to its name.
    pub(crate) fn plain_at(&self, endpoint: &str, suffix: &str) -> S3Blobs {
        self.timed_at(endpoint, suffix, Timing::default())
    }

    /// The same with other ideas of how long nobody may say anything.
    pub(crate) fn timed_at(&self, endpoint: &str, suffix: &str, timing: Timing) -> S3Blobs {
        let settings = s3_server::settings(endpoint, Duration::ZERO);
        let folder = format!("{}{suffix}", self.place.name());
        s3_server::plain(&settings, &folder, self.place.dir(), timing).unwrap()
    }

    /// The store as docmill opens it, at another address.
    pub(crate) fn patient_at(&self, endpoint: &str) -> Arc<dyn Blobs> {
        let settings = s3_server::settings(endpoint, Duration::from_secs(30));
        let url = format!("s3://{}/{}", s3_server::BUCKET, self.place.name());
        blobs::open(&url, &s3_server::around(&settings, self.place.dir())).unwrap()
    }

    /// A proxy before the server, and the address of it.
    pub(crate) fn proxy(&self) -> (Proxy, String) {
        let target = self.endpoint().strip_prefix("http://").expect("a server without TLS");
        let proxy = Proxy::start(target.trim_end_matches('/')).unwrap();
        let endpoint = format!("http://{}", proxy.address());
        (proxy, endpoint)
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Waits until what is aborted in the background has ended, and sees that nothing is left of it at the server.
    pub(crate) async fn settled(&self) {
        let blobs = self.plain();
        for _ in 0..200 {
            if blobs.unfinished().await.unwrap() == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("uploads are left at the server");
    }
}

pub(crate) fn document(n: u128) -> BlobKey {
    BlobKey::document(DocumentId(Uuid::from_u128(n)), "a.bin")
}

/// Bytes that are nowhere the same, so that a part in a wrong place shows.
pub(crate) fn noise(seed: u64, len: usize) -> Bytes {
    let mut out = Vec::with_capacity(len + 32);
    let mut n = seed << 32;
    while out.len() < len {
        out.extend_from_slice(&ContentHash::of(&n.to_be_bytes()).0);
        n += 1;
    }
    out.truncate(len);
    Bytes::from(out)
}

/// A stream of pieces of 256 KiB.
pub(crate) fn stream(content: Bytes) -> Upload {
    let (send, pieces) = mpsc::channel(2);
    tokio::spawn(async move {
        for at in (0..content.len()).step_by(256 * 1024) {
            let piece = content.slice(at..content.len().min(at + 256 * 1024));
            if send.send(Ok(piece)).await.is_err() {
                return;
            }
        }
    });
    Upload::Stream(pieces)
}

/// All of a blob, however it comes.
pub(crate) async fn read(blobs: &dyn Blobs, key: &BlobKey) -> Result<Bytes> {
    use std::os::unix::fs::FileExt as _;
    match blobs.open(key, 1 << 20).await? {
        Content::Inline(bytes) => Ok(bytes),
        Content::File(file, len) => {
            let mut all = vec![0; len as usize];
            file.read_exact_at(&mut all, 0).unwrap();
            assert_eq!(file.metadata().unwrap().len(), len, "the file ends where the blob ends");
            Ok(all.into())
        }
    }
}

pub(crate) async fn keys(blobs: &dyn Blobs) -> Vec<String> {
    let mut pieces = blobs.list("").await.unwrap();
    let mut keys = Vec::new();
    while let Some(piece) = pieces.recv().await {
        keys.extend(piece.unwrap().into_iter().map(|info| info.key.as_str().to_owned()));
    }
    keys.sort();
    keys
}

/// The blob is there, alone and whole.
pub(crate) async fn assert_whole(folder: &Folder, key: &BlobKey, content: &Bytes) {
    let blobs = folder.plain();
    assert_eq!(blobs.info(key).await.unwrap().unwrap().bytes, content.len() as u64);
    assert!(read(&blobs, key).await.unwrap() == *content, "the content of {key} is not what was sent");
    assert_eq!(keys(&blobs).await, [key.as_str()]);
}

fn main() -> ExitCode {
    let s3 = || {
        Backend::<Folder>::asked_by(s3_server::VARIABLE, "s3", |place| async move {
            Ok(Arc::new(Folder { place }))
        })
    };
    let mut cases = content::cases();
    cases.extend(uploads::cases());
    cases.extend(faults::cases());
    cases.extend(setup::cases());
    let mut trials = Suite { port: "bucket", cases }.against([s3()]);
    let own = Backend::<Place>::asked_by(s3_server::COMMAND, "s3", |place| async move { Ok(place) });
    trials.extend(Suite { port: "restart", cases: restart::cases() }.against([own]));
    conformance::run(trials)
}
