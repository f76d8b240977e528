//! Receives what the interpreter draws and keeps the glyphs with their characters and places; of the rest, as
//! much as tells whether the glyphs are what a page shows.

use hayro_interpret::font::{Glyph as Drawn, GlyphRun, PositionedGlyph};
use hayro_interpret::hayro_cmap::WritingMode;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Shape};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};
use hayro_syntax::page::Page;

use super::charcode::{CharCodes, Meaning};
use super::letters::{Letters, shown};
use super::marks::Marks;
use super::program::Programs;

/// A page of a phone book has some 30,000; a page with more than this is an attack on memory.
pub(super) const MAX_GLYPHS: usize = 2_000_000;

/// Glyphs are drawn in a square of this side.
const EM: f64 = 1000.0;

/// Vertical writing begins this far above the baseline, unless a font says otherwise.
const HANGS_FROM: f64 = 880.0;

/// How far letters usually reach above and below their line, in parts of the em…
const ASCENT: f64 = 0.72;
const DESCENT: f64 = 0.21;
/// …and how far the tallest do.
const TALLEST: f64 = 0.8;
const DEEPEST: f64 = 0.26;

/// Scans are a little askew; so many degrees off a right angle are none.
const NEARLY_RIGHT: f64 = 3.0;

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
    /// What it covers: its letter's body, and all of its ink. Empty where nobody asks.
    pub(super) body: Rect,
    /// Its letters are a guess, so that they do not tell the direction of writing.
    pub(super) guessed: bool,
}

/// All glyphs of a page in the order they are drawn.
pub(super) struct Glyphs<'p, 'd> {
    list: Vec<Glyph>,
    codes: CharCodes<'p, 'd>,
    unknown: usize,
    guessed: usize,
    outside: usize,
    invisible: usize,
    overflowed: bool,
    area: Rect,
    with_bodies: bool,
    marks: Marks,
}

impl<'p, 'd> Glyphs<'p, 'd> {
    /// For what is drawn on `area`, which is all of the page that is seen.
    pub(super) fn new(page: &'p Page<'d>, area: Rect, programs: &'p Programs) -> Self {
        let codes = CharCodes::new(page, programs);
        Self {
            list: Vec::new(),
            codes,
            unknown: 0,
            guessed: 0,
            outside: 0,
            invisible: 0,
            overflowed: false,
            area,
            with_bodies: false,
            marks: Marks::new(area),
        }
    }

    /// Measures what each glyph covers, too.
    pub(super) fn with_bodies(self) -> Self {
        Self { with_bodies: true, ..self }
    }

    /// The glyphs, and what else is on the page.
    pub(super) fn into_parts(self) -> (Vec<Glyph>, Marks) {
        (self.list, self.marks)
    }

    /// Glyphs that are not drawn, as those that a scanner's recognition puts behind its picture.
    pub(super) fn invisible(&self) -> usize {
        self.invisible
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
    fn letters(&self, glyph: &Drawn<'_>) -> Option<(Letters, bool)> {
        let Drawn::Outline(outline) = glyph else {
            let letters = match glyph.as_unicode() {
                Some(stated) => shown(stated),
                None => self.codes.of_number(glyph.char_code()),
            };
            return letters.map(|letters| (letters, false));
        };
        match self.codes.meaning(outline)? {
            Meaning::Known(letters) => Some((letters, false)),
            Meaning::Guess(letters) => Some((letters, true)),
        }
    }

    /// Whether there were more than [`MAX_GLYPHS`].
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }
}

impl<'a> Device<'a> for Glyphs<'_, '_> {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
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
            self.invisible += usize::from(matches!(mode, DrawMode::Invisible) && !letters.is_blank());
            let body = if self.with_bodies {
                let parts = [glyph, last].map(|drawn| {
                    body(drawn, props.transform * drawn.transform(), run.writing_mode(), start, end)
                });
                parts[0].union(parts[1])
            } else {
                Rect::ZERO
            };
            self.list.push(Glyph { letters, start, end, size, degrees, body, guessed: guess });
            self.guessed += usize::from(guess);
        }
    }

    fn draw_path(&mut self, path: &BezPath, _: DrawProps<'a>, _: &DrawMode) {
        self.marks.add_path(path);
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        self.marks.push_clip_path(&clip.path);
    }

    fn push_clip_rect(&mut self, clip: &Rect) {
        self.marks.push_clip(*clip);
    }

    fn pop_clip(&mut self) {
        self.marks.pop_clip();
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        self.marks.add_image(image.width(), image.height(), props.transform);
    }

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_rect(&mut self, _: &Rect, _: DrawProps<'a>, _: &DrawMode) {}
    fn pop_transparency_group(&mut self) {}
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

/// What a glyph covers: the usual height of letters along its way, so that words of one line have boxes of one height,
/// and whatever its outline adds to that.
fn body(drawn: &Drawn<'_>, transform: Affine, mode: WritingMode, start: Point, end: Point) -> Rect {
    let origin = transform * Point::ZERO;
    let (above, below) = match (mode, drawn) {
        (WritingMode::Horizontal, Drawn::Outline(_)) => {
            let up = transform * Point::new(0.0, EM) - origin;
            (up * ASCENT, up * -DESCENT)
        }
        // Their ink is not known without drawing them.
        (WritingMode::Horizontal, Drawn::Type3(_)) => {
            let up = transform * Point::new(0.0, EM) - origin;
            (up * TALLEST, up * -DEEPEST)
        }
        (WritingMode::Vertical, _) => {
            let across = transform * Point::new(EM / 2.0, 0.0) - origin;
            (across, -across)
        }
    };
    let corners =
        Rect::from_points(start + above, start + below).union(Rect::from_points(end + above, end + below));
    let Drawn::Outline(outline) = drawn else { return corners };
    let outline = transform * outline.outline();
    if outline.is_empty() { corners } else { corners.union(outline.bounding_box()) }
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
