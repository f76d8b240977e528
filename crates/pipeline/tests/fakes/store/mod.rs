//! A store in memory: the work protocol without batches, fairness or events, and with faults on demand.

mod others;
mod state;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::answer::{
    BatchesAnswer, CountAnswer, DeadLine, EventsAnswer, IngestionAnswer, ListAnswer, ProblemGroup,
    ShowAnswer, StatusAnswer, WhyAnswer, WorkLine, WorkerLine,
};
use docmill_core::artifact::Artifact;
use docmill_core::batch::{BatchChange, BatchRun, BatchTotals, NewBatch, Walk};
use docmill_core::clock::{Clock, Timestamp};
use docmill_core::dossier::Dossier;
use docmill_core::error::ErrorNote;
use docmill_core::event::EventFilter;
use docmill_core::id::{
    BatchId, BlobKey, ContentHash, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId,
};
use docmill_core::ingestion::{Facts, IngestionEnd};
use docmill_core::ledger::Ledger;
use docmill_core::ports::Store;
use docmill_core::ports::store::{
    Accepted, ChangedDocument, ChildChunk, ChunkAnswer, ClaimSpec, Commit, Committed, DocumentHead, Done,
    Exchange, ListQuery, ManifestEnd, NewWorker, Outcome, Receipt, Received, Selected, Selection, StepRecord,
    Swept, Tally, Terms,
};
use docmill_core::record::NewRecord;
use docmill_core::state::TaskState;
use docmill_core::task::{Attempts, Lease, MAX_LOST, NewTask, TaskKind};
use docmill_core::{Error, ErrorKind, Result};
use state::State;
use tokio::sync::watch;

pub(crate) struct FakeStore {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    added: watch::Sender<u64>,
    changed: watch::Sender<u64>,
    /// So many commits fail before they reach the store.
    pub(crate) failing_commits: AtomicU32,
    /// Renewals fail.
    pub(crate) failing_renewals: AtomicBool,
    /// So often it was asked to count.
    pub(crate) tallies: AtomicU32,
    /// Counting takes so long, in milliseconds.
    pub(crate) slow_tallies: AtomicU32,
    /// Counting fails.
    pub(crate) failing_tallies: AtomicBool,
}

