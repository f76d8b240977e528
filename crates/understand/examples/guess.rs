//! Prints what is guessed about texts, and writes guesses for scorers: for looking at results while working on them.
//!
//! `cargo run --release -p docmill-understand --example guess -- show FILE…` prints everything about plain texts.
//! `tags FOLDER`, `learn FOLDER LABELS.json FOLDER`, `folds FOLDER LABELS.json COUNT` and `pairs FILE` print JSON;
//! `bench/understand/run.py` hands that to the scorers.
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use docmill_core::limits::read_capped;
use docmill_core::{Error, Result};
use docmill_understand::fewshot::{Classifier, Example};
use docmill_understand::nearness::{NEAR, Signature, pairs};
use docmill_understand::{Document, Knowledge, MAX_TAGS, Page, labels};
use serde_json::{Value, json};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match given.as_slice() {
        ["show", files @ ..] => files.iter().try_for_each(|file| show(file)),
        ["tags", folder] => tags(folder),
        ["learn", examples, known, folder] => learn(examples, known, folder),
        ["folds", folder, known, count] => folds(folder, known, count.parse().unwrap_or(5)),
        ["pairs", file] => near(file),
        _ => {
            Err(Error::invalid_request("one of show, tags, learn, folds or pairs is needed; see the example"))
        }
    }
}

fn show(path: &str) -> Result<()> {
    let text = read(Path::new(path))?;
    let split: Vec<&str> = text.split('\u{c}').collect();
    let pages: Vec<Page<'_>> = (1..).zip(split).map(|(number, text)| Page { number, text }).collect();
    let found = Knowledge::load()?.understand(&Document::of(&pages), None)?;
    println!("== {path}");
    println!("title    {:?}\nsummary  {:?}\ndate     {:?}", found.title, found.summary, found.date);
    println!("kind     {:?}", found.kind);
    for tag in &found.tags {
        println!("tag      {:.2} {}", tag.confidence, tag.value);
    }
    for set in labels::builtin()? {
        let said = set.prepare(None)?.label(&text, None)?;
        println!(
            "{:8} {:?} {:.2} {} {:?}",
            set.name, said.labels, said.confidence, said.method, said.matched
        );
    }
    Ok(())
}

fn tags(folder: &str) -> Result<()> {
    let knowledge = Knowledge::load()?;
    let mut all = BTreeMap::new();
    for (id, text) in texts(folder)? {
        let pages = [Page { number: 1, text: &text }];
        let found = knowledge.understand(&Document::of(&pages), None)?;
        let tags: Vec<String> = found.tags.into_iter().map(|t| t.value).take(MAX_TAGS).collect();
        all.insert(id, tags);
    }
    println!("{}", json!(all));
    Ok(())
}

fn learn(folder: &str, known: &str, unknown: &str) -> Result<()> {
    let (texts_known, known) = (texts(folder)?, labels_of(known)?);
    let examples = examples(&texts_known, &known, |_| true);
    let classifier = Classifier::train(&examples)?;
    let said: BTreeMap<String, Value> =
        texts(unknown)?.into_iter().map(|(id, text)| (id, verdict(&classifier, &text))).collect();
    println!("{}", json!(said));
    Ok(())
}

/// Each part of the documents is told by a classifier that learnt from the other parts.
fn folds(folder: &str, known: &str, count: usize) -> Result<()> {
    let (all, known) = (texts(folder)?, labels_of(known)?);
    // By place within the documents of one label, so that each part has its share of every label.
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut part: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, label) in &known {
        let place = seen.entry(label).or_default();
        part.insert(id, *place % count);
        *place += 1;
    }
    let mut said = BTreeMap::new();
    for fold in 0..count {
        let examples = examples(&all, &known, |id| part.get(id) != Some(&fold));
        let classifier = Classifier::train(&examples)?;
        for (id, text) in all.iter().filter(|(id, _)| part.get(id.as_str()) == Some(&fold)) {
            said.insert(id.clone(), verdict(&classifier, text));
        }
    }
    println!("{}", json!(said));
    Ok(())
}

fn examples<'a>(
    texts: &'a BTreeMap<String, String>,
    known: &'a BTreeMap<String, String>,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Example<'a>> {
    let labelled = known.iter().filter(|(id, _)| wanted(id));
    labelled.filter_map(|(id, label)| Some(Example { label, text: texts.get(id)?, vector: None })).collect()
}

fn verdict(classifier: &Classifier, text: &str) -> Value {
    let verdict = classifier.classify(text, None);
    json!({ "label": verdict.label, "confidence": verdict.confidence })
}

fn near(path: &str) -> Result<()> {
    let text = read(Path::new(path))?;
    let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    let signatures: Vec<_> = lines.iter().map(|(_, text)| Signature::of(text)).collect();
    let found: Vec<_> =
        pairs(&signatures, NEAR).iter().map(|p| [lines[p.first].0, lines[p.second].0]).collect();
    println!("{}", json!(found));
    Ok(())
}

/// All texts of a folder by their names without the ending.
fn texts(folder: &str) -> Result<BTreeMap<String, String>> {
    let unreadable = |e| Error::unreadable(format!("cannot list `{folder}`")).with_source(e);
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if let Some(stem) = path.file_stem() {
            all.insert(stem.to_string_lossy().into_owned(), read(&path)?);
        }
    }
    Ok(all)
}

fn labels_of(path: &str) -> Result<BTreeMap<String, String>> {
    serde_json::from_str(&read(Path::new(path))?)
        .map_err(|e| Error::unreadable(format!("`{path}` is no table of labels")).with_source(e))
}

/// What is no UTF-8 is taken byte by byte, so that nothing is lost.
fn read(path: &Path) -> Result<String> {
    let name = path.display().to_string();
    let file =
        File::open(path).map_err(|e| Error::unreadable(format!("cannot open `{name}`")).with_source(e))?;
    let bytes = read_capped(file, 64 << 20, &name)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect()))
}
