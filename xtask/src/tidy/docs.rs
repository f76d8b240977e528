//! Prose that names code must stay true: a page for each error kind, paths and links that exist, every task kind
//! in the vocabulary.

use docmill_core::ErrorKind;

use super::Finding;
use crate::tree::Tree;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const KINDS: &str = "docs/reference/kinds.md";
const FAULTS: &str = "docs/reference/faults.md";

/// `docs/errors/<kind>.md` for every kind, and no page for a kind that is gone.
pub(super) fn check_error_pages(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for kind in ErrorKind::ALL {
        let page = format!("docs/errors/{kind}.md");
        match tree.text(&page) {
            None => findings.push(Finding::in_file(&page, "missing: every error kind has a page")),
            Some(text) if !text.starts_with(&format!("# `{kind}`\n")) => {
                findings.push(Finding::in_file(&page, format!("must begin with the title \"# `{kind}`\"")));
            }
            Some(_) => {}
        }
    }
    for (path, _) in tree.under("docs/errors", "md") {
        let name = path.trim_start_matches("docs/errors/").trim_end_matches(".md");
        if name != "README" && ErrorKind::from_name(name).is_none() {
            findings.push(Finding::in_file(path, format!("there is no error kind `{name}`")));
        }
    }
    findings
}

/// Every path in backquotes must exist. A path is a word with a slash or a known ending that starts in a folder
/// of the checkout.
pub(super) fn check_architecture_paths(tree: &Tree) -> Vec<Finding> {
    const ROOTS: &[&str] = &[
        "crates/",
        "testkit/",
        "xtask/",
        "docs/",
        "migrations/",
        "bench/",
        ".ci/",
        "web/",
        ".githooks/",
        "changelog.d/",
    ];
    let mut findings = Vec::new();
    let pages = [ARCHITECTURE, "CONTRIBUTING.md", "STYLE.md", "README.md", "SECURITY.md"];
    let how_to = tree.under("docs", "md").filter(|(path, _)| !path.starts_with("docs/adr/"));
    let pages = pages.iter().filter_map(|path| Some((*path, tree.text(path)?))).chain(how_to);
    for (path, text) in pages {
        for (line, span) in code_spans(text) {
            let named = span.split_whitespace().next().unwrap_or_default();
            // A name in angle brackets or with a star stands for many.
            let pattern = named.contains(['<', '*', '{', '…']);
            if !pattern && ROOTS.iter().any(|root| named.starts_with(root)) && !tree.holds(named) {
                findings.push(Finding::at(path, line, format!("`{named}` does not exist")));
            }
        }
    }
    findings
}

/// A rule that names its test must name one that exists. A test's name is a word of at least four parts, such as
/// `claim_skips_leased_task`.
pub(super) fn check_named_tests(tree: &Tree) -> Vec<Finding> {
    let is_test_name = |span: &str| {
        span.matches('_').count() >= 3
            && span.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    let specs = tree.under("docs/specs", "md");
    let pages = [ARCHITECTURE, FAULTS].into_iter().filter_map(|path| Some((path, tree.text(path)?)));
    let mut findings = Vec::new();
    for (path, text) in pages.chain(specs) {
        for (line, name) in code_spans(text).filter(|(_, span)| is_test_name(span)) {
            let definition = format!("fn {name}(");
            if !tree.texts().any(|(path, text)| path.ends_with(".rs") && text.contains(&definition)) {
                findings.push(Finding::at(path, line, format!("there is no test `{name}`")));
            }
        }
    }
    findings
}

/// Relative links lead somewhere.
pub(super) fn check_links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in prose_lines(text) {
            for target in line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                if !tree.holds(&resolve(folder, target)) {
                    findings.push(Finding::at(path, number, format!("the link to `{target}` leads nowhere")));
                }
            }
        }
    }
    findings
}

/// A task kind that a stage owns must be in the vocabulary of `--kinds`.
pub(super) fn check_kinds(tree: &Tree) -> Vec<Finding> {
    let page = tree.text(KINDS).unwrap_or_default();
    let mut findings = Vec::new();
    for (path, text) in tree.under("crates/pipeline/src/stages", "rs") {
        for (number, line) in (1..).zip(text.lines()) {
            let Some((_, rest)) = line.split_once("TaskKind::named(\"") else { continue };
            let Some((kind, _)) = rest.split_once('"') else { continue };
            if !page.contains(&format!("| `{kind}` |")) {
                findings.push(Finding::at(path, number, format!("task kind `{kind}` is not in {KINDS}")));
            }
        }
    }
    findings
}

