//! Where findings go, and the limits that hold on the way.
//!
//! [`Counted`] stands between a reader and the outside. It counts what really comes out, never what the file
//! declares. When a limit on pages, text or entries is reached it says so with a warning and stops the
//! reading: what came before stays a valid, partial result. An expansion that passes all reason is an error
//! ([`ErrorKind::BombSuspected`]), so that a container can name the member it happened in.

use docmill_core::artifact::Page;
use docmill_core::error::{Error, ErrorKind, ErrorNote, Result};
use docmill_core::ocr::{OcrMode, Scan};
use docmill_core::picture::Picture;
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, MAX_MEMBER_PATH_BYTES, ReadLimits, Want};
use docmill_core::words::PageWords;

use crate::language;

/// No page may be longer: it must fit into one frame on its way to the parent.
pub const MAX_PAGE_BYTES: usize = 32 << 20;

/// Paths of members are kept as they are until there are so many bytes of them …
const MAX_PATHS_BYTES: u64 = 64 << 20;

/// … and from then on up to here. No honest container comes so far with paths that are any longer.
const SHORT_PATH_BYTES: usize = 256;

/// Stands in a path where something was cut out of it.
const CUT: char = '…';

/// Receives what a reader finds.
pub trait Sink {
    /// Takes one finding. An error means: stop reading.
    fn put(&mut self, found: Found) -> Result<()>;

    /// Something the file says of itself; nothing if the value is blank.
    fn meta(&mut self, key: &str, value: &str) -> Result<()> {
        let value = value.trim();
        if value.is_empty() {
            return Ok(());
        }
        self.put(Found::Meta { key: key.into(), value: value.into() })
    }

    /// A page of text.
    fn page(&mut self, page: Page) -> Result<()> {
        self.put(Found::Page(page))
    }

    /// A page as pixels, to be read by OCR. Only where `Want::ocr` asks for it, and beside its page.
    fn scan(&mut self, scan: Scan) -> Result<()> {
        self.put(Found::Scan(scan))
    }

    /// A page as a picture. Only where `Want::pictures` asks for it.
    fn picture(&mut self, picture: Picture) -> Result<()> {
        self.put(Found::Picture(picture))
    }

    /// The words of a page. Only where `Want::words` asks for them.
    fn words(&mut self, words: PageWords) -> Result<()> {
        self.put(Found::Words(words))
    }

    /// Something that does not stop the reading.
    fn warn(&mut self, problem: Problem) -> Result<()> {
        self.put(Found::Warn(problem))
    }

    /// A member that could not be had.
    fn child_failed(&mut self, position: u64, path: &str, error: &Error) -> Result<()> {
        self.put(Found::ChildFailed { position, path: path.into(), error: ErrorNote::from(error) })
    }
}

/// Keeps everything, for tests and for looking at results.
#[derive(Default, Debug)]
pub struct Collected(pub Vec<Found>);

impl Collected {
    /// The pages in the order they came.
    pub fn pages(&self) -> Vec<&Page> {
        self.0.iter().filter_map(|f| if let Found::Page(page) = f { Some(page) } else { None }).collect()
    }

    /// The text of all pages, separated by form feeds.
    pub fn text(&self) -> String {
        self.pages().iter().map(|p| p.text.as_str()).collect::<Vec<_>>().join("\u{c}")
    }

    /// The last value of a metadata key.
    pub fn value(&self, wanted: &str) -> Option<&str> {
        self.0.iter().rev().find_map(|f| match f {
            Found::Meta { key, value } if key == wanted => Some(value.as_str()),
            _ => None,
        })
    }

    /// What went wrong without stopping the reading.
    pub fn warnings(&self) -> Vec<&Problem> {
        self.0
            .iter()
            .filter_map(|f| if let Found::Warn(problem) = f { Some(problem) } else { None })
            .collect()
    }
}

impl Sink for Collected {
    fn put(&mut self, found: Found) -> Result<()> {
        self.0.push(found);
        Ok(())
    }
}

/// Applies the limits of one document to everything that passes.
pub struct Counted<'a> {
    inner: &'a mut dyn Sink,
    want: Want,
    limits: ReadLimits,
    input_bytes: u64,
    text_bytes: u64,
    pages: u32,
    scans: u32,
    pictures: u32,
    entries: u64,
    unpacked_bytes: u64,
    paths_bytes: u64,
    paths_cut: u64,
    sample: language::Sample,
    stopped: bool,
}

impl<'a> Counted<'a> {
    /// Counts for a document of `input_bytes`.
    pub fn new(inner: &'a mut dyn Sink, want: Want, limits: &ReadLimits, input_bytes: u64) -> Self {
        Self {
            inner,
            want,
            limits: *limits,
            input_bytes,
            text_bytes: 0,
            pages: 0,
            scans: 0,
            pictures: 0,
            entries: 0,
            unpacked_bytes: 0,
            paths_bytes: 0,
            paths_cut: 0,
            sample: language::Sample::default(),
            stopped: false,
        }
    }

