//! Words to numbers: BERT's WordPiece. A word is cut from the left into the longest pieces that the model knows.
//!
//! The pieces come from the model's `tokenizer.json`. What else that file says is compared with what is done here, so
//! that another model cannot be taken for this one.

use std::collections::HashMap;

use docmill_core::{Error, Result};
use serde::Deserialize;

use super::words::for_each_word;

/// How many tokens the model takes of a text, those at its ends included. It was taught with no more.
pub(super) const MAX_TOKENS: usize = 256;

/// What a piece begins with that is not the beginning of a word.
const INSIDE: &str = "##";

/// The pieces that the model knows.
pub(super) struct Tokenizer {
    beginnings: HashMap<Box<str>, u32>,
    /// Without their mark.
    insides: HashMap<Box<str>, u32>,
    /// Words that stand for a token wherever they occur, whatever is around them.
    special: Vec<(String, u32)>,
    /// No piece is longer.
    longest_bytes: usize,
    max_word_chars: usize,
    begin: u32,
    end: u32,
    unknown: u32,
}

/// What of `tokenizer.json` is needed.
#[derive(Deserialize)]
struct Saved {
    added_tokens: Vec<Added>,
    normalizer: Normalizer,
    pre_tokenizer: Typed,
    model: WordPiece,
}

#[derive(Deserialize)]
struct Added {
    id: u32,
    content: String,
}

#[derive(Deserialize)]
struct Typed {
    r#type: String,
}

#[derive(Deserialize)]
struct Normalizer {
    r#type: String,
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    lowercase: bool,
}

#[derive(Deserialize)]
struct WordPiece {
    r#type: String,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: HashMap<Box<str>, u32>,
}

