//! One leased task: run it, turn what happened into a report, commit that, and go on with what follows.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::disposition::{Disposition, decide};
use docmill_core::error::{ErrorKind, ErrorNote};
use docmill_core::ingestion::IngestionEnd;
use docmill_core::metrics::AttemptOutcome;
use docmill_core::ports::store::{Commit, Committed, Done, Outcome};
use docmill_core::task::{Attempts, Lease, Size, units};
use docmill_core::{Error, Result, crash};
use futures::FutureExt as _;
use tracing::Instrument as _;

use super::Engine;
use super::attempt::{self, Ended};
use super::desk::{self, Answer};
use super::seat::{Seat, Stop};
use crate::plan::{self, Step};
use crate::stages::{self, Context, payload_of};

/// A store that cannot be reached is asked again after this, doubling up to [`COMMIT_PAUSE_MAX`].
const COMMIT_PAUSE: Duration = Duration::from_millis(50);
const COMMIT_PAUSE_MAX: Duration = Duration::from_secs(2);

/// What to do about a task that has stopped running.
enum Verdict {
    /// Tell the store; and the log, if something went wrong, in these words.
    Report(Box<Outcome>, Option<String>),
    /// Say nothing: somebody else owns it.
    Abandon,
    /// Give it back untouched.
    HandBack,
}

/// A leased task that has its place.
pub(super) struct Seated {
    lease: Box<Lease>,
    seat: Arc<Seat>,
}

impl Seated {
    /// Makes room for a leased task.
    pub(super) fn new(engine: &Engine, lease: Box<Lease>, lease_ends: Duration) -> Self {
        let now = engine.now();
        let seat = Arc::new(Seat::new(lease.task_id, lease.epoch, now, lease_ends));
        engine.capacity.take(&lease.kind, lease.units, now);
        let meter = &engine.inner.deps.metrics.engine;
        meter.units_busy.inc_by(i64::from(lease.units));
        if let Some(waited) = lease.waited {
            meter.kind(&lease.kind).waited(waited);
        }
        engine.seats.take(Arc::clone(&seat));
        Self { lease, seat }
    }
}

/// Runs a task, and then each task that follows it in this worker.
pub(super) async fn run(engine: Arc<Engine>, first: Seated) {
    let mut next = Some(first);
    while let Some(Seated { lease, seat }) = next.take() {
        let mut held = Held { engine: &engine, lease: &lease, seat: &seat, refilled: false };
        if !seat.begin() {
            let unbegun = Ended::unreported(AttemptOutcome::Released, Duration::ZERO);
            attempt::tell(&engine, &lease, &unbegun);
            return;
        }
        let span = tracing::debug_span!(
            "task",
            tenant_id = %lease.subject.tenant_id,
            ingestion_id = %lease.subject.ingestion_id,
            task_id = lease.task_id.0,
            kind = %lease.kind,
            attempt = lease.attempts.total + 1,
        );
        next = one(&mut held).instrument(span).await;
        if next.is_some() {
            crash::point("engine.before_continue");
        }
    }
}

/// Gives seat and capacity back, however the task ends.
struct Held<'a> {
    engine: &'a Engine,
    lease: &'a Lease,
    seat: &'a Seat,
    /// Somebody has its place already.
    refilled: bool,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.engine.seats.leave(self.seat);
        self.engine.inner.deps.metrics.engine.units_busy.dec_by(i64::from(self.lease.units));
        let ample = self.engine.capacity.give_back(&self.lease.kind, self.lease.units);
        if self.refilled {
            return;
        }
        self.engine.freed.notify_one();
        if ample {
            self.engine.ample.notify_one();
        }
    }
}

/// Runs one task to its commit. Returns what follows.
async fn one(held: &mut Held<'_>) -> Option<Seated> {
    let Held { engine, lease, seat, .. } = *held;
    let started = engine.now();
    crash::point("engine.before_run");
    let verdict = tokio::select! {
        biased;
        result = handle(engine, lease, seat) => judge(engine, lease, result),
        why = seat.told_to_stop() => stopped(engine, lease, why),
    };
    crash::point("engine.after_run");
    let duration = engine.now().saturating_sub(started);
    let unreported = match verdict {
        Verdict::Report(outcome, words) => return commit(held, *outcome, words, duration).await,
        Verdict::Abandon => AttemptOutcome::Abandoned,
        Verdict::HandBack => {
            hand_back(engine, lease).await;
            AttemptOutcome::Released
        }
    };
    attempt::tell(engine, lease, &Ended::unreported(unreported, duration));
    None
}

