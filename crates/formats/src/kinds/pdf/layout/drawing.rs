//! The order of drawing as reading order.
//!
//! Whoever made a page has mostly drawn it in the order it is meant to be read in: column after column, a box beside
//! the text after the text. That order is kept where it moves on like a reader does. Where it jumps about, or draws a
//! table column by column, places decide (`columns`).

use std::collections::{HashMap, HashSet};

use super::columns::{Row, is_prose};
use super::line::Piece;

/// One step back in so many is a footnote or a heading that was drawn late; more are no order to read in.
const STEPS_BACK: usize = 4;

/// Columns with so many lines side by side are columns of a table, unless they are prose.
const TABLE_LINES: usize = 3;

/// Pieces that overlap by less than this part of their height stand side by side.
const OVERLAP: f64 = 0.3;

/// No column has more pieces that matter.
const LONGEST_COLUMN: usize = 500;

/// A piece and the number of its line, from the top.
type Numbered<'a> = (usize, &'a Piece);

/// The rows in the order they were drawn in, if that is an order to read in.
pub(super) fn order<'a>(rows: &[Row<'a>]) -> Option<Vec<Row<'a>>> {
    let mut pieces: Vec<Numbered<'a>> =
        rows.iter().enumerate().flat_map(|(line, row)| row.iter().map(move |piece| (line, *piece))).collect();
    pieces.sort_by_key(|(_, piece)| piece.drawn);
    let mut back = 0;
    // Where steps up and to the right begin new columns.
    let mut columns = vec![0];
    for (at, pair) in pieces.windows(2).enumerate() {
        let [(line, piece), (next_line, next)] = [pair[0], pair[1]];
        if next_line > line || (next_line == line && is_after(piece, next)) {
            continue;
        }
        let column = &pieces[*columns.last()?..=at];
        if next_line < line && is_right_of(next, next_line, column) {
            columns.push(at + 1);
        } else {
            back += 1;
        }
    }
    let steps = pieces.len().saturating_sub(1);
    if back * STEPS_BACK > steps || is_table(&pieces, &columns) {
        return None;
    }
    Some(lines(&pieces))
}

/// Whether a row goes on over the gutter between columns that `placed` keeps apart.
pub(super) fn crosses(rows: &[Row<'_>], placed: &[Row<'_>]) -> bool {
    let places: HashMap<usize, usize> = placed
        .iter()
        .enumerate()
        .flat_map(|(at, row)| row.iter().map(move |piece| (piece.drawn, at)))
        .collect();
    rows.iter().any(|row| row.windows(2).any(|pair| places.get(&pair[0].drawn) != places.get(&pair[1].drawn)))
}

/// Whether a piece of the same line is read after another.
fn is_after(piece: &Piece, next: &Piece) -> bool {
    let rtl = next.words.iter().all(|word| word.rtl);
    rtl || next.from() >= piece.from()
}

/// Whether a piece stands to the right of a column, as far as that goes from its line down.
fn is_right_of(piece: &Piece, line: usize, column: &[Numbered<'_>]) -> bool {
    let near = &column[column.len().saturating_sub(LONGEST_COLUMN)..];
    let beside = near.iter().filter(|(other, _)| *other >= line);
    let edge = beside.map(|(_, other)| other.to()).fold(f64::NEG_INFINITY, f64::max);
    piece.from() > edge - OVERLAP * piece.size
}

/// Whether two columns that were drawn after each other stand line by line beside each other, and are not prose.
fn is_table(pieces: &[Numbered<'_>], columns: &[usize]) -> bool {
    columns.windows(2).any(|pair| {
        let end = columns.iter().find(|start| **start > pair[1]).copied().unwrap_or(pieces.len());
        let (left, right) = (&pieces[pair[0]..pair[1]], &pieces[pair[1]..end]);
        let lines: HashSet<usize> = left.iter().map(|(line, _)| *line).collect();
        let shared = right.iter().filter(|(line, _)| lines.contains(line)).count();
        let prose =
            |side: &[Numbered<'_>]| is_prose(&side.iter().map(|(_, piece)| vec![*piece]).collect::<Vec<_>>());
        shared >= TABLE_LINES && !(prose(left) && prose(right))
    })
}

/// Puts what was drawn along one line into one row.
fn lines<'a>(pieces: &[Numbered<'a>]) -> Vec<Row<'a>> {
    pieces
        .chunk_by(|(line, piece), (next_line, next)| line == next_line && is_after(piece, next))
        .map(|row| {
            let mut row: Row<'a> = row.iter().map(|(_, piece)| *piece).collect();
            row.sort_by(|a, b| a.from().total_cmp(&b.from()));
            row
        })
        .collect()
}
