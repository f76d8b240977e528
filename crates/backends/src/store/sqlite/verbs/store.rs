//! The verbs of the engine, of batches, and of those who look.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::answer::{
    BatchesAnswer, CountAnswer, DeadLine, EventsAnswer, IngestionAnswer, ListAnswer, ProblemGroup,
    ShowAnswer, StatusAnswer, WhyAnswer, WorkLine, WorkerLine,
};
use docmill_core::artifact::Artifact;
use docmill_core::batch::{BatchChange, BatchRun, BatchTotals, NewBatch, Walk};
use docmill_core::clock::Timestamp;
use docmill_core::dossier::Dossier;
use docmill_core::error::ErrorNote;
use docmill_core::event::EventFilter;
use docmill_core::id::{
    BatchId, BlobKey, ContentHash, DocumentId, Epoch, IngestionId, TaskId, TenantId, WorkerId,
};
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ledger::Ledger;
use docmill_core::ports::Store;
use docmill_core::ports::store::{
    Accepted, ChangedDocument, ChildChunk, ChunkAnswer, ClaimSpec, Commit, DocumentHead, Exchange, ListQuery,
    NewWorker, Receipt, Selected, Selection, StepRecord, Swept, Tally, Terms,
};
use docmill_core::task::{Lease, NewTask, TaskKind};
use docmill_core::{Error, ErrorKind, Result, crash};
use rusqlite::{OptionalExtension as _, params};
use tokio::sync::watch;

use super::super::open::SqliteStore;
use super::super::row::sql_error;
use super::super::writer::Lane;
use super::super::{
    batch, children, claim, commit, events, follow, ledger, look, receive, remove, steer, sweep, worker,
};

#[async_trait]
impl Store for SqliteStore {
    async fn tenant(&self, name: &str) -> Result<TenantId> {
        let name = name.to_owned();
        let id = self
            .writer
            .write(Lane::Usual, move |tx| {
                tx.sql("INSERT OR IGNORE INTO tenant (tenant_id, name, created_at) VALUES (?1, ?2, ?3)")?
                    .execute(params![tx.ids().next().as_bytes(), name, tx.now.0])
                    .map_err(sql_error("make a tenant"))?;
                tx.sql("SELECT tenant_id FROM tenant WHERE name = ?1")?
                    .query_row([&name], |r| r.get::<_, [u8; 16]>(0))
                    .optional()
                    .map_err(sql_error("look up a tenant"))
            })
            .await?;
        id.map_or_else(|| Err(Error::bug("a tenant vanished")), |id| TenantId::from_slice(&id))
    }

    async fn open_batch(&self, batch: NewBatch) -> Result<BatchRun> {
        self.writer.write(Lane::Usual, move |tx| batch::open(tx, &batch)).await
    }

    async fn seal_batch(&self, tenant: TenantId, batch: BatchId, walk: Walk) -> Result<BatchTotals> {
        self.writer.write(Lane::Usual, move |tx| batch::seal(tx, tenant, batch, walk)).await?;
        self.find_batch(tenant, &batch.to_string())
            .await?
            .ok_or_else(|| Error::bug(format!("batch {batch} vanished")))
    }

    async fn find_batch(&self, tenant: TenantId, id_or_name: &str) -> Result<Option<BatchTotals>> {
        let key = id_or_name.to_owned();
        self.readers.read(move |conn| batch::find(conn, tenant, &key)).await
    }

    async fn batches(&self, tenant: TenantId, limit: usize, cursor: Option<&str>) -> Result<BatchesAnswer> {
        let cursor = cursor.map(str::to_owned);
        self.readers.read(move |conn| batch::page(conn, tenant, limit, cursor.as_deref())).await
    }

    async fn change_batch(&self, tenant: TenantId, batch: BatchId, change: BatchChange) -> Result<u64> {
        self.writer.write(Lane::Usual, move |tx| batch::change(tx, tenant, batch, change)).await
    }

