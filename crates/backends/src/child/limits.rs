//! What a child may put out for one document, counted here because the child is not trusted to count.
//!
//! The readers inside stop at the same limits by themselves and say so politely; this is the wall behind
//! them. It therefore stands a little further out: a partial result with its reason beats a killed child.

use docmill_core::ocr::Word;
use docmill_core::ports::embedder::DIMENSIONS;
use docmill_core::wire::{Found, MAX_MEMBER_PATH_BYTES, ReadLimits};
use docmill_core::words::PlacedWord;
use docmill_core::{Error, Result};

/// How far behind the readers' own limits the wall stands.
const SLACK_BYTES: u64 = 1 << 20;
const SLACK_ITEMS: u64 = 16;

/// Metadata and warnings together; no honest file says that much about itself.
const MAX_REMARK_BYTES: u64 = 16 << 20;

/// Counts the output of one document.
#[derive(Debug)]
pub(super) struct OutputCount {
    limits: ReadLimits,
    pages: u64,
    scans: u64,
    pictures: u64,
    members: u64,
    /// The position of the member that has begun and not ended.
    open_member: Option<u64>,
    text_bytes: u64,
    member_bytes: u64,
    remark_bytes: u64,
}

impl OutputCount {
    pub(super) fn new(limits: ReadLimits) -> Self {
        Self {
            limits,
            pages: 0,
            scans: 0,
            pictures: 0,
            members: 0,
            open_member: None,
            text_bytes: 0,
            member_bytes: 0,
            remark_bytes: 0,
        }
    }

    /// Counts one finding; an error ends the document.
    pub(super) fn add(&mut self, found: &Found) -> Result<()> {
        match found {
            Found::Page(page) => {
                self.pages += 1;
                self.text_bytes += (page.text.len() + page.reason.len()) as u64;
            }
            Found::Scan(scan) => {
                scan.check()?;
                self.scans += 1;
                self.text_bytes += scan.reason.len() as u64;
            }
            Found::Picture(picture) => {
                picture.check()?;
                self.pictures += 1;
            }
            Found::Words(page) => {
                page.check()?;
                self.pages += 1;
                self.text_bytes += page.words.iter().map(|word| word.text.len() as u64).sum::<u64>();
            }
            Found::ChildChunk(chunk) => self.member_bytes += chunk.len() as u64,
            Found::ChildBegin { position, path, .. } => {
                self.add_member(path)?;
                self.open_member = Some(*position);
            }
            Found::ChildListed { path, .. } => self.add_member(path)?,
            Found::ChildFailed { position, path, error } => {
                // One that failed after its beginning has been counted there; its path may still be another one.
                if self.open_member.take() == Some(*position) {
                    check_path(path)?;
                } else {
                    self.add_member(path)?;
                }
                self.remark_bytes += error.message.len() as u64;
            }
            Found::Meta { key, value } => self.remark_bytes += (key.len() + value.len()) as u64,
            Found::Warn(problem) => self.remark_bytes += problem.message.len() as u64,
            Found::Kind(kind) => self.remark_bytes += kind.media_type.len() as u64,
            Found::Recognised(recognition) => {
                recognition.check()?;
                self.pages += 1;
            }
            Found::Vectors(vectors) => {
                vectors.iter().try_for_each(|vector| is_a_meaning(vector))?;
                self.pages += vectors.len() as u64;
            }
            Found::ChildEnd => {
                self.open_member = None;
                self.remark_bytes += 1;
            }
            Found::PageCount(_) | Found::Declared(_) | Found::Tried => self.remark_bytes += 1,
        }
        self.check()
    }

    fn add_member(&mut self, path: &str) -> Result<()> {
        self.members += 1;
        check_path(path)
    }

    fn check(&self) -> Result<()> {
        let limits = &self.limits;
        let pages = u64::from(limits.max_pages).saturating_add(SLACK_ITEMS);
        within("document", self.pages, pages, "pages", Some("limits.max_pages"))?;
        within("document", self.scans, pages, "scans", Some("limits.max_pages"))?;
        within("document", self.pictures, pages, "pictures", Some("limits.max_pages"))?;
        let members = limits.max_entries.saturating_add(SLACK_ITEMS);
        within("container", self.members, members, "entries", Some("limits.max_entries"))?;
        let text = limits.max_text_bytes.saturating_add(SLACK_BYTES);
        within("text", self.text_bytes, text, "bytes", Some("limits.max_text_bytes"))?;
        let unpacked = limits.max_unpacked_bytes.saturating_add(SLACK_BYTES);
        within(
            "container",
            self.member_bytes,
            unpacked,
            "unpacked bytes",
            Some("limits.max_container_bytes"),
        )?;
        within("metadata", self.remark_bytes, MAX_REMARK_BYTES, "bytes", None)
    }
}

/// Whoever compares vectors relies on their length, in both senses.
fn is_a_meaning(vector: &[f32]) -> Result<()> {
    let length: f32 = vector.iter().map(|number| number * number).sum();
    // Also false for numbers that are none.
    if vector.len() == DIMENSIONS && (length - 1.0).abs() < 1e-3 {
        return Ok(());
    }
    let numbers = vector.len();
    Err(Error::bug(format!("a vector of {numbers} numbers and length {} is no meaning", length.sqrt())))
}

