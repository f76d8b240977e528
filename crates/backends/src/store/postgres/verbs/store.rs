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
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};
use tokio::sync::watch;

use super::super::db::Time;
use super::super::heads::Head;
use super::super::open::PostgresStore;
use super::super::readers::{look, of_engine, of_tenant};
use super::super::row::{sql_error, text};
use super::super::tx::transact;
use super::super::{
    batch, children, claim, events, follow, ledger, look as looking, receive, remove, steer, sweep, worker,
};

#[async_trait]
impl Store for PostgresStore {
    async fn tenant(&self, name: &str) -> Result<TenantId> {
        let name = text(name);
        let done = transact!(&self.db, |tx| {
            let id = tx.fresh_id();
            let made = query::<Postgres>(
                "INSERT INTO tenant (tenant_id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING",
            )
            .bind(id)
            .bind(&name)
            .bind(tx.now.0)
            .execute(tx.conn())
            .await;
            match made {
                Ok(_) => query_scalar::<Postgres, uuid::Uuid>("SELECT tenant_id FROM tenant WHERE name = $1")
                    .bind(&name)
                    .fetch_one(tx.conn())
                    .await
                    .map(TenantId)
                    .map_err(sql_error("look up a tenant")),
                Err(e) => Err(sql_error("make a tenant")(e)),
            }
        });
        done.map(|done| self.after(done))
    }

    async fn open_batch(&self, batch: NewBatch) -> Result<BatchRun> {
        // A batch that is opened again says how much it has received so far.
        self.fold().await?;
        transact!(&self.db, |tx| batch::open(&mut tx, &batch).await).map(|d| self.after(d))
    }

    async fn seal_batch(&self, tenant: TenantId, batch: BatchId, walk: Walk) -> Result<BatchTotals> {
        transact!(&self.db, |tx| batch::seal(&mut tx, tenant, batch, walk).await).map(|d| self.after(d))?;
        self.find_batch(tenant, &batch.to_string())
            .await?
            .ok_or_else(|| Error::bug(format!("batch {batch} vanished")))
    }

    async fn find_batch(&self, tenant: TenantId, id_or_name: &str) -> Result<Option<BatchTotals>> {
        self.fold().await?;
        look!(of_tenant(&self.db, tenant), |conn| batch::find(conn, tenant, id_or_name).await)
    }

    async fn batches(&self, tenant: TenantId, limit: usize, cursor: Option<&str>) -> Result<BatchesAnswer> {
        self.fold().await?;
        look!(of_tenant(&self.db, tenant), |conn| batch::page(conn, tenant, limit, cursor).await)
    }

    async fn change_batch(&self, tenant: TenantId, batch: BatchId, change: BatchChange) -> Result<u64> {
        transact!(&self.db, |tx| batch::change(&mut tx, tenant, batch, change).await).map(|d| self.after(d))
    }

    async fn known(&self, tenant: TenantId, hashes: &[ContentHash]) -> Result<Vec<Option<DocumentId>>> {
        look!(of_tenant(&self.db, tenant), |conn| receive::known(conn, tenant, hashes).await)
    }

    async fn accept(&self, receipts: Vec<Receipt>, terms: Terms) -> Result<Accepted> {
        transact!(&self.db, |tx| receive::accept(&mut tx, &receipts, &terms).await).map(|d| self.after(d))
    }

    async fn reprocess(
        &self,
        tenant: TenantId,
        batch: BatchId,
        items: Vec<(IngestionId, DocumentId, NewTask)>,
    ) -> Result<u64> {
        transact!(&self.db, |tx| receive::reprocess(&mut tx, tenant, batch, &items).await)
            .map(|d| self.after(d))
    }

    async fn remove(&self, tenant: TenantId, document: DocumentId) -> Result<Option<Vec<BlobKey>>> {
        transact!(&self.db, |tx| remove::remove(&mut tx, tenant, document).await).map(|d| self.after(d))
    }

    async fn claim(&self, spec: ClaimSpec) -> Result<Vec<Lease>> {
        crash::point("store.claim.before");
        transact!(&self.db, |tx| claim::claim(&mut tx, &spec, &self.turn, &self.heads).await)
            .map(|d| self.after(d))
    }

    async fn renew(
        &self,
        worker: WorkerId,
        held: Vec<(TaskId, Epoch)>,
        lease: Duration,
    ) -> Result<Vec<TaskId>> {
        self.renewer.renew(worker, held, lease).await
    }

    async fn exchange(&self, reports: Vec<Arc<Commit>>, claim: Option<ClaimSpec>) -> Result<Exchange> {
        match claim {
            Some(spec) if reports.is_empty() => {
                let claimed = self.claim(spec).await?;
                Ok(Exchange { committed: Vec::new(), claimed })
            }
            claim => self.writer.exchange(reports, claim).await,
        }
    }

    async fn add_children(&self, chunk: ChildChunk) -> Result<ChunkAnswer> {
        transact!(&self.db, |tx| children::add(&mut tx, &chunk).await).map(|d| self.after(d))
    }

