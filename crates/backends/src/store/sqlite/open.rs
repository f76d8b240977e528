//! Opening the store, and its verbs: each hands its work to the writer or to a reader.

use std::path::{Path, PathBuf};
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
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::watch;

use super::super::shared::pace::Pace;
use super::claim::Turn;
use super::readers::Readers;
use super::row::sql_error;
use super::writer::{Lane, Writer};
use super::{
    access, batch, catalogue, children, claim, commit, events, follow, ledger, look, migrate, receive,
    records, remove, reviews, steer, sweep, transfer, worker,
};

/// The embedded store.
pub struct SqliteStore {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    writer: Writer,
    readers: Readers,
    turn: Arc<Turn>,
    pace: Arc<Pace>,
    work: watch::Sender<u64>,
    documents: watch::Sender<u64>,
    changed: watch::Sender<u64>,
}

impl SqliteStore {
    /// Opens or makes the database file. The caller has made sure that no other process owns it.
    pub fn open(path: &Path, clock: Arc<dyn Clock>, ids: Arc<dyn IdGen>) -> Result<Self> {
        Self::open_metered(path, clock, ids, StoreMeter::default())
    }

    /// The same, counting its transactions.
    pub fn open_metered(
        path: &Path,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
        meter: StoreMeter,
    ) -> Result<Self> {
        let conn = connect(path)?;
        transfer::refuse_half_done(&conn, path)?;
        Self::start(conn, path, clock, ids, meter)
    }

    /// Opens it even if it is a half-done copy of another store, to compare it with that one.
    pub fn open_half_done(path: &Path, clock: Arc<dyn Clock>, ids: Arc<dyn IdGen>) -> Result<Self> {
        Self::start(connect(path)?, path, clock, ids, StoreMeter::default())
    }

    fn start(
        mut conn: Connection,
        path: &Path,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
        meter: StoreMeter,
    ) -> Result<Self> {
        migrate::migrate(&mut conn)?;
        let (work, documents, changed) =
            (watch::Sender::new(0), watch::Sender::new(0), watch::Sender::new(0));
        let pace = Arc::new(Pace::default());
        let after = {
            let (work, documents, changed) = (work.clone(), documents.clone(), changed.clone());
            let pace = Arc::clone(&pace);
            let clock = Arc::clone(&clock);
            move |aftermath: super::tx::Aftermath| {
                if aftermath.work {
                    work.send_modify(|n| *n += 1);
                }
                if aftermath.documents {
                    documents.send_modify(|n| *n += 1);
                }
                if aftermath.changed {
                    changed.send_modify(|n| *n += 1);
                }
                if aftermath.ended > 0 {
                    pace.note(clock.monotonic(), aftermath.ended);
                }
            }
        };
        Ok(Self {
            path: path.to_owned(),
            writer: Writer::start(conn, Arc::clone(&clock), ids, meter, after)?,
            readers: Readers::new(path),
            turn: Arc::new(Turn::default()),
            pace,
            work,
            documents,
            changed,
            clock,
        })
    }
}

/// A connection that may write, set as all of them are.
pub(super) fn connect(path: &Path) -> Result<Connection> {
    let conn = Connection::open(path).map_err(|e| {
        sql_error("open its file")(e).with_hint(format!("check that `{}` can be written", path.display()))
    })?;
    configure(&conn)?;
    Ok(conn)
}

fn configure(conn: &Connection) -> Result<()> {
    // FULL: an accepted item survives a power cut. WAL: readers do not wait for the writer.
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;",
    )
    .map_err(sql_error("prepare its file"))?;
    // References are checked wherever tests run; four more look-ups for every new task are not worth it where
    // the same statements have passed them.
    conn.pragma_update(None, "foreign_keys", cfg!(debug_assertions))
        .map_err(sql_error("prepare its file"))?;
    conn.busy_timeout(Duration::from_secs(5)).map_err(sql_error("prepare its file"))?;
    // Without this SQLite compiles a statement anew whenever a bound value changes that might change its plan,
    // and the parser stood high in the writer's profile.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(sql_error("prepare its file"))?;
    conn.set_prepared_statement_cache_capacity(128);
    Ok(())
}

