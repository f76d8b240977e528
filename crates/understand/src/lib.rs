//! What a document is and says, found out from its text alone: title, summary, date, kind, tags, labels, near duplicates.
//!
//! Everything is a function of its arguments: no model, no network, no clock, no files. Whoever has a model passes an
//! `Embedder`. Texts are hostile: each part takes time in proportion to the text, up to a limit that it names, and gives a
//! guess or none. `Knowledge` is the way in; `labels`, `fewshot`, `nearness` and `chunk` stand for themselves.

pub mod chunk;
mod date;
pub mod fewshot;
mod headings;
mod kind;
pub mod labels;
mod language;
mod local;
pub mod nearness;
mod rules;
mod small_print;
mod summary;
mod table_title;
mod tags;
mod title;
mod words;

use docmill_core::Result;
use jiff::civil::Date;
use serde::Serialize;

use crate::date::Dates;
use crate::kind::Kinds;
use crate::labels::Embedder;
use crate::language::Languages;

pub use crate::local::{Known, Local, Model};

/// Tags of one document.
pub const MAX_TAGS: usize = 10;

/// Text of one document that is looked at; parts have smaller limits of their own.
const MAX_BYTES: usize = 256 << 10;

/// A page of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page<'a> {
    /// As the document numbers it, from 1.
    pub number: u32,
    /// Its text.
    pub text: &'a str,
}

/// What is known of a document before it is understood.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// In order.
    pub pages: &'a [Page<'a>],
    /// What the content is.
    pub media_type: Option<&'a str>,
    /// ISO 639-3 code of the language, where it was told already.
    pub language: Option<&'a str>,
    /// The title that the file says of itself.
    pub title: Option<&'a str>,
    /// The name of the file: never a title, but what equals it is none either.
    pub name: Option<&'a str>,
    /// The subject of a message.
    pub subject: Option<&'a str>,
    /// When a message was sent.
    pub sent: Option<Date>,
    /// When the file says it was made.
    pub written: Option<Date>,
    /// The day of the caller; nothing was written later.
    pub today: Option<Date>,
}

impl<'a> Document<'a> {
    /// A document of which nothing is known but its text.
    pub fn of(pages: &'a [Page<'a>]) -> Self {
        Self {
            pages,
            media_type: None,
            language: None,
            title: None,
            name: None,
            subject: None,
            sent: None,
            written: None,
            today: None,
        }
    }

    /// The text of the first pages, as much as is looked at.
    fn text(&self) -> String {
        text_of(self.pages, MAX_BYTES)
    }
}

/// The text of the first pages, up to about so many bytes.
fn text_of(pages: &[Page<'_>], limit: usize) -> String {
    let mut text = String::new();
    for page in pages {
        let room = limit.saturating_sub(text.len());
        if room == 0 {
            break;
        }
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&page.text[..page.text.floor_char_boundary(room)]);
    }
    text
}

/// Something that was found out, how sure it is and how it was found.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Guess<T> {
    /// What was found.
    pub value: T,
    /// How sure it is, 0 to 1.
    pub confidence: f32,
    /// How it was found, in a word.
    pub method: &'static str,
}

/// All that was found out about a document.
#[derive(Clone, PartialEq, Debug)]
pub struct Understanding {
    /// What it is called.
    pub title: Option<Guess<String>>,
    /// What it says, in its own sentences.
    pub summary: Option<Guess<String>>,
    /// When it was written, issued or sent.
    pub date: Option<Guess<Date>>,
    /// What it is: `invoice`, `letter`, `report`.
    pub kind: Option<Guess<String>>,
    /// What it is about, best first.
    pub tags: Vec<Guess<String>>,
}

/// Lists of words, kinds and dates, read once.
pub struct Knowledge {
    languages: Languages,
    kinds: Kinds,
    dates: Dates,
}

impl Knowledge {
    /// Unpacks the lists that are built in.
    pub fn load() -> Result<Self> {
        Ok(Self { languages: Languages::load()?, kinds: Kinds::load()?, dates: Dates::load()? })
    }

