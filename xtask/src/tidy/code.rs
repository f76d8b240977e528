//! Marks that must not stay in code: a note without a number, a debugging macro.

use super::Finding;
use crate::tree::Tree;

/// Kept apart, so that this file does not find itself.
const NOTE: &str = concat!("TO", "DO");
const FORBIDDEN: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const DEBUGGING: &str = concat!("dbg", "!(");

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_code(path)) {
        for (number, line) in (1..).zip(text.lines()) {
            if has_word(line, NOTE) && !numbered(line) {
                findings.push(Finding::at(path, number, format!("a {NOTE} needs a number: {NOTE}(#123)")));
            }
            for word in FORBIDDEN.iter().filter(|word| has_word(line, word)) {
                findings.push(Finding::at(path, number, format!("use {NOTE}(#123) instead of {word}")));
            }
            if path.ends_with(".rs") && line.contains(DEBUGGING) {
                findings.push(Finding::at(path, number, "a debugging macro was left behind"));
            }
        }
    }
    findings
}

fn is_code(path: &str) -> bool {
    ["rs", "toml", "sql", "sh", "py", "mjs"]
        .iter()
        .any(|e| path.rsplit_once('.').is_some_and(|(_, x)| x == *e))
}

fn numbered(line: &str) -> bool {
    line.split(NOTE).skip(1).all(|rest| {
        rest.strip_prefix("(#").and_then(|r| r.split_once(')')).is_some_and(|(n, _)| n.parse::<u32>().is_ok())
    })
}

fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        !part_of_word(line[..at].chars().next_back()) && !part_of_word(line[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_numbered_note_may_stay() {
        let text =
            format!("// {NOTE}: later\n// {NOTE}(#12): later\n// MY{NOTE}S are fine\n{DEBUGGING}x);\n");
        let findings = check(&Tree::of(&[("a.rs", &text)]));
        assert_eq!(findings.iter().map(|f| f.line).collect::<Vec<_>>(), [1, 4]);
    }
}
