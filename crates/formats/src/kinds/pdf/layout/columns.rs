//! Reading order: columns of prose one after the other, tables row by row.
//!
//! Lines that leave a common gutter free make a band; inside a band the left side is read before the right
//! one, each cut again where it has columns of its own. A cut is made only where both sides look like prose: the cells of
//! a table are short, and belong to their row.

use super::line::Piece;

/// Fewer lines than this are no column.
const FEWEST_LINES: usize = 3;

/// Pieces in a column of prose have on average this many characters at least…
const PROSE_LETTERS: f64 = 14.0;
/// …and this part of the width of the widest ones.
const PROSE_FILL: f64 = 0.5;

/// A gutter is at least so wide, in parts of the letters' height.
const NARROWEST: f64 = 0.3;

/// Lines of two columns that are not on one grid are at most so far apart, in parts of the letters' height.
const OFF_GRID: f64 = 0.9;

/// Cuts inside cuts; no page has more columns than that allows.
const DEEPEST: usize = 5;

/// Pieces of one baseline, from left to right.
pub(super) type Row<'a> = Vec<&'a Piece>;

/// What stays free between two columns.
#[derive(Clone, Copy)]
struct Gutter {
    from: f64,
    to: f64,
}

/// Brings rows (from top to bottom) into reading order.
pub(super) fn order<'a>(rows: Vec<Row<'a>>, depth: usize, out: &mut Vec<Row<'a>>) {
    if depth >= DEEPEST {
        out.extend(rows);
        return;
    }
    let mut at = 0;
    while at < rows.len() {
        let Some((end, gutter)) = band(&rows, at) else {
            out.push(rows[at].clone());
            at += 1;
            continue;
        };
        cut(&rows[at..end], gutter, depth, out);
        at = end;
    }
}

/// The band that begins with a row: up to where it goes, and its gutter.
fn band(rows: &[Row<'_>], start: usize) -> Option<(usize, Gutter)> {
    let mut gutter = first_gutter(&rows[start], rows.get(start + 1))?;
    let mut end = start + 1;
    while let Some(narrower) = rows.get(end).and_then(|row| still_free(row, gutter)) {
        gutter = narrower;
        end += 1;
    }
    Some((end, gutter))
}

/// The first gap of a row, or that between a row and the next if they stand side by side.
fn first_gutter(row: &Row<'_>, next: Option<&Row<'_>>) -> Option<Gutter> {
    if let [left, right, ..] = row[..] {
        return Some(Gutter { from: left.to(), to: right.from() }).filter(|g| g.to > g.from);
    }
    let ([one], [other]) = (&row[..], &next?[..]) else { return None };
    if (other.base - one.base).abs() > OFF_GRID * one.size.max(other.size) {
        return None;
    }
    let gutter = if one.to() < other.from() {
        Gutter { from: one.to(), to: other.from() }
    } else {
        Gutter { from: other.to(), to: one.from() }
    };
    (gutter.to > gutter.from).then_some(gutter)
}

/// What a row leaves free of a gutter, if it is still one.
fn still_free(row: &Row<'_>, gutter: Gutter) -> Option<Gutter> {
    let size = row.iter().map(|piece| piece.size).fold(0.0, f64::max);
    let middle = f64::midpoint(gutter.from, gutter.to);
    let left = row.iter().map(|p| p.to()).filter(|to| *to <= middle).fold(gutter.from, f64::max);
    let right = row.iter().map(|p| p.from()).filter(|from| *from >= middle).fold(gutter.to, f64::min);
    // A piece across the middle may yet leave one side of it free.
    let mut free = Gutter { from: left, to: right };
    for piece in row.iter().filter(|p| p.from() < middle && p.to() > middle) {
        if free.to - piece.to() >= piece.from() - free.from {
            free.from = piece.to();
        } else {
            free.to = piece.from();
        }
    }
    (free.to - free.from > NARROWEST * size).then_some(free)
}

/// Left before right, if both are columns.
fn cut<'a>(band: &[Row<'a>], gutter: Gutter, depth: usize, out: &mut Vec<Row<'a>>) {
    let middle = f64::midpoint(gutter.from, gutter.to);
    let side = |left: bool| -> Vec<Row<'a>> {
        band.iter()
            .map(|row| row.iter().copied().filter(|p| (p.from() < middle) == left).collect::<Row<'a>>())
            .filter(|row| !row.is_empty())
            .collect()
    };
    let (left, right) = (side(true), side(false));
    if is_prose(&left) && is_prose(&right) {
        order(left, depth + 1, out);
        order(right, depth + 1, out);
    } else {
        out.extend(band.iter().cloned());
    }
}

/// Whether these rows look like a column of running text, or like several.
pub(super) fn is_prose(rows: &[Row<'_>]) -> bool {
    if rows.len() < FEWEST_LINES {
        return false;
    }
    let pieces: Vec<&&Piece> = rows.iter().flatten().collect();
    let letters: usize = pieces.iter().flat_map(|p| &p.words).map(|w| w.text.len()).sum();
    let widest = pieces.iter().map(|p| p.to() - p.from()).fold(0.0, f64::max);
    let mean = pieces.iter().map(|p| p.to() - p.from()).sum::<f64>() / pieces.len() as f64;
    letters as f64 >= PROSE_LETTERS * pieces.len() as f64 && mean >= PROSE_FILL * widest
}
