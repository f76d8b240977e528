//! Finders: each looks for the fields of one part of a document, on rows of words with their places.
//!
//! A finder gives candidates with what speaks for them; it never makes a value up.

pub mod header;
mod iban;
pub mod items;
mod misread;
pub mod parties;
pub mod receipt;
pub mod statement;
pub mod totals;

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use crate::labels::{self, Hit};
use crate::layout::{Sheet, Span};
use crate::normalise::{Order, amount, date};

/// A value and where it was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// As it goes into the record.
    pub value: Value,
    /// How sure it is, 0 to 1, before what was read is weighed.
    pub confidence: f32,
    /// How it was found.
    pub method: &'static str,
    /// Where it stands.
    pub spans: Vec<Span>,
}

/// Values by their paths: `total`, `items[0].quantity`.
pub type Record = BTreeMap<String, Found>;

/// What finders read: rows with the amounts and dates in them.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// All rows.
    pub sheet: &'a Sheet,
    /// How dates are meant that can be read in two ways.
    pub order: Order,
    /// Whether anything on the pages says how they are meant.
    pub order_known: bool,
    /// For each row, where they stand and what they say.
    pub amounts: Vec<Vec<(Span, amount::Mention)>>,
    /// The same for dates.
    pub dates: Vec<Vec<(Span, date::Mention)>>,
}

impl Found {
    /// A text that stands in one place.
    pub fn text(value: impl Into<String>, confidence: f32, method: &'static str, span: Span) -> Self {
        Self { value: Value::String(value.into()), confidence, method, spans: vec![span] }
    }
}

impl<'a> Reading<'a> {
    /// Of rows.
    pub fn new(sheet: &'a Sheet) -> Self {
        let (order, order_known) = order(sheet);
        let dates = sheet.rows.iter().enumerate().map(|(at, row)| {
            let found = date::scan(&row.text, order).into_iter();
            found.map(|mention| (sheet.span(at, &mention.range), mention)).collect()
        });
        let amounts = sheet.rows.iter().enumerate().map(|(at, row)| {
            let found = amount::scan(&row.text).into_iter();
            found.map(|mention| (sheet.span(at, &mention.range), mention)).collect()
        });
        Self { sheet, order, order_known, dates: dates.collect(), amounts: amounts.collect() }
    }

    /// Tokens right of a label, up to the next label of these kinds.
    pub fn right_of(&self, hit: &Hit, stops: &[&str]) -> Range<usize> {
        let row = &self.sheet.rows[hit.row];
        let stop = (hit.tokens.end..row.tokens.len())
            .find(|&at| stops.iter().any(|name| labels::of(name).at(row, at).is_some()));
        hit.tokens.end..stop.unwrap_or(row.tokens.len())
    }

    /// Cells that stand below a label, in the next rows that have one.
    pub fn below(&self, hit: &Hit, rows: usize) -> Vec<Span> {
        let label = &self.sheet.rows[hit.row];
        let (left, right) = label.edges(&hit.tokens);
        let mut found = Vec::new();
        for (index, row) in self.sheet.rows.iter().enumerate().skip(hit.row + 1).take(rows + 3) {
            if row.page != label.page || row.top - label.bottom > label.height * 3.0 || found.len() >= rows {
                break;
            }
            let cell = row.cells().into_iter().find(|cell| {
                let (from, to) = row.edges(cell);
                from < right && to > left
            });
            found.extend(cell.map(|tokens| Span { row: index, tokens }));
        }
        found
    }

    /// Weighs how surely the words of a value were read.
    pub fn weighed(&self, found: &Found) -> f32 {
        let read = found.spans.iter().map(|span| self.sheet.confidence(span)).fold(1.0_f32, f32::min);
        // A word at 0.9 and more is almost always right; below, doubt grows quickly.
        let doubt = ((0.9 - read) / 0.9).clamp(0.0, 1.0);
        (found.confidence * (1.0 - 0.6 * doubt)).clamp(0.0, 1.0)
    }
}

/// Which number of a date is the day: told by a date that has one reading, or by addresses of the United States.
fn order(sheet: &Sheet) -> (Order, bool) {
    let (mut day, mut month, mut states) = (0, 0, 0);
    for row in &sheet.rows {
        for mention in date::scan(&row.text, Order::DayFirst) {
            match mention.order {
                Some(Order::DayFirst) => day += 1,
                Some(Order::MonthFirst) => month += 1,
                None => {}
            }
        }
        let pairs = row.tokens.windows(2);
        states +=
            pairs.filter(|pair| parties::is_state(&pair[0].text) && parties::is_zip(&pair[1].text)).count();
    }
    if day != month {
        return (if day > month { Order::DayFirst } else { Order::MonthFirst }, true);
    }
    if states > 0 { (Order::MonthFirst, true) } else { (Order::DayFirst, false) }
}
