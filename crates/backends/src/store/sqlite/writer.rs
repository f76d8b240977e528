//! The one writer. It takes what waits, runs it in one transaction, commits, and answers everybody.
//!
//! There is no lingering: a lone write commits at once, and while it does the next group gathers. A group that
//! fails is rolled back and repeated one by one, so that only the offender gets the error.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use docmill_core::clock::{Clock, IdGen};
use docmill_core::metrics::StoreMeter;
use docmill_core::{Error, Result, crash};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::shared::once_more;
use super::row::sql_error;
use super::tx::{Aftermath, Tx};

/// A transaction takes no further writes after this long, so that a renewal never waits much longer.
const MAX_TRANSACTION: Duration = Duration::from_millis(50);

/// Which queue a write waits in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    /// Renewals and releases: a lease must not run out because receipts are queued before it.
    Urgent,
    /// Everything else.
    Usual,
}

/// Whether an answer must survive a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Durable {
    /// Receipts, results, everything a person did.
    Yes,
    /// Claims and renewals: a machine that loses its power loses its workers too, and what they had claimed is
    /// simply queued still. A killed process loses neither.
    No,
}

trait Job: Send {
    fn durable(&self) -> Durable;
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<()>;
    fn reply(self: Box<Self>, outcome: Result<()>);
}

struct Typed<F, T> {
    durable: Durable,
    work: F,
    answer: Option<T>,
    reply: oneshot::Sender<Result<T>>,
}

