//! A record as a person has corrected it: values in the notation of their fields, with the places they stand in, if they
//! stand anywhere. A person vouches for a value that does not.

use std::collections::BTreeMap;

use docmill_core::extraction::{Evidence, Extraction, Field};
use docmill_core::text::shown;
use docmill_core::words::{PageWords, PlacedWord};
use docmill_core::{Error, Result};
use serde_json::Value;

use crate::gate;
use crate::layout::folded;
use crate::normalise::{Amount, Date, Order, codes};
use crate::schema::{FieldRule, Normalise, Schema, Shape};

/// How values are found that a person gives.
pub const METHOD: &str = "review";

/// Rows and entries of lists beyond are refused.
const MAX_INDEX: usize = 10_000;

/// No value is longer.
const MAX_CHARS: usize = 10_000;

/// So many words are looked at together for a value.
const MAX_SPAN: usize = 12;

/// The record with these values; those that are none are taken away.
pub fn correct(
    schema: &Schema,
    found: &Extraction,
    changes: &BTreeMap<String, Option<String>>,
    pages: &[PageWords],
) -> Result<Extraction> {
    let mut fields = found.fields.clone();
    for (path, value) in changes {
        let rule = rule_at(schema, path).ok_or_else(|| unknown(schema, path))?;
        let Some(value) = value else {
            fields.remove(path);
            continue;
        };
        let value = written(rule, value).ok_or_else(|| misfit(rule, path, value))?;
        let broken = schema.rules.of(path).map(|keywords| keywords.broken(&value)).unwrap_or_default();
        if let Some((keyword, what)) = broken.into_iter().next() {
            return Err(Error::invalid_request(format!("{what}, as `{keyword}` of the field `{path}` asks"))
                .with_hint(
                    "give one that the schema allows, null to take the value away, or reject the record",
                ));
        }
        let before = found.fields.get(path).and_then(|field| field.evidence.first());
        let evidence = locate(rule, &value, pages, before).into_iter().collect();
        let method = METHOD.to_owned();
        fields.insert(path.clone(), Field { value: Value::String(value), confidence: 1.0, method, evidence });
    }
    let mut corrected = gate::pass(schema, fields);
    let fields = &corrected.fields;
    let vouched = |path: &str| fields.get(path).is_some_and(|field| field.method == METHOD);
    corrected.violations.retain(|violation| violation.rule != "ungrounded" || !vouched(&violation.field));
    corrected.valid = corrected.violations.is_empty();
    corrected.schema.clone_from(&found.schema);
    let (model, tokens_in, tokens_out) = (found.model.clone(), found.tokens_in, found.tokens_out);
    Ok(Extraction { model, tokens_in, tokens_out, ..corrected })
}

/// The rule of a path of the schema: `total`, `party[0]`, `items[0].quantity`.
fn rule_at<'a>(schema: &'a Schema, path: &str) -> Option<&'a FieldRule> {
    let (name, rest) = path.split_once('[').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let rule = schema.fields.iter().find(|rule| rule.name == name)?;
    let place = match rest {
        None => None,
        Some(rest) => {
            let (index, column) = rest.split_once(']')?;
            index.parse::<usize>().ok().filter(|index| *index < MAX_INDEX)?;
            Some(column)
        }
    };
    match (&rule.shape, place) {
        (Shape::Text, None) | (Shape::List, Some("")) => Some(rule),
        (Shape::Rows(rows), Some(column)) => {
            let column = column.strip_prefix('.')?;
            rows.iter().find(|row| row.name == column)
        }
        _ => None,
    }
}

fn unknown(schema: &Schema, path: &str) -> Error {
    let paths: Vec<String> = schema
        .fields
        .iter()
        .map(|rule| match &rule.shape {
            Shape::Text => rule.name.clone(),
            Shape::List => format!("{}[0]", rule.name),
            Shape::Rows(rows) => {
                let column = rows.first().map_or("…", |row| row.name.as_str());
                format!("{}[0].{column}", rule.name)
            }
        })
        .collect();
    Error::invalid_request(format!("the schema `{}` has no field `{}`", schema.name, shown(path)))
        .with_hint(format!("there are {}", paths.join(", ")))
}

fn misfit(rule: &FieldRule, path: &str, value: &str) -> Error {
    let notation = rule.normalise.map_or("text", Normalise::name);
    Error::invalid_request(format!("`{}` of the field `{path}` is no {notation}", shown(value))).with_hint(
        rule.normalise.map_or("give some text, or null to take the value away", Normalise::example),
    )
}

/// A value in the notation of its field.
fn written(rule: &FieldRule, value: &str) -> Option<String> {
    let value = value.trim();
    if value.is_empty() || value.chars().nth(MAX_CHARS).is_some() {
        return None;
    }
    match rule.normalise {
        None => Some(value.to_owned()),
        Some(Normalise::Money) => Amount::parse(value).map(Amount::money),
        Some(Normalise::Number) => Amount::parse(value).map(Amount::plain),
        Some(Normalise::Date) => Date::parse(value, Order::DayFirst).map(Date::iso),
        Some(Normalise::Country) => codes::country(value).map(str::to_owned),
        Some(Normalise::Iban) => codes::iban(value),
        Some(Normalise::Vat) => codes::tax_id(value),
        Some(Normalise::Currency) => codes::currency(value).map(str::to_owned),
    }
}