/// Together with the rest if the engine ends, at once if only the reader did.
async fn hand_back(engine: &Engine, lease: &Lease) {
    if engine.is_draining() {
        engine.release_later(lease.task_id, lease.epoch);
    } else if let Err(error) = engine.inner.deps.store.release(vec![(lease.task_id, lease.epoch)]).await {
        tracing::warn!(task_id = lease.task_id.0, error = %error.chain(), "cannot hand a task back");
    }
}

/// Runs the handler. A panic in it is a bug in docmill and costs this document only.
async fn handle(engine: &Engine, lease: &Lease, seat: &Seat) -> Result<Done> {
    let Some(handler) = stages::handler(&lease.kind) else {
        return Err(Error::bug(format!("nothing handles tasks of kind `{}`", lease.kind)));
    };
    let inner = &engine.inner;
    let (deps, disk, turns) = (&inner.deps, &inner.disk, &inner.turns);
    let cx = Context { deps, disk, progress: &seat.progress, turns };
    match AssertUnwindSafe(handler.run(&cx, lease)).catch_unwind().await {
        Ok(result) => result,
        Err(panic) => Err(Error::bug(format!("`{}` panicked: {}", lease.kind, said(panic.as_ref())))),
    }
}

/// What a panic said.
fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

fn stopped(engine: &Engine, lease: &Lease, why: Stop) -> Verdict {
    match why {
        Stop::Lost | Stop::LeaseEnds => Verdict::Abandon,
        Stop::ShuttingDown => Verdict::HandBack,
        Stop::Stalled => {
            let limit = engine.settings().stall_limit;
            let error = Error::timeout(format!("no progress for {} seconds", limit.as_secs()))
                .with_hint("raise `engine.stall_limit`");
            judge(engine, lease, Err(error))
        }
    }
}

/// What the decision table says about a result.
fn judge(engine: &Engine, lease: &Lease, result: Result<Done>) -> Verdict {
    let error = match result {
        Ok(done) => return report(Outcome::Done(Box::new(done)), None),
        Err(error) => error,
    };
    let deps = &engine.inner.deps;
    let now = deps.clock.now();
    let note = ErrorNote::from(&error);
    let words = Some(error.for_log());
    match decide(error.kind(), lease.attempts, lease.size, lease.failing_for(now)) {
        Disposition::Skip => report(done_with(Step::End(IngestionEnd::skipped(note))), words),
        Disposition::Degrade => {
            let (bytes, payload) = (bytes_of(lease), payload_of(lease));
            report(done_with(plan::degrade(&lease.kind, bytes, &payload, &note, engine.settings())), words)
        }
        Disposition::Retry { after, charged } => {
            let after = after.max(error.retry_after().unwrap_or_default());
            let run_at = now.plus(spread(after, deps.entropy.fraction()));
            let (size, units) = (lease.size, lease.units);
            report(Outcome::Retry { error: note, run_at, size, units, charged }, words)
        }
        Disposition::Escalate => {
            let size = Size::Large;
            let units = units(size, bytes_of(lease), engine.settings().slots_large);
            report(Outcome::Retry { error: note, run_at: now, size, units, charged: true }, words)
        }
        Disposition::Fail => report(dead(engine, lease, note), words),
        Disposition::Abandon => Verdict::Abandon,
        Disposition::Release => Verdict::HandBack,
    }
}

fn report(outcome: Outcome, words: Option<String>) -> Verdict {
    Verdict::Report(Box::new(outcome), words)
}

/// Spreads a pause over as long again, so that what failed together does not come back together.
fn spread(after: Duration, fraction: f64) -> Duration {
    after.mul_f64(1.0 + fraction)
}

/// The length of the document that a task is about.
fn bytes_of(lease: &Lease) -> u64 {
    lease.subject.document.as_ref().map_or(0, |document| document.bytes)
}

fn done_with(step: Step) -> Outcome {
    let mut done = Done::default();
    step.into_done(&mut done);
    Outcome::Done(Box::new(done))
}

fn dead(engine: &Engine, lease: &Lease, error: ErrorNote) -> Outcome {
    // What costs nothing while it is retried costs nothing when it is given up either.
    let first = decide(error.kind, Attempts::default(), Size::Small, Duration::ZERO);
    let charged = !matches!(first, Disposition::Retry { charged: false, .. });
    buried(engine, lease, error, charged)
}

/// The report of a task that becomes a dead letter, with what follows for its ingestion.
pub(super) fn buried(engine: &Engine, lease: &Lease, error: ErrorNote, charged: bool) -> Outcome {
    let payload = payload_of(lease);
    let mut done = Done::default();
    plan::recover(&lease.kind, bytes_of(lease), &payload, &error, engine.settings()).into_done(&mut done);
    let Done { end, next, .. } = done;
    Outcome::Dead { error, charged, end, next }
}

