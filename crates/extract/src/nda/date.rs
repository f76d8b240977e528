//! Since when: "made as of the 3rd day of July, 2005", or the date beside the signatures.

use jiff::civil::Date;

use super::Hit;
use super::text::Text;

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The beginning of an agreement, and its end, where dates are its own.
const HEAD: usize = 2_500;
const TAIL: usize = 1_500;

pub(super) fn effective(text: &Text) -> Option<Hit> {
    let dates = dates(text);
    let tail = text.plain().len().saturating_sub(TAIL);
    let own = |hit: &Hit| {
        let before = text.before(hit.start, 40);
        ["dated", "as of", "effective", "entered into", "made", "date:", "this "]
            .iter()
            .any(|w| before.contains(w))
    };
    let head = dates.iter().find(|hit| hit.start < HEAD && own(hit));
    let last = dates.iter().find(|hit| hit.start >= tail);
    head.or(last).or_else(|| dates.iter().find(|hit| hit.start < HEAD)).cloned()
}

/// All whole dates, in their order.
fn dates(text: &Text) -> Vec<Hit> {
    let words: Vec<(usize, &str)> = text
        .small()
        .split(' ')
        .scan(0, |at, word| {
            let start = *at;
            *at += word.len() + 1;
            Some((start, word))
        })
        .collect();
    let mut found = Vec::new();
    for at in 0..words.len() {
        let word =
            |n: usize| words.get(n).map_or("", |(_, word)| word.trim_matches(['(', ')', ',', '.', ';', ':']));
        let month = |n: usize| MONTHS.iter().position(|name| *name == word(n)).map(|m| m as i8 + 1);
        let (date, used) = if let Some(month) = month(at) {
            (day(word(at + 1)).and_then(|day| date(word(at + 2), month, day)), 3)
        } else if let Some(first) = day(word(at)) {
            let next = match (word(at + 1), word(at + 2)) {
                ("day", "of") => at + 3,
                ("of", _) => at + 2,
                _ => at + 1,
            };
            (month(next).and_then(|month| date(word(next + 1), month, first)), next + 2 - at)
        } else {
            (slashes(word(at)), 1)
        };
        if let Some(date) = date {
            let (last, text) = words[at + used - 1];
            found.push(Hit {
                value: date.to_string(),
                start: words[at].0,
                end: last + text.trim_end_matches(['(', ')', ',', '.', ';', ':']).len(),
                confidence: 0.8,
                method: "date",
            });
        }
    }
    found
}

fn day(word: &str) -> Option<i8> {
    word.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok().filter(|day| (1..=31).contains(day))
}

fn date(year: &str, month: i8, day: i8) -> Option<Date> {
    let year: i16 = year.parse().ok().filter(|year| (1950..=2100).contains(year))?;
    Date::new(year, month, day).ok()
}

/// `8/14/2007` and `3/19/07`: the month first, as it is written there.
fn slashes(word: &str) -> Option<Date> {
    let mut parts = word.splitn(3, '/');
    let (month, day, year) = (parts.next()?, parts.next()?, parts.next()?);
    let year: i16 = year.parse().ok()?;
    let year = if (0..100).contains(&year) { year + if year < 50 { 2000 } else { 1900 } } else { year };
    date(&year.to_string(), month.parse().ok()?, day.parse().ok()?)
}
