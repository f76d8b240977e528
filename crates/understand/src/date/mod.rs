//! The date of a document: the day it was written, issued or sent.
//!
//! A date with a label that says so comes first, one whose label says otherwise (due, born, valid until) never; without
//! labels the beginning of the text counts more than the rest. Whether `3/9` is March or September is told by other dates
//! of the same document, then by its language and what it pays with.

mod mention;

use docmill_core::{Error, Result};
use foldhash::HashMap;
use jiff::civil::Date;
use serde::Deserialize;

use self::mention::{Form, Mention, mentions, month_first};
use crate::rules::Phrases;
use crate::words::fold;
use crate::{Document, Guess};

/// What is said later says it again, or is about other things.
const MAX_BYTES: usize = 64 << 10;

/// A label is not farther from its date than this.
const LABEL_REACH: usize = 48;

/// What a date needs to be told at all.
const LEAST: f32 = 0.15;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    months: Vec<String>,
    own: Vec<String>,
    plain: Vec<String>,
    other: Vec<String>,
}

/// What a label says of the date beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Says {
    Own,
    Plain,
    Other,
}

/// Names of months, and labels.
pub(crate) struct Dates {
    months: HashMap<String, i8>,
    labels: Phrases,
    says: Vec<Says>,
}

struct Label {
    says: Says,
    start: usize,
    end: usize,
}

impl Dates {
    pub(crate) fn load() -> Result<Self> {
        let file: File = toml::from_str(include_str!("../../data/dates.toml"))
            .map_err(|e| Error::bug("the built-in names of months cannot be read").with_source(e))?;
        let mut months = HashMap::default();
        for (names, month) in file.months.iter().zip(1_i8..) {
            months.extend(names.split_whitespace().map(|name| (fold(name), month)));
        }
        let lists = [(&file.own, Says::Own), (&file.plain, Says::Plain), (&file.other, Says::Other)];
        let says = lists.iter().flat_map(|(list, says)| list.iter().map(|_| *says)).collect();
        let labels = Phrases::of(lists.iter().flat_map(|(list, _)| list.iter().map(String::as_str)));
        Ok(Self { months, labels, says })
    }

    /// The date of a document in a language.
    pub(crate) fn guess(&self, document: &Document<'_>, text: &str, language: &str) -> Option<Guess<Date>> {
        if let Some(sent) = document.sent {
            return Some(Guess { value: sent, confidence: 0.95, method: "mail" });
        }
        let text = &text[..text.floor_char_boundary(MAX_BYTES)];
        let found = mentions(text, &self.months);
        let order = Order::of(&found, text, language);
        let labels = self.find_labels(text);
        let lines = Lines::of(text);
        let mut best: Option<(f32, Guess<Date>)> = None;
        for (at, mention) in found.iter().enumerate() {
            let (value, sureness) = order.read(mention);
            if document.today.is_some_and(|today| value.year() > today.year() + 1) {
                continue;
            }
            let label = label_of(at, &found, &labels, &lines, text);
            let mut score = match label {
                Some(Says::Own) => 1.0,
                Some(Says::Plain) => 0.85,
                Some(Says::Other) => -1.0,
                None => 0.35,
            };
            score += match mention.form {
                Form::Month => -0.2,
                Form::Digits if label.is_none() => -1.0,
                _ => 0.0,
            };
            // The head of a document is where its date stands.
            let line = lines.number(mention.start);
            score += if line < 25 { 0.15 - 0.004 * line as f32 } else { -0.1 };
            if label.is_none() && lines.ends_with(text, mention) {
                score += 0.15;
            }
            // What lies in the future was not written then.
            if document.today.is_some_and(|today| value > today) {
                score -= 0.5;
            }
            if score > LEAST && best.as_ref().is_none_or(|(most, _)| score > *most) {
                let method = match (label, mention.form) {
                    (Some(_), _) => "labelled",
                    (None, Form::Month) => "month",
                    (None, _) => "unlabelled",
                };
                let short = if mention.short_year { 0.9 } else { 1.0 };
                let confidence = (0.85 * score * sureness * short).clamp(0.05, 0.95);
                best = Some((score, Guess { value, confidence, method }));
            }
        }
        let written = || document.written.map(|value| Guess { value, confidence: 0.4, method: "metadata" });
        best.map(|(_, guess)| guess).or_else(written)
    }

    /// Labels in the order of the text; of two that overlap the longer one.
    fn find_labels(&self, text: &str) -> Vec<Label> {
        let mut labels: Vec<Label> = Vec::new();
        for hit in self.labels.find(text) {
            let label = Label { says: self.says[hit.phrase], start: hit.start, end: hit.end };
            match labels.last_mut() {
                Some(last) if label.start < last.end => {
                    if label.end - label.start > last.end - last.start {
                        *last = label;
                    }
                }
                _ => labels.push(label),
            }
        }
        labels
    }
}

