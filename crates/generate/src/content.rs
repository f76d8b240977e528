//! A document before it becomes a file: drawn pages, and what is true of them.

use docmill_core::Result;
use docmill_core::generate::{Sample, SampleKind, Truth};
use jiff::civil::Date;
use serde_json::{Map, Value};

use crate::language::Language;
use crate::paper::{Fonts, Page, pdf};

/// Fields with what they are and how they stand on the page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) fields: Map<String, Value>,
    pub(crate) shown: Map<String, Value>,
}

impl Facts {
    /// A field that stands on the page as it is.
    pub(crate) fn say(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        self.say_as(name, value.clone(), value);
    }

    /// A field that stands on the page in another form.
    pub(crate) fn say_as(&mut self, name: &str, value: impl Into<Value>, shown: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
        self.shown.insert(name.to_owned(), shown.into());
    }

    /// A field that stands on the page in a form that is not worth comparing, such as a currency's sign.
    pub(crate) fn imply(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }
}

/// A document on paper.
pub(crate) struct Content<'f> {
    pub(crate) kind: SampleKind,
    pub(crate) language: Language,
    pub(crate) title: String,
    pub(crate) date: Date,
    pub(crate) vendor: Option<String>,
    pub(crate) layout: String,
    pub(crate) schema: Option<&'static str>,
    pub(crate) facts: Facts,
    pub(crate) pages: Vec<Page<'f>>,
}

impl Content<'_> {
    /// As a PDF file with text that can be selected.
    pub(crate) fn into_pdf(self, fonts: &Fonts, id: &str) -> Result<Sample> {
        let bytes = pdf::write(fonts, &self.pages, &self.title, self.date)?;
        let name = format!("{id}.pdf");
        let truth = self.into_truth(id, &name, "application/pdf", None);
        Ok(Sample { name, bytes: bytes.into(), truth })
    }

    /// What is true of the file that it became.
    pub(crate) fn into_truth(
        self,
        id: &str,
        file: &str,
        media_type: &'static str,
        scan: Option<&'static str>,
    ) -> Truth {
        let text: Vec<String> = self.pages.iter().map(Page::text).collect();
        Truth {
            id: id.to_owned(),
            file: file.to_owned(),
            media_type,
            kind: self.kind,
            language: self.language.code(),
            title: self.title,
            date: self.date.to_string(),
            vendor: self.vendor,
            layout: self.layout,
            scan,
            pages: self.pages.len() as u32,
            schema: self.schema,
            fields: self.facts.fields,
            shown: self.facts.shown,
            text: text.join("\n"),
            attachments: Vec::new(),
        }
    }
}
