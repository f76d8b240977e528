//! Which lines of a text are headings. Transcripts are plain text, so only the shape of a line tells.

use crate::words::words;

/// A longer line is no heading.
const MAX_WORDS: usize = 14;
const MAX_BYTES: usize = 160;

/// Whether a line that stands by itself is a heading.
pub(crate) fn is_heading(line: &str) -> bool {
    let line = line.trim();
    if line.is_empty() || line.len() > MAX_BYTES || line.contains('\n') {
        return false;
    }
    if let Some(rest) = line.strip_prefix('#') {
        return rest.trim_start_matches('#').starts_with(' ');
    }
    let count = words(line).take(MAX_WORDS + 1).count();
    if count == 0 || count > MAX_WORDS || line.ends_with(['.', ',', ';', '!', '-']) || line.contains('@') {
        return false;
    }
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    // Amounts, dates and rows of tables are mostly no letters.
    letters * 2 > line.chars().filter(|c| !c.is_whitespace()).count()
        && without_number(line).chars().next().is_some_and(|c| !c.is_lowercase() && c.is_alphabetic())
}

/// A heading without the marks and numbers before it.
pub(crate) fn without_number(line: &str) -> &str {
    let line = line.trim().trim_start_matches('#').trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ')');
    // `2024 Budget` is no second chapter.
    let number = &line[..line.len() - rest.len()];
    if rest.starts_with(char::is_whitespace) && (number.len() <= 2 || number.contains('.')) {
        rest.trim_start()
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_told_by_their_shape() {
        for line in ["# Title", "2.1 Methods", "ANNUAL REPORT", "How to install", "概要"] {
            assert!(is_heading(line), "{line}");
        }
        for line in ["", "and so it was", "This is a sentence.", "12.50 EUR 3.00", "a@example.org", "#tag"] {
            assert!(!is_heading(line), "{line}");
        }
        assert_eq!(without_number("## 2.1 Methods"), "Methods");
        assert_eq!(without_number("2024 Budget"), "2024 Budget");
    }
}