    async fn known(&self, tenant: TenantId, hashes: &[ContentHash]) -> Result<Vec<Option<DocumentId>>> {
        let hashes = hashes.to_vec();
        self.readers.read(move |conn| receive::known(conn, tenant, &hashes)).await
    }

    async fn accept(&self, receipts: Vec<Receipt>, terms: Terms) -> Result<Accepted> {
        self.writer.write(Lane::Usual, move |tx| receive::accept(tx, &receipts, &terms)).await
    }

    async fn reprocess(
        &self,
        tenant: TenantId,
        batch: BatchId,
        items: Vec<(IngestionId, DocumentId, NewTask)>,
    ) -> Result<u64> {
        self.writer
            .write(Lane::Usual, move |tx| {
                let mut started = 0;
                for (ingestion, document, first) in &items {
                    let new = receive::reprocess(tx, tenant, batch, *ingestion, *document, first)?;
                    started += u64::from(new);
                }
                Ok(started)
            })
            .await
    }

    async fn remove(&self, tenant: TenantId, document: DocumentId) -> Result<Option<Vec<BlobKey>>> {
        self.writer.write(Lane::Usual, move |tx| remove::remove(tx, tenant, document)).await
    }

    async fn claim(&self, spec: ClaimSpec) -> Result<Vec<Lease>> {
        crash::point("store.claim.before");
        let turn = Arc::clone(&self.turn);
        self.writer.write_lightly(Lane::Usual, move |tx| claim::claim(tx, &spec, &turn)).await
    }

    async fn renew(
        &self,
        worker: WorkerId,
        held: Vec<(TaskId, Epoch)>,
        lease: Duration,
    ) -> Result<Vec<TaskId>> {
        self.writer.write_lightly(Lane::Urgent, move |tx| claim::renew(tx, worker, &held, lease)).await
    }

    async fn exchange(&self, reports: Vec<Arc<Commit>>, claim: Option<ClaimSpec>) -> Result<Exchange> {
        let turn = Arc::clone(&self.turn);
        self.writer
            .write(Lane::Usual, move |tx| {
                let committed =
                    reports.iter().map(|report| commit::commit(tx, report)).collect::<Result<_>>()?;
                let claimed = match &claim {
                    Some(spec) => claim::claim(tx, spec, &turn)?,
                    None => Vec::new(),
                };
                Ok(Exchange { committed, claimed })
            })
            .await
    }

    async fn add_children(&self, chunk: ChildChunk) -> Result<ChunkAnswer> {
        self.writer.write(Lane::Usual, move |tx| children::add(tx, &chunk)).await
    }

    async fn release(&self, held: Vec<(TaskId, Epoch)>) -> Result<u64> {
        self.writer.write(Lane::Urgent, move |tx| claim::release(tx, &held)).await
    }

    async fn sweep(&self, dead_workers: &[WorkerId]) -> Result<Swept> {
        let dead = dead_workers.to_vec();
        self.writer.write(Lane::Usual, move |tx| sweep::sweep(tx, &dead)).await
    }

    async fn bury(&self, task: TaskId, epoch: Epoch, error: ErrorNote, end: IngestionEnd) -> Result<()> {
        self.writer.write(Lane::Usual, move |tx| sweep::bury(tx, task, epoch, &error, &end)).await
    }

    async fn find_step(
        &self,
        tenant: TenantId,
        step: &TaskKind,
        fingerprint: &ContentHash,
    ) -> Result<Option<StepRecord>> {
        let (step, fingerprint) = (step.clone(), *fingerprint);
        self.readers.read(move |conn| follow::find_step(conn, tenant, &step, &fingerprint)).await
    }

    async fn artifacts(&self, ingestion: IngestionId, prefix: &str) -> Result<Vec<Artifact>> {
        let prefix = prefix.to_owned();
        self.readers.read(move |conn| follow::artifacts(conn, ingestion, &prefix)).await
    }

