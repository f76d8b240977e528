//! What an invoice comes to: net, tax and gross, chosen so that they add up.

use super::{Found, Reading, Record};
use crate::labels;
use crate::layout::{Row, Span};
use crate::normalise::Amount;

/// What may be lost to rounding, in hundredths.
const ROUNDING: i64 = 2;

/// Rows below the heads of a table of sums.
const SUM_ROWS: usize = 8;

/// Kinds of sums, as labels name them.
const SUMS: &[&str] = &["net_total", "tax_total", "gross_total"];

/// Words after which a tax is said to be in a sum or not in it: `Netto (exkl. MwSt.)` is no tax.
const WHETHER: &[&str] = &[
    "excl",
    "exkl",
    "excluding",
    "exclusive",
    "incl",
    "inkl",
    "including",
    "inclusive",
    "ohne",
    "mit",
    "without",
    "with",
    "before",
    "hors",
    "sin",
    "con",
    "inclusief",
    "exclusief",
    "esclusa",
    "inclusa",
];

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
    let (mut nets, mut taxes, mut grosses) = (
        candidates(reading, "net_total", &["gross_total", "tax_total"]),
        candidates(reading, "tax_total", &["net_total", "gross_total"]),
        candidates(reading, "gross_total", &["net_total"]),
    );
    // What is left to pay of a paid bill is nothing, and not what the bill comes to.
    if grosses.iter().any(|one| one.amount.units != 0) {
        grosses.retain(|one| one.amount.units != 0);
    }
    if let Some(sum) = summed(&taxes) {
        taxes.push(sum);
    }
    if let Some(sum) = summed(&nets) {
        nets.push(sum);
    }
    let best = tabled(reading)
        .or_else(|| consistent(&nets, &taxes, &grosses))
        .or_else(|| headed(reading))
        .or_else(|| rated(reading));
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
    } else if let Some((tax, gross)) = charged(reading, &nets, &taxes, &grosses) {
        // Whether the sum without tax has the charges in it depends on who is asked.
        put(&mut record, "tax_total", &tax, 0.9);
        put(&mut record, "total_amount", &gross, 0.93);
        if let Some(net) = nets.first() {
            put(&mut record, "tax_basis_total", net, 0.6);
        }
    } else {
        let top = |list: &[Candidate]| list.iter().max_by(|a, b| a.score.total_cmp(&b.score)).cloned();
        for (name, list) in [("tax_basis_total", &nets), ("tax_total", &taxes), ("total_amount", &grosses)] {
            if let Some(candidate) = top(list) {
                put(&mut record, name, &candidate, candidate.score.min(0.7));
            }
        }
    }
    untaxed(reading, &taxes, &mut record);
    if let Some(found) = currency(reading) {
        record.insert("currency".to_owned(), found);
    }
    record
}

/// Tax and gross that add up with what is charged for sending, or taken off.
fn charged(
    reading: &Reading<'_>,
    nets: &[Candidate],
    taxes: &[Candidate],
    grosses: &[Candidate],
) -> Option<(Candidate, Candidate)> {
    let charges = candidates(reading, "charge", &["net_total", "gross_total"]);
    let fits = |net: &Candidate, tax: &Candidate, gross: &Candidate| {
        let without = net.amount.plus(tax.amount);
        let less = |charge: &Candidate| without.minus(charge.amount).near(gross.amount, ROUNDING);
        charges.iter().any(|charge| without.plus(charge.amount).near(gross.amount, ROUNDING) || less(charge))
    };
    nets.iter().find_map(|net| {
        taxes.iter().find_map(|tax| {
            let gross = grosses.iter().find(|gross| fits(net, tax, gross))?;
            Some((tax.clone(), gross.clone()))
        })
    })
}

