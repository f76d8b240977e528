//! `docmill extract`: the fields of files by a schema, each with the place it was taken from; nothing is stored.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use docmill_core::artifact::{TextSource, Transcript};
use docmill_core::call::Call;
use docmill_core::extraction::{EvidenceSource, Extraction};
use docmill_core::limits::{MIB, read_capped};
use docmill_core::ports::Llm;
use docmill_core::ports::extractor::Asking;
use docmill_core::record::{ExtractAnswer, SchemaAnswer, titled};
use docmill_core::text::shown;
use docmill_core::words::PageWords;
use docmill_core::{Error, ErrorKind, Result};
use docmill_extract::llm::Interview;
use docmill_extract::schema::Schema;
use docmill_extract::{Material, Sources, extract, layout, twice};
use docmill_pipeline::service::{Examined, distrusted};

use super::ask;
use super::reading::{Reading, When};
use super::schema::{is_file, stem};
use crate::context::{Context, Exit, report};
use crate::ingest::walk::show;
use crate::terminal::table;
use crate::wire;

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
    /// A schema that is built in or was added, or a file with a JSON Schema
    #[arg(long, value_name = "NAME|FILE.json")]
    schema: String,
    /// What values may be taken from: what can be seen, data inside the file, or both
    #[arg(long, value_name = "SOURCES", default_value = "auto", value_parser = ["auto", "page", "embedded"])]
    sources: String,
    /// How often a scan is read, at most: the second time in another way, if the first record is not good enough
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(1..=2))]
    tries: u8,
    #[command(flatten)]
    when: When,
}

/// What a record is taken by.
struct Task {
    schema: Arc<Schema>,
    sources: Sources,
    tries: u8,
    model: Option<Arc<dyn Llm>>,
    max_text: usize,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        // Mistakes in the schema are told before anything is read.
        let schema = Arc::new(schema(cx, &self.schema).await?);
        let sources = match self.sources.as_str() {
            "page" => Sources::Page,
            "embedded" => Sources::Embedded,
            _ => Sources::Auto,
        };
        let model = if sources == Sources::Embedded { None } else { wire::model(&cx.settings, &cx.clock)? };
        let max_text = usize::try_from(cx.settings.llm.max_text_bytes).unwrap_or(usize::MAX);
        let task = Task { schema, sources, tries: self.tries, model, max_text };
        let reading = Reading::start_quick(cx, &self.when).await?;
        let mut failed = 0;
        for path in &self.files {
            match one(&reading, path, &task).await {
                Ok(answer) if cx.terminal.json => cx.terminal.object(&answer)?,
                Ok(answer) => cx.terminal.line(&human(&answer))?,
                Err(error) => {
                    report(&error);
                    failed += 1;
                }
            }
        }
        reading.stop().await;
        Ok(Exit::of(self.files.len() - failed, failed))
    }
}

async fn one(reading: &Reading, path: &Path, task: &Task) -> Result<ExtractAnswer> {
    let (examined, bytes) = reading.examine(path).await?;
    let data = match bytes {
        Some(bytes) => Some(bytes.to_vec()),
        None if examined.transcript.media_type.contains("xml") => Some(whole(path)?),
        None => None,
    };
    let recognised = is_recognised(&examined.transcript);
    let (mut extraction, mut seen) = extracted(task, examined, data.clone()).await?;
    let scanned = recognised && task.sources != Sources::Embedded;
    if scanned && task.tries > 1 && twice::worthwhile(&extraction) {
        // What was found stands, whatever comes of the second reading.
        match reading.examine_again(path).await {
            Ok((again, _)) => {
                let (second, words) = extracted(task, again, data.clone()).await?;
                if second.confidence > extraction.confidence {
                    seen = words;
                }
                extraction = twice::better(&task.schema, &extraction, &second);
            }
            Err(error) => {
                report(&error);
            }
        }
    }
    if let Some(model) = &task.model {
        let pictures = shown_pages(reading, path, model.as_ref(), &seen.transcript).await;
        extraction = asked(model.as_ref(), task, &seen, data.as_deref(), extraction, pictures).await;
    }
    if seen.words.iter().any(PageWords::is_typed) {
        // Words of a text have no place on paper, and a box would tell of one.
        extraction
            .fields
            .values_mut()
            .flat_map(|field| &mut field.evidence)
            .for_each(|seen| seen.frame = None);
    }
    Ok(ExtractAnswer { path: path.to_string_lossy().into_owned(), extraction })
}

