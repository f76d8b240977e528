//! Keeps the text index up to date. The position is stored inside the index, in the same step as the documents:
//! after a crash the follower repeats at most one batch, and repeating it changes nothing.
//!
//! Several processes may share an index. They take turns, so that each change is loaded once; one that is outrun all
//! the same (its turn has ended before it did) drops its batch and looks again. None of that is an error.
//!
//! A document whose text cannot be read is indexed without it. Nothing a document holds can stop the follower.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::artifact::Transcript;
use docmill_core::error::ErrorNote;
use docmill_core::ports::store::ChangedDocument;
use docmill_core::ports::text_index::{IndexChange, IndexedDocument};
use docmill_core::{ErrorKind, Result, crash};
use futures::StreamExt as _;
use tokio::sync::watch;
use tokio::time::Instant;

use super::stubborn::Stubborn;
use super::{Follower, POLL, Step, follow_with, wake};
use crate::service::Inner;
use crate::transcripts::{self, Opened};

/// A batch is applied when it is so old…
const MAX_AGE: Duration = Duration::from_millis(500);
/// …or holds so many documents…
const MAX_DOCUMENTS: usize = 1_000;
/// …or so much text…
const MAX_TEXT_BYTES: usize = 32 << 20;
/// …or when nothing new has come for so long.
const LULL: Duration = Duration::from_millis(25);
/// Transcripts that are looked for at once.
const SIDE_BY_SIDE: usize = 8;

/// Follows until it is dropped.
pub(crate) async fn follow(inner: Arc<Inner>) {
    // One of the engines of this process follows; if it ends, the next takes over.
    let _turn = inner.following.lock().await;
    follow_with(Arc::clone(&inner), TextFollower::default()).await;
}

#[derive(Default)]
struct TextFollower {
    stubborn: Stubborn,
}

#[async_trait]
impl Follower for TextFollower {
    const WHAT: &'static str = "the text index";

    fn stubborn(&self) -> &Stubborn {
        &self.stubborn
    }

    async fn step(&self, inner: &Inner, changed: &mut watch::Receiver<u64>) -> Result<Step> {
        step(inner, &self.stubborn, changed).await
    }

    fn note(&self, inner: &Inner, error: Option<ErrorNote>) {
        inner.set_follower_error(error);
    }
}

/// Returns when the index holds everything there is, whoever put it there.
pub(crate) async fn caught_up(inner: &Inner) {
    let mut indexed = inner.indexed.subscribe();
    loop {
        indexed.borrow_and_update();
        match (inner.deps.index.watermark().await, inner.deps.store.last_change().await) {
            (Ok(watermark), Ok(last)) if watermark >= last => return,
            (Ok(_), Ok(_)) => {}
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!(error = %error.chain(), "cannot tell whether the index is up to date");
                return;
            }
        }
        if inner.follower_error().is_some() {
            // It says itself what is wrong; the next start goes on from the watermark.
            return;
        }
        wake(&mut indexed, POLL).await;
    }
}

/// Gathers one batch and applies it.
async fn step(inner: &Inner, stubborn: &Stubborn, changed: &mut watch::Receiver<u64>) -> Result<Step> {
    let deps = &inner.deps;
    let from = deps.index.watermark().await?;
    inner.note_indexed(from);
    crash::point("index.before_read");
    if deps.store.changes(from, 1).await?.is_empty() {
        return Ok(Step::Idle);
    }
    if deps.index.turn().await? != Some(from) {
        return Ok(Step::Elsewhere);
    }
    let began = Instant::now();
    let (mut batch, mut text_bytes, mut upto) = (Vec::new(), 0, from);
    loop {
        let new = deps.store.changes(upto, MAX_DOCUMENTS - batch.len()).await?;
        if new.is_empty() && batch.is_empty() {
            return Ok(Step::Idle);
        }
        // Found side by side, read one after the other: eight long texts would not fit.
        let mut loading = std::pin::pin!(
            futures::stream::iter(new)
                .map(|change| async { (find(inner, &change).await, change) })
                .buffered(SIDE_BY_SIDE)
                .then(|(found, change)| async { (change.seq, read(inner, stubborn, change, found).await) })
        );
        // Long texts fill a batch before its documents do; those that are left come with the next.
        while text_bytes < MAX_TEXT_BYTES
            && let Some((seq, change)) = loading.next().await
        {
            let change = change?;
            if let IndexChange::Put(document) = &change {
                text_bytes += document.text.len();
            }
            batch.push(change);
            upto = seq;
        }
        if batch.len() >= MAX_DOCUMENTS || text_bytes >= MAX_TEXT_BYTES || began.elapsed() >= MAX_AGE {
            break;
        }
        if !wake(changed, LULL).await {
            break;
        }
    }
    crash::point("index.before_apply");
    if !deps.index.apply(batch, from, upto).await? {
        tracing::debug!(from, upto, "another process was faster to update the text index");
        return Ok(Step::Elsewhere);
    }
    crash::point("index.after_apply");
    inner.note_indexed(upto);
    Ok(Step::Applied)
}

/// Where the text of a document is, if it has any.
async fn find(inner: &Inner, change: &ChangedDocument) -> Result<Option<Opened>> {
    match &change.transcription {
        Some(key) if !change.removed => {
            let limit = inner.deps.settings.limits.max_text_bytes;
            transcripts::open(inner.deps.blobs.as_ref(), key, limit).await.map(Some)
        }
        _ => Ok(None),
    }
}

/// A change as the index wants it. Only a blob store that cannot be reached is an error: the batch waits then.
async fn read(
    inner: &Inner,
    stubborn: &Stubborn,
    change: ChangedDocument,
    found: Result<Option<Opened>>,
) -> Result<IndexChange> {
    if change.removed {
        return Ok(IndexChange::Remove(change.tenant_id, change.document_id));
    }
    let transcript = match found {
        Ok(Some(opened)) => opened.read::<Transcript>().await.map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    let text = match &change.transcription {
        None => String::new(),
        Some(key) => match transcript {
            Ok(transcript) => {
                stubborn.was_read(key);
                transcript.map_or_else(String::new, |transcript| transcript.text())
            }
            Err(error)
                if error.kind() == ErrorKind::Unavailable
                    && !stubborn.is_given_up(&inner.deps, key).await =>
            {
                return Err(error);
            }
            Err(error) => {
                tracing::error!(
                    document_id = %change.document_id, %key, error = %error.for_log(),
                    "document is indexed without its text"
                );
                String::new()
            }
        },
    };
    Ok(IndexChange::Put(IndexedDocument {
        tenant_id: change.tenant_id,
        document_id: change.document_id,
        name: change.name,
        title: change.title,
        media_type: change.media_type,
        particulars: change.particulars,
        text,
    }))
}
