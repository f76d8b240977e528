//! The main loop: claim what there is room for, start it, wait for more work or more room.
//!
//! Claims come in batches because a claim costs a transaction: at once when more than half of the worker is
//! free, otherwise at a pace. Everything that can end the waiting is waited for; the longest wait is a second.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::task::TaskKind;
use docmill_core::{Result, crash};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::capacity::Room;
use super::desk::{self, Report};
use super::run::Seated;
use super::{Engine, Phase, heartbeat, registry, shutdown, sweeper};
use crate::{followers, maintenance};

/// The longest wait between two claims.
const POLL: Duration = Duration::from_secs(1);
/// The wait between empty polls of a worker that ends when idle.
const IDLE_POLL: Duration = Duration::from_millis(100);
/// A worker that ends when idle does so after so many empty polls.
const EMPTY_POLLS: u32 = 3;
/// Work that is due but was not given is not asked for more often than this.
const MIN_WAIT: Duration = Duration::from_millis(10);
/// The shortest time between two claims while most of the worker is busy.
const PACE: Duration = Duration::from_millis(25);
/// The first wait after a failed claim, doubling up to [`POLL`] times five.
const ERROR_PAUSE: Duration = Duration::from_millis(100);

/// Runs an engine from registration to its end.
pub(super) async fn work(engine: Arc<Engine>, reports: mpsc::UnboundedReceiver<Report>) {
    let _ends = Ends(&engine);
    let Some(registration) = registry::register(&engine).await else { return };
    crash::point("worker.registered");
    // These live as long as the engine holds work: until after the last release.
    let mut company = JoinSet::new();
    company.spawn(desk::serve(Arc::clone(&engine), reports));
    company.spawn(heartbeat::beat(Arc::clone(&engine)));
    company.spawn(heartbeat::watch(Arc::clone(&engine)));
    company.spawn(sweeper::sweep(Arc::clone(&engine)));
    if engine.options.maintain {
        company.spawn(maintenance::hourly(Arc::clone(&engine.inner)));
    }
    let mut followers = JoinSet::new();
    if engine.options.follow {
        followers.spawn(followers::index::follow(Arc::clone(&engine.inner)));
        followers.spawn(followers::catalogue::follow(Arc::clone(&engine.inner)));
        followers.spawn(followers::meanings::follow(Arc::clone(&engine.inner)));
    }

    tokio::select! {
        () = claim_and_run(&engine) => {}
        // None of them ends by itself. Without one of them the engine would claim and get nothing done.
        _ = company.join_next() => {
            tracing::error!("a part of the engine has ended; the engine ends too");
            engine.drain(Duration::ZERO);
        }
    }
    shutdown::drain(&engine).await;
    company.shutdown().await;
    if engine.options.follow && engine.options.exit_when_idle {
        followers::index::caught_up(&engine.inner).await;
        followers::catalogue::caught_up(&engine.inner).await;
        followers::meanings::caught_up(&engine.inner).await;
        // What a meaning tells of a document is a change of its own.
        followers::index::caught_up(&engine.inner).await;
        followers::catalogue::caught_up(&engine.inner).await;
        followers::catalogue::tags_embedded(&engine.inner).await;
    }
    followers.shutdown().await;
    engine.inner.deps.embedder.drain().await;
    registry::retire(&engine, registration).await;
}

/// Says that the engine has ended, whatever ended it: nobody may wait for it for ever.
struct Ends<'a>(&'a Engine);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.inner.deps.metrics.engine.units.dec_by(self.0.units());
        self.0.phase.send_replace(Phase::Ended);
    }
}

