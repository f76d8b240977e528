//! `classify-document`: a model says what the document is, and what the document vouches for is taken. Follows the text
//! where a model is configured, and never stands in its way: whatever goes wrong with the model becomes a warning.

use std::sync::Arc;

use async_trait::async_trait;
use docmill_core::artifact::{Artifact, Transcript};
use docmill_core::error::ErrorNote;
use docmill_core::id::ContentHash;
use docmill_core::ingestion::Facts;
use docmill_core::ports::Llm;
use docmill_core::ports::llm::Answer;
use docmill_core::ports::store::{Done, StepRecord};
use docmill_core::ports::understander::Understood;
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::task::{Lease, TaskKind};
use docmill_core::usage::Usage;
use docmill_core::{Error, ErrorKind, Result};

use super::believe::{self, believe};
use super::form;
use super::material::{self, Shown};
use super::prompt;
use crate::plan::Outcome;
use crate::stages::asking::kept::{Found, Place};
use crate::stages::asking::pictures::is_of_the_picture;
use crate::stages::asking::{CLASSIFY, patiently};
use crate::stages::extract::schema_of;
use crate::stages::payload::{Payload, TextEnd};
use crate::stages::transcribe::{facts, understood, verdict};
use crate::stages::{Context, TaskHandler, document, transcription};
use crate::transcripts;

/// The kind.
pub const KIND: TaskKind = TaskKind::named("classify-document");

/// The handler.
pub struct ClassifyDocument;

#[async_trait]
impl TaskHandler for ClassifyDocument {
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
        let (transcript, local) = understood(cx, lease, transcript).await?;
        let text = payload.text.clone().unwrap_or_else(|| TextEnd {
            result: verdict(&transcript),
            problems: transcript.problems.clone(),
        });
        // What the text told is committed already, unless work began here.
        let known = match payload.text {
            Some(_) => Facts::default(),
            None => Facts { transcription: Some(key), ..facts(&transcript, local.clone()) },
        };
        let schema = schema_of(cx, local.as_ref().map(|local| &local.understanding));
        // Without a model there is nobody to ask: what was found here is all there is, and nothing is missing.
        let case = cx.deps.llm.clone().and_then(|llm| Case::of(cx, llm, &transcript, local));
        let Some(case) = case else {
            let done = Done { facts: known, ..Done::default() };
            return cx.done(lease, Outcome::Classified { text, problem: None, schema }, done);
        };
        let fingerprint = case.fingerprint(lease)?;
        if lease.subject.duplicate && !payload.force {
            let found = cx.deps.store.find_step(lease.subject.tenant_id, &KIND, &fingerprint).await?;
            if let Some(record) = found {
                return take_over(cx, lease, text, known, record);
            }
        }
        let answered = case.answered(cx, lease, fingerprint, payload.force).await?;
        finish(cx, lease, text, known, fingerprint, answered)
    }
}

/// One document and what is shown of it.
struct Case {
    llm: Arc<dyn Llm>,
    shown: Shown,
    /// All its text, also where a picture is shown.
    text: String,
    local: Option<Understood>,
}

/// What came of asking.
struct Answered {
    understood: Understood,
    /// What the owner should know.
    problem: Option<Problem>,
    /// Nothing was gained.
    failed: bool,
    artifacts: Vec<Artifact>,
    usage: Vec<Usage>,
}

impl Case {
    /// None if there is nothing to show.
    fn of(
        cx: &Context<'_>,
        llm: Arc<dyn Llm>,
        transcript: &Transcript,
        local: Option<Understood>,
    ) -> Option<Self> {
        let shown = Shown::of(transcript, llm.sees(), cx.deps.settings.llm.max_text_bytes)?;
        Some(Self { llm, shown, text: transcript.text(), local })
    }

    /// Everything that an answer depends on.
    fn fingerprint(&self, lease: &Lease) -> Result<ContentHash> {
        let who = self.llm.identity();
        let schema = ContentHash::of(form::schema().body.to_string().as_bytes());
        let matters = format!("by={who} shown={} schema={}", self.shown.name(), schema.short());
        let inputs = [self.shown.hash(&document(lease)?.content_hash)];
        Ok(docmill_core::fingerprint::fingerprint(KIND.as_str(), prompt::VERSION, &matters, &inputs))
    }