    async fn next_due(&self, kinds: &[TaskKind]) -> Result<Option<Timestamp>> {
        let (kinds, now) = (kinds.to_vec(), self.clock.now());
        self.readers.read(move |conn| follow::next_due(conn, &kinds, now)).await
    }

    async fn open_tasks(&self, kinds: &[TaskKind], tenant: Option<TenantId>) -> Result<u64> {
        let kinds = kinds.to_vec();
        self.readers.read(move |conn| follow::open_tasks(conn, &kinds, tenant)).await
    }

    async fn register_worker(&self, worker: NewWorker) -> Result<()> {
        self.announced.add(worker.clone());
        self.writer.write(Lane::Usual, move |tx| worker::register(tx, &worker)).await
    }

    async fn beat(&self, worker: WorkerId) -> Result<()> {
        let known = self.writer.write_lightly(Lane::Urgent, move |tx| worker::beat(tx, worker)).await?;
        match self.announced.find(worker) {
            Some(again) if !known => self.register_worker(again).await,
            _ => Ok(()),
        }
    }

    async fn retire_worker(&self, worker: WorkerId) -> Result<()> {
        self.announced.remove(worker);
        self.writer.write(Lane::Urgent, move |tx| worker::retire(tx, worker)).await
    }

    async fn workers(&self) -> Result<Vec<WorkerLine>> {
        let now = self.clock.now();
        self.readers.read(move |conn| worker::list(conn, now)).await
    }

    async fn pause_kind(&self, kind: &TaskKind, paused: bool) -> Result<()> {
        let kind = kind.clone();
        self.writer.write(Lane::Usual, move |tx| steer::pause_kind(tx, &kind, paused)).await
    }

    async fn retry(&self, tenant: TenantId, id: Option<&str>) -> Result<CountAnswer> {
        let id = id.map(str::to_owned);
        self.writer.write(Lane::Usual, move |tx| steer::retry(tx, tenant, id.as_deref())).await
    }

    async fn dead(&self, tenant: TenantId, limit: usize) -> Result<Vec<DeadLine>> {
        self.readers.read(move |conn| steer::dead(conn, tenant, limit)).await
    }

    async fn dead_replay(&self, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
        let ids = ids.map(<[TaskId]>::to_vec);
        self.writer.write(Lane::Usual, move |tx| steer::replay(tx, tenant, ids.as_deref())).await
    }

    async fn dead_drop(&self, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
        let ids = ids.map(<[TaskId]>::to_vec);
        self.writer.write(Lane::Usual, move |tx| steer::drop_dead(tx, tenant, ids.as_deref())).await
    }

    async fn status(&self, tenant: TenantId) -> Result<StatusAnswer> {
        let (pace, now) = (self.pace.per_second(self.clock.monotonic()), self.clock.now());
        self.readers.read(move |conn| look::status(conn, tenant, pace, now)).await
    }

    async fn work(&self, tenant: TenantId, batch: Option<BatchId>) -> Result<Vec<WorkLine>> {
        self.readers.read(move |conn| look::work(conn, tenant, batch)).await
    }

    async fn list(&self, tenant: TenantId, query: &ListQuery) -> Result<ListAnswer> {
        let (query, now) = (query.clone(), self.clock.now());
        self.readers.read(move |conn| look::list(conn, tenant, &query, now)).await
    }

    async fn ingestion(&self, tenant: TenantId, id: IngestionId) -> Result<Option<IngestionAnswer>> {
        let now = self.clock.now();
        self.readers.read(move |conn| look::ingestion(conn, tenant, id, now)).await
    }

    async fn problems(&self, tenant: TenantId) -> Result<Vec<ProblemGroup>> {
        self.readers.read(move |conn| look::problems(conn, tenant)).await
    }