impl<F, T> Job for Typed<F, T>
where
    F: FnMut(&mut Tx<'_>) -> Result<T> + Send,
    T: Send,
{
    fn durable(&self) -> Durable {
        self.durable
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        self.answer = None;
        self.answer = Some((self.work)(tx)?);
        Ok(())
    }

    fn reply(self: Box<Self>, outcome: Result<()>) {
        let Self { answer, reply, .. } = *self;
        let answer = outcome.and_then(|()| answer.ok_or_else(|| Error::bug("a write left no answer")));
        // A caller that went away does not want the answer; what was written stays written.
        drop(reply.send(answer));
    }
}

#[derive(Default)]
struct Lanes {
    urgent: VecDeque<Box<dyn Job>>,
    usual: VecDeque<Box<dyn Job>>,
    closed: bool,
}

struct Shared {
    lanes: Mutex<Lanes>,
    arrived: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handle to the writer thread. Dropping it lets the thread finish what waits.
pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. `after` is told about every committed transaction, before anyone is answered.
    pub(super) fn start(
        conn: Connection,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGen>,
        meter: StoreMeter,
        after: impl Fn(Aftermath) + Send + 'static,
    ) -> Result<Self> {
        let shared = Arc::new(Shared { lanes: Mutex::new(Lanes::default()), arrived: Condvar::new() });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("docmill-writer".into())
            .spawn(move || run(&conn, &theirs, clock.as_ref(), ids.as_ref(), &meter, &after))
            .map_err(|e| Error::unavailable("cannot start the writer thread").with_source(e))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Runs `work` in a transaction and answers once it is durable. `work` may be run twice (see the module's
    /// header), so it must not consume what it captured.
    pub(super) async fn write<T, F>(&self, lane: Lane, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        self.queue(lane, Durable::Yes, work).await
    }

    /// The same for what need not survive a power cut.
    pub(super) async fn write_lightly<T, F>(&self, lane: Lane, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        self.queue(lane, Durable::No, work).await
    }

    async fn queue<T, F>(&self, lane: Lane, durable: Durable, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: Box<dyn Job> = Box::new(Typed { durable, work, answer: None, reply });
        {
            let mut lanes = self.shared.lock();
            if lanes.closed {
                return Err(Error::shutting_down("the store is closed"));
            }
            match lane {
                Lane::Urgent => lanes.urgent.push_back(job),
                Lane::Usual => lanes.usual.push_back(job),
            }
        }
        self.shared.arrived.notify_one();
        answer.await.map_err(|e| Error::unavailable("the store's writer has stopped").with_source(e))?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.arrived.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the store's writer thread panicked");
        }
    }
}

fn run(
    conn: &Connection,
    shared: &Shared,
    clock: &dyn Clock,
    ids: &dyn IdGen,
    meter: &StoreMeter,
    after: &dyn Fn(Aftermath),
) {
    let sync = Sync::new(conn);
    loop {
        let (first, durable) = {
            let mut lanes = shared.lock();
            loop {
                if let Some(job) = next(&mut lanes, Durable::Yes) {
                    // One durable write among those that wait makes the whole group so.
                    let all_light = job.durable() == Durable::No && !lanes.any_durable();
                    break (job, if all_light { Durable::No } else { Durable::Yes });
                }
                if lanes.closed {
                    return;
                }
                lanes = shared.arrived.wait(lanes).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let mut group = Vec::new();
        let begun = clock.monotonic();
        let committed = commit_group(&sync, shared, clock, ids, durable, first, &mut group);
        meter.transaction(group.len(), clock.monotonic().saturating_sub(begun), committed.is_ok());
        match committed {
            Ok(aftermath) => {
                crash::point("store.group.before_reply");
                after(aftermath);
                for job in group {
                    job.reply(Ok(()));
                }
            }
            Err(error) if group.len() == 1 => {
                for job in group {
                    job.reply(Err(once_more(&error)));
                }
            }
            Err(_) => {
                for mut job in group {
                    let begun = clock.monotonic();
                    let outcome = commit_one(&sync, clock, ids, job.as_mut());
                    meter.transaction(1, clock.monotonic().saturating_sub(begun), outcome.is_ok());
                    if let Ok(aftermath) = outcome {
                        after(aftermath);
                    }
                    job.reply(outcome.map(|_| ()));
                }
            }
        }
    }
}

/// The next job that may join a group of this durability: a light group takes only light ones.
fn next(lanes: &mut Lanes, group: Durable) -> Option<Box<dyn Job>> {
    let fits = |job: &mut Box<dyn Job>| group == Durable::Yes || job.durable() == Durable::No;
    let lane = if lanes.urgent.is_empty() { &mut lanes.usual } else { &mut lanes.urgent };
    lane.pop_front_if(fits)
}

impl Lanes {
    fn any_durable(&self) -> bool {
        self.urgent.iter().chain(&self.usual).any(|job| job.durable() == Durable::Yes)
    }
}

/// Runs `first` and whatever else waits, in one transaction. `group` holds the jobs afterwards in any case.
fn commit_group(
    sync: &Sync<'_>,
    shared: &Shared,
    clock: &dyn Clock,
    ids: &dyn IdGen,
    durable: Durable,
    first: Box<dyn Job>,
    group: &mut Vec<Box<dyn Job>>,
) -> Result<Aftermath> {
    let begun = clock.monotonic();
    let mut pending = Some(first);
    in_transaction(sync, clock, ids, durable, |tx| {
        while let Some(mut job) = pending.take() {
            let outcome = job.run(tx);
            group.push(job);
            outcome?;
            if clock.monotonic().saturating_sub(begun) < MAX_TRANSACTION {
                pending = next(&mut shared.lock(), durable);
            }
        }
        Ok(())
    })
    .inspect_err(|_| group.extend(pending.take()))
}

fn commit_one(sync: &Sync<'_>, clock: &dyn Clock, ids: &dyn IdGen, job: &mut dyn Job) -> Result<Aftermath> {
    in_transaction(sync, clock, ids, Durable::Yes, |tx| job.run(tx))
}

fn in_transaction(
    sync: &Sync<'_>,
    clock: &dyn Clock,
    ids: &dyn IdGen,
    durable: Durable,
    work: impl FnOnce(&mut Tx<'_>) -> Result<()>,
) -> Result<Aftermath> {
    let conn = sync.choose(durable)?;
    conn.prepare_cached("BEGIN IMMEDIATE")
        .and_then(|mut s| s.execute([]))
        .map_err(sql_error("begin a transaction"))?;
    crash::point("store.group.begin");
    let mut tx = Tx::new(conn, ids, clock.now());
    let outcome = work(&mut tx).and_then(|()| tx.finish()).and_then(|aftermath| {
        crash::point("store.group.before_commit");
        conn.prepare_cached("COMMIT").and_then(|mut s| s.execute([])).map_err(sql_error("commit"))?;
        crash::point("store.group.after_commit");
        Ok(aftermath)
    });
    if outcome.is_err() && !conn.is_autocommit() {
        // If even this fails the next BEGIN fails too, and says so.
        if let Err(e) = conn.execute_batch("ROLLBACK") {
            tracing::error!(error = %e, "rollback failed");
        }
    }
    outcome
}

/// The connection, and how its commits are written at present.
struct Sync<'c> {
    conn: &'c Connection,
    chosen: Cell<Option<Durable>>,
}

impl<'c> Sync<'c> {
    fn new(conn: &'c Connection) -> Self {
        Self { conn, chosen: Cell::new(None) }
    }

    /// Sets how the next commit is written. A durable one also makes durable what lighter ones wrote before it.
    fn choose(&self, durable: Durable) -> Result<&'c Connection> {
        if self.chosen.get() != Some(durable) {
            self.chosen.set(None);
            // Not prepared once and kept: SQLite obeys this pragma while it compiles it.
            let level = if durable == Durable::Yes { "FULL" } else { "NORMAL" };
            self.conn
                .execute_batch(&format!("PRAGMA synchronous = {level}"))
                .map_err(sql_error("choose how to commit"))?;
            self.chosen.set(Some(durable));
        }
        Ok(self.conn)
    }
}
