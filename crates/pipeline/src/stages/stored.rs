//! Content on its way into the blob store, for items from outside and for members of containers alike: hash it,
//! write only what is unknown and only once, and take back what turns out to be there already.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use docmill_core::id::{BlobKey, ContentHash, DocumentId, TenantId};
use docmill_core::ports::blobs::Upload;
use docmill_core::ports::store::StoredContent;
use docmill_core::{Error, Result};
use futures::future::try_join_all;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::deps::Deps;

/// Content up to here is held in memory; more goes to the blob store piece by piece.
pub(crate) const IN_MEMORY: u64 = 1 << 20;

/// Content whose hash is known and whose bytes are at hand.
pub(crate) struct Fresh {
    /// Lends its extension to the key.
    pub(crate) name: String,
    /// SHA-256.
    pub(crate) hash: ContentHash,
    /// Its length.
    pub(crate) bytes: u64,
    /// The bytes.
    pub(crate) body: Body,
}

/// Where the bytes are.
pub(crate) enum Body {
    /// In memory.
    Memory(Bytes),
    /// In the blob store, but not yet in their place.
    Uploaded(BlobKey),
    /// In the blob store already: the tenant has this content.
    There,
}

/// Content in its place.
#[derive(Clone)]
pub(crate) struct Settled {
    /// What to tell the store.
    pub(crate) content: StoredContent,
    /// The blob was written just now, under an id that nobody else knows yet.
    pub(crate) ours: bool,
}

/// Makes all of `fresh` durable and says where each lies. Equal content is written once. The puts run side by
/// side, so that the blob store can sync them together.
pub(crate) async fn settle(deps: &Deps, tenant: TenantId, fresh: Vec<Fresh>) -> Result<Vec<Settled>> {
    let hashes: Vec<ContentHash> = fresh.iter().map(|f| f.hash).collect();
    let known = if hashes.is_empty() { Vec::new() } else { deps.store.known(tenant, &hashes).await? };
    let mut places: HashMap<ContentHash, Settled> = HashMap::new();
    let mut out = Vec::with_capacity(fresh.len());
    let mut writes = Vec::new();
    for (index, item) in fresh.into_iter().enumerate() {
        let there = known.get(index).copied().flatten();
        if let Some(place) = places.get(&item.hash) {
            out.push(place.clone());
            writes.extend(superfluous(deps, item.body));
            continue;
        }
        let document_id = there.unwrap_or_else(|| DocumentId(deps.ids.next()));
        let key = BlobKey::document(document_id, &item.name);
        let content = StoredContent { document_id, hash: item.hash, bytes: item.bytes, key: key.clone() };
        let place = Settled { content, ours: there.is_none() };
        places.insert(item.hash, place.clone());
        out.push(place);
        if there.is_none() && matches!(item.body, Body::There) {
            return Err(Error::unavailable(format!("content {} vanished while it was received", item.hash)));
        }
        writes.extend(if there.is_some() {
            superfluous(deps, item.body)
        } else {
            Some(Write { deps, key, body: item.body, keep: true })
        });
    }
    try_join_all(writes.into_iter().map(Write::run)).await?;
    Ok(out)
}

/// Deletes blobs that were proposed and not taken, because the content was there already under another id or
/// because its item was refused. Nobody can refer to them: their ids were made here, and none was `taken`.
pub(crate) async fn take_back(deps: &Deps, proposed: &[Settled], taken: &[Option<DocumentId>]) {
    let taken: HashSet<DocumentId> = taken.iter().copied().flatten().collect();
    let mut ours: Vec<&StoredContent> = proposed.iter().filter(|p| p.ours).map(|p| &p.content).collect();
    ours.dedup_by_key(|content| content.document_id);
    for content in ours.into_iter().filter(|content| !taken.contains(&content.document_id)) {
        if let Err(error) = deps.blobs.delete(&content.key).await {
            // Pruning finds it a day later.
            tracing::warn!(key = %content.key, error = %error.chain(), "orphaned blob was left behind");
        }
    }
}

fn superfluous(deps: &Deps, body: Body) -> Option<Write<'_>> {
    match body {
        Body::Memory(_) | Body::There => None,
        Body::Uploaded(key) => Some(Write { deps, key: key.clone(), body: Body::Uploaded(key), keep: false }),
    }
}

struct Write<'a> {
    deps: &'a Deps,
    key: BlobKey,
    body: Body,
    keep: bool,
}

