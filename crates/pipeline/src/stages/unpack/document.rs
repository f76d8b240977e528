//! `unpack-document`: every member of a container becomes an ingestion of its own, or is accounted for with the
//! reason why it did not.

use async_trait::async_trait;
use bytes::Bytes;
use docmill_core::artifact::{Artifact, TRANSCRIPTION};
use docmill_core::disposition::{Disposition, decide};
use docmill_core::error::ErrorNote;
use docmill_core::expansion::{Expansion, ExpansionLimits};
use docmill_core::id::ContentHash;
use docmill_core::ingestion::Facts;
use docmill_core::ports::store::{Done, ManifestEnd, StepRecord};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::task::{Lease, TaskKind};
use docmill_core::wire::{Found, Want};
use docmill_core::{Error, Result, crash};

use super::chunk::Chunk;
use crate::plan::{Outcome, is_limit};
use crate::stages::intake::document::{route, sniffed};
use crate::stages::payload::Payload;
use crate::stages::reading::{self, Readings};
use crate::stages::stored::Incoming;
use crate::stages::transcribe::{Collector, OcrNote};
use crate::stages::{Context, TaskHandler, document, title};
use crate::transcripts;

/// The kind.
pub const KIND: TaskKind = TaskKind::named("unpack-document");

/// Raise it when the same bytes and settings give other members than before: they supersede the old ones.
const VERSION: u32 = 1;

/// Further problems of one container add nothing.
const MAX_PROBLEMS: usize = 1_000;

/// The handler.
pub struct UnpackDocument;

#[async_trait]
impl TaskHandler for UnpackDocument {
    fn kind(&self) -> TaskKind {
        KIND
    }

    async fn run(&self, cx: &Context<'_>, lease: &Lease) -> Result<Done> {
        crash::point("unpack.begin");
        let mut readings = reading::open(cx, lease, Want::CHILDREN).await?;
        let kind = sniffed(&mut readings).await?;
        let outcome = route(cx, lease, &kind);
        // A document with text of its own comes here once that has been read.
        let after_text = Payload::parse(lease.payload.as_deref())?.text.is_some();
        if outcome != Outcome::Container && !(outcome == Outcome::Readable && after_text) {
            let facts = Facts { media_type: Some(kind.media_type), ..Facts::default() };
            return cx.done(lease, outcome, Done { facts, ..Done::default() });
        }
        let fingerprint = fingerprint(cx, &document(lease)?.content_hash);
        let mut run = Run {
            chunk: Chunk::new(cx, lease, fingerprint)?,
            expansion: Expansion::new(
                ExpansionLimits::of_container(&cx.deps.settings.limits),
                document(lease)?.bytes,
            ),
            problems: Vec::new(),
            about: Some(Collector::new(kind, &cx.deps.settings.limits, OcrNote::default())),
            after_text,
        };
        let ended = run.follow(cx, lease, &mut readings).await;
        drop(readings);
        let mut stopped_by = final_error(cx, lease, ended)?;
        // The tree may be full only now; what stopped the reading is the better reason if there is one.
        let full = final_error(cx, lease, run.chunk.flush().await)?;
        stopped_by = stopped_by.or(full);
        crash::point("unpack.before_end");
        run.finish(cx, lease, fingerprint, stopped_by).await
    }
}

/// One unpack run.
struct Run<'a> {
    chunk: Chunk<'a>,
    expansion: Expansion,
    problems: Vec<Problem>,
    /// What the container says of itself.
    about: Option<Collector<'a>>,
    /// Its text has been read, and with it what it says of itself.
    after_text: bool,
}

/// The member that is arriving now.
struct Arriving<'a> {
    position: u64,
    path: String,
    /// Its bytes, or why it is passed over.
    content: std::result::Result<Incoming<'a>, ErrorNote>,
}

