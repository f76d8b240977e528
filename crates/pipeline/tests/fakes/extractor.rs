//! An extractor that finds the first word of a document, and breaks on some.

use std::collections::BTreeMap;
use std::sync::Arc;

use docmill_core::extraction::{Extraction, Field};
use docmill_core::ports::Extractor;
use docmill_core::ports::extractor::{Asking, Interview, Material, Sketch};
use docmill_core::words::PageWords;
use docmill_core::{Error, Result};

/// The one schema that it knows.
pub(crate) const SCHEMA: &str = "words";

pub(crate) struct FirstWord;

impl Extractor for FirstWord {
    fn identity(&self) -> &'static str {
        "first word"
    }

    fn built_in(&self) -> Vec<(&'static str, &'static str)> {
        vec![(SCHEMA, "{}")]
    }

    fn sketch(&self, _schema: &str) -> Result<Sketch> {
        Ok(Sketch { version: 3, title: SCHEMA.into(), fields: Vec::new() })
    }

    fn suits(&self, _schema: &str, text: &str) -> bool {
        !text.contains("unsuitable")
    }

    fn extract(&self, _schema: &str, material: &Material) -> Result<Extraction> {
        let text = material.texts.first().map_or("", |(_, text)| text.as_str());
        assert!(!text.contains("panic"), "as told");
        let word = text.split_whitespace().next().unwrap_or_default();
        let field =
            Field { value: word.into(), confidence: 0.5, method: "first".into(), evidence: Vec::new() };
        Ok(Extraction {
            schema: SCHEMA.into(),
            data: serde_json::Map::from_iter([("word".to_owned(), word.into())]),
            valid: true,
            violations: Vec::new(),
            confidence: 0.5,
            fields: BTreeMap::from([("word".to_owned(), field)]),
            model: None,
            tokens_in: 0,
            tokens_out: 0,
        })
    }

    fn doubts(&self, _schema: &str, found: &Extraction) -> Result<Vec<String>> {
        Ok(if found.data["word"] == "doubtful" { vec!["it says so".into()] } else { Vec::new() })
    }

    fn senders(&self, _pages: &[PageWords]) -> Vec<String> {
        Vec::new()
    }

    fn better(&self, _schema: &str, first: &Extraction, second: &Extraction) -> Result<Extraction> {
        let doubtful = first.data["word"] == "doubtful";
        Ok(if doubtful { second.clone() } else { first.clone() })
    }

    fn interview(
        &self,
        _schema: &str,
        _material: Arc<Material>,
        _found: Extraction,
        _asking: Asking,
    ) -> Result<Option<Box<dyn Interview>>> {
        Ok(None)
    }

    fn correct(
        &self,
        _schema: &str,
        _found: &Extraction,
        _changes: &BTreeMap<String, Option<String>>,
        _pages: &[PageWords],
    ) -> Result<Extraction> {
        Err(Error::bug("not part of the fake"))
    }
}
