//! What was expected against what happened to it. The expectation is counted by walkers and manifests, never
//! derived from the results it is compared with.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::IngestionId;

/// One side and the other, as counted in the store.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// Walkers' counts of sealed batches, receipts of unsealed ones, and manifests.
    pub expected: u64,
    /// Ended well.
    pub completed: u64,
    /// Ended badly, including members that a container could not give.
    pub failed: u64,
    /// Left out, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Cancelled.
    pub cancelled: u64,
    /// Work remains.
    pub open: u64,
    /// Content that was there before: a property, not a term.
    pub duplicates: u64,
    /// Batches whose walker has not finished counting (interrupted, or still running).
    pub unsealed: Vec<String>,
    /// Containers, each with its own little ledger.
    pub containers: Vec<Container>,
}

/// The ledger of one container.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Container {
    /// The container's ingestion.
    pub id: IngestionId,
    /// Its name.
    pub name: String,
    /// Members it declared, or, where it declares none, those that were met.
    pub expected: u64,
    /// Members that became ingestions of their own.
    pub emitted: u64,
    /// Members that could not be had.
    pub failed: u64,
    /// The unpacking has ended.
    pub ended: bool,
}

impl Container {
    /// Whether every declared member is accounted for. One that is still being unpacked is open, not wrong.
    pub fn balanced(&self) -> bool {
        !self.ended || self.expected == self.emitted + self.failed
    }
}

impl Ledger {
    /// Everything that happened.
    pub fn accounted(&self) -> u64 {
        self.completed + self.failed + self.skipped.values().sum::<u64>() + self.cancelled + self.open
    }

    /// Whether both sides agree, in total and for each container.
    pub fn balanced(&self) -> bool {
        self.expected == self.accounted() && self.containers.iter().all(Container::balanced)
    }
}
