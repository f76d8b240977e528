//! Receipts: the shop at the top, the day, what was bought, and what was paid.

use serde_json::Value;

use super::totals::{Candidate, candidates, currency, summed};
use super::{Found, Reading, Record, misread, parties};
use crate::labels;
use crate::layout::{Row, Span, Token};
use crate::normalise::Amount;

/// The head of a receipt is among so many rows.
const HEAD_ROWS: usize = 16;

/// Rows of a summary of taxes, which has a total of its own.
const SUMMARY_ROWS: usize = 6;

/// Rows between name and address that are neither.
const MAX_SKIPPED: usize = 4;

/// Everything of a receipt.
pub fn find(reading: &Reading<'_>) -> Record {
    let mut record = Record::new();
    let head = shop(reading, &mut record);
    if let Some(found) = day(reading) {
        record.insert("date".into(), found);
    }
    if let Some(found) = currency(reading) {
        record.insert("currency".into(), found);
    }
    let listed = items(reading, head, &mut record);
    let bought = listed.iter().copied().reduce(Amount::plus);
    total(reading, bought, &mut record);
    record
}

fn letters(row: &Row) -> usize {
    row.tokens
        .iter()
        .filter(|token| token.confidence > 0.3)
        .flat_map(|token| token.fold.chars())
        .filter(|c| c.is_alphabetic())
        .count()
}

fn in_letters(token: &Token) -> usize {
    token.fold.chars().filter(|c| c.is_alphabetic()).count()
}

/// Words of a row without marks at its edges that scanners make of dust.
fn core(row: &Row, index: usize) -> Span {
    let noise = |at: usize| {
        row.tokens[at].fold.len() <= 1 && row.tokens[at].fold.chars().all(|c| !c.is_ascii_digit())
            || row.tokens[at].confidence < 0.2
    };
    let from = (0..row.tokens.len()).find(|&at| !noise(at)).unwrap_or(0);
    let to = (from..row.tokens.len()).rev().find(|&at| !noise(at)).map_or(row.tokens.len(), |at| at + 1);
    Span { row: index, tokens: from..to }
}

