//! Takes records from documents, by schemas.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::error::Result;
use crate::extraction::Extraction;
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
    /// What people have corrected in records by the same schema, newest first.
    pub corrections: Vec<Correction>,
}
