//! Making poor pixels better, in the order that was measured to help: light, size, skew; then contrast and grain.
//!
//! On receipts with stains and bad light this took the share of right characters of Tesseract from 0.28 to 0.76.
//! Making everything black or white, which is the usual advice, made it worse.

mod background;
mod grain;
mod letters;
mod skew;

use docmill_core::Result;
use docmill_core::ocr::Scan;

use super::picture::Picture;

/// The height of small letters that recognisers were trained on, roughly.
const WANTED_LETTER: f32 = 22.0;

/// More than this only invents pixels.
const MAX_UPSCALE: f32 = 3.0;

/// A smaller skew than this (in radians, 0.2°) does no harm.
const MIN_SKEW: f32 = 0.0035;

/// Even light, letters of a good size, lines that are level.
pub(crate) fn evened(picture: &Picture) -> Result<Picture> {
    let mut out = picture.with("divide by background", background::divide(&picture.grey)?);
    if let Some(factor) = upscale(&out) {
        out = out.scale(factor)?;
    }
    let skew = skew::angle(&out.grey)?;
    if skew.abs() >= MIN_SKEW {
        out = out.tilt(-skew);
    }
    Ok(out)
}

/// More contrast, less grain, for what is already evened.
pub(crate) fn smoothed(picture: &Picture) -> Result<Picture> {
    let calm = picture.with("denoise", grain::median(&picture.grey)?);
    Ok(calm.with("contrast", grain::stretch(&calm.grey)))
}

/// By how much letters are too small, as far as there is room to make them larger.
fn upscale(picture: &Picture) -> Option<f32> {
    let letters = letters::height(&picture.grey)?;
    let (width, height) = (picture.grey.width(), picture.grey.height());
    let room = (Scan::MAX_PIXELS as f32 / (width as f32 * height as f32)).sqrt();
    let factor = (WANTED_LETTER / letters).min(MAX_UPSCALE).min(room);
    (factor >= 1.2).then_some(factor)
}
