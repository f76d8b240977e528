//! What lies in the index directory, and whether it is ours to read.
//!
//! The index is derived. One that is damaged, or that another version of docmill wrote, is thrown away with
//! a warning and built again from the store. A directory that holds something else is never touched.

use std::fs::File;
use std::io;
use std::path::Path;

use docmill_core::limits::{KIB, read_capped};
use docmill_core::{Error, Result};
use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::OpenReadError;
use tantivy::schema::{
    BytesOptions, FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, IndexSettings, TantivyError};

use crate::search::stems::{LANGUAGES, Language};
use crate::search::words;

/// Raised by one whenever the schema or the rules of `words` or `stems` change; older indexes are then built again.
const VERSION: u32 = 2;

/// The names of fields that are columns as well.
pub(super) const MEDIA_TYPE: &str = "media_type";
pub(super) const DOCUMENT_TYPE: &str = "document_type";
pub(super) const LANGUAGE: &str = "language";
pub(super) const TAG: &str = "tag";
pub(super) const DATE: &str = "date";

/// Beside Tantivy's own files; it also says that this directory is an index of docmill.
const MARKER: &str = "docmill-index.json";

/// Tantivy's own list of what belongs to the index.
const META: &str = "meta.json";

#[derive(Serialize, Deserialize)]
struct Marker {
    version: u32,
}

/// The fields of the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// Tenant and document id, 32 bytes: what is replaced, removed and given back. The tenant is part of it,
    /// so that no tenant can touch another's document even with its id.
    pub(super) key: Field,
    /// Whose it is; every query insists on it.
    pub(super) tenant: Field,
    /// The words of the file name.
    pub(super) name: Field,
    /// The file name as it is, for filters.
    pub(super) exact_name: Field,
    /// The words of the title.
    pub(super) title: Field,
    /// The words of the media type and of the type, so that `type:pdf` finds `application/pdf`.
    pub(super) kind: Field,
    /// The media type as it is, for filters and facets; and so are those that follow.
    pub(super) media_type: Field,
    pub(super) document_type: Field,
    pub(super) language: Field,
    pub(super) tag: Field,
    /// As a number: 20240309.
    pub(super) date: Field,
    /// The words of the tags.
    pub(super) tag_words: Field,
    /// The words of the text. Not stored: snippets are made from the transcript.
    pub(super) text: Field,
    /// The stems of title and text, in the field of the document's language.
    pub(super) stems: [Field; LANGUAGES.len()],
}

pub(super) fn schema() -> (Schema, Fields) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(words::NAME)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let words = TextOptions::default().set_indexing_options(indexing);
    let column = || STRING.set_fast("raw");
    let stems = |language: &Language| {
        // Phrases are exact, so nobody asks where a stem stands.
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(&stems_of(language))
            .set_index_option(IndexRecordOption::WithFreqs);
        TextOptions::default().set_indexing_options(indexing)
    };
    let mut schema = Schema::builder();
    let fields = Fields {
        key: schema.add_bytes_field("key", BytesOptions::default().set_indexed().set_stored()),
        tenant: schema.add_bytes_field("tenant", BytesOptions::default().set_indexed()),
        name: schema.add_text_field("name", words.clone()),
        exact_name: schema.add_text_field("exact_name", STRING),
        title: schema.add_text_field("title", words.clone()),
        kind: schema.add_text_field("type", words.clone()),
        media_type: schema.add_text_field(MEDIA_TYPE, column()),
        document_type: schema.add_text_field(DOCUMENT_TYPE, column()),
        language: schema.add_text_field(LANGUAGE, column()),
        tag: schema.add_text_field(TAG, column()),
        date: schema.add_u64_field(DATE, INDEXED | FAST),
        tag_words: schema.add_text_field("tag_words", words.clone()),
        text: schema.add_text_field("text", words),
        stems: LANGUAGES
            .each_ref()
            .map(|language| schema.add_text_field(&stems_of(language), stems(language))),
    };
    (schema.build(), fields)
}

/// The name of the field of a language, and of its rules.
fn stems_of(language: &Language) -> String {
    format!("stems_{}", language.code)
}

