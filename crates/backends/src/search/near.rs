//! Words that are spelled nearly alike: for `word~`, and for a word that no document has.
//!
//! Near is: one letter more, less, other, or two swapped; two of these in a long word. The first letter must be right,
//! as it nearly always is, so that an index reads a small part of its words. An index offers what begins right, and
//! what is near is chosen here, so every product finds the same.

/// The most words that one is looked for by.
pub(super) const MAX_NEAR: usize = 5;

/// The most that are checked, because an index may know words that this tenant's documents do not have.
pub(super) const MAX_CHECKED: usize = 50;

/// Shorter words are near to too many others.
const MIN_LETTERS: usize = 4;
/// From so many letters on there may be two slips.
const LONG_LETTERS: usize = 8;
/// Longer ones are no words that somebody types.
const MAX_LETTERS: usize = 32;

/// A word to look near to.
pub(super) struct Near {
    letters: Vec<char>,
    slips: usize,
}

impl Near {
    /// `None` if nothing can be near to this word: it is too short, too long, or no word of letters.
    pub(super) fn to(word: &str) -> Option<Self> {
        let letters: Vec<char> = word.chars().collect();
        if !is_offered(word) || letters.len() < MIN_LETTERS {
            return None;
        }
        let slips = if letters.len() >= LONG_LETTERS { 2 } else { 1 };
        Some(Self { letters, slips })
    }

    /// What every near word begins with.
    pub(super) fn beginning(&self) -> String {
        self.letters.first().map(char::to_string).unwrap_or_default()
    }

    /// Of the words that are offered those that are near, the nearest first.
    pub(super) fn choose(&self, offered: impl Iterator<Item = String>) -> Vec<String> {
        let mut near: Vec<(usize, String)> =
            offered.filter_map(|word| Some((self.slips_to(&word)?, word))).collect();
        near.sort_unstable();
        near.dedup();
        near.truncate(MAX_CHECKED);
        near.into_iter().map(|(_, word)| word).collect()
    }

    /// Whether a word is near: for whoever would rather not copy those that are not.
    pub(super) fn is_near(&self, word: &str) -> bool {
        self.slips_to(word).is_some()
    }

    /// How many slips lead to another word; `None` if none do, or too many.
    fn slips_to(&self, word: &str) -> Option<usize> {
        // Most words are told by their length, before anything is copied.
        if word.len() > 4 * (self.letters.len() + self.slips) || !is_offered(word) {
            return None;
        }
        let other: Vec<char> = word.chars().collect();
        if other.len().abs_diff(self.letters.len()) > self.slips || other.first() != self.letters.first() {
            return None;
        }
        let slips = slips(&self.letters, &other);
        (1..=self.slips).contains(&slips).then_some(slips)
    }
}

/// Whether a word is one that another can be near to: letters alone, neither few nor many. Numbers are not misspelled,
/// they are other numbers.
pub(super) fn is_offered(word: &str) -> bool {
    word.len() <= 4 * MAX_LETTERS
        && (MIN_LETTERS - 1..=MAX_LETTERS + 2).contains(&word.chars().count())
        && word.chars().all(char::is_alphabetic)
        && !super::words::is_unspaced_word(word)
}

/// Letters put in, left out, changed, or swapped with their neighbour.
fn slips(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, letter) in a.iter().enumerate() {
        let mut current = vec![row + 1; b.len() + 1];
        for (column, other) in b.iter().enumerate() {
            let changed = above[column] + usize::from(letter != other);
            let mut least = changed.min(above[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *letter == b[column - 1] && a[row - 1] == *other {
                least = least.min(before[column - 1] + 1);
            }
            current[column + 1] = least;
        }
        before = std::mem::replace(&mut above, current);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(word: &str, offered: &[&str]) -> Vec<String> {
        Near::to(word).map_or(Vec::new(), |near| near.choose(offered.iter().map(|word| (*word).to_owned())))
    }

    #[test]
    fn near_words_are_a_slip_away_and_begin_right() {
        let offered = ["receive", "recieve", "receives", "deceive", "relieve", "receipt", "reprieve", "rec"];
        assert_eq!(near("recieve", &offered), ["receive", "relieve"]);
        assert_eq!(near("reciepts", &["receipts", "receipt", "recept"]), ["receipts", "receipt", "recept"]);
        assert_eq!(near("invoice", &["invoices", "invoce", "invioce"]), ["invioce", "invoce", "invoices"]);
    }

    #[test]
    fn short_words_numbers_and_unspaced_scripts_have_no_near_ones() {
        for word in ["", "net", "2024", "x2345", "東京都", &"x".repeat(100)] {
            assert!(Near::to(word).is_none(), "{word}");
        }
        assert!(near("invoice", &["2024", "i", ""]).is_empty());
    }

    #[test]
    fn slips_count_letters_and_swaps() {
        for (a, b, expected) in [("", "abc", 3), ("abcd", "abdc", 1), ("abc", "abc", 0), ("ca", "abc", 3)] {
            let letters = |word: &str| word.chars().collect::<Vec<_>>();
            assert_eq!(slips(&letters(a), &letters(b)), expected, "{a} {b}");
        }
    }
}
