//! What the command line and the server call. Every answer is one of `docmill_core::answer`, as JSON.
//!
//! `calls` holds one function for each call; `search`, `tags`, `reprocess`, `remove`, `generate`, `keys`, `schemas`, `reviews`,
//! `doctor` and `read` are the longer ones; `sample` makes the page for scrapers. Calls that change something are written to
//! the audit log first.

mod calls;
mod doctor;
mod generate;
mod keys;
mod read;
mod remove;
mod reprocess;
mod reviews;
mod sample;
mod schemas;
mod search;
mod tags;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use docmill_core::access::{Actor, NewAudit};
use docmill_core::answer::{IngestionAnswer, ReadAnswer};
use docmill_core::call::Call;
use docmill_core::clock::Timestamp;
use docmill_core::error::ErrorNote;
use docmill_core::id::{IngestionId, TenantId};
use docmill_core::picture::{Picture, PictureSize};
use docmill_core::ports::blobs::Content;
use docmill_core::ports::store::{DocumentHead, Received};
use docmill_core::words::PageWords;
use docmill_core::{Error, Result};
pub use doctor::{meaning, of_layer, recognition};
use futures::future::BoxFuture;
pub use generate::{Generated, Wanted};
pub use read::{Examined, examine, pictures, read};
use tokio::sync::watch;

use crate::deps::Deps;
use crate::disk::DiskWatch;
use crate::engine::{self, EngineHandle, EngineOptions};
use crate::maintenance::deletions::Deletions;
use crate::pages::Viewer;
use crate::stages::asking::Turns;
pub use crate::stages::asking::addressed::distrusted;
use crate::stages::receive::together::Together;
use crate::stages::receive::{self, Offer};
use crate::transcripts::ReadingRoom;
use sample::Sampler;

/// An original up to here is handed out in memory.
const INLINE: u64 = 1 << 20;

/// docmill as a library. Cloning is cheap.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

/// What the service and its engines share.
pub(crate) struct Inner {
    pub(crate) deps: Deps,
    pub(crate) disk: DiskWatch,
    /// Counts up when leases should be renewed at once, because some may have been taken away.
    pub(crate) renew_now: watch::Sender<u64>,
    /// Up to where the index holds everything, as its follower in this process last saw.
    pub(crate) indexed: watch::Sender<i64>,
    /// Held by whoever keeps the index up to date.
    pub(crate) following: tokio::sync::Mutex<()>,
    follower_error: Mutex<Option<ErrorNote>>,
    /// Up to where the vector index holds everything, as its follower in this process last saw.
    pub(crate) embedded: watch::Sender<i64>,
    /// Held by whoever keeps the vector index up to date.
    pub(crate) embedding: tokio::sync::Mutex<()>,
    embedding_error: Mutex<Option<ErrorNote>>,
    /// Up to where the catalogue holds everything, as its follower in this process last saw.
    pub(crate) catalogued: watch::Sender<i64>,
    /// Held by whoever keeps the catalogue up to date.
    pub(crate) cataloguing: tokio::sync::Mutex<()>,
    catalogue_error: Mutex<Option<ErrorNote>>,
    /// Counts up when no tag is left to embed, or none can be embedded.
    pub(crate) tags_embedded: watch::Sender<u64>,
    /// What kinds and labels mean, embedded once.
    pub(crate) described: tokio::sync::OnceCell<Vec<Vec<f32>>>,
    /// The right to take blobs away.
    pub(crate) deletions: Deletions,
    sampler: Sampler,
    pub(crate) viewer: Viewer,
    /// Who asks the model what.
    pub(crate) turns: Turns,
    /// Where those who ask have transcripts read.
    pub(crate) looking: ReadingRoom,
    /// Where the followers have them read, so that they and those who ask do not wait for each other.
    pub(crate) gathering: ReadingRoom,
    started_at: Timestamp,
}

