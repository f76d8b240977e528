//! Glyphs with places to text: lines in the order they are read in, a space where there is a gap.
//!
//! Each direction of text on a page is laid out for itself as if it ran to the right. Words keep their place
//! along the line until the text is written.

mod chunk;
mod columns;
mod direction;
mod drawing;
mod line;

use std::collections::BTreeMap;

use hayro_interpret::kurbo::{Point, Rect};

use super::device::Glyph;
use chunk::{Placed, chunks};
use columns::Row;
use line::{Line, Piece, lines};

/// Lines this much further apart than lines of the page usually are have an empty line between them.
const PARAGRAPH: f64 = 1.5;

/// The text of a page. `articles` are the places on it that the document names in the order of reading.
pub(super) fn text(glyphs: Vec<Glyph>, articles: &[Rect]) -> String {
    let mut out = String::new();
    for (lines, articles) in directions(glyphs, articles) {
        write(&lines, articles, &mut out);
    }
    out
}

/// A word and what it covers.
pub(super) struct Standing {
    pub(super) text: String,
    pub(super) body: Rect,
    /// Its line, from 0.
    pub(super) line: u32,
}

/// The words of a page, in the order of its text. The glyphs must come with their bodies.
pub(super) fn words(glyphs: Vec<Glyph>, articles: &[Rect]) -> Vec<Standing> {
    let mut out = Vec::new();
    let mut line = 0;
    for (lines, articles) in directions(glyphs, articles) {
        for mut row in ordered(&lines, articles) {
            direction::order_pieces(&mut row);
            let words = row.iter().flat_map(|piece| &piece.words);
            out.extend(words.map(|word| Standing { text: word.text.clone(), body: word.body, line }));
            line += 1;
        }
    }
    out
}

/// Lines of each direction of writing, with the articles that hold for it.
fn directions(glyphs: Vec<Glyph>, articles: &[Rect]) -> impl Iterator<Item = (Vec<Line>, &[Rect])> {
    let mut turns: BTreeMap<i16, Vec<Placed>> = BTreeMap::new();
    for (drawn, glyph) in glyphs.into_iter().enumerate() {
        let degrees = glyph.degrees;
        turns.entry(degrees).or_default().push(Placed::new(glyph, f64::from(degrees), drawn));
    }
    turns.into_iter().map(move |(degrees, placed)| {
        let articles: &[Rect] = if degrees == 0 { articles } else { &[] };
        (lines(chunks(placed)), articles)
    })
}

/// Rows in reading order.
fn ordered<'a>(lines: &'a [Line], articles: &[Rect]) -> Vec<Row<'a>> {
    let mut ordered = Vec::with_capacity(lines.len());
    for part in parts(lines, articles) {
        let drawn = drawing::order(&part);
        let mut placed = Vec::with_capacity(part.len());
        columns::order(part, 0, &mut placed);
        ordered.extend(drawn.filter(|rows| !drawing::crosses(rows, &placed)).unwrap_or(placed));
    }
    ordered
}

/// Writes lines in reading order.
fn write(lines: &[Line], articles: &[Rect], out: &mut String) {
    let usual = usual_distance(lines);
    let mut previous: Option<f64> = None;
    for mut row in ordered(lines, articles) {
        let Some(base) = row.iter().max_by(|a, b| a.size.total_cmp(&b.size)).map(|p| p.base) else {
            continue;
        };
        // A step back up begins a column.
        if previous.is_some_and(|before| base - before > PARAGRAPH * usual || base < before - usual) {
            out.push('\n');
        }
        previous = Some(base);
        direction::order_pieces(&mut row);
        write_row(&row, out);
    }
}

/// The rows of each article, before them what stands above the first, and after them the rest.
fn parts<'a>(lines: &'a [Line], articles: &[Rect]) -> Vec<Vec<Row<'a>>> {
    let mut parts = vec![Vec::new(); articles.len() + 2];
    let last = parts.len() - 1;
    for line in lines {
        let mut cut: BTreeMap<usize, Row<'a>> = BTreeMap::new();
        for piece in &line.pieces {
            let middle = Point::new(f64::midpoint(piece.from(), piece.to()), piece.base - piece.size / 4.0);
            let part = match articles.iter().position(|article| article.contains(middle)) {
                Some(article) => article + 1,
                None if articles.first().is_some_and(|first| middle.y < first.y0) => 0,
                None => last,
            };
            cut.entry(part).or_default().push(piece);
        }
        for (part, row) in cut {
            parts[part].push(row);
        }
    }
    parts
}

fn write_row(row: &[&Piece], out: &mut String) {
    let words = row.iter().flat_map(|piece| &piece.words);
    for (at, word) in words.enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(&word.text);
    }
    out.push('\n');
}

/// The median distance between lines; double-spaced pages have a large one.
fn usual_distance(lines: &[Line]) -> f64 {
    let mut distances: Vec<f64> = lines.windows(2).map(|pair| pair[1].base - pair[0].base).collect();
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(0.0);
    let largest = lines.iter().map(|line| line.size).fold(0.0, f64::max);
    // With few lines the median may be a paragraph's distance itself.
    if distances.len() < 4 { median.min(1.5 * largest) } else { median }
}

#[cfg(test)]
mod tests;
