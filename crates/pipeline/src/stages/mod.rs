//! The work of each kind of task, in flow order; a file for each kind.
//!
//! Stages compute. They may write blobs (whose keys hold their hash, so a late writer does no harm) and add
//! members of a container under the task's lease; everything else they return as a value, and only the engine
//! commits it. What follows is asked of `plan`, never decided here.

pub(crate) mod asking;
pub mod classify;
pub mod extract;
pub mod intake;
pub mod no_op;
pub mod payload;
pub(crate) mod reading;
pub mod receive;
mod recognising;
mod stored;
pub mod transcribe;
pub mod unpack;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::artifact::TRANSCRIPTION;
use docmill_core::id::BlobKey;
use docmill_core::ports::store::Done;
use docmill_core::task::{Lease, SubjectDocument, TaskKind};
use docmill_core::{Error, Result};

use crate::deps::Deps;
use crate::disk::DiskWatch;
use crate::plan::{self, Outcome};
use payload::Payload;

/// Does one kind of task.
#[async_trait]
pub trait TaskHandler: Send + Sync {
    /// Which.
    fn kind(&self) -> TaskKind;

    /// Does it. Dropping the future stops the work; nothing that is current has changed then.
    async fn run(&self, cx: &Context<'_>, lease: &Lease) -> Result<Done>;
}

/// Every kind, in flow order.
pub static ALL: &[&dyn TaskHandler] = &[
    &intake::document::IntakeDocument,
    &unpack::document::UnpackDocument,
    &transcribe::text::ExtractText,
    &transcribe::part::ExtractTextPart,
    &transcribe::join::JoinText,
    &classify::document::ClassifyDocument,
    &extract::record::ExtractRecord,
    &no_op::NoOp,
];

/// The handler of a kind.
pub fn handler(kind: &TaskKind) -> Option<&'static dyn TaskHandler> {
    ALL.iter().copied().find(|handler| handler.kind() == *kind)
}

/// What a handler may use.
pub struct Context<'a> {
    pub(crate) deps: &'a Deps,
    pub(crate) disk: &'a DiskWatch,
    pub(crate) progress: &'a Progress,
    pub(crate) turns: &'a asking::Turns,
}

impl Context<'_> {
    /// Says that the work is getting on: a page, a member. Work without progress is cancelled.
    pub(crate) fn progress(&self) {
        self.progress.note(self.deps.clock.monotonic());
    }

    /// The result of a task of which `outcome` is known, with what follows.
    pub(crate) fn done(&self, lease: &Lease, outcome: Outcome, mut done: Done) -> Result<Done> {
        let payload = Payload::parse(lease.payload.as_deref())?;
        let bytes = lease.subject.document.as_ref().map_or(0, |d| d.bytes);
        plan::after(outcome, bytes, &payload, &self.deps.settings.engine).into_done(&mut done);
        Ok(done)
    }
}

/// When the work last got on, as time of the monotonic clock.
#[derive(Default)]
pub(crate) struct Progress(AtomicU64);

impl Progress {
    /// It does now.
    pub(crate) fn note(&self, now: Duration) {
        self.0.store(now.as_millis() as u64, Ordering::Relaxed);
    }

    /// When it last did.
    pub(crate) fn last(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// Longer titles are cut: they are for a line on a screen.
const MAX_TITLE_CHARS: usize = 500;

/// A title as a file gives it, if it says anything.
fn title(given: &str) -> Option<String> {
    let title = given.trim();
    (!title.is_empty()).then(|| title.chars().take(MAX_TITLE_CHARS).collect())
}

/// What a task carries along, for those who decide what follows its failure. A payload that cannot be read says nothing
/// here: the task itself fails with it.
pub(crate) fn payload_of(lease: &Lease) -> Payload {
    Payload::parse(lease.payload.as_deref()).unwrap_or_default()
}

/// Where the text of a task's document lies: that of its own ingestion, otherwise the newest that was read.
pub(crate) async fn transcription(cx: &Context<'_>, lease: &Lease) -> Result<Option<BlobKey>> {
    let own = cx.deps.store.artifacts(lease.subject.ingestion_id, TRANSCRIPTION).await?;
    if let Some(artifact) = own.into_iter().find(|artifact| artifact.name == TRANSCRIPTION) {
        return Ok(Some(artifact.key));
    }
    let id = document(lease)?.document_id.to_string();
    let head = cx.deps.store.head(lease.subject.tenant_id, &id).await?;
    Ok(head.and_then(|head| head.transcription))
}

/// The content that a task is about.
fn document(lease: &Lease) -> Result<&SubjectDocument> {
    lease.subject.document.as_ref().ok_or_else(|| {
        Error::bug(format!(
            "task {} ({}) of ingestion {} has no document",
            lease.task_id, lease.kind, lease.subject.ingestion_id
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name_and_named_once() {
        for handler in ALL {
            assert!(super::handler(&handler.kind()).is_some());
            assert_eq!(ALL.iter().filter(|h| h.kind() == handler.kind()).count(), 1, "{}", handler.kind());
        }
    }
}
