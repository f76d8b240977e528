//! Numbers of taxpayers that stand in no block.

use crate::find::{Found, Reading, Record};
use crate::labels;
use crate::layout::Span;
use crate::normalise::codes;

/// A taxpayer's number that begins with this word. One word that is a number of its own needs no others.
fn tax_id_at(reading: &Reading<'_>, row: usize, from: usize) -> Option<(String, Span)> {
    let tokens = &reading.sheet.rows[row].tokens;
    let cell = tokens.get(from)?.cell;
    let end = (from..tokens.len().min(from + 4)).take_while(|&at| tokens[at].cell == cell).count() + from;
    std::iter::once(from + 1).chain((from + 1..=end).rev()).find_map(|to| {
        let span = Span { row, tokens: from..to };
        let text = reading.sheet.text(&span);
        let id = codes::tax_id(text.trim_matches([':', ',', '.', ';', '·', ' ']))?;
        (id.len() >= 9).then_some((id, span))
    })
}

/// A taxpayer's number that recognition has glued to its label: `USt-IdNr.DE911321784`.
fn glued_tax_id(reading: &Reading<'_>) -> Option<(String, Span)> {
    for (row, line) in reading.sheet.rows.iter().enumerate() {
        for (at, token) in line.tokens.iter().enumerate() {
            let id = token.text.match_indices(['.', ':']).find_map(|(dot, _)| {
                let (label, rest) = token.text.split_at(dot);
                let first = rest.get(1..)?.split(['.', ':', ',', ';']).next()?;
                codes::tax_id(first).filter(|id| id.len() >= 9 && labels::of("tax_id").has(label))
            });
            if let Some(id) = id {
                return Some((id, Span { row, tokens: at..at + 1 }));
            }
        }
    }
    None
}

/// Numbers of taxpayers that no block had: the buyer's by its own label, the seller's by any other.
pub(super) fn tax_ids(reading: &Reading<'_>, record: &mut Record) {
    for (name, field) in [("buyer_tax_id", "buyer_tax_id"), ("tax_id", "seller_tax_id")] {
        if record.contains_key(field) {
            continue;
        }
        for hit in labels::of(name).everywhere(reading.sheet) {
            let row = &reading.sheet.rows[hit.row];
            let theirs = (hit.tokens.start.saturating_sub(1)..=hit.tokens.start)
                .any(|at| labels::of("buyer_tax_id").at(row, at).is_some());
            if name == "tax_id" && theirs {
                continue;
            }
            let beside = (hit.tokens.end..row.tokens.len()).find(|&at| !row.tokens[at].fold.is_empty());
            let below = || reading.below(&hit, 1).into_iter().next();
            let read = beside
                .and_then(|from| tax_id_at(reading, hit.row, from))
                .or_else(|| below().and_then(|cell| tax_id_at(reading, cell.row, cell.tokens.start)));
            let known = |id: &str| record.values().any(|found| found.value == *id);
            if let Some((id, span)) = read.filter(|(id, _)| !known(id)) {
                record.insert(field.to_owned(), Found::text(id, 0.9, "label", span));
                break;
            }
        }
    }
    if !record.contains_key("seller_tax_id")
        && let Some((id, span)) = glued_tax_id(reading)
    {
        record.insert("seller_tax_id".to_owned(), Found::text(id, 0.8, "label", span));
    }
}
