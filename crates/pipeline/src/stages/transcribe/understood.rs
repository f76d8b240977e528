//! What a document that was read is and says. It comes with the text and costs no task of its own: it is computing on
//! what is at hand. It never stands in the way of the text: what cannot be understood is unclassified.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use docmill_core::artifact::Transcript;
use docmill_core::ports::understander::Understood;
use docmill_core::task::Lease;
use docmill_core::{Error, Result};

use crate::blocking::off_thread;
use crate::stages::Context;

/// How many bytes of text cost as much here as one that is only parsed.
const DEAR: u64 = 32;

/// What the transcript says, and the transcript again; nothing of a document without a word.
pub(crate) async fn understood(
    cx: &Context<'_>,
    lease: &Lease,
    transcript: Transcript,
) -> Result<(Transcript, Option<Understood>)> {
    let (understander, now) = (Arc::clone(&cx.deps.understander), cx.deps.clock.now());
    let name = lease.subject.name.clone();
    let bytes: u64 = transcript.pages.iter().map(|page| page.text.len() as u64).sum();
    let (transcript, found) = off_thread(bytes.saturating_mul(DEAR), move || {
        let found = catch_unwind(AssertUnwindSafe(|| understander.understand(&transcript, &name, now)))
            .unwrap_or_else(|_| Err(Error::bug("understanding a document panicked")));
        Ok((transcript, found))
    })
    .await?;
    let found = found.unwrap_or_else(|error| {
        let ingestion_id = lease.subject.ingestion_id;
        tracing::warn!(%ingestion_id, error = error.for_log(), "a document was read, but not understood");
        Some(Understood::default())
    });
    Ok((transcript, found))
}
