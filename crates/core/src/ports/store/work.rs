//! What is said in the work protocol: receipts, claims, reports, members and sweeps.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::access::{NewAudit, Once};
use crate::artifact::Artifact;
use crate::clock::Timestamp;
use crate::error::ErrorNote;
use crate::expansion::ExpansionLimits;
use crate::id::{BatchId, BlobKey, ContentHash, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId};
use crate::ingestion::{Facts, IngestionEnd, Origin};
use crate::problem::Problem;
use crate::record::NewRecord;
use crate::task::{Lease, NewTask, Size, TaskKind};
use crate::understanding::Understanding;
use crate::usage::Usage;

/// Content that lies in the blob store already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredContent {
    /// Used if the content is new to the tenant.
    pub document_id: DocumentId,
    /// SHA-256.
    pub hash: ContentHash,
    /// Its length.
    pub bytes: u64,
    /// Where it lies.
    pub key: BlobKey,
}

/// What an item brings along.
#[derive(Clone, PartialEq, Debug)]
pub enum Arrival {
    /// Its content, and the first task to do on it.
    Content(StoredContent, NewTask),
    /// A reason why the content could not be had; the item ends at once.
    Refused(IngestionEnd),
}

/// One item that came in.
#[derive(Clone, PartialEq, Debug)]
pub struct Receipt {
    /// Whose.
    pub tenant_id: TenantId,
    /// Used if the item is new to the batch.
    pub ingestion_id: IngestionId,
    /// Of which import.
    pub batch_id: Option<BatchId>,
    /// Who brought it.
    pub origin: Origin,
    /// Where it lay, as text to show.
    pub path: String,
    /// Where it lay, exactly: bytes that need not be text. Unique in the batch, together with the content.
    pub path_bytes: Vec<u8>,
    /// The file name.
    pub name: String,
    /// Free.
    pub source_metadata: serde_json::Value,
    /// Lower first.
    pub priority: u8,
    /// What it brings along.
    pub arrival: Arrival,
}

/// What became of a receipt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Received {
    /// The item's ingestion (an older one if it was known).
    pub ingestion_id: IngestionId,
    /// Its document; null for a refused item. If this is not the proposed id, the content was there before
    /// and the proposed blob is an orphan.
    pub document_id: Option<DocumentId>,
    /// The batch holds this item (same path, same content) already: nothing was added.
    pub known: bool,
    /// The content was there before.
    pub duplicate: bool,
}

/// What comes with receipts, stored in the same transaction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Terms {
    /// If this was done before, the first answer is given again and nothing is added.
    pub once: Option<Once>,
    /// An entry of the audit log.
    pub audit: Option<NewAudit>,
    /// Only into batches that are not sealed: what they expect has been counted, and one more would never balance.
    /// Walkers open theirs again before they begin.
    pub unsealed: bool,
}

/// What became of receipts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// Of each.
    pub received: Vec<Received>,
    /// They had been accepted before, and this is the answer of then.
    pub repeated: bool,
}

/// How much work a worker wants.
#[derive(Clone, PartialEq, Debug)]
pub struct ClaimSpec {
    /// Who asks.
    pub worker_id: WorkerId,
    /// How long it may keep the work without renewing.
    pub lease: Duration,
    /// Kinds it takes now, and how many tasks of each at most.
    pub kinds: Vec<(TaskKind, usize)>,
    /// Free capacity. A task that needs more than `units` is given only if `idle`.
    pub units: u32,
    /// Nothing runs on this worker: even a task larger than the whole worker may be given.
    pub idle: bool,
    /// At most so many tasks.
    pub max_tasks: usize,
    /// Only this tenant's.
    pub tenant_id: Option<TenantId>,
}

/// What a handler reports.
#[derive(Clone, PartialEq, Debug)]
pub struct Commit {
    /// Which task.
    pub task_id: TaskId,
    /// The fence.
    pub epoch: Epoch,
    /// How long it ran.
    pub duration: Duration,
    /// What happened.
    pub outcome: Outcome,
    /// Take the next task at once, under a lease of this length, instead of queueing it.
    pub continue_for: Option<Duration>,
}

/// What happened to a task.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// It is done.
    Done(Box<Done>),
    /// It is tried again.
    Retry {
        /// Why.
        error: ErrorNote,
        /// Not before.
        run_at: Timestamp,
        /// On this size.
        size: Size,
        /// The capacity it takes there.
        units: u32,
        /// Counts as an attempt.
        charged: bool,
    },
    /// It becomes a dead letter.
    Dead {
        /// Why.
        error: ErrorNote,
        /// Counts as an attempt.
        charged: bool,
        /// What becomes of the ingestion; null while parts of it are still at work, or `next` is to be done.
        end: Option<IngestionEnd>,
        /// What the ingestion goes on with all the same.
        next: Option<NewTask>,
    },
}

