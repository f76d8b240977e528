//! Folders in which every file must be registered: a format or a stage that nobody lists is dead code that looks
//! alive.

use super::Finding;
use crate::tree::Tree;

/// A folder whose `mod.rs` declares each file as a module and names it again in its list.
const FOLDERS: &[&str] = &["crates/formats/src/kinds", "crates/pipeline/src/stages"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    FOLDERS.iter().flat_map(|folder| check_folder(tree, folder)).collect()
}

fn check_folder(tree: &Tree, folder: &str) -> Vec<Finding> {
    let list_path = format!("{folder}/mod.rs");
    let Some(list) = tree.text(&list_path) else {
        return vec![Finding::in_file(&list_path, "missing: it lists what the folder holds")];
    };
    let mut findings = Vec::new();
    for module in modules(tree, folder) {
        let declared = declaration(list, module);
        if declared.is_some_and(|before| before == "#[cfg(test)]") {
            continue;
        }
        let declared = declared.is_some();
        let listed = list.contains(&format!("{module}::"));
        let message = match (declared, listed) {
            (true, true) => continue,
            (false, _) => format!("`{module}` is in the folder but not declared with `mod {module};`"),
            (true, false) => format!("`{module}` is declared but never named in the list (`{module}::…`)"),
        };
        findings.push(Finding::in_file(&list_path, message));
    }
    findings
}

/// The line before `mod <module>;`, if the module is declared.
fn declaration<'l>(list: &'l str, module: &str) -> Option<&'l str> {
    let mut before = "";
    for line in list.lines().map(str::trim) {
        let words = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        if words.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) == Some(module) {
            return Some(before);
        }
        before = line;
    }
    None
}

/// Files and folders that are modules: tests and snapshots are not.
fn modules<'t>(tree: &'t Tree, folder: &str) -> Vec<&'t str> {
    let mut names: Vec<&str> = tree
        .under(folder, "rs")
        .filter_map(|(path, _)| {
            let rest = path.strip_prefix(folder)?.trim_start_matches('/');
            match rest.split_once('/') {
                Some((module, _)) => Some(module),
                None => rest.strip_suffix(".rs"),
            }
        })
        .filter(|name| !["mod", "tests"].contains(name))
        .collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_without_its_two_lines_is_found() {
        let tree = Tree::of(&[
            ("k/mod.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod e;\nstatic ALL: &[X] = &[a::X];\n"),
            ("k/a.rs", ""),
            ("k/b.rs", ""),
            ("k/c/mod.rs", ""),
            ("k/e.rs", ""),
            ("k/tests.rs", ""),
        ]);
        let found: Vec<_> = check_folder(&tree, "k").into_iter().map(|f| f.message).collect();
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("`b` is declared but"));
        assert!(found[1].starts_with("`c` is in the folder but"));
    }
}
