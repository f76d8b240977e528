//! Words beside which values stand, in several languages: `Invoice no.`, `Rechnungsnr.`, `Facture n°`.
//!
//! They are data (`data/labels.json`) and are compared without blanks, signs and accents, since these are what
//! vendors and scanners differ in.

use std::collections::HashMap;
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
            if let Some(rank) = self.rank(&said) {
                best = Some((from..at + 1, rank, said.len()));
            }
        }
        best
    }

    fn rank(&self, said: &str) -> Option<usize> {
        if let Some(rank) = self.0.iter().position(|label| label == said) {
            return Some(rank);
        }
        let count = said.chars().count();
        if count < FUZZY {
            return None;
        }
        self.0.iter().position(|label| {
            label.len().abs_diff(said.len()) <= 1
                && label.len() >= FUZZY
                && strsim::levenshtein(label, said) <= 1
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::page;

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
