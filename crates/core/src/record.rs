//! Records that are kept: what was extracted from documents, by which version of which schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::extraction::{Extraction, Field, Violation};
use crate::id::{DocumentId, IngestionId};

/// A record, as a task hands it to the store.
#[derive(Clone, PartialEq, Debug)]
pub struct NewRecord {
    /// The version of the schema.
    pub version: u32,
    /// What was found.
    pub extraction: Extraction,
    /// Why a person should look; empty if nobody needs to.
    pub reasons: Vec<String>,
}

impl NewRecord {
    /// How many fields matter and were not found.
    pub fn missing(&self) -> u32 {
        let missing = self.extraction.violations.iter().filter(|violation| violation.rule == "missing");
        u32::try_from(missing.count()).unwrap_or(u32::MAX)
    }
}

/// A record as it is kept.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptRecord {
    /// The ingestion that it was extracted in.
    pub ingestion_id: IngestionId,
    /// Of which document.
    pub document_id: DocumentId,
    /// The version of the schema.
    pub version: u32,
    /// What was found, as a person has corrected it if one has.
    pub extraction: Extraction,
}

/// The record of a document, as it is shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecordAnswer {
    /// The schema it was extracted by.
    pub schema: String,
    /// Of that schema.
    pub version: u32,
    /// The record: dates as ISO 8601, amounts as decimal strings with a point.
    pub data: Map<String, Value>,
    /// How each value was found, by its path in the record.
    pub fields: BTreeMap<String, Field>,
    /// Whether it keeps to the schema and every check of it holds.
    pub valid: bool,
    /// What does not.
    pub violations: Vec<Violation>,
    /// How sure it is as a whole, 0 to 1.
    pub confidence: f32,
    /// The language model that was asked, if one was.
    pub model: Option<String>,
    /// Tokens that it read.
    pub tokens_in: u64,
    /// Tokens that it wrote.
    pub tokens_out: u64,
}

impl RecordAnswer {
    /// A record by this version of its schema.
    pub fn new(version: u32, found: Extraction) -> Self {
        let Extraction { schema, data, valid, violations, confidence, fields, model, tokens_in, tokens_out } =
            found;
        Self { schema, version, data, fields, valid, violations, confidence, model, tokens_in, tokens_out }
    }
}

/// One version of a schema that a user has given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredSchema {
    /// Its name.
    pub name: String,
    /// From 1; another text is another version.
    pub version: u32,
    /// As it was given.
    pub text: String,
    /// When.
    pub created_at: Timestamp,
}

/// `schema list`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SchemasAnswer {
    /// By name, the newest version of each.
    pub items: Vec<SchemaLine>,
}

impl SchemasAnswer {
    /// The names of the fields of a schema; none if nobody knows it.
    pub fn fields_of(&self, schema: &str) -> Vec<String> {
        let found = self.items.iter().find(|line| line.name == schema);
        found.into_iter().flat_map(|line| &line.fields).map(|field| field.name.clone()).collect()
    }
}

/// A schema in a list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SchemaLine {
    /// Its name.
    pub name: String,
    /// The newest.
    pub version: u32,
    /// What it is called.
    pub title: String,
    /// Part of docmill.
    pub built_in: bool,
    /// In its order.
    pub fields: Vec<SchemaField>,
}

/// A field of a schema.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SchemaField {
    /// Its name in the record.
    pub name: String,
    /// Its form.
    #[serde(rename = "type")]
    pub kind: FieldKind,
    /// A record without it is of no use.
    pub critical: bool,
    /// How it is written: `money`, `date`.
    pub normalise: Option<String>,
}

/// The form of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// One text.
    Text,
    /// Several texts.
    List,
    /// Several rows.
    Rows,
}

/// `schema show`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SchemaAnswer {
    /// Its name.
    pub name: String,
    /// The newest.
    pub version: u32,
    /// Part of docmill.
    pub built_in: bool,
    /// When this version was given; null if it is built in.
    pub created_at: Option<Timestamp>,
    /// The JSON Schema.
    pub schema: Value,
}

/// A schema with a title: where the text of one has none, it is called `name`. What is no object stays as it is, for whoever
/// reads it to refuse.
pub fn titled(schema: &str, name: &str) -> String {
    let untitled = matches!(
        serde_json::from_str(schema),
        Ok(Value::Object(top)) if !top.is_empty() && !top.contains_key("title")
    );
    match schema.split_once('{') {
        // Into the text, as a map of JSON would forget the order of its fields.
        Some((before, rest)) if untitled => format!("{before}{{\"title\":{},{rest}", Value::from(name)),
        _ => schema.to_owned(),
    }
}

/// `schema add`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SchemaAdded {
    /// Its name.
    pub name: String,
    /// The version that this text is.
    pub version: u32,
}

/// What became of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordState {
    /// Nobody needed to look.
    Passed,
    /// A person should look.
    Open,
    /// A person has found it right.
    Accepted,
    /// A person has corrected it.
    Corrected,
    /// A person has found it of no use.
    Rejected,
}

impl RecordState {
    /// Every state.
    pub const ALL: &'static [Self] =
        &[Self::Passed, Self::Open, Self::Accepted, Self::Corrected, Self::Rejected];

    /// As stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Open => "open",
            Self::Accepted => "accepted",
            Self::Corrected => "corrected",
            Self::Rejected => "rejected",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.name() == name)
    }
}

/// Which records to export.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecordQuery {
    /// By this schema.
    pub schema: String,
    /// Only in this state; without one all that nobody has rejected.
    pub state: Option<RecordState>,
    /// Only of documents that first came in at this moment or later.
    pub since: Option<Timestamp>,
    /// Only of documents that first came in before this moment.
    pub until: Option<Timestamp>,
    /// Only of documents after this one.
    pub after: Option<DocumentId>,
    /// At most so many.
    pub limit: usize,
}

/// A page of records.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecordsAnswer {
    /// In the order of their documents.
    pub items: Vec<RecordLine>,
    /// Where the next page begins, if there is one.
    pub next: Option<DocumentId>,
}

/// A record as it is exported.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecordLine {
    /// Of which document.
    pub document_id: DocumentId,
    /// Its file name.
    pub name: String,
    /// When it first came in.
    pub created_at: Timestamp,
    /// By this schema.
    pub schema: String,
    /// Of that schema.
    pub version: u32,
    /// What became of it.
    pub state: RecordState,
    /// Whether it keeps to its schema.
    pub valid: bool,
    /// How sure it is as a whole, 0 to 1.
    pub confidence: f32,
    /// The record.
    pub data: Map<String, Value>,
}

/// What a schema gives on one document; nothing is stored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExtractAnswer {
    /// The file, or the name of the document.
    pub path: String,
    /// What was found.
    #[serde(flatten)]
    pub extraction: Extraction,
}

/// A schema, by its name or as it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaRef {
    /// One that is there.
    Named(String),
    /// One that is tried before it is kept, as a text.
    Given(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titled_names_a_schema_that_has_no_name_and_leaves_all_others_alone() {
        assert_eq!(titled(r#" {"b": 1, "a": 2}"#, "slip"), r#" {"title":"slip","b": 1, "a": 2}"#);
        for other in [r#"{"title": "bill", "b": 1}"#, r#"{"title": 3}"#, "{}", "[{}]", "{\"b\": ", "no"] {
            assert_eq!(titled(other, "slip"), other);
        }
    }
}
