//! Unique content of a tenant. It has no status of its own; its state is derived from its ingestions.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ingestion::IngestionStatus;
use crate::problem::ResultCode;

/// The derived state of a document; the values of `--state`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentState {
    /// Has an open ingestion without progress for ten minutes.
    Stale,
    /// Has an open ingestion.
    Processing,
    /// The latest ingestion failed.
    Failed,
    /// The latest ingestion failed the gate.
    NeedsReview,
    /// Completed, but nobody could say what it is called.
    Unclassified,
    /// Stored, but no reader knows the type.
    Unsupported,
    /// All well.
    Ready,
}

impl DocumentState {
    /// Every state.
    pub const ALL: &'static [Self] = &[
        Self::Stale,
        Self::Processing,
        Self::Failed,
        Self::NeedsReview,
        Self::Unclassified,
        Self::Unsupported,
        Self::Ready,
    ];

    /// As shown and as typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Processing => "processing",
            Self::Failed => "failed",
            Self::NeedsReview => "needs_review",
            Self::Unclassified => "unclassified",
            Self::Unsupported => "unsupported",
            Self::Ready => "ready",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|s| s.name() == name)
    }
}

/// Without progress for so long, an open ingestion is stale.
pub const STALE_AFTER: Duration = Duration::from_mins(10);

/// What the state is derived from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Evidence {
    /// The last progress of the open ingestion that has waited longest, if one is open.
    pub open_since_progress: Option<Timestamp>,
    /// The latest ingestion that ended.
    pub latest: Option<(IngestionStatus, ResultCode)>,
    /// Its text is there.
    pub readable: bool,
    /// The gate's flag.
    pub needs_review: bool,
    /// Has a title, or nothing that one could be found in.
    pub titled: bool,
}

/// First match wins. A cancel says nothing about a document: one with text is what that text makes of it.
pub fn derive_state(evidence: &Evidence, now: Timestamp) -> DocumentState {
    if let Some(progress_at) = evidence.open_since_progress {
        return if now.since(progress_at) > STALE_AFTER {
            DocumentState::Stale
        } else {
            DocumentState::Processing
        };
    }
    match evidence.latest {
        Some((IngestionStatus::Failed, _)) => DocumentState::Failed,
        Some((IngestionStatus::Cancelled, _)) if !evidence.readable => DocumentState::Failed,
        _ if evidence.needs_review => DocumentState::NeedsReview,
        Some((_, ResultCode::Unsupported)) => DocumentState::Unsupported,
        _ if !evidence.titled => DocumentState::Unclassified,
        _ => DocumentState::Ready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derive_state_takes_the_first_match() {
        let done = Evidence {
            open_since_progress: None,
            latest: Some((IngestionStatus::Completed, ResultCode::Success)),
            readable: true,
            needs_review: false,
            titled: true,
        };
        let now = Timestamp(10_000_000);
        let open = |ms| Evidence { open_since_progress: Some(Timestamp(now.0 - ms)), ..done };
        assert_eq!(derive_state(&done, now), DocumentState::Ready);
        assert_eq!(derive_state(&open(600_001), now), DocumentState::Stale);
        assert_eq!(derive_state(&open(600_000), now), DocumentState::Processing);
        let failed = Evidence {
            latest: Some((IngestionStatus::Failed, ResultCode::InvalidFile)),
            needs_review: true,
            ..done
        };
        assert_eq!(derive_state(&failed, now), DocumentState::Failed);
        let cancelled =
            Evidence { latest: Some((IngestionStatus::Cancelled, ResultCode::Cancelled)), ..failed };
        assert_eq!(derive_state(&cancelled, now), DocumentState::NeedsReview);
        assert_eq!(derive_state(&Evidence { needs_review: false, ..cancelled }, now), DocumentState::Ready);
        assert_eq!(derive_state(&Evidence { readable: false, ..cancelled }, now), DocumentState::Failed);
        assert_eq!(derive_state(&Evidence { needs_review: true, ..done }, now), DocumentState::NeedsReview);
        assert_eq!(derive_state(&Evidence { titled: false, ..done }, now), DocumentState::Unclassified);
        let unsupported = Evidence {
            latest: Some((IngestionStatus::Completed, ResultCode::Unsupported)),
            titled: false,
            ..done
        };
        assert_eq!(derive_state(&unsupported, now), DocumentState::Unsupported);
    }
}