/// What the label of a date says: the nearest one before it on its line, or the one above it.
fn label_of(at: usize, found: &[Mention], labels: &[Label], lines: &Lines, text: &str) -> Option<Says> {
    let mention = &found[at];
    let line = lines.number(mention.start);
    let line_start = lines.start(line);
    let after_last = at.checked_sub(1).map_or(0, |before| found[before].end);
    let upto = labels.partition_point(|l| l.end <= mention.start);
    if let Some(label) = labels[..upto].last() {
        let here = label.start >= line_start && label.start >= after_last;
        if here && mention.start - label.end <= LABEL_REACH && is_quiet(&text[label.end..mention.start]) {
            return Some(label.says);
        }
    }
    // `from 1.2.2024 to 3.4.2024`: the second date of a stretch is of the kind of the first.
    if after_last > line_start && at > 0 {
        let between = text[after_last..mention.start].trim();
        if matches!(between, "-" | "–" | "—" | "to" | "bis" | "au" | "al") {
            return Some(Says::Other);
        }
    }
    label_above(mention, line, found, labels, lines, text)
}

/// In a table the labels stand in the line above: the one at the same place in its row, if both rows have as many.
fn label_above(
    mention: &Mention,
    line: usize,
    found: &[Mention],
    labels: &[Label],
    lines: &Lines,
    text: &str,
) -> Option<Says> {
    let above = (0..line).rev().take(3).find(|l| !lines.text(text, *l).trim().is_empty())?;
    let within = |line: usize, at: usize| lines.number(at) == line;
    let first = labels.partition_point(|l| l.start < lines.start(above));
    let heads: Vec<&Label> = labels[first..].iter().take_while(|l| within(above, l.start)).collect();
    // A line of prose with such a word in it is no head of a table.
    let words = crate::words::words(lines.text(text, above)).take(30).count();
    if heads.is_empty() || words > 4 * heads.len() + 6 {
        return None;
    }
    let first = found.partition_point(|m| m.start < lines.start(line));
    let dates: Vec<&Mention> = found[first..].iter().take_while(|m| within(line, m.start)).collect();
    let place = dates.iter().position(|m| m.start == mention.start)?;
    if heads.len() == dates.len() {
        return heads.get(place).map(|label| label.says);
    }
    // Otherwise the one whose column is nearest.
    let column = mention.start - lines.start(line);
    heads
        .iter()
        .min_by_key(|label| (label.start - lines.start(above)).abs_diff(column))
        .filter(|label| (label.start - lines.start(above)).abs_diff(column) <= LABEL_REACH / 2)
        .map(|label| label.says)
}

/// Whether nothing but marks and a word or two stand between a label and its date.
fn is_quiet(between: &str) -> bool {
    !between.contains('\n') && crate::words::words(between).count() <= 2
}

/// In which order this document writes day and month.
struct Order {
    day_first: bool,
    sureness: f32,
}

impl Order {
    fn of(found: &[Mention], text: &str, language: &str) -> Self {
        let (mut days, mut months) = (0, 0);
        for mention in found {
            if let Form::Numbers { first, second, .. } = mention.form {
                days += u32::from(first > 12);
                months += u32::from(second > 12);
            }
        }
        if days != months {
            return Self { day_first: days > months, sureness: 1.0 };
        }
        if language != "eng" {
            let known = if language == "und" { 0.8 } else { 0.95 };
            return Self { day_first: true, sureness: known };
        }
        // Among those who write English, only Americans put the month first.
        let has = |signs: &[&str]| signs.iter().filter(|sign| text.contains(**sign)).count();
        let american = has(&["$", "USD", "ZIP", "Inc.", "LLC", "EIN", "sales tax", "Sales Tax", " color"]);
        let other =
            has(&["£", "€", "GBP", "EUR", "RM", "GST", "VAT", "Ltd", "PLC", "SDN BHD", "postcode", "colour"]);
        Self { day_first: other > american, sureness: if other == american { 0.6 } else { 0.8 } }
    }