impl FakeStore {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            state: Mutex::default(),
            added: watch::channel(0).0,
            changed: watch::channel(0).0,
            failing_commits: AtomicU32::new(0),
            failing_renewals: AtomicBool::new(false),
            tallies: AtomicU32::new(0),
            slow_tallies: AtomicU32::new(0),
            failing_tallies: AtomicBool::new(false),
        }
    }

    /// How the ingestion of that name ended.
    pub(crate) fn end(&self, name: &str) -> Option<IngestionEnd> {
        let state = self.state.lock().unwrap();
        state.ingestions.iter().find(|i| i.name == name).and_then(|i| i.end.clone())
    }

    /// What is known of it.
    pub(crate) fn facts(&self, name: &str) -> Facts {
        let state = self.state.lock().unwrap();
        state.ingestions.iter().find(|i| i.name == name).map(|i| i.facts.clone()).unwrap_or_default()
    }

    /// What meanings say that documents are.
    pub(crate) fn kinds_by_meaning(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.judged.values().flatten().filter_map(|judged| judged.kind.clone()).collect()
    }

    /// Adds so many changed documents to the change log.
    pub(crate) fn change_documents(&self, count: usize) {
        for _ in 0..count {
            let number = self.state.lock().unwrap().changes.len() as u128 + 1;
            self.log_change(number, &format!("{number}.txt"), None);
        }
        self.changed.send_modify(|n| *n += 1);
    }

    /// Changes the document of this number to one of this name, with the text that its ingestion has made.
    pub(crate) fn change_document(&self, number: u128, name: &str) {
        let transcription = self.facts(name).transcription;
        self.log_change(number, name, transcription);
        self.changed.send_modify(|n| *n += 1);
    }

    fn log_change(&self, number: u128, name: &str, transcription: Option<BlobKey>) {
        let mut state = self.state.lock().unwrap();
        let seq = state.changes.len() as i64 + 1;
        state.changes.push(ChangedDocument {
            seq,
            tenant_id: TenantId(uuid::Uuid::from_u128(7)),
            document_id: DocumentId(uuid::Uuid::from_u128(number)),
            removed: false,
            name: name.to_owned(),
            title: None,
            media_type: None,
            particulars: docmill_core::ports::filter::Particulars::default(),
            transcription,
        });
    }

    /// Everything that was reported, in order.
    pub(crate) fn log(&self) -> Vec<String> {
        self.state.lock().unwrap().log.clone()
    }

    /// Returns once so much was reported.
    pub(crate) async fn logged(&self, lines: usize) {
        let mut changed = self.changed.subscribe();
        while self.log().len() < lines {
            changed.changed().await.unwrap();
        }
    }

    pub(crate) fn extracted(&self) -> Vec<NewRecord> {
        self.state.lock().unwrap().extracted.clone()
    }

    pub(crate) fn manifests(&self) -> Vec<ManifestEnd> {
        self.state.lock().unwrap().manifests.clone()
    }

    pub(crate) fn workers_listed(&self) -> usize {
        self.state.lock().unwrap().workers.len()
    }

    /// The states of all tasks of that kind.
    pub(crate) fn states(&self, kind: &str) -> Vec<TaskState> {
        let state = self.state.lock().unwrap();
        state.tasks.iter().filter(|t| t.lease.kind.as_str() == kind).map(|t| t.state).collect()
    }

    /// The epochs of all tasks of that kind.
    pub(crate) fn epochs(&self, kind: &str) -> Vec<Epoch> {
        let state = self.state.lock().unwrap();
        state.tasks.iter().filter(|t| t.lease.kind.as_str() == kind).map(|t| t.lease.epoch).collect()
    }

    pub(crate) fn attempts(&self, kind: &str) -> Vec<Attempts> {
        let state = self.state.lock().unwrap();
        state.tasks.iter().filter(|t| t.lease.kind.as_str() == kind).map(|t| t.lease.attempts).collect()
    }

    /// Gives every running task to nobody who works, as a cancel or a sweep elsewhere would.
    pub(crate) fn take_away(&self) {
        let mut state = self.state.lock().unwrap();
        for task in state.tasks.iter_mut().filter(|t| t.state == TaskState::Running) {
            task.lease.epoch.0 += 1;
            task.state = TaskState::Cancelled;
        }
    }

    /// A running task that has been lost so often that nobody tries it again.
    pub(crate) fn wear_out(&self) {
        let mut state = self.state.lock().unwrap();
        for task in state.tasks.iter_mut().filter(|t| t.state == TaskState::Queued) {
            task.state = TaskState::Running;
            task.lease.attempts.lost = MAX_LOST;
            task.lease.until = Timestamp(0);
        }
    }

    fn wake(&self) {
        self.added.send_modify(|n| *n += 1);
        self.changed.send_modify(|n| *n += 1);
    }
}

fn absent<T>() -> Result<T> {
    Err(Error::bug("not part of the fake"))
}

#[async_trait]
impl Store for FakeStore {
    async fn known(&self, _tenant: TenantId, hashes: &[ContentHash]) -> Result<Vec<Option<DocumentId>>> {
        let state = self.state.lock().unwrap();
        Ok(hashes.iter().map(|hash| state.documents.get(hash).map(|d| d.document_id)).collect())
    }

    async fn accept(&self, receipts: Vec<Receipt>, _terms: Terms) -> Result<Accepted> {
        let now = self.clock.now();
        let mut state = self.state.lock().unwrap();
        let mut out = Vec::new();
        for receipt in receipts {
            let ingestion_id = receipt.ingestion_id;
            let who = (ingestion_id, receipt.name.as_str(), 0);
            let (document_id, duplicate) = state.arrive(now, receipt.tenant_id, who, receipt.arrival);
            out.push(Received { ingestion_id, document_id, known: false, duplicate });
        }
        drop(state);
        self.wake();
        Ok(Accepted { received: out, repeated: false })
    }

    async fn claim(&self, spec: ClaimSpec) -> Result<Vec<Lease>> {
        let now = self.clock.now();
        let mut state = self.state.lock().unwrap();
        let mut out = Vec::new();
        let due = state.tasks.iter_mut().filter(|t| t.state == TaskState::Queued && t.run_at <= now);
        for task in
            due.filter(|t| spec.kinds.iter().any(|(kind, _)| *kind == t.lease.kind)).take(spec.max_tasks)
        {
            task.state = TaskState::Running;
            task.lease.epoch.0 += 1;
            task.lease.attempts.lost += 1;
            task.lease.worker_id = spec.worker_id;
            task.lease.until = now.plus(spec.lease);
            out.push(Lease { waited: Some(now.since(task.run_at)), ..task.lease.clone() });
        }
        Ok(out)
    }

