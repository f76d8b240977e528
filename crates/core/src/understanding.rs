//! What a document is and says, as it was found out from its text; kept with the ingestion that found it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The type of what is none of the kinds that are known: people who narrow a pile by type must find the rest, too. It is
/// shown and looked for, and never kept: what is kept as found would stand before what is found later.
pub const OTHER: &str = "other";

/// What was found out about a document, beside its title.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Understanding {
    /// What it says, in its own sentences.
    pub summary: Option<String>,
    /// When it was written, issued or sent: `2024-03-09`.
    pub date: Option<String>,
    /// What it is: `invoice`, `letter`, `report`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// What it is about, best first.
    pub tags: Vec<String>,
    /// What each label set says of it.
    pub labels: BTreeMap<String, Labelled>,
    /// How sure each of these is and how it was found, by its name: `title`, `date`.
    pub evidence: BTreeMap<String, Evidence>,
}

impl Understanding {
    /// As people see it: with a type, whatever the document is.
    #[must_use]
    pub fn shown(mut self) -> Self {
        if self.kind.is_none() {
            self.kind = Some(OTHER.to_owned());
            let none = Evidence { confidence: 0.1, method: "none".to_owned() };
            self.evidence.insert("type".to_owned(), none);
        }
        self
    }
}

/// What the meaning of a text says of its document: what only a model can tell, found out after the document is ready.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Judgement {
    /// What the document is, if its words did not tell.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// How sure that is.
    pub evidence: Option<Evidence>,
    /// What the label sets say that compare meanings.
    pub labels: BTreeMap<String, Labelled>,
}

/// How sure something is, and how it was found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// 0 to 1.
    pub confidence: f32,
    /// In a word.
    pub method: String,
}

/// What a label set says of a document.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Labelled {
    /// The labels it has, best first.
    pub labels: Vec<String>,
    /// What each label came to.
    pub scores: BTreeMap<String, f32>,
    /// How sure that is, 0 to 1.
    pub confidence: f32,
    /// How it was found: `rules`, `semantic`, `examples`, several joined by `+`, `default`, or `off`.
    pub method: String,
    /// Keywords that were found.
    pub matched: Vec<Matched>,
    /// Why nothing is said, and the way out, if the method is `off`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A keyword that was found in the text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Matched {
    /// The label it speaks for.
    pub label: String,
    /// As the set has it.
    pub keyword: String,
    /// How often it was found.
    pub times: usize,
    /// What it added to the score.
    pub score: f32,
}
