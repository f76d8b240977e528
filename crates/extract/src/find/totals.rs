//! What an invoice comes to: net, tax and gross, chosen so that they add up.

use super::{Found, Reading, Record};
use crate::labels;
use crate::layout::Span;
use crate::normalise::Amount;

/// What may be lost to rounding, in hundredths.
const ROUNDING: i64 = 2;

/// Candidates of a kind beyond are not combined.
const MAX_CANDIDATES: usize = 24;

/// An amount that may be one of the totals.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) amount: Amount,
    pub(crate) score: f32,
    pub(crate) spans: Vec<Span>,
    pub(crate) method: &'static str,
}

/// Net, tax and gross, and the currency.
pub fn find(reading: &Reading<'_>) -> Record {
    let mut record = Record::new();
    let (nets, mut taxes, grosses) = (
        candidates(reading, "net_total", &["gross_total", "tax_total"]),
        candidates(reading, "tax_total", &["net_total", "gross_total"]),
        candidates(reading, "gross_total", &["net_total"]),
    );
    if let Some(sum) = summed(&taxes) {
        taxes.push(sum);
    }
    let best = tabled(reading).or_else(|| consistent(&nets, &taxes, &grosses));
    let put = |record: &mut Record, name: &str, candidate: &Candidate, confidence: f32| {
        let found = Found {
            value: candidate.amount.money().into(),
            confidence,
            method: candidate.method,
            spans: candidate.spans.clone(),
        };
        record.insert(name.to_owned(), found);
    };
    if let Some([net, tax, gross]) = best {
        for (name, candidate) in [("tax_basis_total", &net), ("tax_total", &tax), ("total_amount", &gross)] {
            put(&mut record, name, candidate, 0.97);
        }
    } else {
        let top = |list: &[Candidate]| list.iter().max_by(|a, b| a.score.total_cmp(&b.score)).cloned();
        for (name, list) in [("tax_basis_total", &nets), ("tax_total", &taxes), ("total_amount", &grosses)] {
            if let Some(candidate) = top(list) {
                put(&mut record, name, &candidate, candidate.score.min(0.7));
            }
        }
    }
    if let Some(found) = currency(reading) {
        record.insert("currency".to_owned(), found);
    }
    record
}

/// Amounts right of such a label, the last of its row; rows that also name what it is not are left out.
pub(crate) fn candidates(reading: &Reading<'_>, name: &str, not: &[&str]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for hit in labels::of(name).everywhere(reading.sheet) {
        let row = &reading.sheet.rows[hit.row];
        if labels::of("not_total")
            .at(row, hit.tokens.start)
            .is_some_and(|(tokens, ..)| tokens.end >= hit.tokens.end)
        {
            continue;
        }
        // `Total` inside `Total VAT` is the shorter of two labels.
        let longer = not.iter().any(|other| {
            (hit.tokens.start.saturating_sub(1)..hit.tokens.end).any(|at| {
                labels::of(other)
                    .at(row, at)
                    .is_some_and(|(tokens, _, letters)| tokens.end >= hit.tokens.end && letters > hit.letters)
            })
        });
        let mut amounts = reading.amounts[hit.row].iter().filter(|(span, mention)| {
            span.tokens.start >= hit.tokens.end
                && !mention.percent
                && (mention.amount.places == 2 || mention.currency.is_some())
        });
        let Some((span, mention)) = amounts.next_back().filter(|_| !longer) else { continue };
        let alone = hit.tokens.start == 0
            || row.tokens[hit.tokens.start].cell > row.tokens[hit.tokens.start - 1].cell;
        let score = 0.5 + if alone { 0.1 } else { 0.0 } + (hit.letters as f32 * 0.01).min(0.15)
            - hit.rank as f32 * 0.001
            + hit.row as f32 / reading.sheet.rows.len() as f32 * 0.1;
        found.push(Candidate { amount: mention.amount, score, spans: vec![span.clone()], method: "label" });
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(MAX_CANDIDATES);
    found
}

