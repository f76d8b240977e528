//! A hint or a page that names a setting must name one that exists: it is the way out that is promised.

use docmill_core::config::{KEYS, Key};

use super::Finding;
use super::docs::code_spans;
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

/// What stands in backquotes and begins like a setting must be one. Decisions are left out: they tell of their time.
pub(super) fn check_pages(tree: &Tree) -> Vec<Finding> {
    let pages = tree.texts().filter(|(path, _)| path.ends_with(".md") && !path.starts_with("docs/adr/"));
    let mut findings = Vec::new();
    for (path, text) in pages {
        for (line, span) in code_spans(text).filter(|(_, span)| looks_like_a_setting(span)) {
            if Key::find(span).is_none() {
                findings.push(Finding::at(path, line, format!("`{span}` is not a setting")));
            }
        }
    }
    findings
}

/// `limits.max_pages` does; `log.rs` is a file, and `store.group.after_commit` a crash point.
fn looks_like_a_setting(span: &str) -> bool {
    let is_path = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    let Some((table, name)) = span.split_once('.') else { return false };
    !["rs", "md", "py", "json", "toml"].contains(&name)
        && span.bytes().all(is_path)
        && KEYS.iter().any(|key| {
            let of_key = key.path.split('.').next();
            of_key == Some(table) && key.path.matches('.').count() == span.matches('.').count()
        })
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

    #[test]
    fn page_must_name_settings_that_exist() {
        let page = "`limits.max_pages`, `kinds.extract-text.concurrency`, `log.rs`, `store.group.after_commit`\n`sandbox.gone`\n";
        let pages = [("docs/errors/x.md", page), ("docs/adr/0001-x.md", "`sandbox.gone`\n")];
        assert_eq!(
            check_pages(&Tree::of(&pages)),
            [Finding::at("docs/errors/x.md", 2, "`sandbox.gone` is not a setting")]
        );
    }
}
