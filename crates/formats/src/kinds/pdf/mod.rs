//! PDF: the text layer of each page.
//!
//! `device` receives the glyphs that hayro's interpreter draws, `layout` makes lines of them, `metadata` reads
//! the information dictionary, `bomb` refuses content that expands beyond reason. A page that cannot be read is a warning; the others go on. Whether a text layer
//! is good enough, or missing, is said with each page.

mod attachments;
mod bomb;
mod bookmarks;
mod charcode;
mod device;
mod layout;
mod metadata;
mod notes;

use std::panic::{AssertUnwindSafe, catch_unwind};

use docmill_core::artifact::{Page, TextSource};
use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, TransformExt, interpret_page};
use hayro_syntax::{DecryptionError, LoadPdfError};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::sink::Sink;
use crate::sniff::Head;
use device::Glyphs;

/// The signature must stand here or before; mailers and printers put lines in front of it.
const SIGNATURE_WITHIN_BYTES: usize = 1024;

pub(super) struct Pdf;

impl Format for Pdf {
    fn name(&self) -> &'static str {
        "pdf"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &["application/pdf"]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let start = &head.bytes[..head.bytes.len().min(SIGNATURE_WITHIN_BYTES)];
        let at = start.windows(5).position(|w| w == b"%PDF-")?;
        let begins = start[..at].trim_ascii().is_empty() || start[..at] == *b"\xef\xbb\xbf";
        if begins || head.extension == "pdf" {
            return Some(Claim::certain("application/pdf"));
        }
        // Something stands before it. If that is text, the file may just as well be about PDF.
        head.text.is_none().then_some(Claim::likely("application/pdf"))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        // hayro works on the whole file in memory. The child's memory limit holds for it.
        let bytes = input.whole(u64::MAX)?;
        let pdf = hayro_syntax::Pdf::new(bytes).map_err(load_error)?;
        let page_count = pdf.pages().len() as u32;
        sink.put(Found::PageCount(page_count))?;
        if want.metadata {
            metadata::emit(pdf.metadata(), sink)?;
            bookmarks::emit(pdf.xref(), sink)?;
        }
        if want.children || want.listing {
            attachments::emit(pdf.xref(), want, sink)?;
        }
        if !want.text {
            return Ok(());
        }
        if page_count == 0 {
            return Err(Error::corrupt("document has no pages"));
        }
        let (first, last) = want.pages.unwrap_or((1, page_count));
        let cache = InterpreterCache::new();
        for number in first.max(1)..=last.min(page_count) {
            // One more than allowed is handed on, so that the sink can say that it was too many.
            if number - first.max(1) > limits.max_pages {
                break;
            }
            let page = &pdf.pages()[number as usize - 1];
            let page = match bomb::check(page, limits) {
                Ok(()) => read_page(page, number, &pdf, &cache, sink)?,
                Err(e) => {
                    let note = docmill_core::error::ErrorNote::from(&e);
                    sink.warn(Problem::from(&note).on_page(number))?;
                    without_text(number, "page expands beyond reason")
                }
            };
            sink.page(page)?;
        }
        Ok(())
    }
}

fn load_error(error: LoadPdfError) -> Error {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            Error::encrypted("document needs a password to open")
        }
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => {
            Error::encrypted("document is encrypted in a way that is not supported")
        }
        LoadPdfError::Decryption(DecryptionError::MissingIDEntry | DecryptionError::InvalidEncryption) => {
            Error::corrupt("document's encryption is damaged")
        }
        LoadPdfError::Invalid => {
            Error::corrupt("document's structure cannot be read, even by searching for it")
        }
    }
}

/// Reads one page. The interpreter may panic on hostile content: that costs this page alone.
fn read_page<'a>(
    page: &hayro_syntax::page::Page<'a>,
    number: u32,
    pdf: &'a hayro_syntax::Pdf,
    cache: &InterpreterCache<'a>,
    sink: &mut dyn Sink,
) -> Result<Page> {
    let drawn = catch_unwind(AssertUnwindSafe(|| {
        let transform = page.initial_transform(true).to_kurbo();
        let (width, height) = page.render_dimensions();
        let area = hayro_interpret::kurbo::Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let mut context = Context::new(transform, area, cache, pdf.xref(), InterpreterSettings::default());
        let mut glyphs = Glyphs::new(page, area);
        interpret_page(page, &mut context, &mut glyphs);
        glyphs
    }));
    let Ok(glyphs) = drawn else {
        let message = format!("page {number} could not be read: its content breaks the interpreter");
        sink.warn(Problem::new(ErrorKind::Bug, message).on_page(number))?;
        return Ok(without_text(number, "page could not be read"));
    };
    if glyphs.overflowed() {
        let message = format!("page {number} has more glyphs than are read ({})", device::MAX_GLYPHS);
        sink.warn(Problem::new(ErrorKind::LimitExceeded, message).on_page(number))?;
    }
    let (known, guessed, unknown) = (glyphs.known(), glyphs.guessed(), glyphs.unknown());
    let outside = glyphs.outside();
    let mut text = layout::text(glyphs);
    let notes = notes::text(page);
    if text.trim().is_empty() {
        let reason = if unknown > 0 {
            "text layer does not say which characters it shows; OCR is not available in this version"
        } else {
            "page has no text layer; OCR is not available in this version"
        };
        // Still a page without a text layer, whatever is noted on it.
        return Ok(Page { text: notes, ..without_text(number, reason) });
    }
    if !notes.is_empty() {
        text.push('\n');
        text.push_str(&notes);
    }
    let all = known + guessed + unknown;
    let quality = known as f32 / all as f32;
    let mut reason = match (guessed, unknown) {
        (0, 0) => "text layer".to_owned(),
        (0, _) => format!("text layer; {unknown} of {all} glyphs have no known character"),
        _ => format!(
            "text layer; {} of {all} glyphs have no known character, {guessed} are given as their codes",
            guessed + unknown
        ),
    };
    if outside > 0 {
        reason.push_str(&format!("; {outside} glyphs beyond the edge of the page are left out"));
    }
    Ok(Page { number, source: TextSource::Native, reason, quality: Some(quality), text })
}

fn without_text(number: u32, reason: &str) -> Page {
    Page { number, source: TextSource::None, reason: reason.into(), quality: None, text: String::new() }
}

/// A page that draws with a built-in font and with a built-in CJK character map.
const WARM_UP: &[u8] = include_bytes!("../../../../../fixtures/pdf/warm-up.pdf");

/// Reads a small document, so that fonts and maps are loaded before the sandbox closes.
pub(crate) fn warm_up() -> Result<()> {
    let limits = docmill_core::limits::Limits::default().for_reader();
    let mut seen = crate::sink::Collected::default();
    Pdf.parse(&mut Input::from_bytes(WARM_UP.to_vec()), Want::TEXT, &limits, &mut seen)?;
    if seen.text().is_empty() {
        return Err(Error::bug("the built-in PDF fonts give no text"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
