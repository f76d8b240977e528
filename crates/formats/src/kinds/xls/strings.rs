//! Texts in records: with eight or sixteen bits a character, and cut apart where a record ends.

use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};

use crate::shared::compound::{u16_at, wide};

/// They are held, so they may not be as long as all of the text.
const MAX_BYTES: usize = 128 << 20;

/// Walks over the pieces of one record.
pub(super) struct Cursor<'p, 'a> {
    pieces: &'p [&'a [u8]],
    piece: usize,
    at: usize,
}

impl<'p, 'a> Cursor<'p, 'a> {
    pub(super) fn new(pieces: &'p [&'a [u8]], at: usize) -> Self {
        Self { pieces, piece: 0, at }
    }

    fn rest(&self) -> &'a [u8] {
        self.pieces.get(self.piece).and_then(|piece| piece.get(self.at..)).unwrap_or_default()
    }

    fn settle(&mut self) -> bool {
        while self.rest().is_empty() {
            if self.piece + 1 >= self.pieces.len() {
                return false;
            }
            self.piece += 1;
            self.at = 0;
        }
        true
    }

    pub(super) fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        while out.len() < count {
            if !self.settle() {
                return None;
            }
            let part = &self.rest()[..self.rest().len().min(count - out.len())];
            out.extend_from_slice(part);
            self.at += part.len();
        }
        Some(out)
    }

    fn skip(&mut self, mut count: usize) -> Option<()> {
        while count > 0 {
            if !self.settle() {
                return None;
            }
            let step = self.rest().len().min(count);
            self.at += step;
            count -= step;
        }
        Some(())
    }

    /// A text of `length` characters whose first byte says how wide they are. At the beginning of each continuation
    /// that byte stands again.
    pub(super) fn characters(&mut self, length: usize, mut is_wide: bool) -> Option<String> {
        let mut out = String::new();
        let mut left = length;
        while left > 0 {
            if self.rest().is_empty() {
                if !self.settle() {
                    return (!out.is_empty()).then_some(out);
                }
                is_wide = self.rest().first()? & 1 == 1;
                self.at += 1;
                continue;
            }
            let width = if is_wide { 2 } else { 1 };
            let count = (self.rest().len() / width).min(left);
            if count == 0 {
                // Half a character before the end of a piece: damage.
                self.at += self.rest().len();
                continue;
            }
            let bytes = &self.rest()[..count * width];
            if is_wide {
                out.push_str(&wide(bytes));
            } else {
                out.extend(bytes.iter().map(|&b| char::from(b)));
            }
            self.at += bytes.len();
            left -= count;
        }
        Some(out)
    }

    /// A text with its length and flags before it, and looks and pronunciation after it.
    pub(super) fn rich(&mut self) -> Option<String> {
        let head = self.take(3)?;
        let (length, flags) = (usize::from(u16_at(&head, 0)?), head[2]);
        let runs = if flags & 8 != 0 { usize::from(u16_at(&self.take(2)?, 0)?) } else { 0 };
        let extra =
            if flags & 4 != 0 { crate::shared::compound::u32_at(&self.take(4)?, 0)? as usize } else { 0 };
        let text = self.characters(length, flags & 1 == 1)?;
        self.skip(runs * 4)?;
        self.skip(extra)?;
        Some(text)
    }
}

/// The texts that cells share.
#[derive(Default)]
pub(super) struct Strings {
    texts: Vec<Box<str>>,
    bytes: usize,
}

impl Strings {
    pub(super) fn get(&self, index: usize) -> Option<&str> {
        self.texts.get(index).map(AsRef::as_ref)
    }

    pub(super) fn read(&mut self, pieces: &[&[u8]], limits: &ReadLimits) -> Result<()> {
        let limit = MAX_BYTES.min(limits.max_text_bytes as usize);
        let mut cursor = Cursor::new(pieces, 8);
        let count = pieces.first().and_then(|p| crate::shared::compound::u32_at(p, 4)).unwrap_or(0);
        for _ in 0..count {
            let Some(text) = cursor.rich() else {
                return Err(Error::corrupt("the list of shared texts is cut off"));
            };
            // An empty text costs its place.
            self.bytes += text.len() + 16;
            if self.bytes > limit {
                return Err(Error::limit_exceeded(format!(
                    "shared texts of the workbook have more than {limit} bytes; cells with the rest are empty"
                )));
            }
            self.texts.push(text.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;

    use super::*;

    #[test]
    fn texts_go_on_in_the_next_piece_with_another_width() {
        let first = [&[0; 4][..], &[2, 0, 0, 0], &[4, 0, 0], b"ab"].concat();
        let second = [&[1][..], b"c\0d\0", &[1, 0, 8, 1, 0], b"x", &[0; 4]].concat();
        let mut strings = Strings::default();
        strings.read(&[&first, &second], &Limits::default().for_reader()).unwrap();
        assert_eq!((strings.get(0), strings.get(1), strings.get(2)), (Some("abcd"), Some("x"), None));
    }

    #[test]
    fn lists_that_lie_about_their_length_are_cut_off() {
        let lying = [&[0; 4][..], &[0xff; 4], &[1, 0, 0], b"x"].concat();
        let mut strings = Strings::default();
        assert!(strings.read(&[&lying], &Limits::default().for_reader()).is_err());
        assert_eq!(strings.get(0), Some("x"));
    }
}
