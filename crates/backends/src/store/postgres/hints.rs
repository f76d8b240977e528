//! Wake-ups between processes. They carry nothing but what kind of thing happened, are sent apart from transactions
//! (a NOTIFY inside one makes all commits wait in line) and several at once, and may be lost: every process also
//! looks for itself from time to time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use docmill_core::Result;
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgListener, PgPool, Postgres};
use tokio::sync::{Notify, watch};
use uuid::Uuid;

use super::db::Db;
use super::heads::Heads;
use super::row::sql_error;

/// The channel of one database.
const CHANNEL: &str = "docmill";

/// Wake-ups of this time are sent as one.
const GATHER: Duration = Duration::from_millis(10);

/// A process looks for itself this often, whatever it hears.
const SLOW_POLL: Duration = Duration::from_secs(2);

/// After an error, the next attempt waits so long at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

const WORK: u8 = 1;
const CHANGED: u8 = 2;
const DOCUMENTS: u8 = 4;

/// Those who wait in this process.
#[derive(Clone)]
pub(super) struct Waiters {
    pub(super) work: watch::Sender<u64>,
    pub(super) documents: watch::Sender<u64>,
    pub(super) changed: watch::Sender<u64>,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self { work: watch::Sender::new(0), documents: watch::Sender::new(0), changed: watch::Sender::new(0) }
    }

    fn wake(&self, what: u8) {
        for (bit, waiters) in [(WORK, &self.work), (CHANGED, &self.changed), (DOCUMENTS, &self.documents)] {
            if what & bit != 0 {
                waiters.send_modify(|n| *n += 1);
            }
        }
    }
}

/// Wakes those who wait here at once and those elsewhere soon.
#[derive(Clone)]
pub(super) struct Hints {
    waiters: Waiters,
    pending: Arc<AtomicU8>,
    wake: Arc<Notify>,
}

impl Hints {
    /// Starts to send and to listen; `closed` ends both.
    pub(super) fn start(
        db: &Db,
        waiters: Waiters,
        heads: &Arc<Heads>,
        closed: &watch::Receiver<bool>,
    ) -> Self {
        let (pool, me) = (&db.pool, db.ids.next());
        let hints = Self { waiters, pending: Arc::new(AtomicU8::new(0)), wake: Arc::new(Notify::new()) };
        tokio::spawn(until_closed(closed.clone(), send(pool.clone(), me, hints.clone())));
        tokio::spawn(until_closed(closed.clone(), listen(pool.clone(), me, hints.waiters.clone())));
        tokio::spawn(until_closed(
            closed.clone(),
            poll(db.clone(), Arc::clone(heads), hints.waiters.clone()),
        ));
        hints
    }

    pub(super) fn work(&self) {
        self.announce(WORK);
    }

    pub(super) fn changed(&self, documents: bool) {
        self.announce(if documents { CHANGED | DOCUMENTS } else { CHANGED });
    }

    fn announce(&self, what: u8) {
        self.waiters.wake(what);
        self.pending.fetch_or(what, Ordering::SeqCst);
        self.wake.notify_one();
    }
}

async fn until_closed(mut closed: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        // An error means that the store is gone, which ends it as well.
        _ = closed.wait_for(|closed| *closed) => {}
    }
}

async fn send(pool: PgPool, me: Uuid, hints: Hints) {
    loop {
        hints.wake.notified().await;
        tokio::time::sleep(GATHER).await;
        let what = hints.pending.swap(0, Ordering::SeqCst);
        if what == 0 {
            continue;
        }
        let sent = query::<Postgres>("SELECT pg_notify($1, $2)")
            .bind(CHANNEL)
            .bind(format!("{what} {me}"))
            .execute(&pool)
            .await;
        if let Err(error) = sent {
            // Others find out by themselves a little later.
            tracing::debug!(error = %error, "a wake-up was not sent");
        }
    }
}

async fn listen(pool: PgPool, me: Uuid, waiters: Waiters) {
    let mut pause = FIRST_PAUSE;
    loop {
        match hear(&pool, me, &waiters, &mut pause).await {
            Ok(()) => {}
            Err(error) => tracing::debug!(error = %error.chain(), "wake-ups are not heard; trying again"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Listens on one connection until it is lost.
async fn hear(pool: &PgPool, me: Uuid, waiters: &Waiters, pause: &mut Duration) -> Result<()> {
    let mut listener = PgListener::connect_with(pool).await.map_err(sql_error("listen"))?;
    listener.listen(CHANNEL).await.map_err(sql_error("listen"))?;
    *pause = FIRST_PAUSE;
    // Whatever was said while nobody listened.
    waiters.wake(WORK | CHANGED | DOCUMENTS);
    while let Some(heard) = listener.try_recv().await.map_err(sql_error("listen"))? {
        if let Some((what, from)) = heard.payload().split_once(' ')
            && from.parse::<Uuid>().ok() != Some(me)
        {
            waiters.wake(what.parse().unwrap_or(WORK | CHANGED | DOCUMENTS));
        }
    }
    Ok(())
}

/// Looks whether anything is there that nobody told about.
async fn poll(db: Db, heads: Arc<Heads>, waiters: Waiters) {
    let mut seen = None;
    loop {
        tokio::time::sleep(SLOW_POLL).await;
        // Where that takes long, whoever claims looks for himself, and knows where. The order makes it a question to
        // the queue's index: the table has all tasks that ever were.
        let spared = heads.spared(db.clock.monotonic());
        let found = query_scalar::<Postgres, Vec<i64>>(
            "SELECT ARRAY[CASE WHEN $1 THEN 1 ELSE
                 coalesce((SELECT 1 FROM task WHERE state = 'queued' ORDER BY tenant_id LIMIT 1), 0) END,
               (SELECT value FROM counter WHERE name = 'change_seq'),
               coalesce(pg_sequence_last_value(pg_get_serial_sequence('outbox', 'outbox_id')), 0)]",
        )
        .bind(spared)
        .fetch_one(&db.pool)
        .await;
        let Ok(found) = found else { continue };
        let [queued, documents, events] = found[..] else { continue };
        let (old_documents, old_events) = seen.replace((documents, events)).unwrap_or((documents, events));
        let mut what = 0;
        for (is, bit) in
            [(queued > 0, WORK), (documents != old_documents, DOCUMENTS), (events != old_events, CHANGED)]
        {
            what |= if is { bit } else { 0 };
        }
        waiters.wake(what);
    }
}