/// Where a bill says why it has no tax, its sum with tax is the one without.
fn untaxed(reading: &Reading<'_>, taxes: &[Candidate], record: &mut Record) {
    let none = taxes.iter().all(|tax| tax.amount.units == 0);
    if none
        && !record.contains_key("tax_basis_total")
        && !labels::of("exempt").everywhere(reading.sheet).is_empty()
        && let Some(gross) = record.get("total_amount").cloned()
    {
        record.insert("tax_basis_total".to_owned(), Found { method: "exempt", ..gross });
    }
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
        if longer || name == "tax_total" && is_aside(row, hit.tokens.start) {
            continue;
        }
        let amounts: Vec<_> = reading.amounts[hit.row]
            .iter()
            .filter(|(span, mention)| {
                span.tokens.start >= hit.tokens.end
                    && !mention.percent
                    && (mention.amount.places == 2 || mention.currency.is_some())
            })
            .collect();
        // Where another sum stands beside this one, its amount is not this one's.
        let next = amounts.first().and_then(|(first, _)| next_sum(row, first.tokens.end));
        let own = amounts.iter().rfind(|(span, _)| next.is_none_or(|next| span.tokens.start < next));
        let Some((span, mention)) = own else { continue };
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

/// Whether a tax is only named beside a sum, `Total (incl. VAT)`, and is none itself.
fn is_aside(row: &Row, at: usize) -> bool {
    let whether = |at: usize| WHETHER.contains(&row.tokens[at].fold.as_str());
    let is_sum = |at| ["net_total", "gross_total"].iter().any(|name| labels::of(name).at(row, at).is_some());
    at > 0 && (whether(at) || whether(at - 1)) && (0..at).any(is_sum)
}

/// Where the label of another sum begins in a cell of its own.
fn next_sum(row: &Row, from: usize) -> Option<usize> {
    let begins = |at: &usize| *at > 0 && row.tokens[*at].cell > row.tokens[at - 1].cell;
    let is_sum = |at: &usize| SUMS.iter().any(|name| labels::of(name).at(row, *at).is_some());
    (from..row.tokens.len()).find(|at| begins(at) && is_sum(at))
}

/// Taxes of several rates, or what they are of, together, where each stands in its own row.
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
    let totals = labels::of("gross_total").everywhere(reading.sheet);
    totals.iter().rev().find_map(|hit| adding_up(reading, hit.row))
}

/// A row without a word for it, below heads that name net, tax and gross. Items may stand under such heads too: what
/// all come to is no less than anything else.
fn headed(reading: &Reading<'_>) -> Option<[Candidate; 3]> {
    let rows = reading.sheet.rows.len();
    let is_head = |index: &usize| {
        let is_named = |name: &&str| !labels::of(name).in_row(reading.sheet, *index).is_empty();
        reading.amounts[*index].iter().all(|(_, mention)| mention.percent) && SUMS.iter().all(is_named)
    };
    let most = reading.amounts.iter().flatten().filter(|(_, mention)| mention.amount.places == 2);
    let most = most.map(|(_, mention)| mention.amount).max()?;
    let below = (0..rows).filter(is_head).flat_map(|head| head + 1..rows.min(head + 1 + SUM_ROWS));
    below.filter_map(|row| adding_up(reading, row)).find(|[.., gross]| gross.amount >= most)
}

/// Rows of a rate, a sum and its tax, whatever they are called: the tax is that part of the sum, and both together stand
/// elsewhere on the page.
fn rated(reading: &Reading<'_>) -> Option<[Candidate; 3]> {
    let mut rows: Vec<[Candidate; 2]> = Vec::new();
    for mentions in &reading.amounts {
        let Some((_, rate)) = mentions.iter().find(|(_, mention)| mention.percent) else { continue };
        let part = |net: Amount| net.times(Amount { units: rate.amount.units / 100, ..rate.amount });
        let sums: Vec<_> =
            mentions.iter().filter(|(_, mention)| !mention.percent && mention.amount.places == 2).collect();
        let fits = sums
            .windows(2)
            .find(|two| two[1].1.amount.units != 0 && part(two[0].1.amount).near(two[1].1.amount, ROUNDING));
        let Some([net, tax]) = fits else { continue };
        let candidate = |(span, mention): &(Span, crate::normalise::amount::Mention)| Candidate {
            amount: mention.amount,
            score: 0.8,
            spans: vec![span.clone()],
            method: "rate",
        };
        rows.push([candidate(net), candidate(tax)]);
    }
    let all = |at: usize| -> Option<Candidate> {
        let column: Vec<Candidate> = rows.iter().map(|row| row[at].clone()).collect();
        if column.len() > 1 { summed(&column) } else { column.first().cloned() }
    };
    let (net, tax) = (all(0)?, all(1)?);
    let both = net.amount.plus(tax.amount);
    let found = reading
        .amounts
        .iter()
        .flatten()
        .filter(|(_, mention)| mention.amount.places == 2 && !mention.percent);
    let (span, mention) = found.rev().find(|(_, mention)| mention.amount.near(both, ROUNDING))?;
    let gross = Candidate { amount: mention.amount, score: 0.8, spans: vec![span.clone()], method: "rate" };
    Some([net, tax, gross])
}

