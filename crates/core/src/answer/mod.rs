//! What commands and routes answer, as JSON. The keys are promised (`docs/reference/cli.md`): they may be
//! added to, never renamed.
//! Here is what is told of documents; `work` tells what is going on and what was done.

mod work;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::artifact::Page;
use crate::clock::Timestamp;
use crate::document::DocumentState;
use crate::error::{ErrorKind, ErrorNote};
use crate::id::{BatchId, ContentHash, DocumentId, IngestionId};
use crate::ingestion::{IngestionStatus, Stage};
use crate::ports::filter::Facets;
use crate::problem::{Problem, ResultCode};
use crate::record::RecordAnswer;
use crate::review::ReviewId;
use crate::understanding::{Evidence, Labelled};
use crate::usage::UsageLine;

pub use work::*;

/// `ingest`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct IngestAnswer {
    /// The batch.
    pub batch_id: BatchId,
    /// Items that came in, in this batch.
    pub received: u64,
    /// Ended well.
    pub completed: u64,
    /// Ended badly.
    pub failed: u64,
    /// Left out.
    pub skipped: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// Content that was there before.
    pub duplicates: u64,
    /// Members found in containers.
    pub children: u64,
    /// Work remains.
    pub open: u64,
    /// Dead letters this batch has left.
    pub dead: u64,
    /// Of this run.
    pub elapsed_ms: u64,
}

/// `read`, a line for each file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReadAnswer {
    /// As given.
    pub path: String,
    /// What it is.
    pub media_type: String,
    /// The verdict.
    pub result: ResultCode,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Pages.
    pub page_count: Option<u32>,
    /// Main language.
    pub language: Option<String>,
    /// Mean quality.
    pub quality: Option<f32>,
    /// All text.
    pub text: String,
    /// What the file says of itself.
    pub metadata: BTreeMap<String, String>,
    /// In order.
    pub pages: Vec<Page>,
    /// Members of a container.
    pub children: Vec<ReadChild>,
}

/// A member as `read` lists it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReadChild {
    /// Its path inside.
    pub name: String,
    /// By its name.
    pub media_type: String,
    /// Its length.
    pub bytes: u64,
}

/// A document in `list`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DocumentLine {
    /// Which.
    pub document_id: DocumentId,
    /// Its file name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
    /// What it is: `invoice`, `letter`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Its length.
    pub bytes: u64,
    /// Its derived state.
    pub state: DocumentState,
    /// Pages.
    pub page_count: Option<u32>,
    /// Main language.
    pub language: Option<String>,
    /// The verdict on its newest ingestion that has ended.
    pub result: Option<ResultCode>,
    /// What ended that one, where something did.
    pub error: Option<ErrorNote>,
    /// When it first came in.
    pub created_at: Timestamp,
}

/// `list`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListAnswer {
    /// Newest first.
    pub documents: Vec<DocumentLine>,
    /// Give it back to get the next page.
    pub next_cursor: Option<String>,
}

/// Everything about one ingestion, also about one that never got a document.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct IngestionAnswer {
    /// Which.
    pub ingestion_id: IngestionId,
    /// Its document; null where the bytes could not be had, or were removed.
    pub document_id: Option<DocumentId>,
    /// Of which import.
    pub batch_id: Option<BatchId>,
    /// The configured source it came from, if it did.
    pub source_id: Option<String>,
    /// Who brought it, otherwise.
    pub uploader: Option<String>,
    /// Free.
    pub source_metadata: Value,
    /// Where it lay.
    pub origin: String,
    /// The file name.
    pub name: String,
    /// One vocabulary everywhere: `queued`, `transcribing`, `completed`, `failed`, …
    pub status: Stage,
    /// No progress for ten minutes.
    pub stale: bool,
    /// The verdict.
    pub result: Option<ResultCode>,
    /// The content was there before.
    pub duplicate: bool,
    /// Failures that counted.
    pub attempt: u32,
    /// What it is.
    pub media_type: Option<String>,
    /// Pages.
    pub page_count: Option<u32>,
    /// Words.
    pub word_count: Option<u64>,
    /// Main language.
    pub language: Option<String>,
    /// Mean quality.
    pub quality: Option<f32>,
    /// When it came in.
    pub created_at: Timestamp,
    /// When work began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Why it was left out.
    pub skip_reason: Option<String>,
    /// What ended it.
    pub error: Option<ErrorNote>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl IngestionAnswer {
    /// Whether no work remains.
    pub fn ended(&self) -> bool {
        matches!(self.status, Stage::Completed | Stage::Failed | Stage::Skipped | Stage::Cancelled)
    }
}

