//! JPEG 2000, as a file of its own (`.jp2`) or as a bare stream (`.j2k`).

use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};
use hayro_jpeg2000::{ColorSpace, DecodeSettings, DecoderContext, Image};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::grey::Grey;
use crate::shared::picture;
use crate::shared::showing::Shown;
use crate::sink::Sink;
use crate::sniff::Head;

const FILE: &str = "image/jp2";
const STREAM: &str = "image/x-jp2-codestream";

/// Compressed bytes that are taken into memory.
const MAX_BYTES: u64 = 256 << 20;

pub(super) struct Jpeg2000;

impl Format for Jpeg2000 {
    fn name(&self) -> &'static str {
        "jpeg2000"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[FILE, STREAM]
    }

    fn draws(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        if head.bytes.starts_with(b"\0\0\0\x0cjP  \r\n\x87\n") {
            Some(Claim::certain(FILE))
        } else if head.bytes.starts_with(b"\xff\x4f\xff\x51") {
            Some(Claim::certain(STREAM))
        } else {
            None
        }
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let bytes = input.whole(MAX_BYTES)?;
        let failed = |e: &dyn std::fmt::Debug| Error::corrupt(format!("picture cannot be decoded: {e:?}"));
        let image =
            picture::guarded(|| Image::new(&bytes, &DecodeSettings::default()).map_err(|e| failed(&e)))?;
        let (width, height) = (image.width(), image.height());
        sink.put(Found::PageCount(1))?;
        if want.metadata {
            sink.meta("width", &width.to_string())?;
            sink.meta("height", &height.to_string())?;
        }
        picture::check_size(width, height, limits)?;
        if !picture::wants_pixels(want) && !want.needs_drawn_pages() {
            return picture::emit_unseen(1, sink);
        }
        let (samples, channels) = picture::guarded(|| {
            let mut context = DecoderContext::default();
            let decoded = image.decode(&mut context).map_err(|e| failed(&e))?;
            let channels = decoded.components().len();
            if channels == 0 {
                return Err(Error::corrupt("picture has no channels"));
            }
            Ok((decoded.data_u8(), channels))
        })?;
        let of: &dyn Fn(&[u8]) -> [u8; 3] = match (image.color_space(), channels) {
            (ColorSpace::CMYK, 4..) => &|s| {
                let paper = |ink: u8| ((255 - u32::from(ink)) * (255 - u32::from(s[3])) / 255) as u8;
                [paper(s[0]), paper(s[1]), paper(s[2])]
            },
            (_, 3..) => &|s| [s[0], s[1], s[2]],
            _ => &|s| [s[0]; 3],
        };
        let colours = samples.chunks_exact(channels).map(of);
        if want.needs_drawn_pages() {
            return Shown::new(width, height, colours.flatten().collect())?.emit(1, want, sink);
        }
        let pixels = colours.map(|[red, green, blue]| picture::luma(red, green, blue)).collect();
        picture::emit(1, Grey::new(width, height, pixels)?, None, sink)
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;
    use docmill_core::limits::Limits;
    use docmill_core::ocr::OcrMode;

    use super::*;
    use crate::tests_support::{fixture, scans, try_read};

    const SEEN: Want = Want { ocr: OcrMode::Auto, ..Want::TEXT };

    #[test]
    fn picture_is_seen() {
        let (found, result) =
            try_read("a.jp2", &fixture("jpeg2000/mill.jp2"), SEEN, &Limits::default().for_reader());
        result.unwrap();
        let scans = scans(&found);
        assert_eq!((scans[0].width, scans[0].height), (560, 200));
        let dark = scans[0].pixels.iter().filter(|p| **p < 100).count();
        assert!((1_000..20_000).contains(&dark), "{dark} dark pixels");
    }

    #[test]
    fn damaged_picture_is_corrupt() {
        let (_, result) =
            try_read("a.jp2", &fixture("jpeg2000/damaged.jp2"), SEEN, &Limits::default().for_reader());
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
