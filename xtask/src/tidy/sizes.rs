//! A file that nobody can hold in mind has a second idea in it.

use super::Finding;
use crate::tree::Tree;

const LOOK_AT: usize = 600;
const REFUSE: usize = 800;
const ARCHITECTURE_MAX: usize = 400;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let code = tree.texts().filter(|(path, _)| path.ends_with(".rs") && !is_test(path));
    let mut findings: Vec<_> = code.filter_map(|(path, text)| judge(path, code_lines(text))).collect();
    if let Some(text) = tree.text("ARCHITECTURE.md").filter(|text| text.lines().count() > ARCHITECTURE_MAX) {
        let lines = text.lines().count();
        findings.push(Finding::at(
            "ARCHITECTURE.md",
            lines,
            format!("{lines} lines: more than {ARCHITECTURE_MAX} and nobody reads it"),
        ));
    }
    findings
}

fn judge(path: &str, lines: usize) -> Option<Finding> {
    let finding =
        || Finding::at(path, lines, format!("{lines} lines of code: look for the second idea in it"));
    match lines {
        0..=LOOK_AT => None,
        _ if lines <= REFUSE => Some(finding().only_advice()),
        _ => Some(finding()),
    }
}

/// Tests at the end of a file do not count: they are read one by one.
fn code_lines(text: &str) -> usize {
    text.lines().take_while(|line| *line != "#[cfg(test)]").count()
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_file_is_advised_and_very_long_refused() {
        let lines = |n: usize| "x\n".repeat(n);
        let tree = Tree::of(&[
            ("a.rs", &lines(600)),
            ("b.rs", &lines(601)),
            ("c.rs", &lines(801)),
            ("d.rs", &format!("{}#[cfg(test)]\n{}", lines(600), lines(600))),
            ("x/tests/e.rs", &lines(900)),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| (f.path, f.advice)).collect();
        assert_eq!(found, [("b.rs".to_owned(), true), ("c.rs".to_owned(), false)]);
    }
}
