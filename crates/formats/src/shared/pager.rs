//! Text without pages, cut into pieces that fit a frame.
//!
//! Nearly every file becomes one page. Only text beyond [`PART_BYTES`] is cut, at a line end where there is
//! one, so that a text of any length passes through without being held as a whole.

use docmill_core::Result;
use docmill_core::artifact::{Page, TextSource};
use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::Found;

use crate::shared::document::native_page;
use crate::sink::Sink;

/// The longest page of a format without pages.
const PART_BYTES: usize = 8 << 20;

/// Collects text, puts line ends right, and gives it away as pages.
pub(crate) struct Pager<'a> {
    sink: &'a mut dyn Sink,
    reason: String,
    text: String,
    given: u32,
    replaced: u64,
    characters: u64,
    after_return: bool,
    /// Blank text means that there is none, rather than that it is blank.
    is_document: bool,
}

impl<'a> Pager<'a> {
    /// `reason` says, in words, why this is the text.
    pub(crate) fn new(sink: &'a mut dyn Sink, reason: impl Into<String>) -> Self {
        Self {
            sink,
            reason: reason.into(),
            text: String::new(),
            given: 0,
            replaced: 0,
            characters: 0,
            after_return: false,
            is_document: false,
        }
    }

    /// The same for a document that may consist of pictures alone.
    pub(crate) fn of_document(sink: &'a mut dyn Sink, reason: impl Into<String>) -> Self {
        Self { is_document: true, ..Self::new(sink, reason) }
    }

    /// Adds text; `\r\n` and `\r` become `\n`, also where a piece ends between the two.
    pub(crate) fn push(&mut self, text: &str) -> Result<()> {
        for (i, part) in text.split('\r').enumerate() {
            let mut part = part;
            if i > 0 {
                self.text.push('\n');
            }
            if i > 0 || self.after_return {
                part = part.strip_prefix('\n').unwrap_or(part);
            }
            self.text.push_str(part);
        }
        if !text.is_empty() {
            self.after_return = text.ends_with('\r');
        }
        self.characters += text.chars().count() as u64;
        while self.text.len() > PART_BYTES {
            let limit = self.text.floor_char_boundary(PART_BYTES);
            let cut = self.text[..limit].rfind('\n').map_or(limit, |at| at + 1);
            let rest = self.text.split_off(cut);
            let part = std::mem::replace(&mut self.text, rest);
            self.give(part)?;
        }
        Ok(())
    }

    /// Says that `count` more of the characters stand for bytes that could not be decoded.
    pub(crate) fn replaced(&mut self, count: u64) {
        self.replaced += count;
    }

    /// Gives the last page away. The number of pages comes first where there is only one, else last.
    pub(crate) fn finish(mut self) -> Result<()> {
        let part = std::mem::take(&mut self.text);
        if self.given == 0 {
            self.sink.put(Found::PageCount(1))?;
            self.give(part)?;
        } else {
            if !part.is_empty() {
                self.give(part)?;
            }
            self.sink.put(Found::PageCount(self.given))?;
        }
        if self.replaced > 0 {
            let message = match self.replaced {
                1 => "1 character could not be decoded and was replaced".to_owned(),
                n => format!("{n} characters could not be decoded and were replaced"),
            };
            self.sink.warn(Problem::new(ErrorKind::Corrupt, message))?;
        }
        Ok(())
    }

    fn give(&mut self, text: String) -> Result<()> {
        self.given += 1;
        if self.is_document && text.trim().is_empty() {
            return self.sink.page(native_page(self.given, &self.reason, text));
        }
        let quality = if self.characters == 0 {
            1.0
        } else {
            // Ten lost characters in a hundred make a text worthless to read.
            (1.0 - 10.0 * self.replaced as f32 / self.characters as f32).max(0.0)
        };
        self.sink.page(Page {
            number: self.given,
            source: TextSource::Native,
            reason: self.reason.clone(),
            quality: Some(quality),
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Collected;

    fn paged(pieces: &[&str]) -> Collected {
        let mut sink = Collected::default();
        let mut pager = Pager::new(&mut sink, "test");
        for piece in pieces {
            pager.push(piece).unwrap();
        }
        pager.finish().unwrap();
        sink
    }

    #[test]
    fn line_ends_become_newlines_even_across_pieces() {
        assert_eq!(paged(&["a\r\nb\rc\n\nd"]).text(), "a\nb\nc\n\nd");
        assert_eq!(paged(&["a\r", "\nb\r", "", "c\r", "\r", "\n\n"]).text(), "a\nb\nc\n\n\n");
    }

    #[test]
    fn long_text_is_cut_at_line_ends_and_loses_nothing() {
        let line = "x".repeat(1000) + "\n";
        let text = line.repeat(2 * PART_BYTES / 1000 + 1);
        let sink = paged(&[&text]);
        let pages = sink.pages();
        assert_eq!(pages.len(), 3);
        assert!(pages.iter().all(|p| p.text.ends_with('\n')));
        assert_eq!(pages.iter().map(|p| p.text.as_str()).collect::<String>(), text);
        assert_eq!(sink.0.last(), Some(&Found::PageCount(3)));
    }
}
