//! Pages as pixels: grey for recognition, PNG for people.
//!
//! How large a page becomes is decided here, whatever the file says of its size, and images that are larger than
//! allowed are refused before they are unpacked.

use std::panic::{AssertUnwindSafe, catch_unwind};

use docmill_core::ocr::Scan;
use docmill_core::picture::{Picture, PictureSize};
use docmill_core::{Error, Result};
use hayro::hayro_interpret::InterpreterSettings;
use hayro::vello_cpu::Pixmap;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};
use hayro_syntax::page::Page;

use crate::shared::showing;

const POINTS_PER_INCH: f64 = 72.0;

/// What recognition of text is made for.
const SCAN_DOTS_PER_INCH: f64 = 300.0;

/// A page as grey pixels at 300 dots per inch, or fewer where that would be too many. Call only if all images on the
/// page keep within the limit.
pub(super) fn scan<'a>(page: &'a Page<'a>, number: u32, reason: &str) -> Result<Scan> {
    let (width, height) = page.render_dimensions();
    let dots =
        |points: f32| (f64::from(points) * SCAN_DOTS_PER_INCH / POINTS_PER_INCH).ceil().max(1.0) as u32;
    let scale = Scan::scale_to_fit(dots(width), dots(height)) * SCAN_DOTS_PER_INCH / POINTS_PER_INCH;
    let drawn = draw(page, number, scale)?;
    let size = (u32::from(drawn.width()), u32::from(drawn.height()));
    let grey: Vec<u8> = drawn.data().iter().map(|dot| grey(dot.r, dot.g, dot.b)).collect();
    let dpi = (scale * POINTS_PER_INCH).round() as u32;
    Ok(Scan::new(number, size, grey)?.at_dpi(Some(dpi)).because(reason))
}

/// A page as PNG, as large as is asked for and allowed. Call only if all images on the page keep within the limit.
pub(super) fn picture<'a>(page: &'a Page<'a>, number: u32, size: PictureSize) -> Result<Picture> {
    let (width, height) = page.render_dimensions();
    let drawn = draw(page, number, size.scale(f64::from(width), f64::from(height)))?;
    let size = (u32::from(drawn.width()), u32::from(drawn.height()));
    let colours: Vec<u8> = drawn.data().iter().flat_map(|dot| [dot.r, dot.g, dot.b]).collect();
    showing::png(number, size, colours)
}

/// Draws a page on white paper. The renderer may panic on hostile content: that costs this page alone.
fn draw<'a>(page: &'a Page<'a>, number: u32, scale: f64) -> Result<Pixmap> {
    let paper = PixmapSettings { x_scale: scale as f32, y_scale: scale as f32, bg_color: WHITE };
    // What is kept between pages is never thrown away, so nothing is kept.
    let drawn = catch_unwind(AssertUnwindSafe(|| {
        let cache = RenderCache::new();
        hayro::render(page, &cache, &InterpreterSettings::default(), &RenderSettings::default(), &paper)
    }));
    let broken = |what: &str| Error::bug(format!("page {number} could not be drawn: {what}"));
    let drawn = drawn.map_err(|_panic| broken("its content breaks the renderer"))?;
    if drawn.width() == 0 || drawn.height() == 0 {
        return Err(broken("it has no size"));
    }
    Ok(drawn)
}

/// How bright a colour looks (ITU-R BT.601), in whole numbers.
fn grey(red: u8, green: u8, blue: u8) -> u8 {
    ((u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114) / 1000) as u8
}
