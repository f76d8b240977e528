//! Receives what the interpreter draws and keeps the glyphs with their characters and places.

use hayro_interpret::font::{Glyph as Drawn, GlyphRun, PositionedGlyph};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};
use hayro_syntax::page::Page;

use super::charcode::{CharCodes, Meaning};

/// A page of a phone book has some 30,000; a page with more than this is an attack on memory.
pub(super) const MAX_GLYPHS: usize = 2_000_000;

/// Glyphs are drawn in a square of this side.
const EM: f64 = 1000.0;

/// Vertical writing begins this far above the baseline, unless a font says otherwise.
const HANGS_FROM: f64 = 880.0;

/// Scans are a little askew; so many degrees off a right angle are none.
const NEARLY_RIGHT: f64 = 3.0;

/// What a glyph says; nearly always one character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Letters {
    One(char),
    Many(Box<str>),
}

impl Letters {
    pub(super) fn is_blank(&self) -> bool {
        match self {
            Self::One(c) => c.is_whitespace(),
            Self::Many(s) => s.chars().all(char::is_whitespace),
        }
    }

    pub(super) fn is_letter(&self) -> bool {
        match self {
            Self::One(c) => c.is_alphabetic(),
            Self::Many(s) => s.chars().all(char::is_alphabetic),
        }
    }
}

/// A glyph at its place on the page. Coordinates grow to the right and down.
#[derive(Clone, Debug)]
pub(super) struct Glyph {
    pub(super) letters: Letters,
    /// Where its baseline begins.
    pub(super) start: Point,
    /// Where the next one would begin.
    pub(super) end: Point,
    /// Height of the letters as drawn.
    pub(super) size: f64,
    /// Direction of the baseline with the clock, 0 to the right; right angles are exact.
    pub(super) degrees: i16,
}

/// All glyphs of a page in the order they are drawn.
pub(super) struct Glyphs<'p, 'd> {
    list: Vec<Glyph>,
    codes: CharCodes<'p, 'd>,
    unknown: usize,
    guessed: usize,
    outside: usize,
    overflowed: bool,
    area: Rect,
}

impl<'p, 'd> Glyphs<'p, 'd> {
    /// For what is drawn on `area`, which is all of the page that is seen.
    pub(super) fn new(page: &'p Page<'d>, area: Rect) -> Self {
        let codes = CharCodes::new(page);
        Self { list: Vec::new(), codes, unknown: 0, guessed: 0, outside: 0, overflowed: false, area }
    }

    pub(super) fn into_list(self) -> Vec<Glyph> {
        self.list
    }

    /// Glyphs whose character is known.
    pub(super) fn known(&self) -> usize {
        self.list.len() - self.guessed
    }

    /// Glyphs whose code was taken for their character.
    pub(super) fn guessed(&self) -> usize {
        self.guessed
    }

    /// Glyphs beyond the edge of the page, which nobody sees; they are left out.
    pub(super) fn outside(&self) -> usize {
        self.outside
    }

    /// Glyphs that show something nobody can name.
    pub(super) fn unknown(&self) -> usize {
        self.unknown
    }

    /// The characters of a glyph that can be seen, and whether they are a guess.
    fn letters(&mut self, glyph: &Drawn<'_>) -> Option<(Letters, bool)> {
        if let Some(letters) = glyph.as_unicode().and_then(shown) {
            return Some((letters, false));
        }
        let Drawn::Outline(outline) = glyph else { return None };
        match self.codes.meaning(outline)? {
            Meaning::Known(text) => shown(text).map(|letters| (letters, false)),
            Meaning::Guess(c) => Some((Letters::One(c), true)),
        }
    }

    /// Whether there were more than [`MAX_GLYPHS`].
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }
}

