//! Stands before a store that is reached over a network and tries again what failed on the way.
//!
//! Only whole operations that may be repeated: every one of the port, except an upload whose pieces are gone once
//! they were read. A store sends those in parts, and each part may be repeated by itself.
//!
//! An error does not tell whether the request arrived. A put that finds its key taken after such an error is
//! therefore asked how long the blob is: with the right length it is ours, or somebody's with the same content.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use docmill_core::clock::Timestamp;
use docmill_core::id::BlobKey;
use docmill_core::ports::Blobs;
use docmill_core::ports::blobs::{BlobInfo, Content, Put, Upload};
use docmill_core::{Error, Result};
use tokio::sync::mpsc;

use super::patience::{Missing, Patience};

/// The decorator.
pub struct RetryingBlobs {
    inner: Arc<dyn Blobs>,
    patience: Patience,
}

impl RetryingBlobs {
    /// Before `inner`.
    pub fn new(inner: Arc<dyn Blobs>, patience: Patience) -> Self {
        Self { inner, patience }
    }
}

#[async_trait]
impl Blobs for RetryingBlobs {
    async fn put_if_absent(&self, key: &BlobKey, upload: Upload) -> Result<Put> {
        match upload {
            Upload::Bytes(bytes) => put_bytes(self.inner.as_ref(), &self.patience, key, &bytes).await,
            Upload::Stream(_) => self.inner.put_if_absent(key, upload).await,
        }
    }

    async fn rename_if_absent(&self, from: &BlobKey, to: &BlobKey) -> Result<Put> {
        let rename = |_| self.inner.rename_if_absent(from, to);
        self.patience.run("rename", Missing::IsDoubted, rename).await
    }

    async fn open(&self, key: &BlobKey, inline_up_to: u64) -> Result<Content> {
        let open = |_| self.inner.open(key, inline_up_to);
        self.patience.run("open", Missing::IsDoubted, open).await
    }

    async fn get_range(&self, key: &BlobKey, range: Range<u64>) -> Result<Bytes> {
        let get = |_| self.inner.get_range(key, range.clone());
        self.patience.run("get_range", Missing::IsDoubted, get).await
    }

    async fn info(&self, key: &BlobKey) -> Result<Option<BlobInfo>> {
        self.patience.run("info", Missing::IsAnAnswer, |_| self.inner.info(key)).await
    }

    async fn delete(&self, key: &BlobKey) -> Result<()> {
        self.patience.run("delete", Missing::IsAnAnswer, |_| self.inner.delete(key)).await
    }

    async fn list(&self, prefix: &str) -> Result<mpsc::Receiver<Result<Vec<BlobInfo>>>> {
        self.patience.run("list", Missing::IsAnAnswer, |_| self.inner.list(prefix)).await
    }

    async fn free_bytes(&self) -> Result<Option<u64>> {
        self.patience.run("free_bytes", Missing::IsAnAnswer, |_| self.inner.free_bytes()).await
    }

    async fn remove_leftovers(&self, now: Timestamp) -> Result<u64> {
        self.patience.run("remove_leftovers", Missing::IsAnAnswer, |_| self.inner.remove_leftovers(now)).await
    }
}

/// Puts content that is at hand, as often as it takes.
pub(super) async fn put_bytes(
    blobs: &dyn Blobs,
    patience: &Patience,
    key: &BlobKey,
    bytes: &Bytes,
) -> Result<Put> {
    let put = |tries| async move {
        match blobs.put_if_absent(key, Upload::Bytes(bytes.clone())).await? {
            Put::Existed if tries > 0 => arrived(blobs, key, bytes.len() as u64).await,
            put => Ok(put),
        }
    };
    patience.run("put", Missing::IsAnAnswer, put).await
}

/// Whether an earlier try has arrived although nothing was heard of it. Answers `Existed` and never `Created`: of
/// two who put the same at once, only one may say that it made it.
async fn arrived(blobs: &dyn Blobs, key: &BlobKey, sent: u64) -> Result<Put> {
    match blobs.info(key).await? {
        Some(info) if info.bytes == sent => Ok(Put::Existed),
        Some(info) => {
            Err(Error::unavailable(format!("blob `{key}` has {} bytes, but {sent} were sent", info.bytes)))
        }
        None => Err(Error::unavailable(format!("blob `{key}` is said to be there, but cannot be seen yet"))),
    }
}
