//! Pictures as pages: how large they may be, how colours become grey, and what goes to OCR.

use std::panic::{AssertUnwindSafe, catch_unwind};

use docmill_core::artifact::{Page, TextSource};
use docmill_core::ocr::{OcrMode, Scan};
use docmill_core::wire::{ReadLimits, Want};
use docmill_core::{Error, Result};
use image::{DynamicImage, ImageError};

use super::grey::Grey;
use crate::sink::Sink;

/// Why a page of pixels has no text.
const NO_TEXT: &str = "picture, which has no text of its own";

/// No letter can be read in less.
const MIN_SIDE: u32 = 8;

/// Refuses a picture by what its header says, before memory is taken for it.
pub(crate) fn check_size(width: u32, height: u32, limits: &ReadLimits) -> Result<()> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err(Error::corrupt(format!("picture of {width} × {height} pixels has none")));
    }
    if pixels > limits.max_image_pixels {
        return Err(Error::limit_exceeded(format!(
            "picture of {width} × {height} pixels exceeds the limit of {} pixels",
            limits.max_image_pixels
        ))
        .with_hint("raise `limits.max_image_pixels`"));
    }
    Ok(())
}

/// Whether pixels are wanted for recognition.
pub(crate) fn wants_pixels(want: Want) -> bool {
    want.text && want.ocr != OcrMode::Never
}

/// Emits a page whose pixels are not wanted.
pub(crate) fn emit_unseen(number: u32, sink: &mut dyn Sink) -> Result<()> {
    sink.page(page(number))
}

/// Emits a page and its pixels.
pub(crate) fn emit(number: u32, picture: Grey, dpi: Option<u32>, sink: &mut dyn Sink) -> Result<()> {
    sink.page(page(number))?;
    let (width, height) = (picture.width(), picture.height());
    if width.min(height) < MIN_SIDE {
        return Ok(());
    }
    let scale = Scan::scale_to_fit(width, height);
    let (picture, dpi) = if scale < 1.0 {
        let size = |side: u32| ((f64::from(side) * scale) as u32).max(1);
        let dpi = dpi.map(|dpi| (f64::from(dpi) * scale).round() as u32);
        (picture.resized(size(width), size(height))?, dpi)
    } else {
        (picture, dpi)
    };
    let size = (picture.width(), picture.height());
    sink.scan(Scan::new(number, size, picture.into_pixels())?.at_dpi(dpi).because(NO_TEXT))
}

fn page(number: u32) -> Page {
    Page { number, source: TextSource::None, reason: NO_TEXT.into(), quality: None, text: String::new() }
}

/// Colours as grey, on white where they are transparent.
pub(crate) fn grey(image: DynamicImage) -> Result<Grey> {
    let (width, height) = (image.width(), image.height());
    let pixels = if image.color().has_alpha() {
        let mut both = image.into_luma_alpha8();
        for pixel in both.pixels_mut() {
            let (light, cover) = (u32::from(pixel.0[0]), u32::from(pixel.0[1]));
            pixel.0[0] = ((light * cover + 255 * (255 - cover)) / 255) as u8;
        }
        both.pixels().map(|pixel| pixel.0[0]).collect()
    } else {
        image.into_luma8().into_raw()
    };
    Grey::new(width, height, pixels)
}

/// The lightness of a colour.
pub(crate) fn luma(red: u8, green: u8, blue: u8) -> u8 {
    ((2126 * u32::from(red) + 7152 * u32::from(green) + 722 * u32::from(blue)) / 10_000) as u8
}

/// Decodes, and takes a decoder that breaks on hostile pixels for what it is: a damaged picture.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(Error::corrupt("picture breaks its decoder, so it must be damaged")))
}

/// What a decoder says, in our words.
pub(crate) fn failed(error: &ImageError) -> Error {
    match error {
        ImageError::Limits(_) => Error::limit_exceeded(format!("picture needs too much memory: {error}"))
            .with_hint("raise `limits.max_image_pixels` or `sandbox.memory`"),
        ImageError::Unsupported(_) => {
            Error::unsupported_format(format!("picture is of a sort that is not read: {error}"))
        }
        _ => Error::corrupt(format!("picture cannot be decoded: {error}")),
    }
}
