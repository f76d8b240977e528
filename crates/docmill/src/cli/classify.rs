//! `docmill classify`: what files are and say, found out from their text alone; nothing is stored.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use docmill_core::answer::ReadAnswer;
use docmill_core::clock::Timestamp;
use docmill_core::limits::{MIB, read_capped};
use docmill_core::text::shown;
use docmill_core::{Error, Result};
use docmill_understand::fewshot::MAX_EXAMPLES;
use docmill_understand::labels::{LabelSet, Labelled, Prepared, builtin};
use docmill_understand::{Document, Guess, Knowledge, Page, Understanding};
use futures::StreamExt;
use jiff::civil::Date;
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
    summary: Option<String>,
    date: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    tags: Vec<String>,
    labels: BTreeMap<String, Labelled>,
    /// How sure each of them is, and how it was found.
    evidence: BTreeMap<&'static str, Evidence>,
}

#[derive(Serialize)]
struct Evidence {
    confidence: f32,
    method: &'static str,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        // Mistakes in label sets are told before anything is read.
        let classifier = Classifier::new(&self.labels, cx.clock.now())?;
        let reading = Reading::start(cx, &self.when).await?;
        let outcome = self.print_all(cx, &reading, &classifier).await;
        reading.stop().await;
        outcome
    }

    async fn print_all(&self, cx: &Context, reading: &Reading, classifier: &Classifier) -> Result<Exit> {
        let mut exit = Exit::Ok;
        let mut answers = reading.all(&self.files);
        while let Some(read) = answers.next().await {
            match read.and_then(|read| classifier.classify(&read)) {
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

/// What files are classified with.
struct Classifier {
    knowledge: Knowledge,
    sets: Vec<Prepared>,
    today: Option<Date>,
}

impl Classifier {
    fn new(labels: &[PathBuf], now: Timestamp) -> Result<Self> {
        let sets = if labels.is_empty() {
            builtin()?
        } else {
            labels.iter().map(|path| label_set(path)).collect::<Result<_>>()?
        };
        let sets = sets.iter().map(|set| set.prepare(None)).collect::<Result<_>>()?;
        let today = jiff::Timestamp::from_millisecond(now.0)
            .ok()
            .map(|now| now.to_zoned(jiff::tz::TimeZone::UTC).date());
        Ok(Self { knowledge: Knowledge::load()?, sets, today })
    }

    fn classify(&self, read: &ReadAnswer) -> Result<Answer> {
        let pages: Vec<Page<'_>> =
            read.pages.iter().map(|page| Page { number: page.number, text: &page.text }).collect();
        let name = Path::new(&read.path).file_name().map(|name| name.to_string_lossy().into_owned());
        let said = |key: &str| read.metadata.get(key).map(String::as_str);
        // The subject of other documents is what they are about, not what they are called.
        let is_mail = read.media_type == "message/rfc822" || read.media_type == "application/vnd.ms-outlook";
        let document = Document {
            pages: &pages,
            media_type: Some(&read.media_type),
            language: read.language.as_deref(),
            title: said("title"),
            name: name.as_deref(),
            subject: said("subject").filter(|_| is_mail),
            sent: said("date").filter(|_| is_mail).and_then(day),
            written: said("creation_date").and_then(day),
            today: self.today,
        };
        let found = self.knowledge.understand(&document, None)?;
        let mut labels = BTreeMap::new();
        for set in &self.sets {
            labels.insert(set.set().name.clone(), set.label(&read.text, None)?);
        }
        Ok(Answer::new(read, found, labels))
    }
}

/// The day that a time in the form of ISO 8601 begins with.
fn day(time: &str) -> Option<Date> {
    time.get(..10)?.parse().ok()
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
    fn new(read: &ReadAnswer, found: Understanding, labels: BTreeMap<String, Labelled>) -> Self {
        let mut evidence = BTreeMap::new();
        let mut note = |key, confidence, method| {
            evidence.insert(key, Evidence { confidence, method });
        };
        let title = taken(found.title, "title", &mut note);
        let summary = taken(found.summary, "summary", &mut note);
        let date = taken(found.date, "date", &mut note).map(|date| date.to_string());
        let kind = taken(found.kind, "type", &mut note);
        if let Some(best) = found.tags.first() {
            note("tags", best.confidence, best.method);
        }
        Self {
            path: read.path.clone(),
            media_type: read.media_type.clone(),
            language: read.language.clone(),
            title,
            summary,
            date,
            kind,
            tags: found.tags.into_iter().map(|tag| tag.value).collect(),
            labels,
            evidence,
        }
    }
}

fn taken<T>(
    guess: Option<Guess<T>>,
    key: &'static str,
    note: &mut impl FnMut(&'static str, f32, &'static str),
) -> Option<T> {
    let guess = guess?;
    note(key, guess.confidence, guess.method);
    Some(guess.value)
}

fn human(answer: &Answer) -> String {
    let mut out = format!("{}: {}", shown(&answer.path), answer.media_type);
    let mut line = |key: &'static str, value: Option<String>| {
        let Some(value) = value else { return };
        let how = answer
            .evidence
            .get(key)
            .map(|e| format!("  ({}, {:.0} %)", e.method, e.confidence * 100.0))
            .unwrap_or_default();
        out.push_str(&format!("\n  {key:<9} {}{how}", shown(&value)));
    };
    line("title", answer.title.clone());
    line("type", answer.kind.clone());
    line("date", answer.date.clone());
    line("language", answer.language.clone());
    line("tags", (!answer.tags.is_empty()).then(|| answer.tags.join(", ")));
    line("summary", answer.summary.clone());
    for (name, said) in &answer.labels {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_of_a_time_is_what_it_begins_with() {
        assert_eq!(day("2024-01-31T10:00:00Z"), Some(jiff::civil::date(2024, 1, 31)));
        assert_eq!(day("2024-13-31T10:00:00Z"), None);
        assert_eq!(day("yesterday"), None);
    }
}
