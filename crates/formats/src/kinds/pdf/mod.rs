//! PDF: the text layer of each page.
//!
//! `device` receives the glyphs that hayro's interpreter draws, `charcode` and `program` know their characters,
//! `layout` makes lines of them, and `gate` judges for each page whether that is true text. `metadata` reads the
//! information dictionary, `bomb` refuses content that expands beyond reason. A page that cannot be read is a
//! warning; the others go on.

mod articles;
mod attachments;
mod bomb;
mod bookmarks;
mod charcode;
mod device;
mod gate;
mod layout;
mod letters;
mod marks;
mod metadata;
mod notes;
mod program;
mod render;

use std::panic::{AssertUnwindSafe, catch_unwind};

use docmill_core::artifact::{Page, TextSource};
use docmill_core::error::ErrorKind;
use docmill_core::ocr::OcrMode;
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
use gate::{Evidence, Layer};
use marks::Marks;
use program::Programs;

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
        let document = Document {
            pdf: &pdf,
            cache: InterpreterCache::new(),
            programs: Programs::default(),
            ocr: want.ocr,
            max_image_pixels: limits.max_image_pixels,
        };
        for number in first.max(1)..=last.min(page_count) {
            // One more than allowed is handed on, so that the sink can say that it was too many.
            if number - first.max(1) > limits.max_pages {
                break;
            }
            let page = &pdf.pages()[number as usize - 1];
            let page = match bomb::check(page, limits) {
                Ok(()) => document.read(page, number, sink)?,
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

/// What is kept from page to page.
struct Document<'a> {
    pdf: &'a hayro_syntax::Pdf,
    cache: InterpreterCache<'a>,
    programs: Programs,
    ocr: OcrMode,
    max_image_pixels: u64,
}

impl<'a> Document<'a> {
    /// Reads one page. The interpreter may panic on hostile content: that costs this page alone.
    fn read(&self, page: &'a hayro_syntax::page::Page<'a>, number: u32, sink: &mut dyn Sink) -> Result<Page> {
        let drawn = catch_unwind(AssertUnwindSafe(|| self.glyphs(page)));
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
        let (invisible, outside) = (glyphs.invisible(), glyphs.outside());
        let (glyphs, marks) = glyphs.into_parts();
        let mut text = layout::text(glyphs, &articles::places(page));
        let verdict =
            gate::judge(&Evidence { text: &text, known, guessed, unknown, invisible, marks: &marks });
        let mut reason = verdict.reason;
        if outside > 0 {
            reason.push_str(&format!("; {outside} glyphs beyond the edge of the page are left out"));
        }
        let look = match self.ocr {
            OcrMode::Never => false,
            OcrMode::Auto => verdict.layer.needs_recognition(),
            OcrMode::Always => verdict.layer != Layer::Empty,
        };
        let handed_over = look && self.scan(page, number, &reason, &marks, sink)?;
        if verdict.layer == Layer::Doubtful && !handed_over {
            let message = format!("text of page {number} is doubtful: {reason}");
            sink.warn(Problem::new(ErrorKind::Corrupt, message).on_page(number))?;
        }
        let source = match verdict.layer {
            Layer::True | Layer::Doubtful => TextSource::Native,
            // Still a page without a text layer, whatever is noted on it.
            Layer::Missing | Layer::Empty => TextSource::None,
        };
        let notes = notes::text(page);
        if !notes.is_empty() {
            text.truncate(text.trim_end().len());
            text.push_str(if text.is_empty() { "" } else { "\n\n" });
            text.push_str(&notes);
        }
        Ok(Page { number, source, reason, quality: verdict.quality, text })
    }

    /// Hands over a page as pixels; false, with a warning, if that cannot be done.
    fn scan(
        &self,
        page: &'a hayro_syntax::page::Page<'a>,
        number: u32,
        reason: &str,
        marks: &Marks,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let limit = self.max_image_pixels;
        let drawn = if marks.largest_image() > limit {
            let found = marks.largest_image();
            Err(Error::limit_exceeded(format!(
                "page {number} has an image of {found} pixels, and the limit is {limit}"
            ))
            .with_hint("raise `limits.max_image_pixels`"))
        } else {
            render::scan(page, number, reason)
        };
        match drawn {
            Ok(scan) => sink.scan(scan).map(|()| true),
            Err(e) => {
                let note = docmill_core::error::ErrorNote::from(&e);
                sink.warn(Problem::from(&note).on_page(number)).map(|()| false)
            }
        }
    }

    fn glyphs<'p>(&'p self, page: &'p hayro_syntax::page::Page<'a>) -> Glyphs<'p, 'a> {
        let transform = page.initial_transform(true).to_kurbo();
        let (width, height) = page.render_dimensions();
        let area = hayro_interpret::kurbo::Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let settings = InterpreterSettings::default();
        let mut context = Context::new(transform, area, &self.cache, self.pdf.xref(), settings);
        let mut glyphs = Glyphs::new(page, area, &self.programs);
        interpret_page(page, &mut context, &mut glyphs);
        glyphs
    }
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
