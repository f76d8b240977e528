//! Who writes where no label says it: the head of a letter.

use std::ops::Range;

use super::Party;
use super::blocks::{is_title, postal};
use super::labelled::is_key;
use crate::find::Reading;
use crate::labels;
use crate::layout::{Row, Span, Token, folded};

/// Letters this much higher than the usual ones are those of a heading.
const LARGE: f32 = 1.2;

/// Signs that part a name, a street and a place which stand on one line; those named first say more.
const PARTING: &[&[&str]] = &[&["·", "•", "●", "|", "∙", "◦", "■"], &["-", "–", "—", "*"]];

/// Whether a text is the sender on one line, as it stands small over the window of an envelope.
pub(super) fn is_sender_line(text: &str) -> bool {
    text.matches(['·', '•', '●', '|']).count() > 1 || text.matches(" - ").count() > 1
}

/// The sender on one line: `Brook Mill GmbH · Bachweg 3 · 12345 Berlin`. Nobody writes to others in this way.
pub(super) fn on_one_line(reading: &Reading<'_>) -> Option<Party> {
    let rows = reading.sheet.rows.iter().enumerate();
    let upper = rows.filter(|(_, row)| {
        row.page == 0 && (reading.sheet.is_typed() || row.top < reading.sheet.page_height(row) * 0.4)
    });
    upper
        .take(30)
        .find_map(|(index, row)| row.cells().into_iter().find_map(|cell| parted(reading, index, cell)))
}

/// The name in a line of name, street and place.
pub(super) fn parted(reading: &Reading<'_>, index: usize, cell: Range<usize>) -> Option<Party> {
    let row = &reading.sheet.rows[index];
    let span = |tokens: Range<usize>| Span { row: index, tokens };
    if is_key(row, &cell) || cell.len() < 4 {
        return None;
    }
    let by_signs = PARTING.iter().map(|signs| {
        let is_sign = |at: &usize| signs.contains(&row.tokens[*at].text.as_str());
        parts(&cell, &cell.clone().filter(is_sign).collect::<Vec<_>>(), true)
    });
    let comma = |at: &usize| row.tokens[*at].text.ends_with(',');
    let by_commas = parts(&cell, &cell.clone().filter(comma).collect::<Vec<_>>(), false);
    by_signs.chain([by_commas]).find_map(|parts| {
        let (name, rest) = parts.split_first().filter(|(_, rest)| rest.len() > 1)?;
        let text = |tokens: &Range<usize>| reading.sheet.text(&span(tokens.clone()));
        let numbered = |text: &str| text.chars().any(|c| c.is_ascii_digit());
        let said = text(name);
        let letters = said.chars().filter(|c| c.is_alphabetic()).count();
        let placed = rest.iter().any(|part| postal(&text(part)));
        let street = rest.iter().any(|part| numbered(&text(part)) && !postal(&text(part)));
        let fits = letters > 2 && !numbered(&said) && !said.contains('@') && !is_title(&said);
        (fits && placed && street).then(|| Party {
            name: vec![span(name.clone())],
            address: rest.iter().cloned().map(span).collect(),
            ..Party::default()
        })
    })
}

/// What stands between marks; a mark that is a sign of its own belongs to nothing, a comma to what it ends.
fn parts(cell: &Range<usize>, marks: &[usize], alone: bool) -> Vec<Range<usize>> {
    let mut from = cell.start;
    let mut parts = Vec::new();
    for &mark in marks {
        parts.push(from..if alone { mark } else { mark + 1 });
        from = mark + 1;
    }
    parts.push(from..cell.end);
    parts.retain(|part| !part.is_empty());
    parts
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
            let label = is_label(row, &tokens);
            let other = theirs || label || postal(&text) || text.contains('@') || is_key(row, &tokens);
            if letters < 4 || title || other {
                continue;
            }
            let height = row.tokens[tokens.clone()]
                .iter()
                .map(|token| token.edges[3] - token.edges[1])
                .fold(0.0, f32::max);
            let formed = row.tokens[tokens].iter().any(|token| labels::of("company_form").has(&token.text));
            let hosted = hosts.iter().any(|host| is_of(&text, host));
            // A motto may be larger than the name, but is no company and has no address in the web.
            // A mark beside it is only a part of the name.
            let score = height
                * if formed {
                    2.0
                } else if hosted {
                    1.8
                } else {
                    1.0
                };
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

/// Whether a cell begins with the word for a number or a date: its value stands elsewhere, and it names nobody.
fn is_label(row: &Row, tokens: &Range<usize>) -> bool {
    ["invoice_number", "invoice_date", "due_date", "order_number", "customer_number", "any_date"].iter().any(
        |name| {
            let label = labels::of(name).at(row, tokens.start);
            label.is_some_and(|(label, ..)| label.end <= tokens.end)
        },
    )
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
    // Only what is set large is broken over lines; in the size of the text the next line is another thing.
    let mut heights: Vec<f32> = rows.iter().map(|row| row.height).collect();
    heights.sort_by(f32::total_cmp);
    let usual = heights.get(heights.len() / 2).copied().unwrap_or_default();
    if high(span) < usual * LARGE {
        return vec![span.clone()];
    }
    let has_form = |token: &Token| labels::of("company_form").has(&token.text);
    let goes_on = |one: &Span, other: &Span| {
        let (upper, lower) = (&rows[one.row], &rows[other.row]);
        let alike = (high(one) - high(other)).abs() < high(one) * 0.12;
        let gap = lower.tokens[other.tokens.start].edges[1] - upper.tokens[one.tokens.start].edges[3];
        let left = (upper.edges(&one.tokens).0 - lower.edges(&other.tokens).0).abs() < high(one) * 0.5;
        let text = reading.sheet.text(if one.row < span.row { one } else { other });
        let words = !text.chars().any(|c| c.is_ascii_digit()) && !text.contains(['@', ':', '·']);
        let near = upper.page == lower.page && gap < high(one) * 0.7;
        // A name is whole with its form: what stands below is a motto or an address, unless it is more of the form.
        let is_whole =
            has_form(&upper.tokens[one.tokens.end - 1]) && !has_form(&lower.tokens[other.tokens.start]);
        alike && left && words && near && !is_whole && !labels::of("document").has(&text)
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
