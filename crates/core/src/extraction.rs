//! What was extracted from a document by a schema: a record, and for each of its values the place it was taken from.
//!
//! A value without evidence is ungrounded: it is told, and never accepted by itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A record with its evidence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Extraction {
    /// The schema it was extracted by: `invoice`.
    pub schema: String,
    /// The record: dates as ISO 8601, amounts as decimal strings with a point.
    pub data: Map<String, Value>,
    /// Whether the record keeps to the schema and every check of it holds.
    pub valid: bool,
    /// What does not.
    pub violations: Vec<Violation>,
    /// How sure the record is as a whole, 0 to 1.
    pub confidence: f32,
    /// How each value was found, by its path in the record: `total_amount`, `items[0].quantity`.
    pub fields: BTreeMap<String, Field>,
    /// The language model that was asked, if one was.
    pub model: Option<String>,
    /// Tokens that it read.
    pub tokens_in: u64,
    /// Tokens that it wrote.
    pub tokens_out: u64,
}

/// Something of a record that does not hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The path of the value, or the name of the check.
    pub field: String,
    /// In a word: `missing`, `ungrounded`, `misfit`, `check`, or the keyword of JSON Schema that does not hold.
    pub rule: String,
    /// What is wrong, with the values that say so.
    pub message: String,
}

/// One value of a record, and how it was found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Field {
    /// As in the record.
    pub value: Value,
    /// How sure it is, 0 to 1.
    pub confidence: f32,
    /// How it was found, in a word or two: `label`, `sum`, `xml`.
    pub method: String,
    /// Where it stands. Empty for a value that is nowhere to be seen.
    pub evidence: Vec<Evidence>,
}

/// Where a value stands.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// In what.
    pub source: EvidenceSource,
    /// The page, from 1.
    pub page: Option<u32>,
    /// The words themselves, as they stand there.
    pub span: Option<String>,
    /// Around them: left, top, width and height in parts of the page as it is drawn.
    #[serde(rename = "box")]
    pub frame: Option<[f32; 4]>,
    /// Where inside data: a path of elements, or the name of a field.
    pub path: Option<String>,
}

/// What a value was taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceSource {
    /// A page, as anybody can see it.
    #[default]
    Page,
    /// Data inside the file that is made for programs.
    Embedded,
    /// What the file says of itself.
    Metadata,
}