/// Name and address of the shop; says where its head ends.
fn shop(reading: &Reading<'_>, record: &mut Record) -> usize {
    let rows = &reading.sheet.rows;
    let head = rows.len().min(HEAD_ROWS);
    let named = |row: &Row| row.tokens.iter().any(|token| labels::of("company_form").has(&token.text));
    let ends = |row: &Row| {
        (0..row.tokens.len()).any(|at| {
            ["party_skip", "document"].iter().any(|name| {
                labels::of(name).at(row, at).is_some_and(|(tokens, _, letters)| {
                    tokens.start == 0 || letters >= 3 && (*name == "party_skip") && name_ends(row).is_none()
                })
            })
        })
    };
    let registered = |row: &Row| {
        row.text.starts_with('(')
            || row.tokens.iter().all(|token| {
                token.text.starts_with('(') || token.fold.chars().filter(char::is_ascii_digit).count() > 4
            })
    };
    // `NO. 53, 55,57 & 59, JALAN SATU`: numbers of houses have words behind them, prices have none.
    let priced = |at: usize| {
        reading.amounts[at].iter().any(|(span, mention)| {
            let words = rows[at].tokens[span.tokens.end..].iter().filter(|token| in_letters(token) > 2);
            mention.amount.places == 2 && words.count() < 2
        })
    };
    let fits = |at: &usize| {
        letters(&rows[*at]) >= 4 && !ends(&rows[*at]) && reading.dates[*at].is_empty() && !priced(*at)
    };
    let lines: Vec<usize> = (0..head).filter(fits).collect();
    // Behind the first line of the address nobody names the shop: `Owned by Brook Supply Ltd` is another one.
    let street = |at: usize| {
        let numbers = rows[at].tokens.iter().filter(|token| token.fold.chars().any(|c| c.is_ascii_digit()));
        let wordy = rows[at].tokens.iter().filter(|token| in_letters(token) > 3).count() > 1;
        numbers.count() > 0
            && wordy
            && !named(&rows[at])
            && !registered(&rows[at])
            && name_ends(&rows[at]).is_none()
    };
    let before_street = lines.iter().skip(1).position(|&at| street(at)).map_or(lines.len(), |at| at + 1);
    let names = || lines.iter().take(before_street.min(5));
    // `Pear Restaurant` may belong to `Pear Foods Sdn Bhd`, which stands below it: then either may be meant.
    let legal = |at: usize| rows[at].tokens.iter().any(|token| labels::of("legal_form").has(&token.text));
    let formed = names().find(|&&at| legal(at)).or_else(|| names().find(|&&at| named(&rows[at])));
    let rivals = formed.is_some_and(|&formed| {
        let shop = |at: usize| {
            (0..rows[at].tokens.len()).any(|word| labels::of("shop").at(&rows[at], word).is_some())
        };
        names().any(|&at| at < formed && (named(&rows[at]) || shop(at)))
    });
    let Some(&first) = formed.or_else(|| lines.first()) else { return 0 };
    // `KEDAI`, `Pharmacy`: what a shop calls itself.
    let is_shop = (0..rows[first].tokens.len()).any(|at| labels::of("shop").at(&rows[first], at).is_some());
    let above = first.checked_sub(1).filter(|above| lines.contains(above) && goes_on(reading, *above));
    let mut span = core(&rows[first], first);
    if let Some(end) = name_ends(&rows[first]).filter(|end| span.tokens.contains(end)) {
        span.tokens.end = end;
    }
    let spans: Vec<Span> = above.map(|above| core(&rows[above], above)).into_iter().chain([span]).collect();
    let name: Vec<String> = spans.iter().map(|span| misread::in_name(reading.sheet, span)).collect();
    // The first line may as well be a greeting or whose till it was.
    let (confidence, method) = match (formed, is_shop) {
        (Some(_), _) if rivals => (0.75, "head, form"),
        (Some(_), _) => (0.9, "head, form"),
        (None, true) => (0.82, "head, shop"),
        (None, false) => (0.75, "head"),
    };
    let value = Value::String(name.join(" "));
    record.insert("company".into(), Found { value, confidence, method, spans });
    let mut address: Vec<Span> = Vec::new();
    let (mut last, mut skipped) = (first + 1, 0);
    for (at, row) in rows.iter().enumerate().take(head).skip(first + 1) {
        if registered(row) || letters(row) < 3 && row.tokens.len() < 2 || !reading.dates[at].is_empty() {
            if address.is_empty() {
                continue;
            }
            break;
        }
        // Numbers of registers may stand between name and address.
        if ends(row) && address.is_empty() && skipped < MAX_SKIPPED {
            skipped += 1;
            continue;
        }
        // `LOT NO. : 7` begins an address; behind its postal code a key is of something else.
        let key = row.tokens.iter().take(4).any(|token| token.text.ends_with(':'));
        let postal = |line: &Span| parties::postal(&reading.sheet.text(line));
        if ends(row) || priced(at) || address.len() >= 6 || key && address.iter().any(postal) {
            break;
        }
        address.push(core(row, at));
        last = at + 1;
    }
    let digits = |span: &Span| reading.sheet.text(span).chars().any(|c| c.is_ascii_digit());
    // An address begins with a line that has a number or a word for a place, or with one that ends in a comma.
    let is_placed = |span: &Span| {
        let words = &rows[span.row].tokens[span.tokens.clone()];
        words.iter().any(|token| labels::of("building").has(&token.text))
    };
    let begins = |span: &Span| digits(span) || reading.sheet.text(span).ends_with(',') || is_placed(span);
    let begin = address.iter().position(begins);
    if let Some(begin) = begin {
        let lines = address.split_off(begin);
        let value = address_of(reading, &lines);
        let postal = lines.iter().any(|line| parties::postal(&reading.sheet.text(line)));
        let (confidence, method) = if postal { (0.82, "head, postal code") } else { (0.6, "head") };
        // It is right only if each of its words is, and there are many.
        let tokens = lines.iter().flat_map(|line| &rows[line.row].tokens[line.tokens.clone()]);
        let confidence = confidence * tokens.map(|token| token.confidence).product::<f32>();
        record.insert("address".into(), Found { value: value.into(), confidence, method, spans: lines });
    }
    last
}

