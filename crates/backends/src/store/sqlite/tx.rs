//! One write transaction and what it gathers: events, batch totals, change numbers. They are written once
//! at the end, however many verbs took part, which is what makes bookkeeping cheap.

use std::collections::{BTreeMap, HashMap, HashSet};

use docmill_core::batch::BatchState;
use docmill_core::clock::{IdGen, Timestamp};
use docmill_core::event::{EventBody, EventType};
use docmill_core::id::{BatchId, IngestionId, TaskId, TenantId};
use docmill_core::task::TaskKind;
use docmill_core::{Error, Result, crash};
use rusqlite::{CachedStatement, Connection, params};

use super::super::shared::totals::BatchDelta;
use super::claim::paused_kinds;
use super::row::sql_error;
use super::{events, task};

/// What a committed transaction means to those who wait.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aftermath {
    /// New work may be there.
    pub(super) work: bool,
    /// The change log has grown.
    pub(super) documents: bool,
    /// Documents, batches or events changed.
    pub(super) changed: bool,
    /// Ingestions that ended.
    pub(super) ended: u64,
}

/// A write transaction.
pub(super) struct Tx<'c> {
    conn: &'c Connection,
    ids: &'c dyn IdGen,
    pub(super) now: Timestamp,
    pub(super) aftermath: Aftermath,
    events: BTreeMap<TenantId, Vec<EventBody>>,
    batches: HashMap<BatchId, (TenantId, BatchDelta)>,
    change_seq: Option<i64>,
    change_taken: bool,
    paused: Option<bool>,
    paused_kinds: Option<Vec<String>>,
    /// Joins and how many of their parts have ended.
    parts_ended: BTreeMap<i64, i64>,
    /// Ingestions whose progress has been noted.
    progressed: HashSet<IngestionId>,
}

impl<'c> Tx<'c> {
    pub(super) fn new(conn: &'c Connection, ids: &'c dyn IdGen, now: Timestamp) -> Self {
        Self {
            conn,
            ids,
            now,
            aftermath: Aftermath::default(),
            events: BTreeMap::new(),
            batches: HashMap::new(),
            change_seq: None,
            change_taken: false,
            paused: None,
            paused_kinds: None,
            parts_ended: BTreeMap::new(),
            progressed: HashSet::new(),
        }
    }