#[async_trait]
impl Access for SqliteStore {
    async fn tenants(&self) -> Result<Vec<TenantLine>> {
        self.readers.read(access::tenants).await
    }

    async fn find_tenant(&self, name: &str) -> Result<Option<TenantId>> {
        let name = name.to_owned();
        self.readers.read(move |conn| access::find_tenant(conn, &name)).await
    }

    async fn add_key(&self, key: NewKey, audit: NewAudit) -> Result<KeyLine> {
        self.writer.write(Lane::Usual, move |tx| access::add_key(tx, &key, audit.clone())).await
    }

    async fn keys(&self, tenant: TenantId) -> Result<Vec<KeyLine>> {
        self.readers.read(move |conn| access::keys(conn, tenant)).await
    }

    async fn revoke_key(&self, tenant: TenantId, key: KeyId, audit: NewAudit) -> Result<bool> {
        self.writer.write(Lane::Usual, move |tx| access::revoke_key(tx, tenant, key, audit.clone())).await
    }

    async fn find_key(&self, hash: &ContentHash) -> Result<Option<Holder>> {
        let hash = *hash;
        self.readers.read(move |conn| access::find_key(conn, &hash)).await
    }

    async fn key(&self, id: KeyId) -> Result<Option<(Holder, ContentHash)>> {
        self.readers.read(move |conn| access::key(conn, id)).await
    }

    async fn count_keys(&self) -> Result<KeyCounts> {
        self.readers.read(access::count_keys).await
    }

    async fn audit(&self, tenant: TenantId, entry: NewAudit) -> Result<()> {
        self.writer.write(Lane::Usual, move |tx| access::audit(tx, tenant, entry.clone())).await
    }

    async fn audit_log(&self, tenant: TenantId, after: i64, limit: usize) -> Result<AuditLogAnswer> {
        self.readers.read(move |conn| access::audit_log(conn, tenant, after, limit)).await
    }
}

#[async_trait]
impl Catalogue for SqliteStore {
    async fn catalogued(&self) -> Result<i64> {
        self.readers.read(catalogue::catalogued).await
    }

    async fn uncatalogued(&self, after: i64, limit: usize) -> Result<Vec<Uncatalogued>> {
        self.readers.read(move |conn| catalogue::uncatalogued(conn, after, limit)).await
    }

    async fn catalogue(&self, entries: Vec<Entry>, from: i64, upto: i64) -> Result<bool> {
        self.writer.write(Lane::Usual, move |tx| catalogue::catalogue(tx, &entries, from, upto)).await
    }

    async fn tags(&self, tenant: TenantId, query: &TagQuery) -> Result<TagsAnswer> {
        let query = query.clone();
        self.readers.read(move |conn| catalogue::tags(conn, tenant, &query)).await
    }

    async fn tag_names(&self, tenant: TenantId, keys: &[String]) -> Result<Vec<Option<String>>> {
        let keys = keys.to_vec();
        self.readers.read(move |conn| catalogue::tag_names(conn, tenant, &keys)).await
    }

    async fn merge_tags(&self, tenant: TenantId, from: &str, into: &str) -> Result<Option<MergeAnswer>> {
        let (from, into) = (from.to_owned(), into.to_owned());
        self.writer.write(Lane::Usual, move |tx| catalogue::merge(tx, tenant, &from, &into)).await
    }

    async fn unembedded_tags(&self, model: &str, limit: usize) -> Result<Vec<TagName>> {
        let model = model.to_owned();
        self.readers.read(move |conn| catalogue::unembedded(conn, &model, limit)).await
    }

    async fn embed_tags(&self, model: &str, tags: Vec<(TagName, Vec<f32>)>) -> Result<()> {
        let model = model.to_owned();
        self.writer.write(Lane::Usual, move |tx| catalogue::embed(tx, &model, &tags)).await
    }

    async fn compared_tags(&self, tenant: TenantId, model: &str) -> Result<Vec<ComparedTag>> {
        let model = model.to_owned();
        self.readers.read(move |conn| catalogue::compared(conn, tenant, &model)).await
    }

    async fn near(&self, tenant: TenantId, document: DocumentId) -> Result<Vec<NearLine>> {
        self.readers.read(move |conn| catalogue::near(conn, tenant, document)).await
    }