/// Three amounts side by side in a row of which the first two make the third.
fn adding_up(reading: &Reading<'_>, row: usize) -> Option<[Candidate; 3]> {
    let amounts: Vec<_> = reading.amounts[row].iter().filter(|(_, mention)| !mention.percent).collect();
    let candidate = |(span, mention): &(Span, crate::normalise::amount::Mention)| Candidate {
        amount: mention.amount,
        score: 0.9,
        spans: vec![span.clone()],
        method: "sum row",
    };
    // Goods and freight may add up before them.
    amounts.windows(3).rev().find_map(|three| {
        let [net, tax, gross] = [three[0], three[1], three[2]];
        let adds = gross.1.amount.units != 0
            && tax.1.amount.units.abs() < net.1.amount.units.abs()
            && net.1.amount.plus(tax.1.amount).near(gross.1.amount, ROUNDING);
        adds.then(|| [candidate(net), candidate(tax), candidate(gross)])
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Sheet;
    use crate::layout::tests::page;

    fn sums(lines: &[&str]) -> [Option<String>; 3] {
        let sheet = Sheet::new(&[page(lines)]);
        let record = find(&Reading::new(&sheet));
        let of = |name: &str| record.get(name).and_then(|found| found.value.as_str()).map(str::to_owned);
        [of("tax_basis_total"), of("tax_total"), of("total_amount")]
    }

    #[test]
    fn sums_beside_each_other_and_taxes_named_aside_are_told_apart() {
        let expected = ["100.00", "21.00", "121.00"].map(|sum| Some(sum.to_owned()));
        assert_eq!(sums(&["Exclusief BTW  100,00   Totaal  121,00", "BTW 21%  21,00"]), expected);
        assert_eq!(
            sums(&[
                "Rechnungssumme Netto (exkl. USt.)   100,00",
                "USt. 21%  21,00",
                "Rechnungssumme Brutto (inkl. USt.)   121,00"
            ]),
            expected
        );
    }

    #[test]
    fn last_row_below_the_heads_of_sums_has_all_of_them() {
        let lines = [
            "Warenwert   Nettobetrag   MwSt-Betrag   Endbetrag",
            "60,00       60,00         12,60         72,60",
            "40,00       40,00         8,40          48,40",
            "100,00      100,00        21,00         121,00",
        ];
        assert_eq!(sums(&lines), ["100.00", "21.00", "121.00"].map(|sum| Some(sum.to_owned())));
    }

    #[test]
    fn goods_and_freight_that_add_up_are_not_net_and_tax() {
        let lines =
            ["Warenwert   Fracht   Netto   USt 19%   Brutto", "85,00   7,90   92,90   17,65   110,55"];
        assert_eq!(sums(&lines), ["92.90", "17.65", "110.55"].map(|sum| Some(sum.to_owned())));
    }

    #[test]
    fn sending_is_added_and_nothing_left_to_pay_is_not_what_it_comes_to() {
        let lines = [
            "Subtotal   $57.99",
            "Shipping   $6.00",
            "Sales Tax   $4.00",
            "Total   $67.99",
            "Balance Due   $0.00",
        ];
        let sheet = Sheet::new(&[page(&lines)]);
        let record = find(&Reading::new(&sheet));
        assert_eq!(record["total_amount"].value, "67.99");
        assert!(record["total_amount"].confidence > 0.8 && record["tax_basis_total"].confidence < 0.8);
    }

    #[test]
    fn bill_that_says_why_it_has_no_tax_comes_to_the_same_without_it() {
        let exempt = "Gemäß § 19 UStG wird keine Umsatzsteuer berechnet.";
        assert_eq!(sums(&["Rechnungsbetrag   720,00", exempt])[0], Some("720.00".to_owned()));
        assert_eq!(sums(&["Rechnungsbetrag   720,00"])[0], None);
    }

    #[test]
    fn rates_tell_net_and_tax_whatever_they_are_called() {
        let lines =
            ["Chair  39,99 €", "Gesamtpreis  39,99 €", "USt. %   Summe   Anteil", "19%   33,61 €   6,38 €"];
        assert_eq!(sums(&lines), ["33.61", "6.38", "39.99"].map(|sum| Some(sum.to_owned())));
        let lines = [
            "Netto 7 %  185,00",
            "USt 7 %  12,95",
            "Netto 19 %  110,00",
            "USt 19 %  20,90",
            "Gesamtsumme  328,85",
        ];
        assert_eq!(sums(&lines), ["295.00", "33.85", "328.85"].map(|sum| Some(sum.to_owned())));
    }
}
