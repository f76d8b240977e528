//! One write transaction and what it gathers: new tasks, ends of ingestions, events, batch totals, changed
//! documents. They are written at its end, each kind by one statement, however many verbs took part.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::error::Error as _;
use std::sync::PoisonError;
use std::time::Duration;

use docmill_core::access::NewAudit;
use docmill_core::batch::BatchState;
use docmill_core::clock::Timestamp;
use docmill_core::event::EventBody;
use docmill_core::id::{BatchId, DocumentId, IngestionId, TaskId, TenantId};
use docmill_core::state::TaskState;
use docmill_core::task::TaskKind;
use docmill_core::{Error, Result, crash};
use serde::{Deserialize, Serialize};
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, PgTransaction, Postgres};
use uuid::Uuid;

use super::super::shared::totals::BatchDelta;
use super::db::{Begin, Db};
use super::finish::{self, Ending};
use super::row::{Columns, is_collision, json, sql_error};
use super::task::{self, TaskInsert};

/// A transaction that lost against another is repeated so often.
pub(super) const MAX_TRIES: u32 = 8;

/// What a committed transaction means to those who wait.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aftermath {
    /// New work may be there.
    pub(super) work: bool,
    /// The outbox has grown.
    pub(super) outbox: bool,
    /// Something changed that leaves nothing in the outbox.
    pub(super) changed: bool,
    /// Ingestions that ended.
    pub(super) ended: u64,
}

/// Changes to a batch that wait in the outbox.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct BatchChanges {
    /// The first of its tasks was claimed.
    pub(super) started: bool,
    #[serde(flatten)]
    pub(super) totals: BatchDelta,
}

/// What a row of the outbox holds beside events.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Changes {
    pub(super) batches: Vec<(BatchId, BatchChanges)>,
    /// Documents that changed, and the batch that changed them.
    pub(super) documents: Vec<(DocumentId, Option<BatchId>)>,
    /// Entries of the audit log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) audit: Vec<NewAudit>,
}

/// A batch as the transaction found it. It cannot be paused or cancelled before the transaction ends.
#[derive(Clone, Debug)]
pub(super) struct BatchRow {
    pub(super) tenant_id: TenantId,
    pub(super) state: BatchState,
    pub(super) paused: bool,
    pub(super) priority: u8,
}

/// An entry of the event log, in its place.
enum Told {
    Event(TenantId, EventBody),
    /// The events of an ingestion's end, if it ends.
    End(IngestionId),
}

/// A write transaction.
pub(super) struct Tx {
    inner: PgTransaction<'static>,
    db: Db,
    begun: Duration,
    /// Writes that share it.
    pub(super) writes: usize,
    pub(super) now: Timestamp,
    pub(super) aftermath: Aftermath,
    told: Vec<Told>,
    batches: BTreeMap<BatchId, (TenantId, BatchChanges)>,
    documents: Vec<(TenantId, DocumentId, Option<BatchId>)>,
    audits: Vec<(TenantId, NewAudit)>,
    locked: HashMap<BatchId, BatchRow>,
    paused_kinds: Option<Vec<String>>,
    pub(super) new_tasks: Vec<TaskInsert>,
    pub(super) endings: Vec<Ending>,
    ending: HashSet<IngestionId>,
    /// Events of ingestions that have ended.
    ended: HashMap<IngestionId, (TenantId, Vec<EventBody>)>,
    /// Joins and how many of their parts have ended.
    pub(super) parts_ended: BTreeMap<i64, i64>,
}

impl Tx {
    pub(super) async fn begin(db: &Db, begin: Begin) -> Result<Self> {
        let begun = db.clock.monotonic();
        let mut inner = db.begin(begin).await?;
        let now = db.time.now(&mut inner).await?;
        crash::point("store.group.begin");
        Ok(Self {
            inner,
            db: db.clone(),
            begun,
            writes: 1,
            now,
            aftermath: Aftermath::default(),
            told: Vec::new(),
            batches: BTreeMap::new(),
            documents: Vec::new(),
            audits: Vec::new(),
            locked: HashMap::new(),
            paused_kinds: None,
            new_tasks: Vec::new(),
            endings: Vec::new(),
            ending: HashSet::new(),
            ended: HashMap::new(),
            parts_ended: BTreeMap::new(),
        })
    }

    /// The connection, for statements.
    pub(super) fn conn(&mut self) -> &mut PgConnection {
        &mut self.inner
    }

    pub(super) fn fresh_id(&self) -> Uuid {
        self.db.ids.next()
    }

    /// A number for a new task.
    pub(super) async fn next_task(&mut self) -> Result<TaskId> {
        let numbers = std::sync::Arc::clone(&self.db.numbers);
        numbers.next(&mut self.inner).await
    }

    /// Notes an event; the sequencer numbers it.
    pub(super) fn event(&mut self, tenant: TenantId, event: EventBody) {
        self.told.push(Told::Event(tenant, event));
    }