/// Where a value stands; of several places the one nearest to where the old value stood.
fn locate(rule: &FieldRule, value: &str, pages: &[PageWords], before: Option<&Evidence>) -> Option<Evidence> {
    let (fold, words_wanted) = (folded(value), value.split_whitespace().count());
    // A date or an amount may have blanks inside where it stands; a text has as many words as it has.
    let longest = if rule.normalise.is_some() { 4 } else { words_wanted }.min(MAX_SPAN);
    let mut best: Option<(f32, Evidence)> = None;
    for page in pages {
        for from in 0..page.words.len() {
            for to in from + 1..=(from + longest).min(page.words.len()) {
                let span = &page.words[from..to];
                let text = span.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
                let same = folded(&text) == fold || is_same(rule, &text, value);
                if !same {
                    continue;
                }
                let evidence = Evidence {
                    page: Some(page.number),
                    frame: Some(frame(span)),
                    span: Some(text),
                    ..Evidence::default()
                };
                let distance = before.map_or(0.0, |before| distance(before, &evidence));
                if best.as_ref().is_none_or(|(least, _)| distance < *least) {
                    best = Some((distance, evidence));
                }
                break;
            }
        }
    }
    best.map(|(_, evidence)| evidence)
}

fn is_same(rule: &FieldRule, text: &str, value: &str) -> bool {
    rule.normalise.is_some() && written(rule, text).as_deref() == Some(value)
}

/// Around words: left, top, width and height.
fn frame(words: &[PlacedWord]) -> [f32; 4] {
    let edge = |of: fn(&PlacedWord) -> f32, pick: fn(f32, f32) -> f32| {
        words.iter().map(of).reduce(pick).unwrap_or_default()
    };
    let (left, top) = (edge(|w| w.x, f32::min), edge(|w| w.y, f32::min));
    let (right, bottom) = (edge(|w| w.x + w.width, f32::max), edge(|w| w.y + w.height, f32::max));
    [left, top, right - left, bottom - top]
}

/// Pages are further apart than anything on one of them.
fn distance(one: &Evidence, other: &Evidence) -> f32 {
    let pages = one.page.unwrap_or(1).abs_diff(other.page.unwrap_or(1)) as f32;
    let (Some(one), Some(other)) = (one.frame, other.frame) else { return pages * 2.0 };
    pages * 2.0 + (one[0] - other[0]).hypot(one[1] - other[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt() -> (Schema, Extraction) {
        let schema = Schema::built_in("receipt").unwrap();
        let found = gate::pass(&schema, BTreeMap::new());
        (schema, found)
    }

    fn word(text: &str, x: f32, y: f32) -> PlacedWord {
        PlacedWord { text: text.into(), x, y, width: 0.1, height: 0.02, confidence: None, line: 0 }
    }

    #[test]
    fn values_are_written_as_their_fields_are_and_have_their_place() {
        let (schema, found) = receipt();
        let mut page = PageWords::none(1, 100.0, 100.0);
        page.words = vec![word("Total", 0.1, 0.5), word("1.234,50", 0.3, 0.5), word("09.03.2018", 0.1, 0.9)];
        let given = |path: &str, value: &str| (path.to_owned(), Some(value.to_owned()));
        let changes = BTreeMap::from([
            given("total", "1.234,5"),
            given("date", "9.3.2018"),
            given("company", "ACME"),
            given("items[0].quantity", "2"),
        ]);
        let corrected = correct(&schema, &found, &changes, &[page]).unwrap();
        assert_eq!(corrected.data["total"], "1234.50");
        assert_eq!(corrected.data["date"], "2018-03-09");
        assert_eq!(corrected.data["items"][0]["quantity"], "2");
        let evidence = &corrected.fields["total"].evidence[0];
        assert_eq!((evidence.page, evidence.span.as_deref()), (Some(1), Some("1.234,50")));
        assert!(corrected.fields["company"].evidence.is_empty(), "it stands nowhere");
        assert!(corrected.violations.iter().all(|v| v.rule != "ungrounded"), "a person vouches for it");
    }

    #[test]
    fn values_that_do_not_fit_are_refused_by_field_value_and_rule() {
        let (schema, found) = receipt();
        for (path, value, said) in [
            ("total", "twelve", "`twelve` of the field `total` is no money"),
            ("date", "soon", "`soon` of the field `date` is no date"),
            ("company", " ", "`company` is no text"),
            ("sum", "1", "has no field `sum`"),
            ("total[0]", "1", "has no field `total[0]`"),
            ("items[0]", "1", "has no field `items[0]`"),
            ("items[99999].quantity", "1", "has no field"),
        ] {
            let changes = BTreeMap::from([(path.to_owned(), Some(value.to_owned()))]);
            let error = correct(&schema, &found, &changes, &[]).unwrap_err();
            assert!(error.message().contains(said), "{path}: {}", error.message());
        }
        let bill = r#"{"title": "bill", "properties": {"currency": {"enum": ["EUR"]}}}"#;
        let changes = BTreeMap::from([("currency".to_owned(), Some("Gulden".to_owned()))]);
        let error = correct(&Schema::parse(bill).unwrap(), &found, &changes, &[]).unwrap_err();
        assert!(error.message().contains("`Gulden` is none of EUR, as `enum` of"), "{}", error.message());
    }
}
