//! Blocks of name and address that end with a postal code, and what a line of an address looks like.

use super::sender::parted;
use super::{Party, STATES, is_sender_line};
use crate::find::Reading;
use crate::labels;
use crate::layout::Span;

/// Whether a word is a state of the United States, as in addresses.
pub fn is_state(word: &str) -> bool {
    let word = word.trim_end_matches(',');
    word.len() == 2 && STATES.split(' ').any(|state| state == word)
}

/// Whether a word is a postal code of the United States.
pub fn is_zip(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.']);
    word.len() == 5 && word.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a line has a postal code with a place.
pub(crate) fn postal(line: &str) -> bool {
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let letters = words.iter().any(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 3);
    words.iter().enumerate().any(|(at, word)| {
        let word = word.trim_start_matches("D-").trim_start_matches("A-").trim_end_matches('.');
        let digits = word.bytes().all(|b| b.is_ascii_digit());
        let british = word.len() == 3
            && at > 0
            && word.bytes().next().is_some_and(|b| b.is_ascii_digit())
            && word.bytes().skip(1).all(|b| b.is_ascii_uppercase())
            && words[at - 1].len() <= 4
            && words[at - 1].bytes().any(|b| b.is_ascii_digit());
        let first = at == 0 || at == 1 && words[0].len() <= 3 || line.contains(&format!(", {word} "));
        british && letters
            || digits
                && letters
                && (word.len() == 5 && (first || at + 1 == words.len() || at > 0 && is_state(words[at - 1]))
                    || word.len() == 4 && first && words.len() <= 4 && at + 1 < words.len())
    })
}

/// `Portland, ME 04101`.
pub(super) fn ends_with_zip(line: &str) -> bool {
    let mut words = line.rsplit(' ');
    words.next().is_some_and(is_zip) && words.next().is_some_and(is_state)
}

/// Blocks of lines that end with a postal code, anywhere on the first page.
pub(super) fn address_blocks(reading: &Reading<'_>) -> Vec<Party> {
    let mut found = Vec::new();
    for (index, row) in reading.sheet.rows.iter().enumerate().filter(|(_, row)| row.page == 0) {
        for cell in row.cells() {
            let span = Span { row: index, tokens: cell };
            let text = reading.sheet.text(&span);
            if !postal(&text)
                || text.chars().count() > 60
                || !reading.dates[index].is_empty()
                || is_sender_line(&text)
                || parted(reading, index, span.tokens.clone()).is_some()
            {
                continue;
            }
            let mut lines = vec![span];
            while let Some(above) =
                lines.last().and_then(|line| above(reading, line)).filter(|_| lines.len() < 6)
            {
                let text = reading.sheet.text(&above);
                if text.contains('@')
                    || text.contains(':')
                    || is_title(&text)
                    || labels::of("buyer").has(&text)
                    || is_sender_line(&text)
                    || postal(&text)
                {
                    break;
                }
                lines.push(above);
            }
            lines.reverse();
            let street =
                lines.iter().position(|line| reading.sheet.text(line).chars().any(|c| c.is_ascii_digit()));
            let street = street.unwrap_or(0);
            // Who follows `Herrn` is the name, and whether `Herrn` is a part of it nobody can tell.
            let greeted =
                lines.first().is_some_and(|line| labels::of("salutation").has(&reading.sheet.text(line)));
            let at = usize::from(greeted && street > 1);
            let name = lines.get(at).filter(|_| street > 0).cloned().into_iter().collect();
            let address = lines.split_off(street);
            found.push(Party { name, address, is_guess: greeted, ..Party::default() });
        }
    }
    found
}

/// `Invoice`, `Rechnung Nr. 4711`: what a document is, and which.
pub(super) fn is_title(text: &str) -> bool {
    let numbered = |word: &&str| word.chars().any(|c| c.is_ascii_digit()) || word.len() < 4;
    let words: Vec<&str> = text.split_whitespace().filter(|word| !numbered(word)).collect();
    let title = labels::of("document");
    title.has(text) || words.len() <= 2 && title.has(&words.join(" "))
}

/// The cell right above one, aligned with it on the left, on the right or in the middle.
fn above(reading: &Reading<'_>, line: &Span) -> Option<Span> {
    let row = &reading.sheet.rows[line.row];
    let (left, right) = row.edges(&line.tokens);
    for (index, upper) in reading.sheet.rows.iter().enumerate().take(line.row).rev().take(4) {
        if upper.page != row.page || row.top - upper.bottom > row.height * 1.7 {
            return None;
        }
        for tokens in upper.cells() {
            let (from, to) = upper.edges(&tokens);
            let slack = row.height * 0.8;
            let aligned = (from - left).abs() < slack
                || (to - right).abs() < slack
                || (f32::midpoint(from, to) - f32::midpoint(left, right)).abs() < slack * 1.5;
            if aligned && from < right && to > left {
                return Some(Span { row: index, tokens });
            }
        }
    }
    None
}