    /// A prepared statement; the connection keeps them.
    pub(super) fn sql(&self, sql: &str) -> Result<CachedStatement<'c>> {
        self.conn.prepare_cached(sql).map_err(sql_error("prepare a statement"))
    }

    pub(super) fn conn(&self) -> &'c Connection {
        self.conn
    }

    pub(super) fn ids(&self) -> &'c dyn IdGen {
        self.ids
    }

    /// Notes an event; it gets its number at the end.
    pub(super) fn event(&mut self, tenant: TenantId, event: EventBody) {
        self.aftermath.changed = true;
        self.events.entry(tenant).or_default().push(event);
    }

    /// The totals of a batch, to be changed.
    pub(super) fn batch(&mut self, tenant: TenantId, batch: BatchId) -> &mut BatchDelta {
        self.aftermath.changed = true;
        &mut self.batches.entry(batch).or_insert_with(|| (tenant, BatchDelta::default())).1
    }

    /// The next number of the change log. It is given out once somebody [takes](Self::take_change) it: a number
    /// that no document carries would be waited for in vain.
    pub(super) fn next_change(&mut self) -> Result<i64> {
        let last = match self.change_seq {
            Some(last) => last,
            None => self
                .sql("SELECT value FROM counter WHERE name = 'change_seq'")?
                .query_row([], |r| r.get(0))
                .map_err(sql_error("read the change number"))?,
        };
        self.change_seq = Some(last);
        Ok(last + 1)
    }

    /// A document carries this number now.
    pub(super) fn take_change(&mut self, number: i64) {
        self.change_seq = Some(number);
        self.change_taken = true;
        (self.aftermath.documents, self.aftermath.changed) = (true, true);
    }

    /// Whether any batch is paused; asked once a transaction, because it is nearly always no.
    pub(super) fn any_batch_paused(&mut self) -> Result<bool> {
        if let Some(paused) = self.paused {
            return Ok(paused);
        }
        let paused = self
            .sql("SELECT EXISTS (SELECT 1 FROM batch WHERE paused = 1)")?
            .query_row([], |r| r.get(0))
            .map_err(sql_error("look for paused batches"))?;
        self.paused = Some(paused);
        Ok(paused)
    }

    /// Whether this kind is paused; asked once a transaction as well.
    pub(super) fn is_paused(&mut self, kind: &TaskKind) -> Result<bool> {
        let paused = match self.paused_kinds.take() {
            Some(paused) => paused,
            None => paused_kinds(self)?,
        };
        let is_paused = paused.iter().any(|paused| paused == kind.as_str());
        self.paused_kinds = Some(paused);
        Ok(is_paused)
    }

    /// Forgets what was remembered about pauses, after a change to one.
    pub(super) fn pauses_changed(&mut self) {
        (self.paused, self.paused_kinds) = (None, None);
    }

    /// A part of this join has ended.
    pub(super) fn part_ended(&mut self, join: i64) {
        *self.parts_ended.entry(join).or_default() += 1;
    }

    /// Whether the progress of this ingestion is still to be noted in this transaction. All its notes would
    /// carry the same time.
    pub(super) fn first_progress(&mut self, ingestion: IngestionId) -> bool {
        self.progressed.insert(ingestion)
    }

    /// Writes everything that was gathered. The caller commits.
    pub(super) fn finish(mut self) -> Result<Aftermath> {
        for (join, ended) in std::mem::take(&mut self.parts_ended) {
            task::parts_ended(&mut self, TaskId(join), ended)?;
        }
        let batches = std::mem::take(&mut self.batches);
        for (batch, (tenant, delta)) in batches {
            self.apply_batch(tenant, batch, &delta)?;
        }
        if let Some(last) = self.change_seq.filter(|_| self.change_taken) {
            self.sql("UPDATE counter SET value = ?1 WHERE name = 'change_seq'")?
                .execute([last])
                .map_err(sql_error("store the change number"))?;
        }
        let events = std::mem::take(&mut self.events);
        for (tenant, bodies) in events {
            events::append(&self, tenant, &bodies)?;
        }
        crash::point("store.commit.events");
        Ok(self.aftermath)
    }

    fn apply_batch(&mut self, tenant: TenantId, batch: BatchId, d: &BatchDelta) -> Result<()> {
        let (state, open, finished): (String, i64, Option<i64>) = self
            .sql(
                "UPDATE batch SET received = received + ?2, children = children + ?3, open = open + ?4,
                   completed = completed + ?5, failed = failed + ?6, skipped = skipped + ?7,
                   cancelled = cancelled + ?8, duplicates = duplicates + ?9, dead = max(0, dead + ?10),
                   change_seq = max(change_seq, ?11)
                 WHERE batch_id = ?1 RETURNING state, open, finished_at",
            )?
            .query_row(
                params![
                    batch.as_bytes(),
                    d.received,
                    d.children,
                    d.open,
                    d.completed,
                    d.failed,
                    d.skipped,
                    d.cancelled,
                    d.duplicates,
                    d.dead,
                    d.change_seq
                ],
                |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)),
            )
            .map_err(sql_error("update a batch"))?;
        if open < 0 {
            return Err(Error::bug(format!("batch {batch} would have {open} open items")));
        }
        if state == BatchState::Sealed.name() && open == 0 {
            self.sql("UPDATE batch SET state = 'finished', finished_at = coalesce(finished_at, ?2) WHERE batch_id = ?1")?
                .execute(params![batch.as_bytes(), self.now.0])
                .map_err(sql_error("finish a batch"))?;
            // A batch that is reopened by a retry or a resumed walk ends again in silence: subscribers are
            // told once.
            if finished.is_none() {
                let event = EventBody { batch_id: Some(batch), ..EventBody::new(EventType::JobFinished) };
                self.event(tenant, event);
            }
        } else if state == BatchState::Finished.name() && open > 0 {
            self.sql("UPDATE batch SET state = 'sealed' WHERE batch_id = ?1")?
                .execute([batch.as_bytes()])
                .map_err(sql_error("reopen a batch"))?;
        }
        Ok(())
    }
}