    /// Everything about a document. A model is asked for the kind only, and only where the words do not tell.
    pub fn understand(
        &self,
        document: &Document<'_>,
        embedder: Option<&dyn Embedder>,
    ) -> Result<Understanding> {
        let text = document.text();
        let language = self.languages.of(document.language, &text);
        let kind = self.kinds.guess(document, &text, embedder)?;
        let form = kind.as_ref().map(|kind| self.kinds.words_of_form(&kind.value)).unwrap_or_default();
        Ok(Understanding {
            title: title::title(document, &self.kinds),
            summary: summary::summary(&text, language),
            date: self.dates.guess(document, &text, language.code),
            tags: tags::tags(&text, language, &form, MAX_TAGS),
            kind,
        })
    }

    /// What kinds are, in words, for a model.
    pub(crate) fn kind_descriptions(&self) -> impl Iterator<Item = &str> {
        self.kinds.descriptions()
    }

    /// What a document is by the meaning of its beginning, where its words do not tell.
    pub(crate) fn kind_by_meaning(
        &self,
        document: &Document<'_>,
        descriptions: &[Vec<f32>],
        beginning: &[f32],
    ) -> Result<Option<Guess<String>>> {
        match self.kinds.guess(document, &document.text(), None)? {
            Some(_) => Ok(None),
            None => Ok(self.kinds.nearest(descriptions, beginning)),
        }
    }

    /// The names of all kinds that can be told.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.names()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_is_understood() {
        let text = "Kestrel Ltd\n14 Foundry Lane\nLeeds\n\nLeeds, 9 March 2024\n\nSubject: Delivery of office chairs\n\n\
                    Dear Mr Jones,\n\nThank you for your order of twelve office chairs. The office chairs leave our warehouse \
                    in Leeds on Monday. Our driver will call you before the delivery.\n\nYours sincerely\nAnn Smith\n";
        let pages = [Page { number: 1, text }];
        let found = Knowledge::load().unwrap().understand(&Document::of(&pages), None).unwrap();
        assert_eq!(found.title.unwrap().value, "Delivery of office chairs");
        assert_eq!(found.kind.unwrap().value, "letter");
        assert_eq!(found.date.unwrap().value, jiff::civil::date(2024, 3, 9));
        assert!(found.tags.iter().any(|t| t.value.to_lowercase() == "office chairs"), "{:?}", found.tags);
        assert!(found.summary.unwrap().value.contains("office chairs"));
    }

    #[test]
    fn words_beside_the_fields_of_a_form_are_no_tags_and_its_title_has_its_number() {
        let text = "Brook Mill Ltd\n\nINVOICE\n\nInvoice number: BM-20417\nInvoice date: 9 March 2024\nItem Quantity Unit price \
                    Amount\nOak flooring 3 40.00 120.00\nOak flooring, waxed 1 60.00 60.00\nVAT total 36.00\nTotal due \
                    216.00\n";
        let pages = [Page { number: 1, text }];
        let found = Knowledge::load().unwrap().understand(&Document::of(&pages), None).unwrap();
        assert_eq!(found.kind.unwrap().value, "invoice");
        assert_eq!(found.title.unwrap().value, "INVOICE BM-20417");
        let tags: Vec<String> = found.tags.iter().map(|tag| tag.value.to_lowercase()).collect();
        assert!(tags.iter().any(|tag| tag == "oak flooring"), "{tags:?}");
        for tag in &tags {
            assert!(
                !["invoice", "quantity", "total", "bm-20417", "amount"].iter().any(|w| tag.contains(w)),
                "{tags:?}"
            );
        }
    }

    #[test]
    fn hostile_documents_are_understood_or_not_and_do_no_harm() {
        let knowledge = Knowledge::load().unwrap();
        let (word, spaces, nul) = ("x".repeat(5 << 20), " ".repeat(5 << 20), "\0".repeat(1 << 20));
        let numbers = "1.2.2024 3/4/2024 ".repeat(50_000);
        let chinese = "文書".repeat(500_000);
        let arabic = "\u{202e}هذه وثيقة باللغة العربية. ".repeat(20_000);
        for text in ["", &word, &spaces, &nul, &numbers, &chinese, &arabic] {
            let pages = [Page { number: 1, text }];
            let document =
                Document { title: Some(text), subject: None, name: Some(text), ..Document::of(&pages) };
            let found = knowledge.understand(&document, None).unwrap();
            assert!(found.tags.len() <= MAX_TAGS);
        }
    }
}
