//! Bars on the shared corpora; without them the tests show as ignored. `bench/understand/run.py` scores more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use docmill_core::limits::read_capped;
use docmill_understand::fewshot::{Classifier, Example};
use docmill_understand::nearness::{NEAR, Signature, pairs};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let absent = !corpus().is_dir();
    let trials = vec![
        Trial::test("news_groups_are_told_from_fifteen_examples_each", news).with_ignored_flag(absent),
        Trial::test("near_duplicates_are_found_and_nothing_else", near).with_ignored_flag(absent),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus")
}

fn read(path: &Path) -> Result<String, Failed> {
    let bytes = read_capped(File::open(path)?, 64 << 20, "a file of the corpora")?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect()))
}

fn labelled(labels: &str, folder: &str) -> Result<Vec<(String, String)>, Failed> {
    let root = corpus().join("class/20news");
    let labels: BTreeMap<String, String> = serde_json::from_str(&read(&root.join(labels))?)?;
    labels
        .into_iter()
        .map(|(id, label)| Ok((label, read(&root.join(folder).join(format!("{id}.txt")))?)))
        .collect()
}

fn news() -> Result<(), Failed> {
    let (known, unknown) = (labelled("train.json", "train")?, labelled("truth.json", "docs")?);
    let examples: Vec<_> = known.iter().map(|(label, text)| Example { label, text, vector: None }).collect();
    let classifier = Classifier::train(&examples)?;
    let right =
        unknown.iter().filter(|(label, text)| classifier.classify(text, None).label == *label).count();
    let accuracy = right as f64 / unknown.len() as f64;
    if accuracy < 0.65 { Err(format!("accuracy {accuracy}").into()) } else { Ok(()) }
}

fn near() -> Result<(), Failed> {
    for set in ["minhash_100", "minhash_1000"] {
        let root = corpus().join("pairs").join(set);
        let articles = read(&root.join("articles.txt"))?;
        let lines: Vec<(&str, &str)> = articles.lines().filter_map(|line| line.split_once(' ')).collect();
        let signatures: Vec<_> = lines.iter().map(|(_, text)| Signature::of(text)).collect();
        let in_order = |a: &str, b: &str| {
            if a < b { (a.to_owned(), b.to_owned()) } else { (b.to_owned(), a.to_owned()) }
        };
        let found: BTreeSet<_> =
            pairs(&signatures, NEAR).iter().map(|p| in_order(lines[p.first].0, lines[p.second].0)).collect();
        let truth = read(&root.join("truth.txt"))?;
        let truth: BTreeSet<_> = truth
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(a, b)| in_order(a.trim(), b.trim()))
            .collect();
        let f1 = 2.0 * found.intersection(&truth).count() as f64 / (found.len() + truth.len()) as f64;
        if f1 < 0.98 {
            return Err(format!("{set}: F1 {f1}").into());
        }
    }
    Ok(())
}
