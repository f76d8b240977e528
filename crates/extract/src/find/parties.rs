//! Who sells and who buys: blocks of name and address, under a label or where letters have them.

use super::{Found, Reading, Record, misread};
use crate::labels::{self, Hit};
use crate::layout::{Row, Span, folded};
use crate::normalise::codes;

/// Lines of a block beyond are not part of it.
const MAX_LINES: usize = 9;

const STATES: &str = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC AE AP AA PR GU VI MP FM";

/// A name and an address.
#[derive(Clone, Debug, Default)]
struct Party {
    /// In one line or in several.
    name: Vec<Span>,
    address: Vec<Span>,
    tax_id: Option<(String, Span)>,
    /// Whether nothing but its place says that this is the name.
    is_guess: bool,
}

/// Whether a word is a state of the United States, as in addresses.
pub fn is_state(word: &str) -> bool {
    let word = word.trim_end_matches(',');
    word.len() == 2 && STATES.split(' ').any(|state| state == word)
}

/// Whether a word is a postal code of the United States.
pub fn is_zip(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.']);
    word.len() == 5 && word.bytes().all(|b| b.is_ascii_digit())
}

/// Seller and buyer.
pub fn find(reading: &Reading<'_>) -> Record {
    let mut record = Record::new();
    let seller = labelled(reading, "seller");
    let buyer = labelled(reading, "buyer");
    let blocks = if seller.is_some() && buyer.is_some() { Vec::new() } else { address_blocks(reading) };
    let taken = |party: Option<&Party>, block: &Party| {
        party.is_some_and(|party| {
            party.address.iter().any(|line| block.address.contains(line))
                || !party.name.is_empty() && party.name == block.name
        })
    };
    let buyer_given = buyer.is_some();
    let buyer = buyer.or_else(|| {
        if reading.sheet.is_typed() {
            // Texts have no envelopes: who writes comes first, and who is written to after that.
            let others = blocks.iter().filter(|block| !taken(seller.as_ref(), block));
            return others.skip(usize::from(seller.is_none())).find(|block| !block.name.is_empty()).cloned();
        }
        // The window of an envelope is on the left, in the upper third.
        let window = |block: &&Party| {
            block.address.first().is_some_and(|line| {
                let row = &reading.sheet.rows[line.row];
                let (left, _) = row.edges(&line.tokens);
                let down = row.top / reading.sheet.page_height(row);
                row.page == 0 && left < reading.sheet.page_width(row) * 0.3 && (0.1..0.42).contains(&down)
            })
        };
        blocks.iter().filter(|block| !taken(seller.as_ref(), block)).find(window).cloned()
    });
    let seller_given = seller.is_some();
    let seller = seller.or_else(|| {
        let block = blocks.iter().find(|block| !taken(buyer.as_ref(), block)).cloned();
        sender(reading, block, buyer.as_ref())
    });
    for (party, side, given) in [(&seller, "seller", seller_given), (&buyer, "buyer", buyer_given)] {
        let Some(party) = party else { continue };
        let (confidence, method) = match (given, party.is_guess) {
            (true, _) => (0.93, "label"),
            (false, false) => (0.82, "place"),
            (false, true) => (0.7, "place"),
        };
        if !party.name.is_empty() {
            let lines: Vec<String> = party.name.iter().map(|line| reading.sheet.text(line)).collect();
            let value = name_of(&lines.join(" ")).into();
            let found = Found { value, confidence, method, spans: party.name.clone() };
            record.insert(format!("{side}_name"), found);
        }
        if !party.address.is_empty() {
            let value = joined(reading, &party.address);
            let found = Found { value: value.into(), confidence, method, spans: party.address.clone() };
            record.insert(format!("{side}_address"), found);
        }
        if let Some((id, span)) = &party.tax_id {
            record.insert(format!("{side}_tax_id"), Found::text(id, 0.95, "label", span.clone()));
        }
    }
    tax_ids(reading, &mut record);
    record
}

/// Lines of an address as one text. Whoever wrote commas between its parts wrote all of them: then a blank is enough.
pub(crate) fn joined(reading: &Reading<'_>, lines: &[Span]) -> String {
    let last = lines.len().saturating_sub(1);
    let text = |(at, line)| misread::in_address(reading.sheet, line, at == last);
    let texts: Vec<String> = lines.iter().enumerate().map(text).collect();
    let commas = texts.iter().rev().skip(1).any(|text| text.ends_with(','))
        || texts.iter().any(|text| text.matches(',').count() > 1);
    texts.join(if commas { " " } else { ", " })
}

