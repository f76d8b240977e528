//! Pages for people: colours, made smaller, turned upright, as PNG.

use docmill_core::picture::{Picture, PictureSize};
use docmill_core::wire::Want;
use docmill_core::words::PageWords;
use docmill_core::{Error, Result};
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::metadata::Orientation;
use image::{DynamicImage, RgbImage};

use crate::sink::Sink;

/// A picture in colours, without what was transparent.
pub(crate) struct Shown {
    colours: RgbImage,
    orientation: Orientation,
}

impl Shown {
    /// Takes colours that fit their size: three bytes a pixel, red first.
    pub(crate) fn new(width: u32, height: u32, colours: Vec<u8>) -> Result<Self> {
        let colours = RgbImage::from_raw(width, height, colours)
            .ok_or_else(|| Error::bug(format!("colours do not fit a picture of {width} × {height}")))?;
        if width == 0 || height == 0 {
            return Err(Error::corrupt(format!("picture of {width} × {height} pixels has none")));
        }
        Ok(Self { colours, orientation: Orientation::NoTransforms })
    }

    /// Takes a decoded picture; transparent pixels lie on white paper.
    pub(crate) fn of(image: DynamicImage) -> Result<Self> {
        let (width, height) = (image.width(), image.height());
        let colours = if image.color().has_alpha() {
            let on_white = |light: u8, cover: u8| {
                ((u32::from(light) * u32::from(cover) + 255 * (255 - u32::from(cover))) / 255) as u8
            };
            image
                .into_rgba8()
                .pixels()
                .flat_map(|p| [on_white(p[0], p[3]), on_white(p[1], p[3]), on_white(p[2], p[3])])
                .collect()
        } else {
            image.into_rgb8().into_raw()
        };
        Self::new(width, height, colours)
    }

    /// The same, to be turned or mirrored before it is shown.
    pub(crate) fn turned(self, orientation: Option<Orientation>) -> Self {
        Self { orientation: orientation.unwrap_or(Orientation::NoTransforms), ..self }
    }

    /// Its size when it stands upright.
    fn upright(&self) -> (u32, u32) {
        let (width, height) = self.colours.dimensions();
        match self.orientation {
            Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH => (height, width),
            _ => (width, height),
        }
    }

    /// Gives what is wanted of it: a picture for people, and that it has no words of its own.
    pub(crate) fn emit(self, number: u32, want: Want, sink: &mut dyn Sink) -> Result<()> {
        if want.words {
            let (width, height) = self.upright();
            sink.words(PageWords::none(number, width as f32, height as f32))?;
        }
        match want.pictures {
            Some(size) => sink.picture(self.picture(number, size)?),
            None => Ok(()),
        }
    }

    /// As PNG of the size that is wanted; never larger than it is.
    fn picture(self, number: u32, size: PictureSize) -> Result<Picture> {
        let (across, down) = self.upright();
        let scale = size.scale(f64::from(across), f64::from(down));
        // Made smaller before it is turned: there is less to turn.
        let smaller = if scale < 1.0 { resized(&self.colours, scale)? } else { self.colours };
        let mut upright = DynamicImage::ImageRgb8(smaller);
        upright.apply_orientation(self.orientation);
        let upright = upright.into_rgb8();
        png(number, upright.dimensions(), upright.into_raw())
    }
}

fn resized(colours: &RgbImage, scale: f64) -> Result<RgbImage> {
    let failed = |e: &dyn std::fmt::Display| Error::bug(format!("cannot resize a picture: {e}"));
    let (width, height) = colours.dimensions();
    let smaller = |side: u32| ((f64::from(side) * scale).round() as u32).max(1);
    let from = ImageRef::new(width, height, colours.as_raw(), PixelType::U8x3).map_err(|e| failed(&e))?;
    let mut to = Image::new(smaller(width), smaller(height), PixelType::U8x3);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
    Resizer::new().resize(&from, &mut to, &options).map_err(|e| failed(&e))?;
    RgbImage::from_raw(to.width(), to.height(), to.into_vec()).ok_or_else(|| failed(&"its size changed"))
}

