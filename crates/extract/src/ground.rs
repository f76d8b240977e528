//! Where a given value stands in a document. What a model or a person says is held against the pages here: a value that
//! is found nowhere, after both sides are brought to one notation, is ungrounded.

use std::ops::Range;

use docmill_core::extraction::{Evidence, EvidenceSource};

use crate::find::Reading;
use crate::layout::{Span, folded};
use crate::normalise::{Amount, Date, Order, amount, codes, date};
use crate::schema::{FieldRule, Normalise};

/// Places of one value beyond are not told.
const MAX_PLACES: usize = 64;

/// Lines that one value may take: a long address.
const MAX_LINES: usize = 8;

/// A document to be searched: its rows, and its running text for what has no pages.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// Words with their places.
    pub reading: &'a Reading<'a>,
    /// Texts of pages with their numbers.
    pub texts: &'a [(u32, &'a str)],
}

/// Where a value was found, and how surely its words were read.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// Its places.
    pub evidence: Vec<Evidence>,
    /// 0 to 1.
    pub read: f32,
}

impl Ground<'_> {
    /// The first place of a value: on the rows, otherwise in the text.
    pub fn seek(&self, rule: &FieldRule, value: &str) -> Option<Seen> {
        let sheet = self.reading.sheet;
        if let Some(spans) = self.places(rule, value).into_iter().next() {
            let evidence = spans.iter().filter_map(|span| sheet.evidence(span)).collect();
            let read = spans.iter().map(|span| sheet.confidence(span)).fold(1.0, f32::min);
            return Some(Seen { evidence, read });
        }
        self.texts.iter().find_map(|&(page, text)| {
            let range = in_text(text, rule, value)?;
            let span = text.get(range)?.to_owned();
            let evidence = Evidence {
                source: EvidenceSource::Page,
                page: Some(page),
                span: Some(span),
                frame: None,
                path: None,
            };
            Some(Seen { evidence: vec![evidence], read: 1.0 })
        })
    }

    /// All places of a value on the rows, each as the spans that it takes.
    pub fn places(&self, rule: &FieldRule, value: &str) -> Vec<Vec<Span>> {
        let one = |span: &Span| vec![span.clone()];
        let mut found: Vec<Vec<Span>> = match rule.normalise {
            Some(Normalise::Money | Normalise::Number) => {
                let Some(wanted) = Amount::parse(value) else { return Vec::new() };
                let all = self.reading.amounts.iter().flatten();
                all.filter(|(_, seen)| seen.amount.units == wanted.units).map(|(span, _)| one(span)).collect()
            }
            Some(Normalise::Date) => {
                let Some(wanted) = Date::parse(value, self.reading.order) else { return Vec::new() };
                let all = self.reading.dates.iter().flatten();
                all.filter(|(span, seen)| {
                    seen.date == wanted || other_reading(&self.reading.sheet.text(span)).contains(&wanted)
                })
                .map(|(span, _)| one(span))
                .collect()
            }
            Some(Normalise::Currency) => self.tokens(|text| codes::currency(sign(text)) == Some(value)),
            Some(Normalise::Country) => self.tokens(|text| codes::country(text) == Some(value)),
            Some(Normalise::Iban | Normalise::Vat) | None => self.words(&folded(value)),
        };
        found.truncate(MAX_PLACES);
        found
    }

    fn tokens(&self, fits: impl Fn(&str) -> bool) -> Vec<Vec<Span>> {
        let mut found = Vec::new();
        for (row, line) in self.reading.sheet.rows.iter().enumerate() {
            let hits = line.tokens.iter().enumerate().filter(|(_, token)| fits(&token.text));
            found.extend(hits.map(|(at, _)| vec![Span { row, tokens: at..at + 1 }]));
        }
        found
    }

    /// Words one after the other, also over the end of a line into the line below it.
    fn words(&self, wanted: &str) -> Vec<Vec<Span>> {
        let mut found = Vec::new();
        if wanted.is_empty() {
            return found;
        }
        for (row, line) in self.reading.sheet.rows.iter().enumerate() {
            for at in 0..line.tokens.len() {
                let fold = &line.tokens[at].fold;
                if !fold.is_empty() && (wanted.starts_with(fold.as_str())) {
                    found.extend(self.follow(row, at, wanted));
                }
            }
            if found.len() >= MAX_PLACES {
                break;
            }
        }
        found
    }

    /// Follows words from a place as far as they go on as wanted; nothing if they end otherwise.
    fn follow(&self, row: usize, from: usize, wanted: &str) -> Option<Vec<Span>> {
        let (mut row, mut from, mut rest) = (row, from, wanted);
        let mut spans = Vec::new();
        while spans.len() < MAX_LINES {
            let line = self.reading.sheet.rows.get(row)?;
            let mut to = from;
            for token in &line.tokens[from..] {
                let Some(after) = rest.strip_prefix(token.fold.as_str()) else { break };
                if rest.is_empty() {
                    break;
                }
                (rest, to) = (after, to + 1);
            }
            if to == from {
                return None;
            }
            spans.push(Span { row, tokens: from..to });
            if rest.is_empty() {
                return Some(spans);
            }
            let (left, right) = line.edges(&(from..to));
            let next = (row + 1..self.reading.sheet.rows.len()).take(3).find_map(|below| {
                let under = &self.reading.sheet.rows[below];
                let at = (0..under.tokens.len()).find(|&at| {
                    let [from, _, to, _] = under.tokens[at].edges;
                    from < right
                        && to > left - line.height
                        && rest.starts_with(under.tokens[at].fold.as_str())
                })?;
                (under.page == line.page && !under.tokens[at].fold.is_empty()).then_some((below, at))
            });
            (row, from) = next?;
        }
        None
    }
}

