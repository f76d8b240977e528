//! Pages as pixels. What is drawn here was written by this crate a moment before: no byte of it comes from outside.

use std::sync::Arc;

use docmill_core::{Error, Result};
use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::Pdf;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};

/// A picture in colours.
#[derive(Clone)]
pub(super) struct Picture {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// All in one colour.
    pub(super) fn of(width: u32, height: u32, colour: [u8; 3]) -> Self {
        Self { width, height, pixels: vec![colour; width as usize * height as usize] }
    }

    /// The colour at a place; nothing outside.
    pub(super) fn at(&self, x: i64, y: i64) -> Option<[u8; 3]> {
        let inside = x >= 0 && y >= 0 && x < i64::from(self.width) && y < i64::from(self.height);
        inside.then(|| self.pixels[y as usize * self.width as usize + x as usize])
    }

    /// The colour between pixels; `around` is what lies outside.
    pub(super) fn between(&self, x: f64, y: f64, around: [u8; 3]) -> [u8; 3] {
        let (left, top) = (x.floor(), y.floor());
        let (right_part, low_part) = (x - left, y - top);
        let (left, top) = (left as i64, top as i64);
        let corners = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| self.at(left + dx, top + dy));
        if corners == [None; 4] {
            return around;
        }
        let corners = corners.map(|corner| corner.unwrap_or(around));
        std::array::from_fn(|channel| {
            let [upper_left, upper_right, lower_left, lower_right] =
                corners.map(|corner| f64::from(corner[channel]));
            let upper = upper_left + (upper_right - upper_left) * right_part;
            let lower = lower_left + (lower_right - lower_left) * right_part;
            (upper + (lower - upper) * low_part).round() as u8
        })
    }
}

/// How bright a colour looks (ITU-R BT.601), in whole numbers.
pub(super) fn grey([red, green, blue]: [u8; 3]) -> u8 {
    ((u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114) / 1000) as u8
}

/// All pages of a file.
pub(super) fn draw(file: &[u8], scale: f32) -> Result<Vec<Picture>> {
    let pdf = Pdf::new(Arc::new(file.to_vec()))
        .map_err(|e| Error::bug(format!("a page that was just written cannot be drawn: {e:?}")))?;
    let cache = RenderCache::new();
    let paper = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
    let pages = pdf.pages().iter().map(|page| {
        let drawn =
            hayro::render(page, &cache, &InterpreterSettings::default(), &RenderSettings::default(), &paper);
        Picture {
            width: u32::from(drawn.width()),
            height: u32::from(drawn.height()),
            pixels: drawn.data().iter().map(|dot| [dot.r, dot.g, dot.b]).collect(),
        }
    });
    Ok(pages.collect())
}
