//! Opening the store, and its verbs: each hands its work to a transaction, the writer, the renewer or a reader.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::access::{AuditLogAnswer, Holder, KeyCounts, KeyLine, NewAudit, NewKey, TenantLine};
use docmill_core::answer::{
    BatchesAnswer, CountAnswer, DeadLine, EventsAnswer, IngestionAnswer, ListAnswer, ProblemGroup,
    ShowAnswer, StatusAnswer, WhyAnswer, WorkLine, WorkerLine,
};
use docmill_core::artifact::Artifact;
use docmill_core::batch::{BatchChange, BatchRun, BatchTotals, NewBatch, Walk};
use docmill_core::clock::{Clock, IdGen, Timestamp};
use docmill_core::dossier::Dossier;
use docmill_core::error::ErrorNote;
use docmill_core::event::EventFilter;
use docmill_core::id::{
    BatchId, BlobKey, ContentHash, DocumentId, Epoch, IngestionId, KeyId, TaskId, TenantId, WorkerId,
};
use docmill_core::ingestion::IngestionEnd;
use docmill_core::ledger::Ledger;
use docmill_core::metrics::StoreMeter;
use docmill_core::ports::catalogue::{ComparedTag, Entry, TagName, TagQuery, Uncatalogued};
use docmill_core::ports::store::{
    Accepted, ChangedDocument, ChildChunk, ChunkAnswer, ClaimSpec, Commit, DocumentHead, Exchange, ListQuery,
    NewWorker, Receipt, Selected, Selection, StepRecord, Swept, Tally, Terms,
};
use docmill_core::ports::{Access, Catalogue, Records, Store};
use docmill_core::record::{KeptRecord, RecordLine, RecordQuery, StoredSchema};
use docmill_core::review::{
    Correction, CorrectionsAnswer, DecidedAnswer, Decision, LockAnswer, Review, ReviewId, ReviewQuery,
    ReviewsAnswer,
};
use docmill_core::sketch::NearLine;
use docmill_core::tag::{MergeAnswer, TagsAnswer};
use docmill_core::task::{Lease, NewTask, TaskKind};
use docmill_core::understanding::Judgement;
use docmill_core::{Error, ErrorKind, Result, crash};
use sqlx_core::connection::Connection as _;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};
use tokio::sync::watch;

use super::super::shared::claim::Turn;
use super::super::shared::pace::Pace;
use super::db::{self, Db, Time};
use super::heads::{Head, Heads};
use super::hints::{Hints, Waiters};
use super::readers::{look, of_engine, of_tenant};
use super::renewer::Renewer;
use super::row::{sql_error, text};
use super::sequencer::{self, Sequencer};
use super::sweep::{self, Sweeps};
use super::tx::{Aftermath, transact};
use super::writer::Writer;
use super::{
    access, batch, catalogue, children, claim, events, follow, ledger, look as looking, migrate, receive,
    records, remove, reviews, steer, transfer, worker,
};
use crate::postgres::connect_options;

/// How the store uses its server.
#[derive(Clone)]
pub struct Options {
    /// Whose clock decides about leases.
    pub time: Time,
    /// Connections of this process at most, beside one for renewals.
    pub max_connections: u32,
    /// A statement that runs longer is stopped, and what it was part of fails as `unavailable`.
    pub statement_timeout: Duration,
    /// What the server knows this process by.
    pub name: String,
    /// Counts its transactions.
    pub meter: StoreMeter,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time: Time::OfServer,
            max_connections: 10,
            statement_timeout: Duration::from_secs(30),
            name: "docmill".into(),
            meter: StoreMeter::default(),
        }
    }
}

/// The store on a PostgreSQL server.
pub struct PostgresStore {
    db: Db,
    writer: Writer,
    renewer: Renewer,
    sequencer: Sequencer,
    hints: Hints,
    waiters: Waiters,
    turn: Arc<Turn>,
    heads: Arc<Heads>,
    sweeps: Sweeps,
    pace: Arc<Pace>,
    closed: watch::Sender<bool>,
}

impl PostgresStore {
    /// Connects to the database at `url` and brings its schema up to date. Any number of processes may do so.
    pub async fn open(
        url: &str,
        options: Options,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
    ) -> Result<Self> {
        let mut conn = connect(url, &options).await?;
        transfer::refuse_half_done(&mut conn).await?;
        Self::start(conn, url, options, clock, ids).await
    }

