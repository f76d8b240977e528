//! How text becomes words, in the index and in queries alike.
//!
//! A word is a run of letters and digits, lower-cased and without diacritics (`Größe` is `grosse`, `É` is
//! `e`). Scripts that put no spaces between words are cut into single characters; looking for several in a
//! row then finds them anywhere, as a substring. Words are not stemmed here: `stems` does that beside them.

use docmill_core::text::{is_mark, is_unspaced};
use tantivy::tokenizer::{
    AsciiFoldingFilter, LowerCaser, RemoveLongFilter, TextAnalyzer, TextAnalyzerBuilder, Token, TokenStream,
    Tokenizer,
};

/// The name under which the schema knows these rules.
pub(super) const NAME: &str = "docmill";

/// Longer words are no words but encoded data; they are dropped.
const MAX_WORD_BYTES: usize = 255;

/// The rules.
pub(super) fn analyzer() -> TextAnalyzer {
    builder().build()
}

/// The rules, for whoever has more of them.
pub(super) fn builder() -> TextAnalyzerBuilder<impl Tokenizer> {
    TextAnalyzer::builder(Words::default())
        // The filter keeps what is shorter than its limit.
        .filter(RemoveLongFilter::limit(MAX_WORD_BYTES + 1))
        // Folding before lowering: `İ` in lower case would be two characters, one of them a mark.
        .filter(AsciiFoldingFilter)
        .filter(LowerCaser)
}

/// The words of `text` as the index holds them.
pub(super) fn terms(analyzer: &mut TextAnalyzer, text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    analyzer.token_stream(text).process(&mut |token: &Token| terms.push(token.text.clone()));
    terms
}

/// The words of `text` as a reader sees them: characters of unspaced scripts that stand side by side are
/// one word again.
pub(super) fn shown(analyzer: &mut TextAnalyzer, text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut end_of_run = None;
    analyzer.token_stream(text).process(&mut |token: &Token| {
        let unspaced = is_unspaced_word(&token.text);
        match words.last_mut() {
            Some(word) if unspaced && end_of_run == Some(token.offset_from) => word.push_str(&token.text),
            _ => words.push(token.text.clone()),
        }
        end_of_run = unspaced.then_some(token.offset_to);
    });
    words
}

/// Folds one word.
pub(super) fn fold(analyzer: &mut TextAnalyzer, word: &str) -> String {
    if word.is_ascii() {
        return word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    }
    terms(analyzer, word).concat()
}

/// Whether a term is a character of an unspaced script.
pub(super) fn is_unspaced_word(term: &str) -> bool {
    term.chars().next().is_some_and(is_unspaced)
}

/// Cuts text into words.
#[derive(Clone, Default)]
struct Words {
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text, at: 0, token: &mut self.token }
    }
}

struct WordStream<'a> {
    text: &'a str,
    at: usize,
    token: &'a mut Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        self.token.text.clear();
        let rest = &self.text[self.at..];
        let Some(start) = rest.find(char::is_alphanumeric) else {
            self.at = self.text.len();
            return false;
        };
        let mut end = start;
        for c in rest[start..].chars() {
            if is_mark(c) {
                end += c.len_utf8();
                continue;
            }
            let stands_alone = is_unspaced(c);
            if !c.is_alphanumeric() || (stands_alone && !self.token.text.is_empty()) {
                break;
            }
            self.token.text.push(if c == 'ς' { 'σ' } else { c });
            end += c.len_utf8();
            if stands_alone {
                break;
            }
        }
        self.token.offset_from = self.at + start;
        self.token.offset_to = self.at + end;
        self.token.position = self.token.position.wrapping_add(1);
        self.at += end;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_lower_case_words_without_diacritics() {
        for (text, expected) in [
            ("Annual Report, 2024!", "annual report 2024"),
            ("Größe ÉTÉ Œuvre İstanbul ﬁn", "grosse ete oeuvre istanbul fin"),
            ("Cafe\u{301} re\u{301}sume\u{301}", "cafe resume"),
            ("Donau\u{ad}dampf schiff", "donaudampf schiff"),
            ("ΟΔΟΣ οδός οδος", "οδοσ οδόσ οδοσ"),
            ("Привет МИР", "привет мир"),
            ("foo@bar.com C++ file_name.pdf O'Brien", "foo bar com c file name pdf o brien"),
            ("東京都 and Tokyo東京", "東 京 都 and tokyo 東 京"),
            ("한국어 テスト ภาษา", "한 국 어 テ ス ト ภ า ษ า"),
            ("", ""),
            ("\u{301}\u{200b}... ---", ""),
        ] {
            assert_eq!(terms(&mut analyzer(), text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn terms_drop_what_is_longer_than_a_word() {
        let text = format!("a {} b {}", "x".repeat(256), "y".repeat(255));
        assert_eq!(terms(&mut analyzer(), &text), ["a".into(), "b".into(), "y".repeat(255)]);
    }

    #[test]
    fn positions_count_words() {
        let mut analyzer = analyzer();
        let mut stream = analyzer.token_stream("a, b 東");
        let mut positions = Vec::new();
        stream.process(&mut |t| positions.push((t.position, t.offset_from, t.offset_to)));
        assert_eq!(positions, [(0, 0, 1), (1, 3, 4), (2, 5, 8)]);
    }

    #[test]
    fn shown_joins_characters_of_unspaced_scripts() {
        assert_eq!(shown(&mut analyzer(), "東京 大阪Café x"), ["東京", "大阪", "cafe", "x"]);
        assert_eq!(shown(&mut analyzer(), "東京、大阪"), ["東京", "大阪"]);
    }

    #[test]
    fn fold_of_ascii_equals_the_long_way() {
        for word in ["Abc", "A-1", "", "x_Y", "Été", "東京"] {
            assert_eq!(fold(&mut analyzer(), word), terms(&mut analyzer(), word).concat(), "{word}");
        }
    }
}