/// Readers cut their paths by themselves.
fn check_path(path: &str) -> Result<()> {
    within("path of a member", path.len() as u64, MAX_MEMBER_PATH_BYTES as u64, "bytes", None)
}

fn within(what: &str, value: u64, limit: u64, unit: &str, setting: Option<&str>) -> Result<()> {
    if value <= limit {
        return Ok(());
    }
    let error = Error::limit_exceeded(format!("{what} has more than the limit of {limit} {unit}"));
    Err(match setting {
        Some(setting) => error.with_hint(format!("raise `{setting}`")),
        None => error,
    })
}

/// How many bytes a finding takes in memory, roughly.
pub(super) fn weight(found: &Found) -> u64 {
    let held = match found {
        Found::Page(page) => page.text.len() + page.reason.len(),
        Found::Scan(scan) => scan.pixels.len() + scan.reason.len(),
        Found::Picture(picture) => picture.png.len(),
        Found::Words(page) => page.words.iter().map(|word| word.text.len() + size_of::<PlacedWord>()).sum(),
        Found::ChildChunk(chunk) => chunk.len(),
        Found::ChildBegin { path, .. } | Found::ChildListed { path, .. } => path.len(),
        Found::ChildFailed { path, error, .. } => path.len() + error.message.len(),
        Found::Meta { key, value } => key.len() + value.len(),
        Found::Warn(problem) => problem.message.len(),
        Found::Recognised(recognition) => {
            recognition.text.len() + recognition.page.words.len() * 2 * size_of::<Word>()
        }
        Found::Vectors(vectors) => vectors.iter().map(|vector| size_of_val(vector.as_slice())).sum(),
        Found::Kind(_) | Found::PageCount(_) | Found::Declared(_) | Found::ChildEnd | Found::Tried => 0,
    };
    (held + size_of::<Found>()) as u64
}

#[cfg(test)]
mod tests {
    use docmill_core::error::ErrorNote;
    use docmill_core::limits::Limits;

    use super::*;

    #[test]
    fn members_beyond_the_limit_are_refused_with_the_setting() {
        let mut count = OutputCount::new(ReadLimits { max_entries: 1, ..Limits::default().for_reader() });
        let member = Found::ChildBegin { position: 0, path: "a".into(), bytes: None };
        for _ in 0..=SLACK_ITEMS {
            count.add(&member).unwrap();
        }
        let error = count.add(&member).unwrap_err();
        assert_eq!(error.hint(), Some("raise `limits.max_entries`"));
    }

    #[test]
    fn member_that_fails_after_its_beginning_is_counted_once() {
        let limits = ReadLimits { max_entries: 100, ..Limits::default().for_reader() };
        let mut count = OutputCount::new(limits);
        let error = ErrorNote::from(&Error::corrupt("wrong checksum"));
        let failed = |position| Found::ChildFailed { position, path: "a".into(), error: error.clone() };
        for position in 0..100 {
            count.add(&Found::ChildBegin { position, path: "a".into(), bytes: None }).unwrap();
            count.add(&failed(position)).unwrap();
        }
        // One beginning is not good for many failures.
        let refused = (0..=SLACK_ITEMS).find_map(|_| count.add(&failed(99)).err());
        assert_eq!(refused.unwrap().hint(), Some("raise `limits.max_entries`"));
    }

    #[test]
    fn paths_that_no_reader_sends_are_refused() {
        let mut count = OutputCount::new(Limits::default().for_reader());
        let begin = |bytes| Found::ChildBegin { position: 0, path: "p".repeat(bytes), bytes: None };
        count.add(&begin(MAX_MEMBER_PATH_BYTES)).unwrap();
        assert!(count.add(&begin(MAX_MEMBER_PATH_BYTES + 1)).is_err());
    }

    #[test]
    fn member_bytes_beyond_the_limit_are_refused() {
        let mut count =
            OutputCount::new(ReadLimits { max_unpacked_bytes: 10, ..Limits::default().for_reader() });
        count.add(&Found::ChildChunk(vec![0; 10].into())).unwrap();
        assert!(count.add(&Found::ChildChunk(vec![0; SLACK_BYTES as usize + 1].into())).is_err());
    }

    #[test]
    fn vectors_that_are_no_meanings_are_refused() {
        let mut count = OutputCount::new(Limits::default().for_reader());
        let mut unit = vec![0.0; DIMENSIONS];
        unit[7] = 1.0;
        count.add(&Found::Vectors(vec![unit.clone(), unit.clone()])).unwrap();
        for (place, number) in [(3, f32::NAN), (3, f32::INFINITY), (3, 1.0), (7, 0.0)] {
            let mut other = unit.clone();
            other[place] = number;
            let error = count.add(&Found::Vectors(vec![unit.clone(), other])).unwrap_err();
            assert!(error.message().contains("no meaning"), "{error}");
        }
        assert!(count.add(&Found::Vectors(vec![vec![1.0]])).is_err());
    }

    #[test]
    fn endless_metadata_is_refused() {
        let mut count = OutputCount::new(Limits::default().for_reader());
        let meta = Found::Meta { key: "k".into(), value: "v".repeat(1 << 20) };
        let refused = (0..20).find_map(|_| count.add(&meta).err());
        assert!(refused.unwrap().message().contains("metadata"));
    }
}
