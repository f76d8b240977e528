//! The truth: documents, ingestions, tasks, the ledger and the event log, and the verbs of the work protocol.
//!
//! A back end implements [`Store`]; the conformance suite in `testkit` says what that means. Every verb is
//! atomic, and every verb that changes something is idempotent where a caller might repeat it after a lost
//! answer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::access::{NewAudit, Once};
use crate::answer::{
    BatchesAnswer, CountAnswer, DeadLine, EventsAnswer, IngestionAnswer, IngestionCounts, ListAnswer,
    ProblemGroup, ShowAnswer, StatusAnswer, TaskCounts, WhyAnswer, WorkLine, WorkerLine,
};
use crate::artifact::Artifact;
use crate::batch::{BatchChange, BatchRun, BatchState, BatchTotals, NewBatch, Walk};
use crate::clock::Timestamp;
use crate::document::DocumentState;
use crate::dossier::Dossier;
use crate::error::{Error, ErrorKind, ErrorNote, Result};
use crate::event::EventFilter;
use crate::expansion::ExpansionLimits;
use crate::id::{BatchId, BlobKey, ContentHash, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId};
use crate::ingestion::{Facts, IngestionEnd, Origin};
use crate::ledger::Ledger;
use crate::ports::access::Access;
use crate::ports::catalogue::Catalogue;
use crate::ports::filter::Particulars;
use crate::ports::records::Records;
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

/// A document as the text index needs it.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangedDocument {
    /// Its place in the change log.
    pub seq: i64,
    /// Whose.
    pub tenant_id: TenantId,
    /// Which.
    pub document_id: DocumentId,
    /// It is gone.
    pub removed: bool,
    /// Its file name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// What it is.
    pub media_type: Option<String>,
    /// What was found out about it.
    pub particulars: Particulars,
    /// Where its text lies.
    pub transcription: Option<BlobKey>,
}

/// A document as search results and downloads need it.
#[derive(Clone, PartialEq, Debug)]
pub struct DocumentHead {
    /// Which.
    pub document_id: DocumentId,
    /// Its file name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// What it is.
    pub media_type: Option<String>,
    /// Its length.
    pub bytes: u64,
    /// Where the original lies.
    pub key: BlobKey,
    /// Where its text lies.
    pub transcription: Option<BlobKey>,
}

/// Which documents to list.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ListQuery {
    /// Only in this state.
    pub state: Option<DocumentState>,
    /// Only of this media type; `image/*` is every image.
    pub media_type: Option<String>,
    /// Only what is this: `invoice`, as words or else the meaning say.
    pub kind: Option<String>,
    /// Only in this language.
    pub language: Option<String>,
    /// Only what first came in at this moment or later.
    pub since: Option<Timestamp>,
    /// Only what first came in before this moment.
    pub until: Option<Timestamp>,
    /// Only what came in with this batch, also if it was there before.
    pub batch: Option<BatchId>,
    /// Only what has this tag, by its key.
    pub tag: Option<String>,
    /// Only these.
    pub ids: Option<Vec<DocumentId>>,
    /// At most so many.
    pub limit: usize,
    /// From the page before.
    pub cursor: Option<String>,
}

impl ListQuery {
    /// The first page of all documents.
    pub fn all(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }
}

/// Which documents to process again.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Selection {
    /// These; empty means all that match.
    pub ids: Vec<DocumentId>,
    /// Only in this state.
    pub state: Option<DocumentState>,
    /// Only of this media type; `image/*` is every image.
    pub media_type: Option<String>,
    /// Only what is this: `invoice`, as words or else the meaning say.
    pub kind: Option<String>,
}

/// A document that `reprocess` starts again.
#[derive(Clone, PartialEq, Debug)]
pub struct Selected {
    /// Which.
    pub head: DocumentHead,
    /// Of its content.
    pub hash: ContentHash,
    /// What kind of document it was found to be by its words, by which records are taken: `invoice`.
    pub kind: Option<String>,
    /// It has an open ingestion: starting another would do the same work twice.
    pub busy: bool,
}

/// Counts over all tenants, for those who watch the machine and not the documents.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// How many there are.
    pub documents: u64,
    /// By status.
    pub ingestions: IngestionCounts,
    /// Tasks that have not ended well; a kind without any may be left out.
    pub tasks: Vec<(TaskKind, TaskCounts)>,
    /// By state; a state without any may be left out.
    pub batches: Vec<(BatchState, u64)>,
    /// Workers on the list.
    pub workers: u64,
    /// Events that were ever numbered, of all tenants together.
    pub events: u64,
}

/// The store. Every method names the tenant it works for, or works for the engine as a whole.
#[async_trait]
pub trait Store: Access + Catalogue + Records {
    // Tenants.

    /// The tenant of that name, made if there is none.
    async fn tenant(&self, name: &str) -> Result<TenantId>;

    // Batches.