    /// Opens it even if it is a half-done copy of another store, to compare it with that one.
    pub async fn open_half_done(
        url: &str,
        options: Options,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
    ) -> Result<Self> {
        let conn = connect(url, &options).await?;
        Self::start(conn, url, options, clock, ids).await
    }

    async fn start(
        mut conn: PgConnection,
        url: &str,
        options: Options,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
    ) -> Result<Self> {
        migrate::migrate(&mut conn).await?;
        conn.close().await.map_err(sql_error("close a connection"))?;
        let connect = connect_options("the store", url, &options.name, options.statement_timeout)?;
        let pool = db::pool(connect, options.max_connections.max(4));
        let db = Db {
            pool,
            time: options.time,
            clock,
            ids,
            numbers: Arc::default(),
            outbox: Arc::default(),
            tenants: Arc::default(),
            meter: options.meter,
        };
        let closed = watch::Sender::new(false);
        let waiters = Waiters::new();
        let heads = Arc::new(Heads::default());
        let hints = Hints::start(&db, waiters.clone(), &heads, &closed.subscribe());
        let sequencer = {
            let hints = hints.clone();
            Sequencer::start(db.clone(), closed.subscribe(), move |folded| hints.changed(folded.documents))
        };
        let (pace, turn) = (Arc::new(Pace::default()), Arc::new(Turn::default()));
        let writer = {
            let (hints, wake) = (hints.clone(), Arc::clone(&sequencer.wake));
            let (pace, clock) = (Arc::clone(&pace), Arc::clone(&db.clock));
            Writer::start(db.clone(), Arc::clone(&turn), Arc::clone(&heads), move |aftermath| {
                tell(aftermath, &hints, &wake, &pace, clock.as_ref());
            })
        };
        let renewals =
            connect_options("the store", url, &format!("{} renewals", options.name), Duration::from_secs(5))?;
        let renewer = Renewer::start(move || db::pool(renewals, 1), db.time.clone())?;
        Ok(Self {
            db,
            writer,
            renewer,
            sequencer,
            hints,
            waiters,
            turn,
            heads,
            sweeps: Sweeps::default(),
            pace,
            closed,
        })
    }

    /// Numbers all that has been committed, or says why it cannot.
    pub(super) async fn fold_everything(&self) -> Result<()> {
        sequencer::fold_all(&self.db).await.map(drop)
    }

    /// Closes its connections, and waits until they are closed.
    pub async fn close(&self) {
        self.closed.send_replace(true);
        self.db.pool.close().await;
    }

    fn after<T>(&self, (answer, aftermath): (T, Aftermath)) -> T {
        crash::point("store.group.before_reply");
        tell(aftermath, &self.hints, &self.sequencer.wake, &self.pace, self.db.clock.as_ref());
        answer
    }

