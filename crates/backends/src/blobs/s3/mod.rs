//! Blobs in a bucket of AWS, or of any server that speaks S3.
//!
//! A key is written once: every put says "only where nothing is" (`If-None-Match: *`), and the server decides between
//! two who put at once. Content larger than one request is sent in parts that nobody sees until the last one is there
//! (`upload`). What the server has is compared with what was sent before a put returns (`requests`), and what is read
//! must have the length it was said to have.
//!
//! Durability is the server's: it answers when it has stored. What fails on the way is tried again by `retrying`, and
//! inside operations of many requests by the same [`Patience`].

mod address;
mod download;
mod etag;
mod failure;
mod http;
mod requests;
mod upload;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use docmill_core::clock::Timestamp;
use docmill_core::id::BlobKey;
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{BlobInfo, Content, Put, Upload};
use docmill_core::{Error, ErrorKind, Result};
use object_store::PutPayload;
use tokio::sync::mpsc;

use self::address::Address;
pub use self::http::Timing;
use self::requests::{FURTHEST, Requests, Unfinished};
use self::upload::{PART, PartedUpload, collect};
use super::Surroundings;
use super::patience::{Missing, Patience};
use super::retrying::{RetryingBlobs, put_bytes};

/// No upload takes this long; the server knows only when one began.
const LEFTOVER_AGE: Duration = Duration::from_hours(7 * 24);

/// Opens the store of an `s3:` URL: `s3://bucket`, `s3://bucket/folder`.
pub(super) fn from_url(rest: &str, around: &Surroundings<'_>) -> Result<Arc<dyn Blobs>> {
    let store = S3Blobs::open(rest, around, Timing::default())?;
    let patience = store.patience.clone();
    Ok(Arc::new(RetryingBlobs::new(Arc::new(store), patience)))
}

/// The store.
pub struct S3Blobs {
    requests: Arc<Requests>,
    patience: Patience,
    /// Where large blobs are copied to while they are read.
    folder: PathBuf,
}

impl S3Blobs {
    /// Opens the bucket of `//bucket/prefix`. Talks to nobody yet, and repeats only what cannot be repeated from
    /// outside.
    pub fn open(rest: &str, around: &Surroundings<'_>, timing: Timing) -> Result<Self> {
        let address = Address::new(rest, around.settings)?;
        let requests = Arc::new(Requests::new(address, &around.settings.variables, timing)?);
        let (clock, entropy) = (Arc::clone(&around.clock), Arc::clone(&around.entropy));
        let patience = Patience::new(around.settings.retry_for, clock, entropy);
        Ok(Self { requests, patience, folder: around.data_dir.to_owned() })
    }

    /// How many uploads of docmill's were begun below the prefix and have neither ended nor been aborted.
    pub async fn unfinished(&self) -> Result<usize> {
        self.our_unfinished().await.map(|uploads| uploads.len())
    }

    /// The bucket may hold uploads of others.
    async fn our_unfinished(&self) -> Result<Vec<Unfinished>> {
        let mut uploads = self.requests.unfinished().await?;
        uploads.retain(|upload| {
            let key = upload.key.strip_prefix(&self.requests.address.prefix);
            key.is_some_and(|key| BlobKey::stored(key).made_at().is_some())
        });
        Ok(uploads)
    }

    fn key(&self, key: &BlobKey) -> Result<String> {
        self.requests.address.key(key.as_str())
    }

    async fn begin(&self, key: &str) -> Result<PartedUpload> {
        PartedUpload::begin(&self.requests, &self.patience, key).await
    }

    /// Copies a blob to where nothing is.
    async fn copy(&self, from: &str, to: &str) -> Result<Put> {
        let requests = &self.requests;
        let Some(meta) = requests.head(from).await? else {
            return Err(Error::not_found(format!("there is no blob `{from}` in {}", requests.address)));
        };
        if requests.head(to).await?.is_some() {
            return Ok(Put::Existed);
        }
        if meta.size > PART as u64 {
            return self.begin(to).await?.copy(from, meta.e_tag.as_deref(), meta.size).await;
        }
        let download = requests.get(from).await?;
        let bytes = requests.all(from, download.body, download.bytes).await?;
        requests.put(to, PutPayload::from(bytes)).await
    }
}