    /// Opens a batch, or the one of that name again (a sealed or finished one is reopened, a cancelled one is
    /// a `conflict`).
    async fn open_batch(&self, batch: NewBatch) -> Result<BatchRun>;
    /// Stores the walker's own count and seals. The batch finishes when nothing is open.
    async fn seal_batch(&self, tenant: TenantId, batch: BatchId, walk: Walk) -> Result<BatchTotals>;
    /// By id or by name.
    async fn find_batch(&self, tenant: TenantId, id_or_name: &str) -> Result<Option<BatchTotals>>;
    /// Newest first, page by page.
    async fn batches(&self, tenant: TenantId, limit: usize, cursor: Option<&str>) -> Result<BatchesAnswer>;
    /// Pauses, resumes, cancels or gives another priority. Counts the tasks it touched.
    async fn change_batch(&self, tenant: TenantId, batch: BatchId, change: BatchChange) -> Result<u64>;

    // Receiving.

    /// The documents that have this content.
    async fn known(&self, tenant: TenantId, hashes: &[ContentHash]) -> Result<Vec<Option<DocumentId>>>;
    /// Document (upsert), ingestion and first task of each item, and what comes with them, all in one transaction. All
    /// items are one tenant's where they come on terms.
    async fn accept(&self, receipts: Vec<Receipt>, terms: Terms) -> Result<Accepted>;
    /// The same, on no terms.
    async fn receive(&self, receipts: Vec<Receipt>) -> Result<Vec<Received>> {
        self.accept(receipts, Terms::default()).await.map(|accepted| accepted.received)
    }
    /// Opens a new ingestion of a document that is there, beginning with `first`.
    async fn reprocess(
        &self,
        tenant: TenantId,
        batch: BatchId,
        items: Vec<(IngestionId, DocumentId, NewTask)>,
    ) -> Result<u64>;

    /// Takes a document out: stops its work, forgets what was made from it, and tells followers. Its ingestions stay in
    /// the account, without it. Answers the blobs that nothing names any more, or nothing if there is no such document.
    async fn remove(&self, tenant: TenantId, document: DocumentId) -> Result<Option<Vec<BlobKey>>>;

    // The work protocol.

    /// Takes queued tasks whose time has come, fairly over tenants, in order of priority and age.
    async fn claim(&self, spec: ClaimSpec) -> Result<Vec<Lease>>;
    /// Prolongs leases; answers those that are lost (swept, cancelled), which must stop at once.
    async fn renew(
        &self,
        worker: WorkerId,
        held: Vec<(TaskId, Epoch)>,
        lease: Duration,
    ) -> Result<Vec<TaskId>>;
    /// Takes reports and gives new work in return, all in one transaction. A report is accepted only under the
    /// current epoch, and the same one again gets the same answer; if one cannot be stored, none is.
    async fn exchange(&self, reports: Vec<Arc<Commit>>, claim: Option<ClaimSpec>) -> Result<Exchange>;
    /// One report, and no new work.
    async fn commit(&self, commit: Commit) -> Result<Committed> {
        let mut answer = self.exchange(vec![Arc::new(commit)], None).await?;
        answer.committed.pop().ok_or_else(|| Error::bug("the store did not answer a report"))
    }
    /// Adds members of a container under the unpack task's lease. Idempotent. Counts as progress.
    async fn add_children(&self, chunk: ChildChunk) -> Result<ChunkAnswer>;
    /// Hands work back untouched and uncharged.
    async fn release(&self, held: Vec<(TaskId, Epoch)>) -> Result<u64>;
    /// Moves expired tasks, and those of workers that are known to be dead, back into the queue.
    async fn sweep(&self, dead_workers: &[WorkerId]) -> Result<Swept>;
    /// Ends a task that `sweep` reported as exhausted.
    async fn bury(&self, task: TaskId, epoch: Epoch, error: ErrorNote, end: IngestionEnd) -> Result<()>;
    /// The last result with this fingerprint that is not degraded.
    async fn find_step(
        &self,
        tenant: TenantId,
        step: &TaskKind,
        fingerprint: &ContentHash,
    ) -> Result<Option<StepRecord>>;
    /// The artifacts of an ingestion whose name begins with `prefix` (parts, for their join).
    async fn artifacts(&self, ingestion: IngestionId, prefix: &str) -> Result<Vec<Artifact>>;
    /// When the next queued task of these kinds is due (now or later); `None` if none is queued or held back
    /// only by a pause.
    async fn next_due(&self, kinds: &[TaskKind]) -> Result<Option<Timestamp>>;
    /// What a worker with `--exit-when-idle` waits for: queued tasks of its kinds and its tenant that no pause
    /// keeps back, and whatever runs, because that may lead to more of them.
    async fn open_tasks(&self, kinds: &[TaskKind], tenant: Option<TenantId>) -> Result<u64>;

    // Workers.

