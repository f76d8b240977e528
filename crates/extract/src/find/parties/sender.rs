//! Who writes where no label says it: the head of a letter.

use super::Party;
use super::blocks::{is_title, postal};
use super::labelled::is_key;
use crate::find::Reading;
use crate::labels;
use crate::layout::{Span, folded};

/// The sender on one line, as it stands small over the window of an envelope.
pub(super) fn is_sender_line(text: &str) -> bool {
    text.matches(['·', '•', '|']).count() > 1 || text.matches(" - ").count() > 1
}

/// The sender of a letter: the largest line at its top, with an address that is not the other side's.
pub(super) fn sender(reading: &Reading<'_>, block: Option<Party>, buyer: Option<&Party>) -> Option<Party> {
    let mut party = block.unwrap_or_default();
    let top = reading
        .sheet
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.page == 0 && row.top < reading.sheet.page_height(row) * 0.16);
    let hosts = hosts(reading);
    let mut best: Option<(f32, Span, bool)> = None;
    for (index, row) in top {
        for tokens in row.cells() {
            let span = Span { row: index, tokens: tokens.clone() };
            let text = reading.sheet.text(&span);
            let letters = text.chars().filter(|c| c.is_alphabetic()).count();
            let title = is_title(&text);
            let theirs =
                buyer.is_some_and(|buyer| buyer.name.contains(&span) || buyer.address.contains(&span));
            if letters < 4 || title || theirs || postal(&text) || text.contains('@') || is_key(row, &tokens) {
                continue;
            }
            let height = row.tokens[tokens.clone()]
                .iter()
                .map(|token| token.edges[3] - token.edges[1])
                .fold(0.0, f32::max);
            let formed = row.tokens[tokens].iter().any(|token| labels::of("company_form").has(&token.text));
            let hosted = hosts.iter().any(|host| is_of(&text, host));
            // A motto may be larger than the name, but is no company and has no address in the web.
            let score = height * if formed || hosted { 2.0 } else { 1.0 };
            if best.as_ref().is_none_or(|(least, ..)| *least * 1.05 < score) {
                best = Some((score, span, formed || hosted));
            }
        }
    }
    if let Some((_, span, is_sure)) = best {
        party.name = broken_name(reading, &span);
        party.is_guess = !is_sure;
    }
    (!party.name.is_empty()).then_some(party)
}

/// Names in addresses of mail and web: `brookmill` of `info@brookmill.co.uk`.
fn hosts(reading: &Reading<'_>) -> Vec<String> {
    let tokens = reading.sheet.rows.iter().filter(|row| row.page == 0).flat_map(|row| &row.tokens);
    let host = |text: &str| {
        let (_, mailed) = text.rsplit_once('@').unwrap_or(("", ""));
        let (_, linked) = text.rsplit_once("www.").unwrap_or(("", ""));
        let host = if mailed.is_empty() { linked } else { mailed };
        let parts: Vec<&str> = host.split('/').next()?.split('.').collect();
        // `co.uk` and `de` are of everybody.
        let own = parts.iter().take(parts.len().saturating_sub(1)).rev().find(|part| part.len() > 3)?;
        Some(folded(own))
    };
    tokens.filter_map(|token| host(&token.text)).collect()
}

/// Whether an address in the web is that of a name.
fn is_of(name: &str, host: &str) -> bool {
    let name = folded(name);
    name.len() > 3 && host.len() > 3 && (name.starts_with(host) || host.starts_with(&name))
}

/// A name with the lines above and below that go on with it: as high, in the same column, close by.
fn broken_name(reading: &Reading<'_>, span: &Span) -> Vec<Span> {
    let rows = &reading.sheet.rows;
    let high = |line: &Span| {
        let tokens = rows[line.row].tokens.get(line.tokens.clone()).unwrap_or_default();
        tokens.iter().map(|token| token.edges[3] - token.edges[1]).fold(0.0, f32::max)
    };
    let goes_on = |one: &Span, other: &Span| {
        let (upper, lower) = (&rows[one.row], &rows[other.row]);
        let alike = (high(one) - high(other)).abs() < high(one) * 0.12;
        let gap = lower.tokens[other.tokens.start].edges[1] - upper.tokens[one.tokens.start].edges[3];
        let left = (upper.edges(&one.tokens).0 - lower.edges(&other.tokens).0).abs() < high(one) * 0.5;
        let text = reading.sheet.text(if one.row < span.row { one } else { other });
        let words = !text.chars().any(|c| c.is_ascii_digit()) && !text.contains(['@', ':', '·']);
        let near = upper.page == lower.page && gap < high(one) * 0.7;
        alike && left && words && near && !labels::of("document").has(&text)
    };
    let mut lines = vec![span.clone()];
    let cells = |row: usize| rows[row].cells().into_iter().map(move |tokens| Span { row, tokens });
    for row in (span.row.saturating_sub(4)..span.row).rev() {
        let above = lines.first().and_then(|first| cells(row).find(|cell| goes_on(cell, first)));
        if let Some(above) = above {
            lines.insert(0, above);
        }
    }
    for row in span.row + 1..rows.len().min(span.row + 5) {
        let below = lines.last().and_then(|last| cells(row).find(|cell| goes_on(last, cell)));
        lines.extend(below);
    }
    lines
}
