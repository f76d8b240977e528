//! Pages that the product prints about itself: its commands and its settings.

use anyhow::Result;

use crate::process::output;

/// `docs/reference/cli.md`.
pub(super) fn cli() -> Result<String> {
    docmill(&["markdown-help"])
}

/// `docs/reference/config.md`.
pub(super) fn config() -> Result<String> {
    docmill(&["config", "reference"])
}

fn docmill(args: &[&str]) -> Result<String> {
    let mut all = vec!["run", "--quiet", "--locked", "--package", "docmill", "--"];
    all.extend(args);
    output("cargo", &all)
}
