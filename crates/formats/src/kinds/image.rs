//! JPEG, PNG, GIF, WebP and BMP. Of a moving picture the first frame is read.

use std::io::BufReader;

use ::image::metadata::Orientation;
use ::image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader};
use docmill_core::Result;
use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::exif::{Remarks, believable};
use crate::shared::picture;
use crate::shared::showing::Shown;
use crate::sink::Sink;
use crate::sniff::Head;

/// Resolution stands near the beginning.
const HEAD_BYTES: u64 = 4 << 10;

/// What a decoder may take for itself: 100 million pixels in colour, and some.
const MAX_DECODER_BYTES: u64 = 600 << 20;

/// Larger files are not looked through for their end mark.
const MAX_MARKED_BYTES: u64 = 64 << 20;

pub(super) struct Image;

impl Format for Image {
    fn name(&self) -> &'static str {
        "image"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &["image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp"]
    }

    fn draws(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        format_of(head.bytes).map(|format| Claim::certain(format.to_mime_type()))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let head = input.head(HEAD_BYTES)?;
        let format = format_of(&head).unwrap_or(ImageFormat::Jpeg);
        input.go_to(0)?;
        let mut reader = ImageReader::with_format(BufReader::new(&mut *input), format);
        let mut allowed = ::image::Limits::default();
        allowed.max_alloc = Some(MAX_DECODER_BYTES);
        reader.limits(allowed);
        let mut decoder = reader.into_decoder().map_err(|e| picture::failed(&e))?;
        let (width, height) = decoder.dimensions();
        sink.put(Found::PageCount(1))?;
        // Damaged remarks are no reason not to show the picture.
        let remarks = decoder.exif_metadata().ok().flatten().and_then(Remarks::read);
        if want.metadata {
            sink.meta("width", &width.to_string())?;
            sink.meta("height", &height.to_string())?;
            if let Some(remarks) = &remarks {
                remarks.emit(sink)?;
            }
        }
        picture::check_size(width, height, limits)?;
        let orientation = remarks.as_ref().and_then(Remarks::orientation).and_then(Orientation::from_exif);
        if want.needs_drawn_pages() {
            let decoded = decode(decoder)?;
            return Shown::of(decoded)?.turned(orientation).emit(1, want, sink);
        }
        if !picture::wants_pixels(want) {
            return picture::emit_unseen(1, sink);
        }
        let dpi = resolution(&head).or_else(|| remarks.as_ref().and_then(Remarks::dpi));
        // Grey first: turning one byte a pixel is cheaper than turning four.
        let mut decoded = DynamicImage::ImageLuma8(into_luma(decode(decoder)?)?);
        if let Some(orientation) = orientation {
            decoded.apply_orientation(orientation);
        }
        if format == ImageFormat::Jpeg && is_cut_off(input)? {
            let message = "picture ends before its end mark; what is missing of it is grey";
            sink.warn(Problem::new(ErrorKind::Corrupt, message).on_page(1))?;
        }
        picture::emit(1, picture::grey(decoded)?, dpi, sink)
    }
}

/// Whether the end mark of a JPEG file is missing behind its first lines. The decoder takes what there is.
fn is_cut_off(input: &mut Input) -> Result<bool> {
    if input.length() > MAX_MARKED_BYTES {
        return Ok(false);
    }
    let bytes = input.whole(MAX_MARKED_BYTES)?;
    let mut at = 2;
    // Thumbnails have end marks of their own: they stand in segments, which are passed over.
    while let Some(&[0xff, kind, high, low]) = bytes.get(at..at + 4) {
        at += match kind {
            0xda => return Ok(memchr::memmem::find(&bytes[at..], b"\xff\xd9").is_none()),
            0xff => 1,
            _ => 2 + usize::from(u16::from_be_bytes([high, low])),
        };
    }
    Ok(false)
}

fn decode(decoder: impl ImageDecoder) -> Result<DynamicImage> {
    picture::guarded(|| DynamicImage::from_decoder(decoder).map_err(|e| picture::failed(&e)))
}

fn into_luma(decoded: DynamicImage) -> Result<::image::GrayImage> {
    let (width, height) = (decoded.width(), decoded.height());
    let pixels = picture::grey(decoded)?.into_pixels();
    ::image::GrayImage::from_raw(width, height, pixels)
        .ok_or_else(|| docmill_core::Error::bug("a picture changed its size while it became grey"))
}

