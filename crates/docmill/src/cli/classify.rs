//! `docmill classify`: what files are and say, found out from their text alone; nothing is stored.

use std::path::PathBuf;
use std::sync::Arc;

use docmill_backends::child::MAX_TEXTS;
use docmill_core::answer::ReadAnswer;
use docmill_core::clock::Timestamp;
use docmill_core::id::TenantId;
use docmill_core::ports::Embedder;
use docmill_core::text::shown;
use docmill_core::understanding::Understanding;
use docmill_core::{Error, Result};
use docmill_understand::labels::{self, LabelSet};
use docmill_understand::{Known, Local, Model, Page};
use futures::StreamExt;
use serde::Serialize;
use tokio::runtime::Handle;
use uuid::Uuid;

use super::reading::{Reading, When};
use crate::context::{Context, Exit, report};
use crate::{label_files, wire};

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
        let sets = if self.labels.is_empty() {
            label_files::all(&cx.settings.understand)?
        } else {
            self.labels.iter().map(|path| label_files::read(path)).collect::<Result<Vec<_>>>()?
        };
        let embedder = wire::embedder(&cx.settings, &cx.clock)?;
        let outcome = self.classify(cx, sets, &embedder).await;
        embedder.shutdown().await;
        outcome
    }

    async fn classify(
        &self,
        cx: &Context,
        sets: Vec<LabelSet>,
        embedder: &Arc<dyn Embedder>,
    ) -> Result<Exit> {
        let model = embedder.available().is_ok().then(|| Children::model(embedder));
        let local = waiting(move || Local::with(&sets, model).map(Arc::new)).await?;
        let reading = Reading::start(cx, &self.when).await?;
        let outcome = self.print_all(cx, &reading, &local).await;
        reading.stop().await;
        outcome
    }

    async fn print_all(&self, cx: &Context, reading: &Reading, local: &Arc<Local>) -> Result<Exit> {
        let mut failed = 0;
        let mut answers = reading.all(&self.files);
        while let Some(read) = answers.next().await {
            let answer = match read {
                Ok(read) => {
                    let (local, now) = (Arc::clone(local), cx.clock.now());
                    waiting(move || Answer::of(&read, &local, now)).await
                }
                Err(error) => Err(error),
            };
            match answer {
                Ok(answer) if cx.terminal.json => cx.terminal.object(&answer)?,
                Ok(answer) => cx.terminal.line(&human(&answer))?,
                Err(error) => {
                    report(&error);
                    failed += 1;
                }
            }
        }
        Ok(Exit::of(self.files.len() - failed, failed))
    }
}

/// Does what may wait for a model, where waiting holds nobody up.
async fn waiting<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| Error::bug("classifying was cut short").with_source(e))?
}

/// The children that embed, for whoever waits for them.
struct Children {
    embedder: Arc<dyn Embedder>,
    runtime: Handle,
}

impl Children {
    fn model(embedder: &Arc<dyn Embedder>) -> Model {
        Box::new(Self { embedder: Arc::clone(embedder), runtime: Handle::current() })
    }
}

impl labels::Embedder for Children {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(MAX_TEXTS) {
            let batch = batch.iter().map(|text| (*text).to_owned()).collect();
            vectors.extend(self.runtime.block_on(self.embedder.embed(TenantId(Uuid::nil()), batch))?);
        }
        Ok(vectors)
    }
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
            understanding: found.understanding.shown(),
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
