//! The disk-space watermark: nothing new is accepted when less room is left than `limits.min_free_disk_bytes`,
//! so that what was accepted before can still be finished.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use docmill_core::text::size;
use docmill_core::{Error, Result};

use crate::deps::Deps;

/// How long an answer of the file system is believed.
const BELIEVED_FOR: Duration = Duration::from_secs(1);

/// The last answer and when it was given.
#[derive(Default)]
pub(crate) struct DiskWatch {
    last: Mutex<Option<(Duration, Option<u64>)>>,
}

impl DiskWatch {
    /// `disk_full` if too little room is left.
    pub(crate) async fn check(&self, deps: &Deps) -> Result<()> {
        let limit = deps.settings.limits.min_free_disk_bytes;
        match self.free_bytes(deps).await? {
            Some(free) if free < limit => Err(Error::disk_full(format!(
                "{} are free where the blobs lie, less than the limit of {}",
                size(free),
                size(limit)
            ))
            .with_hint("make room, or lower `limits.min_free_disk_bytes`")),
            _ => Ok(()),
        }
    }

    /// Room left; none if the blob store has no such limit.
    pub(crate) async fn free_bytes(&self, deps: &Deps) -> Result<Option<u64>> {
        let now = deps.clock.monotonic();
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, free)) = last
            && now.saturating_sub(at) < BELIEVED_FOR
        {
            return Ok(free);
        }
        let free = deps.blobs.free_bytes().await?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, free));
        Ok(free)
    }
}