/// An address as it is printed, line by line, as in Malaysia, where whoever wants a comma prints it. Elsewhere lines that
/// end without one need one between.
fn address_of(reading: &Reading<'_>, lines: &[Span]) -> String {
    let rows = reading.sheet.rows.iter().take(HEAD_ROWS);
    let malay = rows.flat_map(|row| &row.tokens).any(|token| labels::of("malay").has(&token.text));
    if !malay && currency(reading).is_none_or(|found| found.value != "MYR") {
        return parties::joined(reading, lines);
    }
    let last = lines.len().saturating_sub(1);
    let text = |(at, line)| misread::in_address(reading.sheet, line, at == last);
    lines.iter().enumerate().map(text).collect::<Vec<_>>().join(" ")
}

/// Where the number of a register begins behind a name: `(81109-A)`, `(Co Reg No: 867388-U)`, `GST ID 0017`.
fn name_ends(row: &Row) -> Option<usize> {
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    (1..row.tokens.len()).find(|&at| {
        let closed = row.tokens[at..].iter().position(|token| token.text.ends_with(')'));
        let inside = row.tokens[at..].iter().take(closed.map_or(1, |closed| closed + 1));
        let bracket = row.tokens[at].text.starts_with('(')
            && inside.map(|token| digits(&token.text)).sum::<usize>() > 3;
        let labelled = labels::of("party_skip").at(row, at).is_some_and(|(.., letters)| letters >= 3);
        let formed = row.tokens[..at].iter().any(|token| labels::of("company_form").has(&token.text));
        bracket || formed && (labelled || digits(&row.tokens[at].text) > 4)
    })
}

/// Whether a name that begins in this row ends in the next: both are large, or the next begins with the form alone.
fn goes_on(reading: &Reading<'_>, above: usize) -> bool {
    let rows = &reading.sheet.rows;
    let (Some(upper), Some(lower)) = (rows.get(above), rows.get(above + 1)) else { return false };
    let mut heights: Vec<f32> = rows.iter().map(|row| row.height).collect();
    heights.sort_by(f32::total_cmp);
    let usual = heights.get(heights.len() / 2).copied().unwrap_or(0.0);
    let alike = (upper.height - lower.height).abs() < upper.height * 0.2;
    let large = upper.height > usual * 1.4 && lower.height > usual * 1.4;
    let form = lower.tokens.first().is_some_and(|token| labels::of("company_form").has(&token.text));
    let words = !upper.text.chars().any(|c| c.is_ascii_digit());
    let close = upper.page == lower.page && lower.top - upper.bottom < upper.height;
    alike && words && close && (large || form)
}

/// The day: beside its label, or the first one.
fn day(reading: &Reading<'_>) -> Option<Found> {
    let all = reading.dates.iter().flatten();
    let (span, mention) = super::header::dated(reading, "any_date")
        .and_then(|found| {
            let at = found.spans.first()?.clone();
            reading.dates[at.row].iter().find(|(span, _)| *span == at).cloned()
        })
        .or_else(|| all.clone().next().cloned())?;
    let same = all.filter(|(_, other)| other.date == mention.date).count();
    let only = reading.dates.iter().flatten().count() == same;
    Some(Found::text(mention.date.iso(), if only { 0.96 } else { 0.88 }, "date", span))
}