impl<'a> Run<'a> {
    /// Takes what the reader finds until it ends. Errors of the reader and of docmill itself both end up here;
    /// those of a single member do not.
    async fn follow(
        &mut self,
        cx: &'a Context<'a>,
        lease: &Lease,
        readings: &mut Readings<'_>,
    ) -> Result<()> {
        let mut arriving: Option<Arriving<'a>> = None;
        loop {
            let found = match readings.next().await {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(error) if is_final(cx, lease, &error) => {
                    self.unfinished(arriving).await?;
                    return Err(error);
                }
                Err(error) => return Err(error),
            };
            cx.progress();
            match found {
                Found::Declared(members) => self.chunk.declared = Some(members),
                Found::ChildBegin { position, path, .. } => {
                    self.unfinished(arriving.take()).await?;
                    self.expansion.add_member()?;
                    arriving = Some(Arriving { position, path, content: Ok(Incoming::new(cx.deps)) });
                }
                Found::ChildChunk(piece) => {
                    if let Err(error) = self.expansion.add_bytes(piece.len() as u64) {
                        self.unfinished(arriving).await?;
                        return Err(error);
                    }
                    if let Some(member) = &mut arriving {
                        member.push(piece).await?;
                    }
                }
                Found::ChildEnd => {
                    if let Some(member) = arriving.take() {
                        self.complete(member).await?;
                    }
                }
                Found::ChildFailed { position, path, error } => {
                    // It may have begun before it failed; then its bytes so far are dropped.
                    if arriving.as_ref().is_some_and(|member| member.position != position) {
                        self.unfinished(arriving.take()).await?;
                    }
                    if arriving.take().is_none() {
                        self.expansion.add_member()?;
                    }
                    self.chunk.add_failed(position, path, error).await?;
                }
                Found::Warn(problem) => {
                    if self.problems.len() < MAX_PROBLEMS {
                        self.problems.push(problem);
                    }
                }
                Found::Meta { .. } => {
                    if let Some(about) = &mut self.about {
                        about.add(found)?;
                    }
                }
                Found::Kind(_)
                | Found::PageCount(_)
                | Found::Page(_)
                | Found::Scan(_)
                | Found::Picture(_)
                | Found::Words(_)
                | Found::Tried
                | Found::Vectors(_)
                | Found::Recognised(_)
                | Found::ChildListed { .. } => {}
            }
        }
        self.unfinished(arriving).await
    }

    async fn complete(&mut self, member: Arriving<'a>) -> Result<()> {
        match member.content {
            Ok(incoming) => {
                let fresh = incoming.finish(&member.path).await?;
                self.chunk.add(member.position, member.path, fresh).await
            }
            Err(error) => self.chunk.add_failed(member.position, member.path, error).await,
        }
    }

    /// A member that began and never ended.
    async fn unfinished(&mut self, member: Option<Arriving<'a>>) -> Result<()> {
        let Some(member) = member else { return Ok(()) };
        let error = Error::corrupt(format!(
            "the reading ended inside the member `{}`",
            docmill_core::text::shown(&member.path)
        ));
        self.chunk.add_failed(member.position, member.path, (&error).into()).await
    }