fn format_of(bytes: &[u8]) -> Option<ImageFormat> {
    const MAGIC: &[(&[u8], ImageFormat)] = &[
        (b"\xff\xd8\xff", ImageFormat::Jpeg),
        (b"\x89PNG\r\n\x1a\n", ImageFormat::Png),
        (b"GIF87a", ImageFormat::Gif),
        (b"GIF89a", ImageFormat::Gif),
    ];
    if let Some((_, format)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(*format);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some(ImageFormat::WebP);
    }
    // Two letters say little: a text may begin with them. The header's own length is one of a few.
    let known = [12_u32, 16, 40, 52, 56, 64, 108, 124];
    let header =
        bytes.get(14..18).and_then(|four| four.first_chunk::<4>()).map(|four| u32::from_le_bytes(*four));
    (bytes.starts_with(b"BM") && header.is_some_and(|length| known.contains(&length)))
        .then_some(ImageFormat::Bmp)
}

/// Pixels to the inch, as JFIF and PNG say it.
fn resolution(head: &[u8]) -> Option<u32> {
    if head.get(6..11) == Some(b"JFIF\0") {
        let across = f64::from(u16::from_be_bytes(*head.get(14..16)?.first_chunk::<2>()?));
        return match head.get(13)? {
            1 => believable(across),
            2 => believable(across * 2.54),
            _ => None,
        };
    }
    let at = head.windows(4).position(|window| window == b"pHYs")?;
    let across = u32::from_be_bytes(*head.get(at + 4..at + 8)?.first_chunk::<4>()?);
    // In pixels to the metre, if it is a length at all.
    if head.get(at + 12) == Some(&1) { believable(f64::from(across) * 0.0254) } else { None }
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;
    use docmill_core::ocr::OcrMode;

    use super::*;
    use crate::tests_support::{fixture, scans, try_read};

    const SEEN: Want = Want { ocr: OcrMode::Auto, ..Want::TEXT };

    #[test]
    fn every_sort_gives_one_page_and_its_pixels() {
        for (name, dpi) in [
            ("mill.png", Some(200)),
            ("mill.jpg", Some(200)),
            ("mill.gif", None),
            ("mill.webp", None),
            ("mill.bmp", None),
            ("clear.png", None),
        ] {
            let (found, result) =
                try_read(name, &fixture(&format!("image/{name}")), SEEN, &Limits::default().for_reader());
            result.unwrap();
            assert_eq!(found.pages().len(), 1, "{name}");
            let scans = scans(&found);
            assert_eq!((scans[0].width, scans[0].height, scans[0].dpi), (560, 200, dpi), "{name}");
            let dark = scans[0].pixels.iter().filter(|p| **p < 100).count();
            assert!((1_000..20_000).contains(&dark), "{name} has {dark} dark pixels");
        }
    }

    #[test]
    fn picture_is_turned_as_its_camera_says_and_its_remarks_are_told() {
        let (found, result) =
            try_read("a.jpg", &fixture("image/sideways.jpg"), SEEN, &Limits::default().for_reader());
        result.unwrap();
        assert_eq!((scans(&found)[0].width, scans(&found)[0].height), (560, 200));
        assert_eq!(found.value("camera_make"), Some("Mill Cameras"));
        assert_eq!(found.value("width"), Some("200"), "as stored");
    }

    #[test]
    fn photograph_that_is_cut_off_is_seen_as_far_as_it_goes_and_said_to_be() {
        let whole = fixture("image/mill.jpg");
        for (length, warnings) in [(whole.len(), 0), (whole.len() * 2 / 3, 1)] {
            let (found, result) = try_read("a.jpg", &whole[..length], SEEN, &Limits::default().for_reader());
            result.unwrap();
            assert_eq!((scans(&found).len(), found.warnings().len()), (1, warnings));
        }
    }

    #[test]
    fn pixels_are_kept_back_where_nobody_recognises() {
        let (found, result) =
            try_read("a.png", &fixture("image/mill.png"), Want::TEXT, &Limits::default().for_reader());
        result.unwrap();
        assert_eq!((found.pages().len(), scans(&found).len()), (1, 0));
    }

    #[test]
    fn picture_beyond_the_limit_is_refused_before_it_is_decoded() {
        let (found, result) =
            try_read("a.png", &fixture("image/huge.png"), SEEN, &Limits::default().for_reader());
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(scans(&found).is_empty());
    }

    #[test]
    fn damaged_picture_is_corrupt() {
        let (_, result) =
            try_read("a.png", &fixture("image/damaged.png"), SEEN, &Limits::default().for_reader());
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