impl Tokenizer {
    /// Reads `tokenizer.json`.
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        let saved: Saved = serde_json::from_slice(json)
            .map_err(|e| Error::missing_dependency("the model's tokenizer cannot be read").with_source(e))?;
        let Saved { added_tokens, normalizer, pre_tokenizer, model } = saved;
        let as_here = normalizer.r#type == "BertNormalizer"
            && normalizer.clean_text
            && normalizer.handle_chinese_chars
            && normalizer.lowercase
            // Where nothing is said, lower case means without accents.
            && normalizer.strip_accents != Some(false)
            && pre_tokenizer.r#type == "BertPreTokenizer"
            && model.r#type == "WordPiece"
            && model.continuing_subword_prefix == INSIDE;
        if !as_here {
            return Err(Error::missing_dependency("the model's tokenizer is of a kind that is not known"));
        }
        let number = |token: &str| {
            model.vocab.get(token).copied().ok_or_else(|| {
                Error::missing_dependency(format!("the model's tokenizer has no token `{token}`"))
            })
        };
        let (begin, end, unknown) = (number("[CLS]")?, number("[SEP]")?, number(&model.unk_token)?);
        let longest_bytes = model.vocab.keys().map(|piece| piece.len()).max().unwrap_or(0);
        let (insides, beginnings): (HashMap<_, _>, HashMap<_, _>) =
            model.vocab.into_iter().partition(|(piece, _)| piece.starts_with(INSIDE));
        let insides =
            insides.into_iter().filter_map(|(piece, id)| Some((piece.strip_prefix(INSIDE)?.into(), id)));
        Ok(Self {
            beginnings,
            insides: insides.collect(),
            special: added_tokens.into_iter().map(|added| (added.content, added.id)).collect(),
            longest_bytes,
            max_word_chars: model.max_input_chars_per_word,
            begin,
            end,
            unknown,
        })
    }

    /// The greatest number that a token can have.
    pub(super) fn largest(&self) -> u32 {
        let special = self.special.iter().map(|(_, id)| id);
        self.beginnings.values().chain(self.insides.values()).chain(special).copied().max().unwrap_or(0)
    }

    /// The tokens of a text, between those for its beginning and its end. What is too long is cut off.
    pub(super) fn tokens(&self, text: &str) -> Vec<u32> {
        let mut tokens = vec![self.begin];
        let mut rest = text;
        while tokens.len() < MAX_TOKENS {
            let next = self.next_special(rest);
            let before = next.map_or(rest, |(at, ..)| rest.get(..at).unwrap_or_default());
            for_each_word(before, self.max_word_chars, |word| {
                self.cut(word, &mut tokens);
                tokens.len() < MAX_TOKENS
            });
            let Some((at, length, id)) = next else { break };
            tokens.push(id);
            rest = rest.get(at + length..).unwrap_or_default();
        }
        tokens.truncate(MAX_TOKENS - 1);
        tokens.push(self.end);
        tokens
    }

    /// Place, length and number of the first special word. Every place is looked at once, however many follow.
    fn next_special(&self, text: &str) -> Option<(usize, usize, u32)> {
        text.char_indices().find_map(|(at, _)| {
            let rest = text.get(at..)?;
            let (word, id) = self.special.iter().find(|(word, _)| rest.starts_with(word.as_str()))?;
            Some((at, word.len(), *id))
        })
    }

    /// The pieces of a word; if one is not known, the whole word is not.
    fn cut(&self, word: &str, tokens: &mut Vec<u32>) {
        let known = tokens.len();
        let mut rest = word;
        if word.chars().count() > self.max_word_chars {
            tokens.push(self.unknown);
            return;
        }
        let mut pieces = &self.beginnings;
        while !rest.is_empty() {
            let Some((piece, id)) = self.longest(pieces, rest) else {
                tokens.truncate(known);
                tokens.push(self.unknown);
                return;
            };
            tokens.push(id);
            rest = rest.get(piece..).unwrap_or_default();
            pieces = &self.insides;
        }
    }

    /// Length and number of the longest piece that `text` begins with.
    fn longest(&self, pieces: &HashMap<Box<str>, u32>, text: &str) -> Option<(usize, u32)> {
        let mut end = text.floor_char_boundary(self.longest_bytes);
        while end > 0 {
            let head = text.get(..end)?;
            if let Some(id) = pieces.get(head) {
                return Some((end, *id));
            }
            end = text.floor_char_boundary(end - 1);
        }
        None
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A tokenizer that knows these pieces, numbered as listed behind the five special ones.
    pub(in crate::embed) fn knowing(pieces: &[&str]) -> Tokenizer {
        Tokenizer::parse(json(pieces, true).as_bytes()).unwrap()
    }

    pub(in crate::embed) fn json(pieces: &[&str], lowercase: bool) -> String {
        let special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
        let vocab: serde_json::Map<_, _> = special
            .iter()
            .chain(pieces)
            .enumerate()
            .map(|(id, piece)| ((*piece).to_owned(), id.into()))
            .collect();
        let added: Vec<_> = special
            .iter()
            .enumerate()
            .map(|(id, content)| serde_json::json!({"id": id, "content": content}))
            .collect();
        serde_json::json!({
            "added_tokens": added,
            "normalizer": {
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
                "lowercase": lowercase,
            },
            "pre_tokenizer": { "type": "BertPreTokenizer" },
            "model": {
                "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocab,
            },
        })
        .to_string()
    }

    #[test]
    fn words_are_cut_into_the_longest_pieces_from_the_left() {
        let tokenizer = knowing(&["mill", "mi", "##l", "##ler", "##er", "s", "."]);
        assert_eq!(tokenizer.tokens("Miller."), [2, 5, 9, 11, 3]);
        assert_eq!(tokenizer.tokens("mil"), [2, 6, 7, 3]);
    }

    #[test]
    fn word_with_an_unknown_piece_is_unknown_as_a_whole() {
        let tokenizer = knowing(&["mill", "##er"]);
        assert_eq!(tokenizer.tokens("mill millx mill"), [2, 5, 1, 5, 3]);
        assert_eq!(tokenizer.tokens(&format!("mill{}", "er".repeat(49))), [2, 1, 3], "102 characters");
    }

    #[test]
    fn special_words_are_tokens_wherever_they_stand() {
        let tokenizer = knowing(&["a", "b", "##b"]);
        assert_eq!(tokenizer.tokens("a[SEP]b[MASK]"), [2, 5, 3, 6, 4, 3]);
        assert_eq!(tokenizer.tokens("[sep]"), [2, 1, 1, 1, 3]);
    }

    #[test]
    fn empty_text_has_a_beginning_and_an_end() {
        assert_eq!(knowing(&[]).tokens(""), [2, 3]);
    }

    #[test]
    fn long_text_is_cut_and_keeps_its_end() {
        let tokens = knowing(&["a", "##b"]).tokens(&"ab ".repeat(1000));
        assert_eq!(tokens.len(), MAX_TOKENS);
        assert_eq!((tokens.first(), tokens.last()), (Some(&2), Some(&3)));
        let many = knowing(&["a"]).tokens(&"[MASK]".repeat(1000));
        assert_eq!((many.len(), many[1], many.last()), (MAX_TOKENS, 4, Some(&3)));
    }

    #[test]
    fn tokenizer_of_another_kind_is_refused() {
        let error = Tokenizer::parse(json(&[], false).as_bytes()).err().unwrap();
        assert!(error.message().contains("kind"), "{error}");
        assert!(Tokenizer::parse(b"{}").is_err());
    }
}