/// The result of a task.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Done {
    /// One result per (ingestion, step, fingerprint).
    pub record: Option<StepRecord>,
    /// Blobs that become current.
    pub artifacts: Vec<Artifact>,
    /// What was found out.
    pub facts: Facts,
    /// What to do next.
    pub next: Option<NewTask>,
    /// What to do next in parallel, and what joins it.
    pub fan_out: Option<FanOut>,
    /// An unpack run has ended.
    pub manifest: Option<ManifestEnd>,
    /// What was paid for.
    pub usage: Vec<Usage>,
    /// The record that was extracted.
    pub extracted: Option<Box<NewRecord>>,
    /// The ingestion ends here.
    pub end: Option<IngestionEnd>,
}

/// What a step has made, so that the same work need not be done again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepRecord {
    /// The kind of task.
    pub step: TaskKind,
    /// What it depends on.
    pub fingerprint: ContentHash,
    /// Something is missing: never reused.
    pub degraded: bool,
    /// Taken over from an earlier result.
    pub reused: bool,
    /// What was made, to be taken over.
    pub facts: Facts,
    /// Blobs that were made.
    pub artifacts: Vec<Artifact>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Files lie inside, which are unpacked after it.
    #[serde(default)]
    pub members: bool,
}

impl StepRecord {
    /// The record as it was made, from where its parts are kept.
    #[must_use]
    pub fn with_understanding(mut self, understanding: Option<Understanding>) -> Self {
        if understanding.is_some() {
            self.facts.understanding = understanding;
        }
        self
    }
}

/// Parts that run side by side, and the task that runs when the last of them has ended, well or badly.
#[derive(Clone, PartialEq, Debug)]
pub struct FanOut {
    /// The parts.
    pub parts: Vec<NewTask>,
    /// The join.
    pub join: NewTask,
}

/// The end of an unpack run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ManifestEnd {
    /// Of the run. Children of runs with another fingerprint are superseded.
    pub fingerprint: ContentHash,
    /// Members the container said it has.
    pub declared: Option<u64>,
    /// Members it has but could not or may not give, beyond those that became failed children.
    pub refused: u64,
}

/// What became of a commit.
#[derive(Clone, PartialEq, Debug)]
pub enum Committed {
    /// Accepted, now or when it was first sent. The next task comes along if it was asked for and exists.
    Accepted {
        /// Already leased.
        next: Option<Box<Lease>>,
    },
    /// Somebody else owns the task, or nobody: nothing was changed.
    Stale,
}

/// What reports and a claim brought.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Exchange {
    /// What became of each report.
    pub committed: Vec<Committed>,
    /// New work, if it was asked for.
    pub claimed: Vec<Lease>,
}

/// Members of a container, as they are found.
#[derive(Clone, PartialEq, Debug)]
pub struct ChildChunk {
    /// The unpack task.
    pub task_id: TaskId,
    /// The fence.
    pub epoch: Epoch,
    /// Of the run.
    pub fingerprint: ContentHash,
    /// Members the container said it has.
    pub declared: Option<u64>,
    /// How much the outermost container may give, counted over all containers inside it.
    pub tree: ExpansionLimits,
    /// The members.
    pub children: Vec<NewChild>,
}

/// One member.
#[derive(Clone, PartialEq, Debug)]
pub struct NewChild {
    /// From 0; the child's id is made of it.
    pub position: u64,
    /// Its path inside the container.
    pub path: String,
    /// Its file name.
    pub name: String,
    /// What it brings along.
    pub arrival: Arrival,
}

/// What became of a chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChunkAnswer {
    /// For each child: the document it became. If that is not the proposed id, the proposed blob is an
    /// orphan (unless the child itself was there before under that id).
    Accepted(Vec<Option<DocumentId>>),
    /// Only so many of the first ones were taken: with the next, the outermost container would pass a limit.
    Full {
        /// The documents of those that were taken, or were there already.
        taken: Vec<Option<DocumentId>>,
        /// Which limit.
        error: ErrorNote,
    },
    /// Somebody else owns the task.
    Stale,
}

/// Who works where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewWorker {
    /// This start of this process.
    pub worker_id: WorkerId,
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// Its slots.
    pub slots: u32,
    /// Kinds it takes; empty means all.
    pub kinds: Vec<String>,
}

/// What a sweep did.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Swept {
    /// Tasks that may run again.
    pub requeued: u64,
    /// Tasks that were lost once too often, with what they were about: their ingestions end through
    /// `Store::bury`, because what that means is the plan's to say.
    pub exhausted: Vec<Lease>,
}