    /// Ends the document: names its language, and turns a stop at a limit, which has been warned about
    /// already, into success.
    pub fn finish(self, result: Result<()>) -> Result<()> {
        if let Some(code) = self.sample.language() {
            self.inner.meta("language", code)?;
        }
        if self.paths_cut > 1 {
            let message = format!("the paths of {} members were too long and were cut", self.paths_cut);
            self.inner.warn(Problem::new(ErrorKind::LimitExceeded, message))?;
        }
        match result {
            Err(e) if self.stopped && e.kind() == ErrorKind::LimitExceeded => Ok(()),
            other => other,
        }
    }

    /// Warns once and gives the error that makes the reader return.
    fn stop(&mut self, message: String, setting: &str) -> Error {
        if !self.stopped {
            self.stopped = true;
            let problem =
                Problem::new(ErrorKind::LimitExceeded, format!("{message}; raise `limits.{setting}`"));
            if let Err(error) = self.inner.warn(problem) {
                return error;
            }
        }
        Error::limit_exceeded(message).with_hint(format!("raise `limits.{setting}`"))
    }

    fn count_entry(&mut self) -> Result<()> {
        if self.entries >= self.limits.max_entries {
            let limit = self.limits.max_entries;
            return Err(self.stop(format!("only the first {limit} members were read"), "max_entries"));
        }
        self.entries += 1;
        Ok(())
    }

    fn path_limit(&self) -> usize {
        if self.paths_bytes < MAX_PATHS_BYTES { MAX_MEMBER_PATH_BYTES } else { SHORT_PATH_BYTES }
    }

    /// Shortens the path of a member where it is too long. The first is warned about by itself, all at the end.
    fn count_path(&mut self, position: u64, path: &mut String) -> Result<()> {
        let (limit, bytes) = (self.path_limit(), path.len());
        if cut_middle(path, limit) {
            self.paths_cut += 1;
            if self.paths_cut == 1 {
                let message = format!(
                    "the path of member {position} has {bytes} bytes and was cut at {limit} bytes, at the `{CUT}` in it"
                );
                self.inner.warn(Problem::new(ErrorKind::LimitExceeded, message))?;
            }
        }
        self.paths_bytes += path.len() as u64;
        Ok(())
    }

    fn count_unpacked(&mut self, bytes: u64) -> Result<()> {
        let total = self.unpacked_bytes.saturating_add(bytes);
        let allowed_by_ratio =
            self.limits.ratio_from_bytes.max(self.input_bytes.saturating_mul(self.limits.max_ratio));
        if total > self.limits.max_unpacked_bytes {
            let limit = self.limits.max_unpacked_bytes;
            return Err(Error::bomb_suspected(format!("members expand to more than {limit} bytes"))
                .with_hint("raise `limits.max_container_bytes`"));
        }
        if total > allowed_by_ratio {
            return Err(Error::bomb_suspected(format!(
                "members expand {} bytes to more than {allowed_by_ratio} bytes, past the ratio of {}:1",
                self.input_bytes, self.limits.max_ratio
            ))
            .with_hint("raise `limits.max_ratio`"));
        }
        self.unpacked_bytes = total;
        Ok(())
    }

    fn put_scan(&mut self, scan: Scan) -> Result<()> {
        let number = scan.number;
        let outside = self.want.pages.is_some_and(|(a, b)| number < a || number > b);
        // Those beyond the page limit are left out in silence: their pages say it.
        if !self.want.text
            || self.want.ocr == OcrMode::Never
            || outside
            || self.scans >= self.limits.max_pages
        {
            return Ok(());
        }
        scan.check()?;
        self.scans += 1;
        self.inner.scan(scan)
    }

    fn put_picture(&mut self, picture: Picture) -> Result<()> {
        let outside = self.want.pages.is_some_and(|(a, b)| picture.number < a || picture.number > b);
        if self.want.pictures.is_none() || outside {
            return Ok(());
        }
        if self.pictures >= self.limits.max_pages {
            let limit = self.limits.max_pages;
            return Err(self.stop(format!("only the first {limit} pages were drawn"), "max_pages"));
        }
        picture.check()?;
        self.pictures += 1;
        self.inner.put(Found::Picture(picture))
    }

    fn put_words(&mut self, words: PageWords) -> Result<()> {
        let outside = self.want.pages.is_some_and(|(a, b)| words.number < a || words.number > b);
        if !self.want.words || outside {
            return Ok(());
        }
        words.check()?;
        let cost: u64 = words.words.iter().map(|word| word.text.len() as u64).sum();
        if self.text_bytes + cost > self.limits.max_text_bytes {
            let limit = self.limits.max_text_bytes;
            return Err(self.stop(format!("words were cut at {limit} bytes"), "max_text_bytes"));
        }
        self.text_bytes += cost;
        self.inner.words(words)
    }

