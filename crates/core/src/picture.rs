//! Pages as pictures for people: what a reader draws when somebody wants to see a page.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How large pages are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct PictureSize {
    /// Pixels across; the height follows from the page.
    pub width: u32,
}

impl PictureSize {
    /// Less shows nothing.
    pub const MIN_WIDTH: u32 = 16;
    /// More is not drawn.
    pub const MAX_WIDTH: u32 = 4096;

    /// A page on a screen.
    pub const SCREEN: Self = Self { width: 1024 };
    /// A page among many.
    pub const THUMBNAIL: Self = Self { width: 256 };

    /// Pixels of a picture for each unit of a page of this size. A page that would have too many is drawn smaller:
    /// a roll of paper is no reason to refuse.
    pub fn scale(self, width: f64, height: f64) -> f64 {
        let (width, height) = (width.max(1e-6), height.max(1e-6));
        let by_width = f64::from(self.width.clamp(1, Self::MAX_WIDTH)) / width;
        let by_side = f64::from(Picture::MAX_SIDE) / height.max(width);
        let by_pixels = (Picture::MAX_PIXELS as f64 / (width * height)).sqrt();
        by_width.min(by_side).min(by_pixels)
    }
}

/// A page as PNG.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Picture {
    /// The page, from 1.
    pub number: u32,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// The file.
    pub png: Bytes,
}

impl Picture {
    /// Pages are drawn with at most so many pixels, whatever was asked for: the file must fit into one frame.
    pub const MAX_PIXELS: u64 = 12_000_000;

    /// No side is longer.
    pub const MAX_SIDE: u32 = 16_384;

    /// No file is longer: three bytes a pixel, and what the format adds.
    pub const MAX_BYTES: usize = 40_000_000;

    /// Whether it keeps within the limits and is what it says; whoever takes a picture from a child asks.
    pub fn check(&self) -> Result<()> {
        if !self.png.starts_with(b"\x89PNG\r\n\x1a\n") {
            return Err(Error::bug(format!("picture of page {} is no PNG", self.number)));
        }
        if self.png.len() > Self::MAX_BYTES {
            return Err(Error::limit_exceeded(format!(
                "picture of page {} has {} bytes, and the limit is {}",
                self.number,
                self.png.len(),
                Self::MAX_BYTES
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_gives_the_width_unless_that_would_be_too_much() {
        let size = PictureSize { width: 1024 };
        assert!((size.scale(612.0, 792.0) * 612.0 - 1024.0).abs() < 1e-6);
        for (width, height) in [(1.0, 100_000.0), (3.0, 14_400.0), (0.0, 0.0), (14_400.0, 14_400.0)] {
            let scale = size.scale(width, height);
            assert!(scale.is_finite() && scale > 0.0);
            assert!(scale * height <= f64::from(Picture::MAX_SIDE) + 1e-6, "{width} × {height}");
            assert!(scale * scale * width * height <= Picture::MAX_PIXELS as f64 + 1.0, "{width} × {height}");
        }
    }

    #[test]
    fn picture_that_is_no_png_is_refused() {
        let picture = Picture { number: 1, width: 1, height: 1, png: Bytes::from_static(b"<svg onload=x>") };
        assert!(picture.check().is_err());
    }
}