    async fn finish(
        mut self,
        cx: &Context<'_>,
        lease: &Lease,
        fingerprint: ContentHash,
        stopped_by: Option<Error>,
    ) -> Result<Done> {
        let at_a_limit = self.problems.iter().any(|problem| is_limit(problem.kind));
        let declared = self.chunk.declared;
        let stopped = stopped_by.is_some() || at_a_limit;
        // Members that were declared and not met, although the reader came to its end, are left unexplained on
        // purpose: then the ledger does not balance, and somebody looks.
        let refused = if stopped { declared.unwrap_or(0).saturating_sub(self.chunk.met) } else { 0 };
        let (facts, artifacts) = self.tell(cx, lease).await?;
        let (outcome, degraded) = match stopped_by {
            None if at_a_limit => (self.unpacked(ResultCode::LimitExceeded), true),
            None => (self.unpacked(ResultCode::Success), false),
            Some(error) if is_limit(error.kind()) => (Outcome::Stopped((&error).into()), true),
            Some(error) => {
                self.problems.push(Problem::from(&ErrorNote::from(&error)));
                (self.unpacked(ResultCode::of(error.kind())), true)
            }
        };
        let record = StepRecord {
            step: KIND,
            fingerprint,
            degraded,
            reused: false,
            facts: facts.clone(),
            artifacts: artifacts.clone(),
            problems: Vec::new(),
            members: false,
        };
        let manifest = ManifestEnd { fingerprint, declared, refused };
        let done =
            Done { record: Some(record), artifacts, facts, manifest: Some(manifest), ..Done::default() };
        cx.done(lease, outcome, done)
    }

    /// Keeps what a container says of itself as a transcript without pages. That of a document with text has it already.
    async fn tell(&mut self, cx: &Context<'_>, lease: &Lease) -> Result<(Facts, Vec<Artifact>)> {
        let Some(about) = self.about.take().map(Collector::finish) else {
            return Err(Error::bug("what a container says of itself is told twice"));
        };
        let facts = Facts {
            media_type: Some(about.media_type.clone()),
            title: about.metadata.get("title").and_then(|given| title(given)),
            ..Facts::default()
        };
        if self.after_text || about.metadata.is_empty() {
            return Ok((facts, Vec::new()));
        }
        let ingestion = lease.subject.ingestion_id;
        let (artifact, _) =
            transcripts::save(cx.deps.blobs.as_ref(), ingestion, TRANSCRIPTION, about).await?;
        cx.progress();
        Ok((Facts { transcription: Some(artifact.key.clone()), ..facts }, vec![artifact]))
    }

    fn unpacked(&mut self, result: ResultCode) -> Outcome {
        Outcome::Unpacked { result, problems: std::mem::take(&mut self.problems) }
    }
}

impl Arriving<'_> {
    /// A member beyond a limit is given up by itself; trouble with the blob store ends the whole run.
    async fn push(&mut self, piece: Bytes) -> Result<()> {
        let Ok(incoming) = &mut self.content else { return Ok(()) };
        match incoming.push(&self.path, piece).await {
            Ok(()) => Ok(()),
            Err(error) if is_limit(error.kind()) => {
                self.content = Err((&error).into());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// The error that ended a run for good; one that may pass is handed on.
fn final_error(cx: &Context<'_>, lease: &Lease, ended: Result<()>) -> Result<Option<Error>> {
    match ended {
        Ok(()) => Ok(None),
        Err(error) if is_final(cx, lease, &error) => Ok(Some(error)),
        Err(error) => Err(error),
    }
}

/// Whether what was unpacked until this error is all there will ever be.
fn is_final(cx: &Context<'_>, lease: &Lease, error: &Error) -> bool {
    let failing_for = lease.failing_for(cx.deps.clock.now());
    match decide(error.kind(), lease.attempts, lease.size, failing_for) {
        Disposition::Degrade => true,
        Disposition::Fail => is_limit(error.kind()),
        Disposition::Skip
        | Disposition::Retry { .. }
        | Disposition::Escalate
        | Disposition::Abandon
        | Disposition::Release => false,
    }
}

/// What the members of a container depend on.
fn fingerprint(cx: &Context<'_>, content: &ContentHash) -> ContentHash {
    let limits = &cx.deps.settings.limits;
    let matters = format!(
        "entries={} tree={} bytes={} ratio={} from={} document={}",
        limits.max_entries,
        limits.max_tree_entries,
        limits.max_container_bytes,
        limits.max_ratio,
        limits.ratio_from_bytes,
        limits.max_document_bytes
    );
    docmill_core::fingerprint::fingerprint(KIND.as_str(), VERSION, &matters, &[*content])
}