    /// The date and how sure its order is.
    fn read(&self, mention: &Mention) -> (Date, f32) {
        match mention.form {
            Form::Numbers { first, second, .. } if first > 12 || second > 12 => (mention.date, 1.0),
            // Dots and the day first belong together wherever they are used.
            Form::Numbers { separator: '.', .. } => (mention.date, 0.95),
            Form::Numbers { first, second, year, .. } if !self.day_first => {
                (month_first(first, second, year).unwrap_or(mention.date), self.sureness)
            }
            Form::Numbers { .. } => (mention.date, self.sureness),
            _ => (mention.date, 1.0),
        }
    }
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    fn number(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at).saturating_sub(1)
    }

    fn start(&self, line: usize) -> usize {
        self.0.get(line).copied().unwrap_or(0)
    }

    fn text<'t>(&self, text: &'t str, line: usize) -> &'t str {
        let end = self.0.get(line + 1).copied().unwrap_or(text.len());
        &text[self.start(line)..end]
    }

    /// Whether a date ends its line and little stands before it: `Leeds, 9 March 2024`.
    fn ends_with(&self, text: &str, mention: &Mention) -> bool {
        let line = self.number(mention.start);
        let end = self.0.get(line + 1).copied().unwrap_or(text.len());
        let after = text.get(mention.end..end).unwrap_or_default();
        let before = &text[self.start(line)..mention.start];
        after.trim().is_empty() && crate::words::words(before).take(6).count() < 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Page;
    use jiff::civil::date;

    fn guess_in(text: &str, language: &str) -> Option<Guess<Date>> {
        let pages = [Page { number: 1, text }];
        let document = Document { today: Some(date(2026, 1, 1)), ..Document::of(&pages) };
        Dates::load().unwrap().guess(&document, text, language)
    }

    #[test]
    fn every_written_form_is_read() {
        for written in [
            "2024-03-09",
            "2024/3/9",
            "2024-03-09T10:15:00Z",
            "9.3.2024",
            "09.03.2024",
            "09.03.24",
            "9. März 2024",
            "9 March 2024",
            "9th of March, 2024",
            "March 9, 2024",
            "Mar. 9th 2024",
            "09-Mar-2024",
            "09-MAR-24",
            "9 mars 2024",
            "9 de marzo de 2024",
            "9 marzo 2024",
            "9 maart 2024",
            "9 de março de 2024",
            "2024年3月9日",
        ] {
            let found = guess_in(&format!("Datum: {written}"), "deu").map(|g| g.value);
            assert_eq!(found, Some(date(2024, 3, 9)), "{written}");
        }
        assert_eq!(guess_in("le 1er mars 2024", "fra").map(|g| g.value), Some(date(2024, 3, 1)));
    }

    #[test]
    fn what_only_looks_like_a_date_is_none() {
        for text in [
            "192.168.1.20",
            "1.2.3.4",
            "Tel. 01-02-03-04-05",
            "3.50",
            "31.02.2024",
            "99/99/9999",
            "may 5",
            "",
        ] {
            assert_eq!(guess_in(text, "eng"), None, "{text}");
        }
    }

    #[test]
    fn label_decides_between_dates() {
        for (text, language) in [
            ("Due date: 01.04.2024\nInvoice date: 09.03.2024", "eng"),
            ("Fällig am 01.04.2024\nRechnungsdatum 09.03.2024", "deu"),
            ("Échéance : 01/04/2024\nDate de facture : 09/03/2024", "fra"),
            ("Born 01.01.1970\nIssued on 9 March 2024", "eng"),
            ("Vervaldatum 01-04-2024\nFactuurdatum 09-03-2024", "nld"),
            ("Period 1 February 2024 to 29 February 2024\nDate 9 March 2024", "eng"),
            ("Invoice date   Due date\n09.03.2024   01.04.2024", "eng"),
            ("Due date   Invoice date\n01.04.2024   09.03.2024", "eng"),
        ] {
            let found = guess_in(text, language).unwrap();
            assert_eq!((found.value, found.method), (date(2024, 3, 9), "labelled"), "{text}");
        }
    }

    #[test]
    fn order_of_day_and_month_is_told_by_evidence() {
        for (text, language, expected) in [
            ("Date: 03/09/2024, paid 03/25/2024", "eng", date(2024, 3, 9)),
            ("Date: 03/09/2024, paid 25/09/2024", "eng", date(2024, 9, 3)),
            ("Date: 03/09/2024\nTotal $ 5.00", "eng", date(2024, 3, 9)),
            ("Date: 03/09/2024\nTotal £ 5.00 incl. VAT", "eng", date(2024, 9, 3)),
            ("Date : 03/09/2024", "fra", date(2024, 9, 3)),
        ] {
            assert_eq!(guess_in(text, language).unwrap().value, expected, "{text}");
        }
        let doubtful = guess_in("Date: 03/09/2024", "eng").unwrap();
        let clear = guess_in("Date: 25/09/2024", "eng").unwrap();
        assert!(doubtful.confidence < clear.confidence);
    }

    #[test]
    fn date_of_a_letter_needs_no_label() {
        let text =
            "Kestrel Ltd\n14 Foundry Lane\n\nLeeds, 9 March 2024\n\nDear Sir,\nwe met on 5 January 2023 and";
        let found = guess_in(text, "eng").unwrap();
        assert_eq!((found.value, found.method), (date(2024, 3, 9), "unlabelled"));
    }

    #[test]
    fn future_and_fallback() {
        assert_eq!(guess_in("Date: 1 March 2031", "eng"), None);
        let pages = [Page { number: 1, text: "no date" }];
        let document = Document { written: Some(date(2020, 5, 5)), ..Document::of(&pages) };
        let found = Dates::load().unwrap().guess(&document, "no date", "eng").unwrap();
        assert_eq!((found.value, found.method), (date(2020, 5, 5), "metadata"));
        let document = Document { sent: Some(date(2021, 5, 5)), ..document };
        assert_eq!(Dates::load().unwrap().guess(&document, "no date", "eng").unwrap().method, "mail");
    }
}
