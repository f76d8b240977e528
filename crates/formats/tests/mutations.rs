//! Every sample with damage, the same damage in every run: bits flipped, cut off, pieces moved, numbers made large. No
//! reader panics, nothing passes the limits, and everything that begins ends.
//!
//! `fuzz/` looks further with coverage; what it finds becomes a sample, and so comes here.
#![expect(clippy::unwrap_used, reason = "helpers of a test binary")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use docmill_core::limits::Limits;
use docmill_core::ocr::OcrMode;
use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, ErrorKind, Result};
use docmill_formats::input::Input;
use docmill_formats::kinds;
use docmill_formats::sink::Sink;

const EVERYTHING: Want = Want { children: true, ocr: OcrMode::Auto, ..Want::TEXT };

/// Damaged copies of each sample. Enough to meet the simple mistakes in the seconds a test may take.
const COPIES: u64 = 24;

/// Larger samples would take the time of all others.
const MAX_SAMPLE_BYTES: u64 = 64 << 10;

/// Small enough to be reached by damage.
fn tight() -> ReadLimits {
    ReadLimits {
        max_text_bytes: 1 << 20,
        max_pages: 100,
        max_entries: 200,
        max_unpacked_bytes: 4 << 20,
        ratio_from_bytes: 1 << 20,
        ..Limits::default().for_reader()
    }
}

/// Counts, and keeps nothing.
#[derive(Default)]
struct Tally {
    text_bytes: u64,
    pages: u64,
    members: u64,
    member_bytes: u64,
    is_open: bool,
    fault: Option<String>,
}

impl Sink for Tally {
    fn put(&mut self, found: Found) -> Result<()> {
        match found {
            Found::Page(page) => {
                self.pages += 1;
                self.text_bytes += page.text.len() as u64;
            }
            Found::Meta { key, value } => self.text_bytes += (key.len() + value.len()) as u64,
            Found::ChildBegin { path, .. } => {
                if self.is_open {
                    self.fault = Some(format!("`{path}` begins inside another member"));
                }
                self.is_open = true;
                self.members += 1;
            }
            Found::ChildChunk(bytes) => self.member_bytes += bytes.len() as u64,
            Found::ChildEnd => self.is_open = false,
            Found::ChildFailed { .. } => {
                self.members += u64::from(!self.is_open);
                self.is_open = false;
            }
            Found::Warn(problem) if problem.kind == ErrorKind::Bug => self.fault = Some(problem.message),
            Found::Kind(_)
            | Found::PageCount(_)
            | Found::Scan(_)
            | Found::Picture(_)
            | Found::Words(_)
            | Found::Tried
            | Found::Vectors(_)
            | Found::Recognised(_)
            | Found::Declared(_)
            | Found::ChildListed { .. }
            | Found::Warn(_) => {}
        }
        Ok(())
    }
}

/// Numbers that look random and are the same every time (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    for _ in 0..=numbers.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = numbers.below(bytes.len());
        match numbers.below(6) {
            0 => bytes[at] ^= 1 << numbers.below(8),
            1 => bytes[at] = [0, 0xff, 0x7f, 0x80, b'<', b'{', b'\\', b'&'][numbers.below(8)],
            2 => bytes.truncate(at),
            3 => {
                // A number becomes as large as it can be.
                let end = (at + 4).min(bytes.len());
                bytes[at..end].fill(0xff);
            }
            4 => {
                // A piece comes again, elsewhere.
                let piece = bytes[at..(at + 1 + numbers.below(64)).min(bytes.len())].to_vec();
                let to = numbers.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => {
                let end = (at + numbers.below(32)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
}

/// Samples of all readers but the one that misbehaves on purpose.
fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut out: Vec<PathBuf> = kinds::ALL
        .iter()
        .filter(|format| format.name() != "probe")
        .flat_map(|format| walkdir::WalkDir::new(folder.join(format.name())).sort_by_file_name())
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file() && entry.metadata().unwrap().len() <= MAX_SAMPLE_BYTES)
        .map(walkdir::DirEntry::into_path)
        .collect();
    out.sort();
    out
}

/// What is wrong with the reading of these bytes, if anything is.
fn fault(bytes: &[u8], name: &str, limits: &ReadLimits) -> Option<String> {
    let mut tally = Tally::default();
    let mut input = Input::from_bytes(bytes.to_vec());
    let reading =
        AssertUnwindSafe(|| docmill_formats::read(&mut input, name, EVERYTHING, limits, &mut tally));
    let Ok(result) = catch_unwind(reading) else { return Some("panicked".into()) };
    let is_bug = |e: &Error| e.kind() == ErrorKind::Bug;
    if let Err(e) = result.as_ref()
        && is_bug(e)
    {
        return Some(e.chain());
    }
    // The last page may be one too many, the last piece of a member the one that was refused.
    let passed = [
        ("text", tally.text_bytes, limits.max_text_bytes),
        ("pages", tally.pages, u64::from(limits.max_pages)),
        ("members", tally.members, limits.max_entries),
        ("members' bytes", tally.member_bytes, limits.max_unpacked_bytes),
    ];
    let passed = passed.iter().find(|(_, count, limit)| count > limit);
    let open = (result.is_ok() && tally.is_open).then(|| "a member never ended".to_owned());
    tally.fault.or(passed.map(|(what, count, limit)| format!("{count} {what}, limit {limit}"))).or(open)
}

#[test]
fn damaged_samples_end_within_the_limits() {
    let limits = tight();
    let mut faults = Vec::new();
    for (index, path) in samples().iter().enumerate() {
        let file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let whole = docmill_core::limits::read_capped(file, MAX_SAMPLE_BYTES, "sample").unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for copy in 0..COPIES {
            let mut bytes = whole.clone();
            damage(&mut bytes, &mut Numbers(index as u64 * COPIES + copy));
            if let Some(fault) = fault(&bytes, &name, &limits) {
                faults.push(format!("{name}, copy {copy}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_format_has_a_sample_that_is_damaged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let samples = samples();
    for format in kinds::ALL.iter().filter(|format| format.name() != "probe") {
        let own = folder.join(format.name());
        assert!(samples.iter().any(|path| path.starts_with(&own)), "no small sample for {}", format.name());
    }
}
