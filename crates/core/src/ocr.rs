//! Pages as pixels and what is recognised on them.
//!
//! A reader hands over a [`Scan`] when a page has no text of its own that can be trusted. Pixels are 8-bit grey,
//! decoded by that reader: whoever recognises text never sees the file.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Whether pages are read by OCR.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OcrMode {
    /// No page.
    #[default]
    Never,
    /// Pages whose text is missing or cannot be trusted.
    Auto,
    /// Every page that can be drawn.
    Always,
}

impl OcrMode {
    /// Every mode.
    pub const ALL: &'static [Self] = &[Self::Auto, Self::Never, Self::Always];

    /// As written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Auto => "auto",
            Self::Always => "always",
        }
    }
}

/// What text is recognised with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum OcrEngine {
    /// Whatever is installed: Tesseract, and a second engine where it does not do well.
    #[default]
    Auto,
    /// Tesseract alone.
    Tesseract,
    /// Nothing.
    Off,
}

impl OcrEngine {
    /// Every choice.
    pub const ALL: &'static [Self] = &[Self::Auto, Self::Tesseract, Self::Off];

    /// As written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Tesseract => "tesseract",
            Self::Off => "off",
        }
    }
}

/// A page as a picture.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Scan {
    /// The page, from 1.
    pub number: u32,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Pixels to the inch, where the file says it or the page was drawn so.
    pub dpi: Option<u32>,
    /// Why it is to be read this way, in words.
    pub reason: String,
    /// Which of the document's pictures it is, from 1, where it stands among the text of its page.
    pub inline: Option<u32>,
    /// Row by row without gaps, one byte each, 0 is black.
    pub pixels: Bytes,
}

impl Scan {
    /// A scan travels in one frame and is held in memory while it waits. A page of A4 at 450 dpi fits.
    pub const MAX_PIXELS: u64 = 20_000_000;

    /// Longer sides are refused: a strip of a pixel's width is no page.
    pub const MAX_SIDE: u32 = 32_767;

    /// A scan whose sizes and pixels agree and keep within the limits.
    pub fn new(number: u32, (width, height): (u32, u32), pixels: impl Into<Bytes>) -> Result<Self> {
        let scan = Self {
            number,
            width,
            height,
            dpi: None,
            reason: String::new(),
            inline: None,
            pixels: pixels.into(),
        };
        scan.check()?;
        Ok(scan)
    }

    /// The same, of a page of so many pixels to the inch.
    #[must_use]
    pub fn at_dpi(self, dpi: Option<u32>) -> Self {
        Self { dpi, ..self }
    }

    /// The same, with why it is to be read.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..self }
    }

    /// Whether sizes and pixels agree and keep within the limits; whoever takes a scan from a child asks.
    pub fn check(&self) -> Result<()> {
        let (width, height) = (self.width, self.height);
        let pixels = u64::from(width) * u64::from(height);
        if pixels > Self::MAX_PIXELS || width.max(height) > Self::MAX_SIDE {
            return Err(Error::limit_exceeded(format!(
                "scan of {width} × {height} pixels exceeds the limit of {} pixels or {} a side",
                Self::MAX_PIXELS,
                Self::MAX_SIDE
            )));
        }
        if pixels == 0 || pixels != self.pixels.len() as u64 {
            return Err(Error::bug(format!(
                "scan of {width} × {height} pixels comes with {} bytes",
                self.pixels.len()
            )));
        }
        Ok(())
    }

    /// By how much a picture must be made smaller to become a scan: 1 or less.
    pub fn scale_to_fit(width: u32, height: u32) -> f64 {
        let by_pixels = (Self::MAX_PIXELS as f64 / (f64::from(width) * f64::from(height)).max(1.0)).sqrt();
        let by_side = f64::from(Self::MAX_SIDE) / f64::from(width.max(height).max(1));
        by_pixels.min(by_side).min(1.0)
    }
}

/// What was recognised on a scan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recognition {
    /// Lines separated by `\n`, in reading order.
    pub text: String,
    /// ISO 639-3 code, where it could be told.
    pub language: Option<String>,
    /// Where it stands and how it was found.
    pub page: RecognisedPage,
}

