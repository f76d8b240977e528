//! The second engine: pdfium, where its library was loaded. It is asked when the first one fails, or when its text
//! looks wrong; what was chosen and why stands with each page.
//!
//! Text alone comes from it: it draws nothing, and knows no members and no notes here.

mod library;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use docmill_core::artifact::{Page, TextSource};
use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};

use super::device::MAX_GLYPHS;
use super::gate::reading::{self, Reading};
use crate::sink::Sink;
use library::{Engine, Opened};

/// Metadata that says which engine read a document that the first one could not.
const ENGINE_KEY: &str = "engine";

/// How far its text is trusted that reads like a language, and that which is too short to tell. pdfium does not say
/// which characters it guessed.
const QUALITY: f32 = 0.9;
const QUALITY_UNCLEAR: f32 = 0.7;
const QUALITY_GARBAGE: f32 = 0.1;

/// What pdfium writes for a hyphen at the end of a line, whose end it leaves out.
const HYPHENS: [u32; 2] = [0x2, 0xfffe];

static ENGINE: OnceLock<Arc<Engine>> = OnceLock::new();

/// Loads pdfium for this process. Call before files are out of reach.
pub(crate) fn load(path: &Path) -> Result<()> {
    if ENGINE.get().is_none() {
        let loaded = Engine::load(path)?;
        // Whoever came first has loaded the same.
        ENGINE.get_or_init(|| loaded);
    }
    Ok(())
}

/// Prepares what was loaded. Call before the sandbox closes.
pub(crate) fn begin() {
    if let Some(engine) = ENGINE.get() {
        engine.begin();
    }
}

/// A document as pdfium sees it.
pub(super) struct Second(Opened);

impl Second {
    /// Opens a document without a password, or with one of those that are known; `None` if there is no pdfium, or if it
    /// does no better.
    pub(super) fn open(bytes: &Arc<Vec<u8>>, passwords: &[String]) -> Option<Self> {
        let engine = ENGINE.get()?;
        let tried = std::iter::once(None).chain(passwords.iter().map(|p| Some(p.as_str())));
        for password in tried {
            match engine.open(bytes, password) {
                Ok(Some(opened)) => return Some(Self(opened)),
                // Another password may do.
                Ok(None) => {}
                Err(_hopeless) => return None,
            }
        }
        None
    }

    /// The text of a page with what it reads like; `None` if there is none.
    pub(super) fn page(&self, number: u32) -> Option<(String, Reading)> {
        let text = text(&self.0.page(number, MAX_GLYPHS)?);
        let said = (!text.trim().is_empty()).then_some(text)?;
        let reading = reading::of(&said);
        Some((said, reading))
    }
}

/// Reads a document that the first engine could not open, because of `failed`, which is the error if this one cannot
/// either.
pub(super) fn read(
    bytes: &Arc<Vec<u8>>,
    passwords: &[String],
    failed: Error,
    want: Want,
    limits: &ReadLimits,
    sink: &mut dyn Sink,
) -> Result<()> {
    let helps = matches!(failed.kind(), ErrorKind::Corrupt | ErrorKind::Encrypted);
    let Some(document) = helps.then(|| Second::open(bytes, passwords)).flatten() else { return Err(failed) };
    let count = document.0.page_count();
    if count == 0 {
        return Err(failed);
    }
    sink.put(Found::PageCount(count))?;
    let because = format!("pdfium, because for the first engine the {}", failed.message());
    if want.metadata {
        sink.meta(ENGINE_KEY, &because)?;
    }
    if !want.text {
        return if want.pictures.is_some() { Err(failed) } else { Ok(()) };
    }
    let (first, last) = want.pages.unwrap_or((1, count));
    let mut has_text = false;
    for number in first.max(1)..=last.min(count) {
        // One more than allowed is handed on, so that the sink can say that it was too many.
        if number - first.max(1) > limits.max_pages {
            break;
        }
        let page = document.whole_page(number, &because, sink)?;
        has_text |= !page.text.is_empty();
        sink.page(page)?;
    }
    // pdfium makes empty pages of almost anything: that is no better than what the first engine said.
    if has_text { Ok(()) } else { Err(failed) }
}

impl Second {
    fn whole_page(&self, number: u32, because: &str, sink: &mut dyn Sink) -> Result<Page> {
        let Some((text, reading)) = self.page(number) else {
            let reason = format!("page has no text for {because}");
            return Ok(Page { number, source: TextSource::None, reason, quality: None, text: String::new() });
        };
        if reading == Reading::Garbage {
            let message = format!("text of page {number} is doubtful: it reads like no language");
            sink.warn(Problem::new(ErrorKind::Corrupt, message).on_page(number))?;
        }
        let reason = format!("text layer by {because}");
        Ok(Page { number, source: TextSource::Native, reason, quality: Some(quality(reading)), text })
    }
}

/// How far text of pdfium is trusted.
pub(super) fn quality(reading: Reading) -> f32 {
    match reading {
        Reading::Text => QUALITY,
        Reading::Unclear => QUALITY_UNCLEAR,
        Reading::Garbage => QUALITY_GARBAGE,
    }
}

/// Code units to text with lines as the first engine writes them.
fn text(units: &[u32]) -> String {
    let mut out = String::with_capacity(units.len() + 1);
    let mut high: Option<u32> = None;
    for &unit in units {
        let waiting = high.take();
        match unit {
            0xd800..=0xdbff => high = Some(unit),
            0xdc00..=0xdfff => {
                let whole = waiting.map(|high| 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
                out.extend(whole.and_then(char::from_u32));
            }
            unit if HYPHENS.contains(&unit) => out.push_str("-\n"),
            unit => out.extend(char::from_u32(unit).filter(|c| *c == '\n' || *c == '\t' || !c.is_control())),
        }
    }
    let mut out = out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
