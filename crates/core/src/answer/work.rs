//! What is told of the work itself: how it goes, whether the sums come out, what failed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::error::ErrorNote;
use crate::id::{BatchId, ContentHash, DocumentId, IngestionId, TaskId, WorkerId};
use crate::ingestion::{IngestionStatus, Stage};
use crate::ledger::Container;

/// `status`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatusAnswer {
    /// How many there are.
    pub documents: u64,
    /// By status.
    pub ingestions: IngestionCounts,
    /// By state.
    pub tasks: TaskCounts,
    /// Who works.
    pub workers: Vec<WorkerLine>,
    /// Ended in the last ten seconds, a second.
    pub docs_per_s: f64,
    /// Open and recent imports.
    pub batches: Vec<crate::batch::BatchTotals>,
    /// Up to which change the index holds everything, and which change is the last.
    pub index: IndexState,
    /// The same of search by meaning; absent where there is no model for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meanings: Option<IndexState>,
    /// Kinds that a person has paused.
    pub paused_kinds: Vec<String>,
    /// Room left, where it is limited.
    pub free_disk_bytes: Option<u64>,
    /// The last event's number.
    pub last_event: i64,
}

/// How far the index is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct IndexState {
    /// Searchable up to here.
    pub watermark: i64,
    /// The last change.
    pub last: i64,
}

/// Ingestions by status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct IngestionCounts {
    /// Work remains.
    pub in_progress: u64,
    /// Ended well.
    pub completed: u64,
    /// Ended badly.
    pub failed: u64,
    /// Left out.
    pub skipped: u64,
    /// Cancelled.
    pub cancelled: u64,
}

impl IngestionCounts {
    /// Counts some more.
    pub fn add(&mut self, status: IngestionStatus, n: u64) {
        match status {
            IngestionStatus::InProgress => self.in_progress += n,
            IngestionStatus::Completed => self.completed += n,
            IngestionStatus::Failed => self.failed += n,
            IngestionStatus::Skipped => self.skipped += n,
            IngestionStatus::Cancelled => self.cancelled += n,
        }
    }
}

/// Tasks by state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskCounts {
    /// May be claimed, now or later.
    pub queued: u64,
    /// Held by a pause.
    pub held: u64,
    /// Leased.
    pub running: u64,
    /// Dead letters.
    pub dead: u64,
}

/// A worker.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkerLine {
    /// Which start of which process.
    pub worker_id: WorkerId,
    /// Where.
    pub host: String,
    /// Which process.
    pub pid: u32,
    /// Slots it has.
    pub slots: u32,
    /// Tasks it holds.
    pub running: u64,
    /// `free` or `busy`.
    pub state: String,
    /// Kinds it takes; empty means all.
    pub kinds: Vec<String>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it was last heard of.
    pub seen_at: Timestamp,
}

/// `why`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WhyAnswer {
    /// As asked.
    pub id: String,
    /// Of the document, or of the ingestion where there is none.
    pub state: String,
    /// Where it is.
    pub stage: Stage,
    /// In words: what has to happen next, or that nothing has.
    pub waiting_for: String,
    /// Failures that counted.
    pub attempt: u32,
    /// How many may.
    pub max_attempts: u32,
    /// The last one.
    pub last_error: Option<ErrorNote>,
    /// When it is tried again.
    pub next_try_at: Option<Timestamp>,
    /// Who has it now.
    pub lease: Option<LeaseLine>,
}

/// A lease.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeaseLine {
    /// Who.
    pub owner: WorkerId,
    /// Until when, unless renewed.
    pub until: Timestamp,
}

/// `audit`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditAnswer {
    /// Both sides agree, and no row points to a missing blob.
    pub balanced: bool,
    /// Counted by walkers and manifests.
    pub expected: u64,
    /// Ended well.
    pub completed: u64,
    /// Ended badly.
    pub failed: u64,
    /// Left out, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Outside the sum.
    pub duplicates: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// Work remains.
    pub open: u64,
    /// Batches whose walker has not finished counting.
    pub unsealed: Vec<String>,
    /// Each with its own ledger.
    pub containers: Vec<Container>,
    /// Rows against files.
    pub blobs: BlobAudit,
}

