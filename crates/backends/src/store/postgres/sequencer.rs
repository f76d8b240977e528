//! Gives numbers to what commits left in the outbox. One process at a time does it, under an advisory lock, so event
//! numbers have no gaps, batch totals are exact, a batch finishes once, and no commit waits for a row that every
//! commit would have to change.
//!
//! A row's number in the outbox is taken while its transaction runs. One that depends on another began after the
//! other had committed, so its number is the higher one: folding in order of these numbers never shows an effect
//! before its cause.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use docmill_core::Result;
use docmill_core::batch::BatchState;
use docmill_core::clock::Timestamp;
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, DocumentId, TenantId};
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};
use tokio::sync::{Notify, watch};

use super::access::{self, Left};
use super::db::{Begin, Db};
use super::events;
use super::row::{Columns, json, sql_error};
use super::tx::{BatchChanges, Changes};

/// Held while the outbox is folded; an arbitrary number, but always this one. Advisory locks belong to a database.
const LOCK: i64 = 0x646f_636d_0002;

/// Rows folded in one transaction.
const CHUNK: i64 = 1000;

/// What another process left when it died is folded after this long.
const SLOW_POLL: Duration = Duration::from_secs(1);

/// While commits keep coming, they are folded together: a little later is early enough for those who watch.
const GATHER: Duration = Duration::from_millis(20);

/// What a fold did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Folded {
    /// Rows of the outbox.
    pub(super) rows: usize,
    /// The change log has grown.
    pub(super) documents: bool,
}