/// Taxes of several rates together, where each stands in its own row.
pub(crate) fn summed(taxes: &[Candidate]) -> Option<Candidate> {
    let mut rows: Vec<usize> = taxes.iter().flat_map(|tax| &tax.spans).map(|span| span.row).collect();
    rows.sort_unstable();
    rows.dedup();
    if taxes.len() < 2 || rows.len() != taxes.len() || taxes.len() > 5 {
        return None;
    }
    let amount = taxes.iter().skip(1).fold(taxes[0].amount, |sum, tax| sum.plus(tax.amount));
    let spans = taxes.iter().flat_map(|tax| tax.spans.clone()).collect();
    Some(Candidate { amount, score: 0.5, spans, method: "sum" })
}

/// The best three that add up.
fn consistent(nets: &[Candidate], taxes: &[Candidate], grosses: &[Candidate]) -> Option<[Candidate; 3]> {
    let mut best: Option<(f32, [Candidate; 3])> = None;
    for net in nets {
        for tax in taxes {
            for gross in grosses {
                let adds = net.amount.plus(tax.amount).near(gross.amount, ROUNDING);
                let score = net.score + tax.score + gross.score;
                if adds && best.as_ref().is_none_or(|(least, _)| *least < score) {
                    best = Some((score, [net.clone(), tax.clone(), gross.clone()]));
                }
            }
        }
    }
    best.map(|(_, three)| three)
}

/// A row `Total` with net, tax and gross in three columns.
fn tabled(reading: &Reading<'_>) -> Option<[Candidate; 3]> {
    for hit in labels::of("gross_total").everywhere(reading.sheet).iter().rev() {
        let amounts: Vec<_> =
            reading.amounts[hit.row].iter().filter(|(_, mention)| !mention.percent).collect();
        for three in amounts.windows(3) {
            let [net, tax, gross] = [three[0], three[1], three[2]];
            if gross.1.amount.units != 0
                && tax.1.amount.units.abs() < net.1.amount.units.abs()
                && net.1.amount.plus(tax.1.amount).near(gross.1.amount, ROUNDING)
            {
                let candidate = |(span, mention): &(Span, crate::normalise::amount::Mention)| Candidate {
                    amount: mention.amount,
                    score: 0.9,
                    spans: vec![span.clone()],
                    method: "sum row",
                };
                return Some([candidate(net), candidate(tax), candidate(gross)]);
            }
        }
    }
    None
}

/// The currency that a label names, or that most amounts have.
pub(crate) fn currency(reading: &Reading<'_>) -> Option<Found> {
    use crate::normalise::codes;
    for hit in labels::of("currency").everywhere(reading.sheet) {
        let row = &reading.sheet.rows[hit.row];
        for at in hit.tokens.end..row.tokens.len().min(hit.tokens.end + 3) {
            if let Some(code) = codes::currency(&row.tokens[at].text) {
                return Some(Found::text(code, 0.97, "label", Span { row: hit.row, tokens: at..at + 1 }));
            }
        }
    }
    let mut counted: Vec<(&str, usize, Span)> = Vec::new();
    for (index, row) in reading.sheet.rows.iter().enumerate() {
        for (at, token) in row.tokens.iter().enumerate() {
            let word = token.text.trim_end_matches(|c: char| c.is_ascii_digit() || ".,-:)]".contains(c));
            let word = word.trim_start_matches(|c: char| c.is_ascii_digit() || ".,-([".contains(c));
            let beside = word.len() < token.text.len()
                || [at.checked_sub(1), Some(at + 1)].into_iter().flatten().any(|near| {
                    row.tokens
                        .get(near)
                        .is_some_and(|token| token.text.starts_with(|c: char| c.is_ascii_digit()))
                });
            let strong = matches!(word, "EUR" | "USD" | "GBP" | "CHF" | "€" | "£");
            let Some(code) = codes::currency(word).filter(|_| beside || strong) else { continue };
            if let Some(one) = counted.iter_mut().find(|(known, ..)| *known == code) {
                one.1 += 1;
            } else {
                counted.push((code, 1, Span { row: index, tokens: at..at + 1 }));
            }
        }
    }
    let (code, _, span) = counted.into_iter().max_by_key(|(_, count, _)| *count)?;
    Some(Found::text(code, 0.92, "beside amounts", span))
}
