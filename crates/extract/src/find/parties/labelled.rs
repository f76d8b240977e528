//! The party under or beside a label: `Seller:`, `Bill to`.

use super::blocks::{ends_with_zip, postal};
use super::{MAX_LINES, Party};
use crate::find::Reading;
use crate::labels::{self, Hit};
use crate::layout::{Row, Span};
use crate::normalise::codes;

/// The block under or beside a label, the best one.
pub(super) fn labelled(reading: &Reading<'_>, name: &str) -> Option<Party> {
    let mut best: Option<(usize, Party)> = None;
    for hit in labels::of(name).everywhere(reading.sheet) {
        let row = &reading.sheet.rows[hit.row];
        let colon = row.tokens[hit.tokens.end - 1].text.ends_with(':')
            || row.tokens.get(hit.tokens.end).is_some_and(|token| token.text == ":");
        // A label stands at the beginning of its cell and has the cell for itself.
        let begins = hit.tokens.start == 0
            || row.tokens[hit.tokens.start].cell > row.tokens[hit.tokens.start - 1].cell;
        let ends =
            row.tokens.get(hit.tokens.end).is_none_or(|next| next.cell > row.tokens[hit.tokens.end - 1].cell);
        let other = labels::of("other_party")
            .at(row, hit.tokens.start)
            .is_some_and(|(tokens, ..)| tokens.end >= hit.tokens.end);
        // `Sold by Brook Mill Ltd` needs no colon.
        let phrase = name == "seller" && hit.tokens.len() > 1;
        if !begins || other || !(ends || colon || phrase) || hit.letters < 4 && !colon {
            continue;
        }
        // `Customer: 2` is a number of theirs.
        let cell = row.tokens[hit.tokens.start].cell;
        let numbered = row.tokens[hit.tokens.end..]
            .iter()
            .take_while(|token| token.cell == cell)
            .find(|token| !token.fold.is_empty())
            .is_some_and(|token| token.fold.bytes().all(|b| b.is_ascii_digit()));
        if numbered {
            continue;
        }
        let is_name = |party: &Party| party.name.first().is_some_and(|name| !has_date(reading, name));
        let beside = if (colon || phrase) && !ends { beside(reading, &hit) } else { None };
        let Some(party) = beside.or_else(|| block(reading, &hit)).filter(is_name) else { continue };
        let score = party.address.len().min(3) * 100 + usize::from(ends) * 50 + 40 - hit.rank.min(40);
        if best.as_ref().is_none_or(|(least, _)| *least < score) {
            best = Some((score, party));
        }
    }
    best.map(|(_, party)| party)
}

/// Reads what stands behind a label in its cell, `Sold by: Brook Mill Ltd`, and the address under either of them.
fn beside(reading: &Reading<'_>, hit: &Hit) -> Option<Party> {
    let head = &reading.sheet.rows[hit.row];
    let cell = head.tokens[hit.tokens.start].cell;
    let from = (hit.tokens.end..head.tokens.len()).find(|&at| !head.tokens[at].fold.is_empty())?;
    let to = (from..head.tokens.len()).take_while(|&at| head.tokens[at].cell == cell).last()? + 1;
    let lefts = [head.tokens[hit.tokens.start].edges[0], head.tokens[from].edges[0]];
    let mut party = Party { name: vec![Span { row: hit.row, tokens: from..to }], ..Party::default() };
    let mut bottom = head.bottom;
    for (index, row) in reading.sheet.rows.iter().enumerate().skip(hit.row + 1).take(MAX_LINES) {
        let near = row.page == head.page && row.top - bottom < row.height.max(head.height) * 1.5;
        let under = |tokens: &std::ops::Range<usize>| {
            let (left, _) = row.edges(tokens);
            lefts.iter().any(|at| (left - at).abs() < row.height)
        };
        let Some(tokens) = row.cells().into_iter().find(under).filter(|_| near) else { break };
        let span = Span { row: index, tokens: tokens.clone() };
        let done = party.address.last().is_some_and(|line| postal(&reading.sheet.text(line)));
        if done || is_key(row, &tokens) || row.text.contains('@') || has_date(reading, &span) {
            break;
        }
        party.address.push(span);
        bottom = row.bottom;
    }
    // Without a place it is no address but whatever comes next.
    if !party.address.last().is_some_and(|line| postal(&reading.sheet.text(line))) {
        party.address.clear();
    }
    Some(party)
}

