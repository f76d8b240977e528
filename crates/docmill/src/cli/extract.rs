//! `docmill extract`: the fields of files by a schema, each with the place it was taken from; nothing is stored.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docmill_core::extraction::EvidenceSource;
use docmill_core::limits::{MIB, read_capped};
use docmill_core::record::ExtractAnswer;
use docmill_core::text::shown;
use docmill_core::{Error, Result};
use docmill_extract::schema::Schema;
use docmill_extract::{Material, Sources, extract};
use docmill_pipeline::service::Examined;

use super::reading::{Reading, When};
use crate::context::{Context, Exit, report};
use crate::ingest::walk::show;
use crate::terminal::table;

/// A schema in a file of the user's.
const MAX_SCHEMA_BYTES: u64 = MIB;

/// A file of data that is looked at as a whole.
const MAX_DATA_BYTES: u64 = 32 * MIB;

/// Print the fields of files by a schema, with the places they were taken from; nothing is stored
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files to extract from
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A built-in schema, or a file with a JSON Schema
    #[arg(long, value_name = "NAME|FILE.json")]
    schema: String,
    /// What values may be taken from: what can be seen, data inside the file, or both
    #[arg(long, value_name = "SOURCES", default_value = "auto", value_parser = ["auto", "page", "embedded"])]
    sources: String,
    #[command(flatten)]
    when: When,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        // Mistakes in the schema are told before anything is read.
        let schema = Arc::new(schema(&self.schema)?);
        let sources = match self.sources.as_str() {
            "page" => Sources::Page,
            "embedded" => Sources::Embedded,
            _ => Sources::Auto,
        };
        let reading = Reading::start(cx, &self.when).await?;
        let mut exit = Exit::Ok;
        for path in &self.files {
            match one(&reading, path, &schema, sources).await {
                Ok(answer) if cx.terminal.json => cx.terminal.object(&answer)?,
                Ok(answer) => cx.terminal.line(&human(&answer))?,
                Err(error) => {
                    report(&error);
                    exit = Exit::Error;
                }
            }
        }
        reading.stop().await;
        Ok(exit)
    }
}

async fn one(
    reading: &Reading,
    path: &Path,
    schema: &Arc<Schema>,
    sources: Sources,
) -> Result<ExtractAnswer> {
    let (examined, bytes) = reading.examine(path).await?;
    let data = match bytes {
        Some(bytes) => Some(bytes.to_vec()),
        None if examined.transcript.media_type.contains("xml") => Some(whole(path)?),
        None => None,
    };
    let (schema, path) = (Arc::clone(schema), path.to_string_lossy().into_owned());
    let working = move || {
        let extraction = extract(&schema, &material(&examined, data.as_deref()), sources);
        ExtractAnswer { path, extraction }
    };
    // Rules over thousands of words hold up whoever waits on this thread.
    let done = tokio::task::spawn_blocking(working).await;
    done.map_err(|e| Error::bug("extracting was cut short").with_source(e))
}

fn material<'a>(examined: &'a Examined, data: Option<&'a [u8]>) -> Material<'a> {
    let transcript = &examined.transcript;
    let inside = examined.attached.iter().map(|(_, bytes)| bytes.as_slice());
    Material {
        pages: &examined.words,
        texts: transcript.pages.iter().map(|page| (page.number, page.text.as_str())).collect(),
        data: data.into_iter().chain(inside).collect(),
        metadata: &transcript.metadata,
        media_type: &transcript.media_type,
    }
}

fn whole(path: &Path) -> Result<Vec<u8>> {
    let failed = |e| Error::unreadable(format!("`{}` cannot be read", show(path))).with_source(e);
    read_capped(File::open(path).map_err(failed)?, MAX_DATA_BYTES, &format!("`{}`", show(path)))
}

/// A schema by its name, or from its file.
fn schema(wanted: &str) -> Result<Schema> {
    let path = Path::new(wanted);
    let is_a_file = path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("json"));
    if !is_a_file {
        return Schema::built_in(wanted);
    }
    let failed = |e| Error::unreadable(format!("`{}` cannot be read", show(path))).with_source(e);
    let what = format!("`{}`", show(path));
    let bytes = read_capped(File::open(path).map_err(failed)?, MAX_SCHEMA_BYTES, &what)?;
    let text = String::from_utf8(bytes)
        .map_err(|e| Error::invalid_request(format!("{what} is not UTF-8")).with_source(e))?;
    Schema::parse(&text).map_err(|e| Error::invalid_request(format!("{what}: {}", e.message())))
}

pub(super) fn human(answer: &ExtractAnswer) -> String {
    let found = &answer.extraction;
    let verdict = match (found.fields.is_empty(), found.valid) {
        (true, _) => "nothing found",
        (false, true) => "valid",
        (false, false) => "to be looked at",
    };
    let sure = found.confidence * 100.0;
    let mut out = format!("{}: {}, {verdict}, {sure:.0} %", shown(&answer.path), found.schema);
    let rows: Vec<Vec<String>> = found
        .fields
        .iter()
        .map(|(name, field)| {
            let value = field.value.as_str().map_or_else(|| field.value.to_string(), str::to_owned);
            let place = field.evidence.first().map_or_else(
                || "nowhere".to_owned(),
                |at| match (at.source, at.page) {
                    (EvidenceSource::Page, Some(page)) => format!("page {page}"),
                    (EvidenceSource::Page, None) => "page".to_owned(),
                    (EvidenceSource::Embedded, _) => "data inside".to_owned(),
                    (EvidenceSource::Metadata, _) => "metadata".to_owned(),
                },
            );
            vec![
                name.clone(),
                shown(&value),
                format!("{:.0} %", field.confidence * 100.0),
                format!("{place}, {}", field.method),
            ]
        })
        .collect();
    if !rows.is_empty() {
        out.push('\n');
        out.push_str(&table(&["FIELD", "VALUE", "SURE", "FROM"], &rows));
    }
    for violation in &found.violations {
        out.push_str(&format!("\n{}: {}", violation.field, shown(&violation.message)));
    }
    out
}
