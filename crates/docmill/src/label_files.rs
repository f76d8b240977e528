//! Label sets from files: those that are named, and those that documents are sorted by as they come in.

use std::fs::File;
use std::path::Path;

use docmill_core::config::UnderstandSettings;
use docmill_core::limits::{MIB, read_capped};
use docmill_core::{Error, Result};
use docmill_understand::fewshot::MAX_EXAMPLES;
use docmill_understand::labels::{LabelSet, builtin};

use crate::ingest::walk::show;

/// A file of labels; examples are named in it, not part of it.
const MAX_LABELS_BYTES: u64 = MIB;

/// An example of a label.
const MAX_EXAMPLE_BYTES: u64 = MIB;

/// The sets that are built in and those that the settings name. One of the same name takes the place of the one before.
pub(crate) fn all(settings: &UnderstandSettings) -> Result<Vec<LabelSet>> {
    let mut sets = builtin()?;
    for path in &settings.labels {
        let set = read(Path::new(path))?;
        match sets.iter_mut().find(|known| known.name == set.name) {
            Some(known) => *known = set,
            None => sets.push(set),
        }
    }
    Ok(sets)
}

/// A set from its file, with the texts of the example files that it names. Those lie beside it.
pub(crate) fn read(path: &Path) -> Result<LabelSet> {
    let text = read_text(path, MAX_LABELS_BYTES)?;
    let mut set = LabelSet::parse(&text)
        .map_err(|e| Error::invalid_config(format!("`{}`: {}", show(path), e.message())))?;
    // Before any of them is read: what cannot be learnt from must not fill the memory.
    let named: usize = set.labels.iter().map(|label| label.files.len()).sum();
    if named > MAX_EXAMPLES {
        return Err(Error::limit_exceeded(format!(
            "`{}` names {named} example files, more than the {MAX_EXAMPLES} that can be learnt from",
            show(path)
        ))
        .with_hint("name fewer files: the clearest ones of each label"));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    for label in &mut set.labels {
        for file in &label.files {
            label.examples.push(read_text(&folder.join(file), MAX_EXAMPLE_BYTES)?);
        }
    }
    Ok(set)
}

fn read_text(path: &Path, limit: u64) -> Result<String> {
    let file = File::open(path)
        .map_err(|e| Error::unreadable(format!("`{}` cannot be read", show(path))).with_source(e))?;
    let bytes = read_capped(file, limit, &format!("`{}`", show(path)))?;
    String::from_utf8(bytes)
        .map_err(|e| Error::invalid_config(format!("`{}` is no UTF-8 text", show(path))).with_source(e))
}
