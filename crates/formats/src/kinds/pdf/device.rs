//! Receives what the interpreter draws and keeps the glyphs with their characters and places.

use hayro_interpret::font::{Glyph as Drawn, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{BezPath, Point, Rect};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};

/// A page of a phone book has some 30,000; a page with more than this is an attack on memory.
pub(super) const MAX_GLYPHS: usize = 2_000_000;

/// Glyphs are drawn in a square of this side.
const EM: f64 = 1000.0;

/// A character (or several, for a ligature) at its place on the page. Coordinates grow to the right and down.
#[derive(Clone, Debug)]
pub(super) struct Glyph {
    pub(super) text: Box<str>,
    /// Where its baseline begins.
    pub(super) start: Point,
    /// Where the next one would begin.
    pub(super) end: Point,
    /// Height of the letters as drawn.
    pub(super) size: f64,
    /// Direction of the baseline.
    pub(super) turn: Turn,
}

/// The direction text runs in, to the nearest right angle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Turn {
    Right,
    Down,
    Left,
    Up,
}

/// All glyphs of a page in the order they are drawn.
#[derive(Default)]
pub(super) struct Glyphs {
    list: Vec<Glyph>,
    unknown: usize,
    overflowed: bool,
}

impl Glyphs {
    pub(super) fn into_list(self) -> Vec<Glyph> {
        self.list
    }

    /// Glyphs whose character is known.
    pub(super) fn known(&self) -> usize {
        self.list.len()
    }

    /// Glyphs that show something nobody can name.
    pub(super) fn unknown(&self) -> usize {
        self.unknown
    }

    /// Whether there were more than [`MAX_GLYPHS`].
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }
}

impl<'a> Device<'a> for Glyphs {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        for glyph in run.glyphs() {
            if self.list.len() >= MAX_GLYPHS {
                self.overflowed = true;
                return;
            }
            let text: Box<str> = match glyph.as_unicode() {
                Some(BfString::Char(c)) => spell_out(c).map_or_else(|| c.to_string().into(), Into::into),
                Some(BfString::String(s)) => s.into(),
                None => {
                    self.unknown += 1;
                    continue;
                }
            };
            if text.chars().all(char::is_control) {
                self.unknown += 1;
                continue;
            }
            // Both kinds are measured in thousandths of the em.
            let advance = match &**glyph {
                Drawn::Outline(outline) => outline.advance_width(),
                Drawn::Type3(own) => own.advance_width(),
            };
            let advance = f64::from(advance.unwrap_or(500.0));
            let transform = props.transform * glyph.transform();
            let start = transform * Point::ZERO;
            let end = transform * Point::new(advance, 0.0);
            let along = transform * Point::new(EM, 0.0) - start;
            let size = (transform * Point::new(0.0, EM) - start).hypot();
            if !(start.is_finite() && end.is_finite() && size.is_finite()) || size <= 0.0 {
                continue;
            }
            let turn = match (along.x.abs() >= along.y.abs(), along.x >= 0.0, along.y >= 0.0) {
                (true, true, _) => Turn::Right,
                (true, false, _) => Turn::Left,
                (false, _, true) => Turn::Down,
                (false, _, false) => Turn::Up,
            };
            self.list.push(Glyph { text, start, end, size, turn });
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_clip_rect(&mut self, _: &Rect) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}
    fn draw_rect(&mut self, _: &Rect, _: DrawProps<'a>, _: &DrawMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// Ligatures as the letters they stand for: nobody searches for `ﬁ`.
fn spell_out(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => return None,
    })
}
