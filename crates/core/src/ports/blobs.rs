//! Where bytes lie: local files or an object store.

use std::fs::File;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::mpsc;

use crate::clock::Timestamp;
use crate::error::Result;
use crate::id::BlobKey;

/// Bytes on their way into the store.
pub enum Upload {
    /// All at once.
    Bytes(Bytes),
    /// In pieces, for content that must not be held in memory. An `Err` piece aborts the upload.
    Stream(mpsc::Receiver<Result<Bytes>>),
}

/// Bytes on their way to a reader.
#[derive(Clone, Debug)]
pub enum Content {
    /// In memory.
    Inline(Bytes),
    /// As an open file (a local blob, or a temporary copy of a remote one).
    File(Arc<File>, u64),
}

impl Content {
    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::File(_, len) => *len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a listing tells of a blob.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlobInfo {
    /// Its key.
    pub key: BlobKey,
    /// Its length.
    pub bytes: u64,
    /// When the store last wrote it.
    pub modified_at: Timestamp,
}

/// What became of a put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Put {
    /// The blob is new.
    Created,
    /// A blob of that key was there and stays as it was.
    Existed,
}

/// A store of immutable blobs.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Stores `upload` under `key` unless something is there. When this returns, the blob is durable and
    /// whole; an aborted upload leaves nothing that `get` or `list` shows. Idempotent.
    async fn put_if_absent(&self, key: &BlobKey, upload: Upload) -> Result<Put>;

    /// Moves a finished upload to its place, unless something is there already (then the upload is removed).
    async fn rename_if_absent(&self, from: &BlobKey, to: &BlobKey) -> Result<Put>;

    /// The whole blob; `not_found` if there is none. `inline_up_to` says how many bytes may come in memory;
    /// a larger blob comes as a file.
    async fn open(&self, key: &BlobKey, inline_up_to: u64) -> Result<Content>;

    /// Some bytes of a blob. A range that begins beyond the end is an error, one that ends beyond it is cut.
    async fn get_range(&self, key: &BlobKey, range: std::ops::Range<u64>) -> Result<Bytes>;

    /// What is known of a blob, or `None`.
    async fn info(&self, key: &BlobKey) -> Result<Option<BlobInfo>>;

    /// Removes a blob; no error if there is none.
    async fn delete(&self, key: &BlobKey) -> Result<()>;

    /// Everything whose key starts with the folder `prefix` (for instance `documents`), in pieces, in no
    /// particular order. The stream ends early with an `Err` if the listing fails.
    async fn list(&self, prefix: &str) -> Result<mpsc::Receiver<Result<Vec<BlobInfo>>>>;

    /// Room left where the blobs lie; `None` if the store has no such limit.
    async fn free_bytes(&self) -> Result<Option<u64>>;

    /// Removes what uploads of processes that are gone have left behind, once it is so old that none of them can
    /// still be under way. No listing shows it, so this is its only way out. Tells how many uploads there were.
    async fn remove_leftovers(&self, now: Timestamp) -> Result<u64>;
}
