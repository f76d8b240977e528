//! Documents as they come out of a scanner or a telephone: pixels alone.
//!
//! The pages are drawn as any viewer draws them, and then treated like paper: `picture` draws, `spoil` has what
//! scanners and cameras do to a page, and the styles below say how much of it.

mod picture;
mod spoil;

use docmill_core::generate::Sample;
use docmill_core::{Error, Result};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};

use self::picture::Picture;
use crate::chance::Chance;
use crate::content::Content;
use crate::paper::{Fonts, pdf};

/// How a page was scanned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// A good office scanner.
    Flatbed,
    /// The same, in a hurry: crooked, with dirt and a dark edge.
    Feeder,
    /// Few dots and much contrast.
    Fax,
    /// A photograph of paper on a table.
    Photo,
}

impl Style {
    fn name(self) -> &'static str {
        match self {
            Self::Flatbed => "flatbed",
            Self::Feeder => "feeder",
            Self::Fax => "fax",
            Self::Photo => "photo",
        }
    }

    fn dots_per_inch(self, chance: &mut Chance) -> f32 {
        let choices: &[f32] = match self {
            Self::Flatbed => &[150.0, 200.0, 200.0],
            Self::Feeder => &[120.0, 150.0, 200.0],
            Self::Fax => &[100.0, 130.0],
            Self::Photo => &[130.0, 160.0],
        };
        *chance.pick(choices)
    }

    fn spoil(self, picture: &Picture, chance: &mut Chance) -> Picture {
        match self {
            Self::Flatbed => {
                let turned = spoil::turn(picture, chance.within(-0.5, 0.5), [250, 249, 247]);
                spoil::noise(spoil::fade(turned, 6, 250), chance, 3.0)
            }
            Self::Feeder => {
                let turned = spoil::turn(picture, chance.within(-2.2, 2.2), [228, 226, 222]);
                let blurred = spoil::blur(&turned, 1);
                let dirty = spoil::specks(spoil::edge(spoil::fade(blurred, 28, 238), chance), chance);
                spoil::noise(dirty, chance, 7.0)
            }
            Self::Fax => {
                let turned = spoil::turn(picture, chance.within(-1.2, 1.2), [255; 3]);
                spoil::harden(spoil::specks(spoil::noise(turned, chance, 22.0), chance))
            }
            Self::Photo => {
                let lying = spoil::lay_on_table(picture, chance);
                let lit = spoil::light(spoil::blur(&spoil::fade(lying, 22, 236), 1), chance);
                spoil::noise(lit, chance, 5.0)
            }
        }
    }
}

/// The document as a picture of its page, or as a file of nothing but pictures.
pub(crate) fn make(fonts: &Fonts, chance: &mut Chance, id: &str, content: Content<'_>) -> Result<Sample> {
    let style =
        *chance.weighted(&[(Style::Flatbed, 4), (Style::Feeder, 3), (Style::Fax, 1), (Style::Photo, 2)]);
    let dpi = style.dots_per_inch(chance);
    let drawn = picture::draw(&pdf::write(fonts, &content.pages, &content.title, content.date)?, dpi / 72.0)?;
    let coloured = style == Style::Photo || (style == Style::Flatbed && chance.hits(0.5));
    let spoilt: Vec<Picture> = drawn.iter().map(|picture| style.spoil(picture, chance)).collect();
    // One picture holds one page.
    if let ([only], true) = (spoilt.as_slice(), chance.hits(0.5)) {
        let name = format!("{id}.png");
        let bytes = png(only, coloured)?;
        let truth = content.into_truth(id, &name, "image/png", Some(style.name()));
        return Ok(Sample { name, bytes: bytes.into(), truth });
    }
    let quality = chance.between(45, 85) as u8;
    let mut pictures = Vec::new();
    for picture in &spoilt {
        pictures.push(pdf::Picture {
            size: (picture.width as f32 * 72.0 / dpi, picture.height as f32 * 72.0 / dpi),
            width: picture.width,
            height: picture.height,
            coloured,
            jpeg: jpeg(picture, coloured, quality)?,
        });
    }
    let name = format!("{id}.pdf");
    let bytes = pdf::write_pictures(&pictures, &format!("Scan {id}"), content.date);
    let truth = content.into_truth(id, &name, "application/pdf", Some(style.name()));
    Ok(Sample { name, bytes: bytes.into(), truth })
}

fn png(picture: &Picture, coloured: bool) -> Result<Vec<u8>> {
    let (pixels, kind) = picture.samples(coloured);
    let mut out = Vec::new();
    PngEncoder::new_with_quality(&mut out, CompressionType::Fast, FilterType::Adaptive)
        .write_image(&pixels, picture.width, picture.height, kind)
        .map_err(|e| Error::bug("a scan could not be written as PNG").with_source(e))?;
    Ok(out)
}

fn jpeg(picture: &Picture, coloured: bool, quality: u8) -> Result<Vec<u8>> {
    let (pixels, kind) = picture.samples(coloured);
    let mut out = Vec::new();
    JpegEncoder::new_with_quality(&mut out, quality)
        .write_image(&pixels, picture.width, picture.height, kind)
        .map_err(|e| Error::bug("a scan could not be written as JPEG").with_source(e))?;
    Ok(out)
}

impl Picture {
    fn samples(&self, coloured: bool) -> (Vec<u8>, ExtendedColorType) {
        if coloured {
            return (self.pixels.as_flattened().to_vec(), ExtendedColorType::Rgb8);
        }
        (self.pixels.iter().map(|pixel| picture::grey(*pixel)).collect(), ExtendedColorType::L8)
    }
}
