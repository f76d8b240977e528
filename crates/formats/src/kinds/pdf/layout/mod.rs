//! Glyphs with places to text: lines from top to bottom, columns one after the other, a space where there is
//! a gap.
//!
//! Each direction of text on a page is laid out for itself as if it ran to the right. Words keep their place
//! along the line until the text is written.

mod chunk;
mod columns;
mod direction;
mod line;

use std::collections::BTreeMap;

use super::device::Glyphs;
use chunk::{Placed, chunks};
use columns::Row;
use line::{Line, Piece, lines};

/// Lines this much further apart than lines of the page usually are have an empty line between them.
const PARAGRAPH: f64 = 1.5;

/// The text of a page.
pub(super) fn text(glyphs: Glyphs<'_, '_>) -> String {
    let mut turns: BTreeMap<i16, Vec<Placed>> = BTreeMap::new();
    for glyph in glyphs.into_list() {
        let degrees = glyph.degrees;
        turns.entry(degrees).or_default().push(Placed::new(glyph, f64::from(degrees)));
    }
    let mut out = String::new();
    for placed in turns.into_values() {
        write(&lines(chunks(placed)), &mut out);
    }
    out
}

/// Writes lines in reading order.
fn write(lines: &[Line], out: &mut String) {
    let usual = usual_distance(lines);
    let rows: Vec<Row<'_>> = lines.iter().map(|line| line.pieces.iter().collect()).collect();
    let mut ordered = Vec::with_capacity(rows.len());
    columns::order(rows, 0, &mut ordered);
    let mut previous: Option<f64> = None;
    for mut row in ordered {
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
