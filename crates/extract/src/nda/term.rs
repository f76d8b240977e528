//! How long: "shall remain in effect for a period of five (5) years".

use super::Hit;
use super::text::Text;

/// What stands before a span of time if it is how long the agreement holds. Only what is about the agreement itself:
/// such papers also say how long nobody may be hired, which is no term.
const SIGNS: &[&str] =
    &["term.", "agreement will", "agreement shall", "remain in", "in effect", "terminate", "expire"];

/// How far before.
const REACH: usize = 330;

const NUMBERS: &[(&str, u32)] = &[
    ("twenty-four", 24),
    ("thirty-six", 36),
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

pub(super) fn term(text: &Text) -> Option<Hit> {
    let mut best: Option<(usize, Hit)> = None;
    for unit in ["year", "month"] {
        for end in text.after(unit) {
            let Some((count, start)) = count(text, end - unit.len()) else { continue };
            let before = text.before(start, REACH);
            // A sign counts in the same sentence, and so does the heading just before it.
            let said = SIGNS.iter().filter(|sign| before.contains(**sign)).count();
            let about = before.contains("this agreement") || before.contains("term");
            let other = ["solicit", "standstill", "employment", "hire", "compet", "surviv"];
            if said < 2 || !about || other.iter().any(|word| before.contains(word)) {
                continue;
            }
            let plural = if count == 1 { "" } else { "s" };
            let length = usize::from(text.small()[end..].starts_with('s'));
            let hit = Hit {
                value: format!("{count} {unit}{plural}"),
                start,
                end: end + length,
                confidence: 0.6,
                method: "term",
            };
            if best.as_ref().is_none_or(|(most, _)| said > *most) {
                best = Some((said, hit));
            }
        }
    }
    best.map(|(_, hit)| hit)
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
