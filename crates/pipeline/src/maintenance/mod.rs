//! Cleaning up, checking and copying, beside the work; moving, while nobody works.

pub(crate) mod backup;
pub(crate) mod deletions;
pub mod migrate;
pub(crate) mod prune;
pub(crate) mod verify;

use std::sync::Arc;
use std::time::Duration;

use crate::service::Inner;

const EVERY: Duration = Duration::from_hours(1);

/// Prunes every hour until it is dropped.
pub(crate) async fn hourly(inner: Arc<Inner>) {
    loop {
        tokio::time::sleep(EVERY).await;
        match prune::prune(&inner).await {
            Ok(pruned) => tracing::info!(
                blobs = pruned.blobs,
                uploads = pruned.uploads,
                events = pruned.events,
                "pruned"
            ),
            Err(error) => {
                tracing::warn!(error_kind = %error.kind(), error = %error.chain(), "cannot prune");
            }
        }
    }
}