/// Decisions are numbered from 0001 without gaps or repeats.
pub(super) fn check_adr_numbers(tree: &Tree) -> Vec<Finding> {
    (1..)
        .zip(decisions(tree))
        .filter(|(number, (path, _))| !path.starts_with(&format!("docs/adr/{number:04}-")))
        .map(|(number, (path, _))| Finding::in_file(path, format!("its number should be {number:04}")))
        .collect()
}

/// A decision says below its title whether it holds.
pub(super) fn check_adr_status(tree: &Tree) -> Vec<Finding> {
    decisions(tree)
        .filter(|(_, text)| !text.lines().nth(2).is_some_and(|line| line.starts_with("Status: ")))
        .map(|(path, _)| Finding::at(path, 3, "this line should say `Status: …`"))
        .collect()
}

fn decisions(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.under("docs/adr", "md").filter(|(path, _)| !path.ends_with("README.md"))
}

/// The lines that are prose, with their numbers: fenced blocks are left out.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// What stands between backquotes, with its line.
pub(super) fn code_spans(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose_lines(text)
        .flat_map(|(number, line)| line.split('`').skip(1).step_by(2).map(move |span| (number, span)))
}

/// `a/b` and `../c` give `a/c`.
fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_that_does_not_exist_is_found() {
        let tree = Tree::of(&[
            (ARCHITECTURE, "See `crates/core/src/a.rs` and\n`crates/core/src/gone.rs`, `crates/<any>/x`.\n"),
            ("crates/core/src/a.rs", ""),
        ]);
        let findings = check_architecture_paths(&tree);
        assert_eq!(findings, [Finding::at(ARCHITECTURE, 2, "`crates/core/src/gone.rs` does not exist")]);
    }

    #[test]
    fn rule_without_its_test_is_found() {
        let tree = Tree::of(&[
            ("docs/specs/x.md", "`put_twice_keeps_first`, `put_once_is_gone`, `max_text_bytes`\n"),
            ("a.rs", "async fn put_twice_keeps_first(x: X) {}\n"),
        ]);
        assert_eq!(
            check_named_tests(&tree),
            [Finding::at("docs/specs/x.md", 1, "there is no test `put_once_is_gone`")]
        );
    }

    #[test]
    fn link_that_leads_nowhere_is_found() {
        let tree = Tree::of(&[
            (
                "docs/a/x.md",
                "[b](../b.md#part), [c](c.md), [web](https://example.org)\n```\n[d](d.md)\n```\n",
            ),
            ("docs/b.md", ""),
        ]);
        assert_eq!(check_links(&tree), [Finding::at("docs/a/x.md", 1, "the link to `c.md` leads nowhere")]);
    }

    #[test]
    fn kind_without_a_row_is_found() {
        let tree = Tree::of(&[
            (KINDS, "| `no-op` | does nothing |\n"),
            ("crates/pipeline/src/stages/a.rs", "TaskKind::named(\"no-op\")\nTaskKind::named(\"other\")\n"),
        ]);
        assert_eq!(check_kinds(&tree).len(), 1);
    }

    #[test]
    fn decision_with_a_wrong_number_is_found() {
        let tree = Tree::of(&[("docs/adr/0001-a.md", ""), ("docs/adr/0003-b.md", "")]);
        assert_eq!(
            check_adr_numbers(&tree),
            [Finding::in_file("docs/adr/0003-b.md", "its number should be 0002")]
        );
    }

    #[test]
    fn decision_without_a_status_is_found() {
        let tree = Tree::of(&[
            ("docs/adr/0001-a.md", "# 0001 A\n\nStatus: accepted\n"),
            ("docs/adr/0002-b.md", "# 0002 B\n\n## Context\n"),
        ]);
        assert_eq!(
            check_adr_status(&tree),
            [Finding::at("docs/adr/0002-b.md", 3, "this line should say `Status: …`")]
        );
    }
}