/// A currency without the digits that it is written to.
fn sign(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii_digit() || ".,-:()[]".contains(c))
}

/// Both readings of a date in numbers.
fn other_reading(text: &str) -> Vec<Date> {
    [Order::DayFirst, Order::MonthFirst].into_iter().filter_map(|order| Date::parse(text, order)).collect()
}

/// Where a value stands in running text.
fn in_text(text: &str, rule: &FieldRule, value: &str) -> Option<Range<usize>> {
    let mut start = 0;
    match rule.normalise {
        Some(Normalise::Money | Normalise::Number) => {
            let wanted = Amount::parse(value)?;
            for line in text.split_inclusive('\n') {
                // Behind an amount at its end nothing follows, a line break neither.
                let hit =
                    amount::scan(line.trim_end()).into_iter().find(|seen| seen.amount.units == wanted.units);
                if let Some(hit) = hit {
                    return Some(start + hit.range.start..start + hit.range.end);
                }
                start += line.len();
            }
            None
        }
        Some(Normalise::Date) => {
            let wanted = Date::parse(value, Order::DayFirst)?;
            for line in text.split_inclusive('\n') {
                let seen = [Order::DayFirst, Order::MonthFirst].into_iter().flat_map(|o| date::scan(line, o));
                if let Some(hit) = seen.into_iter().find(|seen| seen.date == wanted) {
                    return Some(start + hit.range.start..start + hit.range.end);
                }
                start += line.len();
            }
            None
        }
        Some(Normalise::Currency | Normalise::Country) => {
            let fits = |word: &str| {
                codes::currency(sign(word)) == Some(value) || codes::country(word) == Some(value)
            };
            let word = text.split_whitespace().find(|word| fits(word))?;
            let at = word.as_ptr() as usize - text.as_ptr() as usize;
            Some(at..at + word.len())
        }
        Some(Normalise::Iban | Normalise::Vat) | None => folded_in(text, &folded(value)),
    }
}

