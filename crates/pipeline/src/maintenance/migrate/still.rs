//! Brings a source to rest: what dead workers left goes back into the queue, uncharged.

use docmill_core::id::WorkerId;
use docmill_core::{Error, Result};

use super::Side;

/// Hands back what dead workers have, and refuses while one may live. Answers how many tasks that were. A store at rest
/// is not changed by it.
pub(super) async fn hand_back(from: &Side) -> Result<u64> {
    let holders = from.transfer.holders().await?;
    let alive: Vec<String> = holders
        .iter()
        .filter(|holder| holder.lives)
        .map(|holder| format!("{} ({})", holder.worker_id, holder.place))
        .collect();
    if !alive.is_empty() {
        return Err(Error::conflict(format!(
            "workers are at work on {}: {}",
            from.transfer.place(),
            alive.join(", ")
        ))
        .with_hint(
            "end them with SIGTERM and run `docmill migrate` again; one that was killed counts as gone a minute after \
             its last sign of life",
        ));
    }
    if holders.is_empty() {
        return Ok(0);
    }
    let dead: Vec<WorkerId> = holders.iter().map(|holder| holder.worker_id).collect();
    let swept = from.store.sweep(&dead).await?;
    // Whether a task that was lost too often has had its last chance is for an engine to say. It waits for one.
    let held = swept.exhausted.iter().map(|lease| (lease.task_id, lease.epoch)).collect();
    let released = from.store.release(held).await?;
    Ok(swept.requeued + released)
}
