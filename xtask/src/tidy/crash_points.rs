//! The crash matrix kills the process at every listed point, so the list and the code must name the same ones.

use std::collections::BTreeMap;

use docmill_core::crash::POINTS;

use super::Finding;
use crate::tree::Tree;

const LIST: &str = "crates/core/src/crash.rs";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_against(tree, POINTS)
}

fn check_against(tree: &Tree, listed: &[&str]) -> Vec<Finding> {
    let mut used: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    let product = tree.under("crates", "rs").filter(|(path, _)| *path != LIST && !path.contains("/tests/"));
    for (path, text) in product {
        for (at, _) in text.match_indices("point(") {
            // rustfmt may put the name on a line of its own.
            let argument = text[at + "point(".len()..].trim_start();
            if let Some((name, _)) = argument.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
                let line = text[..at].matches('\n').count() + 1;
                used.entry(name).or_insert((path, line));
            }
        }
    }
    let mut findings: Vec<_> = used
        .iter()
        .filter(|(name, _)| !listed.contains(name))
        .map(|(name, (path, line))| {
            Finding::at(path, *line, format!("crash point `{name}` is not listed in {LIST}"))
        })
        .collect();
    for (i, name) in listed.iter().enumerate() {
        if listed[..i].contains(name) {
            findings.push(Finding::in_file(LIST, format!("crash point `{name}` is listed twice")));
        } else if !used.contains_key(name) {
            findings.push(Finding::in_file(LIST, format!("crash point `{name}` is listed but used nowhere")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_and_code_must_name_the_same_points() {
        let code = "crash::point(\"a\");\ncrash::point(\n    \"b\",\n);\npoint(name);\n";
        let tree = Tree::of(&[("crates/x/src/l.rs", code), (LIST, "point(\"c\")")]);
        let findings = check_against(&tree, &["a", "c"]);
        assert_eq!(findings.len(), 2);
        assert_eq!((findings[0].line, findings[0].message.contains("`b` is not listed")), (2, true));
        assert!(findings[1].message.contains("`c` is listed but used nowhere"));
    }
}