/// Opens the index in `dir`, or begins an empty one.
pub(super) fn open(dir: &Path) -> Result<(Index, Fields)> {
    std::fs::create_dir_all(dir).map_err(|e| unusable(dir, e))?;
    let (schema, fields) = schema();
    let index = match load(dir, &schema)? {
        Found::Usable(index) => index,
        Found::Nothing => create(dir, schema)?,
        Found::Useless(why) => {
            tracing::warn!(dir = %dir.display(), why, "search index is thrown away and built again");
            remove_files(dir)?;
            create(dir, schema)?
        }
    };
    index.tokenizers().register(words::NAME, words::analyzer());
    for language in &LANGUAGES {
        index.tokenizers().register(&stems_of(language), language.analyzer());
    }
    Ok((index, fields))
}

enum Found {
    Usable(Index),
    Nothing,
    Useless(String),
}

fn load(dir: &Path, schema: &Schema) -> Result<Found> {
    let names = file_names(dir)?;
    if names.is_empty() {
        return Ok(Found::Nothing);
    }
    let has = |name: &str| names.iter().any(|n| n == name);
    if !has(MARKER) {
        return if has(META) {
            Ok(Found::Useless(format!("`{MARKER}` is missing")))
        } else {
            Err(Error::invalid_config(format!("`{}` holds files that are no search index", dir.display()))
                .with_hint("point `search.url` at an empty directory"))
        };
    }
    match read_marker(dir)? {
        Some(Marker { version: VERSION }) => {}
        Some(Marker { version }) => {
            return Ok(Found::Useless(format!("it has version {version}, this docmill writes {VERSION}")));
        }
        None => return Ok(Found::Useless(format!("`{MARKER}` cannot be understood"))),
    }
    if !has(META) {
        // Stopped between marker and index.
        return Ok(Found::Useless(format!("`{META}` is missing")));
    }
    // Making a reader opens every file of the index and reads how each one ends.
    match Index::open_in_dir(dir).and_then(|index| index.reader().map(|_| index)) {
        Ok(index) if index.schema() == *schema => match super::watermark(&index) {
            Ok(_) => Ok(Found::Usable(index)),
            Err(e) => Ok(Found::Useless(e.chain())),
        },
        Ok(_) => Ok(Found::Useless("its fields are not the ones of this docmill".into())),
        Err(e) if is_damage(&e) => Ok(Found::Useless(e.to_string())),
        Err(e) => Err(super::failure("open", dir, e)),
    }
}

/// Whether building the index again would help. A missing right or a full table of open files is no damage.
fn is_damage(error: &TantivyError) -> bool {
    match error {
        TantivyError::IoError(e) => {
            matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData)
        }
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
            matches!(io_error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData)
        }
        TantivyError::OpenReadError(_)
        | TantivyError::DataCorruption(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::SchemaError(_)
        | TantivyError::InvalidArgument(_)
        | TantivyError::InternalError(_)
        | TantivyError::DeserializeError(_) => true,
        _ => false,
    }
}

fn create(dir: &Path, schema: Schema) -> Result<Index> {
    write_marker(dir)?;
    let directory = MmapDirectory::open(dir).map_err(|e| super::failure("open", dir, e.into()))?;
    Index::create(directory, schema, IndexSettings::default()).map_err(|e| super::failure("create", dir, e))
}

fn read_marker(dir: &Path) -> Result<Option<Marker>> {
    let file = File::open(dir.join(MARKER)).map_err(|e| unusable(dir, e))?;
    let bytes = read_capped(file, 4 * KIB, MARKER)?;
    Ok(serde_json::from_slice(&bytes).ok())
}

fn write_marker(dir: &Path) -> Result<()> {
    let marker = serde_json::to_vec(&Marker { version: VERSION })
        .map_err(|e| Error::bug("the index marker cannot be written as JSON").with_source(e))?;
    std::fs::write(dir.join(MARKER), marker).map_err(|e| unusable(dir, e))
}

fn file_names(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| unusable(dir, e))? {
        let entry = entry.map_err(|e| unusable(dir, e))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

/// An index is a flat directory: folders in it are not ours and stay. The marker goes last, so that a
/// directory half emptied is still known as an index.
fn remove_files(dir: &Path) -> Result<()> {
    for name in file_names(dir)?.iter().filter(|name| *name != MARKER) {
        let path = dir.join(name);
        let meta = std::fs::symlink_metadata(&path).map_err(|e| unusable(dir, e))?;
        if !meta.is_dir() {
            std::fs::remove_file(&path).map_err(|e| unusable(dir, e))?;
        }
    }
    match std::fs::remove_file(dir.join(MARKER)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(unusable(dir, e)),
        _ => Ok(()),
    }
}

fn unusable(dir: &Path, error: io::Error) -> Error {
    super::failure("use", dir, TantivyError::from(error))
}
