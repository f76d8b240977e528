//! Gathers what a reader finds into a transcript. The child that finds it is not trusted, so everything is
//! counted here again, on what really arrived.

use std::collections::BTreeMap;

use docmill_core::artifact::{Page, Transcript};
use docmill_core::error::ErrorNote;
use docmill_core::limits::Limits;
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, Kind};
use docmill_core::{Error, Result};

use super::mean_quality;

/// The key under which metadata says how many files lie inside a document that has text of its own.
pub(crate) const EMBEDDED_FILES: &str = "embedded_files";
/// A file says at most so much about itself.
const MAX_METADATA: usize = 1_000;
/// One thing it says is at most so long.
const MAX_METADATA_BYTES: usize = 64 << 10;
/// Further problems of one document add nothing.
const MAX_PROBLEMS: usize = 1_000;

/// A transcript in the making.
pub(crate) struct Collector<'a> {
    limits: &'a Limits,
    kind: Kind,
    text_bytes: u64,
    page_count: Option<u32>,
    metadata: BTreeMap<String, String>,
    pages: Vec<Page>,
    problems: Vec<Problem>,
    members: u64,
}

impl<'a> Collector<'a> {
    /// Of a document of this kind.
    pub(crate) fn new(kind: Kind, limits: &'a Limits) -> Self {
        Self {
            limits,
            kind,
            text_bytes: 0,
            page_count: None,
            metadata: BTreeMap::new(),
            pages: Vec::new(),
            problems: Vec::new(),
            members: 0,
        }
    }

    /// How many pages the document says it has.
    pub(crate) fn page_count(&self) -> Option<u32> {
        self.page_count
    }

    /// What it is.
    pub(crate) fn media_type(&self) -> &str {
        &self.kind.media_type
    }

    /// Whether a reader takes it.
    pub(crate) fn is_supported(&self) -> bool {
        self.kind.format.is_some()
    }

    /// Whether there is anything to keep.
    pub(crate) fn has_pages(&self) -> bool {
        !self.pages.is_empty()
    }

    /// Adds what was found; `limit_exceeded` when it is too much.
    pub(crate) fn add(&mut self, found: Found) -> Result<()> {
        match found {
            Found::Meta { key, value } => {
                let fits = key.len() + value.len() <= MAX_METADATA_BYTES;
                if fits && self.metadata.len() < MAX_METADATA {
                    self.metadata.insert(key, value);
                }
            }
            Found::PageCount(pages) => self.page_count = Some(pages),
            Found::Page(page) => {
                self.text_bytes += page.text.len() as u64;
                if self.pages.len() as u64 >= u64::from(self.limits.max_pages) {
                    return Err(too_much("pages", self.limits.max_pages.into(), "limits.max_pages"));
                }
                if self.text_bytes > self.limits.max_text_bytes {
                    return Err(too_much(
                        "bytes of text",
                        self.limits.max_text_bytes,
                        "limits.max_text_bytes",
                    ));
                }
                self.pages.push(page);
            }
            Found::Warn(problem) => self.problem(problem),
            Found::ChildListed { .. } => self.members += 1,
            // A document with both pages and members is read for its pages here; its members are the
            // unpacking's business.
            Found::Kind(_)
            | Found::Scan(_)
            | Found::Picture(_)
            | Found::Declared(_)
            | Found::ChildBegin { .. }
            | Found::ChildChunk(_)
            | Found::ChildEnd
            | Found::ChildFailed { .. } => {}
        }
        Ok(())
    }

    /// Adds what ended the reading early.
    pub(crate) fn ended_by(&mut self, error: &Error) {
        self.problem(Problem::from(&ErrorNote::from(error)));
    }

    /// The transcript.
    pub(crate) fn finish(mut self) -> Transcript {
        self.pages.sort_by_key(|page| page.number);
        if self.members > 0 {
            self.metadata.insert(EMBEDDED_FILES.into(), self.members.to_string());
        }
        Transcript {
            v: Transcript::VERSION,
            media_type: self.kind.media_type,
            language: self.metadata.get("language").cloned(),
            quality: mean_quality(&self.pages),
            metadata: self.metadata,
            pages: self.pages,
            problems: self.problems,
        }
    }

    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

fn too_much(what: &str, limit: u64, setting: &str) -> Error {
    Error::limit_exceeded(format!("more {what} than the limit of {limit}"))
        .with_hint(format!("raise `{setting}`"))
}
