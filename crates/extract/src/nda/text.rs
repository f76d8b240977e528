//! The text of all pages on one line, and back to the pages and the boxes of words.

use docmill_core::words::{PageWords, PlacedWord};

use super::Page;

/// Text that is looked at: hundreds of pages. An estimate.
const MAX_BYTES: usize = 1 << 20;

/// The words of all pages with one space between, and the same in small letters, byte for byte.
pub(super) struct Text {
    plain: String,
    small: String,
    /// Where each page begins.
    pages: Vec<(usize, u32)>,
}

impl Text {
    pub(super) fn new(pages: &[Page<'_>]) -> Self {
        let mut plain = String::new();
        let mut starts = Vec::new();
        for page in pages {
            starts.push((plain.len(), page.number));
            for word in page.text.split_whitespace() {
                if plain.len() + word.len() > MAX_BYTES {
                    break;
                }
                plain.push_str(word);
                plain.push(' ');
            }
        }
        Self { small: plain.to_ascii_lowercase(), plain, pages: starts }
    }

    pub(super) fn plain(&self) -> &str {
        &self.plain
    }

    pub(super) fn small(&self) -> &str {
        &self.small
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &str {
        self.plain.get(start..end).unwrap_or_default()
    }

    /// The page on which this place is.
    pub(super) fn page(&self, at: usize) -> Option<u32> {
        self.pages.iter().rev().find(|(start, _)| *start <= at).map(|(_, number)| *number)
    }

    /// Where this phrase, in small letters, ends each time.
    pub(super) fn after<'t>(&'t self, phrase: &'t str) -> impl Iterator<Item = usize> + 't {
        self.small.match_indices(phrase).map(|(at, phrase)| at + phrase.len())
    }

    /// So many bytes from here, or fewer.
    pub(super) fn ahead(&self, at: usize, bytes: usize) -> &str {
        let rest = self.plain.get(at..).unwrap_or_default();
        &rest[..rest.floor_char_boundary(bytes)]
    }

    /// So many bytes before here in small letters, or fewer.
    pub(super) fn before(&self, at: usize, bytes: usize) -> &str {
        let end = self.small.floor_char_boundary(at);
        let start = self.small.ceil_char_boundary(end.saturating_sub(bytes));
        self.small.get(start..end).unwrap_or_default()
    }
}

/// The box around the words of a page that read like the span, where they first do. Of what goes on overleaf it is the
/// box of what stands here.
pub(super) fn frame(page: &PageWords, span: &str) -> Option<[f32; 4]> {
    let wanted: Vec<&str> = span.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let same = |word: &str, wanted: &str| word == wanted || bare(word) == bare(wanted);
    let follows = |run: &[PlacedWord]| run.iter().zip(&wanted).all(|(word, wanted)| same(&word.text, wanted));
    let overleaf = || {
        let from = page.words.len().saturating_sub(wanted.len());
        (from..page.words.len()).map(|from| &page.words[from..]).find(|run| follows(run))
    };
    let run = page.words.windows(wanted.len().max(1)).find(|run| follows(run)).or_else(overleaf)?;
    if wanted.is_empty() {
        return None;
    }
    let left = run.iter().map(|w| w.x).fold(f32::MAX, f32::min);
    let top = run.iter().map(|w| w.y).fold(f32::MAX, f32::min);
    let right = run.iter().map(|w| w.x + w.width).fold(0.0, f32::max);
    let bottom = run.iter().map(|w| w.y + w.height).fold(0.0, f32::max);
    Some([left, top, right - left, bottom - top])
}
