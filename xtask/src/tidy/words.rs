//! Words that must not appear: they tie the project to one machine or one mirror, or they are holes in prose.

use super::Finding;
use crate::tree::Tree;

/// Package registries are named by their tools' own settings, never by the project. Written in two halves, so
/// that this file does not find itself.
const HOSTS: &[&str] = &[
    concat!("registry.npm", "js.org"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("pypi", ".org"),
    concat!("files.python", "hosted.org"),
    concat!("deb.debian", ".org"),
    concat!("archive.ubuntu", ".com"),
];
/// Folders of one machine.
const FOLDERS: &[&str] = &[concat!("/ro", "ot/"), concat!("/wo", "rk/")];
/// Folders of one person; a test may invent such a person.
const HOMES: &[&str] = &[concat!("/ho", "me/"), concat!("/Us", "ers/")];
/// Holes in prose.
const HOLES: &[&str] =
    &[concat!("lorem ", "ipsum"), concat!("coming ", "soon"), concat!("example ", "needed")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    // Cargo writes the lock file, and its source line is the same on every machine.
    for (path, text) in tree.texts().filter(|(path, _)| *path != "Cargo.lock") {
        let mut in_tests = path.contains("/tests/");
        for (number, line) in (1..).zip(text.lines()) {
            in_tests |= line == "#[cfg(test)]";
            let homes: &[&str] = if in_tests { &[] } else { HOMES };
            for host in HOSTS.iter().filter(|host| line.contains(**host)) {
                findings.push(Finding::at(path, number, format!("names the package registry `{host}`")));
            }
            for folder in FOLDERS.iter().chain(homes).filter(|folder| names_folder(line, folder)) {
                findings.push(Finding::at(
                    path,
                    number,
                    format!("names a folder of one machine: `{folder}`"),
                ));
            }
            let lower = line.to_lowercase();
            for hole in HOLES.iter().filter(|hole| path.ends_with(".md") && lower.contains(**hole)) {
                findings.push(Finding::at(path, number, format!("`{hole}` is a hole to fill")));
            }
        }
    }
    findings
}

/// Whether `folder` stands at the beginning of a path: what comes before it belongs to no longer path.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || "_-.~}>*/".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_of_a_machine_is_found_and_part_of_a_path_is_not() {
        let root = FOLDERS[0];
        let text = format!("let p = \"{root}x\";\nlet q = \"a{root}x\";\n");
        let findings = check(&Tree::of(&[("a.rs", &text)]));
        assert_eq!(findings.iter().map(|f| f.line).collect::<Vec<_>>(), [1]);
    }
}
