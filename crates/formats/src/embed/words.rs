//! A text as the model was taught to see it: lower case, without accents, control characters and doubled blanks;
//! every punctuation mark and every Chinese character is a word of its own.
//!
//! Character by character as BERT's own uncased tokenizer does it, quirks included: a vector is as good as the tokens
//! that it is made of.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Calls `each` for one word after the other until it answers false. No more of a word is passed than `max_chars` + 1
/// characters, which is enough to see that it is too long.
pub(super) fn for_each_word(text: &str, max_chars: usize, mut each: impl FnMut(&str) -> bool) {
    let cleaned = text.chars().filter_map(clean);
    let spaced = cleaned.flat_map(|c| {
        let around = is_chinese(c).then_some(' ');
        around.into_iter().chain([c]).chain(around)
    });
    let plain = spaced.nfd().filter(|c| !is_accent(*c)).flat_map(char::to_lowercase);
    let (mut word, mut chars) = (String::new(), 0);
    let mut one = [0; 4];
    for c in plain {
        let alone = is_punctuation(c);
        if !alone && !c.is_whitespace() {
            if chars <= max_chars {
                word.push(c);
            }
            chars += 1;
            continue;
        }
        if !word.is_empty() && !each(&word) {
            return;
        }
        word.clear();
        chars = 0;
        if alone && !each(c.encode_utf8(&mut one)) {
            return;
        }
    }
    if !word.is_empty() {
        each(&word);
    }
}

/// Blanks of every kind are one; what cannot be seen is nothing. Tabs and line ends are the only control characters that
/// part words.
fn clean(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' => Some(' '),
        // What some decoder could not read.
        '\u{fffd}' => None,
        c if c.is_ascii() => (!c.is_ascii_control()).then_some(c),
        c => match c.general_category() {
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse => None,
            _ if c.is_whitespace() => Some(' '),
            _ => Some(c),
        },
    }
}

fn is_accent(c: char) -> bool {
    !c.is_ascii() && c.general_category() == GeneralCategory::NonspacingMark
}

/// In ASCII also what Unicode calls symbols.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks that the model was taught with; newer ones are words like any other.
fn is_chinese(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4e00..=0x9fff
            | 0x3400..=0x4dbf
            | 0x2_0000..=0x2_a6df
            | 0x2_a700..=0x2_b73f
            | 0x2_b740..=0x2_b81f
            | 0x2_b920..=0x2_ceaf
            | 0xf900..=0xfaff
            | 0x2_f800..=0x2_fa1f
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, 100, |word| {
            words.push(word.to_owned());
            true
        });
        words
    }

    #[test]
    fn case_and_accents_are_taken_off_and_punctuation_stands_alone() {
        assert_eq!(words("Café, DÉJÀ-vu!"), ["cafe", ",", "deja", "-", "vu", "!"]);
        assert_eq!(words("a$b «c» „d“"), ["a", "$", "b", "«", "c", "»", "„", "d", "“"]);
        // A symbol outside ASCII is no punctuation.
        assert_eq!(words("5€"), ["5€"]);
    }

    #[test]
    fn chinese_characters_stand_alone_and_kana_do_not() {
        assert_eq!(words("個人情報ですx"), ["個", "人", "情", "報", "てすx"]);
    }

    #[test]
    fn what_cannot_be_seen_parts_no_words() {
        assert_eq!(words("a\u{200b}b\u{0}c\u{fffd}d\u{b}e"), ["abcde"]);
        assert_eq!(words("a\tb\u{a0}c\u{2028}d\r\n"), ["a", "b", "c", "d"]);
        assert_eq!(words(" \n\u{200b} "), Vec::<String>::new());
    }

    #[test]
    fn endless_word_is_cut_just_behind_the_limit() {
        let mut lengths = Vec::new();
        for_each_word(&format!("{} end", "é".repeat(1 << 20)), 100, |word| {
            lengths.push(word.chars().count());
            true
        });
        assert_eq!(lengths, [101, 3]);
    }

    #[test]
    fn nothing_is_looked_at_once_enough_is_known() {
        let mut seen = 0;
        for_each_word(&"word ".repeat(1000), 100, |_| {
            seen += 1;
            seen < 3
        });
        assert_eq!(seen, 3);
    }
}
