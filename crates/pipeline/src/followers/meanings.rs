//! Keeps the vector index up to date: what each document says, piece by piece, as the model means it.
//!
//! A model is slow, and no document waits for it: documents are ready and found by their words long before. What was
//! embedded once is not embedded again while its text is the same. After a crash the follower repeats at most one batch.
//!
//! A piece on which the model fails is left out; nothing a document holds can stop the follower.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::error::ErrorNote;
use docmill_core::id::{BlobKey, DocumentId, TenantId};
use docmill_core::ports::store::ChangedDocument;
use docmill_core::ports::understander::Piece;
use docmill_core::ports::vector_index::{EmbeddedDocument, Passage, VectorChange};
use docmill_core::understanding::Judgement;
use docmill_core::{Error, ErrorKind, Result};
use futures::StreamExt as _;
use tokio::sync::watch;
use tokio::time::Instant;

use super::stubborn::Stubborn;
use super::{Follower, POLL, Step, follow_with, wake};
use crate::blocking::blocking;
use crate::service::Inner;
use crate::transcripts::Lent;

/// A batch is applied when it holds so many documents…
const MAX_DOCUMENTS: usize = 256;
/// …or so many pieces of them…
const MAX_PIECES: usize = 512;
/// …or when it is so old.
const MAX_AGE: Duration = Duration::from_secs(10);
/// Of a longer document only the first pieces are embedded: about 250 pages.
const MAX_PIECES_PER_DOCUMENT: usize = 1_024;
/// Pieces that a child gets at once.
const PIECES_AT_ONCE: usize = 32;
/// Pieces by which it is told what a document is about.
const MAX_JUDGED: usize = 16;
/// Documents that are worked on side by side.
const SIDE_BY_SIDE: usize = 4;

/// Follows until it is dropped; without a model there is nothing to follow with.
pub(crate) async fn follow(inner: Arc<Inner>) {
    if inner.deps.embedder.available().is_err() {
        return;
    }
    // One of the engines of this process follows; if it ends, the next takes over.
    let _turn = inner.embedding.lock().await;
    follow_with(Arc::clone(&inner), MeaningFollower::default()).await;
}

/// Returns when the index holds everything there is, whoever put it there, or when there is no model.
pub(crate) async fn caught_up(inner: &Inner) {
    if inner.deps.embedder.available().is_err() {
        return;
    }
    let mut embedded = inner.embedded.subscribe();
    loop {
        embedded.borrow_and_update();
        let model = inner.deps.embedder.model();
        match (inner.deps.vectors.watermark(model).await, inner.deps.store.last_change().await) {
            (Ok(watermark), Ok(last)) if watermark >= last => return,
            (Ok(_), Ok(_)) => {}
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!(error = %error.chain(), "cannot tell whether the vector index is up to date");
                return;
            }
        }
        if inner.embedding_error().is_some() {
            // It says itself what is wrong; the next start goes on from the watermark.
            return;
        }
        wake(&mut embedded, POLL).await;
    }
}

#[derive(Default)]
struct MeaningFollower {
    stubborn: Stubborn,
}

#[async_trait]
impl Follower for MeaningFollower {
    const WHAT: &'static str = "the vector index";

    fn stubborn(&self) -> &Stubborn {
        &self.stubborn
    }

    async fn step(&self, inner: &Inner, _: &mut watch::Receiver<u64>) -> Result<Step> {
        let (deps, model) = (&inner.deps, inner.deps.embedder.model());
        let from = deps.vectors.watermark(model).await?;
        inner.note_embedded(from);
        let new = deps.store.changes(from, MAX_DOCUMENTS).await?;
        if new.is_empty() {
            return Ok(Step::Idle);
        }
        if deps.vectors.turn(model).await? != Some(from) {
            return Ok(Step::Elsewhere);
        }
        let began = Instant::now();
        let (mut batch, mut judged, mut pieces, mut upto) = (Vec::new(), Vec::new(), 0, from);
        let mut embedding = futures::stream::iter(new)
            .map(|change| async { (change.seq, embedded(inner, &self.stubborn, change).await) })
            .buffered(SIDE_BY_SIDE);
        while let Some((seq, change)) = embedding.next().await {
            let (change, judgement) = change?;
            if let VectorChange::Put(document) = &change {
                pieces += document.passages.as_ref().map_or(0, Vec::len);
            }
            judged.extend(judgement);
            batch.push(change);
            upto = seq;
            if pieces >= MAX_PIECES || began.elapsed() >= MAX_AGE {
                break;
            }
        }
        drop(embedding);
        // Before the index moves on: whoever repeats the batch says the same again.
        if !judged.is_empty() {
            deps.store.judge(judged).await?;
        }
        if !deps.vectors.apply(model, batch, from, upto).await? {
            tracing::debug!(from, upto, "another process was faster to update the vector index");
            return Ok(Step::Elsewhere);
        }
        inner.note_embedded(upto);
        Ok(Step::Applied)
    }

    fn note(&self, inner: &Inner, error: Option<ErrorNote>) {
        inner.set_embedding_error(error);
    }
}

/// What is to be kept of what a document's meaning says, if that is other than before.
type Judged = Option<(TenantId, DocumentId, Option<Judgement>)>;

