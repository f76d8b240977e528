//! Folders in which every file must be registered: a format or a stage that nobody lists is dead code that looks
//! alive.

use super::Finding;
use crate::tree::Tree;

const FORMATS: &str = "crates/formats/src/kinds";
const STAGES: &str = "crates/pipeline/src/stages";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = check_formats(tree, FORMATS);
    findings.extend(check_stages(tree, STAGES));
    findings
}

/// Every file that owns a task kind is in the list of handlers, by its path. The compiler sees to the `mod`.
fn check_stages(tree: &Tree, folder: &str) -> Vec<Finding> {
    let list_path = format!("{folder}/mod.rs");
    let list = tree.text(&list_path).unwrap_or_default();
    let mut findings = Vec::new();
    for (path, text) in tree.under(folder, "rs").filter(|(_, text)| text.contains("TaskKind::named(")) {
        let module = path[folder.len() + 1..].trim_end_matches(".rs").replace('/', "::");
        if !list.contains(&format!("&{module}::")) {
            let line = text.lines().position(|l| l.contains("TaskKind::named(")).map_or(1, |i| i + 1);
            findings.push(Finding::at(path, line, format!("its kind is not in the list of {list_path}")));
        }
    }
    findings
}

/// Every file and folder is a reader: declared as a module, and named again in the list.
fn check_formats(tree: &Tree, folder: &str) -> Vec<Finding> {
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
        let found: Vec<_> = check_formats(&tree, "k").into_iter().map(|f| f.message).collect();
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("`b` is declared but"));
        assert!(found[1].starts_with("`c` is in the folder but"));
    }
    #[test]
    fn kind_without_its_line_is_found() {
        let kind = "const KIND: TaskKind = TaskKind::named(\"x\");\n";
        let tree = Tree::of(&[
            ("s/mod.rs", "static ALL: &[X] = &[&a::one::One];\n"),
            ("s/a/one.rs", kind),
            ("s/a/two.rs", kind),
            ("s/a/shared.rs", ""),
        ]);
        assert_eq!(
            check_stages(&tree, "s"),
            [Finding::at("s/a/two.rs", 1, "its kind is not in the list of s/mod.rs")]
        );
    }
}
