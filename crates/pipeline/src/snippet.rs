//! The passage of a page that shows best why it was found.
//!
//! Pure: text and words in, a passage out. `words` and `rules` come from the text index, so that what is
//! marked is what the index found; a word that ends in `*` marks every word that begins so, one that ends in
//! `~` its other forms. The passage is one line without control characters, whatever the document held.
//!
//! Memory is bounded by `PIECE_BYTES`, not by the text: a page from outside may be of any size.

use std::collections::BTreeSet;
use std::ops::Range;

use docmill_core::text::{is_mark, is_unspaced};

/// Text is searched in pieces of about this size.
const PIECE_BYTES: usize = 64 * 1024;

/// A shorter passage shows nothing.
const MIN_CHARS: usize = 24;

/// How many repetitions of the words count towards the score.
const MAX_REPEATS: u32 = 15;

/// A passage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snippet {
    /// One line, with `…` where the page goes on.
    pub text: String,
    /// Higher is better; comparable between pages for the same words. Different words count most.
    pub score: u32,
    /// What to mark: byte ranges of `text`, in order, apart from each other.
    pub ranges: Vec<Range<usize>>,
}

/// When words are the same.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// A word without what does not count: case, diacritics. A first letter of ASCII stays, in lower case.
    pub fold: &'a dyn Fn(&str) -> String,
    /// Whether two such words are forms of one; these begin alike.
    pub alike: &'a dyn Fn(&str, &str) -> bool,
}

/// The best passage of at most `max_chars` characters (but at least 24), or `None` if `text` holds none of
/// the `words`.
pub fn snippet(text: &str, words: &[String], rules: Rules<'_>, max_chars: usize) -> Option<Snippet> {
    let patterns: Vec<Pattern> = words.iter().filter_map(|word| Pattern::new(word)).collect();
    let initials: Vec<char> =
        patterns.iter().flat_map(|pattern| &pattern.parts).filter_map(|part| part.chars().next()).collect();
    let max_chars = max_chars.max(MIN_CHARS);
    let mut best: Option<Snippet> = None;
    let mut from = 0;
    while from < text.len() && !patterns.is_empty() {
        let to = piece_end(text, from);
        let piece = Piece::new(&text[from..to], &initials, rules);
        if let Some(passage) = piece.best_passage(&patterns, max_chars)
            && best.as_ref().is_none_or(|b| passage.score > b.score)
        {
            let complete = passage.score / (MAX_REPEATS + 1) >= patterns.len() as u32;
            best = Some(piece.show(&passage, from > 0, to < text.len(), max_chars));
            if complete {
                break;
            }
        }
        from = to;
    }
    best
}

/// A word to look for, as the index cut it: one part, or a letter each in scripts without spaces.
struct Pattern {
    parts: Vec<String>,
    prefix: bool,
    forms: bool,
}

impl Pattern {
    fn new(word: &str) -> Option<Self> {
        let (prefix, forms) = (word.ends_with('*'), word.ends_with('~'));
        let word = word.trim_end_matches(['*', '~']);
        let parts: Vec<String> = cut(word).map(|range| word[range].to_owned()).collect();
        (!parts.is_empty()).then_some(Self { parts, prefix, forms })
    }

    fn matches(&self, words: &[Word], rules: Rules<'_>) -> bool {
        let Some((last, first)) = self.parts.split_last() else { return false };
        words.len() >= self.parts.len()
            && first.iter().zip(words).all(|(part, word)| *part == word.folded)
            && match &words[first.len()].folded {
                folded if self.prefix => folded.starts_with(last),
                folded => folded == last || (self.forms && (rules.alike)(last, folded)),
            }
    }
}

/// A word of the text.
struct Word {
    bytes: Range<usize>,
    /// How many characters stand before it.
    chars_before: usize,
    /// How many characters stand before its end.
    chars_to_end: usize,
    /// Empty if it begins otherwise than everything that is looked for, as most words do.
    folded: String,
}

/// Some text in one line, and its words.
struct Piece<'a> {
    rules: Rules<'a>,
    line: String,
    words: Vec<Word>,
}

/// The words from `first` to `last`, among them those to mark.
struct Passage {
    first: usize,
    last: usize,
    score: u32,
    marked: BTreeSet<usize>,
}

impl<'a> Piece<'a> {
    fn new(text: &str, initials: &[char], rules: Rules<'a>) -> Self {
        let line = one_line(text);
        let mut words = Vec::new();
        let (mut at, mut chars) = (0, 0);
        for bytes in cut(&line) {
            let chars_before = chars + line[at..bytes.start].chars().count();
            chars = chars_before + line[bytes.clone()].chars().count();
            at = bytes.end;
            let word = &line[bytes.clone()];
            let folded = if begins_with(word, initials) { (rules.fold)(word) } else { String::new() };
            words.push(Word { bytes, chars_before, chars_to_end: chars, folded });
        }
        Self { rules, line, words }
    }

