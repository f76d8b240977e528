//! What searches can insist on beside words and meanings, and what they count: the same for every index.
//!
//! Pure. What a filter is called and what its values look like is said here once; an index only compares.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::understanding::Understanding;

/// The filters there are, as users write them.
pub const FILTERS: [&str; 7] = ["type", "media_type", "name", "language", "tag", "date_from", "date_to"];

/// Whether a value of `type` is a media type: those have a slash, and what a document is has none.
pub fn is_media_type(value: &str) -> bool {
    value.contains('/')
}

/// How many values of one facet an answer names: the most frequent ones.
pub const MAX_FACET_VALUES: usize = 20;

/// What was found out about a document, as far as filters and facets look at it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Particulars {
    /// What it is: `invoice`.
    pub kind: Option<String>,
    /// Its main language, ISO 639-3.
    pub language: Option<String>,
    /// Its date.
    pub date: Option<Day>,
    /// What it is about.
    pub tags: Vec<String>,
}

impl Particulars {
    /// From what is stored about a document. What it is may have been told by its meaning, which is kept apart.
    pub fn of(language: Option<String>, kind: Option<String>, understanding: Understanding) -> Self {
        Self {
            kind,
            language,
            date: understanding.date.as_deref().and_then(Day::first),
            tags: understanding.tags,
        }
    }
}

/// A day as a number that sorts: 20240309.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Day(pub u32);

impl Day {
    /// The first day of `2024`, `2024-03` or `2024-03-09`; `None` if it is none of these.
    pub fn first(text: &str) -> Option<Self> {
        Self::within(text, 1, 1)
    }

    /// The last one; every month is taken to have 31 days, which no date is beyond.
    pub fn last(text: &str) -> Option<Self> {
        Self::within(text, 12, 31)
    }

    /// Its year.
    pub fn year(self) -> u32 {
        self.0 / 10_000
    }

    fn within(text: &str, month: u32, day: u32) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let mut part = |digits: usize, most: u32, missing: u32| match parts.next() {
            None => Some(missing),
            Some(part) if part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()) => {
                part.parse().ok().filter(|n| (1..=most).contains(n))
            }
            Some(_) => None,
        };
        let (year, month, day) = (part(4, 9_999, 0)?, part(2, 12, month)?, part(2, 31, day)?);
        Some(Self(year * 10_000 + month * 100 + day))
    }
}

/// What a search insists on: everything must hold, each value as often as it was given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter<'q> {
    /// File names.
    pub names: Vec<&'q str>,
    /// Media types.
    pub media_types: Vec<&'q str>,
    /// Types of documents.
    pub kinds: Vec<&'q str>,
    /// Languages.
    pub languages: Vec<&'q str>,
    /// Tags.
    pub tags: Vec<&'q str>,
    /// Not before.
    pub from: Option<Day>,
    /// Not after.
    pub to: Option<Day>,
}

impl<'q> Filter<'q> {
    /// Reads filters as they were typed, or says which there are.
    pub fn of(filters: &'q [(String, String)]) -> Result<Self> {
        let mut filter = Self::default();
        for (name, value) in filters {
            let value = value.as_str();
            match name.as_str() {
                "type" if is_media_type(value) => filter.media_types.push(value),
                "type" => filter.kinds.push(value),
                "media_type" => filter.media_types.push(value),
                "name" => filter.names.push(value),
                "language" => filter.languages.push(value),
                "tag" => filter.tags.push(value),
                "date_from" => {
                    let day = Day::first(value).ok_or_else(|| no_date(name, value))?;
                    filter.from = Some(filter.from.map_or(day, |known| known.max(day)));
                }
                "date_to" => {
                    let day = Day::last(value).ok_or_else(|| no_date(name, value))?;
                    filter.to = Some(filter.to.map_or(day, |known| known.min(day)));
                }
                other => {
                    return Err(Error::invalid_request(format!("there is no filter `{other}`"))
                        .with_hint(format!("filters are {}", FILTERS.map(|f| format!("`{f}`")).join(", "))));
                }
            }
        }
        Ok(filter)
    }

    /// Whether it takes every document.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a document is one of those.
    pub fn fits(&self, name: &str, media_type: Option<&str>, known: &Particulars) -> bool {
        let all = |wanted: &[&str], value: Option<&str>| wanted.iter().all(|wanted| Some(*wanted) == value);
        all(&self.names, Some(name))
            && all(&self.media_types, media_type)
            && all(&self.kinds, known.kind.as_deref())
            && all(&self.languages, known.language.as_deref())
            && self.tags.iter().all(|wanted| known.tags.iter().any(|tag| tag == wanted))
            && self.from.is_none_or(|from| known.date.is_some_and(|date| date >= from))
            && self.to.is_none_or(|to| known.date.is_some_and(|date| date <= to))
    }
}

fn no_date(name: &str, value: &str) -> Error {
    Error::invalid_request(format!("`{value}` is no date for the filter `{name}`"))
        .with_hint("write a day, a month or a year: `2024-03-09`, `2024-03`, `2024`")
}

