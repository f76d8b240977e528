//! Dates in numbers and in words of several languages.
//!
//! `03/04/2018` has two readings: which one holds is decided for a whole document by what else it says.

use std::ops::Range;

/// Which of two numbers is the day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// As in most of the world.
    #[default]
    DayFirst,
    /// As in the United States.
    MonthFirst,
}

/// A day of the calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Date {
    year: i16,
    month: i8,
    day: i8,
}

/// A date in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mention {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it says, in the order asked for where it can be read in two ways.
    pub date: Date,
    /// What tells how the two numbers are meant, if this date does.
    pub order: Option<Order>,
}

/// Months by the beginnings of their names, folded; English, German, French, Spanish, Italian, Dutch, Portuguese.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene", "gen"],
    &["feb", "fev"],
    &["mar", "maerz", "mrz", "maa", "mrt"],
    &["apr", "avr", "abr"],
    &["may", "mai", "mag", "mei"],
    &["jun", "juin", "giu"],
    &["jul", "juil", "lug"],
    &["aug", "aou", "ago"],
    &["sep", "set"],
    &["oct", "okt", "ott", "out"],
    &["nov"],
    &["dec", "dez", "dic"],
];

impl Date {
    /// A day that the calendar has, between 1900 and 2100.
    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        let year = if year < 100 { year + 2000 } else { year };
        let (year, month, day) =
            (i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
        let real = (1900..2100).contains(&year) && jiff::civil::Date::new(year, month, day).is_ok();
        real.then_some(Self { year, month, day })
    }

    /// ISO 8601.
    pub fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// Reads the whole of a text as one date.
    pub fn parse(text: &str, order: Order) -> Option<Self> {
        let text = text.trim();
        let found = scan(text, order);
        let first = found.first()?;
        (first.range == (0..text.len())).then_some(first.date)
    }
}

/// All dates of a line.
pub fn scan(line: &str, order: Order) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    while let Some(c) = line[at..].chars().next() {
        let starts =
            c.is_ascii_digit() && !before.is_ascii_digit() || c.is_alphabetic() && !before.is_alphanumeric();
        if let Some(mention) = starts.then(|| date_at(line, at, order)).flatten() {
            at = mention.range.end;
            before = '0';
            found.push(mention);
        } else {
            at += c.len_utf8();
            before = c;
        }
    }
    found
}

/// A piece of a date and where it ends.
enum Part {
    Number(u32, usize),
    Month(u32),
}

fn date_at(line: &str, from: usize, order: Order) -> Option<Mention> {
    let mut at = from;
    let mut parts: Vec<Part> = Vec::new();
    let mut marks: Vec<String> = Vec::new();
    while parts.len() < 3 {
        let (part, length) = part_at(&line[at..])?;
        at += length;
        parts.push(part);
        if parts.len() < 3 {
            let rest = &line[at..];
            let length = rest.find(|c: char| c.is_alphanumeric())?;
            let mark = &rest[..length];
            let fine = matches!(mark.trim(), "" | "." | "/" | "-" | "," | "., " | ".-" | "'" | "’")
                && mark.chars().count() <= 3;
            if !fine || mark.contains('\t') {
                return None;
            }
            marks.push(mark.trim().to_owned());
            at += length;
        }
    }
    if line[at..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let numbers = parts.iter().all(|part| matches!(part, Part::Number(..)));
    // `10 Mar'18` leaves out the century; between two numbers the sign means minutes or feet.
    if numbers && marks.iter().any(|mark| matches!(mark.as_str(), "'" | "’")) {
        return None;
    }
    if numbers && (marks[0] != marks[1] || marks[0].is_empty() || marks[0] == ",") {
        return None;
    }
    let (date, said) = match (&parts[0], &parts[1], &parts[2]) {
        (&Part::Number(a, 1..=2), &Part::Number(b, 1..=2), &Part::Number(y, 2 | 4)) => {
            let (day, month) = (Date::new(y as i32, b, a), Date::new(y as i32, a, b));
            match (day, month, marks[0].as_str(), order) {
                (Some(d), None, ..) => (d, Some(Order::DayFirst)),
                (None, Some(d), ..) => (d, Some(Order::MonthFirst)),
                // Points are used where the day comes first.
                (Some(d), Some(_), ".", _)
                | (Some(d), Some(_), _, Order::DayFirst)
                | (Some(_), Some(d), _, Order::MonthFirst) => (d, None),
                (None, None, ..) => return None,
            }
        }
        (&Part::Number(y, 4), &Part::Number(m, 1..=2), &Part::Number(d, 1..=2))
        | (&Part::Number(d, 1..=2), &Part::Month(m), &Part::Number(y, 2 | 4))
        | (&Part::Month(m), &Part::Number(d, 1..=2), &Part::Number(y, 4)) => {
            (Date::new(y as i32, m, d)?, None)
        }
        _ => return None,
    };
    Some(Mention { range: from..at, date, order: said })
}

fn part_at(text: &str) -> Option<(Part, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        let value = text.get(..digits.min(5))?.parse().ok()?;
        let rest = &text[digits..];
        let ordinal = ["st", "nd", "rd", "th", "er", "ter", "º"]
            .iter()
            .find(|o| rest.starts_with(**o) && !rest[o.len()..].starts_with(|c: char| c.is_alphanumeric()));
        return Some((Part::Number(value, digits), digits + ordinal.map_or(0, |o| o.len())));
    }
    let length = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let word = &text[..length];
    if matches!(word.to_lowercase().as_str(), "de" | "of" | "del" | "di") {
        let rest = text[length..].strip_prefix(' ')?;
        let (part, more) = part_at_plain(rest)?;
        return Some((part, length + 1 + more));
    }
    Some((Part::Month(month(word)?), length))
}

