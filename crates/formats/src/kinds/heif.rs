//! HEIC and HEIF, the photographs of phones. Two decoders: what the first cannot read, the second tries.

use docmill_core::error::ErrorNote;
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::exif::Remarks;
use crate::shared::grey::Grey;
use crate::shared::picture;
use crate::shared::showing::Shown;
use crate::sink::Sink;
use crate::sniff::Head;

const HEIC: &str = "image/heic";
const HEIF: &str = "image/heif";

/// Compressed bytes that are taken into memory.
const MAX_BYTES: u64 = 256 << 20;

pub(super) struct Heif;

impl Format for Heif {
    fn name(&self) -> &'static str {
        "heif"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[HEIC, HEIF]
    }

    fn draws(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        media_type(head.bytes).map(Claim::certain)
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let bytes = input.whole(MAX_BYTES)?;
        sink.put(Found::PageCount(1))?;
        let read = picture::guarded(|| first(&bytes, want, limits, sink));
        let Err(error) = read else { return Ok(()) };
        if error.kind() == docmill_core::ErrorKind::LimitExceeded {
            return Err(error);
        }
        match picture::guarded(|| second(&bytes, want, limits, sink)) {
            Ok(()) => {
                let problem = Problem::from(&ErrorNote::from(&error));
                let message = format!("read by the second decoder; the first said: {}", problem.message);
                sink.meta("decoder", &message)
            }
            // The first one is the better judge of what is wrong.
            Err(_) => Err(error),
        }
    }
}

fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if has_brand(bytes, &[b"avif", b"avis"]) {
        None
    } else if has_brand(bytes, &[b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis"]) {
        Some(HEIC)
    } else if has_brand(bytes, &[b"mif1", b"msf1"]) {
        Some(HEIF)
    } else {
        None
    }
}

/// Whether a file says that it is one of these, or compatible with them.
pub(super) fn has_brand(bytes: &[u8], wanted: &[&[u8; 4]]) -> bool {
    let brands = || {
        let length = u32::from_be_bytes(*bytes.first_chunk::<4>()?) as usize;
        bytes.get(4..8).filter(|name| *name == b"ftyp")?;
        // The version stands between the main brand and the others.
        bytes.get(8..length.clamp(16, 256).min(bytes.len()))
    };
    brands().unwrap_or_default().chunks_exact(4).any(|brand| wanted.iter().any(|w| *w == brand))
}

fn first(bytes: &[u8], want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
    let failed = |e: heic_decoder::HeifError| Error::corrupt(format!("picture cannot be decoded: {e}"));
    let info = heic_decoder::probe(bytes).map_err(failed)?;
    let (width, height) = (info.width as u32, info.height as u32);
    picture::check_size(width, height, limits)?;
    picture::check_size(info.coded_width as u32, info.coded_height as u32, limits)?;
    if want.needs_drawn_pages() {
        let decoded = heic_decoder::decode(bytes).map_err(failed)?.to_rgb8().map_err(failed)?;
        let (width, height) = (decoded.width as u32, decoded.height as u32);
        return Shown::new(width, height, decoded.data)?.emit(1, want, sink);
    }
    let decoded = if picture::wants_pixels(want) {
        let decoded = heic_decoder::decode(bytes).map_err(failed)?;
        let shift = decoded.bit_depth_luma.saturating_sub(8);
        let pixels = decoded.y.iter().map(|value| (value >> shift).clamp(0, 255) as u8).collect();
        Some(Grey::new(decoded.width as u32, decoded.height as u32, pixels)?)
    } else {
        None
    };
    if want.metadata {
        sink.meta("width", &width.to_string())?;
        sink.meta("height", &height.to_string())?;
        let remarks = heic_decoder::read_metadata(bytes).map_err(failed)?.exif.and_then(Remarks::read);
        if let Some(remarks) = remarks {
            remarks.emit(sink)?;
        }
    }
    match decoded {
        Some(picture) => picture::emit(1, picture, None, sink),
        None => picture::emit_unseen(1, sink),
    }
}

fn second(bytes: &[u8], want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
    let failed = |e: heic_rs::Error| Error::corrupt(format!("picture cannot be decoded: {e}"));
    let info = heic_rs::probe(bytes).map_err(failed)?;
    picture::check_size(info.width, info.height, limits)?;
    if want.metadata {
        sink.meta("width", &info.width.to_string())?;
        sink.meta("height", &info.height.to_string())?;
    }
    if want.needs_drawn_pages() {
        let options = heic_rs::DecodeOptions::default()
            .with_layout(heic_rs::PixelLayout::Rgb8)
            .with_max_pixels(Some(limits.max_image_pixels));
        let decoded = heic_rs::decode(bytes, &options).map_err(failed)?;
        return Shown::new(decoded.width, decoded.height, decoded.data)?.emit(1, want, sink);
    }
    if !picture::wants_pixels(want) {
        return picture::emit_unseen(1, sink);
    }
    let options = heic_rs::DecodeOptions::default()
        .with_layout(heic_rs::PixelLayout::Gray8)
        .with_max_pixels(Some(limits.max_image_pixels));
    let decoded = heic_rs::decode(bytes, &options).map_err(failed)?;
    picture::emit(1, Grey::new(decoded.width, decoded.height, decoded.data)?, None, sink)
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;
    use docmill_core::limits::Limits;
    use docmill_core::ocr::OcrMode;

    use super::*;
    use crate::sink::Collected;
    use crate::tests_support::{fixture, scans, try_read};

    const SEEN: Want = Want { ocr: OcrMode::Auto, ..Want::TEXT };

    #[test]
    fn both_decoders_see_the_same_picture() {
        let limits = Limits::default().for_reader();
        let bytes = fixture("heif/mill.heic");
        let (found, result) = try_read("a.heic", &bytes, SEEN, &limits);
        result.unwrap();
        assert_eq!((scans(&found)[0].width, scans(&found)[0].height), (560, 200));
        let mut other = Collected::default();
        second(&bytes, SEEN, &limits, &mut other).unwrap();
        let (first, second) = (&scans(&found)[0].pixels, &scans(&other)[0].pixels);
        let apart = first.iter().zip(second.iter()).filter(|(a, b)| a.abs_diff(**b) > 40).count();
        assert!(apart * 50 < first.len(), "{apart} pixels differ");
    }

    #[test]
    fn damaged_picture_is_corrupt() {
        let limits = Limits::default().for_reader();
        let (_, result) = try_read("a.heic", &fixture("heif/damaged.heic"), SEEN, &limits);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