    fn put_page(&mut self, mut page: Page) -> Result<()> {
        if !self.want.text || self.want.pages.is_some_and(|(a, b)| page.number < a || page.number > b) {
            return Ok(());
        }
        if self.pages >= self.limits.max_pages {
            let limit = self.limits.max_pages;
            return Err(self.stop(format!("only the first {limit} pages were read"), "max_pages"));
        }
        self.pages += 1;
        if page.text.len() > MAX_PAGE_BYTES {
            let (number, bytes) = (page.number, page.text.len());
            cut(&mut page.text, MAX_PAGE_BYTES);
            let message =
                format!("page {number} has {bytes} bytes of text and was cut at {MAX_PAGE_BYTES} bytes");
            self.inner.warn(Problem::new(ErrorKind::LimitExceeded, message).on_page(number))?;
        }
        let left = self.limits.max_text_bytes - self.text_bytes;
        let too_long = page.text.len() as u64 > left;
        if too_long {
            cut(&mut page.text, left as usize);
        }
        self.text_bytes += page.text.len() as u64;
        self.sample.add(&page.text);
        self.inner.page(page)?;
        if too_long {
            let limit = self.limits.max_text_bytes;
            return Err(self.stop(format!("text was cut at {limit} bytes"), "max_text_bytes"));
        }
        Ok(())
    }
}

impl Sink for Counted<'_> {
    fn put(&mut self, mut found: Found) -> Result<()> {
        match found {
            Found::Page(page) => self.put_page(page),
            Found::Scan(scan) => self.put_scan(scan),
            Found::Picture(picture) => self.put_picture(picture),
            Found::Words(words) => self.put_words(words),
            Found::Meta { key, value } => {
                let cost = (key.len() + value.len()) as u64;
                if self.text_bytes + cost > self.limits.max_text_bytes {
                    let limit = self.limits.max_text_bytes;
                    return Err(self.stop(format!("metadata was cut at {limit} bytes"), "max_text_bytes"));
                }
                self.text_bytes += cost;
                self.inner.put(Found::Meta { key, value })
            }
            Found::ChildBegin { position, ref mut path, .. }
            | Found::ChildListed { position, ref mut path, .. } => {
                self.count_entry()?;
                self.count_path(position, path)?;
                self.inner.put(found)
            }
            Found::ChildFailed { position, ref mut path, .. } => {
                // A member that failed after its beginning has been counted there.
                if position >= self.entries {
                    self.count_entry()?;
                    self.count_path(position, path)?;
                } else {
                    cut_middle(path, self.path_limit());
                }
                self.inner.put(found)
            }
            Found::ChildChunk(bytes) => {
                self.count_unpacked(bytes.len() as u64)?;
                self.inner.put(Found::ChildChunk(bytes))
            }
            Found::Kind(_)
            | Found::PageCount(_)
            | Found::Declared(_)
            | Found::ChildEnd
            | Found::Tried
            | Found::Vectors(_)
            | Found::Recognised(_)
            | Found::Warn(_) => self.inner.put(found),
        }
    }
}

/// Shortens `path` to at most `limit` bytes in its middle: where it begins and what it ends in say most about it.
/// Answers whether it had to.
fn cut_middle(path: &mut String, limit: usize) -> bool {
    if path.len() <= limit {
        return false;
    }
    let end = path.ceil_char_boundary(path.len() - limit / 4);
    let begin = path.floor_char_boundary(limit - limit / 4 - CUT.len_utf8());
    path.replace_range(begin..end, CUT.encode_utf8(&mut [0; 4]));
    true
}

/// Shortens `text` to at most `limit` bytes without splitting a character.
fn cut(text: &mut String, limit: usize) {
    text.truncate(text.floor_char_boundary(limit));
}

#[cfg(test)]
mod tests {
    use docmill_core::artifact::TextSource;
    use docmill_core::limits::Limits;

    use super::*;

    fn page(number: u32, text: &str) -> Page {
        Page { number, source: TextSource::Native, reason: "test".into(), quality: None, text: text.into() }
    }

    /// Puts `founds` through a counted sink until one is refused.
    fn counted(limits: &ReadLimits, want: Want, founds: Vec<Found>) -> (Collected, Result<()>) {
        let mut collected = Collected::default();
        let mut sink = Counted::new(&mut collected, want, limits, 10);
        let result = founds.into_iter().try_for_each(|f| sink.put(f));
        let result = sink.finish(result);
        (collected, result)
    }