    /// Announces a worker.
    async fn register_worker(&self, worker: NewWorker) -> Result<()>;
    /// Keeps it listed.
    async fn beat(&self, worker: WorkerId) -> Result<()>;
    /// Takes it off the list; its tasks must have been released.
    async fn retire_worker(&self, worker: WorkerId) -> Result<()>;
    /// Everyone on the list.
    async fn workers(&self) -> Result<Vec<WorkerLine>>;

    // Steering.

    /// Stops or starts claims of a kind.
    async fn pause_kind(&self, kind: &TaskKind, paused: bool) -> Result<()>;
    /// Starts what ended badly again: the dead tasks of one ingestion or document, or of all.
    async fn retry(&self, tenant: TenantId, id: Option<&str>) -> Result<CountAnswer>;
    /// Dead letters, newest first.
    async fn dead(&self, tenant: TenantId, limit: usize) -> Result<Vec<DeadLine>>;
    /// Queues dead letters again with fresh attempts.
    async fn dead_replay(&self, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64>;
    /// Dismisses dead letters.
    async fn dead_drop(&self, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64>;

    // Looking.

    /// Counts of everything. Free disk space and the index watermark are the caller's to fill in.
    async fn status(&self, tenant: TenantId) -> Result<StatusAnswer>;
    /// Tasks by kind, stage and state: all of one batch, or what waits and runs of all.
    async fn work(&self, tenant: TenantId, batch: Option<BatchId>) -> Result<Vec<WorkLine>>;
    /// Newest first, without bodies.
    async fn list(&self, tenant: TenantId, query: &ListQuery) -> Result<ListAnswer>;
    /// Everything about one document, by its id or one of its ingestions'.
    async fn show(&self, tenant: TenantId, id: &str) -> Result<Option<ShowAnswer>>;
    /// Everything about one ingestion.
    async fn ingestion(&self, tenant: TenantId, id: IngestionId) -> Result<Option<IngestionAnswer>>;
    /// What documents and refused items lack, by cause, the most frequent first: of each document what its newest ended
    /// ingestion says, and of it the first problem.
    async fn problems(&self, tenant: TenantId) -> Result<Vec<ProblemGroup>>;
    /// The documents whose first problem is of this kind.
    async fn having_problem(&self, tenant: TenantId, cause: ErrorKind) -> Result<Vec<DocumentId>>;
    /// Why an item is not done (or that it is), by document or ingestion id.
    async fn why(&self, tenant: TenantId, id: &str) -> Result<Option<WhyAnswer>>;
    /// The heads of these documents; those of other tenants are left out.
    async fn heads(&self, tenant: TenantId, ids: &[DocumentId]) -> Result<Vec<DocumentHead>>;
    /// The document behind a document or ingestion id.
    async fn head(&self, tenant: TenantId, id: &str) -> Result<Option<DocumentHead>>;
    /// Documents to process again.
    async fn select(&self, tenant: TenantId, selection: &Selection) -> Result<Vec<Selected>>;
    /// Counts over all tenants. Costs a look at every queued task, so it is not for every second.
    async fn tally(&self) -> Result<Tally>;
    /// How many tenants have a ledger that does not balance, in total or for one of their containers. Costs a look
    /// at every ingestion.
    async fn unbalanced(&self) -> Result<u64>;
    /// Both sides of the ledger, of one batch or of all.
    async fn ledger(&self, tenant: TenantId, batch: Option<BatchId>) -> Result<Ledger>;
    /// Every blob key that a row names, in order, page by page: keys after `after`.
    async fn blob_keys(&self, after: Option<&BlobKey>, limit: usize) -> Result<Vec<BlobKey>>;
    /// Which of these keys a row names.
    async fn referenced(&self, keys: &[BlobKey]) -> Result<Vec<bool>>;
    /// Everything about every ingestion, in order of their ids, page by page: those after `after`.
    async fn dossiers(
        &self,
        tenant: TenantId,
        after: Option<IngestionId>,
        limit: usize,
    ) -> Result<Vec<Dossier>>;
    /// Events in order.
    async fn events(&self, tenant: TenantId, filter: &EventFilter) -> Result<EventsAnswer>;

    // Followers and maintenance.

    /// Documents that changed after `seq`, in order, each once with its latest change.
    async fn changes(&self, after: i64, limit: usize) -> Result<Vec<ChangedDocument>>;
    /// The last change.
    async fn last_change(&self) -> Result<i64>;
    /// Removes events older than `before`, keeping the numbering, and answers to requests that are honoured no more.
    async fn prune_events(&self, before: Timestamp) -> Result<u64>;
    /// Writes a consistent copy of the state into `directory`.
    async fn backup(&self, directory: &std::path::Path) -> Result<()>;
    /// Counts up whenever new work may be there. A receiver misses nothing, and may wake for nothing.
    fn work_added(&self) -> watch::Receiver<u64>;
    /// Counts up whenever the change log has grown, for followers of it.
    fn documents_changed(&self) -> watch::Receiver<u64>;
    /// Counts up whenever a document changed, a batch ended or an event was written.
    fn changed(&self) -> watch::Receiver<u64>;
}