/// How many of the documents that were found are what. Of each facet the most frequent values.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Facets {
    /// By what they are: `invoice`.
    #[serde(rename = "type")]
    pub kind: BTreeMap<String, u64>,
    /// By media type.
    pub media_type: BTreeMap<String, u64>,
    /// By language.
    pub language: BTreeMap<String, u64>,
    /// By the year of their date.
    pub year: BTreeMap<String, u64>,
    /// By tag.
    pub tag: BTreeMap<String, u64>,
}

impl Facets {
    /// Counts a document.
    pub fn count(&mut self, media_type: Option<&str>, known: &Particulars) {
        let one = |facet: &mut BTreeMap<String, u64>, value: &str| {
            *facet.entry(value.to_owned()).or_default() += 1;
        };
        if let Some(kind) = &known.kind {
            one(&mut self.kind, kind);
        }
        if let Some(media_type) = media_type {
            one(&mut self.media_type, media_type);
        }
        if let Some(language) = &known.language {
            one(&mut self.language, language);
        }
        if let Some(date) = known.date {
            one(&mut self.year, &date.year().to_string());
        }
        for tag in &known.tags {
            one(&mut self.tag, tag);
        }
    }

    /// Leaves the most frequent values of each, the first of the alphabet among equals.
    #[must_use]
    pub fn most_frequent(mut self) -> Self {
        let facets =
            [&mut self.kind, &mut self.media_type, &mut self.language, &mut self.year, &mut self.tag];
        for facet in facets {
            if facet.len() > MAX_FACET_VALUES {
                let mut values: Vec<(String, u64)> = std::mem::take(facet).into_iter().collect();
                values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
                values.truncate(MAX_FACET_VALUES);
                *facet = values.into_iter().collect();
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn days_of_years_and_months_are_their_first_and_last() {
        for (text, first, last) in [
            ("2024-03-09", Some(20_240_309), Some(20_240_309)),
            ("2024-03", Some(20_240_301), Some(20_240_331)),
            ("2024", Some(20_240_101), Some(20_241_231)),
            ("2024-13", None, None),
            ("2024-3-9", None, None),
            ("24", None, None),
            ("2024-03-09T10", None, None),
            ("", None, None),
            ("+024", None, None),
        ] {
            assert_eq!(Day::first(text), first.map(Day), "{text}");
            assert_eq!(Day::last(text), last.map(Day), "{text}");
        }
    }

    #[test]
    fn filter_takes_what_holds_in_every_respect() {
        let known = Particulars {
            kind: Some("invoice".into()),
            language: Some("eng".into()),
            date: Day::first("2024-03-09"),
            tags: vec!["energy".into(), "march".into()],
        };
        for (filters, fits) in [
            (&[("type", "invoice")][..], true),
            (&[("type", "application/pdf"), ("type", "invoice")], true),
            (&[("media_type", "text/plain")], false),
            (&[("tag", "energy"), ("tag", "march")], true),
            (&[("tag", "energy"), ("tag", "april")], false),
            (&[("date_from", "2024"), ("date_to", "2024-03")], true),
            (&[("date_from", "2024-03-10")], false),
            (&[("date_to", "2023")], false),
            (&[("language", "deu")], false),
            (&[("name", "a.pdf")], true),
        ] {
            let filters = pairs(filters);
            let filter = Filter::of(&filters).unwrap();
            assert_eq!(filter.fits("a.pdf", Some("application/pdf"), &known), fits, "{filters:?}");
        }
        let dated = pairs(&[("date_to", "2099")]);
        assert!(!Filter::of(&dated).unwrap().fits("a", None, &Particulars::default()), "no date is no date");
    }

    #[test]
    fn filter_that_is_not_known_names_those_that_are() {
        let error = Filter::of(&pairs(&[("colour", "red")])).map(|_| ()).unwrap_err();
        assert!(error.message().contains("colour"), "{error}");
        for known in FILTERS {
            assert!(error.hint().is_some_and(|hint| hint.contains(known)), "{known}");
            let value = if known.starts_with("date") { "2024" } else { "x" };
            assert!(!Filter::of(&pairs(&[(known, value)])).unwrap().is_empty(), "{known}");
        }
        assert!(Filter::of(&pairs(&[("date_from", "soon")])).is_err());
    }

    #[test]
    fn facets_keep_the_most_frequent_values() {
        let mut facets = Facets::default();
        for n in 0..=MAX_FACET_VALUES {
            let tags = (n..=MAX_FACET_VALUES).map(|n| format!("{n:02}")).collect();
            facets.count(Some("text/plain"), &Particulars { tags, ..Particulars::default() });
        }
        let facets = facets.most_frequent();
        assert_eq!(facets.media_type["text/plain"], MAX_FACET_VALUES as u64 + 1);
        assert_eq!(facets.tag.len(), MAX_FACET_VALUES);
        assert!(!facets.tag.contains_key("00"), "the rarest is left out");
    }
}
