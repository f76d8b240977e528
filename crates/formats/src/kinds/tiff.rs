//! TIFF: scans and faxes, with any number of pages. A page that cannot be decoded is named, and the others are read.

use std::io::{BufReader, Read, Seek, SeekFrom};

use ::tiff::decoder::{Decoder, DecodingResult, Limits as DecoderLimits, ifd::Value};
use ::tiff::tags::Tag;
use ::tiff::{ColorType, TiffError};
use docmill_core::error::{ErrorKind, ErrorNote};
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};
use file_format::FileFormat;
use hayro_ccitt::{DecodeSettings, DecoderContext, EncodingMode};
use image::metadata::Orientation;

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::exif::believable;
use crate::shared::grey::Grey;
use crate::shared::picture;
use crate::shared::showing::Shown;
use crate::sink::Sink;
use crate::sniff::Head;

const MEDIA_TYPE: &str = "image/tiff";

/// What the decoder may take for one page.
const MAX_DECODER_BYTES: usize = 600 << 20;

/// Texts that a scanner or a person writes into the file, with the names they are told under.
const TOLD: &[(Tag, &str)] = &[
    (Tag::ImageDescription, "description"),
    (Tag::Artist, "author"),
    (Tag::Copyright, "copyright"),
    (Tag::Software, "software"),
    (Tag::Make, "camera_make"),
    (Tag::Model, "camera_model"),
    (Tag::DateTime, "created"),
    // The document's name.
    (Tag::Unknown(269), "title"),
];

pub(super) struct Tiff;

impl Format for Tiff {
    fn name(&self) -> &'static str {
        "tiff"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn draws(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        const MAGIC: &[&[u8]] = &[b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"];
        let looks = MAGIC.iter().any(|magic| head.bytes.starts_with(magic));
        // Raw pictures of cameras have the same form and other content.
        (looks && FileFormat::from_bytes(head.bytes).media_type() == MEDIA_TYPE)
            .then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let mut allowed = DecoderLimits::default();
        allowed.decoding_buffer_size = MAX_DECODER_BYTES;
        allowed.intermediate_buffer_size = MAX_DECODER_BYTES;
        let decoder = Decoder::new(BufReader::new(&mut *input)).map_err(|e| failed(&e))?;
        let mut decoder = decoder.with_limits(allowed);
        if want.metadata {
            for (tag, name) in TOLD {
                if let Ok(Some(Value::Ascii(text))) = decoder.find_tag(*tag) {
                    sink.meta(name, &text)?;
                }
            }
        }
        let (first, last) = want.pages.unwrap_or((1, u32::MAX));
        let mut number = 1;
        loop {
            if number >= first && number <= last {
                page(&mut decoder, number, want, limits, sink)?;
            }
            // One more than allowed is handed on, so that the sink can say that it was too many.
            if number >= last || number > limits.max_pages || !decoder.more_images() {
                break;
            }
            if let Err(error) = decoder.next_image() {
                let note = ErrorNote::from(&failed(&error));
                sink.warn(Problem::from(&note).on_page(number + 1))?;
                break;
            }
            number += 1;
        }
        sink.put(Found::PageCount(number))
    }
}

type Source<'a> = Decoder<BufReader<&'a mut Input>>;

fn page(
    decoder: &mut Source<'_>,
    number: u32,
    want: Want,
    limits: &ReadLimits,
    sink: &mut dyn Sink,
) -> Result<()> {
    if !picture::wants_pixels(want) && !want.needs_drawn_pages() {
        return picture::emit_unseen(number, sink);
    }
    match picture::guarded(|| decode(decoder, limits)) {
        Ok(decoded) if want.needs_drawn_pages() => decoded.shown()?.emit(number, want, sink),
        Ok(decoded) => {
            if decoded.damaged {
                let message = format!("rows of page {number} are damaged or missing, and left white");
                sink.warn(Problem::new(ErrorKind::Corrupt, message).on_page(number))?;
            }
            let dpi = decoded.dpi;
            picture::emit(number, decoded.grey()?, dpi, sink)
        }
        Err(error) => {
            sink.warn(Problem::from(&ErrorNote::from(&error)).on_page(number))?;
            picture::emit_unseen(number, sink)
        }
    }
}

/// A page as it lies in the file.
struct Decoded {
    width: u32,
    height: u32,
    sort: ColorType,
    samples: Vec<u8>,
    palette: Vec<u16>,
    orientation: Option<Orientation>,
    dpi: Option<u32>,
    /// Rows of it could not be had and are white.
    damaged: bool,
}

/// How a page was packed by a fax of Group 3, which the decoder of TIFF does not know.
struct Fax {
    is_huffman: bool,
    is_two_dimensional: bool,
    low_bits_first: bool,
    black_is_white: bool,
    rows_per_strip: u32,
}

impl Fax {
    fn of(decoder: &mut Source<'_>) -> Option<Self> {
        const HUFFMAN: u32 = 2;
        const GROUP_3: u32 = 3;
        const OPTIONS: Tag = Tag::Unknown(292);
        let mut number = |tag| decoder.find_tag_unsigned::<u32>(tag).ok().flatten();
        let packed = number(Tag::Compression).filter(|packed| matches!(*packed, HUFFMAN | GROUP_3))?;
        Some(Self {
            is_huffman: packed == HUFFMAN,
            is_two_dimensional: packed == GROUP_3 && number(OPTIONS).is_some_and(|options| options & 1 == 1),
            low_bits_first: number(Tag::FillOrder) == Some(2),
            black_is_white: number(Tag::PhotometricInterpretation) == Some(1),
            rows_per_strip: number(Tag::RowsPerStrip).unwrap_or(u32::MAX).max(1),
        })
    }

