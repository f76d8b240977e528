//! Every file of the shared corpora, hostile ones included, ends with a result: no panic, no endless loop, no
//! stack overflow, and every declared member accounted for. Runs in this process, without the sandbox that
//! contains all of this in production. Skipped, visibly, where the corpora are absent.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of a test binary")]

use std::collections::BTreeMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use docmill_core::Result;
use docmill_core::artifact::TextSource;
use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;
use docmill_core::ocr::OcrMode;
use docmill_core::wire::{Found, Want};
use docmill_formats::input::Input;
use docmill_formats::sink::Sink;

/// Counts findings and keeps none, so that a bomb costs no memory here.
#[derive(Default)]
struct Tally {
    declared: Option<u64>,
    ended: u64,
    failed: u64,
    begun: u64,
    /// Warnings of kind `bug`: a panic that the reader itself contained.
    bugs: Vec<String>,
    stopped_early: bool,
    kinds: u64,
    media_type: String,
    /// Letters and digits in the text of all pages.
    letters: u64,
    /// Warnings, and pages that say why they have no text.
    reasons: u64,
}

impl Sink for Tally {
    fn put(&mut self, found: Found) -> Result<()> {
        match found {
            Found::Kind(kind) => {
                self.kinds += 1;
                self.media_type = kind.media_type;
            }
            Found::Page(page) => {
                // Why there is no text stands with the page.
                self.reasons += u64::from(page.source == TextSource::None && !page.reason.is_empty());
                self.letters += page.text.chars().filter(|c| c.is_alphanumeric()).count() as u64;
            }
            Found::Declared(count) => self.declared = Some(count),
            Found::ChildBegin { .. } => self.begun += 1,
            Found::ChildEnd => self.ended += 1,
            Found::ChildFailed { .. } => self.failed += 1,
            Found::Warn(problem) if problem.kind == ErrorKind::Bug => self.bugs.push(problem.message),
            Found::Warn(problem) if problem.kind == ErrorKind::LimitExceeded => self.stopped_early = true,
            Found::Warn(_) => self.reasons += 1,
            Found::Meta { .. }
            | Found::PageCount(_)
            | Found::Scan(_)
            | Found::Picture(_)
            | Found::Words(_)
            | Found::Tried
            | Found::Vectors(_)
            | Found::Recognised(_)
            | Found::ChildChunk(_)
            | Found::ChildListed { .. } => {}
        }
        Ok(())
    }
}

fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if !path.is_dir() {
        eprintln!("skipped: {} is absent", path.display());
        return None;
    }
    Some(path)
}

/// Reads every file below `folder` and returns what is wrong with any.
fn faults_in(folder: &str) -> Vec<String> {
    let Some(root) = shared(folder) else { return Vec::new() };
    let want = Want { children: true, ocr: OcrMode::Auto, ..Want::TEXT };
    let limits = Limits::default().for_reader();
    let (mut faults, mut outcomes) = (Vec::new(), BTreeMap::<&str, u32>::new());
    for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
        let entry = entry.unwrap();
        if !entry.file_type().is_file() {
            continue;
        }
        let path = entry.path().display().to_string();
        if std::env::args().any(|a| a == "--nocapture") {
            eprintln!("{path}");
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        let mut input = Input::from_file(File::open(entry.path()).unwrap()).unwrap();
        let mut tally = Tally::default();
        let reading =
            AssertUnwindSafe(|| docmill_formats::read(&mut input, &name, want, &limits, &mut tally));
        let Ok(result) = catch_unwind(reading) else {
            faults.push(format!("{path}: panicked"));
            continue;
        };
        *outcomes.entry(result.as_ref().map_or_else(|e| e.kind().name(), |()| "ok")).or_default() += 1;
        if tally.kinds != 1 {
            faults.push(format!("{path}: {} kinds", tally.kinds));
        }
        faults.extend(tally.bugs.iter().map(|bug| format!("{path}: {bug}")));
        let accounted = tally.ended + tally.failed;
        if let Some(declared) = tally.declared
            && declared != accounted
            && !tally.stopped_early
        {
            faults.push(format!("{path}: {declared} members declared, {accounted} accounted for"));
        }
        if tally.begun > accounted {
            faults.push(format!("{path}: {} members begun, {accounted} ended", tally.begun));
        }
    }
    eprintln!("{folder}: {outcomes:?}");
    faults
}

fn assert_no_faults(folder: &str) {
    let faults = faults_in(folder);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn archives_all_end_with_a_result() {
    assert_no_faults("corpus/archive");
}

#[test]
fn mails_all_end_with_a_result() {
    assert_no_faults("corpus/mail");
}

#[test]
fn mailboxes_hold_as_many_messages_as_the_reference_says() {
    let Some(root) = shared("corpus/mail/mailboxes") else { return };
    let file = File::open(root.join("reference.json")).unwrap();
    let reference: serde_json::Value = serde_json::from_reader(file).unwrap();
    let mut compared = 0;
    for (name, about) in reference.as_object().unwrap() {
        let Some(expected) = about["messages"].as_u64() else { continue };
        let mut input = Input::from_file(File::open(root.join("docs").join(name)).unwrap()).unwrap();
        let mut tally = Tally::default();
        let limits = Limits::default().for_reader();
        docmill_formats::read(&mut input, name, Want::CHILDREN, &limits, &mut tally).unwrap();
        assert_eq!(tally.ended, expected, "{name}");
        compared += 1;
    }
    assert!(compared > 0, "the reference names no mailbox");
}

#[test]
fn formats_all_end_with_a_result() {
    assert_no_faults("corpus/formats");
}

/// Files of the corpus that are right to say nothing.
const SILENT: &[&str] = &[
    // A mail whose one part, a web page, is empty.
    "testUserDefinedCharset.mhtml",
];

#[test]
fn every_format_gives_text_members_or_a_named_problem() {
    let Some(root) = shared("corpus/formats/tika") else { return };
    let (mut faults, mut outcomes) = (Vec::new(), BTreeMap::<String, u32>::new());
    for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type().is_file() || SILENT.contains(&name.as_str()) {
            continue;
        }
        let (tally, result) = read(entry.path(), &name);
        let outcome = match &result {
            Err(e) if e.kind() == ErrorKind::UnsupportedFormat => {
                if !docmill_formats::sniff::unsupported::is_unsupported(&tally.media_type) {
                    faults.push(format!(
                        "{name}: {} is not on the list of unsupported types",
                        tally.media_type
                    ));
                }
                "unsupported"
            }
            Err(e) => e.kind().name(),
            Ok(()) if tally.letters > 0 => "text",
            Ok(()) if tally.ended + tally.failed > 0 => "members",
            Ok(()) if tally.reasons > 0 => "no text, with the reason",
            Ok(()) => {
                faults.push(format!("{name} ({}): nothing and no reason", tally.media_type));
                "nothing"
            }
        };
        *outcomes.entry(outcome.to_owned()).or_default() += 1;
    }
    eprintln!("formats: {outcomes:?}");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

fn read(path: &Path, name: &str) -> (Tally, Result<()>) {
    let want = Want { children: true, ocr: OcrMode::Auto, ..Want::TEXT };
    let mut input = Input::from_file(File::open(path).unwrap()).unwrap();
    let mut tally = Tally::default();
    let result = docmill_formats::read(&mut input, name, want, &Limits::default().for_reader(), &mut tally);
    (tally, result)
}

#[test]
fn texts_all_end_with_a_result() {
    assert_no_faults("corpus/text");
}

#[test]
fn hostile_files_all_end_with_a_result() {
    assert_no_faults("hostile");
}
