//! Several items that come one after the other over a slow line and are taken in together: the content of each is made
//! durable as it comes, and what is to be known of them may come last.
//!
//! What is dropped before its commit leaves nothing behind but uploads on their way to being deleted.

use std::sync::Arc;

use bytes::Bytes;
use docmill_core::access::Once;
use docmill_core::id::{BatchId, BlobKey, ContentHash, TenantId};
use docmill_core::ingestion::Origin;
use docmill_core::limits::KIB;
use docmill_core::ports::Blobs;
use docmill_core::ports::store::{Accepted, Terms};
use docmill_core::{Error, Result, crash};
use futures::{Stream, StreamExt as _};
use sha2::{Digest as _, Sha256};

use super::{Head, register};
use crate::service::Inner;
use crate::stages::stored::{Body, Fresh, Incoming};

/// An item up to here waits in memory: hundreds of senders at once are no danger then, and most documents still need no
/// second name in the blob store.
const IN_MEMORY: u64 = 256 * KIB;

/// All items of one request may hold so much memory together.
const IN_MEMORY_TOGETHER: u64 = 4096 * KIB;

/// Items on their way in.
pub struct Together {
    inner: Arc<Inner>,
    tenant: TenantId,
    taken: Vec<Fresh>,
    in_memory: u64,
}

/// What holds for all items of one request.
pub struct Common {
    /// Of which import.
    pub batch_id: Option<BatchId>,
    /// Who brings them.
    pub origin: Origin,
    /// Free.
    pub source_metadata: serde_json::Value,
    /// Lower first.
    pub priority: u8,
    /// The key under which the same request is done once.
    pub idempotency_key: Option<String>,
}

impl Together {
    /// Nothing yet. Refused where there is no room.
    pub(crate) async fn begin(inner: Arc<Inner>, tenant: TenantId) -> Result<Self> {
        inner.disk.check(&inner.deps).await?;
        Ok(Self { inner, tenant, taken: Vec::new(), in_memory: 0 })
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Takes the next item to its end. `name` is where it lay, as its sender says; the last part is its file name.
    pub async fn take(&mut self, name: &str, pieces: impl Stream<Item = Result<Bytes>> + Send) -> Result<()> {
        crash::point("receive.before_blob");
        let room = IN_MEMORY.min(IN_MEMORY_TOGETHER.saturating_sub(self.in_memory));
        let mut incoming = Incoming::holding(&self.inner.deps, room);
        let mut pieces = std::pin::pin!(pieces);
        while let Some(piece) = pieces.next().await {
            incoming.push(name, piece?).await?;
        }
        let fresh = incoming.finish(name).await?;
        if let Body::Memory(bytes) = &fresh.body {
            self.in_memory += bytes.len() as u64;
        }
        self.taken.push(fresh);
        Ok(())
    }

    /// Stores all items, or none. When it returns, they are durable.
    pub async fn commit(
        mut self,
        common: Common,
        audit: Option<docmill_core::access::NewAudit>,
    ) -> Result<Accepted> {
        if self.taken.is_empty() {
            return Err(Error::invalid_request("there is nothing to take in"));
        }
        let once = common
            .idempotency_key
            .clone()
            .map(|key| Once { key, fingerprint: fingerprint(&common, &self.taken) });
        let prepared = std::mem::take(&mut self.taken)
            .into_iter()
            .map(|mut fresh| {
                let path = std::mem::take(&mut fresh.name);
                file_name(&path).clone_into(&mut fresh.name);
                let head = Head {
                    batch_id: common.batch_id,
                    origin: common.origin.clone(),
                    path_bytes: path.clone().into_bytes(),
                    path,
                    name: fresh.name.clone(),
                    source_metadata: common.source_metadata.clone(),
                    priority: common.priority,
                };
                (head, Ok(fresh))
            })
            .collect();
        register(&self.inner.deps, self.tenant, prepared, Terms { once, audit, unsealed: true }).await
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        let left: Vec<BlobKey> = self
            .taken
            .drain(..)
            .filter_map(|fresh| match fresh.body {
                Body::Uploaded(key) => Some(key),
                Body::Memory(_) | Body::There => None,
            })
            .collect();
        // Where no runtime is left to do it, pruning finds them a day later.
        if let (false, Ok(runtime)) = (left.is_empty(), tokio::runtime::Handle::try_current()) {
            let blobs = Arc::clone(&self.inner.deps.blobs);
            drop(runtime.spawn(async move { delete(blobs.as_ref(), &left).await }));
        }
    }
}

async fn delete(blobs: &dyn Blobs, keys: &[BlobKey]) {
    for key in keys {
        if let Err(error) = blobs.delete(key).await {
            tracing::warn!(%key, error = %error.chain(), "upload was left behind");
        }
    }
}

/// The part after the last separator of any system.
fn file_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if name.is_empty() { path } else { name }
}

/// Of everything that a request asks for. Each part is hashed by itself, so that no two requests give the same bytes.
fn fingerprint(common: &Common, items: &[Fresh]) -> ContentHash {
    let mut hasher = Sha256::new();
    let mut part = |bytes: &[u8]| hasher.update(ContentHash::of(bytes).0);
    part(b"docmill request v1");
    part(common.batch_id.as_ref().map_or(&[], |id| id.as_bytes().as_slice()));
    part(common.source_metadata.to_string().as_bytes());
    part(&[common.priority]);
    for item in items {
        part(item.name.as_bytes());
        part(&item.hash.0);
    }
    ContentHash(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn file_name_is_the_last_part_of_a_path_of_any_system() {
        for (path, name) in
            [("a.pdf", "a.pdf"), ("x/y/a.pdf", "a.pdf"), (r"C:\x\a.pdf", "a.pdf"), ("x/", "x/"), ("", "")]
        {
            assert_eq!(file_name(path), name);
        }
    }
}
