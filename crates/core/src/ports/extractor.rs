//! Takes records from documents, by schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::extraction::Extraction;
use crate::ports::llm::{Answer, Question};
use crate::record::SchemaField;
use crate::review::Correction;
use crate::words::PageWords;

/// Extracts records. It only computes, in proportion to what it is given up to a limit: call it where it disturbs nobody.
pub trait Extractor: Send + Sync {
    /// What its answers depend on beside what it is given.
    fn identity(&self) -> &str;

    /// The schemas that are part of it, with their names.
    fn built_in(&self) -> Vec<(&'static str, &'static str)>;

    /// Reads a schema. A mistake in it is told with its place.
    fn sketch(&self, schema: &str) -> Result<Sketch>;

    /// Whether a text can be one of those that a schema is for; some kinds of document have very different members.
    fn suits(&self, schema: &str, text: &str) -> bool;

    /// Takes a record from a document.
    fn extract(&self, schema: &str, material: &Material) -> Result<Extraction>;

    /// Why a person should look at a record; empty if nobody needs to.
    fn doubts(&self, schema: &str, found: &Extraction) -> Result<Vec<String>>;

    /// By what the sender of a document is known, so that corrections for the same sender are found again; empty where
    /// nothing tells.
    fn senders(&self, pages: &[PageWords]) -> Vec<String>;

    /// The better of two records of one document, field by field.
    fn better(&self, schema: &str, first: &Extraction, second: &Extraction) -> Result<Extraction>;

    /// What to ask a model about a document of which `found` is known; nothing if there is nothing to ask.
    fn interview(
        &self,
        schema: &str,
        material: Arc<Material>,
        found: Extraction,
        asking: Asking,
    ) -> Result<Option<Box<dyn Interview>>>;

    /// A record with some values replaced, or taken away, by a person. Values are brought to the notation of their fields;
    /// one that has no such notation, or that the schema knows no field for, is `invalid_request`.
    fn correct(
        &self,
        schema: &str,
        found: &Extraction,
        changes: &BTreeMap<String, Option<String>>,
        pages: &[PageWords],
    ) -> Result<Extraction>;
}

/// What a schema says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sketch {
    /// As the schema itself counts.
    pub version: u32,
    /// What it is called.
    pub title: String,
    /// In its order.
    pub fields: Vec<SchemaField>,
}

/// A document, as a record is taken from it.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// Where its words stand.
    pub pages: Vec<PageWords>,
    /// The text of its pages, with their numbers.
    pub texts: Vec<(u32, String)>,
    /// Its own bytes if it is data, and the files inside it.
    pub data: Vec<Bytes>,
    /// What it says of itself.
    pub metadata: BTreeMap<String, String>,
    /// What it is.
    pub media_type: String,
    /// What people have corrected in records by the same schema for the same sender, newest first.
    pub corrections: Vec<Correction>,
}

/// How a model is asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asking {
    /// For every field; otherwise for those alone that a person would have to look at.
    pub all: bool,
    /// Of a text at most so much goes into one question.
    pub max_bytes: usize,
    /// Pages that are shown as pictures, as PNG, with their numbers: their text is not sent.
    pub pictures: Vec<(u32, Bytes)>,
    /// The words of the document have no places. Otherwise a value that stands in running text alone, and not among words
    /// with places, is not sure.
    pub unplaced: bool,
    /// Words, in lower case, of what in the document speaks to the model and that stand nowhere else in it: they vouch for
    /// nothing.
    pub distrusted: BTreeSet<String>,
}

impl Asking {
    /// The words of a text, as they are distrusted: without marks around them, in lower case.
    pub fn words(text: &str) -> impl Iterator<Item = String> {
        let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        text.split_whitespace().map(bare).filter(|word| !word.is_empty())
    }
}

/// One document and a model that is asked about it. It only computes: questions and answers are carried by the caller.
pub trait Interview: Send {
    /// Everything that is asked if nothing has to be asked again.
    fn planned(&self) -> Vec<Question>;

    /// What the one more try asks beside that, at most.
    fn once_more(&self) -> Vec<Question>;

    /// What to ask next; nothing when all is said.
    fn question(&mut self) -> Option<Question>;

    /// Whether an answer to the last question, or to a planned one before the first, has the form that was asked for.
    fn is_of_use(&self, answer: &Answer) -> bool;

    /// Takes what came of the last question.
    fn take(&mut self, answer: Result<Answer>);

    /// What came of it all.
    fn finish(self: Box<Self>) -> Interviewed;
}

/// What came of asking.
#[derive(Debug)]
pub struct Interviewed {
    /// The record, of rules and model together, with the model and its tokens.
    pub extraction: Extraction,
    /// Why the model was of no use, if it was not.
    pub problem: Option<Error>,
}
