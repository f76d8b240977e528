//! Pages as pictures for people: what a reader draws when somebody wants to see a page.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How large pages are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PictureSize {
    /// Pixels to the inch.
    pub dpi: u32,
    /// No side is longer, in pixels; a thumbnail has a small one.
    pub max_side: u32,
}

impl PictureSize {
    /// A page on a screen.
    pub const SCREEN: Self = Self { dpi: 96, max_side: 4096 };
    /// A page among many.
    pub const THUMBNAIL: Self = Self { dpi: 96, max_side: 256 };
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

    /// No file is longer: three bytes a pixel, and what the format adds.
    pub const MAX_BYTES: usize = 40_000_000;

    /// Whether the file keeps within the limit; whoever takes a picture from a child asks.
    pub fn check(&self) -> Result<()> {
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
