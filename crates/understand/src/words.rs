//! Text cut into words and sentences, and words made equal that people take for the same.
//!
//! Everything else here stands on these cuts: they take any text in one pass, whatever it is made of.

use std::borrow::Cow;

use docmill_core::text::{is_mark, is_unspaced};
use unicode_normalization::UnicodeNormalization;

/// A longer run of letters is no word of any language; it is cut, so that nothing keeps megabytes as one word.
pub(crate) const MAX_WORD_BYTES: usize = 96;

/// A longer sentence is a table or a list without stops; it is cut at the next word.
const MAX_SENTENCE_BYTES: usize = 2_000;

/// A word and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word<'t> {
    pub(crate) text: &'t str,
    pub(crate) start: usize,
}

impl Word<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The words of a text: letters and digits that stand together, with apostrophes inside. A letter of a script without
/// spaces is a word of its own. Hyphens are no part of a word: `before` and `after` them are words, and who cares looks
/// at what stands between.
pub(crate) fn words(text: &str) -> Words<'_> {
    Words { text, at: 0 }
}

pub(crate) struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Words<'t> {
    type Item = Word<'t>;

    fn next(&mut self) -> Option<Word<'t>> {
        let bytes = self.text.as_bytes();
        // Most text is ASCII, of which a byte says all.
        let ascii =
            bytes[self.at..].iter().take_while(|b| b.is_ascii() && !b.is_ascii_alphanumeric()).count();
        let mut start = self.at + ascii;
        if bytes.get(start).is_none_or(|b| !b.is_ascii()) {
            let Some(skipped) = self.text[start..].find(char::is_alphanumeric) else {
                self.at = self.text.len();
                return None;
            };
            start += skipped;
        }
        let end = start + word_length(&self.text[start..]);
        self.at = end;
        Some(Word { text: &self.text[start..end], start })
    }
}

/// How far the word at the beginning of `rest` reaches.
fn word_length(rest: &str) -> usize {
    let plain = rest.bytes().take(MAX_WORD_BYTES).take_while(u8::is_ascii_alphanumeric).count();
    let next = rest.as_bytes().get(plain);
    if plain == MAX_WORD_BYTES || next.is_none_or(|b| b.is_ascii() && *b != b'\'') {
        return plain;
    }
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if at >= MAX_WORD_BYTES {
            return at;
        }
        if is_unspaced(c) {
            // One letter and the marks that hang on it.
            if at > 0 {
                return end;
            }
            end = c.len_utf8();
            while let Some((at, mark)) = chars.next_if(|(at, c)| is_mark(*c) && *at < MAX_WORD_BYTES) {
                end = at + mark.len_utf8();
            }
            return end;
        }
        let inside = c.is_alphanumeric()
            || is_mark(c)
            || (matches!(c, '\'' | '’') && chars.peek().is_some_and(|(_, next)| next.is_alphabetic()));
        if !inside {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// A word as it is compared: in small letters and without accents, because capitals and scans lose them.
pub(crate) fn fold(word: &str) -> String {
    folded(word).into_owned()
}

/// The same, without a copy of what is in small letters already.
pub(crate) fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        let capitals = word.bytes().any(|b| b.is_ascii_uppercase());
        return if capitals { Cow::Owned(word.to_ascii_lowercase()) } else { Cow::Borrowed(word) };
    }
    word.nfkd()
        .filter(|c| !is_mark(*c))
        .flat_map(char::to_lowercase)
        .flat_map(|c| match c {
            'ß' => ['s', 's'].into_iter().take(2),
            '’' => ['\'', ' '].into_iter().take(1),
            c => [c, ' '].into_iter().take(1),
        })
        .collect()
}

/// Whether a word has no letters: a number, with or without a unit hanging on it is told apart by its first character.
pub(crate) fn is_number(word: &str) -> bool {
    !word.chars().any(char::is_alphabetic)
}

/// The sentences of a text, as pieces that together are all of it: an end mark with a space after it that does not
/// belong to an abbreviation or a number, a blank line, or the end.
pub(crate) fn sentences(text: &str) -> Sentences<'_> {
    Sentences { text, at: 0 }
}