    async fn release(&self, held: Vec<(TaskId, Epoch)>) -> Result<u64> {
        transact!(&self.db, |tx| claim::release(&mut tx, &held).await).map(|d| self.after(d))
    }

    async fn sweep(&self, dead_workers: &[WorkerId]) -> Result<Swept> {
        let done = transact!(&self.db, |tx| sweep::sweep(&mut tx, dead_workers, &self.sweeps).await);
        let (swept, last) = done.map(|d| self.after(d))?;
        self.sweeps.end(last);
        Ok(swept)
    }

    async fn bury(&self, task: TaskId, epoch: Epoch, error: ErrorNote, end: IngestionEnd) -> Result<()> {
        transact!(&self.db, |tx| sweep::bury(&mut tx, task, epoch, &error, &end).await).map(|d| self.after(d))
    }

    async fn find_step(
        &self,
        tenant: TenantId,
        step: &TaskKind,
        fingerprint: &ContentHash,
    ) -> Result<Option<StepRecord>> {
        look!(of_engine(&self.db), |conn| follow::find_step(conn, tenant, step, fingerprint).await)
    }

    async fn artifacts(&self, ingestion: IngestionId, prefix: &str) -> Result<Vec<Artifact>> {
        look!(of_engine(&self.db), |conn| follow::artifacts(conn, ingestion, prefix).await)
    }

    async fn next_due(&self, kinds: &[TaskKind]) -> Result<Option<Timestamp>> {
        let known = self.heads.known(&kinds.iter(), None, self.db.clock.monotonic());
        look!(of_engine(&self.db), |conn| next_due(conn, &self.db.time, kinds, known).await)
    }

    async fn open_tasks(&self, kinds: &[TaskKind], tenant: Option<TenantId>) -> Result<u64> {
        look!(of_engine(&self.db), |conn| follow::open_tasks(conn, kinds, tenant).await)
    }

    async fn register_worker(&self, worker: NewWorker) -> Result<()> {
        self.announced.add(worker.clone());
        transact!(&self.db, |tx| worker::register(&mut tx, &worker).await).map(|d| self.after(d))
    }

    async fn beat(&self, worker: WorkerId) -> Result<()> {
        let known = self.renewer.beat(worker).await?;
        match self.announced.find(worker) {
            Some(again) if !known => self.register_worker(again).await,
            _ => Ok(()),
        }
    }

    async fn retire_worker(&self, worker: WorkerId) -> Result<()> {
        self.announced.remove(worker);
        transact!(&self.db, |tx| worker::retire(&mut tx, worker).await).map(|d| self.after(d))
    }

    async fn workers(&self) -> Result<Vec<WorkerLine>> {
        look!(of_engine(&self.db), |conn| match self.db.time.now(conn).await {
            Ok(now) => worker::list(conn, now).await,
            Err(error) => Err(error),
        })
    }

    async fn pause_kind(&self, kind: &TaskKind, paused: bool) -> Result<()> {
        transact!(&self.db, |tx| steer::pause_kind(&mut tx, kind, paused).await).map(|d| self.after(d))
    }

    async fn retry(&self, tenant: TenantId, id: Option<&str>) -> Result<CountAnswer> {
        transact!(&self.db, |tx| steer::retry(&mut tx, tenant, id).await).map(|d| self.after(d))
    }

    async fn dead(&self, tenant: TenantId, limit: usize) -> Result<Vec<DeadLine>> {
        look!(of_tenant(&self.db, tenant), |conn| steer::dead(conn, tenant, limit).await)
    }

    async fn dead_replay(&self, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
        transact!(&self.db, |tx| steer::replay(&mut tx, tenant, ids).await).map(|d| self.after(d))
    }

    async fn dead_drop(&self, tenant: TenantId, ids: Option<&[TaskId]>) -> Result<u64> {
        transact!(&self.db, |tx| steer::drop_dead(&mut tx, tenant, ids).await).map(|d| self.after(d))
    }

    async fn status(&self, tenant: TenantId) -> Result<StatusAnswer> {
        self.fold().await?;
        let pace = self.pace.per_second(self.db.clock.monotonic());
        // Workers serve all tenants; how busy they are is not counted in one tenant's rows.
        let workers = self.workers().await?;
        look!(of_tenant(&self.db, tenant), |conn| looking::status(conn, tenant, pace, workers).await)
    }

    async fn work(&self, tenant: TenantId, batch: Option<BatchId>) -> Result<Vec<WorkLine>> {
        look!(of_tenant(&self.db, tenant), |conn| looking::work(conn, tenant, batch).await)
    }

    async fn list(&self, tenant: TenantId, query: &ListQuery) -> Result<ListAnswer> {
        look!(of_tenant(&self.db, tenant), |conn| match self.db.time.now(conn).await {
            Ok(now) => looking::list(conn, tenant, query, now).await,
            Err(error) => Err(error),
        })
    }

    async fn ingestion(&self, tenant: TenantId, id: IngestionId) -> Result<Option<IngestionAnswer>> {
        look!(of_tenant(&self.db, tenant), |conn| match self.db.time.now(conn).await {
            Ok(now) => looking::ingestion(conn, tenant, id, now).await,
            Err(error) => Err(error),
        })
    }

