//! Pages made from code. Each is written by `cargo xtask gen`, committed, and held against the code by
//! `gen --check`, so that no reference page outlives what it describes.

mod commands;
mod errors;
mod state_machine;

use std::fs;

use anyhow::{Context, Result};

use crate::tree;

/// A page and how to make it.
type Page = (&'static str, fn() -> Result<String>);

const PAGES: &[Page] = &[
    ("docs/state-machine.md", || Ok(marked(&state_machine::page()))),
    ("docs/reference/errors.md", || Ok(marked(&errors::page()))),
    // The binary prints this page too, so it carries a mark of its own.
    ("docs/reference/config.md", || Ok(docmill_core::config::reference())),
    ("docs/reference/metrics.md", || Ok(marked(&docmill_core::metrics::reference()))),
    ("docs/reference/cli.md", || Ok(marked(&commands::page()?))),
    // JSON has no place for a mark.
    ("docs/reference/openapi.json", commands::openapi),
];

/// A page with the remark that it is made.
fn marked(page: &str) -> String {
    format!("<!-- Made by `cargo xtask gen`; change the code it is made from, not this page. -->\n\n{page}")
}

/// Writes every page.
pub(crate) fn write() -> Result<bool> {
    for (path, make) in PAGES {
        let file = tree::root().join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&file, make()?).with_context(|| format!("cannot write {path}"))?;
        println!("{path}");
    }
    Ok(true)
}

/// Names every page that is out of date; true if none is.
pub(crate) fn check() -> Result<bool> {
    let mut current = true;
    for (path, make) in PAGES {
        if !is_current(path, &make()?) {
            println!("{path}: out of date; run `cargo xtask gen`");
            current = false;
        }
    }
    Ok(current)
}

/// A page that cannot be read is not current; writing it will say why.
fn is_current(path: &str, page: &str) -> bool {
    fs::read_to_string(tree::root().join(path)).is_ok_and(|committed| committed == page)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The other two need the binary; `gen --check` looks at them.
    #[test]
    fn pages_made_from_core_are_current() {
        let needs_binary = ["docs/reference/cli.md", "docs/reference/openapi.json"];
        for (path, make) in PAGES.iter().filter(|(path, _)| !needs_binary.contains(path)) {
            assert!(is_current(path, &make().unwrap()), "{path} is out of date; run `cargo xtask gen`");
        }
    }
}
