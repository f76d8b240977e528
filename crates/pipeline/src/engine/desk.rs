//! Where running tasks hand in their reports. What is handed in while the store is busy goes to it together; and
//! if that leaves the worker with much room, new work comes back with the answer: one transaction instead of two.

use std::sync::Arc;

use docmill_core::error::{ErrorKind, ErrorNote};
use docmill_core::ports::store::{ClaimSpec, Commit, Committed, Exchange, Outcome};
use docmill_core::task::{Lease, TaskKind};
use docmill_core::{Error, Result, crash};
use tokio::sync::{MutexGuard, mpsc, oneshot};

use super::Engine;
use super::capacity::Ended;
use super::run::Seated;

/// At most so many reports go to the store together, so that no transaction gets long.
const MAX_REPORTS: usize = 256;

/// A report on its way.
pub(super) struct Report {
    commit: Arc<Commit>,
    kind: TaskKind,
    units: u32,
    reply: oneshot::Sender<Result<Answer>>,
}

/// What became of a report.
pub(super) struct Answer {
    pub(super) committed: Committed,
    /// A task that was claimed with it. Whoever reported runs it: that spares a start and a switch.
    pub(super) claimed: Option<Seated>,
    /// New work has taken the place that the reported tasks leave: nobody need look for more.
    pub(super) refilled: bool,
}

/// Hands a report in and waits for the answer.
pub(super) async fn report(engine: &Engine, lease: &Lease, commit: Arc<Commit>) -> Result<Answer> {
    let (reply, answer) = oneshot::channel();
    let report = Report { commit, kind: lease.kind.clone(), units: lease.units, reply };
    if engine.reports.send(report).is_err() {
        return Err(Error::unavailable("the engine takes no more reports"));
    }
    answer.await.map_err(|e| Error::unavailable("the engine dropped a report").with_source(e))?
}

/// Takes reports to the store, for as long as the engine runs.
pub(super) async fn serve(engine: Arc<Engine>, mut reports: mpsc::UnboundedReceiver<Report>) {
    while let Some(first) = reports.recv().await {
        let mut handed_in = vec![first];
        if !engine.capacity.runs_at_most(1) {
            // Tasks that are about to report do so first: those that were claimed together often end together.
            tokio::task::yield_now().await;
        }
        while handed_in.len() < MAX_REPORTS
            && let Ok(report) = reports.try_recv()
        {
            handed_in.push(report);
        }
        exchange(&engine, handed_in).await;
    }
}

async fn exchange(engine: &Arc<Engine>, reports: Vec<Report>) {
    let (claiming, claim) = refill(engine, &reports).unzip();
    let lease_ends = engine.now() + engine.settings().lease;
    let wanted = claim.as_ref().map(|spec| spec.max_tasks);
    let commits = reports.iter().map(|report| Arc::clone(&report.commit)).collect();
    match engine.inner.deps.store.exchange(commits, claim).await {
        Ok(Exchange { committed, claimed }) => {
            let found = claimed.len();
            let mut seated: Vec<Seated> =
                claimed.into_iter().map(|lease| Seated::new(engine, Box::new(lease), lease_ends)).collect();
            let mut refilled = false;
            if let Some(wanted) = wanted {
                crash::point("engine.after_claim");
                engine.note_found(found > 0);
                let room = engine.capacity.room_after(&ended(&reports), engine.now());
                refilled = found == wanted && (room.units == 0 || room.kinds.is_empty());
            }
            for (report, committed) in reports.into_iter().zip(committed) {
                let continues = matches!(committed, Committed::Accepted { next: Some(_) });
                let claimed = if continues { None } else { seated.pop() };
                // A task that was stopped meanwhile does not want its answer.
                if let Err(Ok(Answer { claimed: Some(left), .. })) =
                    report.reply.send(Ok(Answer { committed, claimed, refilled }))
                {
                    seated.push(left);
                }
            }
            for task in seated {
                engine.start(task);
            }
        }
        Err(error) => {
            // Sending again may take long, and nobody else could claim or end meanwhile.
            drop(claiming);
            let nothing_can = matches!(
                error.kind(),
                ErrorKind::Unavailable
                    | ErrorKind::DiskFull
                    | ErrorKind::RateLimited
                    | ErrorKind::ShuttingDown
            );
            let note = ErrorNote::from(&error);
            let several = reports.len() > 1;
            for report in reports {
                if nothing_can || !several {
                    // A task that was stopped meanwhile does not want its answer.
                    drop(report.reply.send(Err(note.clone().into())));
                } else {
                    // One of them cannot be stored: each is sent by itself, and only that one gets the error.
                    exchange_one(engine, report).await;
                }
            }
        }
    }
}

async fn exchange_one(engine: &Engine, report: Report) {
    let Report { commit, reply, .. } = report;
    let answer = engine.inner.deps.store.exchange(vec![commit], None).await.and_then(|mut answer| {
        let committed =
            answer.committed.pop().ok_or_else(|| Error::bug("the store did not answer a report"))?;
        Ok(Answer { committed, claimed: None, refilled: false })
    });
    drop(reply.send(answer));
}

/// What to claim together with these reports, if that pays; and the right to claim.
fn refill<'a>(engine: &'a Engine, reports: &[Report]) -> Option<(MutexGuard<'a, ()>, ClaimSpec)> {
    let claiming = engine.claiming.try_lock().ok()?;
    // Asked under the lock: whoever drains passes it first, and none begins after that.
    if engine.is_draining() || !engine.found_work() {
        return None;
    }
    let room = engine.capacity.room_after(&ended(reports), engine.now());
    (room.ample && room.units > 0 && !room.kinds.is_empty()).then(|| (claiming, engine.claim_spec(room)))
}

/// What the capacity will be told once these reports are accepted.
fn ended(reports: &[Report]) -> impl Iterator<Item = Ended<'_>> + Clone {
    reports.iter().map(|report| {
        let next = match &report.commit.outcome {
            Outcome::Done(done) if report.commit.continue_for.is_some() => done.next.as_ref(),
            Outcome::Done(_) | Outcome::Retry { .. } | Outcome::Dead { .. } => None,
        };
        Ended { task: (&report.kind, report.units), next: next.map(|task| (&task.kind, task.units)) }
    })
}