    async fn judge(&self, judged: Vec<(TenantId, DocumentId, Option<Judgement>)>) -> Result<()> {
        self.writer.write(Lane::Usual, move |tx| catalogue::judge(tx, &judged)).await
    }

    async fn judgement(&self, tenant: TenantId, document: DocumentId) -> Result<Option<Judgement>> {
        self.readers.read(move |conn| catalogue::judgement(conn, tenant, document)).await
    }
}

#[async_trait]
impl Records for SqliteStore {
    async fn put_schema(&self, tenant: TenantId, name: &str, text: &str) -> Result<u32> {
        let (name, text) = (name.to_owned(), text.to_owned());
        self.writer.write(Lane::Usual, move |tx| records::put_schema(tx, tenant, &name, &text)).await
    }

    async fn schemas(&self, tenant: TenantId) -> Result<Vec<StoredSchema>> {
        self.readers.read(move |conn| records::schemas(conn, tenant)).await
    }

    async fn schema(
        &self,
        tenant: TenantId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<StoredSchema>> {
        let name = name.to_owned();
        self.readers.read(move |conn| records::schema(conn, tenant, &name, version)).await
    }

    async fn record(&self, tenant: TenantId, id: &str) -> Result<Option<KeptRecord>> {
        let id = id.to_owned();
        self.readers.read(move |conn| records::record(conn, tenant, &id)).await
    }

    async fn records(&self, tenant: TenantId, query: &RecordQuery) -> Result<Vec<RecordLine>> {
        let query = query.clone();
        self.readers.read(move |conn| records::records(conn, tenant, &query)).await
    }

    async fn reviews(&self, tenant: TenantId, query: &ReviewQuery) -> Result<ReviewsAnswer> {
        let (query, now) = (query.clone(), self.clock.now());
        self.readers.read(move |conn| reviews::reviews(conn, tenant, &query, now)).await
    }

    async fn review(&self, tenant: TenantId, id: ReviewId) -> Result<Option<Review>> {
        let now = self.clock.now();
        self.readers.read(move |conn| reviews::review(conn, tenant, id, now)).await
    }

    async fn lock_review(
        &self,
        tenant: TenantId,
        id: ReviewId,
        who: &str,
        hold: Duration,
    ) -> Result<LockAnswer> {
        let who = who.to_owned();
        self.writer.write(Lane::Usual, move |tx| reviews::lock(tx, tenant, id, &who, Some(hold))).await
    }

    async fn unlock_review(&self, tenant: TenantId, id: ReviewId, who: &str) -> Result<LockAnswer> {
        let who = who.to_owned();
        self.writer.write(Lane::Usual, move |tx| reviews::lock(tx, tenant, id, &who, None)).await
    }

    async fn decide_review(&self, tenant: TenantId, decision: Decision) -> Result<DecidedAnswer> {
        self.writer.write(Lane::Usual, move |tx| reviews::decide(tx, tenant, &decision)).await
    }

    async fn corrections(
        &self,
        tenant: TenantId,
        schema: &str,
        senders: &[String],
        limit: usize,
    ) -> Result<Vec<Correction>> {
        let (schema, senders) = (schema.to_owned(), senders.to_vec());
        self.readers.read(move |conn| reviews::corrections(conn, tenant, &schema, &senders, limit)).await
    }

    async fn corrections_made(
        &self,
        tenant: TenantId,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<CorrectionsAnswer> {
        let cursor = cursor.map(str::to_owned);
        self.readers.read(move |conn| reviews::corrections_made(conn, tenant, cursor.as_deref(), limit)).await
    }
}

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
        self.writer.write(Lane::Usual, move |tx| worker::register(tx, &worker)).await
    }

    async fn beat(&self, worker: WorkerId) -> Result<()> {
        self.writer.write_lightly(Lane::Urgent, move |tx| worker::beat(tx, worker)).await
    }

    async fn retire_worker(&self, worker: WorkerId) -> Result<()> {
        self.writer.write(Lane::Urgent, move |tx| worker::retire(tx, worker)).await
    }

    async fn workers(&self) -> Result<Vec<WorkerLine>> {
        self.readers.read(worker::list).await
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
        let pace = self.pace.per_second(self.clock.monotonic());
        self.readers.read(move |conn| look::status(conn, tenant, pace)).await
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