/// Behind `de` or `of`, where no second one may stand.
fn part_at_plain(text: &str) -> Option<(Part, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        return Some((Part::Number(text.get(..digits.min(5))?.parse().ok()?, digits), digits));
    }
    let length = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    Some((Part::Month(month(&text[..length])?), length))
}

fn month(word: &str) -> Option<u32> {
    let count = word.chars().count();
    if !(3..=11).contains(&count) {
        return None;
    }
    let folded = crate::layout::folded(word);
    let at = MONTHS.iter().position(|names| names.iter().any(|name| folded.starts_with(name)))?;
    // `Marketing` begins like a month too: names that go on differently are words.
    let long = [
        "january januar janvier enero gennaio januari janeiro",
        "february februar fevrier febrero febbraio februari fevereiro",
        "march marz maerz mars marzo maart marco",
        "april avril abril aprile",
        "may mai mayo maggio mei maio",
        "june juni juin junio giugno junho",
        "july juli juillet julio luglio julho",
        "august aout agosto augustus",
        "september septembre septiembre settembre setembro sept",
        "october oktober octobre octubre ottobre outubro",
        "november novembre noviembre novembro",
        "december dezember decembre diciembre dicembre dezembro",
    ][at];
    (count <= 4 || long.split(' ').any(|name| name == folded)).then_some(at as u32 + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_in_words_and_numbers_are_iso() {
        let cases = [
            ("19 Mar 2018", "2018-03-19"),
            ("23. August 2024", "2024-08-23"),
            ("18 april 2014", "2014-04-18"),
            ("1er février 2023", "2023-02-01"),
            ("March 3rd, 2018", "2018-03-03"),
            ("3 de marzo de 2018", "2018-03-03"),
            ("2018/02/22", "2018-02-22"),
            ("05-05-18", "2018-05-05"),
            ("10 Mar'18", "2018-03-10"),
            ("03/04/2018", "2018-04-03"),
        ];
        for (text, iso) in cases {
            assert_eq!(Date::parse(text, Order::DayFirst).map(Date::iso).as_deref(), Some(iso), "{text}");
        }
        assert_eq!(
            Date::parse("03/04/2018", Order::MonthFirst).map(Date::iso).as_deref(),
            Some("2018-03-04")
        );
        assert_eq!(
            Date::parse("03.04.2018", Order::MonthFirst).map(Date::iso).as_deref(),
            Some("2018-04-03")
        );
    }

    #[test]
    fn what_the_calendar_does_not_have_is_no_date() {
        for text in ["31.02.2018", "12/03", "1.2.3", "40/50/2018", "Marketing 3, 2018", "12 500 2018"] {
            assert_eq!(Date::parse(text, Order::DayFirst), None, "{text}");
        }
        assert_eq!(scan("13/02/2018 and 01/02/2018", Order::MonthFirst)[0].order, Some(Order::DayFirst));
    }

    proptest! {
        #[test]
        fn any_line_is_scanned_without_harm(line in "\\PC{0,80}") {
            for mention in scan(&line, Order::DayFirst) {
                prop_assert!(line.get(mention.range).is_some());
            }
        }
    }
}
