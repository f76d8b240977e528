//! Everything the store keeps about one ingestion, for whoever must compare or explain whole states. What people
//! ask for every day is in `answer`.

use crate::artifact::Artifact;
use crate::error::ErrorNote;
use crate::id::{BatchId, ContentHash, DocumentId, IngestionId, TaskId, WorkerId};
use crate::ingestion::{Facts, IngestionStatus, Stage};
use crate::problem::{Problem, ResultCode};
use crate::state::TaskState;
use crate::task::{Attempts, Size, TaskKind};

/// One ingestion with everything that belongs to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Dossier {
    /// Which.
    pub ingestion_id: IngestionId,
    /// Its document; null where the bytes could not be had.
    pub document_id: Option<DocumentId>,
    /// Of which import.
    pub batch_id: Option<BatchId>,
    /// The container it was found in.
    pub parent_id: Option<IngestionId>,
    /// Its place there, from 0.
    pub position: Option<u64>,
    /// Containers around it.
    pub depth: u32,
    /// A newer unpack run has replaced it.
    pub superseded: bool,
    /// Where it lay.
    pub origin: String,
    /// The file name.
    pub name: String,
    /// The content was there before.
    pub duplicate: bool,
    /// How it stands.
    pub status: IngestionStatus,
    /// The verdict.
    pub result: Option<ResultCode>,
    /// Why it was left out.
    pub skip_reason: Option<String>,
    /// What ended it.
    pub error: Option<ErrorNote>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// A person should look.
    pub needs_review: bool,
    /// Failures that counted.
    pub attempt: u32,
    /// What was found out.
    pub facts: Facts,
    /// Its tasks, oldest first.
    pub tasks: Vec<TaskLine>,
    /// What its steps have made.
    pub results: Vec<ResultLine>,
    /// Its unpack runs.
    pub manifests: Vec<ManifestLine>,
    /// Blobs that were made, by name.
    pub artifacts: Vec<Artifact>,
}

/// One task.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskLine {
    /// Its number.
    pub task_id: TaskId,
    /// What it does.
    pub kind: TaskKind,
    /// The stage shown.
    pub stage: Stage,
    /// Where it stands.
    pub state: TaskState,
    /// Where it is on the ladder.
    pub size: Size,
    /// What has been tried.
    pub attempts: Attempts,
    /// Who has it now.
    pub owner: Option<WorkerId>,
    /// The last failure.
    pub error: Option<ErrorNote>,
}

/// The result of one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultLine {
    /// The kind of task.
    pub step: TaskKind,
    /// What it depends on.
    pub fingerprint: ContentHash,
    /// Something is missing.
    pub degraded: bool,
    /// Taken over from an earlier result.
    pub reused: bool,
}

/// One unpack run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ManifestLine {
    /// Of the run.
    pub fingerprint: ContentHash,
    /// Members the container said it has.
    pub declared: Option<u64>,
    /// Members that became ingestions of their own.
    pub emitted: u64,
    /// Members it could not or may not give.
    pub refused: u64,
    /// It has come to its end.
    pub ended: bool,
    /// A newer run has replaced it.
    pub superseded: bool,
}
