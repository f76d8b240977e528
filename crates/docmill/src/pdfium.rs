//! Where the second engine for PDF files lies, if it is there. Loading it is the business of a sandboxed child.

use std::path::PathBuf;

use docmill_core::config::Settings;
use docmill_core::{Error, Result};

use crate::models::PDFIUM;

/// pdfium as it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    library: PathBuf,
    /// Everything about it that text depends on.
    pub(crate) identity: String,
}

impl Found {
    /// The arguments of a child that loads it.
    pub(crate) fn arguments(&self) -> [String; 2] {
        ["--pdfium".to_owned(), self.library.to_string_lossy().into_owned()]
    }
}

/// Looks for it: where the settings say, or among the models. docmill works without it.
pub(crate) fn find(settings: &Settings) -> Result<Option<Found>> {
    let named = &settings.pdfium;
    if named.as_os_str().is_empty() {
        let Some(folder) = PDFIUM.find(&settings.data) else { return Ok(None) };
        let library = PDFIUM.files.first().map(|file| folder.join(file.name));
        return Ok(library.map(|library| Found { library, identity: PDFIUM.name.to_owned() }));
    }
    match std::fs::metadata(named) {
        Ok(metadata) if metadata.is_file() => {
            Ok(Some(Found { library: named.clone(), identity: format!("pdfium:{}", metadata.len()) }))
        }
        Ok(_) => {
            Err(Error::invalid_config(format!("`read.pdfium` is `{}`, which is no file", named.display()))
                .with_hint("name `libpdfium.so` itself, or leave it empty"))
        }
        Err(e) => Err(Error::invalid_config(format!(
            "`read.pdfium` is `{}`, which cannot be used",
            named.display()
        ))
        .with_hint("name a file that is there, or leave it empty")
        .with_source(e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_takes_the_file_that_is_named_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::new(folder.path().join("data"));
        assert_eq!(find(&settings).unwrap(), None);
        settings.pdfium = folder.path().join("libpdfium.so");
        assert!(find(&settings).unwrap_err().message().contains("read.pdfium"));
        std::fs::write(&settings.pdfium, "12345").unwrap();
        let found = find(&settings).unwrap().unwrap();
        assert_eq!(found.identity, "pdfium:5");
        assert_eq!(found.arguments()[1], settings.pdfium.to_str().unwrap());
        settings.pdfium = folder.path().to_owned();
        assert!(find(&settings).unwrap_err().message().contains("no file"));
    }
}
