//! Letters and statements of accounts: who writes to whom, when, and what an account holds.

use super::{Found, Reading, Record, header, parties, totals};
use crate::labels::{self, Hit};
use crate::layout::{Span, folded};

/// Balances by the words beside them.
const BALANCES: &[(&str, &[&str])] = &[
    (
        "opening_balance",
        &[
            "opening balance",
            "anfangssaldo",
            "alter saldo",
            "ancien solde",
            "saldo inicial",
            "saldo iniziale",
            "beginsaldo",
        ],
    ),
    (
        "closing_balance",
        &[
            "closing balance",
            "endsaldo",
            "neuer saldo",
            "nouveau solde",
            "saldo final",
            "saldo finale",
            "eindsaldo",
        ],
    ),
];

/// Words before the subject of a letter.
const SUBJECTS: &[&str] = &["re", "subject", "betreff", "objet", "asunto", "oggetto", "betreft"];

/// Sender, recipient, date and subject of a letter.
pub fn letter(reading: &Reading<'_>) -> Record {
    let mut record = Record::new();
    for (name, found) in parties::find(reading) {
        let renamed = match name.as_str() {
            "seller_name" => "sender",
            "buyer_name" => "recipient",
            _ => continue,
        };
        record.insert(renamed.into(), Found { confidence: found.confidence * 0.9, ..found });
    }
    let dated = header::dated(reading, "any_date").or_else(|| {
        let (span, mention) = reading.dates.iter().flatten().next()?;
        Some(Found::text(mention.date.iso(), 0.8, "first date", span.clone()))
    });
    record.extend(dated.map(|found| ("date".to_owned(), found)));
    let subjects: Vec<String> = SUBJECTS.iter().map(|word| folded(word)).collect();
    for (index, row) in reading.sheet.rows.iter().enumerate().filter(|(_, row)| row.tokens.len() > 1) {
        let label = labels::Labels::new(&subjects).at(row, 0);
        if label.is_some_and(|(tokens, ..)| {
            row.tokens[tokens.end - 1].text.ends_with(':') || row.tokens[tokens.end].text == ":"
        }) {
            let from = (1..row.tokens.len()).find(|&at| !row.tokens[at].fold.is_empty()).unwrap_or(1);
            let span = Span { row: index, tokens: from..row.tokens.len() };
            record.insert("subject".into(), Found::text(reading.sheet.text(&span), 0.9, "label", span));
            break;
        }
    }
    record
}

/// Account, balances and currency of a statement.
pub fn statement(reading: &Reading<'_>) -> Record {
    let mut record = header::find(reading);
    record.retain(|name, _| matches!(name.as_str(), "iban" | "bic"));
    record.extend(totals::currency(reading).map(|found| ("currency".to_owned(), found)));
    for (field, words) in BALANCES {
        let words: Vec<String> = words.iter().map(|word| folded(word)).collect();
        let found = labelled_amount(reading, &labels::Labels::new(&words).everywhere(reading.sheet));
        record.extend(found.map(|found| ((*field).to_owned(), found)));
    }
    record
}

/// The last amount in the row of a label. `00` is what is left of one that recognition tore: nobody writes nothing so.
pub(crate) fn labelled_amount(reading: &Reading<'_>, hits: &[Hit]) -> Option<Found> {
    hits.iter().find_map(|hit| {
        let (span, mention) =
            reading.amounts[hit.row].iter().rfind(|(span, _)| span.tokens.start >= hit.tokens.end)?;
        let zeros = reading.sheet.text(span).bytes().filter(|b| *b == b'0').count();
        let torn = mention.amount.units == 0 && mention.amount.places == 0 && zeros > 1;
        (!torn).then(|| Found::text(mention.amount.money(), 0.92, "label", span.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Sheet;
    use crate::layout::tests::page;

    #[test]
    fn rest_of_a_torn_amount_is_no_amount() {
        let said = |line: &str| {
            let sheet = Sheet::new(&[page(&[line])]);
            let hits = labels::Labels::new(&["total".to_owned()]).everywhere(&sheet);
            labelled_amount(&Reading::new(&sheet), &hits).map(|found| found.value)
        };
        assert_eq!(said("Total RM 00"), None);
        assert_eq!(said("Total RM 0.00"), Some("0.00".into()));
        assert_eq!(said("Total RM 39"), Some("39.00".into()));
    }
}