    /// Numbers what has been committed, so that a look-up sees it. A database that takes no writes still answers:
    /// what it has is what it had when it stopped.
    async fn fold(&self) -> Result<()> {
        match sequencer::fold_all(&self.db).await {
            Ok(folded) => {
                if folded.rows > 0 {
                    self.hints.changed(folded.documents);
                }
                Ok(())
            }
            Err(error) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::DiskFull) => {
                tracing::warn!(error = %error.chain(), "the outbox could not be folded before a look-up");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// A connection of its own. Not from the pool, which waits for a server to come back: one that is not there at the start is
/// a mistake.
async fn connect(url: &str, options: &Options) -> Result<PgConnection> {
    let options = connect_options("the store", url, &options.name, options.statement_timeout)?;
    PgConnection::connect_with(&options).await.map_err(|e| {
        sql_error("connect to its database")(e).with_hint("check the URL of the store and its server")
    })
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

/// Tells those who wait what a commit means to them.
fn tell(
    aftermath: Aftermath,
    hints: &Hints,
    sequencer: &tokio::sync::Notify,
    pace: &Pace,
    clock: &dyn Clock,
) {
    if aftermath.work {
        hints.work();
    }
    if aftermath.changed {
        hints.changed(false);
    }
    if aftermath.outbox {
        sequencer.notify_one();
    }
    if aftermath.ended > 0 {
        pace.note(clock.monotonic(), aftermath.ended);
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.closed.send_replace(true);
    }
}

#[async_trait]
impl Access for PostgresStore {
    async fn tenants(&self) -> Result<Vec<TenantLine>> {
        look!(of_engine(&self.db), |conn| access::tenants(conn).await)
    }

    async fn find_tenant(&self, name: &str) -> Result<Option<TenantId>> {
        look!(of_engine(&self.db), |conn| access::find_tenant(conn, name).await)
    }

    async fn add_key(&self, key: NewKey, audit: NewAudit) -> Result<KeyLine> {
        transact!(&self.db, |tx| access::add_key(&mut tx, &key, &audit).await).map(|d| self.after(d))
    }

    async fn keys(&self, tenant: TenantId) -> Result<Vec<KeyLine>> {
        look!(of_tenant(&self.db, tenant), |conn| access::keys(conn, tenant).await)
    }

    async fn revoke_key(&self, tenant: TenantId, key: KeyId, audit: NewAudit) -> Result<bool> {
        transact!(&self.db, |tx| access::revoke_key(&mut tx, tenant, key, &audit).await)
            .map(|d| self.after(d))
    }

    async fn find_key(&self, hash: &ContentHash) -> Result<Option<Holder>> {
        // Whose key it is is the question, so it cannot be asked on behalf of a tenant.
        look!(of_engine(&self.db), |conn| access::find_key(conn, hash).await)
    }

    async fn key(&self, id: KeyId) -> Result<Option<(Holder, ContentHash)>> {
        look!(of_engine(&self.db), |conn| access::key(conn, id).await)
    }

    async fn count_keys(&self) -> Result<KeyCounts> {
        look!(of_engine(&self.db), |conn| access::count_keys(conn).await)
    }

    async fn audit(&self, tenant: TenantId, entry: NewAudit) -> Result<()> {
        transact!(&self.db, |tx| {
            access::audit(&mut tx, tenant, &entry);
            Ok::<_, Error>(())
        })
        .map(|d| self.after(d))
    }

    async fn audit_log(&self, tenant: TenantId, after: i64, limit: usize) -> Result<AuditLogAnswer> {
        // What was committed before this call is in the chain, and so in the answer.
        self.fold().await?;
        look!(of_tenant(&self.db, tenant), |conn| access::audit_log(conn, tenant, after, limit).await)
    }
}

#[async_trait]
impl Catalogue for PostgresStore {
    async fn catalogued(&self) -> Result<i64> {
        look!(of_engine(&self.db), |conn| catalogue::catalogued(conn).await)
    }

    async fn uncatalogued(&self, after: i64, limit: usize) -> Result<Vec<Uncatalogued>> {
        self.fold().await?;
        look!(of_engine(&self.db), |conn| catalogue::uncatalogued(conn, after, limit).await)
    }

    async fn catalogue(&self, entries: Vec<Entry>, from: i64, upto: i64) -> Result<bool> {
        transact!(&self.db, |tx| catalogue::catalogue(&mut tx, &entries, from, upto).await)
            .map(|d| self.after(d))
    }

    async fn tags(&self, tenant: TenantId, query: &TagQuery) -> Result<TagsAnswer> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::tags(conn, tenant, query).await)
    }

    async fn tag_names(&self, tenant: TenantId, keys: &[String]) -> Result<Vec<Option<String>>> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::tag_names(conn, tenant, keys).await)
    }

    async fn merge_tags(&self, tenant: TenantId, from: &str, into: &str) -> Result<Option<MergeAnswer>> {
        transact!(&self.db, |tx| catalogue::merge(&mut tx, tenant, from, into).await).map(|d| self.after(d))
    }

    async fn unembedded_tags(&self, model: &str, limit: usize) -> Result<Vec<TagName>> {
        look!(of_engine(&self.db), |conn| catalogue::unembedded(conn, model, limit).await)
    }

    async fn embed_tags(&self, model: &str, tags: Vec<(TagName, Vec<f32>)>) -> Result<()> {
        transact!(&self.db, |tx| catalogue::embed(&mut tx, model, &tags).await).map(|d| self.after(d))
    }

