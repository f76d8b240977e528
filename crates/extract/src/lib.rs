//! Records out of documents: from the words of pages and from data inside files, without a model.
//!
//! Everything is a function of its arguments: no network, no clock, no files. Texts are hostile: each part takes time in
//! proportion to what it is given, up to a limit that it names.
//! [`schema`] says what is looked for, [`layout`] what stands where, [`find`] has the finders, [`embedded`] reads data inside
//! files, [`gate`] judges; [`extract`] puts them together.

mod assemble;
pub mod correct;
pub mod embedded;
pub mod find;
pub mod gate;
pub mod ground;
pub mod keywords;
pub mod labels;
pub mod layout;
pub mod learn;
pub mod llm;
pub mod local;
pub mod nda;
pub mod normalise;
pub mod schema;
pub mod twice;

use std::collections::BTreeMap;

use docmill_core::extraction::{Extraction, Field};
use docmill_core::words::PageWords;

use find::{Found, Reading, Record};
use labels::Labels;
use layout::Sheet;
use normalise::codes;
use schema::{FieldRule, Normalise, Schema, Shape};

pub use assemble::{Material, Sources, extract};
pub use local::Local;

/// Extracts what can be seen on pages.
pub fn by_sight(schema: &Schema, pages: &[PageWords]) -> Extraction {
    let sheet = Sheet::new(pages);
    let reading = Reading::new(&sheet);
    let mut record = known(schema, &reading);
    record.retain(|path, _| asked(schema, path));
    for rule in schema.fields.iter().filter(|rule| rule.shape == Shape::Text) {
        if !record.contains_key(&rule.name) {
            record.extend(beside_own_label(&reading, rule).map(|found| (rule.name.clone(), found)));
        }
    }
    let mut fields = BTreeMap::new();
    for (path, found) in record {
        let evidence: Vec<_> = found.spans.iter().filter_map(|span| sheet.evidence(span)).collect();
        // What stands nowhere is not told as if it did.
        if !evidence.is_empty() {
            let confidence = reading.weighed(&found);
            fields.insert(
                path,
                Field { value: found.value, confidence, method: found.method.to_owned(), evidence },
            );
        }
    }
    gate::pass(schema, fields)
}

/// What the finders of a kind of document know.
fn known(schema: &Schema, reading: &Reading<'_>) -> Record {
    match schema.finder.as_deref() {
        Some("invoice") => {
            let mut record = find::header::find(reading);
            record.extend(find::parties::find(reading));
            record.extend(find::totals::find(reading));
            record.extend(find::items::find(reading));
            record
        }
        Some("receipt") => find::receipt::find(reading),
        Some("letter") => find::statement::letter(reading),
        Some("bank_statement") => find::statement::statement(reading),
        _ => Record::new(),
    }
}

/// Whether a path is of the schema.
fn asked(schema: &Schema, path: &str) -> bool {
    let name = path.split('[').next().unwrap_or(path);
    let Some(rule) = schema.fields.iter().find(|rule| rule.name == name) else { return false };
    match (&rule.shape, path.split_once("].")) {
        (Shape::Rows(rows), Some((_, name))) => rows.iter().any(|row| row.name == name),
        (Shape::Rows(_), None) => false,
        _ => true,
    }
}

/// A value of its own notation right of a label that the schema names, or of the field's name.
fn beside_own_label(reading: &Reading<'_>, rule: &FieldRule) -> Option<Found> {
    let name = [layout::folded(&rule.name)];
    let own = if rule.labels.is_empty() { Labels::new(&name) } else { Labels::new(&rule.labels) };
    let hits = own.everywhere(reading.sheet);
    match rule.normalise {
        Some(Normalise::Money | Normalise::Number) => find::statement::labelled_amount(reading, &hits),
        Some(Normalise::Date) => hits.iter().find_map(|hit| {
            let (span, mention) =
                reading.dates[hit.row].iter().find(|(span, _)| span.tokens.start >= hit.tokens.end)?;
            Some(Found::text(mention.date.iso(), 0.9, "label", span.clone()))
        }),
        other => hits.iter().find_map(|hit| {
            let row = &reading.sheet.rows[hit.row];
            let from = (hit.tokens.end..row.tokens.len()).find(|&at| !row.tokens[at].fold.is_empty())?;
            let cell = row.tokens[from].cell;
            let to = (from..row.tokens.len()).take_while(|&at| row.tokens[at].cell == cell).last()? + 1;
            let span = layout::Span { row: hit.row, tokens: from..to };
            let text = reading.sheet.text(&span);
            let value = match other {
                Some(Normalise::Country) => codes::country(&text)?.to_owned(),
                Some(Normalise::Iban) => codes::iban(&text)?,
                Some(Normalise::Vat) => codes::tax_id(&text)?,
                Some(Normalise::Currency) => codes::currency(&text)?.to_owned(),
                _ => text,
            };
            Some(Found::text(value, 0.85, "label", span))
        }),
    }
}
