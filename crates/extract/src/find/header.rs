//! Numbers, dates and codes that stand beside or below a label: invoice number, dates, IBAN, BIC, order number.

use serde_json::Value;

use super::{Found, Reading, Record};
use crate::labels::{self, Hit};
use crate::layout::{Row, Span};
use crate::normalise::{Date, codes};

/// Labels at which a value ends.
const STOPS: &[&str] =
    &["invoice_number", "invoice_date", "due_date", "order_number", "customer_number", "bic", "iban"];

/// Words before the name of a paper to which this one only refers.
const OTHERS: &[&str] = &[
    "zur",
    "zu",
    "zum",
    "ursprungliche",
    "ursprunglichen",
    "ursprunglicher",
    "vorherige",
    "bezug",
    "original",
    "origine",
    "dorigine",
    "initiale",
    "previous",
    "related",
    "corrected",
    "concerne",
    "annule",
    "storno",
];

/// Everything of an invoice's head but its parties.
pub fn find(reading: &Reading<'_>) -> Record {
    let mut record = Record::new();
    let mut put = |name: &str, found: Option<Found>| {
        if let Some(found) = found {
            record.insert(name.to_owned(), found);
        }
    };
    let numbered =
        number(reading, "invoice_number").or_else(|| titled(reading)).or_else(|| under_title(reading));
    put("invoice_number", numbered);
    put("order_number", number(reading, "order_number"));
    let due = dated(reading, "due_date");
    let issued = dated(reading, "invoice_date")
        .or_else(|| titled_date(reading))
        .or_else(|| loose_date(reading, due.as_ref()));
    put("invoice_date", issued);
    put("due_date", due);
    put("iban", super::iban::find(reading));
    put("bic", bic(reading));
    record
}

/// The best value of a date beside such a label.
pub fn dated(reading: &Reading<'_>, name: &str) -> Option<Found> {
    let mut best: Option<Found> = None;
    for hit in labels::of(name).everywhere(reading.sheet) {
        if names_another(reading, &hit) {
            continue;
        }
        let found = beside(reading, &hit).or_else(|| under(reading, &hit));
        if let Some(found) =
            found.filter(|found| best.as_ref().is_none_or(|b| b.confidence < found.confidence))
        {
            best = Some(found);
        }
    }
    best
}

fn date_found(reading: &Reading<'_>, date: Date, confidence: f32, method: &'static str, span: Span) -> Found {
    let text = reading.sheet.text(&span);
    // Where nothing tells day and month apart, a reading is a guess.
    let doubtful = !reading.order_known && date_has_two_readings(&text);
    Found::text(date.iso(), if doubtful { confidence * 0.85 } else { confidence }, method, span)
}

fn date_has_two_readings(text: &str) -> bool {
    use crate::normalise::Order;
    !text.contains('.') && Date::parse(text, Order::DayFirst) != Date::parse(text, Order::MonthFirst)
}

fn beside(reading: &Reading<'_>, hit: &Hit) -> Option<Found> {
    let right = reading.right_of(hit, STOPS);
    let (span, mention) = reading.dates[hit.row].iter().find(|(span, _)| {
        span.tokens.start >= right.start
            && span.tokens.start < right.end
            && span.tokens.start - right.start <= 4
    })?;
    Some(date_found(reading, mention.date, 0.95, "label", span.clone()))
}

fn under(reading: &Reading<'_>, hit: &Hit) -> Option<Found> {
    reading.below(hit, 1).iter().find_map(|cell| {
        let inside = |span: &Span| span.tokens.start < cell.tokens.end && span.tokens.end > cell.tokens.start;
        let (span, mention) = reading.dates[cell.row].iter().find(|(span, _)| inside(span))?;
        Some(date_found(reading, mention.date, 0.9, "label above", span.clone()))
    })
}

