//! The end of an engine, in order: hand back what has not begun (also what only waits to be read), let what runs
//! end within the grace, stop and hand back the rest. Leases are renewed all the while, and no attempt is charged.

use std::sync::PoisonError;
use std::time::Duration;

use docmill_core::crash;
use docmill_core::id::{Epoch, TaskId};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::seat::Stop;
use super::{Engine, Phase};

/// Work that was told to stop has so long to notice. Stopping drops a future, so this is plenty.
const STOP_WITHIN: Duration = Duration::from_secs(5);
/// Handing back is tried so often; after that the leases run out by themselves.
const RELEASE_TRIES: u32 = 5;

/// Brings all work to an end.
pub(super) async fn drain(engine: &Engine) {
    // A claim under way brings what it got before anything is handed back; none begins after it.
    drop(engine.claiming.lock().await);
    let running = &mut std::mem::take(&mut *engine.running());
    let unbegun = engine.seats.hand_back_unbegun();
    release(engine, unbegun).await;
    // What has begun but waits for a child comes back by itself, and is handed back as it comes.
    engine.inner.deps.reader.drain().await;
    engine.inner.deps.ocr.drain().await;
    engine.inner.deps.ocr_again.drain().await;

    wait_for_running(engine, running).await;
    for seat in engine.seats.all() {
        seat.stop(Stop::ShuttingDown);
    }
    if tokio::time::timeout(STOP_WITHIN, async { while running.join_next().await.is_some() {} })
        .await
        .is_err()
    {
        tracing::error!(left = running.len(), "work did not stop when it was told to");
        running.shutdown().await;
    }
    release(engine, stopped(engine)).await;
}

/// What has stopped and was not handed back yet.
fn stopped(engine: &Engine) -> Vec<(TaskId, Epoch)> {
    std::mem::take(&mut *engine.to_release.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Hands back what stops by itself, until nothing runs or the grace, which may be shortened while we wait, is over.
async fn wait_for_running(engine: &Engine, running: &mut JoinSet<()>) {
    let mut phase = engine.phase.subscribe();
    let began = Instant::now();
    loop {
        let grace = match *phase.borrow_and_update() {
            Phase::Draining(grace) => grace,
            Phase::Working | Phase::Ended => Duration::ZERO,
        };
        tokio::select! {
            ended = running.join_next() => {
                if ended.is_none() {
                    return;
                }
                // What comes back together is handed back together.
                while running.try_join_next().is_some() {}
                release(engine, stopped(engine)).await;
            }
            () = tokio::time::sleep_until(began + grace) => return,
            _ = phase.changed() => {}
        }
    }
}

async fn release(engine: &Engine, held: Vec<(TaskId, Epoch)>) {
    if held.is_empty() {
        return;
    }
    crash::point("shutdown.before_release");
    let mut pause = Duration::from_millis(50);
    for _ in 0..RELEASE_TRIES {
        match engine.inner.deps.store.release(held.clone()).await {
            Ok(released) => {
                crash::point("shutdown.after_release");
                tracing::info!(released, "work was handed back");
                return;
            }
            Err(error) => {
                tracing::warn!(error_kind = %error.kind(), error = %error.chain(), "cannot hand work back");
            }
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
}
