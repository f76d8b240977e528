//! Glyphs that were drawn one after the other along a line.
//!
//! The order of drawing is trusted as long as it moves forward: it keeps letters in order that overlap or are
//! kerned heavily. Where it jumps, a new chunk begins, and places decide.

use hayro_interpret::kurbo::{Point, Rect};

use super::super::device::Glyph;
use super::super::letters::Letters;
use super::direction;

/// A gap of this part of the height is a space; typefaces have it at a quarter to a third.
const SPACE: f64 = 0.16;

/// Beyond a gap of this part of the height something new begins: a cell, a column.
const APART: f64 = 0.9;

/// The same letter drawn again within this part of its height makes bold letters out of plain ones.
const SAME_PLACE: f64 = 0.12;

/// A glyph whose baseline differs by less than this part of the height goes on with a chunk.
const SAME_BASE: f64 = 0.15;

/// Letters below this part of a line's height are indices if they stand a little above or below its baseline:
/// up to this part of the height above…
const INDEX_SIZE: f64 = 0.85;
const INDEX_ABOVE: f64 = 0.75;
/// …and up to this part below.
const INDEX_BELOW: f64 = 0.4;

/// An index stands this close to what it belongs to.
const INDEX_GAP: f64 = 0.25;

/// What is longer is a line of small print.
const LONGEST_INDEX: usize = 8;

/// Chunks that overlap are put together only up to so many letters: sorting more, again and again, is what a
/// hostile page would like.
const MOST_SORTED: usize = 1024;

/// Letters are spaced on purpose from this median gap up to [`WIDEST_SPACED`], in parts of the height. What is
/// wider are single characters in a row, as in a table.
const SPACED: f64 = 0.08;
const WIDEST_SPACED: f64 = 0.5;

/// Fewer letters than this do not show a rhythm.
const FEWEST_SPACED: usize = 5;

/// In spaced text a gap this many times the usual one is a space.
const SPACE_IN_SPACED: f64 = 1.6;

/// A glyph as if its text ran to the right: `from` and `to` along the line, `base` downwards.
pub(super) struct Placed {
    pub(super) letters: Letters,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) base: f64,
    pub(super) size: f64,
    /// A space was drawn before it.
    pub(super) spaced: bool,
    /// How many glyphs were drawn before it.
    pub(super) drawn: usize,
    /// Is written from right to left.
    pub(super) rtl: bool,
    /// What it covers, on the page as it is.
    pub(super) body: Rect,
}

impl Placed {
    /// Turns the page by `degrees` against the clock.
    pub(super) fn new(glyph: Glyph, degrees: f64, drawn: usize) -> Self {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let along = |p: Point| p.x * cos + p.y * sin;
        let from = along(glyph.start);
        let rtl = !glyph.guessed && direction::is_rtl(&glyph.letters);
        Self {
            from,
            to: along(glyph.end).max(from),
            base: glyph.start.y * cos - glyph.start.x * sin,
            size: glyph.size,
            letters: glyph.letters,
            spaced: false,
            drawn,
            rtl,
            body: glyph.body,
        }
    }

    fn repeats(&self, other: &Self) -> bool {
        self.letters == other.letters
            && (self.from - other.from).abs() < SAME_PLACE * self.size
            && (self.base - other.base).abs() < SAME_PLACE * self.size
    }
}

/// Glyphs in reading order on one baseline, blanks left out. Never empty.
pub(super) struct Chunk {
    pub(super) glyphs: Vec<Placed>,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) base: f64,
    pub(super) size: f64,
    /// How many glyphs were drawn before its first.
    pub(super) drawn: usize,
    /// A space was drawn after it.
    ends_with_space: bool,
}

impl Chunk {
    fn new(glyph: Placed) -> Self {
        let Placed { from, to, base, size, drawn, .. } = glyph;
        Self { glyphs: vec![glyph], from, to, base, size, drawn, ends_with_space: false }
    }

    /// Whether the glyph goes on where this ends; `reached` is the end of the last glyph, blanks included.
    fn continues(&self, glyph: &Placed, reached: f64) -> bool {
        let Some(last) = self.glyphs.last() else { return false };
        let size = self.size.max(glyph.size);
        let gap = glyph.from - reached;
        if glyph.from < last.from - INDEX_GAP * size || gap > APART * size {
            return false;
        }
        if (glyph.base - self.base).abs() <= SAME_BASE * size {
            return true;
        }
        let small = glyph.size < INDEX_SIZE * self.size;
        let offset = (glyph.base - self.base) / self.size;
        small && gap.abs() < INDEX_GAP * size && (-INDEX_ABOVE..INDEX_BELOW).contains(&offset)
    }

    fn push(&mut self, glyph: Placed) {
        self.from = self.from.min(glyph.from);
        self.to = self.to.max(glyph.to);
        if glyph.size > self.size {
            self.size = glyph.size;
            self.base = glyph.base;
        }
        self.glyphs.push(glyph);
    }

