//! Agreements not to disclose, as companies of the United States file them: who, since when, by whose law, how long.
//!
//! Rules on the words alone, and none that knows a document: each looks for the phrase by which such agreements say a
//! thing, and takes the first that fits. Lines and spaces count for nothing, since a phrase may go over the end of a line.

mod date;
mod law;
mod party;
mod term;
mod text;

use std::collections::BTreeMap;

use docmill_core::extraction::{Evidence, EvidenceSource, Field};
use docmill_core::words::PageWords;
use serde_json::{Map, Value};

use self::text::Text;

/// A value without a box is never surer, and so never accepted by itself.
const PLACELESS: f32 = 0.75;

/// A page, as it reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page<'a> {
    /// From 1.
    pub number: u32,
    /// Its text.
    pub text: &'a str,
}

/// What an agreement says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Found {
    /// The record: `party`, `effective_date`, `jurisdiction`, `term`.
    pub data: Map<String, Value>,
    /// How each value was found: `party[0]`, `term`.
    pub fields: BTreeMap<String, Field>,
}

/// A value, and the words that say it, by their place in the text.
#[derive(Clone, PartialEq, Debug)]
struct Hit {
    value: String,
    start: usize,
    end: usize,
    confidence: f32,
    method: &'static str,
}

/// The fields of the schema `nda`. Boxes come from the words of the pages, where there are any.
pub fn agreement(pages: &[Page<'_>], words: &[PageWords]) -> Found {
    let text = Text::new(pages);
    let mut found = Found::default();
    let parties = party::parties(&text);
    let names: Vec<Value> = parties.iter().map(|hit| hit.value.clone().into()).collect();
    if !names.is_empty() {
        found.data.insert("party".to_owned(), names.into());
    }
    for (at, hit) in parties.into_iter().enumerate() {
        found.fields.insert(format!("party[{at}]"), field(hit, &text, words));
    }
    let single = [
        ("effective_date", date::effective(&text)),
        ("jurisdiction", law::jurisdiction(&text)),
        ("term", term::term(&text)),
    ];
    for (name, hit) in single {
        if let Some(hit) = hit {
            found.data.insert(name.to_owned(), hit.value.clone().into());
            found.fields.insert(name.to_owned(), field(hit, &text, words));
        }
    }
    found
}

fn field(hit: Hit, text: &Text, words: &[PageWords]) -> Field {
    let span = text.slice(hit.start, hit.end).to_owned();
    let page = text.page(hit.start);
    let on = words.iter().find(|on| Some(on.number) == page);
    let frame = on.and_then(|on| text::frame(on, &span));
    // What has no place on a page that has places is looked at by a person.
    let placeless = frame.is_none() && on.is_some_and(|on| !on.words.is_empty());
    let confidence = if placeless { hit.confidence.min(PLACELESS) } else { hit.confidence };
    let evidence =
        Evidence { source: EvidenceSource::Page, page, span: Some(span), frame, ..Evidence::default() };
    Field { value: hit.value.into(), confidence, method: hit.method.to_owned(), evidence: vec![evidence] }
}

#[cfg(test)]
mod tests;