/// Whether recognition was asked about a page whose text is not the file's own. It may have found no word at all, which is
/// the best of reasons to look again.
fn is_recognised(transcript: &Transcript) -> bool {
    let from_pixels = |number: u32| {
        transcript.pages.iter().any(|page| page.number == number && page.source != TextSource::Native)
    };
    transcript.recognised.iter().any(|page| page.inline.is_none() && from_pixels(page.number))
}

/// What rules find. Over thousands of words they hold up whoever waits on this thread.
async fn extracted(
    task: &Task,
    mut examined: Examined,
    data: Option<Vec<u8>>,
) -> Result<(Extraction, Examined)> {
    let (schema, sources) = (Arc::clone(&task.schema), task.sources);
    if examined.words.is_empty() && !examined.transcript.media_type.contains("xml") {
        // Texts, mails and office files: lines and tables tell as much as places do.
        let native = examined.transcript.pages.iter().filter(|page| page.source == TextSource::Native);
        examined.words =
            native.take(layout::MAX_PAGES).map(|page| PageWords::typed(page.number, &page.text)).collect();
    }
    let working = move || {
        let extraction = extract(&schema, &material(&examined, data.as_deref()), sources);
        (extraction, examined)
    };
    let done = tokio::task::spawn_blocking(working).await;
    done.map_err(|e| Error::bug("extracting was cut short").with_source(e))
}

/// Pictures of the pages whose text is in their pixels, for a model that sees. Without them their text is sent.
async fn shown_pages(
    reading: &Reading,
    path: &Path,
    model: &dyn Llm,
    transcript: &Transcript,
) -> Vec<(u32, Bytes)> {
    if !model.sees() {
        return Vec::new();
    }
    reading.pictures(path, transcript).await.unwrap_or_else(|error| {
        report(&error);
        Vec::new()
    })
}

/// What rules and a model find together. A model that fails is told, and what rules found stands.
async fn asked(
    model: &dyn Llm,
    task: &Task,
    examined: &Examined,
    data: Option<&[u8]>,
    local: Extraction,
    pictures: Vec<(u32, Bytes)>,
) -> Extraction {
    let material = material(examined, data);
    let asking = Asking {
        all: true,
        max_bytes: task.max_text,
        pictures,
        // Words of a text have no box, and nobody could be shown one.
        unplaced: examined.words.iter().any(PageWords::is_typed),
        distrusted: distrusted(material.texts.iter().map(|(_, text)| *text)),
    };
    let mut interview = Interview::new(&task.schema, &material, local, asking);
    while let Some(question) = interview.question() {
        interview.take(model.ask(&question).await);
    }
    let outcome = interview.finish();
    if let Some(problem) = &outcome.problem {
        report(problem);
    }
    outcome.extraction
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
async fn schema(cx: &Context, wanted: &str) -> Result<Schema> {
    let path = Path::new(wanted);
    if Schema::names().any(|name| name == wanted) {
        return Schema::built_in(wanted);
    }
    if !is_file(path) {
        return stored(cx, wanted).await;
    }
    let failed = |e| Error::unreadable(format!("`{}` cannot be read", show(path))).with_source(e);
    let what = format!("`{}`", show(path));
    let bytes = read_capped(File::open(path).map_err(failed)?, MAX_SCHEMA_BYTES, &what)?;
    let text = String::from_utf8(bytes)
        .map_err(|e| Error::invalid_request(format!("{what} is not UTF-8")).with_source(e))?;
    Schema::parse(&titled(&text, &stem(path)))
        .map_err(|e| Error::invalid_request(format!("{what}: {}", e.message())))
}

/// A schema that somebody has added. Where there is no store yet there is none, and none is made to look.
async fn stored(cx: &Context, name: &str) -> Result<Schema> {
    if wire::is_embedded(&cx.settings) && !cx.settings.data.is_dir() {
        return Schema::built_in(name);
    }
    let asked: Result<SchemaAnswer> = ask(cx, "extract", Call::Schema { name: name.to_owned() }).await;
    match asked {
        Ok(answer) => Schema::parse(&titled(&answer.schema.to_string(), name)),
        // Said as of any name that nobody knows.
        Err(error) if error.kind() == ErrorKind::NotFound => Schema::built_in(name),
        Err(error) => Err(error),
    }
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
