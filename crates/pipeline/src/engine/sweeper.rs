//! Brings back what dead workers left: expired leases at intervals, and the work of killed processes of this
//! machine within seconds. Any number of sweepers may run; the store moves each task once.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::clock::Timestamp;
use docmill_core::error::ErrorNote;
use docmill_core::id::WorkerId;
use docmill_core::ports::store::{Commit, Outcome};
use docmill_core::task::{Lease, MAX_LOST};
use docmill_core::{Error, Result, crash};

use super::attempt::{self, Ended};
use super::liveness::{DeadWorker, find_dead};
use super::{Engine, run};
use crate::blocking::blocking;

/// How often the locks of this machine's workers are tried.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Clocks that disagree by more than this were set, or the machine slept.
const TOLERANCE: Duration = Duration::from_secs(2);

/// Sweeps until it is dropped.
pub(super) async fn sweep(engine: Arc<Engine>) {
    let mut rounds = Rounds { clocks: Clocks::new(&engine), last_sweep: None, trusted_from: Duration::ZERO };
    loop {
        let meter = &engine.inner.deps.metrics.engine.sweeps;
        match once(&engine, &mut rounds).await {
            Ok(true) => meter.note(true),
            Ok(false) => {}
            Err(error) => {
                meter.note(false);
                tracing::warn!(error_kind = %error.kind(), error = %error.chain(), "cannot sweep");
            }
        }
        tokio::time::sleep(LOOK_EVERY.min(engine.settings().sweep_every)).await;
    }
}

/// What is remembered from one look to the next.
struct Rounds {
    clocks: Clocks,
    last_sweep: Option<Duration>,
    /// Until then leases may look expired that are not.
    trusted_from: Duration,
}

impl Rounds {
    /// Whether the clocks can be believed. To be asked right before a sweep: one that is set in between is not noticed.
    fn trusts(&mut self, engine: &Engine) -> bool {
        let now = engine.now();
        if self.clocks.disagree(engine) {
            // Whoever holds a lease gets the time to renew it.
            tracing::warn!("wall clock and monotonic clock disagree; not sweeping for one lease");
            self.trusted_from = now + engine.settings().lease;
        }
        now >= self.trusted_from
    }
}

/// Sweeps if it is due or if somebody has died. True if it did.
async fn once(engine: &Engine, rounds: &mut Rounds) -> Result<bool> {
    let (data, me) = (engine.inner.deps.settings.data.clone(), engine.worker_id);
    let dead = blocking(move || find_dead(&data, me)).await?;
    let now = engine.now();
    let every = engine.settings().sweep_every;
    let due = rounds.last_sweep.is_none_or(|at| now.saturating_sub(at) >= every);
    if !rounds.trusts(engine) || (!due && dead.is_empty()) {
        return Ok(false);
    }
    let ids: Vec<WorkerId> = dead.iter().map(|worker| worker.worker_id).collect();
    let store = &engine.inner.deps.store;
    crash::point("sweep.before");
    let swept = store.sweep(&ids).await?;
    crash::point("sweep.after");
    engine.inner.deps.metrics.engine.reclaimed.inc_by(swept.requeued);
    if swept.requeued > 0 || !ids.is_empty() {
        tracing::info!(requeued = swept.requeued, dead_workers = ids.len(), "lost work is back in the queue");
    }
    for lease in &swept.exhausted {
        bury(engine, lease).await?;
    }
    for id in ids {
        store.retire_worker(id).await?;
    }
    blocking(move || dead.into_iter().try_for_each(DeadWorker::forget)).await?;
    rounds.last_sweep = Some(now);
    Ok(true)
}

/// Ends a task that vanished with its worker again and again.
async fn bury(engine: &Engine, lease: &Lease) -> Result<()> {
    let store = &engine.inner.deps.store;
    let error = Error::worker_lost(format!("the worker vanished {MAX_LOST} times with this task"))
        .with_hint("look at the system's log for what killed it, then replay the dead letter");
    let outcome = run::buried(engine, lease, ErrorNote::from(&error), false);
    if let Outcome::Dead { error, end: Some(end), .. } = &outcome {
        store.bury(lease.task_id, lease.epoch, error.clone(), end.clone()).await?;
    } else {
        // The ingestion goes on: without one part of several, or with what does not depend on the task.
        let (task_id, epoch, outcome) = (lease.task_id, lease.epoch, outcome.clone());
        let commit = Commit { task_id, epoch, duration: Duration::ZERO, outcome, continue_for: None };
        store.commit(commit).await?;
    }
    attempt::tell(engine, lease, &Ended::reported(&outcome, Duration::ZERO, Some(error.for_log())));
    Ok(())
}

/// Both clocks at the last look.
struct Clocks {
    wall: Timestamp,
    monotonic: Duration,
}

impl Clocks {
    fn new(engine: &Engine) -> Self {
        Self { wall: engine.inner.deps.clock.now(), monotonic: engine.now() }
    }

    /// Whether one of them jumped since the last look.
    fn disagree(&mut self, engine: &Engine) -> bool {
        let now = Self::new(engine);
        let by_wall = now.wall.0.saturating_sub(self.wall.0);
        let by_monotonic = (now.monotonic.saturating_sub(self.monotonic)).as_millis() as i64;
        *self = now;
        by_wall.abs_diff(by_monotonic) > TOLERANCE.as_millis() as u64
    }
}
