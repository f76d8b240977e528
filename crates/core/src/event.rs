//! What subscribers hear. Numbered without gaps for each tenant, so that a follower knows what it missed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::id::{BatchId, DocumentId, IngestionId, TenantId};
use crate::task::TaskKind;

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are the vocabulary of N-22 and say what they mean")]
pub enum EventType {
    JobQueued,
    JobStarted,
    JobFinished,
    DocumentAdded,
    DocumentProcessed,
    TaskAdded,
    TaskFinished,
    WorkerStarted,
    WorkerFinished,
    Error,
    Warning,
    Notification,
    ImportCancelled,
}

impl EventType {
    /// Every type.
    pub const ALL: &'static [Self] = &[
        Self::JobQueued,
        Self::JobStarted,
        Self::JobFinished,
        Self::DocumentAdded,
        Self::DocumentProcessed,
        Self::TaskAdded,
        Self::TaskFinished,
        Self::WorkerStarted,
        Self::WorkerFinished,
        Self::Error,
        Self::Warning,
        Self::Notification,
        Self::ImportCancelled,
    ];

    /// As sent.
    pub fn name(self) -> &'static str {
        match self {
            Self::JobQueued => "JOB_QUEUED",
            Self::JobStarted => "JOB_STARTED",
            Self::JobFinished => "JOB_FINISHED",
            Self::DocumentAdded => "DOCUMENT_ADDED",
            Self::DocumentProcessed => "DOCUMENT_PROCESSED",
            Self::TaskAdded => "TASK_ADDED",
            Self::TaskFinished => "TASK_FINISHED",
            Self::WorkerStarted => "WORKER_STARTED",
            Self::WorkerFinished => "WORKER_FINISHED",
            Self::Error => "ERROR",
            Self::Warning => "WARNING",
            Self::Notification => "NOTIFICATION",
            Self::ImportCancelled => "IMPORT_CANCELLED",
        }
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|t| t.name() == name)
    }
}

/// How it went.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EventStatus {
    /// Well.
    Success,
    /// Not well.
    Error,
}

/// An event as stored, before it has a number. The short keys keep the log small; readers see [`Event`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EventBody {
    /// What happened.
    #[serde(rename = "t")]
    pub kind: EventType,
    /// In which import.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub batch_id: Option<BatchId>,
    /// To which document.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentId>,
    /// In which ingestion.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    pub ingestion_id: Option<IngestionId>,
    /// By which kind of task.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub task_kind: Option<TaskKind>,
    /// How it went.
    #[serde(rename = "s")]
    pub status: EventStatus,
    /// More.
    #[serde(rename = "x", default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Value>,
}

impl EventBody {
    /// A successful event about nothing in particular yet.
    pub fn new(kind: EventType) -> Self {
        Self {
            kind,
            batch_id: None,
            document_id: None,
            ingestion_id: None,
            task_kind: None,
            status: EventStatus::Success,
            detail: None,
        }
    }
}

/// An event as subscribers see it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Counts up by one within a tenant.
    pub id: i64,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// When.
    pub time: Timestamp,
    /// Whose.
    pub tenant: TenantId,
    /// In which import.
    pub batch_id: Option<BatchId>,
    /// To which document.
    pub document_id: Option<DocumentId>,
    /// In which ingestion.
    pub ingestion_id: Option<IngestionId>,
    /// By which kind of task.
    pub task_kind: Option<TaskKind>,
    /// How it went.
    pub status: EventStatus,
    /// More.
    pub detail: Value,
}

impl Event {
    /// Gives a stored body its number.
    pub fn numbered(id: i64, time: Timestamp, tenant: TenantId, body: EventBody) -> Self {
        Self {
            id,
            kind: body.kind,
            time,
            tenant,
            batch_id: body.batch_id,
            document_id: body.document_id,
            ingestion_id: body.ingestion_id,
            task_kind: body.task_kind,
            status: body.status,
            detail: body.detail.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        }
    }
}

/// Which events a subscriber wants.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct EventFilter {
    /// Only later ones.
    #[serde(default)]
    pub after: i64,
    /// At most so many.
    #[serde(default)]
    pub limit: Option<usize>,
    /// Only of these types (all if empty).
    #[serde(default)]
    pub types: Vec<EventType>,
    /// Only of this import.
    #[serde(default)]
    pub batch_id: Option<BatchId>,
    /// Only about this document.
    #[serde(default)]
    pub document_id: Option<DocumentId>,
}
