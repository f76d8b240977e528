//! Migrations are numbered with four digits, without gaps, so that their order is the order of their names.

use std::collections::BTreeMap;

use super::Finding;
use crate::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut engines: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, _) in tree.under("migrations", "sql") {
        let Some((engine, name)) = path.trim_start_matches("migrations/").split_once('/') else {
            return vec![Finding::in_file(path, "belongs in a folder named after its database")];
        };
        // The dump of what all migrations give stands beside them.
        if name != "schema.sql" {
            engines.entry(engine).or_default().push((path, name));
        }
    }
    let mut findings = Vec::new();
    for files in engines.values() {
        for (number, (path, name)) in (1..).zip(files) {
            if !name.starts_with(&format!("{number:04}_")) {
                findings.push(Finding::in_file(path, format!("its name should begin with `{number:04}_`")));
            }
        }
    }
    // Both databases have the same tables, so they have the same migrations.
    let names: Vec<Vec<&str>> =
        engines.values().map(|files| files.iter().map(|(_, name)| *name).collect()).collect();
    if names.windows(2).any(|pair| pair[0] != pair[1]) {
        findings.push(Finding::in_file("migrations", "the databases have different migrations"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_missing_pairs_are_found() {
        let tree = Tree::of(&[
            ("migrations/postgres/0001_tables.sql", ""),
            ("migrations/sqlite/0001_tables.sql", ""),
            ("migrations/sqlite/0003_more.sql", ""),
            ("migrations/sqlite/schema.sql", ""),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| f.message).collect();
        assert_eq!(found, ["its name should begin with `0002_`", "the databases have different migrations"]);
    }
}
