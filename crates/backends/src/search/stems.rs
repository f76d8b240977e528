//! What the forms of a word have in common (`reports`, `reported`: `report`), by Snowball's rules for the language of the
//! document. Stems stand in the index beside the words, never in their place: words as they are come first, phrases
//! stay exact, and what a stemmer gets wrong is found by its word all the same.
//!
//! Of a document whose language could not be told English is taken; one in a language without rules has words alone. The
//! language of a query is not known at all: each of its words is stemmed in every language, and a stem only meets
//! documents of its own.

use rust_stemmers::{Algorithm, Stemmer};
use tantivy::tokenizer::{TextAnalyzer, TokenFilter, TokenStream, Tokenizer};

use super::common::is_common;
use super::words;

/// A language whose words are stemmed.
#[derive(Debug)]
pub(super) struct Language {
    /// ISO 639-3.
    pub(super) code: &'static str,
    /// How an index that keeps all stems together tells them apart; each language has another.
    letter: char,
    algorithm: Algorithm,
}

/// Those that there are rules for. Each costs a look-up for every word of a query.
pub(super) static LANGUAGES: [Language; 10] = [
    Language { code: "eng", letter: 'e', algorithm: Algorithm::English },
    Language { code: "deu", letter: 'd', algorithm: Algorithm::German },
    Language { code: "fra", letter: 'f', algorithm: Algorithm::French },
    Language { code: "spa", letter: 's', algorithm: Algorithm::Spanish },
    Language { code: "ita", letter: 'i', algorithm: Algorithm::Italian },
    Language { code: "nld", letter: 'n', algorithm: Algorithm::Dutch },
    Language { code: "por", letter: 'p', algorithm: Algorithm::Portuguese },
    Language { code: "swe", letter: 'w', algorithm: Algorithm::Swedish },
    Language { code: "dan", letter: 'k', algorithm: Algorithm::Danish },
    Language { code: "rus", letter: 'r', algorithm: Algorithm::Russian },
];

/// Shorter words have no forms worth a rule.
const MIN_LETTERS: usize = 3;

/// A stem of a word of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stem {
    /// Its place in [`LANGUAGES`].
    pub(super) language: usize,
    pub(super) stem: String,
}

impl Stem {
    /// As an index has it that keeps all stems together. No word of a text has such a sign.
    pub(super) fn spelled(&self) -> String {
        LANGUAGES[self.language].spell(&self.stem)
    }
}

impl Language {
    /// The stem of a folded word; `None` if the word has no forms in this language.
    pub(super) fn stem(&self, word: &str) -> Option<String> {
        let letter = |c: char| match self.algorithm {
            Algorithm::Russian => ('а'..='я').contains(&c),
            _ => c.is_ascii_lowercase(),
        };
        if !word.chars().all(letter) || word.chars().count() < MIN_LETTERS || is_common(word) {
            return None;
        }
        Some(Stemmer::create(self.algorithm).stem(word).into_owned())
    }

    pub(super) fn spell(&self, stem: &str) -> String {
        format!("{}={stem}", self.letter)
    }

    /// The stems of a text, as Tantivy asks for them.
    pub(super) fn analyzer(&'static self) -> TextAnalyzer {
        words::builder().filter(Stemming(self)).build()
    }
}

/// The place in [`LANGUAGES`] of the language that a document is in.
pub(super) fn of_document(code: Option<&str>) -> Option<usize> {
    match code {
        None => Some(0),
        Some(code) => LANGUAGES.iter().position(|language| language.code == code),
    }
}

/// The stems of a folded word in every language.
pub(super) fn of_query(word: &str) -> Vec<Stem> {
    (0..)
        .zip(&LANGUAGES)
        .filter_map(|(language, rules)| Some(Stem { language, stem: rules.stem(word)? }))
        .collect()
}

/// Whether two folded words are forms of one in some language.
pub(super) fn are_alike(a: &str, b: &str) -> bool {
    // Forms of a word begin alike; stemming every word of a page would take far longer than showing it.
    let mut beginnings = a.chars().zip(b.chars());
    if !(0..2).all(|_| beginnings.next().is_some_and(|(a, b)| a == b)) {
        return false;
    }
    LANGUAGES.iter().any(|language| match (language.stem(a), language.stem(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    })
}

/// Makes words stems; those that have none are left out.
#[derive(Clone)]
struct Stemming(&'static Language);

impl TokenFilter for Stemming {
    type Tokenizer<T: Tokenizer> = StemmingTokenizer<T>;

    fn transform<T: Tokenizer>(self, inner: T) -> StemmingTokenizer<T> {
        StemmingTokenizer { language: self.0, inner }
    }
}

#[derive(Clone)]
struct StemmingTokenizer<T> {
    language: &'static Language,
    inner: T,
}

impl<T: Tokenizer> Tokenizer for StemmingTokenizer<T> {
    type TokenStream<'a> = StemStream<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        StemStream { language: self.language, inner: self.inner.token_stream(text) }
    }
}

struct StemStream<T> {
    language: &'static Language,
    inner: T,
}

impl<T: TokenStream> TokenStream for StemStream<T> {
    fn advance(&mut self) -> bool {
        while self.inner.advance() {
            let token = self.inner.token_mut();
            if let Some(stem) = self.language.stem(&token.text) {
                token.text = stem;
                return true;
            }
        }
        false
    }

    fn token(&self) -> &tantivy::tokenizer::Token {
        self.inner.token()
    }

    fn token_mut(&mut self) -> &mut tantivy::tokenizer::Token {
        self.inner.token_mut()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn language(code: &str) -> &'static Language {
        LANGUAGES.iter().find(|language| language.code == code).unwrap()
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (code, forms) in [
            ("eng", &["report", "reports", "reported", "reporting"][..]),
            ("deu", &["rechnung", "rechnungen"]),
            ("fra", &["facture", "factures"]),
            ("spa", &["factura", "facturas"]),
            ("rus", &["договор", "договоры", "договоров"]),
        ] {
            for form in forms {
                assert_eq!(language(code).stem(form), language(code).stem(forms[0]), "{form}");
                assert!(are_alike(form, forms[0]), "{form}");
            }
        }
        assert!(!are_alike("report", "reason"));
        assert!(!are_alike("report", ""));
    }

    #[test]
    fn what_is_no_word_of_the_language_has_no_stem() {
        for word in ["", "a", "the", "2024", "x86", "東", "договор", "οδοσ"] {
            assert_eq!(language("eng").stem(word), None, "{word}");
        }
        assert_eq!(of_document(None), Some(0));
        assert_eq!(of_document(Some("jpn")), None);
    }

    #[test]
    fn stems_of_a_text_are_those_of_its_words() {
        let text = "The Reports, of 2024: reporting invoices";
        assert_eq!(words::terms(&mut language("eng").analyzer(), text), ["report", "report", "invoic"]);
    }

    #[test]
    fn languages_are_spelled_apart() {
        let mut letters: Vec<char> = LANGUAGES.iter().map(|language| language.letter).collect();
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), LANGUAGES.len());
    }

    proptest! {
        // A stemmer that panics would stop the index of everybody.
        #[test]
        fn stemming_survives_any_word(word in "[a-zа-я]{0,40}") {
            for language in &LANGUAGES {
                if let Some(stem) = language.stem(&word) {
                    prop_assert!(!stem.is_empty());
                }
            }
        }
    }
}