    /// Whether `next` (further right, or at the same place) belongs behind this or into its gaps.
    pub(super) fn takes(&self, next: &Self) -> bool {
        let gap = next.from - self.to;
        if gap > APART * self.size.max(next.size) {
            return false;
        }
        !self.overlaps(next) || !self.collides(next)
    }

    fn overlaps(&self, next: &Self) -> bool {
        next.from < self.to - INDEX_GAP * self.size.min(next.size)
    }

    /// Whether letters of the other stand on letters of this, and are not the same ones drawn again.
    fn collides(&self, other: &Self) -> bool {
        if self.glyphs.len() + other.glyphs.len() > MOST_SORTED {
            return true;
        }
        let hits = |glyph: &&Placed| {
            let at = self.glyphs.partition_point(|own| own.from < glyph.from);
            let near = &self.glyphs[at.saturating_sub(2)..(at + 2).min(self.glyphs.len())];
            let over = |own: &Placed| own.to.min(glyph.to) - own.from.max(glyph.from);
            let narrower = |own: &Placed| (own.to - own.from).min(glyph.to - glyph.from);
            !near.iter().any(|own| glyph.repeats(own))
                && near.iter().any(|own| over(own) > 0.0 && over(own) > 0.5 * narrower(own))
        };
        other.glyphs.iter().filter(hits).count() * 4 > other.glyphs.len()
    }

    /// Whether this is an index of the other: small, short, a little above or below, close behind a letter.
    pub(super) fn is_index_of(&self, other: &Self) -> bool {
        let size = other.size;
        let offset = (self.base - other.base) / size;
        self.size <= INDEX_SIZE * size
            && self.glyphs.len() <= LONGEST_INDEX
            && (-INDEX_ABOVE..INDEX_BELOW).contains(&offset)
            && self.from > other.from
            && self.from - other.to < INDEX_GAP * size
            && !other.collides(self)
    }

    /// Takes in what follows on the same line, or what fits into its gaps.
    pub(super) fn append(&mut self, mut next: Self) {
        let overlaps = self.overlaps(&next);
        if let Some(first) = next.glyphs.first_mut() {
            first.spaced |= self.ends_with_space && !overlaps;
        }
        self.ends_with_space = next.ends_with_space;
        self.drawn = self.drawn.min(next.drawn);
        for glyph in next.glyphs {
            self.push(glyph);
        }
        if overlaps {
            self.glyphs.sort_by(|a, b| a.from.total_cmp(&b.from));
            self.glyphs.dedup_by(|later, earlier| {
                let again = later.repeats(earlier);
                if again {
                    earlier.body = earlier.body.union(later.body);
                }
                again
            });
        }
    }

    /// The words: glyphs between gaps.
    pub(super) fn into_words(self) -> Vec<Vec<Placed>> {
        let usual = self.usual_gap();
        let mut words: Vec<Vec<Placed>> = Vec::new();
        let mut reached = f64::NEG_INFINITY;
        for glyph in self.glyphs {
            let gap = glyph.from - reached;
            let parted = glyph.spaced || gap > (SPACE * glyph.size).max(usual);
            reached = glyph.to;
            match words.last_mut() {
                Some(word) if !parted => word.push(glyph),
                _ => words.push(vec![glyph]),
            }
        }
        words
    }

    /// From which gap on letters are apart where letters are spaced; 0 where they are not.
    fn usual_gap(&self) -> f64 {
        let mut gaps: Vec<f64> = self
            .glyphs
            .windows(2)
            .filter(|pair| !pair[1].spaced && pair[0].letters.is_letter() && pair[1].letters.is_letter())
            .map(|pair| pair[1].from - pair[0].to)
            .collect();
        if gaps.len() < FEWEST_SPACED {
            return 0.0;
        }
        let middle = gaps.len() / 2;
        let median = *gaps.select_nth_unstable_by(middle, f64::total_cmp).1;
        let spaced = (SPACED * self.size..WIDEST_SPACED * self.size).contains(&median);
        if spaced { SPACE_IN_SPACED * median } else { 0.0 }
    }
}

/// Cuts glyphs in the order of drawing into chunks.
pub(super) fn chunks(glyphs: Vec<Placed>) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut reached = f64::NEG_INFINITY;
    let mut spaced = false;
    for mut glyph in glyphs {
        if glyph.letters.is_blank() {
            spaced = true;
            reached = reached.max(glyph.to);
            continue;
        }
        glyph.spaced = spaced;
        let to = glyph.to;
        match chunks.last_mut() {
            Some(Chunk { glyphs, .. }) if glyphs.last().is_some_and(|last| glyph.repeats(last)) => {
                if let Some(last) = glyphs.last_mut() {
                    last.body = last.body.union(glyph.body);
                }
                continue;
            }
            Some(chunk) if chunk.continues(&glyph, reached) => chunk.push(glyph),
            previous => {
                if let Some(previous) = previous {
                    previous.ends_with_space = spaced;
                }
                chunks.push(Chunk::new(glyph));
            }
        }
        spaced = false;
        reached = to;
    }
    chunks
}