/// A date beside the plain word for one, or the only day that the head of the first page names.
fn loose_date(reading: &Reading<'_>, due: Option<&Found>) -> Option<Found> {
    if let Some(found) = dated(reading, "any_date") {
        return Some(Found { confidence: found.confidence * 0.85, ..found });
    }
    if let Some(found) = under_way(reading) {
        return Some(found);
    }
    // `vom`, `du`: of this paper or of another one.
    let weak = labels::of("weak_date").everywhere(reading.sheet);
    let next = |hit: &Hit| beside(reading, hit).filter(|found| found.spans[0].tokens.start == hit.tokens.end);
    if let Some(found) = weak.iter().filter(|hit| !names_another(reading, hit)).find_map(next) {
        return Some(Found { confidence: found.confidence * 0.75, ..found });
    }
    let top = reading.sheet.rows.iter().enumerate().filter(|(_, row)| row.page == 0);
    let mut dates = top.flat_map(|(at, _)| reading.dates[at].iter());
    let (span, mention) =
        dates.find(|(_, mention)| due.is_none_or(|due| due.value != Value::String(mention.date.iso())))?;
    Some(date_found(reading, mention.date, 0.5, "first date", span.clone()))
}

/// Where and when a letter was written: `Dresden, 12. April 2018`, `Erfurt, den 3.2.2022`.
fn under_way(reading: &Reading<'_>) -> Option<Found> {
    let rows = reading.sheet.rows.iter().enumerate().filter(|(_, row)| row.page == 0);
    for (index, row) in rows {
        let Some((span, mention)) = reading.dates[index].first() else { continue };
        let cell = row.tokens[span.tokens.start].cell;
        let before = row.tokens[..span.tokens.start].iter().filter(|token| token.cell == cell);
        let mut before: Vec<_> = before.collect();
        if before.last().is_some_and(|token| token.fold == "den") {
            before.pop();
        }
        let is_place = before.last().is_some_and(|token| token.text.ends_with(','))
            && before.len() < 4
            && before
                .iter()
                .all(|token| token.text.chars().all(|c| c.is_alphabetic() || "-,./()".contains(c)));
        let ends = row.tokens.get(span.tokens.end).is_none_or(|next| next.cell > cell);
        if is_place && ends {
            return Some(date_found(reading, mention.date, 0.85, "place and date", span.clone()));
        }
    }
    None
}

/// A value with digits beside such a label.
fn number(reading: &Reading<'_>, name: &str) -> Option<Found> {
    let mut best: Option<(f32, Found)> = None;
    for hit in labels::of(name).everywhere(reading.sheet) {
        if is_of_another(&reading.sheet.rows[hit.row], hit.tokens.start) {
            continue;
        }
        let right = reading.right_of(&hit, STOPS);
        let beside = coded(reading, hit.row, right).map(|span| (span, 0.95, "label"));
        let found = beside.or_else(|| {
            let cell = reading.below(&hit, 1).into_iter().next()?;
            let span = coded(reading, cell.row, cell.tokens)?;
            (!is_of_a_house(reading, &span)).then_some((span, 0.9, "label above"))
        });
        let Some((span, confidence, method)) = found else { continue };
        let value = clean(&reading.sheet.text(&span));
        // Labels higher up and longer ones say more.
        let score = confidence + hit.letters as f32 * 0.002 - hit.row as f32 * 0.001;
        if best.as_ref().is_none_or(|(least, _)| *least < score) {
            best = Some((score, Found::text(value, confidence, method, span)));
        }
    }
    best.map(|(_, found)| found)
}

/// Whether the words before a label say that another paper is meant: `zur Rechnung Nr. 17`, `facture d'origine`.
fn is_of_another(row: &Row, at: usize) -> bool {
    let here = row.tokens.get(at).map(|token| token.cell);
    let near = at.saturating_sub(2)..at;
    let before = row.tokens.get(near).unwrap_or_default();
    before.iter().any(|token| Some(token.cell) == here && OTHERS.contains(&token.fold.as_str()))
}

/// Whether what stands before a label in its cell is another paper: `Ihre Bestellung B-7 vom`, `zur Rechnung 17 vom`.
fn names_another(reading: &Reading<'_>, hit: &Hit) -> bool {
    let row = &reading.sheet.rows[hit.row];
    let cell = row.tokens[hit.tokens.start].cell;
    let mut before = (0..hit.tokens.start).filter(|&at| row.tokens[at].cell == cell);
    before.any(|at| {
        is_title(&row.tokens[at]) && is_of_another(row, at)
            || ["order_number", "other_paper"].iter().any(|name| labels::of(name).at(row, at).is_some())
    })
}