/// Waits for the sequencer's lock, until the end of the transaction.
pub(super) async fn lock(conn: &mut PgConnection) -> Result<()> {
    query::<Postgres>("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(conn)
        .await
        .map_err(sql_error("wait for the sequencer"))?;
    Ok(())
}

/// Folds all that is in the outbox now. If somebody else is at it, waits for them first.
pub(super) async fn fold_all(db: &Db) -> Result<Folded> {
    let mut all = Folded::default();
    loop {
        let folded = fold_chunk(db, Patience::Waits).await?.unwrap_or_default();
        all.rows += folded.rows;
        all.documents |= folded.documents;
        if (folded.rows as i64) < CHUNK {
            return Ok(all);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    Waits,
    GoesAway,
}

/// Folds a chunk; none if somebody else is at it and there is no patience.
async fn fold_chunk(db: &Db, patience: Patience) -> Result<Option<Folded>> {
    let mut tx = db.begin(Begin::Durable).await?;
    let mut fold = Fold::default();
    let folded = match patience {
        Patience::Waits => {
            // Most of the time there is nothing to do, and nobody needs to be waited for to see that.
            let any = query_scalar::<Postgres, bool>("SELECT EXISTS (SELECT 1 FROM outbox)")
                .fetch_one(&mut *tx)
                .await
                .map_err(sql_error("look into the outbox"))?;
            if any {
                lock(&mut tx).await?;
                fold.run(&mut tx).await?;
            }
            Some(fold.folded)
        }
        Patience::GoesAway => {
            let mine = query_scalar::<Postgres, bool>("SELECT pg_try_advisory_xact_lock($1)")
                .bind(LOCK)
                .fetch_one(&mut *tx)
                .await
                .map_err(sql_error("ask for the sequencer"))?;
            if mine {
                fold.run(&mut tx).await?;
                Some(fold.folded)
            } else {
                None
            }
        }
    };
    if folded.is_some_and(|f| f.rows > 0) {
        tx.commit().await.map_err(sql_error("commit a fold"))?;
    } else {
        tx.rollback().await.map_err(sql_error("end a fold"))?;
    }
    Ok(folded)
}

/// A row of the event log to be.
struct EventRow {
    tenant_id: TenantId,
    at: Timestamp,
    count: i64,
    body: String,
}

/// A batch as it stands, with what is added to it.
struct Batch {
    tenant_id: TenantId,
    state: BatchState,
    open: i64,
    started: bool,
    finished: bool,
    changes: BatchChanges,
    /// What became of it in this fold.
    started_at: Option<i64>,
    finished_at: Option<i64>,
}

#[derive(Default)]
struct Fold {
    folded: Folded,
    events: Vec<EventRow>,
    batches: BTreeMap<BatchId, Batch>,
    /// Changed documents, each once, in the order of their last change, and the batches that changed them.
    documents: Vec<DocumentId>,
    document_batches: HashMap<DocumentId, Vec<BatchId>>,
    latest: Timestamp,
    audits: Vec<Left>,
}

/// A row of the outbox.
struct OutboxRow {
    id: i64,
    tenant_id: TenantId,
    at: Timestamp,
    event_count: i64,
    events: String,
    changes: Changes,
}

impl Fold {
    async fn run(&mut self, conn: &mut PgConnection) -> Result<()> {
        let rows = take(conn).await?;
        self.folded.rows = rows.len();
        if rows.is_empty() {
            return Ok(());
        }
        self.load_batches(conn, &rows).await?;
        for row in rows {
            self.add(row)?;
        }
        self.settle_batches()?;
        let changes = self.number_documents(conn).await?;
        self.store_batches(conn, &changes).await?;
        self.store_events(conn).await?;
        access::append(conn, std::mem::take(&mut self.audits)).await
    }

    async fn load_batches(&mut self, conn: &mut PgConnection, rows: &[OutboxRow]) -> Result<()> {
        let mut ids: Vec<_> = rows.iter().flat_map(|r| r.changes.batches.iter().map(|b| b.0.0)).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        let rows = query::<Postgres>(
            "SELECT batch_id, tenant_id, state, open, started_at IS NOT NULL, finished_at IS NOT NULL FROM batch
             WHERE batch_id = ANY($1) ORDER BY batch_id FOR NO KEY UPDATE",
        )
        .bind(ids)
        .fetch_all(conn)
        .await
        .map_err(sql_error("load batches"))?;
        for row in &rows {
            let mut c = Columns::new(row);
            let id = c.batch()?;
            let batch = Batch {
                tenant_id: c.tenant()?,
                state: c.word(BatchState::from_name)?,
                open: c.get()?,
                started: c.flag()?,
                finished: c.flag()?,
                changes: BatchChanges::default(),
                started_at: None,
                finished_at: None,
            };
            self.batches.insert(id, batch);
        }
        Ok(())
    }

    fn add(&mut self, row: OutboxRow) -> Result<()> {
        self.latest = self.latest.max(row.at);
        for (id, changes) in row.changes.batches {
            let Some(batch) = self.batches.get_mut(&id) else {
                // It would be met again by every fold, and nothing behind it would ever get a number.
                tracing::error!(batch_id = %id, "the outbox names a batch that is not there");
                continue;
            };
            if changes.started && !batch.started {
                (batch.started, batch.started_at) = (true, Some(row.at.0));
                let body = EventBody { batch_id: Some(id), ..EventBody::new(EventType::JobStarted) };
                self.events.push(EventRow {
                    tenant_id: batch.tenant_id,
                    at: row.at,
                    count: 1,
                    body: json(&[body])?,
                });
            }
            add_up(&mut batch.changes, &changes);
        }
        for (document, batch) in row.changes.documents {
            self.documents.push(document);
            self.document_batches.entry(document).or_default().extend(batch);
        }
        let (tenant_id, at) = (row.tenant_id, row.at);
        self.audits.extend(row.changes.audit.into_iter().map(|entry| Left { tenant_id, at, entry }));
        if row.event_count > 0 {
            self.events.push(EventRow { tenant_id, at, count: row.event_count, body: row.events });
        }
        Ok(())
    }

    /// Ends batches that are sealed and have nothing open, and opens those again that have.
    fn settle_batches(&mut self) -> Result<()> {
        for (id, batch) in &mut self.batches {
            let open = batch.open + batch.changes.totals.open;
            if open < 0 {
                tracing::error!(batch_id = %id, open, "a batch has fewer than no open items");
            }
            if batch.state == BatchState::Sealed && open <= 0 {
                batch.state = BatchState::Finished;
                batch.finished_at = Some(self.latest.0);
                // A batch that is reopened by a retry or a resumed walk ends again in silence: subscribers are
                // told once.
                if !batch.finished {
                    let body = EventBody { batch_id: Some(*id), ..EventBody::new(EventType::JobFinished) };
                    self.events.push(EventRow {
                        tenant_id: batch.tenant_id,
                        at: self.latest,
                        count: 1,
                        body: json(&[body])?,
                    });
                }
            } else if batch.state == BatchState::Finished && open > 0 {
                batch.state = BatchState::Sealed;
            }
        }
        Ok(())
    }

    /// Gives changed documents their places in the change log. Answers the last change of each batch.
    async fn number_documents(&mut self, conn: &mut PgConnection) -> Result<HashMap<BatchId, i64>> {
        // Each document once, at the place of its last change.
        let mut last_place: HashMap<DocumentId, usize> = HashMap::new();
        for (place, document) in self.documents.iter().enumerate() {
            last_place.insert(*document, place);
        }
        let documents: Vec<DocumentId> =
            self.documents.iter().enumerate().filter(|(p, d)| last_place[d] == *p).map(|(_, d)| *d).collect();
        let mut of_batch = HashMap::new();
        if documents.is_empty() {
            return Ok(of_batch);
        }
        let count = documents.len() as i64;
        let last = query_scalar::<Postgres, i64>(
            "UPDATE counter SET value = value + $1 WHERE name = 'change_seq' RETURNING value",
        )
        .bind(count)
        .fetch_one(&mut *conn)
        .await
        .map_err(sql_error("number changes"))?;
        let numbers: Vec<i64> = (last - count + 1..=last).collect();
        query::<Postgres>(
            "UPDATE document d SET change_seq = u.seq FROM unnest($1::uuid[], $2::bigint[]) AS u (document_id, seq)
             WHERE d.document_id = u.document_id",
        )
        .bind(documents.iter().map(|d| d.0).collect::<Vec<_>>())
        .bind(&numbers)
        .execute(conn)
        .await
        .map_err(sql_error("number documents"))?;
        for (document, number) in documents.iter().zip(numbers) {
            for batch in self.document_batches.get(document).into_iter().flatten() {
                of_batch.insert(*batch, number);
            }
        }
        self.folded.documents = true;
        Ok(of_batch)
    }

    async fn store_batches(
        &self,
        conn: &mut PgConnection,
        last_changes: &HashMap<BatchId, i64>,
    ) -> Result<()> {
        if self.batches.is_empty() {
            return Ok(());
        }
        let totals =
            |of: fn(&BatchChanges) -> i64| self.batches.values().map(|b| of(&b.changes)).collect::<Vec<_>>();
        query::<Postgres>(
            "UPDATE batch b SET state = u.state, received = b.received + u.received, children = b.children + u.children,
               open = b.open + u.open, completed = b.completed + u.completed, failed = b.failed + u.failed,
               skipped = b.skipped + u.skipped, cancelled = b.cancelled + u.cancelled,
               duplicates = b.duplicates + u.duplicates, dead = greatest(0, b.dead + u.dead),
               change_seq = greatest(b.change_seq, u.change_seq), started_at = coalesce(b.started_at, u.started_at),
               finished_at = coalesce(b.finished_at, u.finished_at)
             FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
               $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[])
               AS u (batch_id, state, received, children, open, completed, failed, skipped, cancelled, duplicates, dead,
                 change_seq, started_at, finished_at)
             WHERE b.batch_id = u.batch_id",
        )
        .bind(self.batches.keys().map(|b| b.0).collect::<Vec<_>>())
        .bind(self.batches.values().map(|b| b.state.name()).collect::<Vec<_>>())
        .bind(totals(|c| c.totals.received))
        .bind(totals(|c| c.totals.children))
        .bind(totals(|c| c.totals.open))
        .bind(totals(|c| c.totals.completed))
        .bind(totals(|c| c.totals.failed))
        .bind(totals(|c| c.totals.skipped))
        .bind(totals(|c| c.totals.cancelled))
        .bind(totals(|c| c.totals.duplicates))
        .bind(totals(|c| c.totals.dead))
        .bind(self.batches.keys().map(|b| last_changes.get(b).copied().unwrap_or(0)).collect::<Vec<_>>())
        .bind(self.batches.values().map(|b| b.started_at).collect::<Vec<_>>())
        .bind(self.batches.values().map(|b| b.finished_at).collect::<Vec<_>>())
        .execute(conn)
        .await
        .map_err(sql_error("update batches"))?;
        Ok(())
    }

    async fn store_events(&self, conn: &mut PgConnection) -> Result<()> {
        let tenants: BTreeSet<TenantId> = self.events.iter().map(|e| e.tenant_id).collect();
        if tenants.is_empty() {
            return Ok(());
        }
        let tenants: Vec<TenantId> = tenants.into_iter().collect();
        // Nobody else appends while this transaction holds the sequencer's lock.
        let mut last = events::bounds(conn, &tenants).await?;
        let (mut rows, mut firsts) = (Vec::with_capacity(self.events.len()), Vec::new());
        for row in &self.events {
            let Some((last, _)) = last.get_mut(&row.tenant_id) else {
                tracing::error!(tenant_id = %row.tenant_id, "the outbox names a tenant that is not there");
                continue;
            };
            firsts.push(*last + 1);
            *last += row.count;
            rows.push(row);
        }
        query::<Postgres>(
            "INSERT INTO event (tenant_id, last_seq, first_seq, at, body)
             SELECT u.* FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) AS u",
        )
        .bind(rows.iter().map(|e| e.tenant_id.0).collect::<Vec<_>>())
        .bind(rows.iter().zip(&firsts).map(|(e, first)| first + e.count - 1).collect::<Vec<_>>())
        .bind(&firsts)
        .bind(rows.iter().map(|e| e.at.0).collect::<Vec<_>>())
        .bind(rows.iter().map(|e| e.body.as_str()).collect::<Vec<_>>())
        .execute(conn)
        .await
        .map_err(sql_error("append events"))?;
        Ok(())
    }
}

/// Takes the oldest rows out of the outbox, in order.
async fn take(conn: &mut PgConnection) -> Result<Vec<OutboxRow>> {
    let rows = query::<Postgres>(
        "DELETE FROM outbox WHERE outbox_id IN (SELECT outbox_id FROM outbox ORDER BY outbox_id LIMIT $1)
         RETURNING outbox_id, tenant_id, at, event_count, events, changes",
    )
    .bind(CHUNK)
    .fetch_all(conn)
    .await
    .map_err(sql_error("empty the outbox"))?;
    let mut taken = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut c = Columns::new(row);
        taken.push(OutboxRow {
            id: c.get()?,
            tenant_id: c.tenant()?,
            at: c.time()?,
            event_count: c.get()?,
            events: c.get()?,
            changes: c.json_opt()?.unwrap_or_default(),
        });
    }
    taken.sort_unstable_by_key(|r| r.id);
    Ok(taken)
}

