//! What a paid call has cost, kept for the account: it outlives the document that it was about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::IngestionId;

/// One call that was paid for.
#[derive(Clone, PartialEq, Debug)]
pub struct Usage {
    /// Names the call among all of its tenant; the same one is written down once, whoever tells it.
    pub call: String,
    /// Who was paid.
    pub provider: String,
    /// Which model answered.
    pub model: String,
    /// What was read.
    pub tokens_in: u64,
    /// What was written.
    pub tokens_out: u64,
    /// By the prices in the settings; none where they name none.
    pub cost: Option<f64>,
}

/// The same, as it is shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UsageLine {
    /// What was made with it.
    pub step: String,
    /// For which receipt.
    pub ingestion_id: IngestionId,
    /// Who was paid.
    pub provider: String,
    /// Which model answered.
    pub model: String,
    /// What it read.
    pub tokens_in: u64,
    /// What it wrote.
    pub tokens_out: u64,
    /// In the currency of the prices in the settings; null where they name none.
    pub cost: Option<f64>,
    /// When it was written down.
    pub at: Timestamp,
}