impl Write<'_> {
    async fn run(self) -> Result<()> {
        let blobs = self.deps.blobs.as_ref();
        match self.body {
            Body::Memory(bytes) => blobs.put_if_absent(&self.key, Upload::Bytes(bytes)).await.map(drop),
            Body::Uploaded(upload) if self.keep => blobs.rename_if_absent(&upload, &self.key).await.map(drop),
            Body::Uploaded(upload) => blobs.delete(&upload).await,
            Body::There => Ok(()),
        }
    }
}

/// Content that arrives in pieces: in memory while it is small, then under `uploads/`. Dropping it aborts the
/// upload and leaves nothing behind.
pub(crate) struct Incoming<'a> {
    deps: &'a Deps,
    hasher: Sha256,
    bytes: u64,
    head: Vec<u8>,
    memory: Vec<u8>,
    in_memory: u64,
    upload: Option<RunningUpload>,
}

struct RunningUpload {
    key: BlobKey,
    pieces: mpsc::Sender<Result<Bytes>>,
    task: JoinHandle<Result<()>>,
}

/// Pieces under way to the blob store at once.
const PIECES: usize = 4;

/// So many first bytes tell a container from a document.
const HEAD: usize = 512;

impl<'a> Incoming<'a> {
    /// Nothing yet.
    pub(crate) fn new(deps: &'a Deps) -> Self {
        Self::holding(deps, IN_MEMORY)
    }

    /// Nothing yet; at most so many bytes are held in memory.
    pub(crate) fn holding(deps: &'a Deps, in_memory: u64) -> Self {
        let (hasher, head, memory) = (Sha256::new(), Vec::new(), Vec::new());
        Self { deps, hasher, bytes: 0, head, memory, in_memory, upload: None }
    }

    /// Takes the next piece; `limit_exceeded` when it is one too many.
    pub(crate) async fn push(&mut self, name: &str, piece: Bytes) -> Result<()> {
        if self.head.len() < HEAD {
            self.head.extend(piece.iter().take(HEAD - self.head.len()));
        }
        self.bytes += piece.len() as u64;
        self.deps.settings.limits.check_receive(name, self.bytes, &self.head)?;
        self.hasher.update(&piece);
        if self.upload.is_none() {
            self.memory.extend_from_slice(&piece);
            if self.memory.len() as u64 > self.in_memory {
                let upload = self.start_upload();
                let first = std::mem::take(&mut self.memory);
                self.upload = Some(upload);
                return self.forward(Bytes::from(first)).await;
            }
            return Ok(());
        }
        self.forward(piece).await
    }

    /// All pieces are there.
    pub(crate) async fn finish(mut self, name: &str) -> Result<Fresh> {
        let hash = ContentHash(std::mem::take(&mut self.hasher).finalize().into());
        let body = match self.upload.take() {
            None => Body::Memory(Bytes::from(std::mem::take(&mut self.memory))),
            Some(upload) => {
                let key = upload.key.clone();
                upload.end().await?;
                Body::Uploaded(key)
            }
        };
        Ok(Fresh { name: name.to_owned(), hash, bytes: self.bytes, body })
    }

    fn start_upload(&self) -> RunningUpload {
        let key = BlobKey::upload(self.deps.ids.next());
        let (pieces, receiver) = mpsc::channel(PIECES);
        let (blobs, target) = (std::sync::Arc::clone(&self.deps.blobs), key.clone());
        let task =
            tokio::spawn(
                async move { blobs.put_if_absent(&target, Upload::Stream(receiver)).await.map(drop) },
            );
        RunningUpload { key, pieces, task }
    }

    async fn forward(&mut self, piece: Bytes) -> Result<()> {
        let Some(upload) = &self.upload else { return Ok(()) };
        if upload.pieces.send(Ok(piece)).await.is_ok() {
            return Ok(());
        }
        // The blob store stopped listening: its own error says why.
        match self.upload.take() {
            Some(upload) => upload
                .end()
                .await
                .and(Err(Error::unavailable("the blob store ended an upload before its last piece"))),
            None => Ok(()),
        }
    }
}

impl Drop for Incoming<'_> {
    fn drop(&mut self) {
        if let Some(upload) = self.upload.take() {
            // Without this the end of the pieces would look like the end of the content.
            let aborted = Error::cancelled("the upload was given up");
            let pieces = upload.pieces;
            if pieces.try_send(Err(aborted)).is_err() {
                upload.task.abort();
            }
        }
    }
}

impl RunningUpload {
    async fn end(self) -> Result<()> {
        drop(self.pieces);
        self.task.await.map_err(|e| Error::bug("an upload panicked").with_source(e))?
    }
}