fn add_up(sum: &mut BatchChanges, more: &BatchChanges) {
    let (s, m) = (&mut sum.totals, &more.totals);
    s.received += m.received;
    s.children += m.children;
    s.open += m.open;
    s.completed += m.completed;
    s.failed += m.failed;
    s.skipped += m.skipped;
    s.cancelled += m.cancelled;
    s.duplicates += m.duplicates;
    s.dead += m.dead;
}

/// The task that folds in the background.
pub(super) struct Sequencer {
    pub(super) wake: Arc<Notify>,
}

impl Sequencer {
    /// Starts it. `after` is told about every fold that did something; `closed` ends it.
    pub(super) fn start(
        db: Db,
        mut closed: watch::Receiver<bool>,
        after: impl Fn(Folded) + Send + 'static,
    ) -> Self {
        let wake = Arc::new(Notify::new());
        let woken = Arc::clone(&wake);
        tokio::spawn(async move {
            while !*closed.borrow() {
                tokio::select! {
                    () = woken.notified() => tokio::time::sleep(GATHER).await,
                    () = tokio::time::sleep(SLOW_POLL) => {}
                    _ = closed.changed() => return,
                }
                loop {
                    match fold_chunk(&db, Patience::GoesAway).await {
                        Ok(Some(folded)) => {
                            if folded.rows > 0 {
                                after(folded);
                            }
                            if (folded.rows as i64) < CHUNK {
                                break;
                            }
                        }
                        // Whoever is at it may have looked before our row came; the next poll sees.
                        Ok(None) => {
                            woken.notify_one();
                            break;
                        }
                        Err(error) => {
                            tracing::warn!(error = %error.chain(), "the outbox could not be folded");
                            tokio::time::sleep(SLOW_POLL).await;
                            break;
                        }
                    }
                }
            }
        });
        Self { wake }
    }
}
