//! AVIF: pictures in AV1, which lie in the same box as HEIC. Of a moving picture the one that stands for it is read.

use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};
use image::{GrayImage, imageops};
use re_rav1d::pixel::YUVRange;
use re_rav1d::{Decoder, PlanarImageComponent, Settings};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::boxes::{Container, Turn};
use crate::shared::exif::Remarks;
use crate::shared::grey::Grey;
use crate::shared::picture;
use crate::sink::Sink;
use crate::sniff::Head;

const AVIF: &str = "image/avif";

/// Compressed bytes that are taken into memory.
const MAX_BYTES: u64 = 256 << 20;

pub(super) struct Avif;

impl Format for Avif {
    fn name(&self) -> &'static str {
        "avif"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[AVIF]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        super::heif::has_brand(head.bytes, &[b"avif", b"avis"]).then(|| Claim::certain(AVIF))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let bytes = input.whole(MAX_BYTES)?;
        let container = Container::read(&bytes)?;
        let item = container.primary();
        let declared = match container.grid(item)? {
            Some((grid, _)) => Some((grid.width, grid.height)),
            None => container.size(item),
        };
        let (width, height) =
            declared.ok_or_else(|| Error::corrupt("the picture does not say how large it is"))?;
        sink.put(Found::PageCount(1))?;
        if want.metadata {
            sink.meta("width", &width.to_string())?;
            sink.meta("height", &height.to_string())?;
            if let Some(remarks) = container.exif().and_then(Remarks::read) {
                remarks.emit(sink)?;
            }
        }
        picture::check_size(width, height, limits)?;
        if !picture::wants_pixels(want) {
            return picture::emit_unseen(1, sink);
        }
        let mut seen = picture::guarded(|| decode(&container, item, limits))?;
        if let Some(cover) = container.transparency(item) {
            let cover = picture::guarded(|| decode(&container, cover, limits))?;
            seen = on_white(seen, &cover)?;
        }
        // The remarks of a camera say it too, but the box is what counts.
        for turn in container.turns(item) {
            seen = turned(seen, turn)?;
        }
        picture::emit(1, seen, None, sink)
    }
}

/// The lightness of an item, with its tiles put together.
fn decode(container: &Container<'_>, item: u32, limits: &ReadLimits) -> Result<Grey> {
    let Some((grid, tiles)) = container.grid(item)? else {
        return decode_one(container, item, limits);
    };
    picture::check_size(grid.width, grid.height, limits)?;
    let mut whole = GrayImage::new(grid.width, grid.height);
    for (number, tile) in (0_u32..).zip(tiles) {
        let tile = decode_one(container, tile, limits)?;
        // All tiles are as large as the first; those at the edges are cut.
        let (left, top) = (number % grid.columns * tile.width(), number / grid.columns * tile.height());
        imageops::replace(&mut whole, &into_image(tile)?, i64::from(left), i64::from(top));
    }
    Grey::new(grid.width, grid.height, whole.into_raw())
}