/// Where a folded text stands in one that is not, as whole words.
fn folded_in(text: &str, wanted: &str) -> Option<Range<usize>> {
    if wanted.is_empty() {
        return None;
    }
    let mut flat = String::new();
    let mut origin: Vec<usize> = Vec::new();
    for (at, c) in text.char_indices() {
        let fold = folded(c.encode_utf8(&mut [0; 4]));
        origin.extend(std::iter::repeat_n(at, fold.len()));
        flat.push_str(&fold);
    }
    let mut from = 0;
    while let Some(hit) = flat.get(from..).and_then(|rest| rest.find(wanted)) {
        let (begin, last) = (from + hit, from + hit + wanted.len() - 1);
        let (start, end) = (*origin.get(begin)?, *origin.get(last)?);
        let end = end + text[end..].chars().next().map_or(0, char::len_utf8);
        let before = text[..start].chars().next_back().is_some_and(char::is_alphanumeric);
        let after = text[end..].chars().next().is_some_and(char::is_alphanumeric);
        if !before && !after {
            return Some(start..end);
        }
        from = begin + flat[begin..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Sheet;
    use crate::layout::tests::page;
    use crate::schema::Shape;

    fn rule(normalise: Option<Normalise>) -> FieldRule {
        FieldRule { name: "x".into(), shape: Shape::Text, critical: false, normalise, labels: Vec::new() }
    }

    #[test]
    fn values_are_found_in_the_notation_of_the_page() {
        let lines =
            ["Kestrel Ltd          Total 1.234,56 €", "14 Foundry Lane", "Leeds LS1 4QP  9 March 2024"];
        let sheet = Sheet::new(&[page(&lines)]);
        let reading = Reading::new(&sheet);
        let ground = Ground { reading: &reading, texts: &[] };
        let span = |normalise, value: &str| {
            ground.seek(&rule(normalise), value).map(|seen| {
                seen.evidence.into_iter().filter_map(|at| at.span).collect::<Vec<_>>().join(" / ")
            })
        };
        assert_eq!(span(Some(Normalise::Money), "1234.56").as_deref(), Some("1.234,56"));
        assert_eq!(span(Some(Normalise::Date), "2024-03-09").as_deref(), Some("9 March 2024"));
        assert_eq!(span(Some(Normalise::Currency), "EUR").as_deref(), Some("€"));
        let address = span(None, "14 Foundry Lane, Leeds LS1 4QP");
        assert_eq!(address.as_deref(), Some("14 Foundry Lane / Leeds LS1 4QP"));
        for (normalise, invented) in [
            (Some(Normalise::Money), "1234.57"),
            (Some(Normalise::Date), "2024-09-03"),
            (None, "Kestrel Limited"),
            (None, "Foundry"),
        ] {
            let seen = span(normalise, invented);
            assert!(seen.is_none() || invented == "Foundry", "{invented}: {seen:?}");
        }
    }

    #[test]
    fn running_text_vouches_for_whole_words_alone() {
        let sheet = Sheet::default();
        let reading = Reading::new(&sheet);
        let text =
            "This Agreement is made by ACME  Ltd.\nand JOE on 9 March 2024 for 12,50 EUR\nor 14.00\nin cash";
        let texts = [(3, text)];
        let ground = Ground { reading: &reading, texts: &texts };
        let seen = ground.seek(&rule(None), "acme ltd").unwrap();
        assert_eq!((seen.evidence[0].page, seen.evidence[0].span.as_deref()), (Some(3), Some("ACME  Ltd")));
        assert!(ground.seek(&rule(Some(Normalise::Date)), "2024-03-09").is_some());
        assert!(ground.seek(&rule(Some(Normalise::Money)), "12.50").is_some());
        assert!(ground.seek(&rule(Some(Normalise::Money)), "14.00").is_some(), "at the end of a line");
        assert!(ground.seek(&rule(Some(Normalise::Currency)), "EUR").is_some());
        assert!(ground.seek(&rule(None), "cme ltd").is_none());
        assert!(ground.seek(&rule(None), "").is_none());
    }
}
