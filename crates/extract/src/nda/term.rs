//! How long: "shall remain in effect for a period of five (5) years".

use super::Hit;
use super::text::Text;

/// How far before the span what it is about may stand.
const REACH: usize = 330;

/// How far behind it the day from which it counts may stand.
const AHEAD: usize = 140;

/// What a sentence says if it is about how long something holds.
const HOLDS: &[&str] = &[
    "remain",
    "continu",
    "in effect",
    "in force",
    "effective",
    "terminat",
    "expir",
    "binding",
    "term ",
    "cease",
    "lapse",
    "surviv",
    "no further force",
    "no longer",
];

/// What holds, where it is not the agreement as a whole.
const PARTS: &[&str] = &["obligation", "provision", "restriction", "covenant", "undertaking"];

/// Such papers also say how long nobody may be hired or bought, which is no term.
const OTHERS: &[&str] = &[
    "solicit",
    "standstill",
    "hire",
    "compet",
    "employ",
    "securities",
    "acquire",
    "after termination",
    "after the termination",
    "after such termination",
    "following termination",
    "following the termination",
    "termination for a period",
];

/// Headings of the part that says it.
const HEADINGS: &[&str] = &["term.", "term:", "termination.", "termination:", "duration.", "duration:"];

const NUMBERS: &[(&str, u32)] = &[
    ("twenty-four", 24),
    ("twenty four", 24),
    ("thirty-six", 36),
    ("thirty six", 36),
    ("eighteen", 18),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
];

/// Which anniversary of a day something ends on, as years from that day.
const ORDINALS: &[&str] =
    &["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

pub(super) fn term(text: &Text) -> Option<Hit> {
    let mut best = lasting(text);
    for (said, hit) in anniversaries(text) {
        if best.as_ref().is_none_or(|(most, _)| said > *most) {
            best = Some((said, hit));
        }
    }
    best.map(|(_, hit)| hit)
}

/// `shall expire on the second anniversary of the date hereof`.
fn anniversaries(text: &Text) -> Vec<(usize, Hit)> {
    let name = "anniversary";
    let read = |end: usize| {
        let before = text.before(end - name.len(), 12);
        let word = before.trim_end().rsplit([' ', '(']).next()?;
        let years = ORDINALS.iter().position(|ordinal| *ordinal == word)? + 1;
        let start = end - name.len() - (before.len() - before.rfind(word)?);
        let said = signs(text, start, end);
        let plural = if years == 1 { "" } else { "s" };
        let confidence = if said > 3 { 0.8 } else { 0.6 };
        let value = format!("{years} year{plural}");
        (said > 1).then_some((said, Hit { value, start, end, confidence, method: "term" }))
    };
    text.after(name).filter_map(read).collect()
}

/// `for a period of five (5) years`, the one of which most says that it is the term.
fn lasting(text: &Text) -> Option<(usize, Hit)> {
    let mut best: Option<(usize, Hit)> = None;
    for unit in ["year", "month"] {
        for end in text.after(unit) {
            let Some((count, start)) = count(text, end - unit.len()) else { continue };
            let said = signs(text, start, end);
            if said < 2 || best.as_ref().is_some_and(|(most, _)| said <= *most) {
                continue;
            }
            let plural = if count == 1 { "" } else { "s" };
            let length = usize::from(text.small()[end..].starts_with('s'));
            let hit = Hit {
                value: format!("{count} {unit}{plural}"),
                start,
                end: end + length,
                confidence: if said > 3 { 0.8 } else { 0.6 },
                method: "term",
            };
            best = Some((said, hit));
        }
    }
    best
}

/// How much says that a span of time is the term of the agreement.
fn signs(text: &Text, start: usize, end: usize) -> usize {
    let before = text.before(start, REACH);
    let sentence = &before[sentence(text.slice(start - before.len(), start))..];
    let ahead = text.ahead(end, AHEAD).to_ascii_lowercase();
    let after = ahead.trim_start_matches(['s', ')', ',', ' ']);
    let counted = ["from", "after", "following", "commencing", "of the date", "of the effective"]
        .iter()
        .any(|word| after.starts_with(word));
    let near: &str = &after[..after.floor_char_boundary(45)];
    let from_the_day =
        counted && ["date", "hereof", "execution", "signing"].iter().any(|word| near.contains(word));
    let other = OTHERS.iter().any(|word| sentence.contains(word))
        || counted && ["terminat", "expirat", "closing", "disclos"].iter().any(|word| near.contains(word));
    if other {
        return 0;
    }
    // What holds is named before how it holds.
    let holds_behind = |at: usize| HOLDS.iter().any(|word| sentence[at..].contains(word));
    let whole = sentence.find("agreement").is_some_and(holds_behind)
        || sentence.contains("term of th") && sentence.contains("agreement");
    let part = PARTS.iter().filter_map(|word| sentence.find(word)).any(holds_behind);
    let heading = before[..before.len() - sentence.len()].trim_end();
    usize::from(whole) * 2
        + usize::from(part && !whole)
        + usize::from(HEADINGS.iter().any(|word| heading.ends_with(word)))
        + usize::from(from_the_day)
}

/// Where the last sentence of a text begins.
fn sentence(text: &str) -> usize {
    let ends = text.match_indices(['.', ';']).rev().map(|(at, _)| at);
    let is_end = |at: &usize| {
        // `5.` and `Inc.` end no sentence; a number is followed by a word with a capital too.
        let word = text[..*at].rsplit(' ').next().unwrap_or_default();
        let long = word.chars().filter(|c| c.is_lowercase()).count() > 2 || word.ends_with(')');
        let mut next = text[at + 1..].chars();
        long && next.next() == Some(' ')
            && next.next().is_some_and(|c| c.is_uppercase() || c.is_ascii_digit() || c == '(')
    };
    ends.into_iter().find(is_end).map_or(0, |at| at + 1)
}

/// The number before this place, in figures or words, and where it begins: `five (5) `, `5 `, `two-`.
fn count(text: &Text, at: usize) -> Option<(u32, usize)> {
    let before = text.before(at, 40);
    let bare = before.trim_end_matches([' ', '-', '(', ')']);
    let digits = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    let figure: Option<u32> = bare[digits.len()..].parse().ok().filter(|n| (1..=99).contains(n));
    let words = if figure.is_some() { digits.trim_end_matches([' ', '(']) } else { bare };
    let word = NUMBERS.iter().find(|(word, _)| words.ends_with(word));
    let from = |rest: usize| at - before.len() + rest;
    match (figure, word) {
        (Some(figure), Some((word, _))) => Some((figure, from(words.len() - word.len()))),
        (Some(figure), None) => Some((figure, from(digits.len()))),
        (None, Some((word, number))) => Some((*number, from(words.len() - word.len()))),
        (None, None) => None,
    }
}
