//! Keeps leases alive, and stops work whose lease is gone or cannot be kept.
//!
//! Renewal names exactly the tasks that are being executed: what a crashed part of the engine forgot is not
//! kept alive by accident. If renewing fails, each task is stopped before its own lease ends, so that nobody
//! else can be at the same work while it still runs.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::crash;

use super::Engine;
use super::seat::Stop;

/// However long leases are, the store hears this often that the worker lives: it takes those for gone that it has not seen
/// for some minutes.
const SEEN_EVERY: Duration = Duration::from_secs(30);
/// How often the table of running work is looked over; more often if leases are short.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A task that could not be renewed is stopped this part of a lease before its end.
const MARGIN: u32 = 6;
/// After a failed renewal the next one comes this soon.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Renews until it is dropped.
pub(super) async fn beat(engine: Arc<Engine>) {
    let every = engine.settings().renew_every.min(SEEN_EVERY);
    let mut asked_for = engine.inner.renew_now.subscribe();
    let mut wait = every;
    loop {
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            changed = asked_for.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
        wait = if renew(&engine).await { every } else { RETRY_AFTER.min(every) };
    }
}

/// Looks over the running work again and again until it is dropped.
pub(super) async fn watch(engine: Arc<Engine>) {
    let margin = engine.settings().lease / MARGIN;
    // Two looks within the margin: whatever is between them, the second still comes before the lease ends.
    let every = LOOK_EVERY.min(margin / 2);
    loop {
        tokio::time::sleep(every).await;
        engine.seats.inspect(engine.now(), engine.settings().stall_limit, margin);
    }
}

/// One renewal of everything; false if it has to be tried again soon.
async fn renew(engine: &Engine) -> bool {
    let (store, meter) = (&engine.inner.deps.store, &engine.inner.deps.metrics.engine);
    let lease = engine.settings().lease;
    let seats = engine.seats.all();
    let held: Vec<_> = seats.iter().map(|seat| (seat.task_id, seat.epoch)).collect();
    let ends = engine.now() + lease;
    crash::point("engine.before_renew");
    let renewed = if held.is_empty() {
        store.beat(engine.worker_id).await.map(|()| Vec::new())
    } else {
        store.renew(engine.worker_id, held, lease).await
    };
    let lost = match renewed {
        Ok(lost) => lost,
        Err(error) => {
            tracing::warn!(error_kind = %error.kind(), error = %error.chain(), "cannot renew leases");
            meter.renewals.note(false);
            return false;
        }
    };
    meter.renewals.note(true);
    meter.leases_lost.inc_by(lost.len() as u64);
    crash::point("engine.after_renew");
    for seat in &seats {
        if lost.contains(&seat.task_id) {
            seat.stop(Stop::Lost);
        } else {
            seat.prolong(ends);
        }
    }
    if !lost.is_empty() {
        tracing::info!(lost = lost.len(), "work was taken away and is stopped");
    }
    if seats.is_empty() {
        return true;
    }
    match store.beat(engine.worker_id).await {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(error_kind = %error.kind(), error = %error.chain(), "cannot say that this worker lives");
            false
        }
    }
}
