//! Pages made from code. Each is written by `cargo xtask gen`, committed, and held against the code by
//! `gen --check`, so that no reference page outlives what it describes.

mod errors;
mod from_binary;
mod state_machine;

use std::fs;

use anyhow::{Context, Result};

use crate::tree;

/// A page and how to make it.
type Page = (&'static str, fn() -> Result<String>);

const PAGES: &[Page] = &[
    ("docs/state-machine.md", || Ok(state_machine::page())),
    ("docs/reference/errors.md", || Ok(errors::page())),
    ("docs/reference/cli.md", from_binary::cli),
    ("docs/reference/config.md", from_binary::config),
];

/// The first line of every generated page.
const MARK: &str = "<!-- Made by `cargo xtask gen`; change the code it is made from, not this page. -->\n\n";

/// Writes every page.
pub(crate) fn write() -> Result<bool> {
    for (path, make) in PAGES {
        let file = tree::root().join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let page = MARK.to_owned() + &make()?;
        fs::write(&file, page).with_context(|| format!("cannot write {path}"))?;
        println!("{path}");
    }
    Ok(true)
}

/// Names every page that is out of date; true if none is.
pub(crate) fn check() -> Result<bool> {
    let mut current = true;
    for (path, make) in PAGES {
        let page = MARK.to_owned() + &make()?;
        let committed = fs::read_to_string(tree::root().join(path)).unwrap_or_default();
        if committed != page {
            println!("{path}: out of date; run `cargo xtask gen`");
            current = false;
        }
    }
    Ok(current)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages that need no binary; the others are checked by `gen --check`.
    #[test]
    fn pages_made_from_core_are_current() {
        for (path, page) in
            [("docs/state-machine.md", state_machine::page()), ("docs/reference/errors.md", errors::page())]
        {
            let committed = fs::read_to_string(tree::root().join(path)).unwrap_or_default();
            assert!(committed == MARK.to_owned() + &page, "{path} is out of date; run `cargo xtask gen`");
        }
    }
}