fn decode_one(container: &Container<'_>, item: u32, limits: &ReadLimits) -> Result<Grey> {
    if container.kind(item) != Some(*b"av01") {
        return Err(Error::unsupported_format("the picture is made of something else than AV1"));
    }
    let failed = |e: re_rav1d::Error| Error::corrupt(format!("picture cannot be decoded: {e}"));
    let mut settings = Settings::new();
    // One thread, and no picture before its turn: a child works on one thing at a time.
    settings.set_n_threads(1);
    settings.set_max_frame_delay(1);
    settings.set_frame_size_limit(u32::try_from(limits.max_image_pixels).unwrap_or(u32::MAX));
    let mut decoder = Decoder::with_settings(&settings).map_err(failed)?;
    match decoder.send_data(container.bytes(item)?.into_owned(), None, None, None) {
        Ok(()) | Err(re_rav1d::Error::Again) => {}
        Err(error) => return Err(failed(error)),
    }
    let seen = decoder.get_picture().map_err(failed)?;
    let (width, height) = (seen.width(), seen.height());
    picture::check_size(width, height, limits)?;
    let plane = seen.plane(PlanarImageComponent::Y);
    let rows = plane.chunks_exact((seen.stride(PlanarImageComponent::Y) as usize).max(1));
    let deep = seen.bit_depth() > 8;
    let shift = seen.bit_depth().saturating_sub(8);
    let mut pixels = Vec::with_capacity(width as usize * height as usize);
    for row in rows.take(height as usize) {
        if deep {
            let values = row.as_chunks::<2>().0.iter().take(width as usize);
            pixels.extend(values.map(|two| (u16::from_ne_bytes(*two) >> shift).min(255) as u8));
        } else {
            pixels.extend(row.iter().take(width as usize));
        }
    }
    if seen.color_range() == YUVRange::Limited {
        // Black is 16 and white is 235.
        for pixel in &mut pixels {
            *pixel = ((i32::from(*pixel) - 16) * 255 / 219).clamp(0, 255) as u8;
        }
    }
    Grey::new(width, height, pixels)
}

/// As on white paper, where it can be seen through.
fn on_white(seen: Grey, cover: &Grey) -> Result<Grey> {
    let (width, height) = (seen.width(), seen.height());
    let cover = cover.resized(width, height)?;
    let mut pixels = seen.into_pixels();
    for (light, cover) in pixels.iter_mut().zip(cover.pixels()) {
        let (over, cover) = (u32::from(*light), u32::from(*cover));
        *light = ((over * cover + 255 * (255 - cover)) / 255) as u8;
    }
    Grey::new(width, height, pixels)
}

fn turned(seen: Grey, turn: Turn) -> Result<Grey> {
    let (width, height) = (seen.width(), seen.height());
    let mirrored = match turn {
        Turn::Clockwise(degrees) => return Ok(seen.turned(degrees)),
        Turn::UpsideDown => imageops::flip_vertical(&into_image(seen)?),
        Turn::SideToSide => imageops::flip_horizontal(&into_image(seen)?),
    };
    Grey::new(width, height, mirrored.into_raw())
}

fn into_image(seen: Grey) -> Result<GrayImage> {
    GrayImage::from_raw(seen.width(), seen.height(), seen.into_pixels())
        .ok_or_else(|| Error::bug("a picture changed its size on its way"))
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
    fn picture_is_seen_upright_on_white_and_its_remarks_are_told() {
        let limits = Limits::default().for_reader();
        let png = try_read("a.png", &fixture("image/mill.png"), SEEN, &limits).0;
        for name in ["mill.avif", "sideways.avif", "clear.avif"] {
            let (found, result) = try_read(name, &fixture(&format!("avif/{name}")), SEEN, &limits);
            result.unwrap();
            let (seen, wanted) = (scans(&found)[0], scans(&png)[0]);
            assert_eq!((seen.width, seen.height), (560, 200), "{name}");
            let apart =
                seen.pixels.iter().zip(wanted.pixels.iter()).filter(|(a, b)| a.abs_diff(**b) > 128).count();
            assert!(apart * 100 < seen.pixels.len(), "{name}: {apart} pixels differ");
        }
        let (found, _) = try_read("a.avif", &fixture("avif/sideways.avif"), SEEN, &limits);
        assert_eq!(found.value("camera_make"), Some("Mill Cameras"));
        assert_eq!(found.value("width"), Some("200"), "as stored");
    }

    #[test]
    fn damaged_picture_is_corrupt_and_one_beyond_the_limit_is_refused() {
        let limits = Limits::default().for_reader();
        let (_, result) = try_read("a.avif", &fixture("avif/damaged.avif"), SEEN, &limits);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
        let small = ReadLimits { max_image_pixels: 1_000, ..limits };
        let (_, result) = try_read("a.avif", &fixture("avif/mill.avif"), SEEN, &small);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
}
