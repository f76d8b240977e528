//! Dates as people write them, found in a text with their places.

use foldhash::HashMap;
use jiff::civil::Date;

use crate::words::{Word, fold, words};

/// No document is older by what it says of itself, and none is from farther ahead.
const YEARS: std::ops::RangeInclusive<i16> = 1800..=2100;

/// How a date is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Nothing to doubt: the month is a name, or the year stands first.
    Clear,
    /// Two numbers of which either could be the month, and what stands between them.
    Numbers { first: i8, second: i8, year: i16, separator: char },
    /// Month and year alone; the day is made up.
    Month,
    /// Eight digits in a row, which may be any number.
    Digits,
}

/// A date in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mention {
    /// If the month can be told from the day; day first otherwise.
    pub(super) date: Date,
    pub(super) form: Form,
    /// The year has two digits.
    pub(super) short_year: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// All dates of a text, in its order.
pub(super) fn mentions(text: &str, months: &HashMap<String, i8>) -> Vec<Mention> {
    let words: Vec<Word<'_>> = words(text).collect();
    let reader = Reader { text, words: &words, months };
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match reader.read(at) {
            Some((mention, used)) => {
                found.push(mention);
                at += used;
            }
            None => at += 1,
        }
    }
    found
}

/// The other reading of two numbers: month first.
pub(super) fn month_first(first: i8, second: i8, year: i16) -> Option<Date> {
    Date::new(year, first, second).ok()
}

struct Reader<'t> {
    text: &'t str,
    words: &'t [Word<'t>],
    months: &'t HashMap<String, i8>,
}