    /// Ends an ingestion when the transaction ends; its events stand here, if it does end.
    pub(super) fn end(&mut self, ending: Ending) {
        if self.ending.insert(ending.ingestion_id) {
            self.told.push(Told::End(ending.ingestion_id));
            self.endings.push(ending);
        }
    }

    /// The changes to a batch.
    pub(super) fn batch_changes(&mut self, tenant: TenantId, batch: BatchId) -> &mut BatchChanges {
        &mut self.batches.entry(batch).or_insert_with(|| (tenant, BatchChanges::default())).1
    }

    /// The totals of a batch, to be changed.
    pub(super) fn batch(&mut self, tenant: TenantId, batch: BatchId) -> &mut BatchDelta {
        &mut self.batch_changes(tenant, batch).totals
    }

    /// A document changed; followers of the change log want to know.
    pub(super) fn document_changed(
        &mut self,
        tenant: TenantId,
        document: DocumentId,
        batch: Option<BatchId>,
    ) {
        self.documents.push((tenant, document, batch));
    }

    /// An entry of the audit log; the sequencer puts it into the chain.
    pub(super) fn audit(&mut self, tenant: TenantId, entry: NewAudit) {
        self.audits.push((tenant, entry));
    }

    /// A part of this join has ended.
    pub(super) fn part_ended(&mut self, join: Option<i64>) {
        if let Some(join) = join {
            *self.parts_ended.entry(join).or_default() += 1;
        }
    }

    /// Refuses tenants that are not there. Rows do not refer to them, so nothing else would.
    pub(super) async fn check_tenants(&mut self, tenants: impl Iterator<Item = TenantId>) -> Result<()> {
        let unknown: BTreeSet<TenantId> = {
            let known = self.db.tenants.lock().unwrap_or_else(PoisonError::into_inner);
            tenants.filter(|t| !known.contains(t)).collect()
        };
        for tenant in unknown {
            let there =
                query_scalar::<Postgres, bool>("SELECT EXISTS (SELECT 1 FROM tenant WHERE tenant_id = $1)")
                    .bind(tenant.0)
                    .fetch_one(&mut *self.inner)
                    .await
                    .map_err(sql_error("look up a tenant"))?;
            if !there {
                return Err(Error::not_found(format!("there is no tenant {tenant}")));
            }
            self.db.tenants.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant);
        }
        Ok(())
    }

    /// Keeps these batches from being paused or cancelled until the transaction ends. It comes before any lock on
    /// their tasks: whoever pauses or cancels takes the batch first, too.
    pub(super) async fn lock_batches(&mut self, ids: impl IntoIterator<Item = BatchId>) -> Result<()> {
        let mut ids: Vec<Uuid> =
            ids.into_iter().filter(|id| !self.locked.contains_key(id)).map(|id| id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        // KEY SHARE does not meet the sequencer's updates of the totals.
        let rows = query::<Postgres>(
            "SELECT batch_id, tenant_id, state, paused, priority FROM batch WHERE batch_id = ANY($1)
             ORDER BY batch_id FOR KEY SHARE",
        )
        .bind(ids)
        .fetch_all(&mut *self.inner)
        .await
        .map_err(sql_error("look up batches"))?;
        for row in &rows {
            let mut c = Columns::new(row);
            let id = c.batch()?;
            let found = BatchRow {
                tenant_id: c.tenant()?,
                state: c.word(BatchState::from_name)?,
                paused: c.flag()?,
                priority: c.int()?,
            };
            self.locked.insert(id, found);
        }
        Ok(())
    }

    /// A batch that [`lock_batches`](Self::lock_batches) found.
    pub(super) fn locked_batch(&self, batch: BatchId) -> Option<&BatchRow> {
        self.locked.get(&batch)
    }

    /// Where a task of this batch waits.
    pub(super) fn queued_or_held(&self, batch: Option<BatchId>) -> Result<TaskState> {
        let Some(batch) = batch else { return Ok(TaskState::Queued) };
        match self.locked.get(&batch) {
            Some(row) if row.paused => Ok(TaskState::Held),
            Some(_) => Ok(TaskState::Queued),
            None => Err(Error::bug(format!("batch {batch} was not locked before its tasks"))),
        }
    }

    /// Whether this kind is paused; asked once a transaction.
    pub(super) async fn is_paused(&mut self, kind: &TaskKind) -> Result<bool> {
        if self.paused_kinds.is_none() {
            let paused = query_scalar::<Postgres, String>("SELECT kind FROM paused_kind")
                .fetch_all(&mut *self.inner)
                .await
                .map_err(sql_error("look for paused kinds"))?;
            self.paused_kinds = Some(paused);
        }
        Ok(self.paused_kinds.iter().flatten().any(|paused| paused == kind.as_str()))
    }

    /// Writes everything that was gathered and commits, or rolls back if `outcome` is an error.
    pub(super) async fn close<T>(self, outcome: Result<T>) -> Result<(T, Aftermath)> {
        let (clock, meter) = (std::sync::Arc::clone(&self.db.clock), self.db.meter.clone());
        let (begun, writes) = (self.begun, self.writes);
        let closed = self.write_and_commit(outcome).await;
        meter.transaction(writes, clock.monotonic().saturating_sub(begun), closed.is_ok());
        closed
    }

    async fn write_and_commit<T>(mut self, outcome: Result<T>) -> Result<(T, Aftermath)> {
        let written = match outcome {
            Ok(answer) => self.write().await.map(|()| answer),
            Err(error) => Err(error),
        };
        match written {
            Ok(answer) => {
                crash::point("store.group.before_commit");
                let aftermath = self.aftermath;
                self.inner.commit().await.map_err(sql_error("commit"))?;
                crash::point("store.group.after_commit");
                Ok((answer, aftermath))
            }
            Err(error) => {
                // The connection is not used again before this is done, even if nobody waits for it.
                if let Err(e) = self.inner.rollback().await {
                    tracing::debug!(error = %e, "rollback failed");
                }
                Err(error)
            }
        }
    }

    async fn write(&mut self) -> Result<()> {
        task::insert_gathered(self).await?;
        self.write_ends().await?;
        task::count_parts(self).await?;
        self.fill_outbox().await?;
        crash::point("store.commit.events");
        Ok(())
    }

    /// Ends the ingestions that were gathered, before the transaction's end if what follows must see it.
    pub(super) async fn write_ends(&mut self) -> Result<()> {
        let ended = finish::end_gathered(self).await?;
        self.ended.extend(ended);
        self.ending.clear();
        Ok(())
    }

    async fn fill_outbox(&mut self) -> Result<()> {
        let mut rows: BTreeMap<TenantId, (Vec<EventBody>, Changes)> = BTreeMap::new();
        for told in std::mem::take(&mut self.told) {
            match told {
                Told::Event(tenant, body) => rows.entry(tenant).or_default().0.push(body),
                Told::End(ingestion) => {
                    if let Some((tenant, bodies)) = self.ended.remove(&ingestion) {
                        rows.entry(tenant).or_default().0.extend(bodies);
                    }
                }
            }
        }
        for (batch, (tenant, changes)) in std::mem::take(&mut self.batches) {
            rows.entry(tenant).or_default().1.batches.push((batch, changes));
        }
        for (tenant, document, batch) in std::mem::take(&mut self.documents) {
            rows.entry(tenant).or_default().1.documents.push((document, batch));
        }
        for (tenant, entry) in std::mem::take(&mut self.audits) {
            rows.entry(tenant).or_default().1.audit.push(entry);
        }
        if rows.is_empty() {
            return Ok(());
        }
        self.aftermath.outbox = true;
        let (mut tenants, mut counts, mut events, mut changes) = (vec![], vec![], vec![], vec![]);
        for (tenant, (bodies, change)) in rows {
            tenants.push(tenant.0);
            counts.push(bodies.len() as i64);
            events.push(json(&bodies)?);
            let empty = change.batches.is_empty() && change.documents.is_empty() && change.audit.is_empty();
            changes.push(if empty { None } else { Some(json(&change)?) });
        }
        query::<Postgres>(
            "INSERT INTO outbox (tenant_id, at, event_count, events, changes)
             SELECT u.tenant_id, $2, u.event_count, u.events, u.changes
             FROM unnest($1::uuid[], $3::bigint[], $4::text[], $5::text[]) AS u (tenant_id, event_count, events, changes)",
        )
        .bind(tenants)
        .bind(self.now.0)
        .bind(counts)
        .bind(events)
        .bind(changes)
        .execute(&mut *self.inner)
        .await
        .map_err(sql_error("fill the outbox"))?;
        Ok(())
    }
}