    #[test]
    fn text_beyond_the_limit_is_cut_at_a_character_and_warned_about() {
        let limits = ReadLimits { max_text_bytes: 5, ..Limits::default().for_reader() };
        let founds =
            vec![Found::Page(page(1, "abc")), Found::Page(page(2, "äöü")), Found::Page(page(3, "x"))];
        let (collected, result) = counted(&limits, Want::TEXT, founds);
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(collected.text(), "abc\u{c}ä");
        assert!(collected.warnings()[0].message.contains("limits.max_text_bytes"));
    }

    #[test]
    fn pages_beyond_the_limit_stop_the_reading_with_a_warning() {
        let limits = ReadLimits { max_pages: 2, ..Limits::default().for_reader() };
        let founds = (1..=4).map(|n| Found::Page(page(n, "x"))).collect();
        let (collected, result) = counted(&limits, Want::TEXT, founds);
        assert!(result.is_ok(), "{result:?}");
        assert_eq!(collected.pages().len(), 2);
        assert_eq!(collected.warnings().len(), 1);
    }

    #[test]
    fn pages_outside_the_wanted_range_are_dropped() {
        let want = Want { pages: Some((2, 3)), ..Want::TEXT };
        let founds = (1..=5).map(|n| Found::Page(page(n, "x"))).collect();
        let (collected, _) = counted(&Limits::default().for_reader(), want, founds);
        assert_eq!(collected.pages().iter().map(|p| p.number).collect::<Vec<_>>(), [2, 3]);
    }

    fn paths(collected: &Collected) -> Vec<&str> {
        let all = collected.0.iter();
        all.filter_map(|found| match found {
            Found::ChildBegin { path, .. }
            | Found::ChildFailed { path, .. }
            | Found::ChildListed { path, .. } => Some(path.as_str()),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn paths_that_are_too_long_are_cut_in_the_middle_and_warned_about() {
        let long = format!("begin/{}/end.pdf", "ä".repeat(40_000));
        let founds = vec![
            Found::ChildBegin { position: 0, path: long.clone(), bytes: None },
            Found::ChildFailed {
                position: 0,
                path: long.clone(),
                error: ErrorNote::from(&Error::corrupt("it is")),
            },
            Found::ChildListed { position: 1, path: long, media_type: String::new(), bytes: 0 },
            Found::ChildBegin { position: 2, path: "short".into(), bytes: None },
        ];
        let (collected, result) = counted(&Limits::default().for_reader(), Want::CHILDREN, founds);
        assert!(result.is_ok(), "{result:?}");
        let paths = paths(&collected);
        assert_eq!(paths[3], "short");
        for path in &paths[..3] {
            assert!(
                (MAX_MEMBER_PATH_BYTES - 8..=MAX_MEMBER_PATH_BYTES).contains(&path.len()),
                "{}",
                path.len()
            );
            assert!(path.starts_with("begin/ä") && path.contains("ä…ä") && path.ends_with("ä/end.pdf"));
        }
        let warnings = collected.warnings();
        assert!(warnings[0].message.starts_with("the path of member 0 has 80014 bytes"), "{warnings:?}");
        assert!(warnings[1].message.starts_with("the paths of 2 members"), "{warnings:?}");
        assert_eq!(warnings.len(), 2);
    }

    #[test]
    fn paths_of_a_container_are_cut_shorter_when_there_is_much_of_them() {
        struct Sum(u64);
        impl Sink for Sum {
            fn put(&mut self, found: Found) -> Result<()> {
                if let Found::ChildBegin { path, .. } = found {
                    self.0 += path.len() as u64;
                }
                Ok(())
            }
        }
        let (mut sum, limits) = (Sum(0), Limits::default().for_reader());
        let mut sink = Counted::new(&mut sum, Want::CHILDREN, &limits, 10);
        let path = "long".repeat(1 << 10);
        for position in 0..30_000 {
            sink.put(Found::ChildBegin { position, path: path.clone(), bytes: None }).unwrap();
        }
        sink.finish(Ok(())).unwrap();
        assert!(sum.0 < MAX_PATHS_BYTES + 30_000 * SHORT_PATH_BYTES as u64, "{}", sum.0);
    }

    #[test]
    fn expansion_beyond_ratio_and_total_is_a_bomb() {
        let generous = Limits::default().for_reader();
        let by_ratio = ReadLimits { max_ratio: 2, ratio_from_bytes: 15, ..generous };
        let by_total = ReadLimits { max_unpacked_bytes: 20, ..generous };
        for limits in [by_ratio, by_total] {
            let founds = vec![Found::ChildChunk(vec![0; 20].into()), Found::ChildChunk(vec![0; 1].into())];
            let (collected, result) = counted(&limits, Want::CHILDREN, founds);
            assert_eq!(result.unwrap_err().kind(), ErrorKind::BombSuspected);
            assert_eq!(collected.0.len(), 1);
        }
    }
}
