//! The checkout as text: every file a person wrote, read once. The tidy checks see only this, so each of them is
//! a plain function that a test can call on three lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use walkdir::{DirEntry, WalkDir};

/// Folders that no person wrote.
const SKIPPED: &[&str] = &["target", "node_modules", "dist", "__pycache__"];
/// A file larger than this is data, not text.
const MAX_BYTES: u64 = 4 << 20;

/// Where the checkout lies. What Cargo says at the start wins: two checkouts may share one folder of built programs.
pub(crate) fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Paths relative to the checkout, with `/`, and their contents. Files that are not text have none.
#[derive(Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the checkout at `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        let walk = WalkDir::new(root).into_iter().filter_entry(|e| e.depth() == 0 || !skipped(e));
        for entry in walk {
            let entry = entry.context("cannot walk the checkout")?;
            if !entry.file_type().is_file() {
                continue;
            }
            let relative = entry.path().strip_prefix(root)?.to_string_lossy().replace('\\', "/");
            let text = if entry.metadata()?.len() > MAX_BYTES {
                None
            } else {
                let bytes = fs::read(entry.path()).with_context(|| format!("cannot read {relative}"))?;
                String::from_utf8(bytes).ok()
            };
            files.insert(relative, text);
        }
        Ok(Self { files })
    }

    /// Every text file.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Text files under `folder` with the extension `ext`.
    pub(crate) fn under(&self, folder: &str, ext: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| {
            path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
                && path.rsplit_once('.').is_some_and(|(_, e)| e == ext)
        })
    }

    /// One file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether a file or a folder of that name is there.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        self.files.contains_key(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(p, _)| p.starts_with(&folder))
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(p, t)| ((*p).to_owned(), Some((*t).to_owned()))).collect() }
    }
}

/// Generated folders, and what a tool keeps in a hidden folder of its own. `.git` is a file where the checkout is
/// one of several.
fn skipped(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    if name == ".git" {
        return true;
    }
    entry.file_type().is_dir()
        && (SKIPPED.contains(&name.as_ref())
            || (name.starts_with('.') && ![".cargo", ".ci", ".config", ".githooks"].contains(&name.as_ref())))
}
