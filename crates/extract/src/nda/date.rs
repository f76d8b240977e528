//! Since when: "made as of the 3rd day of July, 2005", the date of a letter, or the one beside the signatures.

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

/// Days in words: "this first day of May".
const DAYS: &[&str] = &[
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twenty-first",
    "twenty-second",
    "twenty-third",
    "twenty-fourth",
    "twenty-fifth",
    "twenty-sixth",
    "twenty-seventh",
    "twenty-eighth",
    "twenty-ninth",
    "thirtieth",
    "thirty-first",
];

/// The beginning of an agreement, and its end, where dates are its own.
const HEAD: usize = 2_500;
const TAIL: usize = 1_500;

/// What stands before the date of the agreement itself.
const OWN: &[&str] = &["dated", "as of", "effective", "entered into", "made", "date:", "this ", " on "];

/// Papers whose date is not that of the agreement: "the letter dated", "the Merger Agreement dated".
const OTHER: &[&str] = &[
    "letter dated",
    "plan dated",
    "act of",
    "merger agreement dated",
    "merger agreement, dated",
    "purchase agreement dated",
    "purchase agreement, dated",
    "employment agreement dated",
    "employment agreement, dated",
];

/// How letters greet: what stands above is their date.
const GREETINGS: &[&str] = &["dear ", "ladies and gentlemen", "gentlemen:"];

pub(super) fn effective(text: &Text) -> Option<Hit> {
    let dates = dates(text);
    let head = || dates.iter().filter(|hit| hit.start < HEAD);
    let sure = |hit: &Hit, confidence: f32| Some(Hit { confidence, ..hit.clone() });
    let beginning = text.before(HEAD, HEAD);
    let greeting = GREETINGS.iter().filter_map(|words| beginning.find(words)).min();
    if let Some(written) = greeting.and_then(|greeting| head().find(|hit| hit.start < greeting)) {
        return sure(written, 0.8);
    }
    let own = |hit: &&Hit| {
        let before = text.before(hit.start, 45);
        OWN.iter().any(|word| before.contains(word)) && !OTHER.iter().any(|word| before.contains(word))
    };
    if let Some(own) = head().find(own) {
        return sure(own, 0.85);
    }
    let tail = text.plain().len().saturating_sub(TAIL);
    if let Some(signed) = dates.iter().find(|hit| hit.start >= tail) {
        return sure(signed, 0.6);
    }
    head().next().and_then(|first| sure(first, 0.5))
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
        let month = |n: usize| month(word(n));
        let (date, used) = if let Some(month) = month(at) {
            (day(word(at + 1)).and_then(|day| date(word(at + 2), month, day)), 3)
        } else if let Some(first) = day(word(at)) {
            let next = match (word(at + 1), word(at + 2)) {
                ("day", "of") => at + 3,
                ("of", _) => at + 2,
                _ => at + 1,
            };
            let year = if word(next + 1) == "of" { next + 2 } else { next + 1 };
            (month(next).and_then(|month| date(word(year), month, first)), year + 1 - at)
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

/// `3`, `3rd` and `third`.
fn day(word: &str) -> Option<i8> {
    let named = DAYS.iter().position(|name| *name == word).map(|at| at as i8 + 1);
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    named.or_else(|| digits.parse().ok().filter(|day| (1..=31).contains(day)))
}

/// `november`, and `nov` and `sept` for short.
fn month(word: &str) -> Option<i8> {
    let fits = |name: &&str| *name == word || (3..=4).contains(&word.len()) && name.starts_with(word);
    MONTHS.iter().position(fits).map(|at| at as i8 + 1)
}

fn date(year: &str, month: i8, day: i8) -> Option<Date> {
    let year: i16 = year.parse().ok().filter(|year| (1950..=2100).contains(year))?;
    Date::new(year, month, day).ok()
}

/// `8/14/2007` and `3-19-07`: the month first, as it is written there.
fn slashes(word: &str) -> Option<Date> {
    let mut parts = word.splitn(3, ['/', '-']);
    let (month, day, year) = (parts.next()?, parts.next()?, parts.next()?);
    let year: i16 = year.parse().ok()?;
    let year = if (0..100).contains(&year) { year + if year < 50 { 2000 } else { 1900 } } else { year };
    date(&year.to_string(), month.parse().ok()?, day.parse().ok()?)
}
