//! Changes to the totals of a batch.

use docmill_core::ingestion::IngestionStatus;
use serde::{Deserialize, Serialize};

/// Changes to the totals of one batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::store) struct BatchDelta {
    pub(in crate::store) received: i64,
    pub(in crate::store) children: i64,
    pub(in crate::store) open: i64,
    pub(in crate::store) completed: i64,
    pub(in crate::store) failed: i64,
    pub(in crate::store) skipped: i64,
    pub(in crate::store) cancelled: i64,
    pub(in crate::store) duplicates: i64,
    pub(in crate::store) dead: i64,
    pub(in crate::store) change_seq: i64,
}

impl BatchDelta {
    /// Adds `by` to the total of `status`.
    pub(in crate::store) fn count(&mut self, status: IngestionStatus, by: i64) {
        match status {
            IngestionStatus::InProgress => self.open += by,
            IngestionStatus::Completed => self.completed += by,
            IngestionStatus::Failed => self.failed += by,
            IngestionStatus::Skipped => self.skipped += by,
            IngestionStatus::Cancelled => self.cancelled += by,
        }
    }
}