impl<'a> Device<'a> for Glyphs<'_, '_> {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        let stretched = is_stretched(run);
        let mut glyphs = run.glyphs().iter().peekable();
        while let Some(glyph) = glyphs.next() {
            if self.list.len() >= MAX_GLYPHS {
                self.overflowed = true;
                return;
            }
            let mut last = glyph;
            let pair = match glyphs.peek() {
                Some(next) => self.codes.pair(glyph.char_code(), next.char_code()),
                None => None,
            };
            if pair.is_some() {
                last = glyphs.next().unwrap_or(glyph);
            }
            let found = pair.map(|c| (Letters::One(c), false)).or_else(|| self.letters(glyph));
            let Some((letters, guess)) = found else {
                self.unknown += 1;
                continue;
            };
            let place = |drawn: &PositionedGlyph<'_>| {
                let transform = props.transform * drawn.transform();
                match run.writing_mode() {
                    WritingMode::Horizontal => across(drawn, transform, stretched),
                    WritingMode::Vertical => down(transform),
                }
            };
            let (Some((start, _, size)), Some((_, end, _))) = (place(glyph), place(last)) else { continue };
            // What touches the edge is seen.
            let seen = self.area.inflate(size, size);
            if !seen.contains(start) && !seen.contains(end) {
                self.outside += 1;
                continue;
            }
            let degrees = degrees(props.transform * glyph.transform(), run.writing_mode());
            self.list.push(Glyph { letters, start, end, size, degrees });
            self.guessed += usize::from(guess);
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

/// Leaves out what cannot be seen.
fn shown(text: BfString) -> Option<Letters> {
    let hidden = |c: char| c.is_control() && !c.is_whitespace();
    match text {
        BfString::Char(c) if hidden(c) => None,
        BfString::Char(c) => Some(spell_out(c).map_or(Letters::One(c), |s| Letters::Many(s.into()))),
        BfString::String(s) if s.chars().all(hidden) => None,
        BfString::String(s) => Some(Letters::Many(s.into())),
    }
}

/// Whether the letters of a stand-in font are stretched to the widths of the font they stand for. Then each
/// has a stretch of its own, which must not be applied to the widths again.
fn is_stretched(run: &GlyphRun<'_, '_>) -> bool {
    let mut shapes = run.glyphs().iter().map(|glyph| {
        let [a, b, c, d, ..] = glyph.transform().as_coeffs();
        a.hypot(b) / c.hypot(d)
    });
    let Some(first) = shapes.next() else { return false };
    shapes.any(|shape| (shape - first).abs() > 1e-3 * first.abs())
}

/// Start, end and height of a glyph in a line.
fn across(glyph: &Drawn<'_>, transform: Affine, stretched: bool) -> Option<(Point, Point, f64)> {
    // Both kinds are measured in thousandths of the em.
    let advance = match glyph {
        Drawn::Outline(outline) => outline.advance_width(),
        Drawn::Type3(own) => own.advance_width(),
    };
    let advance = f64::from(advance.unwrap_or(500.0));
    let start = transform * Point::ZERO;
    let along = transform * Point::new(EM, 0.0) - start;
    let size = (transform * Point::new(0.0, EM) - start).hypot();
    let along = if stretched && along.hypot() > 0.0 { along * (size / along.hypot()) } else { along };
    let end = start + along * (advance / EM);
    let usable = start.is_finite() && end.is_finite() && size.is_finite() && size > 0.0;
    usable.then_some((start, end, size))
}

/// Start, end and height of a glyph in a column of vertical writing: it hangs from the middle of its top.
fn down(transform: Affine) -> Option<(Point, Point, f64)> {
    let start = transform * Point::new(EM / 2.0, HANGS_FROM);
    let end = transform * Point::new(EM / 2.0, HANGS_FROM - EM);
    let size = (end - start).hypot();
    (start.is_finite() && end.is_finite() && size.is_finite() && size > 0.0).then_some((start, end, size))
}

/// The direction text runs in.
fn degrees(transform: Affine, mode: WritingMode) -> i16 {
    let origin = transform * Point::ZERO;
    let ahead = match mode {
        WritingMode::Horizontal => transform * Point::new(EM, 0.0),
        WritingMode::Vertical => transform * Point::new(0.0, -EM),
    };
    let exact = (ahead - origin).atan2().to_degrees().rem_euclid(360.0);
    let right = (exact / 90.0).round() * 90.0;
    let near = if (exact - right).abs() <= NEARLY_RIGHT { right } else { exact.round() };
    near as i16 % 360
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