    async fn problems(&self, tenant: TenantId) -> Result<Vec<ProblemGroup>> {
        look!(of_tenant(&self.db, tenant), |conn| looking::problems(conn, tenant).await)
    }

    async fn having_problem(&self, tenant: TenantId, cause: ErrorKind) -> Result<Vec<DocumentId>> {
        look!(of_tenant(&self.db, tenant), |conn| looking::having_problem(conn, tenant, cause).await)
    }

    async fn show(&self, tenant: TenantId, id: &str) -> Result<Option<ShowAnswer>> {
        look!(of_tenant(&self.db, tenant), |conn| match self.db.time.now(conn).await {
            Ok(now) => looking::show(conn, tenant, id, now).await,
            Err(error) => Err(error),
        })
    }

    async fn why(&self, tenant: TenantId, id: &str) -> Result<Option<WhyAnswer>> {
        look!(of_tenant(&self.db, tenant), |conn| match self.db.time.now(conn).await {
            Ok(now) => looking::why(conn, tenant, id, now).await,
            Err(error) => Err(error),
        })
    }

    async fn heads(&self, tenant: TenantId, ids: &[DocumentId]) -> Result<Vec<DocumentHead>> {
        look!(of_tenant(&self.db, tenant), |conn| looking::heads(conn, tenant, ids).await)
    }

    async fn head(&self, tenant: TenantId, id: &str) -> Result<Option<DocumentHead>> {
        look!(of_tenant(&self.db, tenant), |conn| looking::head(conn, tenant, id).await)
    }

    async fn select(&self, tenant: TenantId, selection: &Selection) -> Result<Vec<Selected>> {
        look!(of_tenant(&self.db, tenant), |conn| match self.db.time.now(conn).await {
            Ok(now) => looking::select(conn, tenant, selection, now).await,
            Err(error) => Err(error),
        })
    }

    async fn tally(&self) -> Result<Tally> {
        self.fold().await?;
        look!(of_engine(&self.db), |conn| looking::tally(conn).await)
    }

    async fn unbalanced(&self) -> Result<u64> {
        look!(of_engine(&self.db), |conn| ledger::unbalanced(conn).await)
    }

    async fn ledger(&self, tenant: TenantId, batch: Option<BatchId>) -> Result<Ledger> {
        self.fold().await?;
        look!(of_tenant(&self.db, tenant), |conn| ledger::ledger(conn, tenant, batch).await)
    }

    async fn blob_keys(&self, after: Option<&BlobKey>, limit: usize) -> Result<Vec<BlobKey>> {
        look!(of_engine(&self.db), |conn| follow::blob_keys(conn, after, limit).await)
    }

    async fn referenced(&self, keys: &[BlobKey]) -> Result<Vec<bool>> {
        look!(of_engine(&self.db), |conn| follow::referenced(conn, keys).await)
    }

    async fn dossiers(
        &self,
        tenant: TenantId,
        after: Option<IngestionId>,
        limit: usize,
    ) -> Result<Vec<Dossier>> {
        look!(of_tenant(&self.db, tenant), |conn| looking::dossiers(conn, tenant, after, limit).await)
    }

    async fn events(&self, tenant: TenantId, filter: &EventFilter) -> Result<EventsAnswer> {
        self.fold().await?;
        look!(of_tenant(&self.db, tenant), |conn| events::read(conn, tenant, filter).await)
    }

    async fn changes(&self, after: i64, limit: usize) -> Result<Vec<ChangedDocument>> {
        self.fold().await?;
        look!(of_engine(&self.db), |conn| follow::changes(conn, after, limit).await)
    }

    async fn last_change(&self) -> Result<i64> {
        self.fold().await?;
        look!(of_engine(&self.db), |conn| follow::last_change(conn).await)
    }

    async fn prune_events(&self, before: Timestamp) -> Result<u64> {
        self.fold().await?;
        transact!(&self.db, |tx| events::prune(&mut tx, before).await).map(|d| self.after(d))
    }

    async fn backup(&self, _directory: &Path) -> Result<()> {
        Err(Error::invalid_request("docmill makes no copy of a PostgreSQL database")
            .with_hint("use the server's own tools, for instance `pg_dump`, and back up the blobs after it"))
    }

    fn work_added(&self) -> watch::Receiver<u64> {
        self.waiters.work.subscribe()
    }

    fn documents_changed(&self) -> watch::Receiver<u64> {
        self.waiters.documents.subscribe()
    }

    fn changed(&self) -> watch::Receiver<u64> {
        self.waiters.changed.subscribe()
    }
}

/// When something of these kinds is due, in the `known` queues or in all.
async fn next_due(
    conn: &mut PgConnection,
    time: &Time,
    kinds: &[TaskKind],
    known: Option<Vec<Head>>,
) -> Result<Option<Timestamp>> {
    let now = time.now(conn).await?;
    let queues = match known {
        Some(known) => known,
        None => follow::queues(conn, kinds).await?,
    };
    follow::next_due(conn, &queues, now).await
}
