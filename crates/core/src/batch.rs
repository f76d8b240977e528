//! One bulk import with its own totals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{BatchId, TenantId};

/// Where a batch stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchState {
    /// Still being counted.
    Open,
    /// Everything it should hold has been counted.
    Sealed,
    /// Sealed, and nothing is open.
    Finished,
    /// Ended by a person.
    Cancelled,
}

impl BatchState {
    /// Every state.
    pub const ALL: &'static [Self] = &[Self::Open, Self::Sealed, Self::Finished, Self::Cancelled];

    /// As stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Sealed => "sealed",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|s| s.name() == name)
    }
}

/// A batch to be opened, or opened again by name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NewBatch {
    /// Whose.
    pub tenant_id: TenantId,
    /// Used if the batch is new.
    pub batch_id: BatchId,
    /// The same name resumes the same batch; without a name every batch is new.
    pub name: Option<String>,
    /// `files`, `reprocess`, …
    pub kind: String,
    /// Of its tasks.
    pub priority: u8,
}

/// One run of a walker over a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BatchRun {
    /// Which batch.
    pub batch_id: BatchId,
    /// It was there before.
    pub resumed: bool,
    /// Items it held when this run began.
    pub baseline: u64,
}

/// What a walker counted by itself in one run, independent of what the store answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Walk {
    /// Items met, readable or not.
    pub walked: u64,
    /// Those among them that the batch held already.
    pub known: u64,
    /// Items the batch held when the run began.
    pub baseline: u64,
}

impl Walk {
    /// What the batch should hold after this run: what it held and this run did not meet again, and
    /// everything this run met. An item that was met but not stored makes the ledger fail to balance.
    pub fn expected(self) -> u64 {
        self.baseline.saturating_sub(self.known) + self.walked
    }
}

/// The totals of a batch. `received + children = open + completed + failed + skipped + cancelled`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BatchTotals {
    /// Which.
    pub batch_id: BatchId,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// `files`, `reprocess`, …
    pub kind: String,
    /// Where it stands.
    pub state: BatchState,
    /// No task of it is claimed.
    pub paused: bool,
    /// Of its tasks.
    pub priority: u8,
    /// What the walker counted; null until sealed.
    pub expected: Option<u64>,
    /// Items that came in.
    pub received: u64,
    /// Members found in containers.
    pub children: u64,
    /// Work remains.
    pub open: u64,
    /// Ended well.
    pub completed: u64,
    /// Ended badly.
    pub failed: u64,
    /// Left out.
    pub skipped: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// Their content was there before; outside the sum.
    pub duplicates: u64,
    /// Tasks that became dead letters and still are.
    pub dead: u64,
    /// The last change that the text index must have seen.
    pub change_seq: i64,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

/// What a person can do to a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchChange {
    /// Claim no more of it.
    Pause,
    /// Go on.
    Resume,
    /// Drop what is queued, stop what runs.
    Cancel,
    /// Give what is not done yet another priority.
    Priority(u8),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_counts_each_item_once_over_runs() {
        // A first run of ten; the same ten again; then a run that meets eight of them and two new ones.
        assert_eq!(Walk { walked: 10, known: 0, baseline: 0 }.expected(), 10);
        assert_eq!(Walk { walked: 10, known: 10, baseline: 10 }.expected(), 10);
        assert_eq!(Walk { walked: 10, known: 8, baseline: 10 }.expected(), 12);
    }
}
