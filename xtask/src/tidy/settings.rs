//! A hint that names a setting must name one that exists: it is the way out that a message promises.

use docmill_core::config::KEYS;

use super::Finding;
use crate::tree::Tree;

const WAY_OUT: &str = "raise `";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.under("crates", "rs") {
        for (at, _) in text.match_indices(WAY_OUT) {
            let Some((name, _)) = text[at + WAY_OUT.len()..].split_once('`') else { continue };
            // A name that is put together in code is for the code's own tests.
            if !name.contains('{') && !KEYS.iter().any(|key| key.path == name) {
                let line = text[..at].matches('\n').count() + 1;
                findings.push(Finding::at(path, line, format!("`{name}` is not a setting")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_must_name_a_setting() {
        let code = "hint(\"raise `limits.max_pages`\")\nhint(\"raise `limits.nothing`\")\nhint(\"raise `{setting}`\")";
        let found = check(&Tree::of(&[("crates/x/src/l.rs", code)]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].message.as_str()), (2, "`limits.nothing` is not a setting"));
    }
}