    async fn renew(
        &self,
        _worker: WorkerId,
        held: Vec<(TaskId, Epoch)>,
        lease: Duration,
    ) -> Result<Vec<TaskId>> {
        if self.failing_renewals.load(Ordering::SeqCst) {
            return Err(Error::unavailable("the database is cut off"));
        }
        let until = self.clock.now().plus(lease);
        let mut state = self.state.lock().unwrap();
        let mut lost = Vec::new();
        for (id, epoch) in held {
            let task = &mut state.tasks[id.0 as usize - 1];
            if task.state == TaskState::Running && task.lease.epoch == epoch {
                task.lease.until = until;
            } else {
                lost.push(id);
            }
        }
        Ok(lost)
    }

    async fn exchange(&self, reports: Vec<Arc<Commit>>, claim: Option<ClaimSpec>) -> Result<Exchange> {
        let mut answer = Exchange::default();
        for report in reports {
            answer.committed.push(self.commit(Commit::clone(&report)).await?);
        }
        if let Some(spec) = claim {
            answer.claimed = self.claim(spec).await?;
        }
        Ok(answer)
    }

    async fn commit(&self, commit: Commit) -> Result<Committed> {
        if self.failing_commits.load(Ordering::SeqCst) > 0 {
            self.failing_commits.fetch_sub(1, Ordering::SeqCst);
            return Err(Error::unavailable("the database is cut off"));
        }
        let now = self.clock.now();
        let mut state = self.state.lock().unwrap();
        let index = commit.task_id.0 as usize - 1;
        let task = &mut state.tasks[index];
        let kind = task.lease.kind.clone();
        if task.state != TaskState::Running || task.lease.epoch != commit.epoch {
            state.log.push(format!("{kind}: stale"));
            drop(state);
            self.wake();
            return Ok(Committed::Stale);
        }
        task.lease.attempts.lost = 0;
        let next = match commit.outcome {
            Outcome::Done(done) => {
                task.state = TaskState::Done;
                let reused = done.record.as_ref().is_some_and(|record| record.reused);
                state.log.push(format!("{kind}: {}", if reused { "reused" } else { "done" }));
                state.finish(now, commit.task_id, *done, commit.continue_for)
            }
            Outcome::Retry { error, run_at, size, units, charged } => {
                task.state = TaskState::Queued;
                let (attempts, grown) = (&mut task.lease.attempts, task.lease.size != size);
                attempts.total += u32::from(charged);
                attempts.in_size = if grown { 0 } else { attempts.in_size + u32::from(charged) };
                task.lease.failing_since.get_or_insert(now);
                (task.run_at, task.lease.size, task.lease.units) = (run_at, size, units);
                state.log.push(format!("{kind}: retry on {} after {}", size.name(), error.kind));
                None
            }
            Outcome::Dead { error, charged, end, next } => {
                task.state = TaskState::Dead;
                task.lease.attempts.total += u32::from(charged);
                state.log.push(format!("{kind}: dead after {}", error.kind));
                state.finish(now, commit.task_id, Done { end, next, ..Done::default() }, None)
            }
        };
        drop(state);
        self.wake();
        Ok(Committed::Accepted { next: next.map(Box::new) })
    }

    async fn add_children(&self, chunk: ChildChunk) -> Result<ChunkAnswer> {
        let now = self.clock.now();
        let mut state = self.state.lock().unwrap();
        let task = &state.tasks[chunk.task_id.0 as usize - 1];
        if task.state != TaskState::Running || task.lease.epoch != chunk.epoch {
            return Ok(ChunkAnswer::Stale);
        }
        let parent = task.lease.subject.clone();
        let mut out = Vec::new();
        for child in chunk.children {
            let id = parent.ingestion_id.child(&chunk.fingerprint, child.position);
            let who = (id, child.path.as_str(), parent.depth + 1);
            out.push(state.arrive(now, parent.tenant_id, who, child.arrival).0);
        }
        drop(state);
        self.wake();
        Ok(ChunkAnswer::Accepted(out))
    }

    async fn release(&self, held: Vec<(TaskId, Epoch)>) -> Result<u64> {
        let mut state = self.state.lock().unwrap();
        for (id, _) in &held {
            let task = &mut state.tasks[id.0 as usize - 1];
            task.state = TaskState::Queued;
            task.lease.attempts.lost = 0;
        }
        state.log.push(format!("released {}", held.len()));
        Ok(held.len() as u64)
    }