/// The text of a document.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TextAnswer {
    /// Of all pages, separated by form feeds.
    pub text: String,
}

/// The pages of a document.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PagesAnswer {
    /// What the file says of itself.
    pub metadata: BTreeMap<String, String>,
    /// In order.
    pub pages: Vec<Page>,
}

/// Batches, newest first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BatchesAnswer {
    /// Newest first.
    pub batches: Vec<crate::batch::BatchTotals>,
    /// Give it back to get the next page.
    pub next_cursor: Option<String>,
}

/// Items that have the same problem.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProblemGroup {
    /// The kind of error.
    pub cause: ErrorKind,
    /// The code it leaves behind.
    pub code: ResultCode,
    /// Items that have it.
    pub count: u64,
    /// Those among them that failed because of it; the others are there, with something missing.
    pub failed: u64,
    /// The latest of them.
    pub samples: Vec<ProblemSample>,
}

/// One item that has a problem.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProblemSample {
    /// Which ingestion.
    pub ingestion_id: IngestionId,
    /// Its document; null where the bytes could not be had.
    pub document_id: Option<DocumentId>,
    /// The file name.
    pub name: String,
    /// In words.
    pub message: String,
    /// When it ended.
    pub at: Option<Timestamp>,
}

/// Problems by cause, the most frequent first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProblemsAnswer {
    /// The groups.
    pub problems: Vec<ProblemGroup>,
}

/// Who works.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkersAnswer {
    /// Everyone on the list.
    pub workers: Vec<WorkerLine>,
}

/// Tasks that have kind, stage and state in common.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkLine {
    /// `intake-document`, `extract-text`, …
    pub kind: String,
    /// The stage that their ingestions are in.
    pub stage: Stage,
    /// `queued`, `held`, `running`, `waiting`, `done`, `dead`, `cancelled` or `dropped`.
    pub state: String,
    /// How many there are.
    pub count: u64,
}

/// The work of a batch, or what waits and runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkAnswer {
    /// In the order of kinds.
    pub work: Vec<WorkLine>,
}

/// How many documents there are of what, for those who choose among them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FacetsAnswer {
    /// The documents that were counted: the newest ten thousand at most.
    pub counted: u64,
    /// These were all.
    pub complete: bool,
    /// By state.
    pub states: BTreeMap<String, u64>,
    /// By media type.
    pub types: BTreeMap<String, u64>,
    /// By what they are: `invoice`.
    pub kinds: BTreeMap<String, u64>,
    /// By language.
    pub languages: BTreeMap<String, u64>,
}

/// `show`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ShowAnswer {
    /// Which.
    pub document_id: DocumentId,
    /// SHA-256.
    pub content_hash: ContentHash,
    /// Its file name.
    pub name: String,
    /// What it is.
    pub media_type: Option<String>,
    /// Its length.
    pub bytes: u64,
    /// Its derived state.
    pub state: DocumentState,
    /// One vocabulary everywhere.
    pub status: Stage,
    /// No progress for ten minutes.
    pub stale: bool,
    /// Pages.
    pub page_count: Option<u32>,
    /// Words.
    pub word_count: Option<u64>,
    /// Main language.
    pub language: Option<String>,
    /// Mean quality.
    pub quality: Option<f32>,
    /// Title.
    pub title: Option<String>,
    /// What the file says of itself: author, dates, a mail's header fields.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Summary.
    pub summary: Option<String>,
    /// Date of the document.
    pub date: Option<String>,
    /// Invoice, letter, …
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// What each label set says of it.
    #[serde(default)]
    pub labels: BTreeMap<String, Labelled>,
    /// How sure title, summary, date, type and tags are and how each was found.
    #[serde(default)]
    pub evidence: BTreeMap<String, Evidence>,
    /// The record that was extracted from it, if it is of a kind with a schema.
    pub record: Option<RecordAnswer>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// A person should look.
    pub needs_review: bool,
    /// The review that waits for one, if one does.
    pub review_id: Option<ReviewId>,
    /// Every receipt, newest first.
    pub ingestions: Vec<IngestionLine>,
    /// What was produced.
    pub artifacts: Vec<ArtifactLine>,
    /// The container it was first found in.
    pub parent: Option<FamilyLine>,
    /// Members, if it is a container.
    pub children: Vec<FamilyLine>,
    /// What was paid for it.
    #[serde(default)]
    pub usage: Vec<UsageLine>,
    /// Every attempt.
    pub timeline: Vec<TimelineLine>,
}

