//! Chunks to lines, and lines to pieces that stand apart from each other.

use hayro_interpret::kurbo::Rect;

use super::super::letters::Letters;
use super::chunk::{Chunk, Placed};
use super::direction;

/// Chunks whose baselines differ by less than this part of their height are on one line.
const SAME_LINE: f64 = 0.36;

/// So many lines drawn on top of each other are told apart.
const MOST_ON_TOP: usize = 4;

/// A line with more loose chunks has no indices, but a table or an attack.
const MOST_INDICES: usize = 256;

/// A word and its place along the line.
pub(super) struct Word {
    pub(super) text: String,
    pub(super) from: f64,
    pub(super) to: f64,
    /// Runs from right to left; the text has the order of reading.
    pub(super) rtl: bool,
    /// What it covers, on the page as it is.
    pub(super) body: Rect,
}

impl Word {
    fn new(glyphs: &[Placed]) -> Self {
        let rtl = glyphs.iter().any(|g| g.rtl);
        let mut order: Vec<&Placed> = glyphs.iter().collect();
        if rtl {
            order.reverse();
            direction::keep_numbers(&mut order);
        }
        let mut text = String::with_capacity(glyphs.len());
        for glyph in order {
            match &glyph.letters {
                Letters::One(c) => text.push(*c),
                Letters::Many(s) => text.push_str(s),
            }
        }
        let from = glyphs.iter().map(|g| g.from).fold(f64::INFINITY, f64::min);
        let to = glyphs.iter().map(|g| g.to).fold(f64::NEG_INFINITY, f64::max);
        let body = glyphs.iter().map(|g| g.body).reduce(|a, b| a.union(b)).unwrap_or(Rect::ZERO);
        Self { text, from, to, rtl, body }
    }
}

/// Words on one line without a wide gap between them. Never empty.
pub(super) struct Piece {
    pub(super) words: Vec<Word>,
    pub(super) base: f64,
    pub(super) size: f64,
    /// How many glyphs were drawn before its first.
    pub(super) drawn: usize,
}

impl Piece {
    pub(super) fn from(&self) -> f64 {
        self.words.iter().map(|w| w.from).fold(f64::INFINITY, f64::min)
    }

    pub(super) fn to(&self) -> f64 {
        self.words.iter().map(|w| w.to).fold(f64::NEG_INFINITY, f64::max)
    }

    fn new(chunk: Chunk) -> Self {
        let (base, size, drawn) = (chunk.base, chunk.size, chunk.drawn);
        let mut words: Vec<Word> = chunk.into_words().iter().map(|glyphs| Word::new(glyphs)).collect();
        direction::order(&mut words);
        Self { words, base, size, drawn }
    }
}

/// What stands on one baseline, from left to right. Never empty.
pub(super) struct Line {
    pub(super) base: f64,
    pub(super) size: f64,
    pub(super) pieces: Vec<Piece>,
}

struct Loose {
    base: f64,
    size: f64,
    chunks: Vec<Chunk>,
}

/// Groups chunks by baseline, from top to bottom.
pub(super) fn lines(mut chunks: Vec<Chunk>) -> Vec<Line> {
    chunks.sort_by(|a, b| a.base.total_cmp(&b.base));
    let mut lines: Vec<Loose> = Vec::new();
    for chunk in chunks {
        match lines.last_mut() {
            Some(line) if (chunk.base - line.base).abs() <= SAME_LINE * chunk.size.min(line.size) => {
                // The baseline of a line is that of its largest letters.
                if chunk.size > line.size {
                    line.base = chunk.base;
                    line.size = chunk.size;
                }
                line.chunks.push(chunk);
            }
            _ => lines.push(Loose { base: chunk.base, size: chunk.size, chunks: vec![chunk] }),
        }
    }
    take_in_indices(lines).into_iter().map(pieces).collect()
}

/// Moves raised and lowered indices to the chunks of neighbouring lines that they belong to.
fn take_in_indices(mut lines: Vec<Loose>) -> Vec<Loose> {
    for at in 0..lines.len() {
        for neighbour in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
            let Some(line) = lines.get(neighbour) else { continue };
            if lines[at].size >= line.size || lines[at].chunks.len() > MOST_INDICES {
                continue;
            }
            let owners = &line.chunks[..line.chunks.len().min(MOST_INDICES)];
            let found: Vec<Option<usize>> = lines[at]
                .chunks
                .iter()
                .map(|index| owners.iter().position(|owner| index.is_index_of(owner)))
                .collect();
            let mut left = Vec::new();
            for (index, owner) in std::mem::take(&mut lines[at].chunks).into_iter().zip(found) {
                match owner {
                    Some(owner) => lines[neighbour].chunks[owner].append(index),
                    None => left.push(index),
                }
            }
            lines[at].chunks = left;
        }
    }
    lines.retain(|line| !line.chunks.is_empty());
    lines
}

/// Puts together what belongs together, and leaves apart what stands apart or on top of each other.
fn pieces(mut line: Loose) -> Line {
    line.chunks.sort_by(|a, b| a.from.total_cmp(&b.from));
    let mut joined: Vec<Chunk> = Vec::new();
    for chunk in line.chunks {
        let recent = joined.len().saturating_sub(MOST_ON_TOP);
        let off = |other: &Chunk| (other.base - chunk.base).abs();
        let fitting = joined[recent..].iter_mut().rev().filter(|other| other.takes(&chunk));
        match fitting.min_by(|a, b| off(a).total_cmp(&off(b))) {
            Some(last) => last.append(chunk),
            None => joined.push(chunk),
        }
    }
    Line { base: line.base, size: line.size, pieces: joined.into_iter().map(Piece::new).collect() }
}