/// Whether a transaction failed only because another one was there first.
pub(super) fn collided(error: &Error) -> bool {
    error.source().and_then(|e| e.downcast_ref::<sqlx_core::Error>()).is_some_and(is_collision)
}

/// Waits before a transaction is repeated, longer each time and not as long as its rivals.
pub(super) async fn pause(tries: u32, id: Uuid) {
    let spread = u64::from(id.as_bytes()[15]) % 8;
    tokio::time::sleep(Duration::from_millis((2_u64 << tries.min(6)) + spread)).await;
}

/// Runs `$work`, a `Result`, in a write transaction `$tx`, again if it lost against another transaction. Answers the
/// result and what the commit means to others.
macro_rules! transact {
    ($db:expr, $begin:expr, |$tx:ident| $work:expr) => {{
        let mut tries = 0;
        loop {
            tries += 1;
            let mut $tx = $crate::store::postgres::tx::Tx::begin($db, $begin).await?;
            let id = $tx.fresh_id();
            let outcome = $work;
            match $tx.close(outcome).await {
                Err(error)
                    if tries < $crate::store::postgres::tx::MAX_TRIES
                        && $crate::store::postgres::tx::collided(&error) =>
                {
                    tracing::debug!(tries, error = %error.chain(), "transaction repeated");
                    $crate::store::postgres::tx::pause(tries, id).await;
                }
                done => break done,
            }
        }
    }};
}

pub(super) use transact;