    /// Asks, unless the answer is there, and takes what can be believed. Errors of docmill itself are handed on; those
    /// of the model are not.
    async fn answered(
        self,
        cx: &Context<'_>,
        lease: &Lease,
        fingerprint: ContentHash,
        force: bool,
    ) -> Result<Answered> {
        let place = Place { purpose: CLASSIFY, document_id: document(lease)?.document_id, fingerprint };
        let turn = cx.turns.of(&place.key(0));
        let _turn = patiently(cx, turn.lock()).await;
        let mut rounds = place.all(cx.deps.blobs.as_ref()).await?;
        let (round, kept) = (rounds.len(), rounds.pop());
        // An answer that was of use is never paid for twice; one that was not, when a person asks for it.
        let kept = kept.filter(|found| !force || form::read(&found.kept.answer).is_ok());
        let found = match kept {
            Some(found) => found,
            None => match self.ask(cx, lease).await? {
                Ok((provider, answer)) => {
                    place.keep(cx.deps.blobs.as_ref(), round, &provider, answer).await?
                }
                Err(error) => return Ok(self.without(&error, None, lease)),
            },
        };
        match form::read(&found.kept.answer) {
            Ok(said) => Ok(self.with(&said, &found)),
            Err(error) => Ok(self.without(&error, Some(&found), lease)),
        }
    }

    /// Asks the model. Its errors come inside.
    async fn ask(&self, cx: &Context<'_>, lease: &Lease) -> Result<Result<(String, Answer)>> {
        let question = match &self.shown {
            Shown::Text(text) => prompt::about_text(text),
            Shown::Picture => match material::picture(cx, lease).await {
                Ok(png) => prompt::about_picture(png),
                Err(error) if is_of_the_picture(&error) => return Ok(Err(error)),
                Err(error) => return Err(error),
            },
        };
        let answer = patiently(cx, self.llm.ask(&question)).await;
        (CLASSIFY.answered)();
        Ok(answer.map(|answer| (self.llm.provider().to_owned(), answer)))
    }

    fn with(self, said: &form::Said, found: &Found) -> Answered {
        let is_picture = self.shown == Shown::Picture;
        let source = believe::Document::new(&self.text, is_picture);
        let believed = believe(said, &source, self.local.unwrap_or_default());
        // What was taken is what was asked for; a document that speaks to the model is worth a look in any case.
        let missing = !believed.refused.is_empty() && (!believed.taken || source.is_addressed());
        let problem = missing.then(|| {
            let what = believed.refused.join(", ");
            warning(
                ErrorKind::SchemaMismatch,
                format!("the document does not bear out what the language model says: {what}"),
            )
        });
        Answered {
            understood: believed.understood,
            problem,
            failed: false,
            artifacts: vec![found.artifact.clone()],
            usage: vec![found.usage()],
        }
    }

    fn without(self, error: &Error, found: Option<&Found>, lease: &Lease) -> Answered {
        let ingestion_id = lease.subject.ingestion_id;
        let (error_kind, said) = (error.kind(), error.for_log());
        tracing::warn!(%ingestion_id, %error_kind, error = said, "a document was not classified by the language model");
        let note = Problem::from(&ErrorNote::from(error));
        Answered {
            // Something tried to understand it: without a title it is unclassified.
            understood: self.local.unwrap_or_default(),
            problem: Some(warning(
                note.kind,
                format!("not classified by the language model: {}", note.message),
            )),
            failed: true,
            artifacts: found.map(|found| found.artifact.clone()).into_iter().collect(),
            usage: found.map(Found::usage).into_iter().collect(),
        }
    }
}

fn warning(kind: ErrorKind, message: String) -> Problem {
    Problem { code: ResultCode::NotClassified, ..Problem::new(kind, message) }
}

fn finish(
    cx: &Context<'_>,
    lease: &Lease,
    text: TextEnd,
    known: Facts,
    fingerprint: ContentHash,
    answered: Answered,
) -> Result<Done> {
    let Answered { understood, problem, failed, artifacts, usage } = answered;
    let own =
        Facts { title: understood.title, understanding: Some(understood.understanding), ..Facts::default() };
    let record = StepRecord {
        step: KIND,
        fingerprint,
        degraded: failed,
        reused: false,
        facts: own.clone(),
        artifacts: artifacts.clone(),
        problems: problem.iter().cloned().collect(),
        members: false,
    };
    let schema = schema_of(cx, own.understanding.as_ref());
    let facts = Facts { title: own.title, understanding: own.understanding, ..known };
    let done = Done { record: Some(record), artifacts, facts, usage, ..Done::default() };
    cx.done(lease, Outcome::Classified { text, problem, schema }, done)
}

/// Takes over what an earlier ingestion of the same content was told.
fn take_over(
    cx: &Context<'_>,
    lease: &Lease,
    text: TextEnd,
    known: Facts,
    record: StepRecord,
) -> Result<Done> {
    let problem = record.problems.first().cloned();
    let facts = Facts {
        title: record.facts.title.clone(),
        understanding: record.facts.understanding.clone(),
        ..known
    };
    let schema = schema_of(cx, facts.understanding.as_ref());
    let artifacts = record.artifacts.clone();
    let record = Some(StepRecord { reused: true, ..record });
    let done = Done { record, artifacts, facts, ..Done::default() };
    cx.done(lease, Outcome::Classified { text, problem, schema }, done)
}