/// Writes a picture down. One without colours has one byte a pixel, which is a third of what travels.
pub(crate) fn png(number: u32, (width, height): (u32, u32), colours: Vec<u8>) -> Result<Picture> {
    let grey = colours.chunks_exact(3).all(|dot| dot[0] == dot[1] && dot[1] == dot[2]);
    let (kind, pixels) = if grey {
        (png::ColorType::Grayscale, colours.chunks_exact(3).map(|dot| dot[0]).collect())
    } else {
        (png::ColorType::Rgb, colours)
    };
    let broken = |e| Error::bug(format!("picture of page {number} could not be written")).with_source(e);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(kind);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(broken)?;
    writer.write_image_data(&pixels).map_err(broken)?;
    writer.finish().map_err(broken)?;
    let picture = Picture { number, width, height, png: file.into() };
    picture.check()?;
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;
    use docmill_core::limits::Limits;
    use docmill_core::wire::Found;

    use super::*;
    use crate::tests_support::{fixture, try_read};

    fn shown(name: &str, page: u32, width: u32) -> (Picture, PageWords) {
        let want = Want {
            pictures: Some(PictureSize { width }),
            words: true,
            pages: Some((page, page)),
            ..Want::KIND
        };
        let (found, result) = try_read(name, &fixture(name), want, &Limits::default().for_reader());
        result.unwrap();
        let (mut picture, mut words) = (None, None);
        for found in found.0 {
            match found {
                Found::Picture(found) => picture = Some(found),
                Found::Words(found) => words = Some(found),
                _ => {}
            }
        }
        (picture.unwrap(), words.unwrap())
    }

    fn dots(picture: &Picture) -> image::GrayImage {
        image::load_from_memory_with_format(&picture.png, image::ImageFormat::Png).unwrap().into_luma8()
    }

    #[test]
    fn every_sort_of_picture_is_drawn_smaller_and_never_larger() {
        for name in [
            "image/mill.png",
            "image/mill.jpg",
            "image/mill.gif",
            "image/mill.webp",
            "image/mill.bmp",
            "image/clear.png",
            "image/sideways.jpg",
            "heif/mill.heic",
            "jpeg2000/mill.jp2",
            "tiff/colour.tif",
            "tiff/two-pages.tif",
        ] {
            let (small, words) = shown(name, 1, 280);
            assert_eq!((small.number, small.width, small.height), (1, 280, 100), "{name}");
            assert_eq!((words.width, words.height), (560.0, 200.0), "{name}");
            let (whole, _) = shown(name, 1, 4000);
            assert_eq!((whole.width, whole.height), (560, 200), "{name}");
            let dark = dots(&whole).pixels().filter(|p| p.0[0] < 100).count();
            assert!((1_000..20_000).contains(&dark), "{name} has {dark} dark pixels");
        }
    }

    #[test]
    fn every_page_of_a_fax_is_drawn() {
        let (first, second) = (shown("tiff/two-pages.tif", 1, 560).0, shown("tiff/two-pages.tif", 2, 560).0);
        assert_eq!((first.number, second.number), (1, 2));
        assert_ne!(first.png, second.png);
    }

    #[test]
    fn colours_stay_colours_and_grey_takes_a_third() {
        let red = png(1, (64, 64), [200, 0, 0].repeat(64 * 64)).unwrap();
        let grey = png(1, (64, 64), [200, 200, 200].repeat(64 * 64)).unwrap();
        let kind = |picture: &Picture| picture.png[25];
        assert_eq!((kind(&red), kind(&grey)), (2, 0));
        let seen = image::load_from_memory(&red.png).unwrap().into_rgb8();
        assert_eq!(seen.get_pixel(5, 5).0, [200, 0, 0]);
    }

    #[test]
    fn what_has_no_pages_to_draw_is_named() {
        let want = Want { pictures: Some(PictureSize::SCREEN), ..Want::KIND };
        let (_, result) = try_read("a.txt", b"only text\n", want, &Limits::default().for_reader());
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnsupportedFormat);
        assert!(error.message().contains("text/plain"), "{error}");
    }

    #[test]
    fn picture_beyond_the_limit_is_refused_before_it_is_decoded() {
        let want = Want { pictures: Some(PictureSize::SCREEN), ..Want::KIND };
        let limits = Limits::default().for_reader();
        let (_, result) = try_read("a.png", &fixture("image/huge.png"), want, &limits);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
}