    /// A byte for each pixel, and whether rows are missing.
    fn read(&self, decoder: &mut Source<'_>, width: u32, height: u32) -> Result<(Vec<u8>, bool)> {
        let offsets = decoder.get_tag_u64_vec(Tag::StripOffsets).map_err(|e| failed(&e))?;
        let lengths = decoder.get_tag_u64_vec(Tag::StripByteCounts).map_err(|e| failed(&e))?;
        let (white, black) = if self.black_is_white { (0, 255) } else { (255, 0) };
        let mut rows = Rows { pixels: Vec::new(), width: width as usize, white, black };
        let (mut left, mut damaged) = (height, false);
        for (offset, length) in offsets.into_iter().zip(lengths) {
            let count = self.rows_per_strip.min(left);
            if count == 0 {
                break;
            }
            left -= count;
            let data = self.strip(decoder, offset, length)?;
            let end = rows.pixels.len() + count as usize * rows.width;
            let mut context = DecoderContext::new(DecodeSettings {
                columns: width,
                rows: count,
                end_of_block: true,
                // Whether there are any shows in the data.
                end_of_line: false,
                rows_are_byte_aligned: self.is_huffman,
                encoding: if self.is_two_dimensional {
                    EncodingMode::Group3_2D
                } else {
                    EncodingMode::Group3_1D
                },
                strict: false,
            });
            // The rows before the damage are good.
            damaged |=
                hayro_ccitt::decode(&data, &mut rows, &mut context).is_err() || rows.pixels.len() < end;
            rows.pixels.resize(end, white);
        }
        damaged |= left > 0;
        rows.pixels.resize(width as usize * height as usize, white);
        Ok((rows.pixels, damaged))
    }

    fn strip(&self, decoder: &mut Source<'_>, offset: u64, length: u64) -> Result<Vec<u8>> {
        let input = decoder.inner();
        let mut data = Vec::new();
        input
            .seek(SeekFrom::Start(offset))
            .and_then(|_| input.take(length).read_to_end(&mut data))
            .map_err(|e| Error::unreadable("cannot read a strip of the picture").with_source(e))?;
        if self.low_bits_first {
            for byte in &mut data {
                *byte = byte.reverse_bits();
            }
        }
        Ok(data)
    }
}

/// Rows of a fax as they come.
struct Rows {
    pixels: Vec<u8>,
    width: usize,
    white: u8,
    black: u8,
}

impl hayro_ccitt::Decoder for Rows {
    fn push_row(&mut self, changes: &[u32]) {
        let begin = self.pixels.len();
        let (mut colour, mut next) = (self.white, self.black);
        for &change in changes {
            self.pixels.resize(begin + (change as usize).min(self.width), colour);
            std::mem::swap(&mut colour, &mut next);
        }
        self.pixels.resize(begin + self.width, colour);
    }
}

fn decode(decoder: &mut Source<'_>, limits: &ReadLimits) -> Result<Decoded> {
    let (width, height) = decoder.dimensions().map_err(|e| failed(&e))?;
    picture::check_size(width, height, limits)?;
    let sort = decoder.colortype().map_err(|e| failed(&e))?;
    let palette = match sort {
        ColorType::Palette(_) => decoder.get_tag_u16_vec(Tag::ColorMap).map_err(|e| failed(&e))?,
        _ => Vec::new(),
    };
    let orientation = decoder.find_tag_unsigned::<u8>(Tag::Orientation).ok().flatten();
    let dpi = resolution(decoder);
    let orientation = orientation.and_then(Orientation::from_exif);
    if let Some(fax) = Fax::of(decoder) {
        let (samples, damaged) = fax.read(decoder, width, height)?;
        let sort = ColorType::Gray(8);
        return Ok(Decoded { width, height, sort, samples, palette, orientation, dpi, damaged });
    }
    let decoded = decoder.read_image().map_err(|e| failed(&e))?;
    let samples = bytes(decoded, sort, width as usize)?;
    Ok(Decoded { width, height, sort, samples, palette, orientation, dpi, damaged: false })
}

impl Decoded {
    /// For recognition, upright.
    fn grey(self) -> Result<Grey> {
        let (width, height) = (self.width, self.height);
        let picture = Grey::new(width, height, self.each(|[r, g, b]| [picture::luma(r, g, b)], |s| [s])?)?;
        match self.orientation {
            None | Some(Orientation::NoTransforms) => Ok(picture),
            Some(orientation) => {
                let luma = image::GrayImage::from_raw(width, height, picture.into_pixels())
                    .ok_or_else(|| Error::bug("a picture changed its size while it became grey"))?;
                let mut turned = image::DynamicImage::ImageLuma8(luma);
                turned.apply_orientation(orientation);
                picture::grey(turned)
            }
        }
    }

