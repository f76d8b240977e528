//! The truth: documents, ingestions, tasks, the ledger and the event log, and the verbs of the work protocol.
//!
//! A back end implements [`Store`]; the conformance suite in `testkit` says what that means. Every verb is
//! atomic, and every verb that changes something is idempotent where a caller might repeat it after a lost
//! answer.

mod work;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;

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
use crate::id::{BatchId, BlobKey, ContentHash, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId};
use crate::ingestion::IngestionEnd;
use crate::ledger::Ledger;
use crate::ports::access::Access;
use crate::ports::catalogue::Catalogue;
use crate::ports::filter::Particulars;
use crate::ports::records::Records;
use crate::task::{Lease, NewTask, TaskKind};

pub use work::{
    Accepted, Arrival, ChildChunk, ChunkAnswer, ClaimSpec, Commit, Committed, Done, Exchange, FanOut,
    ManifestEnd, NewChild, NewWorker, Outcome, Receipt, Received, StepRecord, StoredContent, Swept, Terms,
};

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
    /// Moves expired tasks, and those of workers that are known to be dead, back into the queue. Workers that have not been
    /// seen for ten minutes are dead.
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
    /// Keeps it listed; one that was taken off the list though it lives is on it again.
    async fn beat(&self, worker: WorkerId) -> Result<()>;
    /// Takes it off the list; its tasks must have been released.
    async fn retire_worker(&self, worker: WorkerId) -> Result<()>;
    /// Everyone on the list who has been seen in the last two minutes.
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
