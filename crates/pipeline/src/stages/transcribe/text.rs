//! `extract-text`: the text of a document. What was read before, under the same fingerprint, is taken over; a
//! long PDF is handed on in parts.

use async_trait::async_trait;
use docmill_core::artifact::TRANSCRIPTION;
use docmill_core::disposition::{Disposition, decide};
use docmill_core::ingestion::Facts;
use docmill_core::ports::store::{Done, StepRecord};
use docmill_core::problem::ResultCode;
use docmill_core::task::{Lease, TaskKind};
use docmill_core::wire::{Kind, Want};
use docmill_core::{Error, Result, crash};

use super::understood::understood;
use super::{Collector, OcrNote, facts, fingerprint, has_members, transcribed, unpack_next, verdict};
use crate::plan::{Outcome, is_limit};
use crate::stages::intake::document::{route, sniffed};
use crate::stages::payload::Payload;
use crate::stages::{Context, TaskHandler, document, reading};
use crate::transcripts;

/// The kind.
pub const KIND: TaskKind = TaskKind::named("extract-text");

/// Only readers of this type can be asked for a range of pages.
const IN_PARTS: &str = "application/pdf";

/// The handler.
pub struct ExtractText;

#[async_trait]
impl TaskHandler for ExtractText {
    fn kind(&self) -> TaskKind {
        KIND
    }

    async fn run(&self, cx: &Context<'_>, lease: &Lease) -> Result<Done> {
        let fingerprint = fingerprint(&document(lease)?.content_hash, cx.deps);
        let forced = Payload::parse(lease.payload.as_deref())?.force;
        // Only content that was there before can have been read before.
        if lease.subject.duplicate && !forced {
            let found = cx.deps.store.find_step(lease.subject.tenant_id, &KIND, &fingerprint).await?;
            if let Some(record) = found {
                return take_over(cx, lease, record);
            }
        }

        let want = Want { listing: true, ..Want::TEXT };
        let mut readings = reading::open(cx, lease, want).await?;
        let kind = sniffed(&mut readings).await?;
        if kind.format.is_none() || kind.container {
            return elsewhere(cx, lease, kind);
        }
        let note = OcrNote::of(&cx.deps.settings, cx.deps.ocr.as_ref());
        let mut collector = Collector::new(kind, &cx.deps.settings.limits, note);
        let parts_from = cx.deps.settings.engine.pages_per_part;
        let ended = loop {
            match readings.next().await {
                Ok(Some(found)) => {
                    cx.progress();
                    if let Err(error) = collector.add(found) {
                        break Err(error);
                    }
                    if let Some(pages) = collector.page_count()
                        && pages > parts_from
                        && collector.media_type() == IN_PARTS
                    {
                        drop(readings);
                        return in_parts(cx, lease, pages);
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(readings);
        crash::point("transcribe.after_read");
        finish(cx, lease, collector, ended, fingerprint).await
    }
}

/// Stores what was read and says how it went. An error that more tries cannot cure leaves what there is.
async fn finish(
    cx: &Context<'_>,
    lease: &Lease,
    mut collector: Collector<'_>,
    ended: Result<()>,
    fingerprint: docmill_core::id::ContentHash,
) -> Result<Done> {
    let stopped_by = match ended {
        Ok(()) => None,
        Err(error) if is_final(cx, lease, &error, collector.has_pages()) => {
            collector.ended_by(&error);
            Some(error.kind())
        }
        Err(error) => return Err(error),
    };
    let transcript = collector.finish();
    let members = has_members(&transcript);
    let result = stopped_by.map_or_else(|| verdict(&transcript), ResultCode::of);
    let (artifact, transcript) =
        transcripts::save(cx.deps.blobs.as_ref(), lease.subject.ingestion_id, TRANSCRIPTION, transcript)
            .await?;
    cx.progress();
    let (transcript, understood) = understood(cx, lease, transcript).await?;
    let facts = Facts { transcription: Some(artifact.key.clone()), ..facts(&transcript, understood) };
    let mut problems = transcript.problems;
    let record = StepRecord {
        step: KIND,
        fingerprint,
        degraded: result != ResultCode::Success,
        reused: false,
        facts: facts.clone(),
        artifacts: vec![artifact.clone()],
        problems: problems.clone(),
        members,
    };
    let done = Done { record: Some(record), artifacts: vec![artifact], facts, ..Done::default() };
    let members = unpack_next(cx, lease, members, &mut problems);
    let outcome = transcribed(cx, result, problems, members, &done.facts);
    cx.done(lease, outcome, done)
}

/// Whether an error is to be lived with: the table says so, or a limit stopped the reading of something of
/// which there are pages already.
pub(super) fn is_final(cx: &Context<'_>, lease: &Lease, error: &Error, has_pages: bool) -> bool {
    let failing_for = lease.failing_for(cx.deps.clock.now());
    match decide(error.kind(), lease.attempts, lease.size, failing_for) {
        Disposition::Degrade => true,
        Disposition::Fail => is_limit(error.kind()) && has_pages,
        Disposition::Skip
        | Disposition::Retry { .. }
        | Disposition::Escalate
        | Disposition::Abandon
        | Disposition::Release => false,
    }
}

/// Takes over what an earlier ingestion of the same content has made. Its blobs are shared, not copied.
fn take_over(cx: &Context<'_>, lease: &Lease, record: StepRecord) -> Result<Done> {
    let mut problems = record.problems.clone();
    let members = unpack_next(cx, lease, record.members, &mut problems);
    let done = Done {
        artifacts: record.artifacts.clone(),
        facts: record.facts.clone(),
        record: Some(StepRecord { reused: true, ..record }),
        ..Done::default()
    };
    let outcome = transcribed(cx, ResultCode::Success, problems, members, &done.facts);
    cx.done(lease, outcome, done)
}

/// Begun here by a person (`--from`), although it belongs elsewhere.
fn elsewhere(cx: &Context<'_>, lease: &Lease, kind: Kind) -> Result<Done> {
    let outcome = route(cx, lease, &kind);
    let facts = Facts { media_type: Some(kind.media_type), ..Facts::default() };
    cx.done(lease, outcome, Done { facts, ..Done::default() })
}

/// So many pages that they are read side by side; those beyond the limit are left out, and the join says so.
fn in_parts(cx: &Context<'_>, lease: &Lease, of: u32) -> Result<Done> {
    let pages = of.min(cx.deps.settings.limits.max_pages);
    cx.done(lease, Outcome::Long { pages, of }, Done::default())
}
