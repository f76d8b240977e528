//! A language model as one more source of a record's fields: what it costs is kept low, what it says is held against the
//! document, and whatever goes wrong with it leaves what rules have found.
//!
//! Questions and what is made of answers come from the extractor; here they are carried, and each answer is kept before
//! it is used, so that no question is paid for twice.

use std::collections::HashMap;
use std::sync::Arc;

use docmill_core::artifact::{Artifact, Transcript};
use docmill_core::config::Ask;
use docmill_core::error::ErrorNote;
use docmill_core::extraction::Extraction;
use docmill_core::fingerprint::fingerprint;
use docmill_core::id::{ContentHash, DocumentId, TenantId};
use docmill_core::ports::Llm;
use docmill_core::ports::extractor::{Asking, Interview, Interviewed};
use docmill_core::ports::llm::{Answer, Material, Question};
use docmill_core::problem::{Problem, ResultCode};
use docmill_core::review::ReviewState;
use docmill_core::task::Lease;
use docmill_core::usage::Usage;
use docmill_core::{Error, Result};

use super::found::Looked;
use super::material::Source;
use super::record::KIND;
use crate::blocking::blocking;
use crate::deps::Deps;
use crate::schemas::Known;
use crate::stages::asking::addressed::distrusted;
use crate::stages::asking::kept::{Found, NAME, Place};
use crate::stages::asking::{EXTRACT, patiently, pictures};
use crate::stages::{Context, document};

/// Raise it when answers to the same question are of no use any more.
const VERSION: u32 = 1;

/// What asking has left behind, beside the record.
#[derive(Default)]
pub(super) struct Paid {
    pub(super) artifacts: Vec<Artifact>,
    pub(super) usage: Vec<Usage>,
    /// Why the model was of no use.
    pub(super) problem: Option<Problem>,
}

impl Paid {
    /// Takes an answer down, also one that another run has paid for: that one may have died before it could say so.
    fn add(&mut self, found: &Found) {
        if self.artifacts.iter().any(|known| known.key == found.artifact.key) {
            return;
        }
        let name = format!("{NAME}-{}-{}", EXTRACT.name, self.artifacts.len());
        self.artifacts.push(Artifact { name, ..found.artifact.clone() });
        self.usage.push(found.usage());
    }

    /// Tells what went wrong.
    pub(super) fn failed(&mut self, lease: &Lease, error: &Error) {
        let ingestion_id = lease.subject.ingestion_id;
        let (error_kind, said) = (error.kind(), error.for_log());
        tracing::warn!(%ingestion_id, %error_kind, error = said, "a language model was of no use for a record");
        let note = ErrorNote::from(error);
        let message = format!("fields were taken without the language model: {}", note.message);
        self.problem = Some(Problem { code: ResultCode::NotExtracted, ..Problem::new(note.kind, message) });
    }
}

/// Asks a model about what rules have left open, if it is to be asked; nothing if it is not.
pub(super) async fn asked(
    cx: &Context<'_>,
    lease: &Lease,
    schema: &Arc<Known>,
    transcript: &Transcript,
    looked: &Looked,
    force: bool,
    paid: &mut Paid,
) -> Result<Option<Extraction>> {
    let Some(llm) = cx.deps.llm.clone() else { return Ok(None) };
    let document_id = document(lease)?.document_id;
    if is_settled(cx.deps, looked)
        || is_decided(cx.deps, lease.subject.tenant_id, schema, document_id).await?
    {
        return Ok(None);
    }
    let source = Source::Task(cx, lease);
    let Some(mut interview) = interview(&source, schema, transcript, looked).await? else { return Ok(None) };
    let mut times: HashMap<ContentHash, usize> = HashMap::new();
    while let Some(question) = interview.question() {
        let place = place(llm.as_ref(), document_id, &question);
        let turn = cx.turns.of(&place.key(0));
        let _turn = patiently(cx, turn.lock()).await;
        let rounds = place.all(cx.deps.blobs.as_ref()).await?;
        for found in &rounds {
            paid.add(found);
        }
        let nth = times.entry(place.fingerprint).or_default();
        let known = choice(&rounds, *nth, force, |answer| interview.is_of_use(answer));
        *nth += 1;
        let answer = match known {
            Some(answer) => Ok(answer),
            None => match patiently(cx, llm.ask(&question)).await {
                Ok(answer) => {
                    (EXTRACT.answered)();
                    let (round, blobs) = (rounds.len(), cx.deps.blobs.as_ref());
                    let found = place.keep(blobs, round, llm.provider(), answer).await?;
                    paid.add(&found);
                    Ok(found.kept.answer)
                }
                Err(error) => Err(error),
            },
        };
        // Values are sought on every page.
        interview = blocking(move || {
            interview.take(answer);
            Ok(interview)
        })
        .await?;
        cx.progress();
    }
    let Interviewed { extraction, problem } = blocking(move || Ok(interview.finish())).await?;
    if let Some(error) = problem {
        paid.failed(lease, &error);
    }
    Ok(Some(extraction))
}