/// Without what belongs to the label before it.
fn name_of(text: &str) -> String {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || ":|•●·,;".contains(c));
    text.trim_start_matches(|c: char| !c.is_alphanumeric() && !"\"('„“".contains(c)).to_owned()
}

/// The block under or beside a label, the best one.
fn labelled(reading: &Reading<'_>, name: &str) -> Option<Party> {
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
        if !begins || other || !(ends || colon) || hit.letters < 4 && !colon {
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
        let beside = if colon && !ends { beside(reading, &hit) } else { None };
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
fn is_key(row: &Row, tokens: &std::ops::Range<usize>) -> bool {
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

/// Whether a line has a postal code with a place.
pub(crate) fn postal(line: &str) -> bool {
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let letters = words.iter().any(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 3);
    words.iter().enumerate().any(|(at, word)| {
        let word = word.trim_start_matches("D-").trim_start_matches("A-").trim_end_matches('.');
        let digits = word.bytes().all(|b| b.is_ascii_digit());
        let british = word.len() == 3
            && at > 0
            && word.bytes().next().is_some_and(|b| b.is_ascii_digit())
            && word.bytes().skip(1).all(|b| b.is_ascii_uppercase())
            && words[at - 1].len() <= 4
            && words[at - 1].bytes().any(|b| b.is_ascii_digit());
        let first = at == 0 || at == 1 && words[0].len() <= 3 || line.contains(&format!(", {word} "));
        british && letters
            || digits
                && letters
                && (word.len() == 5 && (first || at + 1 == words.len() || at > 0 && is_state(words[at - 1]))
                    || word.len() == 4 && first && words.len() <= 4 && at + 1 < words.len())
    })
}

/// `Portland, ME 04101`.
fn ends_with_zip(line: &str) -> bool {
    let mut words = line.rsplit(' ');
    words.next().is_some_and(is_zip) && words.next().is_some_and(is_state)
}

/// Blocks of lines that end with a postal code, anywhere on the first page.
fn address_blocks(reading: &Reading<'_>) -> Vec<Party> {
    let mut found = Vec::new();
    for (index, row) in reading.sheet.rows.iter().enumerate().filter(|(_, row)| row.page == 0) {
        for cell in row.cells() {
            let span = Span { row: index, tokens: cell };
            let text = reading.sheet.text(&span);
            if !postal(&text)
                || text.chars().count() > 60
                || !reading.dates[index].is_empty()
                || is_sender_line(&text)
            {
                continue;
            }
            let mut lines = vec![span];
            while let Some(above) =
                lines.last().and_then(|line| above(reading, line)).filter(|_| lines.len() < 6)
            {
                let text = reading.sheet.text(&above);
                if text.contains('@')
                    || text.contains(':')
                    || is_title(&text)
                    || labels::of("buyer").has(&text)
                    || is_sender_line(&text)
                    || postal(&text)
                {
                    break;
                }
                lines.push(above);
            }
            lines.reverse();
            let street =
                lines.iter().position(|line| reading.sheet.text(line).chars().any(|c| c.is_ascii_digit()));
            let street = street.unwrap_or(0);
            let name = lines.first().filter(|_| street > 0).cloned().into_iter().collect();
            found.push(Party { name, address: lines.split_off(street), ..Party::default() });
        }
    }
    found
}

/// `Invoice`, `Rechnung Nr. 4711`: what a document is, and which.
fn is_title(text: &str) -> bool {
    let numbered = |word: &&str| word.chars().any(|c| c.is_ascii_digit()) || word.len() < 4;
    let words: Vec<&str> = text.split_whitespace().filter(|word| !numbered(word)).collect();
    let title = labels::of("document");
    title.has(text) || words.len() <= 2 && title.has(&words.join(" "))
}

/// The sender on one line, as it stands small over the window of an envelope.
fn is_sender_line(text: &str) -> bool {
    text.matches(['·', '•', '|']).count() > 1 || text.matches(" - ").count() > 1
}

/// The cell right above one, aligned with it on the left, on the right or in the middle.
fn above(reading: &Reading<'_>, line: &Span) -> Option<Span> {
    let row = &reading.sheet.rows[line.row];
    let (left, right) = row.edges(&line.tokens);
    for (index, upper) in reading.sheet.rows.iter().enumerate().take(line.row).rev().take(4) {
        if upper.page != row.page || row.top - upper.bottom > row.height * 1.7 {
            return None;
        }
        for tokens in upper.cells() {
            let (from, to) = upper.edges(&tokens);
            let slack = row.height * 0.8;
            let aligned = (from - left).abs() < slack
                || (to - right).abs() < slack
                || (f32::midpoint(from, to) - f32::midpoint(left, right)).abs() < slack * 1.5;
            if aligned && from < right && to > left {
                return Some(Span { row: index, tokens });
            }
        }
    }
    None
}

/// The sender of a letter: the largest line at its top, with an address that is not the other side's.
fn sender(reading: &Reading<'_>, block: Option<Party>, buyer: Option<&Party>) -> Option<Party> {
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
fn tax_ids(reading: &Reading<'_>, record: &mut Record) {
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

#[cfg(test)]
mod tests {
    use docmill_core::words::PageWords;

    use super::*;
    use crate::layout::Sheet;

    fn parties(text: &str) -> Record {
        let sheet = Sheet::new(&[PageWords::typed(1, text)]);
        find(&Reading::new(&sheet))
    }

    fn named<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
        record.get(name).and_then(|found| found.value.as_str())
    }

    #[test]
    fn only_party_of_a_text_is_who_sells_and_no_title_is_a_party() {
        let found = parties("Invoice 4711\n\nACME GmbH\nMusterstr. 1\n12345 Berlin\n\nTotal: 119,00 EUR\n");
        assert_eq!(named(&found, "seller_name"), Some("ACME GmbH"), "{found:?}");
        assert_eq!(named(&found, "seller_address"), Some("Musterstr. 1, 12345 Berlin"));
        assert_eq!(named(&found, "buyer_name"), None);
    }

    #[test]
    fn who_writes_comes_before_who_is_written_to() {
        let found = parties(
            "Nord Handel AG\nHafenweg 3\n20457 Hamburg\n\nRechnung Nr. 17\n\nMaria Klein\nTorstr. 9\n10119 Berlin\n",
        );
        assert_eq!(named(&found, "seller_name"), Some("Nord Handel AG"), "{found:?}");
        assert_eq!(named(&found, "buyer_name"), Some("Maria Klein"), "{found:?}");
    }

    #[test]
    fn name_behind_its_label_is_the_party_and_a_number_of_theirs_is_not() {
        let found = parties(
            "Sold by: Brook Mill Ltd\nCustomer: 2\nDate of delivery 2020-11-10\n\nBill to: Maria Klein\nTorstr. 9\n10119 Berlin\n",
        );
        assert_eq!(named(&found, "seller_name"), Some("Brook Mill Ltd"), "{found:?}");
        assert_eq!(named(&found, "buyer_name"), Some("Maria Klein"), "{found:?}");
        assert_eq!(named(&found, "buyer_address"), Some("Torstr. 9, 10119 Berlin"), "{found:?}");
    }

    #[test]
    fn motto_is_not_the_sender_where_a_company_or_its_address_in_the_web_stands_beside_it() {
        let mut page = crate::layout::tests::page(&[
            "We love bread          Oven & Sons Ltd",
            "",
            "info@brookmill.co.uk",
        ]);
        for word in page.words.iter_mut().take(3) {
            word.height *= 1.6;
        }
        let sender = |page: &PageWords| {
            let sheet = Sheet::new(std::slice::from_ref(page));
            find(&Reading::new(&sheet))
                .get("seller_name")
                .map(|found| (found.value.clone(), found.confidence))
        };
        assert_eq!(sender(&page), Some(("Oven & Sons Ltd".into(), 0.82)));
        for (word, text) in page.words.iter_mut().skip(3).zip(["Brookmill", "and", "good", "Friends"]) {
            word.text = text.to_owned();
        }
        assert_eq!(sender(&page), Some(("Brookmill and good Friends".into(), 0.82)));
        page.words.retain(|word| !word.text.contains('@'));
        assert_eq!(sender(&page), Some(("We love bread".into(), 0.7)));
    }
}
