//! Keeps the catalogue up to date: which tags there are, which documents have them, and what is left of each text for
//! telling near duplicates. It follows the change log, so that ingesting costs no more for it than it must, and its place
//! is stored with what it writes: after a crash it repeats at most one batch.
//!
//! Tags are embedded on the side, once each. That is enrichment: where the model fails, tags are compared by spelling.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::error::ErrorNote;
use docmill_core::id::DocumentId;
use docmill_core::ports::catalogue::{Entry, TagName, Uncatalogued};
use docmill_core::{Error, ErrorKind, Result, crash};
use futures::StreamExt as _;
use tokio::sync::watch;

use super::stubborn::Stubborn;
use super::{Follower, POLL, Step, follow_with, wake};
use crate::blocking::off_thread;
use crate::service::Inner;

/// Documents of a batch. They are written in one transaction, which others wait for: some tens of milliseconds.
const MAX_DOCUMENTS: usize = 256;
/// While documents come in, a batch waits so long for more: few large ones cost less than many small ones.
const GATHER: Duration = Duration::from_millis(300);
/// Transcripts that are loaded at once.
const SIDE_BY_SIDE: usize = 4;
/// How much longer a byte takes here than where it is only read.
const COST: u64 = 16;
/// Tags that the model gets at once.
const TAGS_AT_ONCE: usize = 64;

/// Follows until it is dropped.
pub(crate) async fn follow(inner: Arc<Inner>) {
    // One of the engines of this process follows; if it ends, the next takes over.
    let _turn = inner.cataloguing.lock().await;
    tokio::join!(follow_with(Arc::clone(&inner), CatalogueFollower::default()), embed_tags(&inner));
}

/// Returns when the catalogue holds everything there is, whoever put it there.
pub(crate) async fn caught_up(inner: &Inner) {
    let mut catalogued = inner.catalogued.subscribe();
    loop {
        catalogued.borrow_and_update();
        match (inner.deps.store.catalogued().await, inner.deps.store.last_change().await) {
            (Ok(upto), Ok(last)) if upto >= last => return,
            (Ok(_), Ok(_)) => {}
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!(error = %error.chain(), "cannot tell whether the catalogue is up to date");
                return;
            }
        }
        if inner.catalogue_error().is_some() {
            // It says itself what is wrong; the next start goes on from there.
            return;
        }
        wake(&mut catalogued, POLL).await;
    }
}

#[derive(Default)]
struct CatalogueFollower {
    stubborn: Stubborn,
}

#[async_trait]
impl Follower for CatalogueFollower {
    const WHAT: &'static str = "the catalogue";

    fn stubborn(&self) -> &Stubborn {
        &self.stubborn
    }

    async fn step(&self, inner: &Inner, changed: &mut watch::Receiver<u64>) -> Result<Step> {
        let store = &inner.deps.store;
        let from = store.catalogued().await?;
        inner.note_catalogued(from);
        let mut new = store.uncatalogued(from, MAX_DOCUMENTS).await?;
        if new.is_empty() {
            return Ok(Step::Idle);
        }
        if new.len() < MAX_DOCUMENTS && wake(changed, super::LOOK).await {
            tokio::time::sleep(GATHER).await;
            new = store.uncatalogued(from, MAX_DOCUMENTS).await?;
        }
        let Some(upto) = new.last().map(|last| last.seq) else { return Ok(Step::Idle) };
        let mut entries = Vec::with_capacity(new.len());
        let mut loading =
            futures::stream::iter(new).map(|new| entry(inner, &self.stubborn, new)).buffered(SIDE_BY_SIDE);
        while let Some(entry) = loading.next().await {
            entries.push(entry?);
        }
        drop(loading);
        crash::point("catalogue.before_apply");
        if !store.catalogue(entries, from, upto).await? {
            tracing::debug!(from, upto, "another process was faster to update the catalogue");
            return Ok(Step::Elsewhere);
        }
        crash::point("catalogue.after_apply");
        inner.note_catalogued(upto);
        Ok(Step::Applied)
    }

    fn note(&self, inner: &Inner, error: Option<ErrorNote>) {
        inner.set_catalogue_error(error);
    }
}