/// The ledger of a tenant or of one batch, without the look at every blob that `audit` adds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LedgerAnswer {
    /// Both sides agree.
    pub balanced: bool,
    /// Counted by walkers and manifests.
    pub expected: u64,
    /// Ended well.
    pub completed: u64,
    /// Ended badly.
    pub failed: u64,
    /// Left out, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Outside the sum.
    pub duplicates: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// Work remains.
    pub open: u64,
    /// Batches whose walker has not finished counting.
    pub unsealed: Vec<String>,
    /// Each with its own ledger.
    pub containers: Vec<Container>,
}

/// Rows against files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BlobAudit {
    /// Rows name so many.
    pub referenced: u64,
    /// So many of them are not there.
    pub missing: u64,
    /// So many are there and nothing names them; pruning removes them after a day.
    pub orphaned: u64,
}

/// `retry`, `reprocess`, `cancel`, `pause`, `resume`, `dead replay`, `dead drop`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CountAnswer {
    /// How many were changed (with `--dry-run`: would be).
    pub count: u64,
    /// How many were left as they are.
    pub skipped: u64,
    /// Why, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
    /// The batch that was made for it, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_id: Option<BatchId>,
    /// Nothing was done.
    #[serde(default)]
    pub dry_run: bool,
    /// What a language model would be asked, if one would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelEstimate>,
}

impl CountAnswer {
    /// One more is left as it is.
    pub fn skip(&mut self, reason: &str) {
        self.skipped += 1;
        *self.reasons.entry(reason.to_owned()).or_default() += 1;
    }
}

/// What asking a language model would come to, at most: what another look at a scan would settle is counted too.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelEstimate {
    /// Documents that it would be asked about.
    pub documents: u64,
    /// Questions that are not answered and paid for yet.
    pub questions: u64,
    /// Tokens that it would read, about.
    pub tokens_in: u64,
    /// Tokens that it would write, about.
    pub tokens_out: u64,
    /// By the prices in the settings; null where they name none.
    pub cost: Option<f64>,
    /// Documents that were looked at for this; the others are taken to be like them.
    pub sampled: u64,
}

/// A dead letter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeadLine {
    /// Its number.
    pub task_id: TaskId,
    /// What it should have done.
    pub kind: String,
    /// To which ingestion.
    pub ingestion_id: IngestionId,
    /// Of which document.
    pub document_id: Option<DocumentId>,
    /// Its file name.
    pub name: String,
    /// Failures that counted.
    pub attempt: u32,
    /// The last one.
    pub error: Option<ErrorNote>,
    /// When it died.
    pub died_at: Option<Timestamp>,
}

/// `dead list`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeadAnswer {
    /// Newest first.
    pub dead: Vec<DeadLine>,
}

/// `doctor`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DoctorAnswer {
    /// Nothing that matters is wrong.
    pub ok: bool,
    /// One by one.
    pub checks: Vec<DoctorCheck>,
}

/// One check.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// What was looked at.
    pub name: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found.
    pub detail: String,
    /// What to do.
    pub hint: Option<String>,
}

/// `GET /v1/events` and `docmill events`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventsAnswer {
    /// In order.
    pub events: Vec<crate::event::Event>,
    /// Older events than this one are gone.
    pub oldest: i64,
    /// Give it back as `after`.
    pub next: i64,
}

/// `migrate`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MigrateAnswer {
    /// The store everything came from.
    pub from: String,
    /// The store everything is in now.
    pub to: String,
    /// An earlier run had begun it.
    pub resumed: bool,
    /// Tasks that dead workers had, and that wait again.
    pub handed_back: u64,
    /// Rows of all tables.
    pub rows: u64,
    /// Rows of each table.
    pub tables: BTreeMap<String, u64>,
    /// Texts with a character that the target cannot hold, which was replaced by U+FFFD.
    pub replaced: u64,
    /// Blobs, over all runs.
    pub blobs: MigratedBlobs,
    /// Over everything that both stores hold.
    pub state: ContentHash,
    /// The ledger of every tenant balances; both sides have the same one.
    pub balanced: bool,
    /// Items that the ledgers of all tenants expect.
    pub expected: u64,
    /// Of this run.
    pub elapsed_ms: u64,
}

/// What became of blobs in `migrate`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MigratedBlobs {
    /// Copied, and read back.
    pub copied: u64,
    /// There already, and read.
    pub present: u64,
    /// Not in the source.
    pub missing: u64,
    /// Not in the source as its rows say, and copied as they are.
    pub damaged: u64,
    /// Bytes that were copied.
    pub bytes: u64,
}