/// How the text of a page was recognised; stored with the transcription.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecognisedPage {
    /// The page, from 1.
    pub number: u32,
    /// Which of the document's pictures it is, from 1, where it is no page but stands on one.
    #[serde(default)]
    pub inline: Option<u32>,
    /// Who recognised it, with version and languages.
    pub engine: String,
    /// By how many degrees clockwise the scan had to be turned to stand upright.
    pub turned: u32,
    /// Size of the scan, which the boxes refer to.
    pub width: u32,
    /// Size of the scan, which the boxes refer to.
    pub height: u32,
    /// Pixels to the inch, where known.
    pub dpi: Option<u32>,
    /// 0 (guesswork) to 1 (certain), from the confidence of each word by its length; null where no word was found.
    pub quality: Option<f32>,
    /// In reading order.
    pub words: Vec<Word>,
    /// Everything that was tried, in order.
    pub tries: Vec<Try>,
}

/// A word, or what stands together without a gap, and its box on the scan as it was given. Written as a list in the
/// order of the fields: there are many of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "WordRow", into = "WordRow")]
pub struct Word {
    /// As recognised.
    pub text: String,
    /// 0 to 1.
    pub confidence: f32,
    /// Its line, from 0.
    pub line: u32,
    /// Left edge in pixels.
    pub x: u32,
    /// Upper edge in pixels.
    pub y: u32,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

type WordRow = (String, f32, u32, u32, u32, u32, u32);

impl From<Word> for WordRow {
    fn from(word: Word) -> Self {
        (word.text, word.confidence, word.line, word.x, word.y, word.width, word.height)
    }
}

impl From<WordRow> for Word {
    fn from((text, confidence, line, x, y, width, height): WordRow) -> Self {
        Self { text, confidence, line, x, y, width, height }
    }
}

/// One try at a page.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Try {
    /// Who.
    pub engine: String,
    /// What was done to the pixels before, in order.
    pub steps: Vec<String>,
    /// What came of it; null where no word was found.
    pub quality: Option<f32>,
    /// How much was found.
    pub characters: u32,
    /// Its result was taken.
    pub chosen: bool,
}

impl Recognition {
    /// More words on one page are not believed.
    pub const MAX_WORDS: usize = 50_000;

    /// Longer text of one page is not believed.
    pub const MAX_TEXT_BYTES: usize = 4 << 20;

    /// Tries at one page.
    pub const MAX_TRIES: usize = 64;

    /// Whether it keeps within what a page can hold; whoever takes one from a child asks.
    pub fn check(&self) -> Result<()> {
        let words: usize = self.page.words.iter().map(|word| word.text.len()).sum();
        let too_much = self.page.words.len() > Self::MAX_WORDS
            || words.max(self.text.len()) > Self::MAX_TEXT_BYTES
            || self.page.tries.len() > Self::MAX_TRIES;
        if too_much {
            return Err(Error::limit_exceeded(format!(
                "more text was recognised than a page can hold: {} words, {} bytes",
                self.page.words.len(),
                self.text.len()
            )));
        }
        Ok(())
    }

    /// The text without what a database cannot store.
    pub(crate) fn clean(&mut self, strip: fn(&mut String)) {
        strip(&mut self.text);
        strip(&mut self.page.engine);
        self.page.words.iter_mut().for_each(|word| strip(&mut word.text));
        for tried in &mut self.page.tries {
            strip(&mut tried.engine);
            tried.steps.iter_mut().for_each(strip);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scan_whose_sizes_and_pixels_differ_is_refused() {
        assert!(Scan::new(1, (2, 3), vec![0; 6]).is_ok());
        assert!(Scan::new(1, (2, 3), vec![0; 5]).is_err());
        assert!(Scan::new(1, (0, 3), vec![]).is_err());
        assert!(Scan::new(1, (40_000, 1), vec![0; 40_000]).is_err());
    }

    #[test]
    fn scale_to_fit_keeps_what_fits_and_shrinks_the_rest_within_the_limit() {
        assert!((Scan::scale_to_fit(1000, 1000) - 1.0).abs() < f64::EPSILON);
        for (width, height) in [(10_000, 10_000), (100_000, 10), (1, u32::MAX)] {
            let scale = Scan::scale_to_fit(width, height);
            let (w, h) = ((f64::from(width) * scale).floor(), (f64::from(height) * scale).floor());
            assert!(w * h <= Scan::MAX_PIXELS as f64 && w.max(h) <= f64::from(Scan::MAX_SIDE), "{w} × {h}");
        }
    }
}