    async fn compared_tags(&self, tenant: TenantId, model: &str) -> Result<Vec<ComparedTag>> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::compared(conn, tenant, model).await)
    }

    async fn near(&self, tenant: TenantId, document: DocumentId) -> Result<Vec<NearLine>> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::near(conn, tenant, document).await)
    }

    async fn judge(&self, judged: Vec<(TenantId, DocumentId, Option<Judgement>)>) -> Result<()> {
        transact!(&self.db, |tx| catalogue::judge(&mut tx, &judged).await).map(|d| self.after(d))
    }

    async fn judgement(&self, tenant: TenantId, document: DocumentId) -> Result<Option<Judgement>> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::judgement(conn, tenant, document).await)
    }
}

#[async_trait]
impl Records for PostgresStore {
    async fn put_schema(&self, tenant: TenantId, name: &str, text: &str) -> Result<u32> {
        transact!(&self.db, |tx| records::put_schema(&mut tx, tenant, name, text).await)
            .map(|d| self.after(d))
    }

    async fn schemas(&self, tenant: TenantId) -> Result<Vec<StoredSchema>> {
        look!(of_tenant(&self.db, tenant), |conn| records::schemas(conn, tenant).await)
    }

    async fn schema(
        &self,
        tenant: TenantId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<StoredSchema>> {
        look!(of_tenant(&self.db, tenant), |conn| records::schema(conn, tenant, name, version).await)
    }

    async fn record(&self, tenant: TenantId, id: &str) -> Result<Option<KeptRecord>> {
        look!(of_tenant(&self.db, tenant), |conn| records::record(conn, tenant, id).await)
    }

    async fn records(&self, tenant: TenantId, query: &RecordQuery) -> Result<Vec<RecordLine>> {
        look!(of_tenant(&self.db, tenant), |conn| records::records(conn, tenant, query).await)
    }

    async fn reviews(&self, tenant: TenantId, query: &ReviewQuery) -> Result<ReviewsAnswer> {
        look!(of_tenant(&self.db, tenant), |conn| match self.db.time.now(conn).await {
            Ok(now) => reviews::reviews(conn, tenant, query, now).await,
            Err(error) => Err(error),
        })
    }

    async fn review(&self, tenant: TenantId, id: ReviewId) -> Result<Option<Review>> {
        look!(of_tenant(&self.db, tenant), |conn| match self.db.time.now(conn).await {
            Ok(now) => reviews::review(conn, tenant, id, now).await,
            Err(error) => Err(error),
        })
    }

    async fn lock_review(
        &self,
        tenant: TenantId,
        id: ReviewId,
        who: &str,
        hold: Duration,
    ) -> Result<LockAnswer> {
        transact!(&self.db, |tx| reviews::lock(&mut tx, tenant, id, who, Some(hold)).await)
            .map(|d| self.after(d))
    }

    async fn unlock_review(&self, tenant: TenantId, id: ReviewId, who: &str) -> Result<LockAnswer> {
        transact!(&self.db, |tx| reviews::lock(&mut tx, tenant, id, who, None).await).map(|d| self.after(d))
    }

    async fn decide_review(&self, tenant: TenantId, decision: Decision) -> Result<DecidedAnswer> {
        transact!(&self.db, |tx| reviews::decide(&mut tx, tenant, &decision).await).map(|d| self.after(d))
    }

    async fn corrections(
        &self,
        tenant: TenantId,
        schema: &str,
        senders: &[String],
        limit: usize,
    ) -> Result<Vec<Correction>> {
        look!(of_tenant(&self.db, tenant), |conn| {
            reviews::corrections(conn, tenant, schema, senders, limit).await
        })
    }

    async fn corrections_made(
        &self,
        tenant: TenantId,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<CorrectionsAnswer> {
        look!(of_tenant(&self.db, tenant), |conn| reviews::corrections_made(conn, tenant, cursor, limit)
            .await)
    }
}

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
        transact!(&self.db, |tx| worker::register(&mut tx, &worker).await).map(|d| self.after(d))
    }

    async fn beat(&self, worker: WorkerId) -> Result<()> {
        self.renewer.beat(worker).await
    }

    async fn retire_worker(&self, worker: WorkerId) -> Result<()> {
        transact!(&self.db, |tx| worker::retire(&mut tx, worker).await).map(|d| self.after(d))
    }

    async fn workers(&self) -> Result<Vec<WorkerLine>> {
        look!(of_engine(&self.db), |conn| worker::list(conn).await)
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