/// Total and tax. What was bought adds up to one of them, or to what there is before tax.
fn total(reading: &Reading<'_>, bought: Option<Amount>, record: &mut Record) {
    let mut totals =
        candidates(reading, "receipt_total", &["subtotal", "not_total", "tax_total", "net_total"]);
    let subs = candidates(reading, "subtotal", &[]);
    totals.retain(|one| one.amount.units > 0 && !subs.iter().any(|sub| sub.spans == one.spans));
    let paid = candidates(reading, "paid", &["not_total"]);
    let cards = candidates(reading, "card", &[]);
    let changes = candidates(reading, "change", &[]);
    let taxes: Vec<_> = candidates(reading, "tax_total", &["receipt_total", "subtotal", "net_total"]);
    let amounts = || {
        reading
            .amounts
            .iter()
            .flatten()
            .map(|(_, mention)| mention)
            .filter(|mention| mention.amount.places == 2)
    };
    let roundings = candidates(reading, "rounding", &[]);
    // What tax or rounding is still put on is no total, however often it stands there.
    let more: Vec<Amount> = totals.iter().map(|one| one.amount).collect();
    let goes_on = |from: Amount, to: Amount| {
        let on_top = taxes.iter().any(|tax| tax.amount.units > 0 && from.plus(tax.amount).near(to, 1));
        on_top || roundings.iter().any(|cents| cents.amount.units != 0 && from.plus(cents.amount).near(to, 0))
    };
    let summaries = labels::of("tax_summary").everywhere(reading.sheet);
    for one in &mut totals {
        let gives = |paid: Amount| changes.iter().any(|change| paid.minus(change.amount).near(one.amount, 0));
        let agreed = paid.iter().any(|paid| gives(paid.amount) || paid.amount == one.amount)
            || cards.iter().any(|card| card.amount == one.amount)
            || bought.is_some_and(|bought| bought == one.amount);
        let added =
            subs.iter().any(|sub| taxes.iter().any(|tax| sub.amount.plus(tax.amount).near(one.amount, 5)));
        let reached = more.iter().any(|&other| goes_on(other, one.amount));
        let left = more.iter().any(|&other| goes_on(one.amount, other));
        let again = amounts().filter(|mention| mention.amount == one.amount).count() > 1;
        // `Total 6% supplies` is a part, `Total inclusive of GST @ 6%` is not.
        let part = one.spans.first().is_some_and(|span| {
            let row = &reading.sheet.rows[span.row];
            row.text.contains('%') && !row.tokens.iter().any(|token| token.fold.starts_with("incl"))
        });
        let is_of_taxes = one.spans.first().is_some_and(|span| {
            summaries.iter().any(|hit| (hit.row + 1..=hit.row + SUMMARY_ROWS).contains(&span.row))
        });
        one.score += if agreed { 0.3 } else { 0.0 }
            + if added { 0.2 } else { 0.0 }
            + if again { 0.1 } else { 0.0 }
            + if reached { 0.2 } else { 0.0 }
            - if left { 0.4 } else { 0.0 }
            - if part { 0.6 } else { 0.0 }
            - if is_of_taxes { 0.3 } else { 0.0 };
        one.method = if (agreed || added || reached) && !left { "sum" } else { "label" };
    }
    let handed = || handed_over(&paid, &changes).into_iter().chain(cards.first().cloned()).next();
    let labelled = totals.iter().max_by(|a, b| a.score.total_cmp(&b.score)).cloned();
    let Some(best) = labelled.or_else(handed) else { return };
    let confidence = if best.method == "sum" { 0.96 } else { best.score.min(0.8) };
    let before_tax = bought.is_some_and(|bought| {
        bought != best.amount && taxes.iter().any(|tax| bought.plus(tax.amount).near(best.amount, 1))
    });
    if before_tax {
        without_tax(record);
    }
    let value: Value = best.amount.money().into();
    record.insert("total".into(), Found { value, confidence, method: best.method, spans: best.spans });
    let fitting: Vec<_> = taxes
        .into_iter()
        .filter(|tax| tax.amount.units >= 0 && tax.amount.units * 2 < best.amount.units)
        .collect();
    let tax = summed(&fitting).or_else(|| fitting.first().cloned());
    if let Some(tax) = tax {
        let found = Found {
            value: tax.amount.money().into(),
            confidence: 0.85,
            method: tax.method,
            spans: tax.spans,
        };
        record.insert("tax_total".into(), found);
    }
}

/// What was handed over without what was given back, where no total can be read.
fn handed_over(paid: &[Candidate], changes: &[Candidate]) -> Option<Candidate> {
    let (paid, change) = (paid.first()?, changes.first()?);
    let amount = paid.amount.minus(change.amount);
    let spans = paid.spans.iter().chain(&change.spans).cloned().collect();
    (amount.units > 0).then_some(Candidate { amount, score: 0.6, spans, method: "paid" })
}