    async fn sweep(&self, _dead_workers: &[WorkerId]) -> Result<Swept> {
        let now = self.clock.now();
        let mut state = self.state.lock().unwrap();
        let mut swept = Swept::default();
        for task in state.tasks.iter_mut().filter(|t| t.state == TaskState::Running && t.lease.until < now) {
            task.lease.epoch.0 += 1;
            if task.lease.attempts.lost >= MAX_LOST {
                task.lease.until = now.plus(Duration::from_mins(1));
                swept.exhausted.push(task.lease.clone());
            } else {
                task.state = TaskState::Queued;
                swept.requeued += 1;
            }
        }
        Ok(swept)
    }

    async fn bury(&self, task: TaskId, _epoch: Epoch, error: ErrorNote, end: IngestionEnd) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        state.tasks[task.0 as usize - 1].state = TaskState::Dead;
        let kind = state.tasks[task.0 as usize - 1].lease.kind.clone();
        state.log.push(format!("{kind}: buried after {}", error.kind));
        let done = Done { end: Some(end), ..Done::default() };
        state.finish(self.clock.now(), task, done, None);
        Ok(())
    }

    async fn find_step(
        &self,
        _tenant: TenantId,
        step: &TaskKind,
        fingerprint: &ContentHash,
    ) -> Result<Option<StepRecord>> {
        let state = self.state.lock().unwrap();
        let fits = |r: &&StepRecord| r.step == *step && r.fingerprint == *fingerprint && !r.degraded;
        Ok(state.records.iter().find(fits).cloned())
    }

    async fn artifacts(&self, ingestion: IngestionId, prefix: &str) -> Result<Vec<Artifact>> {
        let state = self.state.lock().unwrap();
        let of = state.ingestions.iter().filter(|i| i.id == ingestion).flat_map(|i| &i.artifacts);
        Ok(of.filter(|a| a.name.starts_with(prefix)).cloned().collect())
    }

    async fn next_due(&self, _kinds: &[TaskKind]) -> Result<Option<Timestamp>> {
        let state = self.state.lock().unwrap();
        Ok(state.tasks.iter().filter(|t| t.state == TaskState::Queued).map(|t| t.run_at).min())
    }

    async fn open_tasks(&self, _kinds: &[TaskKind], _tenant: Option<TenantId>) -> Result<u64> {
        Ok(self.state.lock().unwrap().tasks.iter().filter(|t| t.state.is_open()).count() as u64)
    }

    async fn register_worker(&self, worker: NewWorker) -> Result<()> {
        self.state.lock().unwrap().workers.push(worker.worker_id);
        Ok(())
    }

    async fn beat(&self, _worker: WorkerId) -> Result<()> {
        Ok(())
    }

    async fn retire_worker(&self, worker: WorkerId) -> Result<()> {
        self.state.lock().unwrap().workers.retain(|w| *w != worker);
        Ok(())
    }

    async fn changes(&self, after: i64, limit: usize) -> Result<Vec<ChangedDocument>> {
        let state = self.state.lock().unwrap();
        Ok(state.changes.iter().filter(|change| change.seq > after).take(limit).cloned().collect())
    }

    async fn last_change(&self) -> Result<i64> {
        Ok(self.state.lock().unwrap().changes.len() as i64)
    }

    fn work_added(&self) -> watch::Receiver<u64> {
        self.added.subscribe()
    }

    fn documents_changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    // What no scenario here needs.

    async fn tenant(&self, _name: &str) -> Result<TenantId> {
        absent()
    }
    async fn open_batch(&self, _batch: NewBatch) -> Result<BatchRun> {
        absent()
    }
    async fn seal_batch(&self, _tenant: TenantId, _batch: BatchId, _walk: Walk) -> Result<BatchTotals> {
        absent()
    }
    async fn find_batch(&self, _tenant: TenantId, _id_or_name: &str) -> Result<Option<BatchTotals>> {
        absent()
    }
    async fn change_batch(&self, _tenant: TenantId, _batch: BatchId, _change: BatchChange) -> Result<u64> {
        absent()
    }
    async fn reprocess(
        &self,
        _tenant: TenantId,
        _batch: BatchId,
        _items: Vec<(IngestionId, DocumentId, NewTask)>,
    ) -> Result<u64> {
        absent()
    }
    async fn workers(&self) -> Result<Vec<WorkerLine>> {
        absent()
    }
    async fn pause_kind(&self, _kind: &TaskKind, _paused: bool) -> Result<()> {
        absent()
    }
    async fn retry(&self, _tenant: TenantId, _id: Option<&str>) -> Result<CountAnswer> {
        absent()
    }
    async fn dead(&self, _tenant: TenantId, _limit: usize) -> Result<Vec<DeadLine>> {
        absent()
    }
    async fn dead_replay(&self, _tenant: TenantId, _ids: Option<&[TaskId]>) -> Result<u64> {
        absent()
    }
    async fn dead_drop(&self, _tenant: TenantId, _ids: Option<&[TaskId]>) -> Result<u64> {
        absent()
    }
    async fn status(&self, _tenant: TenantId) -> Result<StatusAnswer> {
        absent()
    }
    async fn work(&self, _tenant: TenantId, _batch: Option<BatchId>) -> Result<Vec<WorkLine>> {
        absent()
    }
    async fn list(&self, _tenant: TenantId, _query: &ListQuery) -> Result<ListAnswer> {
        absent()
    }
    async fn ingestion(&self, _tenant: TenantId, _id: IngestionId) -> Result<Option<IngestionAnswer>> {
        absent()
    }
    async fn problems(&self, _tenant: TenantId) -> Result<Vec<ProblemGroup>> {
        absent()
    }
    async fn having_problem(&self, _tenant: TenantId, _cause: ErrorKind) -> Result<Vec<DocumentId>> {
        absent()
    }
    async fn remove(&self, _tenant: TenantId, _document: DocumentId) -> Result<Option<Vec<BlobKey>>> {
        absent()
    }
    async fn batches(
        &self,
        _tenant: TenantId,
        _limit: usize,
        _cursor: Option<&str>,
    ) -> Result<BatchesAnswer> {
        absent()
    }
    async fn show(&self, _tenant: TenantId, _id: &str) -> Result<Option<ShowAnswer>> {
        Ok(None)
    }
    async fn why(&self, _tenant: TenantId, _id: &str) -> Result<Option<WhyAnswer>> {
        Ok(None)
    }
    async fn heads(&self, _tenant: TenantId, _ids: &[DocumentId]) -> Result<Vec<DocumentHead>> {
        Ok(Vec::new())
    }
    async fn head(&self, _tenant: TenantId, _id: &str) -> Result<Option<DocumentHead>> {
        Ok(None)
    }
    async fn select(&self, _tenant: TenantId, _selection: &Selection) -> Result<Vec<Selected>> {
        absent()
    }
    async fn tally(&self) -> Result<Tally> {
        self.tallies.fetch_add(1, Ordering::SeqCst);
        let slow = self.slow_tallies.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(slow.into())).await;
        if self.failing_tallies.load(Ordering::SeqCst) {
            return Err(Error::unavailable("the database is cut off"));
        }
        let documents = self.state.lock().unwrap().documents.len() as u64;
        Ok(Tally { documents, ..Tally::default() })
    }
    async fn unbalanced(&self) -> Result<u64> {
        Ok(0)
    }
    async fn ledger(&self, _tenant: TenantId, _batch: Option<BatchId>) -> Result<Ledger> {
        absent()
    }
    /// Those of the change log.
    async fn blob_keys(&self, after: Option<&BlobKey>, limit: usize) -> Result<Vec<BlobKey>> {
        let state = self.state.lock().unwrap();
        let mut keys: Vec<BlobKey> = state.changes.iter().filter_map(|c| c.transcription.clone()).collect();
        keys.sort();
        Ok(keys.into_iter().filter(|key| after.is_none_or(|after| key > after)).take(limit).collect())
    }
    async fn referenced(&self, _keys: &[BlobKey]) -> Result<Vec<bool>> {
        absent()
    }
    async fn dossiers(
        &self,
        _tenant: TenantId,
        _after: Option<IngestionId>,
        _limit: usize,
    ) -> Result<Vec<Dossier>> {
        absent()
    }
    async fn events(&self, _tenant: TenantId, _filter: &EventFilter) -> Result<EventsAnswer> {
        absent()
    }
    async fn prune_events(&self, _before: Timestamp) -> Result<u64> {
        absent()
    }
    async fn backup(&self, _directory: &std::path::Path) -> Result<()> {
        absent()
    }
}