    /// The stretch of words that holds most of the patterns; the earlier one of two equal ones.
    fn best_passage(&self, patterns: &[Pattern], max_chars: usize) -> Option<Passage> {
        // (first word, last word, pattern), in order of the first word.
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        for first in 0..self.words.len() {
            for (which, pattern) in patterns.iter().enumerate() {
                if pattern.matches(&self.words[first..], self.rules) {
                    found.push((first, first + pattern.parts.len() - 1, which));
                }
            }
        }
        let fits = |first: usize, last: usize| {
            self.words[last].chars_to_end - self.words[first].chars_before <= max_chars.saturating_sub(2)
        };
        let mut best: Option<Passage> = None;
        for (n, &(first, last, _)) in found.iter().enumerate() {
            let within: Vec<_> = found[n..].iter().take_while(|(_, last, _)| fits(first, *last)).collect();
            let distinct = within.iter().map(|(_, _, which)| which).collect::<BTreeSet<_>>().len().max(1);
            let repeats = (within.len().max(1) - distinct) as u32;
            let score = distinct as u32 * (MAX_REPEATS + 1) + repeats.min(MAX_REPEATS);
            if best.as_ref().is_none_or(|b| score > b.score) {
                let marked =
                    within.iter().flat_map(|&&(first, last, _)| first..=last).chain(first..=last).collect();
                let last = within.iter().map(|(_, last, _)| *last).max().unwrap_or(last);
                best = Some(Passage { first, last, score, marked });
            }
        }
        best
    }

    /// Cuts the passage out, with as much around it as there is room for: a third before, the rest behind.
    fn show(&self, passage: &Passage, more_before: bool, more_behind: bool, max_chars: usize) -> Snippet {
        let words = &self.words;
        let room = max_chars.saturating_sub(2);
        let (mut first, mut last) = (passage.first, passage.last);
        let length = |first: usize, last: usize| words[last].chars_to_end - words[first].chars_before;
        let lead = length(first, last) + room.saturating_sub(length(first, last)) / 3;
        while first > 0 && length(first - 1, last) <= lead {
            first -= 1;
        }
        while last + 1 < words.len() && length(first, last + 1) <= room {
            last += 1;
        }
        while first > 0 && length(first - 1, last) <= room {
            first -= 1;
        }
        // Punctuation before the first word and behind the last one belongs to the passage if there is room.
        let mut start = words[first].bytes.start;
        let mut end = words[last].bytes.end;
        let mut spare = room.saturating_sub(length(first, last));
        if first == 0 && self.line[..start].chars().count() <= spare {
            spare -= self.line[..start].chars().count();
            start = 0;
        }
        if last + 1 == words.len() && self.line[end..].chars().count() <= spare {
            end = self.line.len();
        }
        let shown = limit_chars(&self.line[start..end], room);
        let end = start + shown.len();
        let mut text = String::with_capacity(shown.len() + 6);
        if start > 0 || more_before {
            text.push('…');
        }
        let shift = text.len();
        text.push_str(shown);
        if end < self.line.len() || more_behind {
            text.push('…');
        }
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for word in passage.marked.iter().map(|n| &words[*n]).filter(|word| word.bytes.start < end) {
            let range = word.bytes.start - start + shift..word.bytes.end.min(end) - start + shift;
            match ranges.last_mut() {
                // Letters of a script without spaces are marked as one.
                Some(before) if before.end == range.start => before.end = range.end,
                _ => ranges.push(range),
            }
        }
        Snippet { text, score: passage.score, ranges }
    }
}

/// Whether a word may begin with one of these letters once it is folded.
fn begins_with(word: &str, initials: &[char]) -> bool {
    word.chars().next().is_some_and(|c| !c.is_ascii() || initials.contains(&c.to_ascii_lowercase()))
}

/// Where the words of `text` are: runs of letters and digits; single letters in scripts without spaces.
fn cut(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(char::is_alphanumeric)?;
        let mut end = start;
        for c in text[start..].chars() {
            let alone = is_unspaced(c) && !is_mark(c);
            if !is_mark(c) && (!c.is_alphanumeric() || (alone && end > start)) {
                break;
            }
            end += c.len_utf8();
            if alone {
                break;
            }
        }
        at = end;
        Some(start..end)
    })
}

/// The beginning of a text as one line, cut at a word, with `…` where it goes on.
pub(crate) fn beginning(text: &str, max_chars: usize) -> String {
    let line = one_line(text);
    let Some((cut, _)) = line.char_indices().nth(max_chars) else { return line };
    let end = line[..cut].rfind(' ').unwrap_or(cut);
    format!("{}…", &line[..end])
}

/// White space and control characters become single spaces; what could turn the direction of the text that
/// stands around the passage is left out.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}') {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Where the piece that begins at `from` ends: behind a space if there is one, never inside a character.
fn piece_end(text: &str, from: usize) -> usize {
    let most = text.floor_char_boundary(from + PIECE_BYTES);
    if most >= text.len() {
        return text.len();
    }
    match text[from..most].rfind(char::is_whitespace) {
        Some(space) if space > 0 => from + space,
        _ => most,
    }
}

