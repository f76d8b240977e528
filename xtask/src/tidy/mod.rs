//! The project's own rules, checked on the text of the tree. A rule that nobody checks is a wish.
//!
//! Each check is a function from the tree to what it found; the list below is all of them. `cargo test -p xtask`
//! runs the same list, so a plain `cargo test` finds an untidy tree too.

mod code;
mod crash_points;
mod dependencies;
mod docs;
mod migrations;
mod registered;
mod settings;
mod sizes;
mod words;

use std::fmt;

use anyhow::Result;

use crate::tree::{self, Tree};

/// One thing that is not as it should be.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
    /// Worth a look, but no reason to refuse the change.
    advice: bool,
}

impl Finding {
    fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into(), advice: false }
    }

    fn in_file(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 1, message)
    }

    fn only_advice(mut self) -> Self {
        self.advice = true;
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let advice = if self.advice { "advice: " } else { "" };
        write!(f, "{}:{}: {advice}{}", self.path, self.line, self.message)
    }
}

const CHECKS: &[fn(&Tree) -> Vec<Finding>] = &[
    registered::check,
    docs::check_error_pages,
    docs::check_architecture_paths,
    docs::check_kinds,
    docs::check_links,
    docs::check_named_tests,
    docs::check_adr_numbers,
    docs::check_adr_status,
    code::check,
    crash_points::check,
    dependencies::check,
    migrations::check,
    settings::check,
    settings::check_pages,
    sizes::check,
    words::check,
];

/// Prints every finding; true if there is none that counts.
pub(crate) fn run() -> Result<bool> {
    let findings = look(&Tree::read(&tree::root())?);
    for finding in &findings {
        println!("{finding}");
    }
    Ok(findings.iter().all(|f| f.advice))
}

fn look(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<_> = CHECKS.iter().flat_map(|check| check(tree)).collect();
    findings.sort();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_follows_its_own_rules() {
        let tree = Tree::read(&tree::root()).unwrap();
        let findings: Vec<_> = look(&tree).iter().filter(|f| !f.advice).map(ToString::to_string).collect();
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }
}