/// A receipt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct IngestionLine {
    /// Which.
    pub ingestion_id: IngestionId,
    /// Of which import.
    pub batch_id: Option<BatchId>,
    /// The configured source it came from, if it did.
    pub source_id: Option<String>,
    /// Who brought it, otherwise.
    pub uploader: Option<String>,
    /// Free.
    pub source_metadata: Value,
    /// Where it lay.
    pub origin: String,
    /// The file name.
    pub name: String,
    /// How it stands.
    pub status: IngestionStatus,
    /// Where it is.
    pub stage: Stage,
    /// The verdict.
    pub result: Option<ResultCode>,
    /// The content was there before.
    pub duplicate: bool,
    /// Failures that counted.
    pub attempt: u32,
    /// When it came in.
    pub created_at: Timestamp,
    /// When work began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Why it was left out.
    pub skip_reason: Option<String>,
    /// What ended it.
    pub error: Option<ErrorNote>,
}

/// A produced blob.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactLine {
    /// `transcription`, …
    pub name: String,
    /// Where it lies.
    pub key: String,
    /// Its length.
    pub bytes: u64,
    /// Its type.
    pub media_type: String,
    /// By which ingestion.
    pub ingestion_id: IngestionId,
}

/// A relative.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FamilyLine {
    /// Which ingestion.
    pub ingestion_id: IngestionId,
    /// Its document; null where the bytes could not be had.
    pub document_id: Option<DocumentId>,
    /// Its path inside the container.
    pub name: String,
    /// The title of its document: of the messages of a mailbox, their subjects.
    pub title: Option<String>,
    /// Its place there, from 0.
    pub position: Option<u64>,
    /// How it stands.
    pub status: IngestionStatus,
    /// The verdict.
    pub result: Option<ResultCode>,
}

/// One thing that happened to a document.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimelineLine {
    /// When.
    pub at: Timestamp,
    /// In which ingestion.
    pub ingestion_id: IngestionId,
    /// `received`, `intake-document`, `extract-text`, `completed`, …
    pub what: String,
    /// `done`, `reused`, `retry`, `escalated`, `dead`, …
    pub outcome: String,
    /// Which try.
    pub attempt: u32,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// Why, in words.
    pub detail: Option<String>,
}

/// `search`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SearchAnswer {
    /// As given.
    pub query: String,
    /// How it was searched: `text`, `semantic` or `hybrid`.
    pub mode: String,
    /// Inside docmill.
    pub took_ms: u64,
    /// What there is to know about these hits, if there is: what is missing, what was done instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How many documents were found: by words all that match, else as many as were looked at. The hits are the best of them.
    pub total: u64,
    /// How many of these are what.
    pub facets: Facets,
    /// Best first.
    pub hits: Vec<SearchHit>,
}

/// A hit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// Which document.
    pub document_id: DocumentId,
    /// Its file name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// How well it answers: BM25 by words, the cosine by meaning, a sum of ranks by both. Only comparable within an answer.
    pub score: f32,
    /// The page of the snippet; null where only the name matched.
    pub page: Option<u32>,
    /// The best passage, with `**` around what was found.
    pub snippet: String,
}
