//! Pages as pixels, on their way to being read: what a reader hands over when a page has no text of its own.
//!
//! Pixels are 8-bit grey, decoded by a reader: whoever recognises text never sees the file.

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
        let scan = Self { number, width, height, dpi: None, reason: String::new(), pixels: pixels.into() };
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