/// Whether a number begins an address: `12 Pier Road`.
fn is_of_a_house(reading: &Reading<'_>, span: &Span) -> bool {
    let words = &reading.sheet.rows[span.row].tokens;
    let in_letters = |text: &str| text.len() > 1 && text.chars().all(char::is_alphabetic);
    let number = &words[span.tokens.start].fold;
    number.len() <= 4
        && number.bytes().all(|b| b.is_ascii_digit())
        && words.get(span.tokens.end).is_some_and(|next| in_letters(&next.fold))
}

/// The first word among these that has digits and is neither a date nor a percentage; words before it must be few.
fn coded(reading: &Reading<'_>, row: usize, tokens: std::ops::Range<usize>) -> Option<Span> {
    let words = &reading.sheet.rows[row].tokens;
    for at in tokens.clone().take(3) {
        let word = &words[at];
        if reading.dates[row].iter().any(|(span, _)| span.tokens.contains(&at)) {
            return None;
        }
        let digits = word.fold.chars().filter(char::is_ascii_digit).count();
        if digits > 0 && word.fold.len() >= 2 {
            return Some(Span { row, tokens: at..at + 1 });
        }
        if digits == 0 && word.fold.len() > 3 {
            return None;
        }
    }
    None
}

fn clean(text: &str) -> String {
    text.trim_matches(|c: char| matches!(c, ':' | ',' | ';' | '#' | '.' | '|' | ')' | '(')).to_owned()
}

/// `Handelsrechnung (380) Nr. 4711 vom 05.03.2018`: the title itself has the number.
fn titled(reading: &Reading<'_>) -> Option<Found> {
    for (index, row) in reading.sheet.rows.iter().enumerate().filter(|(_, row)| row.page == 0).take(40) {
        let title = row.tokens.iter().take(3).position(is_title);
        let Some(title) = title.filter(|&at| !is_of_another(row, at)) else { continue };
        // `Total factura 343,20` is what it comes to.
        if (0..=title).any(|at| labels::of("gross_total").at(row, at).is_some()) {
            continue;
        }
        let mark = (title + 1..row.tokens.len().min(title + 6)).find(|&at| is_mark(&row.tokens[at]));
        let from = mark.map_or(title + 1, |at| at + 1);
        if let Some(span) = coded(reading, index, from..row.tokens.len()) {
            let confidence = if mark.is_some() { 0.93 } else { 0.75 };
            return Some(Found::text(clean(&reading.sheet.text(&span)), confidence, "title", span));
        }
    }
    None
}

/// Whether a word only says that a number follows: `Nr.`, `N°`, `#`.
fn is_mark(token: &crate::layout::Token) -> bool {
    matches!(token.fold.as_str(), "nr" | "no" | "n" | "nummer" | "number" | "numero") || token.text == "#"
}

/// A number that stands alone under the title, or behind a word that only says that it is one.
fn under_title(reading: &Reading<'_>) -> Option<Found> {
    let rows = reading.sheet.rows.iter().enumerate().filter(|(_, row)| row.page == 0).take(40);
    for (index, row) in rows {
        for cell in
            row.cells().into_iter().filter(|cell| cell.len() == 1 && is_title(&row.tokens[cell.start]))
        {
            let hit = Hit { row: index, tokens: cell, rank: 0, letters: 0 };
            let under = reading.below(&hit, 1).into_iter().next().filter(|under| {
                let words = &reading.sheet.rows[under.row].tokens[under.tokens.clone()];
                let said = words.iter().filter(|word| !word.fold.is_empty() || is_mark(word)).count();
                said == 1 || said == 2 && words.first().is_some_and(is_mark)
            });
            if let Some(span) = under.and_then(|under| coded(reading, under.row, under.tokens)) {
                return Some(Found::text(clean(&reading.sheet.text(&span)), 0.88, "title above", span));
            }
        }
    }
    None
}

fn is_title(token: &crate::layout::Token) -> bool {
    let ends = [
        "rechnung",
        "invoice",
        "facture",
        "factura",
        "fattura",
        "factuur",
        "gutschrift",
        "korrektur",
        "avoir",
    ];
    ends.iter().any(|end| token.fold.ends_with(end)) && token.fold.len() < 24
}

