//! One receipt of a document: where it came from and what became of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ErrorNote;
use crate::id::{BlobKey, SourceId};
use crate::problem::{Problem, ResultCode};
use crate::understanding::Understanding;

/// How an ingestion stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IngestionStatus {
    /// Work remains.
    InProgress,
    /// Read as far as docmill can; see the result code.
    Completed,
    /// Ended by a hard error.
    Failed,
    /// Left out on purpose, with a reason.
    Skipped,
    /// Ended by a person.
    Cancelled,
}

impl IngestionStatus {
    /// Every status.
    pub const ALL: &'static [Self] =
        &[Self::InProgress, Self::Completed, Self::Failed, Self::Skipped, Self::Cancelled];

    /// As stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|s| s.name() == name)
    }
}

/// Where an ingestion is on its way: one vocabulary for `status`, `why` and `--from`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Received, nothing done yet.
    Queued,
    /// Finding out what it is.
    Intake,
    /// Taking members out of a container.
    Unpacking,
    /// Bytes to text.
    Transcribing,
    /// Drawing its pages. No task is in this stage: they are drawn when somebody looks at them.
    Rendering,
    /// Asking a model what it is.
    Classifying,
    /// Taking its fields from it.
    Extracting,
    /// Finding out what its text means, for search. No task is in this stage: it follows the indexing.
    Embedding,
    /// Done, but not yet searchable.
    Indexing,
    /// Done.
    Completed,
    /// Ended by an error.
    Failed,
    /// Left out.
    Skipped,
    /// Cancelled.
    Cancelled,
}

impl Stage {
    /// Every stage, in flow order.
    pub const ALL: &'static [Self] = &[
        Self::Queued,
        Self::Intake,
        Self::Unpacking,
        Self::Transcribing,
        Self::Rendering,
        Self::Classifying,
        Self::Extracting,
        Self::Embedding,
        Self::Indexing,
        Self::Completed,
        Self::Failed,
        Self::Skipped,
        Self::Cancelled,
    ];

    /// As stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Intake => "intake",
            Self::Unpacking => "unpacking",
            Self::Transcribing => "transcribing",
            Self::Rendering => "rendering",
            Self::Classifying => "classifying",
            Self::Extracting => "extracting",
            Self::Embedding => "embedding",
            Self::Indexing => "indexing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }

    /// The stage of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|s| s.name() == name)
    }
}

/// Who brought it: exactly one of the two, and the database insists.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A configured source.
    Source(SourceId),
    /// A person or a program, by name.
    Uploader(String),
}

/// How an ingestion ends.
#[derive(Clone, PartialEq, Debug)]
pub struct IngestionEnd {
    /// Completed, failed or skipped.
    pub status: IngestionStatus,
    /// The verdict.
    pub result: ResultCode,
    /// What ended it, where something did.
    pub error: Option<ErrorNote>,
    /// Why it was left out.
    pub skip_reason: Option<String>,
    /// Everything that could not be read.
    pub problems: Vec<Problem>,
    /// A person should look.
    pub needs_review: bool,
}

impl IngestionEnd {
    /// All well, apart from `problems`.
    pub fn completed(result: ResultCode, problems: Vec<Problem>) -> Self {
        Self {
            status: IngestionStatus::Completed,
            result,
            error: None,
            skip_reason: None,
            problems,
            needs_review: false,
        }
    }

    /// Ended by `error`.
    pub fn failed(error: ErrorNote) -> Self {
        Self {
            status: IngestionStatus::Failed,
            result: ResultCode::of(error.kind),
            problems: vec![Problem::from(&error)],
            error: Some(error),
            skip_reason: None,
            needs_review: false,
        }
    }

    /// Left out because of `error`.
    pub fn skipped(error: ErrorNote) -> Self {
        Self {
            status: IngestionStatus::Skipped,
            result: ResultCode::of(error.kind),
            skip_reason: Some(error.kind.name().into()),
            problems: vec![Problem::from(&error)],
            error: Some(error),
            needs_review: false,
        }
    }
}

/// What a step found out; `None` leaves what is known.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Facts {
    /// What the content is.
    pub media_type: Option<String>,
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
    /// Where the transcript lies.
    pub transcription: Option<BlobKey>,
    /// What it is and says beside its title. Once this is there, a document without a title is unclassified. Stores
    /// keep it apart from the record of the step: it is long, and records are written often.
    #[serde(default, skip_serializing)]
    pub understanding: Option<Understanding>,
}
