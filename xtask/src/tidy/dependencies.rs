//! Which of our crates may use which. The compiler enforces what the manifests say; this enforces what the
//! manifests may say.

use toml::Table;

use super::Finding;
use crate::tree::Tree;

/// Manifest, and the crates of ours that it may use outside tests.
const ALLOWED: &[(&str, &[&str])] = &[
    ("crates/core/Cargo.toml", &[]),
    ("crates/extract/Cargo.toml", &["docmill-core"]),
    ("crates/formats/Cargo.toml", &["docmill-core"]),
    ("crates/generate/Cargo.toml", &["docmill-core"]),
    ("crates/understand/Cargo.toml", &["docmill-core"]),
    ("crates/backends/Cargo.toml", &["docmill-core"]),
    ("crates/pipeline/Cargo.toml", &["docmill-core"]),
    ("crates/server/Cargo.toml", &["docmill-core", "docmill-pipeline"]),
    (
        "crates/docmill/Cargo.toml",
        &[
            "docmill-core",
            "docmill-extract",
            "docmill-formats",
            "docmill-generate",
            "docmill-understand",
            "docmill-backends",
            "docmill-pipeline",
            "docmill-server",
        ],
    ),
    ("testkit/Cargo.toml", &["docmill-core"]),
    ("xtask/Cargo.toml", &["docmill-core"]),
];
const ROOT: &str = "Cargo.toml";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = check_members(tree);
    for (path, allowed) in ALLOWED {
        let Some(manifest) = parse(tree, path, &mut findings) else { continue };
        for section in ["dependencies", "build-dependencies"] {
            for name in manifest.get(section).and_then(|s| s.as_table()).into_iter().flat_map(|t| t.keys()) {
                if name.starts_with("docmill-") && !allowed.contains(&name.as_str()) {
                    findings.push(Finding::in_file(
                        path,
                        format!("may not depend on `{name}` (see ARCHITECTURE.md)"),
                    ));
                }
            }
        }
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (name, wanted) in manifest.get(section).and_then(|s| s.as_table()).into_iter().flatten() {
                if wanted.is_str() || wanted.get("version").is_some() {
                    findings.push(Finding::in_file(
                        path,
                        format!("`{name}`: versions belong to the workspace table"),
                    ));
                }
            }
        }
        if manifest.get("lints").and_then(|l| l.get("workspace")).and_then(toml::Value::as_bool) != Some(true)
        {
            findings.push(Finding::in_file(
                path,
                "must take the lints of the workspace: [lints] workspace = true",
            ));
        }
    }
    findings
}

/// Every member has a row above, so that a new crate is a decision and not an accident.
fn check_members(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(root) = parse(tree, ROOT, &mut findings) else { return findings };
    let members = root.get("workspace").and_then(|w| w.get("members")).and_then(|m| m.as_array());
    for member in members.into_iter().flatten().filter_map(toml::Value::as_str) {
        if !ALLOWED.iter().any(|(path, _)| *path == format!("{member}/Cargo.toml")) {
            findings.push(Finding::in_file(
                ROOT,
                format!("`{member}` has no row in xtask/src/tidy/dependencies.rs"),
            ));
        }
    }
    findings
}

fn parse(tree: &Tree, path: &str, findings: &mut Vec<Finding>) -> Option<Table> {
    let parsed = tree.text(path).map(str::parse::<Table>);
    match parsed {
        Some(Ok(manifest)) => return Some(manifest),
        Some(Err(error)) => {
            findings.push(Finding::in_file(path, format!("cannot be parsed: {}", error.message())));
        }
        None => findings.push(Finding::in_file(path, "missing")),
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_direction_is_found() {
        let manifest = "[lints]\nworkspace = true\n[dependencies]\ndocmill-backends.workspace = true\n\
                        [dev-dependencies]\ndocmill-testkit.workspace = true\n";
        let tree = Tree::of(&[("crates/pipeline/Cargo.toml", manifest)]);
        let found = check(&tree);
        let about_pipeline: Vec<_> = found.iter().filter(|f| f.path.contains("pipeline")).collect();
        assert_eq!(about_pipeline.len(), 1);
        assert!(about_pipeline[0].message.contains("may not depend on `docmill-backends`"));
    }
}