#[async_trait]
impl Blobs for S3Blobs {
    async fn put_if_absent(&self, key: &BlobKey, upload: Upload) -> Result<Put> {
        let target = self.key(key)?;
        match upload {
            Upload::Bytes(bytes) if bytes.len() <= PART => {
                self.requests.put(&target, PutPayload::from(bytes)).await
            }
            Upload::Bytes(bytes) => self.begin(&target).await?.bytes(bytes).await,
            Upload::Stream(mut pieces) => {
                let mut rest = Bytes::new();
                let first = collect(&mut pieces, &mut rest, PART).await?;
                if first.content_length() < PART {
                    // All of it is at hand, so it may be put again as a whole.
                    return put_bytes(self, &self.patience, key, &Bytes::from(first)).await;
                }
                self.begin(&target).await?.stream(first, rest, pieces).await
            }
        }
    }

    /// Copies, then deletes. A crash in between leaves both: the copy is whole, and the upload is removed when the
    /// rename is repeated, or pruned. It is never deleted before its copy has been seen with its whole length.
    async fn rename_if_absent(&self, from: &BlobKey, to: &BlobKey) -> Result<Put> {
        let (source, target) = (self.key(from)?, self.key(to)?);
        let put = match self.copy(&source, &target).await {
            // Renamed before, or by somebody else at the same time.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return match self.requests.head(&target).await? {
                    Some(_) => Ok(Put::Existed),
                    None => Err(error),
                };
            }
            put => put?,
        };
        self.requests.delete(&source).await?;
        Ok(put)
    }

    async fn open(&self, key: &BlobKey, inline_up_to: u64) -> Result<Content> {
        let key = self.key(key)?;
        let download = self.requests.get(&key).await?;
        let bytes = download.bytes;
        if bytes <= inline_up_to {
            return self.requests.all(&key, download.body, bytes).await.map(Content::Inline);
        }
        let file = download::to_file(&self.requests, &self.patience, &key, download, &self.folder).await?;
        Ok(Content::File(Arc::new(file), bytes))
    }

    async fn get_range(&self, key: &BlobKey, range: Range<u64>) -> Result<Bytes> {
        let target = self.key(key)?;
        if range.start < range.end && range.end <= FURTHEST {
            return self.requests.get_range(&target, range, None).await;
        }
        // Ranges that HTTP cannot write down.
        let Some(meta) = self.requests.head(&target).await? else {
            return Err(Error::not_found(format!("there is no blob `{key}` in {}", self.requests.address)));
        };
        if range.start >= meta.size || range.start > range.end {
            let Range { start, end } = range;
            return Err(Error::invalid_request(format!(
                "bytes {start}..{end} were asked of blob `{key}`, which has {} bytes",
                meta.size
            )));
        }
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        self.requests.get_range(&target, range.start..meta.size, None).await
    }

    async fn info(&self, key: &BlobKey) -> Result<Option<BlobInfo>> {
        let meta = self.requests.head(&self.key(key)?).await?;
        Ok(meta.and_then(|meta| self.requests.info(&meta)))
    }

    async fn delete(&self, key: &BlobKey) -> Result<()> {
        self.requests.delete(&self.key(key)?).await
    }

    async fn list(&self, prefix: &str) -> Result<mpsc::Receiver<Result<Vec<BlobInfo>>>> {
        let folder = self.requests.address.folder(prefix)?;
        let (requests, patience) = (Arc::clone(&self.requests), self.patience.clone());
        let (send, pieces) = mpsc::channel(2);
        tokio::spawn(async move {
            let mut after = None;
            loop {
                let list = |_| requests.list(&folder, after.clone());
                let page = patience.run("list a page", Missing::IsAnAnswer, list).await;
                let (piece, next) = match page {
                    Ok(page) => (Ok(page.blobs), page.next),
                    Err(error) => (Err(error), None),
                };
                if send.send(piece).await.is_err() || next.is_none() {
                    return;
                }
                after = next;
            }
        });
        Ok(pieces)
    }

    async fn free_bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    async fn remove_leftovers(&self, now: Timestamp) -> Result<u64> {
        let before = now.minus(LEFTOVER_AGE);
        let mut removed = 0;
        for upload in self.our_unfinished().await?.iter().filter(|upload| upload.initiated < before) {
            self.requests.abort(&upload.key, &upload.upload_id).await?;
            removed += 1;
        }
        Ok(removed)
    }
}