pub(crate) struct Sentences<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Sentences<'t> {
    type Item = Word<'t>;

    /// A piece with its blanks cut off at both ends.
    fn next(&mut self) -> Option<Word<'t>> {
        while self.at < self.text.len() {
            let start = self.at;
            let length = sentence_length(&self.text[start..]);
            self.at = start + length;
            let piece = &self.text[start..self.at];
            let trimmed = piece.trim();
            if !trimmed.is_empty() {
                let start = start + (piece.len() - piece.trim_start().len());
                return Some(Word { text: trimmed, start });
            }
        }
        None
    }
}

fn sentence_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().peekable();
    let mut word_start = 0;
    while let Some((at, c)) = chars.next() {
        let after = at + c.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        match c {
            '。' | '！' | '？' | '｡' | '\u{c}' => return after,
            '.' | '!' | '?' | '…' if next.is_none_or(char::is_whitespace) => {
                let word = &rest[word_start..at];
                if c != '.' || !is_abbreviation(word) {
                    return after;
                }
            }
            '\n' if next.is_some_and(|n| n == '\n' || n == '\r') => return after,
            c if c.is_whitespace() => {
                word_start = after;
                if at > MAX_SENTENCE_BYTES {
                    return after;
                }
            }
            _ if at > 2 * MAX_SENTENCE_BYTES => return at,
            _ => {}
        }
    }
    rest.len()
}

/// Whether a full stop after this word more probably shortens it: single letters, and short forms that stand before a
/// name or a number.
fn is_abbreviation(word: &str) -> bool {
    const SHORT: &[&str] = &[
        "mr", "mrs", "ms", "dr", "prof", "st", "no", "nr", "fig", "eq", "vs", "etc", "inc", "ltd", "co",
        "art", "abs", "bzw", "ca", "usw", "z.b", "d.h", "u.a", "str", "tel", "jr", "e.g", "i.e", "cf", "al",
        "ref", "mme", "mlle", "approx",
    ];
    let word = word.trim_start_matches(['(', '[', '"', '„', '“', '«', '\'']);
    let mut chars = word.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => c.is_alphabetic() || c.is_ascii_digit(),
        (Some(_), Some(_)) if word.len() <= 6 => SHORT.contains(&word.to_lowercase().as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        words(text).map(|w| w.text).collect()
    }

    #[test]
    fn words_are_runs_of_letters_with_apostrophes_inside() {
        assert_eq!(texts("Don't  e-mail 'me', 3.5 kg!"), ["Don't", "e", "mail", "me", "3", "5", "kg"]);
        assert_eq!(texts("価格は120円"), ["価", "格", "は", "120", "円"]);
        assert_eq!(texts("\0\0 \u{202e}"), Vec::<&str>::new());
    }

    #[test]
    fn endless_word_is_cut_into_pieces_that_are_all_of_it() {
        let text = "é".repeat(1_000);
        let pieces = texts(&text);
        assert!(pieces.iter().all(|p| p.len() <= MAX_WORD_BYTES));
        assert_eq!(pieces.concat(), text);
    }

    #[test]
    fn fold_makes_equal_what_scans_and_capitals_make_different() {
        assert_eq!(fold("RÉSUMÉ"), "resume");
        assert_eq!(fold("Straße"), "strasse");
        assert_eq!(fold("l’État"), "l'etat");
    }

    #[test]
    fn sentences_end_at_stops_and_blank_lines_and_not_at_short_forms() {
        let text = "Dr. Smith paid 3.50 to J. Doe. He left!\n\nHeading\n\nMore text";
        let found: Vec<_> = sentences(text).map(|s| s.text).collect();
        assert_eq!(found, ["Dr. Smith paid 3.50 to J. Doe.", "He left!", "Heading", "More text"]);
        for sentence in sentences(text) {
            assert_eq!(&text[sentence.start..sentence.end()], sentence.text);
        }
    }
}