/// A change as the index wants it, and what the meaning of the document says of it.
async fn embedded(
    inner: &Inner,
    stubborn: &Stubborn,
    change: ChangedDocument,
) -> Result<(VectorChange, Judged)> {
    let ChangedDocument {
        tenant_id, document_id, removed, name, media_type, particulars, transcription, ..
    } = change;
    let Some(key) = transcription.filter(|_| !removed) else {
        return Ok((VectorChange::Remove(tenant_id, document_id), Some((tenant_id, document_id, None))));
    };
    let model = inner.deps.embedder.model();
    let known = inner.deps.vectors.sources(model, tenant_id, &[document_id]).await?;
    let source = key.as_str().to_owned();
    let (passages, judged) = if known.first().is_some_and(|known| known.as_ref() == Some(&source)) {
        (None, None)
    } else {
        let (passages, judgement) = passages(inner, stubborn, tenant_id, &key).await?;
        (Some(passages), Some((tenant_id, document_id, judgement)))
    };
    let document =
        EmbeddedDocument { tenant_id, document_id, name, media_type, particulars, source, passages };
    Ok((VectorChange::Put(document), judged))
}

/// The pieces of a document with their meanings, and what those say. Only what may pass by itself is an error: the batch
/// waits then.
async fn passages(
    inner: &Inner,
    stubborn: &Stubborn,
    tenant: TenantId,
    key: &BlobKey,
) -> Result<(Vec<Passage>, Option<Judgement>)> {
    let limit = inner.deps.settings.limits.max_text_bytes;
    let transcript = match inner.gathering.load(inner.deps.blobs.as_ref(), key, limit).await {
        Ok(transcript) => {
            stubborn.was_read(key);
            Arc::new(transcript)
        }
        Err(error) if passes(&error) && !stubborn.is_given_up(&inner.deps, key).await => return Err(error),
        Err(error) => {
            tracing::error!(%key, error = %error.for_log(), "a document is not embedded: its text cannot be read");
            return Ok((Vec::new(), None));
        }
    };
    let (understander, whole) = (Arc::clone(&inner.deps.understander), Arc::clone(&transcript));
    let pieces = match blocking(move || Ok(understander.pieces(&whole, MAX_PIECES_PER_DOCUMENT))).await {
        Ok(pieces) => pieces,
        Err(error) if error.kind() == ErrorKind::Bug => {
            tracing::error!(%key, error = %error.for_log(), "a document is not embedded: its text cannot be cut");
            return Ok((Vec::new(), None));
        }
        Err(error) => return Err(error),
    };
    let mut passages = Vec::with_capacity(pieces.len());
    for some in pieces.chunks(PIECES_AT_ONCE) {
        passages.extend(meanings(inner, tenant, some).await?);
    }
    let judgement = judgement(inner, tenant, transcript, &passages).await?;
    Ok((passages, judgement))
}

/// What the first pieces of a document say of it. An error that is not about to pass is no reason to stop: the document
/// stays without it.
async fn judgement(
    inner: &Inner,
    tenant: TenantId,
    transcript: Arc<Lent>,
    passages: &[Passage],
) -> Result<Option<Judgement>> {
    let first: Vec<Vec<f32>> = passages.iter().take(MAX_JUDGED).map(|p| p.vector.clone()).collect();
    let described = match described(inner, tenant).await {
        Ok(described) => described.clone(),
        Err(error) if passes(&error) => return Err(error),
        Err(error) => {
            tracing::warn!(error = %error.for_log(), "what kinds and labels mean cannot be embedded");
            return Ok(None);
        }
    };
    let understander = Arc::clone(&inner.deps.understander);
    let judged = blocking(move || understander.judge(&transcript, &described, &first)).await;
    judged.or_else(|error| {
        tracing::warn!(error = %error.for_log(), "the meaning of a document says nothing of it");
        Ok(None)
    })
}

/// What kinds and labels mean, embedded once and not for each document.
async fn described(inner: &Inner, tenant: TenantId) -> Result<&Vec<Vec<f32>>> {
    inner
        .described
        .get_or_try_init(|| async {
            let mut vectors = Vec::new();
            for some in inner.deps.understander.descriptions().chunks(PIECES_AT_ONCE) {
                vectors.extend(inner.deps.embedder.embed(tenant, some.to_vec()).await?);
            }
            Ok(vectors)
        })
        .await
}

/// The meanings of some pieces; where the model fails on them together, each is tried alone.
async fn meanings(inner: &Inner, tenant: TenantId, pieces: &[Piece]) -> Result<Vec<Passage>> {
    let embedder = inner.deps.embedder.as_ref();
    let texts = |pieces: &[Piece]| pieces.iter().map(|piece| piece.text.clone()).collect();
    match embedder.embed(tenant, texts(pieces)).await {
        Ok(vectors) => Ok(pieces.iter().zip(vectors).map(|(piece, vector)| passage(piece, vector)).collect()),
        Err(error) if passes(&error) => Err(error),
        Err(_) => {
            let mut passages = Vec::new();
            for piece in pieces {
                match embedder.embed(tenant, vec![piece.text.clone()]).await {
                    Ok(vectors) => {
                        passages.extend(vectors.into_iter().next().map(|vector| passage(piece, vector)));
                    }
                    Err(error) if passes(&error) => return Err(error),
                    Err(error) => {
                        tracing::warn!(page = piece.page, error = %error.for_log(), "a piece of a document is not embedded");
                    }
                }
            }
            Ok(passages)
        }
    }
}

fn passage(piece: &Piece, vector: Vec<f32>) -> Passage {
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Passage { page: piece.page, start: place(piece.start), end: place(piece.end), vector }
}

/// Whether an error says nothing about the document.
fn passes(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::ShuttingDown | ErrorKind::DiskFull)
}