/// Where tax comes on top, what stands beside each thing is without it.
fn without_tax(record: &mut Record) {
    let gross: Vec<String> = record.keys().filter(|path| path.ends_with("].gross_amount")).cloned().collect();
    for path in gross {
        if let Some(found) = record.remove(&path) {
            record.insert(path.replace("].gross_amount", "].net_amount"), found);
        }
    }
}

/// `Chips nature 3,87`, and below it `3 x 1,29`. Gives what stands beside each.
fn items(reading: &Reading<'_>, from: usize, record: &mut Record) -> Vec<Amount> {
    let rows = &reading.sheet.rows;
    let sums = labels::of("receipt_total").everywhere(reading.sheet);
    let to = sums.iter().map(|hit| hit.row).find(|&row| row >= from && !reading.amounts[row].is_empty());
    let to = to.unwrap_or(rows.len());
    let mut count: usize = 0;
    let mut listed: Vec<(Amount, usize)> = Vec::new();
    for (at, row) in rows.iter().enumerate().take(to).skip(from) {
        let stop = (0..row.tokens.len().min(2)).any(|token| {
            ["subtotal", "receipt_total", "tax_total", "rounding", "paid", "not_total"]
                .iter()
                .any(|name| labels::of(name).at(row, token).is_some())
        });
        if stop || !reading.dates[at].is_empty() {
            if stop && count > 0 {
                break;
            }
            continue;
        }
        let times = row.tokens.iter().position(|token| {
            let fold = token.fold.as_str();
            let glued = fold.strip_suffix('x').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
            glued || token.text == "×" || token.text == "@"
        });
        let numbers = &reading.amounts[at];
        if let (Some(times), [.., (span, price)], Some((first, quantity))) =
            (times, numbers.as_slice(), numbers.first())
            && numbers.len() >= 2
            && first.tokens.start <= times
            && span.tokens.start > times
            && letters(row) <= 2
        {
            let item =
                listed.last().filter(|(amount, _)| quantity.amount.times(price.amount).near(*amount, 1));
            if let Some((_, index)) = item {
                record.insert(
                    format!("items[{index}].quantity"),
                    Found::text(quantity.amount.plain(), 0.95, "sum", first.clone()),
                );
                record.insert(
                    format!("items[{index}].unit_price"),
                    Found::text(price.amount.money(), 0.95, "sum", span.clone()),
                );
            }
            continue;
        }
        let Some((span, mention)) =
            numbers.last().filter(|(_, mention)| mention.amount.places == 2 && !mention.percent)
        else {
            continue;
        };
        let words = Span { row: at, tokens: 0..span.tokens.start };
        let said = misread::in_item(reading.sheet, &words);
        if said.chars().filter(|c| c.is_alphabetic()).count() < 3 {
            continue;
        }
        record.insert(format!("items[{count}].description"), Found::text(said, 0.85, "line", words));
        record.insert(
            format!("items[{count}].gross_amount"),
            Found::text(mention.amount.money(), 0.88, "line", span.clone()),
        );
        listed.push((mention.amount, count));
        count += 1;
    }
    listed.into_iter().map(|(amount, _)| amount).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Sheet;
    use crate::layout::tests::page;

    fn said(lines: &[&str]) -> Record {
        let sheet = Sheet::new(&[page(lines)]);
        find(&Reading::new(&sheet))
    }

    fn value<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
        record.get(name).and_then(|found| found.value.as_str())
    }

    #[test]
    fn number_of_a_register_is_no_part_of_a_name_and_no_name_by_itself() {
        for (line, name) in [
            ("BLUE PEAR TRADING SDN BHD (81109-A)", "BLUE PEAR TRADING SDN BHD"),
            ("BLUE PEAR (M) SDN.BHD. (Co Reg No: 867388-U)", "BLUE PEAR (M) SDN.BHD."),
            ("BLUE PEAR BERHAD 123456-X", "BLUE PEAR BERHAD"),
        ] {
            let record = said(&["WELCOME", line, "12 JALAN SATU", "43000 KAJANG"]);
            assert_eq!(value(&record, "company"), Some(name), "{record:?}");
        }
        let record = said(&["KEDAI BUKU PEAR", "(CO REG : 81109-A)", "12 JALAN SATU", "43000 KAJANG"]);
        assert_eq!(value(&record, "company"), Some("KEDAI BUKU PEAR"));
    }

    #[test]
    fn total_with_its_rate_of_tax_is_the_total() {
        let record = said(&[
            "PEAR SDN BHD",
            "Total Sales (Excluding GST)   36.79",
            "GST @ 6%                        2.21",
            "Total Sales (Inclusive GST @ 6%)  39.00",
            "CASH     50.00",
            "CHANGE   11.00",
        ]);
        assert_eq!(value(&record, "total"), Some("39.00"), "{record:?}");
        assert!(record["total"].confidence > 0.9);
    }

    #[test]
    fn total_of_a_summary_of_taxes_is_not_what_was_paid() {
        let record = said(&[
            "PEAR SDN BHD",
            "TOTAL    39.00",
            "GST Summary   Amount(RM)   Tax(RM)",
            "SR @ 6%   36.79   2.21",
            "TOTAL     36.79   2.21",
        ]);
        assert_eq!(value(&record, "total"), Some("39.00"), "{record:?}");
    }

    #[test]
    fn what_was_kept_of_the_money_is_the_total_where_nothing_names_it() {
        let record = said(&["PEAR SDN BHD", "TUNAI    50.00", "BAKI     11.00"]);
        assert_eq!(value(&record, "total"), Some("39.00"));
        assert!(record["total"].confidence < 0.8);
    }

    #[test]
    fn numbers_of_houses_are_no_prices_and_lines_are_joined_as_they_are_printed() {
        let record = said(&[
            "PEAR BOOKS SDN BHD",
            "789411-W",
            "NO.53 55,57 & 59, JALAN SATU",
            "TAMAN DUA",
            "81100 JOHOR BAHRU",
            "Document No : TD0116",
        ]);
        assert_eq!(
            value(&record, "address"),
            Some("NO.53 55,57 & 59, JALAN SATU TAMAN DUA 81100 JOHOR BAHRU")
        );
    }

    #[test]
    fn owner_behind_the_address_is_not_the_shop() {
        let record = said(&[
            "PEAR STATIONERY SHOP",
            "NO. 31G & 33G, JALAN SATU",
            "40170 SHAH ALAM",
            "Owned By :",
            "PEAR SUPPLY SDN BHD",
            "TOTAL 3.00",
        ]);
        assert_eq!(value(&record, "company"), Some("PEAR STATIONERY SHOP"), "{record:?}");
    }

    #[test]
    fn what_tax_or_rounding_is_still_put_on_is_not_the_total() {
        let record = said(&[
            "PEAR SDN BHD",
            "Rice   24.50",
            "TOTAL AMOUNT  24.50",
            "GST @ 6%  1.47",
            "AMOUNT DUE  25.97",
        ]);
        assert_eq!(value(&record, "total"), Some("25.97"), "{record:?}");
        let record = said(&[
            "PEAR SDN BHD",
            "Rice   22.72",
            "TOTAL   22.72",
            "ROUNDING   -0.02",
            "NETT TOTAL   22.70",
        ]);
        assert_eq!(value(&record, "total"), Some("22.70"), "{record:?}");
        assert!(record["total"].confidence > 0.9);
    }

    #[test]
    fn company_with_its_legal_form_is_taken_before_the_name_of_its_shop_and_doubted() {
        let record =
            said(&["PEAR JAPANESE RESTAURANT", "PEAR FOODS SDN BHD", "12 JALAN SATU", "43000 KAJANG"]);
        assert_eq!(value(&record, "company"), Some("PEAR FOODS SDN BHD"));
        assert!(record["company"].confidence < 0.8);
        let record = said(&["CASH SALES", "PEAR HARDWARE", "12 JALAN SATU", "43000 KAJANG"]);
        assert_eq!(value(&record, "company"), Some("PEAR HARDWARE"));
        let record = said(&["PEAR CAFE", "LOT 1-25, LEVEL 1, CITY MALL", "JALAN SATU, 43000 KAJANG"]);
        assert_eq!(value(&record, "address"), Some("LOT 1-25, LEVEL 1, CITY MALL JALAN SATU, 43000 KAJANG"));
    }
}