    async fn having_problem(&self, tenant: TenantId, cause: ErrorKind) -> Result<Vec<DocumentId>> {
        self.readers.read(move |conn| look::having_problem(conn, tenant, cause)).await
    }

    async fn show(&self, tenant: TenantId, id: &str) -> Result<Option<ShowAnswer>> {
        let (id, now) = (id.to_owned(), self.clock.now());
        self.readers.read(move |conn| look::show(conn, tenant, &id, now)).await
    }

    async fn why(&self, tenant: TenantId, id: &str) -> Result<Option<WhyAnswer>> {
        let (id, now) = (id.to_owned(), self.clock.now());
        self.readers.read(move |conn| look::why(conn, tenant, &id, now)).await
    }

    async fn heads(&self, tenant: TenantId, ids: &[DocumentId]) -> Result<Vec<DocumentHead>> {
        let ids = ids.to_vec();
        self.readers.read(move |conn| look::heads(conn, tenant, &ids)).await
    }

    async fn head(&self, tenant: TenantId, id: &str) -> Result<Option<DocumentHead>> {
        let id = id.to_owned();
        self.readers.read(move |conn| look::head(conn, tenant, &id)).await
    }

    async fn select(&self, tenant: TenantId, selection: &Selection) -> Result<Vec<Selected>> {
        let (selection, now) = (selection.clone(), self.clock.now());
        self.readers.read(move |conn| look::select(conn, tenant, &selection, now)).await
    }

    async fn tally(&self) -> Result<Tally> {
        self.readers.read(look::tally).await
    }

    async fn unbalanced(&self) -> Result<u64> {
        self.readers.read(ledger::unbalanced).await
    }

    async fn ledger(&self, tenant: TenantId, batch: Option<BatchId>) -> Result<Ledger> {
        self.readers.read(move |conn| ledger::ledger(conn, tenant, batch)).await
    }

    async fn blob_keys(&self, after: Option<&BlobKey>, limit: usize) -> Result<Vec<BlobKey>> {
        let after = after.cloned();
        self.readers.read(move |conn| follow::blob_keys(conn, after.as_ref(), limit)).await
    }

    async fn referenced(&self, keys: &[BlobKey]) -> Result<Vec<bool>> {
        let keys = keys.to_vec();
        self.readers.read(move |conn| follow::referenced(conn, &keys)).await
    }

    async fn dossiers(
        &self,
        tenant: TenantId,
        after: Option<IngestionId>,
        limit: usize,
    ) -> Result<Vec<Dossier>> {
        self.readers.read(move |conn| look::dossiers(conn, tenant, after, limit)).await
    }

    async fn events(&self, tenant: TenantId, filter: &EventFilter) -> Result<EventsAnswer> {
        let filter = filter.clone();
        self.readers.read(move |conn| events::read(conn, tenant, &filter)).await
    }

    async fn changes(&self, after: i64, limit: usize) -> Result<Vec<ChangedDocument>> {
        self.readers.read(move |conn| follow::changes(conn, after, limit)).await
    }

    async fn last_change(&self) -> Result<i64> {
        self.readers.read(follow::last_change).await
    }

    async fn prune_events(&self, before: Timestamp) -> Result<u64> {
        self.writer.write(Lane::Usual, move |tx| events::prune(tx, before)).await
    }

    async fn backup(&self, directory: &Path) -> Result<()> {
        let name = self.path.file_name().unwrap_or("docmill.db".as_ref());
        let to = directory.join(name);
        self.readers
            .read_unfenced(move |conn| {
                // Copies page by page from one snapshot, without the write-ahead log and without holes.
                conn.execute("VACUUM INTO ?1", [to.to_string_lossy()])
                    .map(|_| ())
                    .map_err(sql_error("write a copy of itself"))
            })
            .await
    }

    fn work_added(&self) -> watch::Receiver<u64> {
        self.work.subscribe()
    }

    fn documents_changed(&self) -> watch::Receiver<u64> {
        self.documents.subscribe()
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}