/// The date in the title or in the row below it.
fn titled_date(reading: &Reading<'_>) -> Option<Found> {
    for (index, row) in reading.sheet.rows.iter().enumerate().filter(|(_, row)| row.page == 0).take(40) {
        let title = row.tokens.iter().take(3).position(is_title);
        if title.is_none_or(|at| is_of_another(row, at)) {
            continue;
        }
        let last = row.tokens.last().map(|token| token.fold.as_str());
        let rows = if matches!(last, Some("vom" | "du" | "del" | "of" | "van")) {
            index..index + 2
        } else {
            index..index + 1
        };
        for at in rows {
            if let Some((span, mention)) = reading.dates.get(at).and_then(|dates| dates.first()) {
                return Some(date_found(reading, mention.date, 0.93, "title", span.clone()));
            }
        }
    }
    None
}

fn bic(reading: &Reading<'_>) -> Option<Found> {
    let code = |row: usize, mut tokens: std::ops::Range<usize>| {
        tokens.find_map(|at| {
            let word = reading.sheet.rows[row].tokens.get(at)?.text.trim_matches([':', ',', '.', ';', '·']);
            let bic = codes::bic(word).filter(|_| word.chars().all(|c| !c.is_lowercase()))?;
            Some((bic, Span { row, tokens: at..at + 1 }))
        })
    };
    for hit in labels::of("bic").everywhere(reading.sheet) {
        if let Some((bic, span)) = code(hit.row, hit.tokens.end..hit.tokens.end + 3) {
            return Some(Found::text(bic, 0.93, "label", span));
        }
        let below = reading.below(&hit, 1).into_iter().next();
        if let Some((bic, span)) = below.and_then(|cell| code(cell.row, cell.tokens)) {
            return Some(Found::text(bic, 0.92, "label above", span));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Sheet;
    use crate::layout::tests::page;

    #[test]
    fn number_behind_its_mark_under_the_title_is_that_of_the_invoice() {
        let number = |lines: &[&str]| {
            let sheet = Sheet::new(&[page(lines)]);
            find(&Reading::new(&sheet)).remove("invoice_number").map(|found| found.value)
        };
        assert_eq!(number(&["FACTURE", "N° FA-2017-0010", "Date : 13/11/2017"]), Some("FA-2017-0010".into()));
        assert_eq!(number(&["INVOICE", "# 3371"]), Some("3371".into()));
        assert_eq!(number(&["INVOICE", "12 Pier Road", "Portland"]), None);
        assert_eq!(number(&["Rechnungsnummer:2021-117"]), Some("2021-117".into()));
    }

    #[test]
    fn correction_has_its_own_number_and_date_and_not_those_of_what_it_corrects() {
        let sheet = Sheet::new(&[page(&[
            "Erfurt, den 03.02.2022",
            "Rechnungskorrektur Nr. K-007",
            "zur Rechnung Nr. 2021-1188 vom 15.12.2021",
            "Ihre Bestellung B-7 vom 01.12.2021",
        ])]);
        let found = find(&Reading::new(&sheet));
        assert_eq!(found["invoice_number"].value, "K-007");
        assert_eq!(found["invoice_date"].value, "2022-02-03");
        assert!(found["invoice_date"].confidence > 0.8);
    }

    #[test]
    fn date_behind_a_small_word_alone_is_a_guess() {
        let sheet = Sheet::new(&[page(&["Rechnung Nr. 4711", "geliefert mit Wagen vom 15.12.2021"])]);
        let found = find(&Reading::new(&sheet));
        assert!(found["invoice_date"].confidence < 0.8, "{found:?}");
    }

    #[test]
    fn number_behind_its_mark_and_a_colon_under_the_title_is_that_of_the_invoice() {
        let sheet = Sheet::new(&[page(&["FACTURE", "N° : FA-2017-0011", "Date : 13/11/2017"])]);
        assert_eq!(find(&Reading::new(&sheet))["invoice_number"].value, "FA-2017-0011");
    }

    #[test]
    fn what_it_comes_to_is_no_number_of_it() {
        let sheet = Sheet::new(&[page(&["Nº factura: 2019/0342", "Total factura   343,20 €"])]);
        assert_eq!(find(&Reading::new(&sheet))["invoice_number"].value, "2019/0342");
        let sheet = Sheet::new(&[page(&["Total factura   343,20 €"])]);
        assert!(!find(&Reading::new(&sheet)).contains_key("invoice_number"));
    }
}
