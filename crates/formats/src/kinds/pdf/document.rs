//! Reads the pages of a document, one after the other.

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use docmill_core::artifact::{Page, TextSource};
use docmill_core::error::{ErrorKind, ErrorNote};
use docmill_core::ocr::OcrMode;
use docmill_core::picture::PictureSize;
use docmill_core::problem::Problem;
use docmill_core::wire::{ReadLimits, Want};
use docmill_core::words::{PageWords, PlacedWord};
use docmill_core::{Error, Result};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, TransformExt, interpret_page};
use hayro_syntax::Pdf;
use hayro_syntax::object::Object;
use hayro_syntax::page::Page as Source;

use super::device::{self, Glyphs};
use super::gate::reading::Reading;
use super::gate::{self, Evidence, Layer, Verdict};
use super::marks::Marks;
use super::program::Programs;
use super::second::{self, Second};
use super::{articles, bomb, layout, lists, notes, render};
use crate::sink::Sink;

/// A document, and what is kept from page to page.
pub(super) struct Document<'a> {
    pdf: &'a Pdf,
    want: Want,
    limits: &'a ReadLimits,
    cache: InterpreterCache<'a>,
    programs: Programs,
    bytes: &'a Arc<Vec<u8>>,
    passwords: &'a [String],
    /// Opened when the first page needs it.
    second: OnceCell<Option<Second>>,
}

impl<'a> Document<'a> {
    /// `bytes` and `passwords` are for the second engine.
    pub(super) fn new(
        pdf: &'a Pdf,
        (bytes, passwords): (&'a Arc<Vec<u8>>, &'a [String]),
        want: Want,
        limits: &'a ReadLimits,
    ) -> Self {
        Self {
            pdf,
            want,
            limits,
            cache: InterpreterCache::new(),
            programs: Programs::default(),
            bytes,
            passwords,
            second: OnceCell::new(),
        }
    }

    /// Gives what is wanted of a page. One that cannot be read is a warning, not an error.
    pub(super) fn give(&self, number: u32, sink: &mut dyn Sink) -> Result<()> {
        let Some(page) = self.pdf.pages().get(number as usize - 1) else { return Ok(()) };
        let checked = bomb::check(page, self.limits);
        if let Some(size) = self.want.pictures {
            match &checked {
                Ok(()) => self.picture(page, number, size, sink)?,
                // Text says the same, if that is wanted.
                Err(e) if !self.want.text => warn(e, number, sink)?,
                Err(_) => {}
            }
        }
        if self.want.words {
            match &checked {
                Ok(()) => self.words(page, number, sink)?,
                Err(e) => warn(e, number, sink)?,
            }
        }
        if !self.want.text {
            return Ok(());
        }
        let read = match checked {
            Ok(()) => self.read(page, number, sink)?,
            Err(e) => {
                warn(&e, number, sink)?;
                without_text(number, "page expands beyond reason")
            }
        };
        sink.page(read)
    }

