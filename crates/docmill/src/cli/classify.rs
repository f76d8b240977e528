//! `docmill classify`: what files are and say, found out from their text alone; nothing is stored.

use std::fs::File;
use std::path::{Path, PathBuf};

use docmill_core::answer::ReadAnswer;
use docmill_core::clock::Timestamp;
use docmill_core::limits::{MIB, read_capped};
use docmill_core::text::shown;
use docmill_core::understanding::Understanding;
use docmill_core::{Error, Result};
use docmill_understand::fewshot::MAX_EXAMPLES;
use docmill_understand::labels::LabelSet;
use docmill_understand::{Known, Local, Page};
use futures::StreamExt;
use serde::Serialize;

use super::reading::{Reading, When};
use crate::context::{Context, Exit, report};
use crate::ingest::walk::show;

/// A file of labels; examples are named in it, not part of it.
const MAX_LABELS_BYTES: u64 = MIB;

/// An example of a label.
const MAX_EXAMPLE_BYTES: u64 = MIB;

/// Print what files are and say: title, summary, date, type, tags, labels; nothing is stored
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files to classify
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Label sets to try instead of those that are built in
    #[arg(long, value_name = "FILE")]
    labels: Vec<PathBuf>,
    #[command(flatten)]
    when: When,
}

/// What is printed of one file.
#[derive(Serialize)]
struct Answer {
    path: String,
    media_type: String,
    language: Option<String>,
    title: Option<String>,
    #[serde(flatten)]
    understanding: Understanding,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        // Mistakes in label sets are told before anything is read.
        let local = if self.labels.is_empty() {
            Local::new()?
        } else {
            Local::with(&self.labels.iter().map(|path| label_set(path)).collect::<Result<Vec<_>>>()?)?
        };
        let reading = Reading::start(cx, &self.when).await?;
        let outcome = self.print_all(cx, &reading, &local).await;
        reading.stop().await;
        outcome
    }

    async fn print_all(&self, cx: &Context, reading: &Reading, local: &Local) -> Result<Exit> {
        let mut exit = Exit::Ok;
        let mut answers = reading.all(&self.files);
        while let Some(read) = answers.next().await {
            match read.and_then(|read| Answer::of(&read, local, cx.clock.now())) {
                Ok(answer) if cx.terminal.json => cx.terminal.object(&answer)?,
                Ok(answer) => cx.terminal.line(&human(&answer))?,
                Err(error) => {
                    report(&error);
                    exit = Exit::Error;
                }
            }
        }
        Ok(exit)
    }
}

/// A set from its file, with the texts of the example files that it names. Those lie beside it.
fn label_set(path: &Path) -> Result<LabelSet> {
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

impl Answer {
    fn of(read: &ReadAnswer, local: &Local, now: Timestamp) -> Result<Self> {
        let pages: Vec<Page<'_>> =
            read.pages.iter().map(|page| Page { number: page.number, text: &page.text }).collect();
        let found = local.about(&Known {
            pages: &pages,
            media_type: &read.media_type,
            language: read.language.as_deref(),
            metadata: &read.metadata,
            name: &read.path,
            now,
        })?;
        Ok(Self {
            path: read.path.clone(),
            media_type: read.media_type.clone(),
            language: read.language.clone(),
            title: found.title,
            understanding: found.understanding,
        })
    }
}

fn human(answer: &Answer) -> String {
    let mut out = format!("{}: {}", shown(&answer.path), answer.media_type);
    let found = &answer.understanding;
    let mut line = |key: &'static str, value: Option<String>| {
        let Some(value) = value else { return };
        let how = found
            .evidence
            .get(key)
            .map(|e| format!("  ({}, {:.0} %)", e.method, e.confidence * 100.0))
            .unwrap_or_default();
        out.push_str(&format!("\n  {key:<9} {}{how}", shown(&value)));
    };
    line("title", answer.title.clone());
    line("type", found.kind.clone());
    line("date", found.date.clone());
    line("language", answer.language.clone());
    line("tags", (!found.tags.is_empty()).then(|| found.tags.join(", ")));
    line("summary", found.summary.clone());
    for (name, said) in &found.labels {
        let labels = if said.labels.is_empty() { "–".to_owned() } else { said.labels.join(", ") };
        let why = said.reason.clone().unwrap_or_else(|| {
            let matched: Vec<&str> = said.matched.iter().map(|m| m.keyword.as_str()).collect();
            let by = if matched.is_empty() { String::new() } else { format!(": {}", matched.join(", ")) };
            format!("{}, {:.0} %{by}", said.method, said.confidence * 100.0)
        });
        out.push_str(&format!("\n  {name}: {}  ({})", shown(&labels), shown(&why)));
    }
    out
}
