//! What the command line asks of whoever owns the data directory. The same request is answered in-process or,
//! through the owner's Unix socket, by the server that runs.

use serde::{Deserialize, Serialize};

use crate::batch::{BatchChange, NewBatch, Walk};
use crate::event::EventFilter;
use crate::id::{BatchId, TaskId};
use crate::ingestion::Stage;

/// One request. The answers are the types of `answer` (and `batch`) with the matching name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// -> `BatchRun`
    OpenBatch {
        /// The tenant id inside is replaced by the caller's tenant.
        batch: NewBatch,
    },
    /// -> `BatchTotals`
    SealBatch {
        /// Which.
        batch_id: BatchId,
        /// What the walker counted.
        walk: Walk,
    },
    /// -> `BatchTotals`, by id or name
    Batch {
        /// Id or name.
        batch: String,
    },
    /// -> `BatchTotals`, when the batch has ended and the index holds all of it, or after `wait_ms`.
    WaitBatch {
        /// Which.
        batch_id: BatchId,
        /// At most so long.
        wait_ms: u64,
    },
    /// -> `ListAnswer`
    List {
        /// Only this state.
        state: Option<String>,
        /// At most so many.
        limit: usize,
        /// From the page before.
        cursor: Option<String>,
    },
    /// -> `ShowAnswer`
    Show {
        /// Of a document or an ingestion.
        id: String,
    },
    /// -> `TextAnswer` (a JSON object `{"text": …}`)
    Text {
        /// Of a document or an ingestion.
        id: String,
    },
    /// -> `SearchAnswer`
    Search {
        /// As typed.
        query: String,
        /// `text`.
        mode: String,
        /// At most so many.
        limit: usize,
        /// Equal values to insist on.
        filters: Vec<(String, String)>,
    },
    /// -> `StatusAnswer`
    Status,
    /// -> `WhyAnswer`
    Why {
        /// Of a document or an ingestion.
        id: String,
    },
    /// -> `AuditAnswer`
    Audit {
        /// Id or name.
        batch: Option<String>,
    },
    /// -> `CountAnswer`
    Retry {
        /// Of a document or an ingestion; none means all that failed.
        id: Option<String>,
    },
    /// -> `CountAnswer`
    Reprocess {
        /// Documents; empty means all that match.
        ids: Vec<String>,
        /// `state=failed`, `type=application/pdf`, …
        filter: Option<String>,
        /// Where to begin; from the start if none.
        from: Option<Stage>,
        /// Only count.
        dry_run: bool,
    },
    /// -> `CountAnswer`
    ChangeBatch {
        /// Id or name.
        batch: String,
        /// What to do.
        change: BatchChange,
    },
    /// -> `CountAnswer`
    PauseKind {
        /// Which.
        kind: String,
        /// Pause, or go on.
        paused: bool,
    },
    /// -> `DeadAnswer`
    DeadList {
        /// At most so many.
        limit: usize,
    },
    /// -> `CountAnswer`
    DeadReplay {
        /// Which; none means all.
        ids: Option<Vec<TaskId>>,
    },
    /// -> `CountAnswer`
    DeadDrop {
        /// Which; none means all.
        ids: Option<Vec<TaskId>>,
    },
    /// -> `EventsAnswer`
    Events {
        /// Which.
        filter: EventFilter,
    },
    /// -> `CountAnswer`, made while everything runs
    Backup {
        /// A directory that does not exist yet, or is empty.
        to: String,
    },
    /// -> `DoctorAnswer`
    Doctor,
    /// -> `CountAnswer`: how many blobs and events were removed
    Prune,
}