    /// Reads one page. The interpreter may panic on hostile content: that costs this page alone.
    fn read(&self, page: &'a Source<'a>, number: u32, sink: &mut dyn Sink) -> Result<Page> {
        let drawn = catch_unwind(AssertUnwindSafe(|| self.glyphs(page)));
        let Ok(glyphs) = drawn else {
            if let Some((text, reading)) = self.second(number).filter(|(_, r)| *r != Reading::Garbage) {
                let reason = "text layer by pdfium, because the page's content breaks the first engine";
                let quality = Some(second::quality(reading));
                return Ok(Page { number, source: TextSource::Native, reason: reason.into(), quality, text });
            }
            let message = format!("page {number} could not be read: its content breaks the interpreter");
            sink.warn(Problem::new(ErrorKind::Bug, message).on_page(number))?;
            return Ok(without_text(number, "page could not be read"));
        };
        if glyphs.overflowed() {
            let message = format!("page {number} has more glyphs than are read ({})", device::MAX_GLYPHS);
            sink.warn(Problem::new(ErrorKind::LimitExceeded, message).on_page(number))?;
        }
        if lacks_content(page) {
            let message = format!("content of page {number} is not in the file, or not all of it");
            sink.warn(Problem::new(ErrorKind::Corrupt, message).on_page(number))?;
        }
        let (known, guessed, unknown) = (glyphs.known(), glyphs.guessed(), glyphs.unknown());
        let (invisible, outside) = (glyphs.invisible(), glyphs.outside());
        let (glyphs, marks) = glyphs.into_parts();
        let mut text = layout::text(glyphs, &articles::places(page));
        let verdict =
            gate::judge(&Evidence { text: &text, known, guessed, unknown, invisible, marks: &marks });
        let verdict = if verdict.misread { self.second_opinion(number, verdict, &mut text) } else { verdict };
        let mut reason = verdict.reason;
        if outside > 0 {
            reason.push_str(&format!("; {outside} glyphs beyond the edge of the page are left out"));
        }
        let look = match self.want.ocr {
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

    /// What the second engine reads on a page.
    fn second(&self, number: u32) -> Option<(String, Reading)> {
        self.second.get_or_init(|| Second::open(self.bytes, self.passwords)).as_ref()?.page(number)
    }

    /// Takes the text of the second engine if it reads like a language, where that of the first one does not.
    fn second_opinion(&self, number: u32, mut verdict: Verdict, text: &mut String) -> Verdict {
        match self.second(number) {
            Some((other, Reading::Text)) => {
                *text = other;
                let reason =
                    format!("text layer by pdfium, because for the first engine the {}", verdict.reason);
                Verdict {
                    layer: Layer::True,
                    reason,
                    quality: Some(second::quality(Reading::Text)),
                    misread: false,
                }
            }
            Some(_) => {
                verdict.reason.push_str("; pdfium reads no better");
                verdict
            }
            None => verdict,
        }
    }

    /// Hands over a page as pixels; false, with a warning, if that cannot be done.
    fn scan(
        &self,
        page: &'a Source<'a>,
        number: u32,
        reason: &str,
        marks: &Marks,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        match self.fits(number, marks).and_then(|()| render::scan(page, number, reason)) {
            Ok(scan) => sink.scan(scan).map(|()| true),
            Err(e) => warn(&e, number, sink).map(|()| false),
        }
    }

    /// Gives a page as a picture, or a warning.
    fn picture(
        &self,
        page: &'a Source<'a>,
        number: u32,
        size: PictureSize,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let drawn = match catch_unwind(AssertUnwindSafe(|| self.glyphs(page).into_parts().1)) {
            Ok(marks) => self.fits(number, &marks).and_then(|()| render::picture(page, number, size)),
            Err(_panic) => Err(Error::bug(format!(
                "page {number} could not be drawn: its content breaks the interpreter"
            ))),
        };
        match drawn {
            Ok(picture) => sink.picture(picture),
            Err(e) => warn(&e, number, sink),
        }
    }

    /// Gives the words of a page and where they stand, or a warning.
    fn words(&self, page: &'a Source<'a>, number: u32, sink: &mut dyn Sink) -> Result<()> {
        let drawn = catch_unwind(AssertUnwindSafe(|| self.glyphs_with(page, true)));
        let Ok(glyphs) = drawn else {
            let message =
                format!("words of page {number} could not be found: its content breaks the interpreter");
            return sink.warn(Problem::new(ErrorKind::Bug, message).on_page(number));
        };
        let (width, height) = page.render_dimensions();
        let size = (f64::from(width), f64::from(height));
        let standing = layout::words(glyphs.into_parts().0, &articles::places(page));
        let mut found = PageWords::none(number, width, height);
        let (mut told, mut bytes) = (0, 0);
        for word in standing {
            let Rect { x0, y0, x1, y1 } = word.body;
            let Some(placed) = PlacedWord::new(word.text, word.line, (x0, y0, x1, y1), size) else {
                continue;
            };
            (told, bytes) = (told + 1, bytes + placed.text.len());
            if told > PageWords::MAX_WORDS || bytes > PageWords::MAX_TEXT_BYTES {
                let message =
                    format!("page {number} has more words than are told ({})", PageWords::MAX_WORDS);
                sink.warn(Problem::new(ErrorKind::LimitExceeded, message).on_page(number))?;
                break;
            }
            found.words.push(placed);
        }
        if !found.words.is_empty() {
            found.source = TextSource::Native;
        }
        sink.words(found)
    }

    /// Refuses to draw images that are larger than allowed: they are unpacked whole.
    fn fits(&self, number: u32, marks: &Marks) -> Result<()> {
        let (found, limit) = (marks.largest_image(), self.limits.max_image_pixels);
        if found <= limit {
            return Ok(());
        }
        let message = format!("page {number} has an image of {found} pixels, and the limit is {limit}");
        Err(Error::limit_exceeded(message).with_hint("raise `limits.max_image_pixels`"))
    }

    fn glyphs<'p>(&'p self, page: &'p Source<'a>) -> Glyphs<'p, 'a> {
        self.glyphs_with(page, false)
    }

    fn glyphs_with<'p>(&'p self, page: &'p Source<'a>, bodies: bool) -> Glyphs<'p, 'a> {
        let transform = page.initial_transform(true).to_kurbo();
        let (width, height) = page.render_dimensions();
        let area = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let settings = InterpreterSettings::default();
        let mut context = Context::new(transform, area, &self.cache, self.pdf.xref(), settings);
        let glyphs = Glyphs::new(page, area, &self.programs);
        let mut glyphs = if bodies { glyphs.with_bodies() } else { glyphs };
        interpret_page(page, &mut context, &mut glyphs);
        glyphs
    }
}

/// Whether a page refers to content that cannot be had: an end that was cut off takes it along.
fn lacks_content(page: &Source<'_>) -> bool {
    match page.raw().get::<Object<'_>>(b"Contents") {
        Some(Object::Array(parts)) => {
            let is_there =
                |part: &Option<Object<'_>>| matches!(part, Some(Object::Stream(_) | Object::Null(_)));
            !lists::objects(&parts).all(|part| is_there(&part))
        }
        Some(_) => false,
        None => page.raw().contains_key(b"Contents"),
    }
}

/// Something that concerns one page and does not stop the reading.
fn warn(error: &Error, number: u32, sink: &mut dyn Sink) -> Result<()> {
    sink.warn(Problem::from(&ErrorNote::from(error)).on_page(number))
}

fn without_text(number: u32, reason: &str) -> Page {
    Page { number, source: TextSource::None, reason: reason.into(), quality: None, text: String::new() }
}
