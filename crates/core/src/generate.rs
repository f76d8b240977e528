//! Test documents that are made up, and what is true of each of them.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// What can be made up. The name is also the `type` that a reader of the document should find.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleKind {
    /// A bill from one company to another.
    Invoice,
    /// What a till prints.
    Receipt,
    /// A non-disclosure agreement.
    Contract,
    /// A business letter.
    Letter,
    /// A mail with something attached.
    Mail,
    /// A month of a bank account.
    Statement,
}

impl SampleKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Invoice, Self::Receipt, Self::Contract, Self::Letter, Self::Mail, Self::Statement];

    /// As it is written everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invoice => "invoice",
            Self::Receipt => "receipt",
            Self::Contract => "contract",
            Self::Letter => "letter",
            Self::Mail => "mail",
            Self::Statement => "statement",
        }
    }
}

impl fmt::Display for SampleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SampleKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name.trim()).ok_or_else(|| {
            let all: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
            Error::invalid_request(format!("no documents of kind `{}` can be made", crate::text::shown(name)))
                .with_hint(format!("the kinds are {}", all.join(", ")))
        })
    }
}

/// What is to be made. The same order gives the same bytes, in the same version of docmill.
#[derive(Clone, PartialEq, Debug)]
pub struct Order {
    /// How many.
    pub count: u32,
    /// What decides about everything that could be otherwise.
    pub seed: u64,
    /// Which kinds, in equal parts; empty means a mix as offices have it.
    pub kinds: Vec<SampleKind>,
    /// The part of what is on paper that comes as a scan or a photograph, from 0 to 1.
    pub scans: f64,
}

impl Order {
    /// The part of scans unless something else is said.
    pub const SCANS: f64 = 0.2;
    /// The most documents of one request over HTTP: they are made while the caller waits.
    pub const MAX_AT_ONCE: u32 = 100;
    /// The most documents of one order at all.
    pub const MAX: u32 = 1_000_000;

    /// Refuses what cannot be made.
    pub fn check(&self, most: u32) -> Result<()> {
        if self.count == 0 || self.count > most {
            return Err(Error::invalid_request(format!(
                "the count is {}, and it may be 1 to {most}",
                self.count
            ))
            .with_hint("more can be had by several orders with different seeds"));
        }
        if !(0.0..=1.0).contains(&self.scans) {
            return Err(Error::invalid_request(format!(
                "the part of scans is {}, and it may be 0 to 1",
                self.scans
            )));
        }
        Ok(())
    }
}

/// One document that was made up.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// Its file name.
    pub name: String,
    /// The file.
    pub bytes: Bytes,
    /// What is true of it.
    pub truth: Truth,
}

/// What is true of a document, because it was made so.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Truth {
    /// The file name without its ending; unique in an order.
    pub id: String,
    /// The file name.
    pub file: String,
    /// Of the file.
    pub media_type: &'static str,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: SampleKind,
    /// `en`, `de` or `fr`.
    pub language: &'static str,
    /// What a person would call it.
    pub title: String,
    /// Its own date, ISO 8601.
    pub date: String,
    /// Whoever made it look like this: the same name, the same look.
    pub vendor: Option<String>,
    /// How it is laid out.
    pub layout: String,
    /// How it was scanned, if it was: its text is then in pixels alone.
    pub scan: Option<&'static str>,
    /// Of paper.
    pub pages: u32,
    /// The built-in schema that `fields` follows, if there is one for its kind.
    pub schema: Option<&'static str>,
    /// Dates are ISO 8601, amounts have a point.
    pub fields: Map<String, Value>,
    /// The same as they stand on the page: each is in the text, word by word.
    pub shown: Map<String, Value>,
    /// The whole text, line by line as somebody would read it.
    pub text: String,
    /// What is attached to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Truth>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_names_the_limit_it_passes() {
        let order = Order { count: 101, seed: 1, kinds: Vec::new(), scans: Order::SCANS };
        let error = order.check(Order::MAX_AT_ONCE).unwrap_err();
        assert!(error.message().contains("101") && error.message().contains("1 to 100"), "{error}");
        assert!(Order { count: 0, ..order.clone() }.check(10).is_err());
        assert!(Order { scans: 1.5, count: 1, ..order.clone() }.check(10).is_err());
        assert!(Order { scans: f64::NAN, count: 1, ..order }.check(10).is_err());
    }

    #[test]
    fn kind_that_does_not_exist_is_answered_with_those_that_do() {
        let error = "ransom_note".parse::<SampleKind>().unwrap_err();
        assert!(error.hint().unwrap_or_default().contains("invoice, receipt"), "{error:?}");
        assert!(SampleKind::ALL.iter().all(|kind| kind.name().parse::<SampleKind>().is_ok()));
    }
}
