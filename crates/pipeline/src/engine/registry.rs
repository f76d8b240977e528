//! The list of workers: this one is announced when it starts and taken off when it ends.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::Result;
use docmill_core::ports::store::NewWorker;

use super::liveness::OwnLock;
use super::{Engine, Phase};
use crate::blocking::blocking;

/// A store that cannot be reached is asked again after this, doubling up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Announces the worker, however long that takes; none if the engine is told to end before.
pub(super) async fn register(engine: &Arc<Engine>) -> Option<OwnLock> {
    let mut phase = engine.phase.subscribe();
    let mut pause = PAUSE;
    loop {
        match announce(engine).await {
            Ok(lock) => return Some(lock),
            Err(error) => {
                tracing::error!(error_kind = %error.kind(), error = %error.chain(), "cannot register this worker");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE_MAX),
            ended = phase.wait_for(|phase| *phase != Phase::Working) => {
                drop(ended);
                return None;
            }
        }
    }
}

async fn announce(engine: &Engine) -> Result<OwnLock> {
    let (data, worker_id) = (engine.inner.deps.settings.data.clone(), engine.worker_id);
    // The lock comes first: a worker on the list without one could not be found dead.
    let lock = blocking(move || OwnLock::take(&data, worker_id)).await?;
    let worker = NewWorker {
        worker_id,
        host: host(),
        pid: std::process::id(),
        slots: engine.options.slots,
        kinds: engine.options.kinds.clone(),
    };
    engine.inner.deps.store.register_worker(worker).await?;
    Ok(lock)
}

/// Takes the worker off the list. All its work must have been handed back.
pub(super) async fn retire(engine: &Engine, lock: OwnLock) {
    if let Err(error) = engine.inner.deps.store.retire_worker(engine.worker_id).await {
        // The free lock tells the next sweeper.
        tracing::warn!(error = %error.chain(), "cannot take this worker off the list");
        return;
    }
    if let Err(error) = blocking(move || lock.remove()).await {
        tracing::warn!(error = %error.chain(), "cannot remove this worker's lock");
    }
}

/// The name of this machine.
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