impl Inner {
    /// What the index follower met last; nothing if all is well.
    pub(crate) fn follower_error(&self) -> Option<ErrorNote> {
        self.follower_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The index holds everything up to here, by whoever's work.
    pub(crate) fn note_indexed(&self, upto: i64) {
        self.indexed.send_if_modified(|before| std::mem::replace(before, upto) != upto);
    }

    /// What the follower of meanings met last; nothing if all is well.
    pub(crate) fn embedding_error(&self) -> Option<ErrorNote> {
        self.embedding_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The vector index holds everything up to here, by whoever's work.
    pub(crate) fn note_embedded(&self, upto: i64) {
        self.embedded.send_if_modified(|before| std::mem::replace(before, upto) != upto);
    }

    /// What the follower of the catalogue met last; nothing if all is well.
    pub(crate) fn catalogue_error(&self) -> Option<ErrorNote> {
        self.catalogue_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The catalogue holds everything up to here, by whoever's work.
    pub(crate) fn note_catalogued(&self, upto: i64) {
        self.catalogued.send_if_modified(|before| std::mem::replace(before, upto) != upto);
    }

    pub(crate) fn set_catalogue_error(&self, error: Option<ErrorNote>) {
        *self.catalogue_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    pub(crate) fn set_embedding_error(&self, error: Option<ErrorNote>) {
        *self.embedding_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    pub(crate) fn set_follower_error(&self, error: Option<ErrorNote>) {
        *self.follower_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}

impl Service {
    /// Over these ports. Does nothing yet.
    pub fn new(deps: Deps) -> Self {
        let inner = Inner {
            started_at: deps.clock.now(),
            viewer: Viewer::new(&deps.settings),
            deps,
            disk: DiskWatch::default(),
            renew_now: watch::channel(0).0,
            indexed: watch::channel(0).0,
            following: tokio::sync::Mutex::new(()),
            follower_error: Mutex::new(None),
            embedded: watch::channel(0).0,
            embedding: tokio::sync::Mutex::new(()),
            embedding_error: Mutex::new(None),
            catalogued: watch::channel(0).0,
            cataloguing: tokio::sync::Mutex::new(()),
            catalogue_error: Mutex::new(None),
            tags_embedded: watch::channel(0).0,
            described: tokio::sync::OnceCell::new(),
            deletions: Deletions::default(),
            sampler: Sampler::default(),
            turns: Turns::default(),
            looking: ReadingRoom::default(),
            gathering: ReadingRoom::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What it works with.
    pub fn deps(&self) -> &Deps {
        &self.inner.deps
    }

    /// The tenant of that name, made if there is none.
    pub async fn tenant(&self, name: &str) -> Result<TenantId> {
        self.inner.deps.store.tenant(name).await
    }

    /// Answers one request of whoever may open the data directory.
    pub async fn call(&self, tenant: TenantId, call: Call) -> Result<serde_json::Value> {
        self.call_as(tenant, &Actor::local(), call).await
    }

    /// Answers one request. What changes something is written to the audit log before it is done: a change without
    /// an entry there cannot be.
    ///
    /// The future is boxed, here and below, so that all that it does is compiled once, in this crate: the compiler
    /// would else repeat it in every unit of those who wait for it, which took a minute of a cold build.
    pub fn call_as<'a>(
        &'a self,
        tenant: TenantId,
        actor: &'a Actor,
        call: Call,
    ) -> BoxFuture<'a, Result<serde_json::Value>> {
        Box::pin(async move {
            if let Some((action, subject)) = call.audited() {
                let entry = NewAudit {
                    actor: actor.clone(),
                    action: action.into(),
                    subject,
                    detail: serde_json::json!({}),
                };
                self.inner.deps.store.audit(tenant, entry).await?;
            }
            calls::answer(&self.inner, tenant, actor, call).await
        })
    }

    /// Begins to take in items that come one after the other. Refused where there is no room.
    pub fn take_in(&self, tenant: TenantId) -> BoxFuture<'_, Result<Together>> {
        Box::pin(Together::begin(Arc::clone(&self.inner), tenant))
    }

    /// Waits until an ingestion has ended, or until the time is up; answers how it stands then.
    pub fn wait_for(
        &self,
        tenant: TenantId,
        ingestion: IngestionId,
        wait: Duration,
    ) -> BoxFuture<'_, Result<IngestionAnswer>> {
        Box::pin(calls::wait_ingestion(&self.inner, tenant, ingestion, wait))
    }

    /// Takes in all offers, or none. When it returns, they are durable.
    pub fn receive(&self, tenant: TenantId, offers: Vec<Offer>) -> BoxFuture<'_, Result<Vec<Received>>> {
        Box::pin(receive::receive(&self.inner.deps, &self.inner.disk, tenant, offers))
    }

    /// What is needed to show a document or hand it out, by its id or one of its ingestions'.
    pub async fn head(&self, tenant: TenantId, id: &str) -> Result<DocumentHead> {
        find_head(&self.inner.deps, tenant, id).await
    }

    /// The original of a document, by its id or one of its ingestions'.
    pub async fn open_original(&self, tenant: TenantId, id: &str) -> Result<(DocumentHead, Content)> {
        let head = find_head(&self.inner.deps, tenant, id).await?;
        let content = self.inner.deps.blobs.open(&head.key, INLINE).await?;
        Ok((head, content))
    }

    /// A page of a document as a picture. The head is that of a document of this tenant.
    pub fn page_picture<'a>(
        &'a self,
        tenant: TenantId,
        head: &'a DocumentHead,
        page: u32,
        size: PictureSize,
    ) -> BoxFuture<'a, Result<Picture>> {
        Box::pin(self.inner.viewer.picture(&self.inner.deps, tenant, head, page, size))
    }

    /// The words of a page of a document, and where they stand.
    pub fn page_words<'a>(
        &'a self,
        tenant: TenantId,
        id: &'a str,
        page: u32,
    ) -> BoxFuture<'a, Result<PageWords>> {
        Box::pin(async move {
            let head = find_head(&self.inner.deps, tenant, id).await?;
            self.inner.viewer.words(&self.inner.deps, tenant, &head, page).await
        })
    }

    /// What docmill reads from some content; nothing is stored.
    pub fn read(
        &self,
        tenant: TenantId,
        path: String,
        content: Content,
    ) -> BoxFuture<'_, Result<ReadAnswer>> {
        let deps = &self.inner.deps;
        Box::pin(read(deps.reader.as_ref(), deps.ocr.as_ref(), &deps.settings, tenant, path, content))
    }

    /// The page that Prometheus scrapes. It tells nothing of a tenant, and is there even if the store is not.
    pub fn metrics(&self) -> BoxFuture<'_, Result<String>> {
        Box::pin(sample::page(&self.inner))
    }

    /// Whether the store answers.
    pub async fn ready(&self) -> Result<()> {
        self.inner.deps.store.last_change().await.map(drop)
    }

    /// Starts an engine on the current runtime. A kind that does not exist is `invalid_request`.
    pub fn start_engine(&self, options: EngineOptions) -> Result<EngineHandle> {
        engine::start(Arc::clone(&self.inner), options)
    }
}

/// The document behind an id, or `not_found`.
async fn find_head(deps: &Deps, tenant: TenantId, id: &str) -> Result<DocumentHead> {
    deps.store.head(tenant, id).await?.ok_or_else(|| no_document(id))
}

fn no_document(id: &str) -> Error {
    Error::not_found(format!("no document or ingestion has the id `{}`", docmill_core::text::shown(id)))
        .with_hint("`docmill list` shows the documents there are")
}