/// Reads the lines under a label, in its column.
fn block(reading: &Reading<'_>, hit: &Hit) -> Option<Party> {
    let head = &reading.sheet.rows[hit.row];
    let (left, _) = head.edges(&hit.tokens);
    // The column ends where the next cell of the label's row begins.
    let next = head
        .tokens
        .get(hit.tokens.end..)?
        .iter()
        .find(|token| token.cell > head.tokens[hit.tokens.start].cell);
    let limit = next.map_or(f32::MAX, |token| token.edges[0] - head.height);
    let mut party = Party::default();
    let mut bottom = head.bottom;
    let mut addressed = false;
    for (index, row) in reading.sheet.rows.iter().enumerate().skip(hit.row + 1).take(MAX_LINES * 4) {
        if row.page != head.page
            || row.top - bottom > row.height.max(head.height) * 2.6
            || party.address.len() >= 6
        {
            break;
        }
        let Some(tokens) = column(row, left, limit) else { continue };
        bottom = row.bottom;
        let is =
            |name: &str| labels::of(name).at(row, tokens.start).filter(|(label, ..)| label.end <= tokens.end);
        if ["seller", "buyer", "other_party"].iter().any(|name| {
            is(name).is_some_and(|(label, _, letters)| {
                letters > 3 && (label.end == tokens.end || row.tokens[label.end - 1].text.ends_with(':'))
            })
        }) {
            break;
        }
        let after = |label: std::ops::Range<usize>| {
            let from = (label.end..row.tokens.len()).find(|&at| !row.tokens[at].fold.is_empty())?;
            let to =
                row.tokens.iter().rposition(|token| token.edges[0] < limit).map_or(tokens.end, |at| at + 1);
            (from < to).then_some(Span { row: index, tokens: from..to })
        };
        if let Some((label, ..)) = is("tax_id").filter(|_| party.tax_id.is_none()) {
            let read = after(label).and_then(|span| Some((codes::tax_id(&reading.sheet.text(&span))?, span)));
            if read.is_some() {
                party.tax_id = read;
                continue;
            }
        }
        if let Some((label, ..)) = is("party_name").filter(|(label, ..)| label.end < row.tokens.len()) {
            party.name = after(label).into_iter().collect();
            party.address.clear();
        } else if let Some((label, ..)) =
            is("party_address").filter(|(label, ..)| label.end < row.tokens.len())
        {
            party.address.extend(after(label));
            addressed = true;
        } else if ["party_skip", "order_number", "invoice_number"].iter().any(|name| is(name).is_some())
            || row.text.contains('@')
            || is_key(row, &tokens)
        {
            addressed = addressed && !party.address.is_empty() && party.address.len() < 2;
        } else if party.name.is_empty() {
            party.name.push(Span { row: index, tokens });
        } else if party.address.last().is_some_and(|line| ends_with_zip(&reading.sheet.text(line))) {
            // Nothing of an address comes behind a state with its postal code.
            break;
        } else if postal(&reading.sheet.text(&Span { row: index, tokens: tokens.clone() }))
            || !party.address.last().is_some_and(|line| postal(&reading.sheet.text(line)))
        {
            party.address.push(Span { row: index, tokens });
        }
    }
    whole_name(reading, &mut party);
    without_person(reading, &mut party);
    Some(party)
}

/// Takes to the name what belongs to it: who follows `Mr`, and a second line with the form of a company.
fn whole_name(reading: &Reading<'_>, party: &mut Party) {
    let text = |line: &Span| reading.sheet.text(line);
    let (Some(name), Some(next)) = (party.name.first().map(text), party.address.first().map(text)) else {
        return;
    };
    let number = next.chars().any(|c| c.is_ascii_digit());
    let formed = |text: &str| text.split(' ').any(|word| labels::of("company_form").has(word));
    let follows = labels::of("salutation").has(&name) || formed(&next) && !formed(&name);
    if !number && party.name.len() == 1 && follows {
        party.name.push(party.address.remove(0));
    }
}

/// Takes out who is written to at a company: a line without a number before street and place.
fn without_person(reading: &Reading<'_>, party: &mut Party) {
    let number = |line: &Span| reading.sheet.text(line).chars().any(|c| c.is_ascii_digit());
    let [first, second, _, ..] = party.address.as_slice() else { return };
    if !number(first) && number(second) && (2..=4).contains(&first.tokens.len()) {
        party.address.remove(0);
    }
}

fn has_date(reading: &Reading<'_>, line: &Span) -> bool {
    reading.dates[line.row].iter().any(|(date, _)| line.tokens.contains(&date.tokens.start))
}

/// `Key : value`, which no line of an address is.
pub(super) fn is_key(row: &Row, tokens: &std::ops::Range<usize>) -> bool {
    row.tokens[tokens.clone()].iter().take(3).any(|token| token.text.ends_with(':'))
}

/// The cell of a row that begins in a column, or nearly.
fn column(row: &Row, left: f32, limit: f32) -> Option<std::ops::Range<usize>> {
    let slack = row.height * 1.5;
    let cells = row.cells();
    let at = cells.iter().position(|cell| {
        let (from, _) = row.edges(cell);
        from >= left - slack && from < limit
    })?;
    let (from, _) = row.edges(&cells[at]);
    // What begins far right of the column is another one, unless the column is open.
    (from < left + row.height * 30.0).then(|| cells[at].clone())
}