    /// For people.
    fn shown(self) -> Result<Shown> {
        let colours = self.each(|colours| colours, |level| [level; 3])?;
        Ok(Shown::new(self.width, self.height, colours)?.turned(self.orientation))
    }

    /// Every pixel, from its colours or from its level of grey where it has no others.
    fn each<const N: usize>(
        &self,
        colour: impl Fn([u8; 3]) -> [u8; N],
        level: impl Fn(u8) -> [u8; N],
    ) -> Result<Vec<u8>> {
        let pixels = self.width as usize * self.height as usize;
        let each = |channels: usize, of: &dyn Fn(&[u8]) -> [u8; N]| -> Vec<u8> {
            self.samples.chunks_exact(channels).take(pixels).flat_map(of).collect()
        };
        let on_white = |light: u8, cover: u8| {
            ((u32::from(light) * u32::from(cover) + 255 * (255 - u32::from(cover))) / 255) as u8
        };
        let out = match self.sort {
            ColorType::Gray(_) => each(1, &|s| level(s[0])),
            ColorType::GrayA(_) => each(2, &|s| level(on_white(s[0], s[1]))),
            ColorType::RGB(_) => each(3, &|s| colour([s[0], s[1], s[2]])),
            ColorType::RGBA(_) => {
                each(4, &|s| colour([on_white(s[0], s[3]), on_white(s[1], s[3]), on_white(s[2], s[3])]))
            }
            ColorType::YCbCr(_) => each(3, &|s| colour(from_ycbcr(s[0], s[1], s[2]))),
            // The first of the three is lightness, which is enough to see what is meant.
            ColorType::Lab(_) => each(3, &|s| level(s[0])),
            ColorType::CMYK(_) => each(4, &|s| {
                let paper = |ink: u8| ((255 - u32::from(ink)) * (255 - u32::from(s[3])) / 255) as u8;
                colour([paper(s[0]), paper(s[1]), paper(s[2])])
            }),
            ColorType::Palette(_) => {
                let third = self.palette.len() / 3;
                let part = |index: u8, part: usize| {
                    self.palette
                        .get(part * third + usize::from(index))
                        .map_or(255, |value| (value >> 8) as u8)
                };
                each(1, &|s| colour([part(s[0], 0), part(s[0], 1), part(s[0], 2)]))
            }
            ColorType::Multiband { num_samples, .. } => {
                each(usize::from(num_samples.max(1)), &|s| level(s[0]))
            }
            ColorType::CMYKA(_) => {
                return Err(Error::unsupported_format("picture has colours of a sort that is not read"));
            }
            other => {
                return Err(Error::unsupported_format(format!(
                    "picture has colours that are not read: {other:?}"
                )));
            }
        };
        if out.len() < N * pixels {
            return Err(Error::corrupt(format!("picture has {} of {pixels} pixels", out.len() / N)));
        }
        Ok(out)
    }
}

/// ITU-R BT.601, as cameras and scanners use it.
fn from_ycbcr(light: u8, blue: u8, red: u8) -> [u8; 3] {
    let (y, cb, cr) = (f32::from(light), f32::from(blue) - 128.0, f32::from(red) - 128.0);
    [y + 1.402 * cr, y - 0.344_136 * cb - 0.714_136 * cr, y + 1.772 * cb].map(|v| v.clamp(0.0, 255.0) as u8)
}

fn resolution(decoder: &mut Source<'_>) -> Option<u32> {
    let across = match decoder.find_tag(Tag::XResolution).ok()?? {
        Value::Rational(over, under) => f64::from(over) / f64::from(under),
        Value::Float(value) => f64::from(value),
        _ => return None,
    };
    let unit = decoder.find_tag_unsigned::<u16>(Tag::ResolutionUnit).ok().flatten();
    believable(if unit == Some(3) { across * 2.54 } else { across })
}

/// One byte a sample, whatever the samples are.
fn bytes(decoded: DecodingResult, sort: ColorType, width: usize) -> Result<Vec<u8>> {
    Ok(match (decoded, sort) {
        (DecodingResult::U8(packed), ColorType::Gray(bits @ 1..=7) | ColorType::Palette(bits @ 1..=7)) => {
            unpacked(&packed, bits, width, matches!(sort, ColorType::Gray(_)))
        }
        (DecodingResult::U8(bytes), _) => bytes,
        (DecodingResult::U16(words), _) => words.iter().map(|word| (word >> 8) as u8).collect(),
        (DecodingResult::U32(words), _) => words.iter().map(|word| (word >> 24) as u8).collect(),
        (DecodingResult::F32(values), _) => {
            values.iter().map(|v| (v * 255.0).clamp(0.0, 255.0) as u8).collect()
        }
        _ => return Err(Error::unsupported_format("picture has samples of a sort that is not read")),
    })
}

/// Samples of less than a byte, each in a byte of its own; spread over all levels if they are levels.
fn unpacked(packed: &[u8], bits: u8, width: usize, levels: bool) -> Vec<u8> {
    let per_row = (width * usize::from(bits)).div_ceil(8);
    let most = (1_u16 << bits) - 1;
    let mut out = Vec::with_capacity(packed.len() * 8 / usize::from(bits));
    for row in packed.chunks_exact(per_row.max(1)) {
        for x in 0..width {
            let at = x * usize::from(bits);
            // Samples of three, five, six or seven bits may lie in two bytes.
            let two = u16::from(row[at / 8]) << 8 | u16::from(row.get(at / 8 + 1).copied().unwrap_or(0));
            let value = (two >> (16 - at % 8 - usize::from(bits))) & most;
            out.push(if levels { (value * 255 / most) as u8 } else { value as u8 });
        }
    }
    out
}

fn failed(error: &TiffError) -> Error {
    match error {
        TiffError::LimitsExceeded => Error::limit_exceeded("picture needs more memory than is allowed")
            .with_hint("raise `limits.max_image_pixels` or `sandbox.memory`"),
        TiffError::UnsupportedError(_) => {
            Error::unsupported_format(format!("picture is of a sort that is not read: {error}"))
        }
        _ => Error::corrupt(format!("picture cannot be decoded: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;
    use docmill_core::ocr::OcrMode;

    use super::*;
    use crate::tests_support::{fixture, scans, try_read};

    const SEEN: Want = Want { ocr: OcrMode::Auto, ..Want::TEXT };

    #[test]
    fn every_page_of_a_fax_is_seen_with_its_resolution() {
        let (found, result) =
            try_read("a.tif", &fixture("tiff/two-pages.tif"), SEEN, &Limits::default().for_reader());
        result.unwrap();
        assert_eq!(found.pages().len(), 2);
        let scans = scans(&found);
        assert_eq!(
            scans.iter().map(|s| (s.number, s.dpi)).collect::<Vec<_>>(),
            [(1, Some(200)), (2, Some(200))]
        );
        for scan in scans {
            let dark: usize = scan.pixels.iter().map(|p| usize::from(*p == 0)).sum();
            assert!((1_000..20_000).contains(&dark), "page {} has {dark} dark pixels", scan.number);
        }
    }

    #[test]
    fn faxes_of_group_3_are_seen_like_others() {
        let limits = Limits::default().for_reader();
        let png = try_read("a.png", &fixture("image/mill.png"), SEEN, &limits).0;
        for name in ["tiff/group3.tif", "tiff/huffman.tif"] {
            let bytes = fixture(name);
            let (found, result) = try_read("a.tif", &bytes, SEEN, &limits);
            result.unwrap();
            assert!(found.warnings().is_empty(), "{name}: {:?}", found.warnings());
            assert_eq!(scans(&found)[0].pixels, scans(&png)[0].pixels, "{name}");
        }
    }

    #[test]
    fn colours_become_grey() {
        let (found, result) =
            try_read("a.tif", &fixture("tiff/colour.tif"), SEEN, &Limits::default().for_reader());
        result.unwrap();
        assert_eq!(scans(&found)[0].pixels.iter().filter(|p| **p > 250).count() * 10 / (560 * 200), 9);
    }

    #[test]
    fn damaged_file_ends_with_a_reason() {
        let (found, result) =
            try_read("a.tif", &fixture("tiff/damaged.tif"), SEEN, &Limits::default().for_reader());
        assert!(result.is_err() || !found.warnings().is_empty());
    }

    #[test]
    fn samples_of_few_bits_are_spread_over_all_levels() {
        assert_eq!(unpacked(&[0b1010_0000], 1, 3, true), [255, 0, 255]);
        assert_eq!(unpacked(&[0x0f, 0xa0], 4, 3, true), [0, 255, 170]);
        assert_eq!(unpacked(&[0b0110_0000], 2, 2, false), [1, 2]);
    }
}
