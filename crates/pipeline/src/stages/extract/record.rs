//! `extract-record`: the fields of a document that is of a type with a schema. It adds to the document and never stands in
//! its way: what cannot be had becomes a warning.

use std::sync::Arc;

use async_trait::async_trait;
use docmill_core::artifact::{Artifact, Transcript};
use docmill_core::error::ErrorNote;
use docmill_core::fingerprint::fingerprint;
use docmill_core::ingestion::Facts;
use docmill_core::ports::store::{Done, StepRecord};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::record::NewRecord;
use docmill_core::task::{Lease, TaskKind};
use docmill_core::{Error, ErrorKind, Result};

use super::asked::{Paid, asked};
use super::found::found;
use super::material::Source;
use crate::plan::Outcome;
use crate::schemas::{self, Known};
use crate::stages::payload::{Payload, TextEnd};
use crate::stages::transcribe::{facts, verdict};
use crate::stages::{Context, TaskHandler, document, transcription};
use crate::transcripts;

/// The kind.
pub const KIND: TaskKind = TaskKind::named("extract-record");

/// Raise it when records are taken from something else than before.
const VERSION: u32 = 1;

/// The handler.
pub struct ExtractRecord;

#[async_trait]
impl TaskHandler for ExtractRecord {
    fn kind(&self) -> TaskKind {
        KIND
    }

    async fn run(&self, cx: &Context<'_>, lease: &Lease) -> Result<Done> {
        let payload = Payload::parse(lease.payload.as_deref())?;
        let Some(key) = transcription(cx, lease).await? else {
            // Begun here by a person (`--from`), although it has never been read.
            return cx.done(lease, Outcome::Readable, Done::default());
        };
        let limit = cx.deps.settings.limits.max_text_bytes;
        let transcript = transcripts::load(cx.deps.blobs.as_ref(), &key, limit).await?;
        cx.progress();
        let text = payload.text.clone().unwrap_or_else(|| TextEnd {
            result: verdict(&transcript),
            problems: transcript.problems.clone(),
        });
        // What the text told is committed already, unless work began here; what was understood stays as it is.
        let facts = match payload.text {
            Some(_) => Facts::default(),
            None => Facts { transcription: Some(key), title: None, ..facts(&transcript, None) },
        };
        let wanted = match payload.schema {
            Some(name) => Some(name),
            None => schema_now(cx, lease).await?,
        };
        let Some(name) = wanted else {
            let done = Done { facts, ..Done::default() };
            return cx.done(lease, Outcome::Extracted { text, problem: None }, done);
        };
        let mut paid = Paid::default();
        let (schema, record) = match taken(cx, lease, &name, &transcript, payload.force, &mut paid).await {
            Ok((schema, record)) => (Some(schema), record),
            Err(error) if may_pass(error.kind()) => return Err(error),
            Err(error) => {
                paid.problem = Some(warning(lease, &error));
                (None, None)
            }
        };
        let Paid { artifacts, usage, problem } = paid;
        let step = step(cx, lease, schema.as_deref(), record.as_ref(), &artifacts, problem.as_ref())?;
        let extracted = record.map(Box::new);
        let done = Done { record: step, extracted, facts, artifacts, usage, ..Done::default() };
        cx.done(lease, Outcome::Extracted { text, problem }, done)
    }
}

/// The record of a document by the schema of that name; none if it turns out to be none that the schema is for.
async fn taken(
    cx: &Context<'_>,
    lease: &Lease,
    name: &str,
    transcript: &Transcript,
    force: bool,
    paid: &mut Paid,
) -> Result<(Arc<Known>, Option<NewRecord>)> {
    let schema = Arc::new(schemas::find(cx.deps, lease.subject.tenant_id, name, None).await?);
    if !cx.deps.extractor.suits(&schema.text, &transcript.text()) {
        return Ok((schema, None));
    }
    let source = Source::Task(cx, lease);
    let looked = found(&source, &schema, transcript).await?;
    let looked = match asked(cx, lease, &schema, transcript, &looked, force, paid).await {
        Ok(Some(extraction)) => looked.replaced(&source, &schema, extraction).await?,
        Ok(None) => looked,
        Err(error) if may_pass(error.kind()) => return Err(error),
        Err(error) => {
            // What rules found stands.
            paid.failed(lease, &error);
            looked
        }
    };
    let record = looked.record(&schema);
    Ok((schema, Some(record)))
}

/// The schema of what a document is known to be, where work begins here.
async fn schema_now(cx: &Context<'_>, lease: &Lease) -> Result<Option<String>> {
    let id = document(lease)?.document_id.to_string();
    let shown = cx.deps.store.show(lease.subject.tenant_id, &id).await?;
    let kind = shown.and_then(|shown| shown.kind);
    Ok(kind.and_then(|kind| cx.deps.settings.extract.schema_of(&kind).map(str::to_owned)))
}

/// Errors of docmill's surroundings: trying again may cure them.
pub(super) fn may_pass(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Unavailable
            | ErrorKind::RateLimited
            | ErrorKind::ShuttingDown
            | ErrorKind::StaleLease
            | ErrorKind::DiskFull
            | ErrorKind::WorkerLost
            | ErrorKind::Cancelled
    )
}

fn warning(lease: &Lease, error: &Error) -> Problem {
    let ingestion_id = lease.subject.ingestion_id;
    let (error_kind, said) = (error.kind(), error.for_log());
    tracing::warn!(%ingestion_id, %error_kind, error = said, "no record was taken from a document");
    let note = ErrorNote::from(error);
    let message = format!("no record was taken: {}", note.message);
    Problem { code: ResultCode::NotExtracted, ..Problem::new(note.kind, message) }
}

/// What the timeline tells of it; nothing where the document turned out to be none that the schema is for.
fn step(
    cx: &Context<'_>,
    lease: &Lease,
    schema: Option<&Known>,
    record: Option<&NewRecord>,
    artifacts: &[Artifact],
    problem: Option<&Problem>,
) -> Result<Option<StepRecord>> {
    if record.is_none() && problem.is_none() {
        return Ok(None);
    }
    let by = cx.deps.extractor.identity();
    let (name, version) = schema.map_or(("", 0), |schema| (schema.name.as_str(), schema.version));
    let model = record.and_then(|record| record.extraction.model.as_deref()).unwrap_or("nobody");
    let matters = format!("by={by} asked={model} schema={name} version={version}");
    Ok(Some(StepRecord {
        step: KIND,
        fingerprint: fingerprint(KIND.as_str(), VERSION, &matters, &[document(lease)?.content_hash]),
        degraded: problem.is_some(),
        reused: false,
        facts: Facts::default(),
        artifacts: artifacts.to_vec(),
        problems: problem.into_iter().cloned().collect(),
        members: false,
    }))
}