fn limit_chars(text: &str, max_chars: usize) -> &str {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(word: &str) -> String {
        word.chars()
            .filter(|c| !is_mark(*c))
            .flat_map(char::to_lowercase)
            .map(|c| match c {
                'é' => 'e',
                'ö' => 'o',
                other => other,
            })
            .collect()
    }

    fn best(text: &str, words: &[&str], max_chars: usize) -> Option<Snippet> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        // Enough of a rule for a test: a word and its plural.
        let alike = |a: &str, b: &str| a.trim_end_matches('s') == b.trim_end_matches('s');
        snippet(text, &words, Rules { fold: &fold, alike: &alike }, max_chars)
    }

    /// The passage with brackets around what is marked.
    fn marked(text: &str, words: &[&str], max_chars: usize) -> String {
        let Some(found) = best(text, words, max_chars) else { return "(none)".into() };
        let mut out = String::new();
        let mut at = 0;
        for range in &found.ranges {
            out.push_str(&found.text[at..range.start]);
            out.push('[');
            out.push_str(&found.text[range.clone()]);
            out.push(']');
            at = range.end;
        }
        out.push_str(&found.text[at..]);
        out
    }

    #[test]
    fn snippet_of_a_short_text_is_the_text() {
        assert_eq!(marked("The Annual Report.", &["report", "annual"], 100), "The [Annual] [Report].");
        assert_eq!(marked("  a\n\tb \0 c\u{202e}d  ", &["b"], 100), "a [b] cd");
    }

    #[test]
    fn snippet_without_any_word_is_none() {
        assert_eq!(best("nothing here", &["report"], 100), None);
        assert_eq!(best("nothing here", &[], 100), None);
        assert_eq!(best("nothing here", &["", "*", "..."], 100), None);
        assert_eq!(best("", &["x"], 100), None);
        assert_eq!(best("reports", &["report"], 100), None, "only whole words");
        assert_eq!(marked("all reports", &["report~"], 100), "all [reports]", "unless forms will do");
    }

    #[test]
    fn snippet_prefers_the_passage_with_most_different_words() {
        let filler = "lorem ipsum dolor sit amet ".repeat(20);
        let text = format!("report report report {filler} the annual report of the town {filler}");
        let found = best(&text, &["annual", "report"], 60).unwrap();
        assert!(found.text.contains("annual report of the town"), "{}", found.text);
        assert!(found.text.starts_with('…') && found.text.ends_with('…'), "{}", found.text);
        assert!(found.text.chars().count() <= 60, "{}", found.text);
        assert!(found.score > best(&text, &["report"], 60).unwrap().score);
    }

    #[test]
    fn snippet_marks_through_folding_marks_and_prefixes() {
        assert_eq!(marked("Un CAFÉ, deux cafe\u{301}s", &["cafe"], 100), "Un [CAFÉ], deux cafe\u{301}s");
        assert_eq!(marked("Un CAFÉ, deux cafe\u{301}s", &["caf*"], 100), "Un [CAFÉ], deux [cafe\u{301}s]");
        assert_eq!(marked("write to foo@bar.com now", &["foo", "bar"], 100), "write to [foo]@[bar].com now");
    }

    #[test]
    fn snippet_finds_substrings_of_unspaced_scripts() {
        assert_eq!(marked("私は東京都に住んでいます", &["東京"], 100), "私は[東京]都に住んでいます");
        assert_eq!(marked("Tokyo東京", &["東", "tokyo"], 100), "[Tokyo東]京");
        assert_eq!(marked("私は東京都", &["京東"], 100), "(none)");
        let text = "漢".repeat(500) + "東京" + &"字".repeat(500);
        let found = best(&text, &["東京"], 40).unwrap();
        assert!(found.text.contains("漢東京字") && found.text.chars().count() <= 40, "{}", found.text);
    }

    #[test]
    fn snippet_never_exceeds_its_room_nor_cuts_characters() {
        let texts = [
            "é".repeat(300),
            "👩‍👩‍👧‍👦 word ".repeat(80),
            "word ".repeat(100),
            format!("{}word", "!".repeat(400)),
            format!("word{}", "…".repeat(400)),
            "x".repeat(3 * PIECE_BYTES) + " word",
            "東word京".repeat(90),
        ];
        for text in &texts {
            for max_chars in [0, 1, 24, 25, 50, 200] {
                for word in ["word", "wo*", "東", &"e".repeat(300)] {
                    let Some(found) = best(text, &[word], max_chars) else { continue };
                    assert!(found.text.chars().count() <= max_chars.max(MIN_CHARS), "{}", found.text);
                    for range in &found.ranges {
                        assert!(!found.text[range.clone()].is_empty());
                    }
                    assert!(found.ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
                }
            }
        }
    }

    #[test]
    fn snippet_searches_beyond_the_first_piece() {
        let text = "filler ".repeat(PIECE_BYTES / 3) + "the needle here";
        let found = best(&text, &["needle"], 60).unwrap();
        assert!(found.text.starts_with('…') && found.text.ends_with("the needle here"), "{}", found.text);
    }
}
