//! What is told of an attempt at a task once it has ended: one count, one log line, one span, always together. No
//! other place tells of the end of an attempt.
//!
//! A line carries ids, so that `docmill why` can be asked, and never what a document says or how a file is called.

use std::time::Duration;

use docmill_core::clock::Timestamp;
use docmill_core::error::ErrorKind;
use docmill_core::ingestion::{IngestionEnd, IngestionStatus};
use docmill_core::metrics::AttemptOutcome;
use docmill_core::ports::spans::{Span, SpanId};
use docmill_core::ports::store::Outcome;
use docmill_core::task::Lease;

use super::Engine;
use crate::stages::no_op;

/// What went wrong, as a log may tell it.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    pub(super) kind: ErrorKind,
    /// Fit for a log; none where the only words there are might quote the document.
    pub(super) words: Option<String>,
}

/// An attempt that has ended.
pub(super) struct Ended<'a> {
    pub(super) outcome: AttemptOutcome,
    pub(super) duration: Duration,
    pub(super) wrong: Option<Wrong>,
    /// The ingestion has ended with it.
    pub(super) end: Option<&'a IngestionEnd>,
}

impl<'a> Ended<'a> {
    /// By a report that the store has accepted.
    pub(super) fn reported(outcome: &'a Outcome, duration: Duration, words: Option<String>) -> Self {
        let (ended, kind, end) = match outcome {
            Outcome::Done(done) => {
                let end = done.end.as_ref();
                let ended = match end.map(|end| end.status) {
                    Some(IngestionStatus::Skipped) => AttemptOutcome::Skipped,
                    Some(IngestionStatus::Failed) => AttemptOutcome::Failed,
                    _ => AttemptOutcome::Completed,
                };
                (ended, end.and_then(|end| end.error.as_ref()).map(|error| error.kind), end)
            }
            Outcome::Retry { error, .. } => (AttemptOutcome::Retried, Some(error.kind), None),
            Outcome::Dead { error, end, .. } => (AttemptOutcome::Dead, Some(error.kind), end.as_ref()),
        };
        Self { outcome: ended, duration, wrong: kind.map(|kind| Wrong { kind, words }), end }
    }

    /// Without a report.
    pub(super) fn unreported(outcome: AttemptOutcome, duration: Duration) -> Self {
        Self { outcome, duration, wrong: None, end: None }
    }
}

/// Tells of it.
pub(super) fn tell(engine: &Engine, lease: &Lease, ended: &Ended<'_>) {
    let deps = &engine.inner.deps;
    let meter = deps.metrics.engine.kind(&lease.kind);
    meter.ended(ended.outcome);
    if !matches!(ended.outcome, AttemptOutcome::Released | AttemptOutcome::Abandoned) {
        meter.took(ended.duration);
    }
    log(engine, lease, ended);
    if let Some(spans) = &deps.spans {
        let now = deps.clock.now();
        spans.ended(task_span(engine, lease, ended, now.minus(ended.duration)));
        if let Some(end) = ended.end {
            spans.ended(ingestion_span(lease, end, now));
        }
    }
}

fn log(engine: &Engine, lease: &Lease, ended: &Ended<'_>) {
    let subject = &lease.subject;
    let wrong = ended.wrong.as_ref();
    macro_rules! line {
        ($level:ident, $message:literal) => {
            tracing::$level!(
                ingestion_id = %subject.ingestion_id,
                document_id = subject.document.as_ref().map(|d| tracing::field::display(d.document_id)),
                worker_id = %engine.worker_id,
                attempt = attempt(lease),
                step = lease.kind.as_str(),
                duration_ms = millis(ended.duration),
                status = ended.outcome.name(),
                batch_id = subject.batch_id.map(tracing::field::display),
                tenant = %subject.tenant_id,
                task_id = lease.task_id.0,
                error_kind = wrong.map(|wrong| wrong.kind.name()),
                error = wrong.and_then(|wrong| wrong.words.as_deref()),
                $message
            )
        };
    }
    match ended.outcome {
        // A benchmark does tens of thousands of these a second.
        AttemptOutcome::Completed if lease.kind == no_op::KIND => line!(debug, "task ended"),
        AttemptOutcome::Completed | AttemptOutcome::Skipped | AttemptOutcome::Failed => {
            line!(info, "task ended");
        }
        AttemptOutcome::Retried => line!(warn, "task will be retried"),
        AttemptOutcome::Dead if wrong.is_some_and(|wrong| wrong.kind == ErrorKind::Bug) => {
            line!(error, "task met a bug");
        }
        AttemptOutcome::Dead => line!(warn, "task failed"),
        AttemptOutcome::Released => line!(info, "task was handed back"),
        AttemptOutcome::Abandoned => line!(info, "task was left to its new owner"),
    }
}

/// Which try it was, from 1.
fn attempt(lease: &Lease) -> u32 {
    lease.attempts.total + 1
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn task_span(engine: &Engine, lease: &Lease, ended: &Ended<'_>, began_at: Timestamp) -> Span {
    let mut attributes = about(lease);
    attributes.push(("docmill.worker_id", engine.worker_id.to_string()));
    attributes.push(("docmill.task_id", lease.task_id.to_string()));
    attributes.push(("docmill.attempt", attempt(lease).to_string()));
    attributes.push(("docmill.status", ended.outcome.name().to_owned()));
    if let Some(waited) = lease.waited {
        attributes.push(("docmill.waited_ms", millis(waited).to_string()));
    }
    Span {
        trace: lease.subject.ingestion_id,
        id: SpanId::of_task(lease.task_id, lease.epoch),
        parent: Some(SpanId::of_ingestion(lease.subject.ingestion_id)),
        name: lease.kind.to_string(),
        began_at,
        duration: ended.duration,
        error: ended.wrong.as_ref().map(|wrong| wrong.kind),
        attributes,
    }
}

/// The whole way of an ingestion. It began when its id was made.
fn ingestion_span(lease: &Lease, end: &IngestionEnd, now: Timestamp) -> Span {
    let id = lease.subject.ingestion_id;
    let mut attributes = about(lease);
    attributes.push(("docmill.status", end.status.name().to_owned()));
    attributes.push(("docmill.result", end.result.name().to_owned()));
    Span {
        trace: id,
        id: SpanId::of_ingestion(id),
        parent: None,
        name: "ingestion".into(),
        began_at: id.made_at(),
        duration: now.since(id.made_at()),
        error: end.error.as_ref().map(|error| error.kind),
        attributes,
    }
}

/// What spans of an ingestion say about it.
fn about(lease: &Lease) -> Vec<(&'static str, String)> {
    let subject = &lease.subject;
    let mut attributes = vec![
        ("docmill.tenant", subject.tenant_id.to_string()),
        ("docmill.ingestion_id", subject.ingestion_id.to_string()),
    ];
    if let Some(document) = &subject.document {
        attributes.push(("docmill.document_id", document.document_id.to_string()));
        attributes.push(("docmill.bytes", document.bytes.to_string()));
    }
    if let Some(batch) = subject.batch_id {
        attributes.push(("docmill.batch_id", batch.to_string()));
    }
    attributes
}
