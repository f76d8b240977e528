//! Right-to-left writing: glyphs stand in the order of seeing, text wants the order of reading.
//!
//! Words are the unit: a word with a letter of such a script runs to the left as a whole, but for numbers in it.
//! That leaves out what is rare inside one word, and needs no tables.

use super::super::letters::Letters;
use super::chunk::Placed;
use super::line::{Piece, Word};

/// Whether what a glyph says is written from right to left.
pub(super) fn is_rtl(letters: &Letters) -> bool {
    let rtl = |c: char| {
        matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
            && !matches!(c, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}')
    };
    match letters {
        Letters::One(c) => rtl(*c),
        Letters::Many(s) => s.chars().any(rtl),
    }
}

/// Inside a word that runs to the left, numbers and letters of other scripts run to the right all the same.
pub(super) fn keep_numbers(glyphs: &mut [&Placed]) {
    let forward =
        |glyph: &Placed| !glyph.rtl && matches!(glyph.letters, Letters::One(c) if c.is_alphanumeric());
    // Marks inside a number belong to it, as in 3.50 and 12/7.
    let joins = |glyph: &Placed| matches!(glyph.letters, Letters::One('.' | ',' | ':' | '/' | '-'));
    let mut at = 0;
    while at < glyphs.len() {
        let mut end = at;
        while end < glyphs.len()
            && (forward(glyphs[end])
                || (end > at && joins(glyphs[end]) && glyphs.get(end + 1).is_some_and(|g| forward(g))))
        {
            end += 1;
        }
        glyphs[at..end].reverse();
        at = end.max(at + 1);
    }
}

/// Whether most words with letters run to the left.
fn mostly_rtl(words: &[Word]) -> bool {
    let rtl = words.iter().filter(|w| w.rtl).count();
    let ltr = words.iter().filter(|w| !w.rtl && w.text.chars().any(char::is_alphabetic)).count();
    rtl > 0 && rtl >= ltr
}

/// Words from left to right into the order of reading.
pub(super) fn order(words: &mut [Word]) {
    if words.iter().all(|w| !w.rtl) {
        return;
    }
    let against = mostly_rtl(words);
    if against {
        words.reverse();
    }
    // Neighbours that run the other way keep their own order among themselves.
    for run in words.chunk_by_mut(|a, b| a.rtl == b.rtl) {
        if run[0].rtl != against {
            run.reverse();
        }
    }
}

/// Pieces of a line from left to right into the order of reading.
pub(super) fn order_pieces(pieces: &mut [&Piece]) {
    let rtl = pieces.iter().filter(|p| mostly_rtl(&p.words)).count();
    if rtl * 2 > pieces.len() {
        pieces.reverse();
    }
}
