//! Phrases that are looked for in a text, all in one pass.
//!
//! A phrase is one or more words, compared without capitals and accents (`words::fold`). A word may end or begin with a
//! star: `invoice*` is every word that begins so, `*vertrag` every word that ends so.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::words::{fold, folded, words};

/// Words of the longest phrase.
pub(crate) const MAX_WORDS: usize = 12;

/// A phrase that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hit {
    /// Which of the phrases, by its place in the list.
    pub(crate) phrase: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

enum Piece {
    Whole(String),
    Begins(String),
    Ends(String),
}

impl Piece {
    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Whole(whole) => word == whole,
            Self::Begins(part) => word.starts_with(part.as_str()),
            Self::Ends(part) => word.ends_with(part.as_str()),
        }
    }
}

/// Phrases, ready to be looked for.
#[derive(Default)]
pub(crate) struct Phrases {
    pieces: Vec<Vec<Piece>>,
    /// Phrases by what their first word is, begins or ends with.
    whole: Places,
    begins: Edges,
    ends: Edges,
}

type Places = HashMap<String, Vec<usize>, RandomState>;

/// Phrases by what their first word begins or ends with.
#[derive(Default)]
struct Edges {
    places: Places,
    /// How many bytes those beginnings or ends have, each once.
    lengths: Vec<usize>,
}

impl Edges {
    fn add(&mut self, part: &str, place: usize) {
        if !self.lengths.contains(&part.len()) {
            self.lengths.push(part.len());
        }
        self.places.entry(part.to_owned()).or_default().push(place);
    }

    /// The phrases of every part that `cut` takes from a word, given a length.
    fn of<'w>(&self, cut: impl Fn(usize) -> Option<&'w str>) -> impl Iterator<Item = usize> {
        self.lengths.iter().filter_map(move |n| self.places.get(cut(*n)?)).flatten().copied()
    }
}

impl Phrases {
    pub(crate) fn of<'p>(phrases: impl IntoIterator<Item = &'p str>) -> Self {
        let mut all = Self::default();
        for (place, phrase) in phrases.into_iter().enumerate() {
            let pieces = pieces(phrase);
            match pieces.first() {
                Some(Piece::Whole(word)) => all.whole.entry(word.clone()).or_default().push(place),
                Some(Piece::Begins(part)) => {
                    all.begins.add(part, place);
                }
                Some(Piece::Ends(part)) => {
                    all.ends.add(part, place);
                }
                None => {}
            }
            all.pieces.push(pieces);
        }
        all
    }

    /// Where the phrases stand, in the order of the text.
    pub(crate) fn find(&self, text: &str) -> Vec<Hit> {
        let cut: Vec<(Cow<'_, str>, usize, usize)> =
            words(text).map(|w| (folded(w.text), w.start, w.end())).collect();
        let mut hits = Vec::new();
        for (at, (word, start, _)) in cut.iter().enumerate() {
            for phrase in self.candidates(word) {
                let pieces = &self.pieces[phrase];
                let Some(here) = cut.get(at..at + pieces.len()) else { continue };
                if pieces.iter().zip(here).all(|(piece, (word, _, _))| piece.fits(word)) {
                    let end = here.last().map_or(*start, |(_, _, end)| *end);
                    hits.push(Hit { phrase, start: *start, end });
                }
            }
        }
        hits
    }

    /// The phrases whose first word this may be.
    fn candidates(&self, word: &str) -> impl Iterator<Item = usize> {
        let begins = self.begins.of(|n| word.get(..n));
        let ends = self.ends.of(|n| word.get(word.len().checked_sub(n)?..));
        self.whole.get(word).into_iter().flatten().copied().chain(begins).chain(ends)
    }
}

/// The words of a phrase; a phrase without letters or digits has none and is never found.
fn pieces(phrase: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in phrase.split_whitespace() {
        let all: Vec<_> = words(part).map(|w| fold(w.text)).collect();
        let count = all.len();
        for (at, word) in all.into_iter().enumerate() {
            pieces.push(if at + 1 == count && part.ends_with('*') {
                Piece::Begins(word)
            } else if at == 0 && part.starts_with('*') {
                Piece::Ends(word)
            } else {
                Piece::Whole(word)
            });
        }
    }
    pieces.truncate(MAX_WORDS);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_sees_phrases_through_capitals_accents_and_line_breaks() {
        let phrases = Phrases::of(["date de naissance", "*vertrag", "invoic*", "résumé", "***"]);
        let text = "DATE DE\nNAISSANCE. Mietvertrag, invoices; resume";
        let found: Vec<_> =
            phrases.find(text).into_iter().map(|h| (h.phrase, &text[h.start..h.end])).collect();
        assert_eq!(found, [(0, "DATE DE\nNAISSANCE"), (1, "Mietvertrag"), (2, "invoices"), (3, "resume")]);
    }

    #[test]
    fn part_of_a_word_is_not_a_word() {
        let phrases = Phrases::of(["art", "date"]);
        assert_eq!(phrases.find("party update dates"), []);
    }
}