/// Whether the settings, or rules that are sure, leave nothing to ask.
pub(super) fn is_settled(deps: &Deps, looked: &Looked) -> bool {
    match deps.settings.extract.ask {
        Ask::Never => true,
        Ask::Doubtful => looked.doubts.is_empty(),
        Ask::Always => false,
    }
}

/// What there is to ask, with pictures of its pages if the model sees; nothing if there is nothing.
pub(super) async fn interview(
    source: &Source<'_>,
    schema: &Arc<Known>,
    transcript: &Transcript,
    looked: &Looked,
) -> Result<Option<Box<dyn Interview>>> {
    let deps = source.deps();
    let all = deps.settings.extract.ask == Ask::Always;
    let sees = deps.llm.as_ref().is_some_and(|llm| llm.sees());
    let numbers = if sees { pictures::shown(transcript) } else { Vec::new() };
    let mut shown = Vec::new();
    for number in numbers {
        let Some(png) = pictures::if_any(source.picture(number).await)? else { break };
        shown.push((number, png));
    }
    let max_bytes = usize::try_from(deps.settings.llm.max_text_bytes).unwrap_or(usize::MAX);
    let unplaced = looked.is_unplaced();
    let (extractor, schema) = (Arc::clone(&deps.extractor), Arc::clone(schema));
    let (material, found) = (Arc::clone(&looked.material), looked.extraction.clone());
    blocking(move || {
        let distrusted = distrusted(material.texts.iter().map(|(_, text)| text.as_str()));
        let asking = Asking { all, max_bytes, pictures: shown, unplaced, distrusted };
        extractor.interview(&schema.text, material, found, asking)
    })
    .await
}

/// Where the answers to a question lie: everything that they depend on is in their name.
pub(super) fn place(llm: &dyn Llm, document_id: DocumentId, question: &Question) -> Place {
    let Question { task, material, schema, max_tokens } = question;
    let shown = match material {
        Material::Text(text) => ContentHash::of(text.as_bytes()),
        Material::Picture(png) => ContentHash::of(png),
    };
    let inputs =
        [ContentHash::of(task.as_bytes()), shown, ContentHash::of(schema.body.to_string().as_bytes())];
    let matters = format!("by={} tokens={max_tokens}", llm.identity());
    Place {
        purpose: EXTRACT,
        document_id,
        fingerprint: fingerprint(KIND.as_str(), VERSION, &matters, &inputs),
    }
}

/// The answer that is there. One of use is never paid for twice; one of no use is, when a person asks, and when the same
/// question is asked once more because of it.
fn choice(rounds: &[Found], nth: usize, force: bool, is_of_use: impl Fn(&Answer) -> bool) -> Option<Answer> {
    let answers = || rounds.iter().map(|found| &found.kept.answer);
    let of_use = answers().rev().find(|answer| is_of_use(answer));
    let of_no_use = || if force { None } else { answers().nth(nth) };
    of_use.or_else(of_no_use).cloned()
}

/// Whether a person has decided about the record that is there: then nothing that a model says would change it.
pub(super) async fn is_decided(
    deps: &Deps,
    tenant: TenantId,
    schema: &Known,
    id: DocumentId,
) -> Result<bool> {
    let store = &deps.store;
    let Some(record) = store.record(tenant, &id.to_string()).await? else { return Ok(false) };
    if record.extraction.schema != schema.name || record.version != schema.version {
        return Ok(false);
    }
    let review = store.review(tenant, record.ingestion_id).await?;
    let state = review.map(|review| review.line.state);
    Ok(matches!(state, Some(ReviewState::Accepted | ReviewState::Corrected | ReviewState::Rejected)))
}
