//! Words beside which values stand, in several languages: `Invoice no.`, `Rechnungsnr.`, `Facture n°`.
//!
//! They are data (`data/labels.json`) and are compared without blanks, signs and accents, since these are what
//! vendors and scanners differ in.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use crate::layout::{Row, Sheet, folded};

/// More words than this no label has.
const MAX_WORDS: usize = 6;

/// Labels this long may have one letter that was read wrongly.
const FUZZY: usize = 7;

static BUILT_IN: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let lists: HashMap<String, Vec<String>> =
        serde_json::from_str(include_str!("../data/labels.json")).unwrap_or_default();
    lists
        .into_iter()
        .map(|(name, labels)| (name, labels.iter().map(|label| folded(label)).collect()))
        .collect()
});

/// Labels of all meanings: one of them is not another one that was misread.
static KNOWN: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| BUILT_IN.values().flatten().map(String::as_str).collect());

/// Labels of one meaning.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a>(&'a [String]);

/// A label on a page.
#[derive(Clone, PartialEq, Debug)]
pub struct Hit {
    /// Index of the row.
    pub row: usize,
    /// Its tokens.
    pub tokens: Range<usize>,
    /// Its place in the list: those named first say more.
    pub rank: usize,
    /// Letters that it has.
    pub letters: usize,
}

/// The built-in labels of a meaning; none for one that is not known.
pub fn of(name: &str) -> Labels<'static> {
    Labels(BUILT_IN.get(name).map(Vec::as_slice).unwrap_or_default())
}

impl<'a> Labels<'a> {
    /// Of a list of one's own, folded.
    pub fn new(labels: &'a [String]) -> Self {
        Self(labels)
    }

    /// Whether a text is one of them.
    pub fn has(&self, text: &str) -> bool {
        let text = folded(text);
        self.0.contains(&text)
    }

    /// The longest label that begins with this word of a row.
    pub fn at(&self, row: &Row, from: usize) -> Option<(Range<usize>, usize, usize)> {
        let mut said = String::new();
        let mut best = None;
        let to = row.tokens.len().min(from + MAX_WORDS);
        for at in from..to {
            if at > from + 1 && row.tokens[at].cell > row.tokens[from].cell + 2 {
                break;
            }
            said.push_str(&row.tokens[at].fold);
            if row.tokens[at].fold.is_empty() && at == from {
                return None;
            }
            // A sign alone belongs to no label.
            if row.tokens[at].fold.is_empty() {
                continue;
            }
            let exact = self.0.iter().position(|label| *label == said);
            // Where a label has ended, what follows is its value, and no misread letter of a longer one.
            if let Some(rank) = exact.or_else(|| if best.is_none() { self.misread(&said) } else { None }) {
                best = Some((from..at + 1, rank, said.len()));
            }
        }
        best
    }

    /// The label that a scanner made this of: digits for letters that look like them, or one wrong letter.
    fn misread(&self, said: &str) -> Option<usize> {
        if KNOWN.contains(said) {
            return None;
        }
        let digits = said.bytes().any(|b| b.is_ascii_digit()) && said.len() >= 3;
        let letters = said.bytes().any(|b| b.is_ascii_alphabetic());
        // `mall` is a word of its own, and no `mail` that was misread.
        if letters && (digits || said.len() >= 5) {
            let alike = |label: &String| {
                label.len() == said.len() && label.chars().map(lettered).eq(said.chars().map(lettered))
            };
            let alike = self.0.iter().position(alike);
            if alike.is_some() {
                return alike;
            }
        }
        if said.chars().count() < FUZZY {
            return None;
        }
        self.0.iter().position(|label| {
            label.len().abs_diff(said.len()) <= 1 && label.len() >= FUZZY && at_most_one_apart(label, said)
        })
    }

    /// All of them in a row.
    pub fn in_row(&self, sheet: &Sheet, index: usize) -> Vec<Hit> {
        let Some(row) = sheet.rows.get(index) else { return Vec::new() };
        let mut hits = Vec::new();
        let mut at = 0;
        while at < row.tokens.len() {
            if let Some((tokens, rank, letters)) = self.at(row, at) {
                at = tokens.end;
                hits.push(Hit { row: index, tokens, rank, letters });
            } else {
                at += 1;
            }
        }
        hits
    }

    /// All of them on all pages.
    pub fn everywhere(&self, sheet: &Sheet) -> Vec<Hit> {
        (0..sheet.rows.len()).flat_map(|row| self.in_row(sheet, row)).collect()
    }
}

/// The letter for a sign that scanners take for it.
pub(crate) fn lettered(sign: char) -> char {
    match sign {
        '0' => 'o',
        '1' | 'i' => 'l',
        '5' => 's',
        '8' => 'b',
        other => other,
    }
}

/// Whether one letter more, less or another makes one of the other. Every word of a page is held against every label, so
/// this must be cheap: it looks at what two texts share at both ends.
pub(crate) fn at_most_one_apart(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let head = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[head..], &other[head..]);
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    one.len().max(other.len()) - tail <= 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::page;

    #[test]
    fn label_is_neither_another_one_nor_does_it_take_its_value() {
        let sheet = Sheet::new(&[page(&["Facture n° 17", "Total HT 3 753,83", "G5T ID 12", "Totai 3"])]);
        assert!(of("buyer").everywhere(&sheet).is_empty(), "`Facture n°` is not `Facturé à`");
        assert_eq!(of("net_total").everywhere(&sheet)[0].tokens, 0..2);
        assert_eq!(of("party_skip").everywhere(&sheet)[0].row, 2);
        assert_eq!(of("receipt_total").everywhere(&sheet).last().map(|hit| hit.row), Some(3));
    }

    #[test]
    fn one_letter_apart_is_told_from_two() {
        for near in ["total", "tota1", "totall", "otal", "ttal"] {
            assert!(at_most_one_apart("total", near), "{near}");
        }
        for far in ["t0ta1", "totals1", "tol", "", "latot"] {
            assert!(!at_most_one_apart("total", far), "{far}");
        }
        assert!(at_most_one_apart("aa", "aaa") && at_most_one_apart("", "a"));
    }

    #[test]
    fn labels_are_found_whatever_signs_and_scanners_did() {
        let sheet =
            Sheet::new(&[page(&["Rechnungs-Nr.: 17", "USt.-Id.-Nr. DE1", "Total due", "Rechnungsdatam 1"])]);
        assert_eq!(of("invoice_number").everywhere(&sheet)[0].tokens, 0..1);
        assert_eq!(of("tax_id").everywhere(&sheet)[0].row, 1);
        assert_eq!(of("gross_total").everywhere(&sheet)[0].tokens, 0..2);
        assert_eq!(of("invoice_date").everywhere(&sheet)[0].row, 3);
        assert!(of("no such meaning").everywhere(&sheet).is_empty());
    }
}
