//! Gathers what a reader finds into a transcript. The child that finds it is not trusted, so everything is
//! counted here again, on what really arrived.

use std::collections::BTreeMap;

use docmill_core::artifact::{Page, TextSource, Transcript};
use docmill_core::config::Settings;
use docmill_core::error::ErrorNote;
use docmill_core::limits::Limits;
use docmill_core::ocr::{OcrMode, RecognisedPage, Recognition};
use docmill_core::ports::Ocr;
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, Kind};
use docmill_core::{Error, Result};

use super::{keep_words, mean_quality};
use crate::stages::reading;

/// The key under which metadata says how many files lie inside a document that has text of its own.
pub(crate) const EMBEDDED_FILES: &str = "embedded_files";
/// A file says at most so much about itself.
const MAX_METADATA: usize = 1_000;
/// One thing it says is at most so long.
const MAX_METADATA_BYTES: usize = 64 << 10;
/// Further problems of one document add nothing.
const MAX_PROBLEMS: usize = 1_000;

/// Words in a picture among text that are less sure than this are rather wrong than right.
const WORTH_READING: f32 = 0.3;

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
    recognised: BTreeMap<u32, Recognition>,
    /// Pictures that stand among the text of a page.
    inline: BTreeMap<u32, Recognition>,
    ocr: OcrNote,
}

/// What there is to say about OCR.
#[derive(Clone, Debug, Default)]
pub(crate) struct OcrNote {
    /// Whether recognised text is taken whatever else there is.
    pub(crate) always: bool,
    /// Why nothing is recognised.
    pub(crate) off: Option<String>,
}

impl OcrNote {
    /// As the settings and the recogniser have it.
    pub(crate) fn of(settings: &Settings, ocr: &dyn Ocr) -> Self {
        Self { always: settings.ocr.mode == OcrMode::Always, off: reading::ocr_is_off(settings, ocr) }
    }
}

impl<'a> Collector<'a> {
    /// Of a document of this kind.
    pub(crate) fn new(kind: Kind, limits: &'a Limits, ocr: OcrNote) -> Self {
        Self {
            limits,
            kind,
            recognised: BTreeMap::new(),
            inline: BTreeMap::new(),
            ocr,
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
                if self.pages.len() as u64 >= u64::from(self.limits.max_pages) {
                    return Err(too_much("pages", self.limits.max_pages.into(), "limits.max_pages"));
                }
                self.count_text(&page.text)?;
                self.pages.push(page);
            }
            Found::Recognised(recognition) => {
                self.count_text(&recognition.text)?;
                match recognition.page.inline {
                    Some(picture) => self.inline.insert(picture, recognition),
                    None => self.recognised.insert(recognition.page.number, recognition),
                };
            }
            Found::Warn(problem) => self.problem(problem),
            Found::ChildListed { .. } => self.members += 1,
            // A document with both pages and members is read for its pages here; its members are the
            // unpacking's business.
            Found::Kind(_)
            | Found::Scan(_)
            | Found::Picture(_)
            | Found::Words(_)
            | Found::Tried
            | Found::Vectors(_)
            | Found::Declared(_)
            | Found::ChildBegin { .. }
            | Found::ChildChunk(_)
            | Found::ChildEnd
            | Found::ChildFailed { .. } => {}
        }
        Ok(())
    }

    fn count_text(&mut self, text: &str) -> Result<()> {
        self.text_bytes += text.len() as u64;
        if self.text_bytes > self.limits.max_text_bytes {
            return Err(too_much("bytes of text", self.limits.max_text_bytes, "limits.max_text_bytes"));
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
        let mut languages: BTreeMap<String, usize> = BTreeMap::new();
        let mut recognised = Vec::new();
        for page in &mut self.pages {
            match self.recognised.remove(&page.number) {
                Some(recognition) => {
                    if let Some(language) = &recognition.language {
                        *languages.entry(language.clone()).or_default() += recognition.text.len();
                    }
                    recognised.push(merge(page, recognition, self.ocr.always));
                }
                None if page.source == TextSource::None => {
                    if let Some(off) = &self.ocr.off {
                        page.reason.push_str("; ");
                        page.reason.push_str(off);
                    }
                }
                None => {}
            }
        }
        for recognition in std::mem::take(&mut self.inline).into_values() {
            if let Some(page) = self.pages.iter_mut().find(|page| page.number == recognition.page.number) {
                recognised.push(append(page, recognition));
            }
        }
        if let Some(problem) = keep_words(&mut recognised) {
            self.problem(problem);
        }
        let own_language = self.metadata.get("language").cloned();
        let seen_language = languages.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(code, _)| code);
        Transcript {
            v: Transcript::VERSION,
            media_type: self.kind.media_type,
            language: own_language.or(seen_language),
            quality: mean_quality(&self.pages),
            metadata: self.metadata,
            pages: self.pages,
            problems: self.problems,
            recognised,
        }
    }

    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

/// Gives a page the text that was recognised on it, unless its own is better, and says so.
fn merge(page: &mut Page, recognition: Recognition, always: bool) -> RecognisedPage {
    let Recognition { text, page: how, .. } = recognition;
    let (own, seen) = (page.quality.unwrap_or(0.0), how.quality.unwrap_or(0.0));
    let has_own = page.source == TextSource::Native;
    if text.trim().is_empty() {
        page.reason.push_str("; OCR found no text");
    } else if has_own && !always && own > seen {
        page.reason.push_str(&format!("; kept, OCR is no better ({seen:.2} against {own:.2})"));
    } else {
        page.reason.push_str(&format!("; recognised by {}", how.engine));
        if how.turned != 0 {
            page.reason.push_str(&format!(", turned by {}°", how.turned));
        }
        if how.tries.len() > 1 {
            page.reason.push_str(&format!(", best of {} tries", how.tries.len()));
        }
        // What was noted on a page without a text layer is not in its pixels.
        let notes = if has_own { String::new() } else { std::mem::take(&mut page.text) };
        page.text = text;
        if !notes.trim().is_empty() {
            page.text.push('\n');
            page.text.push_str(&notes);
        }
        page.source = TextSource::Ocr;
        page.quality = how.quality;
    }
    how
}

/// What a picture says follows the text of the page it stands on. A photograph in which something was taken for letters
/// says nothing: its words are kept among what was recognised, and are no text.
fn append(page: &mut Page, recognition: Recognition) -> RecognisedPage {
    let Recognition { text, page: how, .. } = recognition;
    let quality = how.quality.unwrap_or(0.0);
    if text.trim().is_empty() || quality < WORTH_READING {
        return how;
    }
    if !page.text.is_empty() {
        page.text.push_str(if page.text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    page.text.push_str(text.trim_end());
    page.reason.push_str(&format!("; a picture in it recognised by {}", how.engine));
    if page.source == TextSource::None {
        (page.source, page.quality) = (TextSource::Ocr, how.quality);
    }
    how
}

fn too_much(what: &str, limit: u64, setting: &str) -> Error {
    Error::limit_exceeded(format!("more {what} than the limit of {limit}"))
        .with_hint(format!("raise `{setting}`"))
}