/// What the catalogue is to hold of a document. Only a blob store that cannot be reached is an error: the batch waits then.
async fn entry(inner: &Inner, stubborn: &Stubborn, new: Uncatalogued) -> Result<Entry> {
    let Uncatalogued { tenant_id, document_id, removed, tags, transcription, .. } = new;
    if removed {
        return Ok(Entry { tenant_id, document_id, tags: Vec::new(), sketch: None });
    }
    let limit = inner.deps.settings.limits.max_text_bytes;
    let sketch = match transcription {
        None => None,
        Some(key) => match inner.gathering.load(inner.deps.blobs.as_ref(), &key, limit).await {
            Ok(transcript) => {
                stubborn.was_read(&key);
                let text_bytes: u64 = transcript.pages.iter().map(|page| page.text.len() as u64).sum();
                let understander = Arc::clone(&inner.deps.understander);
                let sketched =
                    off_thread(text_bytes * COST, move || Ok(understander.sketch(&transcript))).await;
                sketched.or_else(|error| not_its_own(error, document_id))?
            }
            Err(error)
                if error.kind() == ErrorKind::Unavailable
                    && !stubborn.is_given_up(&inner.deps, &key).await =>
            {
                return Err(error);
            }
            Err(error) => {
                tracing::error!(
                    %document_id, %key, error = %error.for_log(), "document is not compared with others"
                );
                None
            }
        },
    };
    Ok(Entry { tenant_id, document_id, tags, sketch })
}

/// Nothing for a document whose text docmill cannot deal with; an error that says nothing about it stays one.
fn not_its_own<T>(error: Error, document: DocumentId) -> Result<Option<T>> {
    if error.kind() != ErrorKind::Bug {
        return Err(error);
    }
    tracing::error!(document_id = %document, error = %error.for_log(), "document is not compared with others");
    Ok(None)
}

/// Embeds tags as they come, for as long as there is a model.
async fn embed_tags(inner: &Inner) {
    if inner.deps.embedder.available().is_err() {
        return;
    }
    let mut catalogued = inner.catalogued.subscribe();
    loop {
        catalogued.borrow_and_update();
        match embed_some(inner).await {
            Ok(true) => {}
            Ok(false) => {
                inner.tags_embedded.send_modify(|passes| *passes += 1);
                // Nothing more comes before the catalogue changes.
                if catalogued.changed().await.is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(error = %error.for_log(), "tags are not embedded; they are compared by spelling");
                inner.tags_embedded.send_modify(|passes| *passes += 1);
                tokio::time::sleep(super::PAUSE_MAX).await;
            }
        }
    }
}

/// Embeds the next tags; whether there were any.
async fn embed_some(inner: &Inner) -> Result<bool> {
    let (store, embedder) = (&inner.deps.store, inner.deps.embedder.as_ref());
    let model = embedder.model();
    let tags = store.unembedded_tags(model, TAGS_AT_ONCE).await?;
    let Some(tenant) = tags.first().map(|tag| tag.tenant_id) else { return Ok(false) };
    // A child serves one tenant.
    let tags: Vec<TagName> = tags.into_iter().take_while(|tag| tag.tenant_id == tenant).collect();
    let vectors = match embedder.embed(tenant, tags.iter().map(|tag| tag.name.clone()).collect()).await {
        Ok(vectors) => vectors,
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Unavailable | ErrorKind::ShuttingDown | ErrorKind::DiskFull
            ) =>
        {
            return Err(error);
        }
        Err(error) => {
            // One of them, but which does not matter: they are compared by spelling.
            tracing::warn!(tags = tags.len(), error = %error.for_log(), "the model fails on some tags");
            Vec::new()
        }
    };
    let mut vectors = vectors.into_iter();
    let told = tags.into_iter().map(|tag| (tag, vectors.next().unwrap_or_default())).collect();
    store.embed_tags(model, told).await?;
    Ok(true)
}

/// Returns when no tag is left to embed, when the model fails, or when there is none.
pub(crate) async fn tags_embedded(inner: &Inner) {
    if inner.deps.embedder.available().is_err() {
        return;
    }
    let mut passes = inner.tags_embedded.subscribe();
    passes.borrow_and_update();
    let model = inner.deps.embedder.model();
    match inner.deps.store.unembedded_tags(model, 1).await {
        Ok(left) if !left.is_empty() => {
            // The catalogue holds everything, so that the pass that is under way, or the next, is the last.
            if passes.changed().await.is_err() {
                tracing::debug!("nobody embeds tags any more");
            }
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(error = %error.chain(), "cannot tell whether all tags are embedded"),
    }
}
