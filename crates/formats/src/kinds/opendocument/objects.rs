//! The list of parts: what is encrypted, and which objects are embedded.

use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::shared::compound;
use crate::shared::document::Troubles;
use crate::shared::members::Members;
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};
use crate::sink::Sink;

const MANIFEST: &str = "META-INF/manifest.xml";

/// An object is unwrapped in memory.
const MAX_OBJECT_BYTES: u64 = 256 << 20;

/// Objects beyond this are passed over as text.
const MAX_INNER: usize = 1000;

/// Objects that are files, by what the list of parts says of them.
const OBJECTS: &[&str] =
    &["application/vnd.sun.star.oleobject", "application/octet-stream", "application/pdf"];

/// What the list of parts says.
#[derive(Default)]
pub(super) struct Manifest {
    /// Parts that are files of other programs.
    files: Vec<String>,
    /// Folders that hold a document.
    documents: Vec<String>,
}

impl Manifest {
    /// Reads it; an error where the document needs a password.
    pub(super) fn read(
        package: &mut Package<'_>,
        limits: &ReadLimits,
        troubles: &mut Troubles,
    ) -> Result<Self> {
        let mut manifest = Self::default();
        let part = match package.part(MANIFEST) {
            Ok(Some(part)) => part,
            Ok(None) => return Ok(manifest),
            Err(e) => {
                troubles.note(Err(e))?;
                return Ok(manifest);
            }
        };
        let mut xml = Xml::new(part, MANIFEST, limits);
        loop {
            match xml.next() {
                Node::Open(tag) => match tag.name() {
                    "encryption-data" => {
                        return Err(Error::encrypted("the document is encrypted; a password is needed"));
                    }
                    "file-entry" => {
                        let path = tag.get("full-path").unwrap_or_default();
                        let kind = tag.get("media-type").unwrap_or_default();
                        if let Some(folder) = path.strip_suffix('/') {
                            if !folder.is_empty()
                                && kind.starts_with("application/vnd.")
                                && !folder.contains('/')
                            {
                                manifest.documents.push(folder.to_owned());
                            }
                        } else if OBJECTS.contains(&kind.as_str()) && !path.contains('/') {
                            manifest.files.push(path);
                        }
                    }
                    _ => {}
                },
                Node::End => break,
                _ => {}
            }
        }
        troubles.note(xml.finish())?;
        Ok(manifest)
    }

    /// The main parts of the documents inside this one.
    pub(super) fn inner_documents(&self, package: &Package<'_>) -> Vec<String> {
        self.documents
            .iter()
            .map(|folder| format!("{folder}/content.xml"))
            .filter(|name| package.has(name))
            .take(MAX_INNER)
            .collect()
    }
}

/// Gives the embedded files.
pub(super) fn give(
    package: &mut Package<'_>,
    manifest: &Manifest,
    want: Want,
    sink: &mut dyn Sink,
) -> Result<()> {
    if !(want.children || want.listing) {
        return Ok(());
    }
    let files: Vec<&String> = manifest.files.iter().filter(|name| package.has(name)).collect();
    let mut members = Members::new(sink, want);
    if members.wants_bytes() {
        members.sink().put(Found::Declared(files.len() as u64))?;
    }
    for name in files {
        match package.whole(name, MAX_OBJECT_BYTES) {
            Ok(bytes) => {
                let object = compound::unwrap_object(bytes.unwrap_or_default(), name);
                members.begin(&object.name, Some(object.bytes.len() as u64))?;
                members.write(&object.bytes)?;
                members.end()?;
            }
            Err(e) => members.refuse(name, &e)?,
        }
    }
    Ok(())
}