impl Reader<'_> {
    /// A date that begins with this word, and how many words it takes.
    fn read(&self, at: usize) -> Option<(Mention, usize)> {
        let first = self.words[at].text;
        if first.as_bytes()[0].is_ascii_digit() {
            return self
                .year_first(at)
                .or_else(|| self.numbers(at))
                .or_else(|| self.day_and_name(at))
                .or_else(|| self.digits(at));
        }
        self.name_first(at)
    }

    /// `2024-03-09`, `2024/3/9`, `2024年3月9日`, `2024-03-09T10:00`.
    fn year_first(&self, at: usize) -> Option<(Mention, usize)> {
        let year = number(self.words[at].text, 4)?;
        if let (Some("年"), Some("月"), Some("日")) =
            (self.word(at + 1), self.word(at + 3), self.word(at + 5))
        {
            let (month, day) = (small(self.word(at + 2)?)?, small(self.word(at + 4)?)?);
            return Some((self.mention(at, 6, date(year, month, day)?, Form::Clear), 6));
        }
        let separator = self.between(at);
        if !matches!(separator, "-" | "/" | "." | "–" | "‐") || self.between(at + 1) != separator {
            return None;
        }
        let month = small(self.word(at + 1)?)?;
        let last = self.word(at + 2)?;
        let day = small(last.split(['T', 't']).next()?)?;
        Some((self.mention(at, 3, date(year, month, day)?, Form::Clear), 3))
    }

    /// `9.3.2024`, `09/03/24`, `3-9-2024`, and `09-Mar-2024`.
    fn numbers(&self, at: usize) -> Option<(Mention, usize)> {
        let first = small(self.words[at].text)?;
        let separator = self.between(at).trim_end();
        let mark = single(separator).filter(|c| matches!(c, '.' | '/' | '-' | '–'))?;
        if self.between(at + 1).trim_end() != separator {
            return None;
        }
        // A fourth number makes it an address, a version or a telephone number.
        let before = at.checked_sub(1).map(|before| self.between(before));
        if before.is_some_and(|b| b == separator && ends_with_digit(self.words[at - 1].text))
            || (self.between(at + 2) == separator && self.word(at + 3).is_some_and(starts_with_digit))
        {
            return None;
        }
        let (year, short) = year(self.word(at + 2)?)?;
        let middle = self.word(at + 1)?;
        let Some(second) = small(middle) else {
            let month = *self.months.get(&fold(middle))?;
            let mut mention = self.mention(at, 3, date(year, month, first)?, Form::Clear);
            mention.short_year = short;
            return Some((mention, 3));
        };
        // Two digits with dots between are rather an amount or a number of a section.
        if short && mark == '.' && (self.words[at].text.len() != 2 || middle.len() != 2) {
            return None;
        }
        let (day_first, month_first) = (date(year, second, first), date(year, first, second));
        let form = match (day_first, month_first) {
            (Some(_), Some(_)) if first != second => Form::Numbers { first, second, year, separator: mark },
            _ => Form::Clear,
        };
        let form = match (day_first, month_first) {
            // Shows in which order this document writes its dates.
            (Some(_), None) | (None, Some(_)) => Form::Numbers { first, second, year, separator: mark },
            _ => form,
        };
        let mut mention = self.mention(at, 3, day_first.or(month_first)?, form);
        mention.short_year = short;
        Some((mention, 3))
    }

    /// `9 March 2024`, `9. März 2024`, `1er mars 2024`, `9 de marzo de 2024`, `9th of March, 2024`.
    fn day_and_name(&self, at: usize) -> Option<(Mention, usize)> {
        let day = ordinal(self.words[at].text)?;
        if !self.loose(at) {
            return None;
        }
        let mut next = at + 1;
        if matches!(self.folded(next)?.as_str(), "of" | "de" | "day") {
            next += 1;
            if self.folded(next)? == "of" {
                next += 1;
            }
        }
        let month = *self.months.get(&self.folded(next)?)?;
        let (year, short, used) = self.year_after(next)?;
        let mut mention = self.mention(at, used - at, date(year, month, day)?, Form::Clear);
        mention.short_year = short;
        Some((mention, used - at))
    }

    /// `March 9, 2024`, `Mar 9th 2024`, `March 2024`.
    fn name_first(&self, at: usize) -> Option<(Mention, usize)> {
        let month = *self.months.get(&self.folded(at)?)?;
        if !self.loose(at) {
            return None;
        }
        if let Some(day) = self.word(at + 1).and_then(ordinal)
            && let Some((year, false, used)) = self.year_after(at + 1)
            && let Some(date) = date(year, month, day)
        {
            return Some((self.mention(at, used - at, date, Form::Clear), used - at));
        }
        // A month alone needs a whole year, and a capital: `may 2000` is a verb and a number.
        let (year, false, used) = self.year_after(at)? else { return None };
        if !self.words[at].text.starts_with(char::is_uppercase) && self.words[at].text.len() <= 3 {
            return None;
        }
        Some((self.mention(at, used - at, date(year, month, 1)?, Form::Month), used - at))
    }

    /// `20240309`.
    fn digits(&self, at: usize) -> Option<(Mention, usize)> {
        let word = self.words[at].text;
        number(word, 8)?;
        let date = date(word[..4].parse().ok()?, word[4..6].parse().ok()?, word[6..].parse().ok()?)?;
        Some((self.mention(at, 1, date, Form::Digits), 1))
    }

    /// A year after this word, perhaps with `de` or a comma before it: the year, whether it is short, and the word after.
    fn year_after(&self, at: usize) -> Option<(i16, bool, usize)> {
        if !self.loose(at) {
            return None;
        }
        let mut next = at + 1;
        if matches!(self.folded(next)?.as_str(), "de" | "del" | "of") {
            next += 1;
        }
        let (year, short) = year(self.word(next)?)?;
        // An apostrophe is what shortens a year in words.
        if short && !self.between(next - 1).contains(['\'', '’', '-']) {
            return None;
        }
        Some((year, short, next + 1))
    }

    /// Whether only spaces, stops, commas and hyphens stand after this word.
    fn loose(&self, at: usize) -> bool {
        let between = self.between(at);
        between.len() <= 4
            && between
                .chars()
                .all(|c| c.is_whitespace() || matches!(c, '.' | ',' | '-' | '\'' | '’' | 'º' | 'ª'))
    }

    fn mention(&self, at: usize, words: usize, date: Date, form: Form) -> Mention {
        let (start, end) = (self.words[at].start, self.words[at + words - 1].end());
        Mention { date, form, short_year: false, start, end }
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|w| w.text)
    }

    fn folded(&self, at: usize) -> Option<String> {
        self.word(at).map(fold)
    }

    /// What stands between this word and the next.
    fn between(&self, at: usize) -> &str {
        match (self.words.get(at), self.words.get(at + 1)) {
            (Some(this), Some(next)) => &self.text[this.end()..next.start],
            _ => "",
        }
    }
}

fn date(year: i16, month: i8, day: i8) -> Option<Date> {
    if YEARS.contains(&year) { Date::new(year, month, day).ok() } else { None }
}

/// A number of exactly so many digits.
fn number(word: &str, digits: usize) -> Option<i16> {
    if word.len() != digits || !word.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if digits > 4 { Some(0) } else { word.parse().ok() }
}

/// A number of one or two digits.
fn small(word: &str) -> Option<i8> {
    if word.len() > 2 || !word.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    word.parse().ok()
}

/// A day with or without its ending.
fn ordinal(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
    let ending = &word[digits.len()..];
    let known =
        ["", "st", "nd", "rd", "th", "er", "o", "a", "e", "ST", "ND", "RD", "TH", "º", "ª"].contains(&ending);
    small(digits).filter(|day| known && (1..=31).contains(day))
}

/// A year of four digits, or of two and then true.
fn year(word: &str) -> Option<(i16, bool)> {
    if let Some(year) = number(word, 4) {
        return YEARS.contains(&year).then_some((year, false));
    }
    // What was written with two digits is hardly older than 1970.
    number(word, 2).map(|year| (if year < 70 { 2000 + year } else { 1900 + year }, true))
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

fn ends_with_digit(word: &str) -> bool {
    word.ends_with(|c: char| c.is_ascii_digit())
}