/// Until the engine drains.
async fn claim_and_run(engine: &Arc<Engine>) {
    let mut phase = engine.phase.subscribe();
    let mut added = engine.inner.deps.store.work_added();
    let mut last_claim: Option<Instant> = None;
    let mut empty_polls = 0;
    // Kinds of which nothing is due before a moment, unless work is added.
    let mut nothing_of: Option<(Vec<TaskKind>, Instant)> = None;
    let mut error_pause = ERROR_PAUSE;
    while *phase.borrow_and_update() == Phase::Working {
        let claiming = engine.claiming.lock().await;
        if engine.is_draining() {
            return;
        }
        let room = engine.capacity.room(engine.now());
        if room.units == 0 || room.kinds.is_empty() {
            drop(claiming);
            wait(engine, &mut phase, None, POLL).await;
            continue;
        }
        if let Some((kinds, until)) = &nothing_of
            && room.kinds.iter().all(|(kind, _)| kinds.contains(kind))
            && !added.has_changed().unwrap_or(false)
            && Instant::now() < *until
        {
            drop(claiming);
            let left = until.saturating_duration_since(Instant::now());
            if wait(engine, &mut phase, Some(&mut added), left).await == Woken::ByWork {
                nothing_of = None;
            }
            continue;
        }
        // Room alone is no reason to hurry when there was no work a moment ago.
        let found_work = engine.found_work();
        let hurry = room.idle || (room.ample && found_work) || added.has_changed().unwrap_or(false);
        if let Some(at) = last_claim
            && !hurry
            && at.elapsed() < PACE
        {
            drop(claiming);
            tokio::select! {
                () = tokio::time::sleep_until(at + PACE) => {}
                () = engine.ample.notified(), if found_work => {}
                Ok(()) = added.changed() => added.mark_changed(),
                _ = phase.changed() => {}
            }
            continue;
        }

        // Work that is added from here on will wake the wait below.
        added.borrow_and_update();
        last_claim = Some(Instant::now());
        let idle = room.idle;
        let open: Vec<TaskKind> = room.kinds.iter().map(|(kind, _)| kind.clone()).collect();
        let claimed = claim(engine, room).await;
        drop(claiming);
        match claimed {
            Ok(0) => {
                error_pause = ERROR_PAUSE;
                empty_polls = if idle { empty_polls + 1 } else { 0 };
                if engine.options.exit_when_idle && empty_polls >= EMPTY_POLLS && nothing_open(engine).await {
                    engine.drain(Duration::ZERO);
                    return;
                }
                let until_due = until_due(engine, &open).await;
                if wait(engine, &mut phase, Some(&mut added), until_due).await == Woken::Otherwise
                    && until_due > MIN_WAIT
                {
                    nothing_of = last_claim.map(|at| (open, at + until_due));
                }
            }
            Ok(_) => (error_pause, empty_polls) = (ERROR_PAUSE, 0),
            Err(error) => {
                tracing::warn!(error_kind = %error.kind(), error = %error.chain(), "cannot claim work");
                tokio::select! {
                    () = tokio::time::sleep(error_pause) => {}
                    _ = phase.changed() => {}
                }
                error_pause = (error_pause * 2).min(POLL * 5);
            }
        }
    }
}

/// Claims within `room` and starts what was given. Answers how much that was.
async fn claim(engine: &Arc<Engine>, room: Room) -> Result<usize> {
    // Counted from before the question: the lease that the store grants cannot end earlier.
    let lease_ends = engine.now() + engine.settings().lease;
    let leases = engine.inner.deps.store.claim(engine.claim_spec(room)).await?;
    crash::point("engine.after_claim");
    let claimed = leases.len();
    engine.note_found(claimed > 0);
    for lease in leases {
        engine.start(Seated::new(engine, Box::new(lease), lease_ends));
    }
    Ok(claimed)
}

/// What ended a wait.
#[derive(PartialEq, Eq)]
enum Woken {
    ByWork,
    Otherwise,
}

/// Waits for room, for work (where that is asked for), for the end of the work, or until `longest` has passed.
async fn wait(
    engine: &Engine,
    phase: &mut watch::Receiver<Phase>,
    added: Option<&mut watch::Receiver<u64>>,
    longest: Duration,
) -> Woken {
    let work = async {
        if let Some(added) = added
            && added.changed().await.is_ok()
        {
            return;
        }
        // Not asked for, or a store that is gone: the longest wait still ends.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = work => Woken::ByWork,
        _ = phase.changed() => Woken::Otherwise,
        () = engine.freed.notified() => Woken::Otherwise,
        () = tokio::time::sleep(longest) => Woken::Otherwise,
    }
}

/// How long until something queued of these kinds is due.
async fn until_due(engine: &Engine, kinds: &[TaskKind]) -> Duration {
    let longest = if engine.options.exit_when_idle { IDLE_POLL } else { POLL };
    match engine.inner.deps.store.next_due(kinds).await {
        Ok(Some(due)) => {
            let left = due.since(engine.inner.deps.clock.now());
            // What is due and was not given is held back by something else: a pause, a limit, its size.
            left.clamp(MIN_WAIT, POLL)
        }
        Ok(None) => longest,
        Err(error) => {
            tracing::warn!(error = %error.chain(), "cannot ask when work is due");
            longest
        }
    }
}

/// Whether nothing is left that this worker does, and nothing runs that may lead to more of it.
async fn nothing_open(engine: &Engine) -> bool {
    match engine.inner.deps.store.open_tasks(&engine.kinds, engine.options.tenant).await {
        Ok(open) => open == 0,
        Err(error) => {
            tracing::warn!(error = %error.chain(), "cannot count open tasks");
            false
        }
    }
}