/// Commits, again and again while the store cannot be reached and the lease holds: the work is done, and the
/// same report sent twice does no harm.
async fn commit(
    held: &mut Held<'_>,
    outcome: Outcome,
    mut words: Option<String>,
    duration: Duration,
) -> Option<Seated> {
    let Held { engine, lease, seat, .. } = *held;
    let (task_id, epoch) = (lease.task_id, lease.epoch);
    let continue_for = continue_for(engine, lease, &outcome);
    let mut commit = Arc::new(Commit { task_id, epoch, duration, continue_for, outcome });
    let mut pause = COMMIT_PAUSE;
    loop {
        crash::point("engine.before_commit");
        let asked_at = engine.now();
        let error = match desk::report(engine, lease, Arc::clone(&commit)).await {
            Ok(Answer { committed: Committed::Accepted { next }, claimed, refilled }) => {
                crash::point("engine.after_commit");
                attempt::tell(engine, lease, &Ended::reported(&commit.outcome, duration, words));
                // A report whose first answer was lost may hear of what followed it when somebody else has that.
                let next = next.filter(|next| next.worker_id == engine.worker_id);
                // What follows may need less room than this did.
                held.refilled = refilled && next.is_none();
                let lease_ends = asked_at + engine.settings().lease;
                return next.map(|next| Seated::new(engine, next, lease_ends)).or(claimed);
            }
            Ok(Answer { committed: Committed::Stale, claimed, refilled }) => {
                // The result came too late.
                attempt::tell(engine, lease, &Ended::unreported(AttemptOutcome::Abandoned, duration));
                held.refilled = refilled;
                return claimed;
            }
            Err(error) => error,
        };
        let (error_kind, said) = (error.kind(), error.for_log());
        tracing::warn!(task_id = lease.task_id.0, %error_kind, error = said, "cannot commit a result");
        match error_kind {
            ErrorKind::Unavailable | ErrorKind::DiskFull | ErrorKind::RateLimited => {
                tokio::select! {
                    () = tokio::time::sleep(pause) => pause = (pause * 2).min(COMMIT_PAUSE_MAX),
                    why = seat.told_to_stop() => {
                        let mut ended = AttemptOutcome::Abandoned;
                        if why == Stop::ShuttingDown {
                            engine.release_later(lease.task_id, lease.epoch);
                            ended = AttemptOutcome::Released;
                        }
                        attempt::tell(engine, lease, &Ended::unreported(ended, duration));
                        return None;
                    }
                }
            }
            // The result itself cannot be stored: report that instead, once.
            _ if !matches!(commit.outcome, Outcome::Dead { .. }) => {
                let note = ErrorNote { kind: ErrorKind::Bug, ..ErrorNote::from(&error) };
                let outcome = dead(engine, lease, note);
                words = Some(said);
                commit = Arc::new(Commit { task_id, epoch, duration, continue_for: None, outcome });
            }
            // The lease will run out, and the losses of the task are bounded.
            _ => {
                attempt::tell(engine, lease, &Ended::unreported(AttemptOutcome::Abandoned, duration));
                return None;
            }
        }
    }
}

/// Whether this worker takes the task that follows, and for how long.
fn continue_for(engine: &Engine, lease: &Lease, outcome: &Outcome) -> Option<Duration> {
    let Outcome::Done(done) = outcome else { return None };
    let next = done.next.as_ref()?;
    let may = !engine.is_draining()
        && engine.capacity.may_follow(&next.kind, next.units, lease.units, engine.now());
    may.then_some(engine.settings().lease)
}

#[cfg(test)]
mod tests {
    use docmill_core::clock::{Entropy as _, SystemEntropy};

    use super::*;

    #[test]
    fn ten_thousand_retries_are_spread_over_the_window() {
        let window = Duration::from_secs(30);
        let mut due: Vec<Duration> =
            (0..10_000).map(|_| spread(window, SystemEntropy.fraction()).saturating_sub(window)).collect();
        due.sort();
        assert!(due[9_999] < window);
        // Nine of ten lie within it, and they take more than half of it.
        assert!(due[9_500] > due[500] + window / 2);
        for tenth in 0..10 {
            let within = |at: &&Duration| **at >= window * tenth / 10 && **at < window * (tenth + 1) / 10;
            let count = due.iter().filter(within).count();
            assert!((500..2_000).contains(&count), "{count} of 10,000 in part {tenth} of ten");
        }
    }
}
