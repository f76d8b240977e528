//! A file of any length, line by line. A line longer than [`PIECE_BYTES`] comes in pieces, so that nothing grows
//! with what a file holds.

use std::ops::Range;

use docmill_core::Result;

use crate::input::Input;

/// The longest piece of a line that comes at once.
const PIECE_BYTES: usize = 64 << 10;

/// How much is read at once.
const BUFFER_BYTES: usize = 4 * PIECE_BYTES;

/// No file of lines that end as on the first Macintosh is larger.
const MAX_OLD_BYTES: u64 = 64 << 20;

/// A file whose lines end as on the first Macintosh, with a carriage return alone, as one whose lines end as everybody
/// else's; `None` if they do already.
pub(crate) fn with_usual_ends(input: &mut Input) -> Result<Option<Input>> {
    let head = input.head(PIECE_BYTES as u64)?;
    let is_old = head.contains(&b'\r') && !head.contains(&b'\n') && input.length() <= MAX_OLD_BYTES;
    if !is_old {
        return Ok(None);
    }
    let mut bytes = input.whole(MAX_OLD_BYTES)?.to_vec();
    bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
    Ok(Some(Input::from_bytes(bytes)))
}

/// A line with its end, or a piece of a long one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line<'a> {
    /// The bytes, with the line end if it is reached.
    pub(crate) bytes: &'a [u8],
    /// Whether a line begins here, rather than goes on.
    pub(crate) begins: bool,
    /// Where it stands in the file.
    pub(crate) at: u64,
}

impl<'a> Line<'a> {
    /// The line apart from its end.
    pub(crate) fn split_end(&self) -> (&'a [u8], &'a [u8]) {
        let bytes = self.bytes;
        let end = match bytes {
            [.., b'\r', b'\n'] => 2,
            [.., b'\n'] => 1,
            _ => 0,
        };
        bytes.split_at(bytes.len() - end)
    }

    /// Nothing but white space.
    pub(crate) fn is_blank(&self) -> bool {
        self.begins && self.bytes.trim_ascii().is_empty()
    }
}

/// Reads lines from where the input stands.
pub(crate) struct Lines<'a> {
    input: &'a mut Input,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at: u64,
    /// What stands from here on is not read.
    until: u64,
    begins: bool,
    again: Option<(usize, bool)>,
}

impl<'a> Lines<'a> {
    /// Lines from byte `at` on.
    pub(crate) fn from(input: &'a mut Input, at: u64) -> Result<Self> {
        Self::within(input, at..u64::MAX)
    }

    /// Lines of a part of the file.
    pub(crate) fn within(input: &'a mut Input, part: Range<u64>) -> Result<Self> {
        input.go_to(part.start)?;
        let buffer = vec![0; BUFFER_BYTES];
        Ok(Self {
            input,
            buffer,
            start: 0,
            end: 0,
            at: part.start,
            until: part.end,
            begins: true,
            again: None,
        })
    }

    /// The next line; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>> {
        if self.end - self.start < PIECE_BYTES {
            self.refill()?;
        }
        let rest = &self.buffer[self.start..self.end.min(self.start + PIECE_BYTES)];
        if rest.is_empty() {
            return Ok(None);
        }
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        self.again = Some((length, self.begins));
        let line = Line { bytes: &rest[..length], begins: self.begins, at: self.at };
        self.start += length;
        self.at += length as u64;
        self.begins = line.bytes.ends_with(b"\n");
        Ok(Some(line))
    }

    /// Makes the line that came last come again.
    pub(crate) fn give_back(&mut self) {
        if let Some((length, begins)) = self.again.take() {
            self.start -= length;
            self.at -= length as u64;
            self.begins = begins;
        }
    }

    /// Goes on at byte `at`, which must be where a line begins.
    pub(crate) fn go_to(&mut self, at: u64) -> Result<()> {
        self.input.go_to(at)?;
        (self.start, self.end, self.at, self.begins, self.again) = (0, 0, at, true, None);
        Ok(())
    }

    /// Where the next line stands.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    fn refill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let left = self.until.saturating_sub(self.at + self.end as u64);
        let room = self.buffer.len() - self.end;
        let more = usize::try_from(left).unwrap_or(room).min(room);
        self.end += self.input.fill(&mut self.buffer[self.end..self.end + more])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_ends_and_long_ones_come_in_pieces() {
        let mut bytes = b"a\r\n\nbc".to_vec();
        bytes.extend(vec![b'x'; 2 * PIECE_BYTES]);
        bytes.extend(b"\nend");
        let mut input = Input::from_bytes(bytes.clone());
        let mut lines = Lines::from(&mut input, 0).unwrap();
        let (mut seen, mut joined) = (Vec::new(), Vec::<u8>::new());
        while let Some(line) = lines.next().unwrap() {
            assert_eq!(line.at, joined.len() as u64);
            joined.extend(line.bytes);
            seen.push((line.bytes.len(), line.begins));
        }
        assert_eq!(joined, bytes);
        let expected =
            [(3, true), (1, true), (PIECE_BYTES, true), (PIECE_BYTES, false), (3, false), (3, true)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn line_given_back_comes_again() {
        let mut input = Input::from_bytes(b"one\ntwo\n".to_vec());
        let mut lines = Lines::from(&mut input, 0).unwrap();
        lines.next().unwrap();
        lines.give_back();
        assert_eq!(lines.next().unwrap().unwrap().bytes, b"one\n");
        lines.go_to(4).unwrap();
        assert_eq!(lines.next().unwrap().unwrap().bytes, b"two\n");
        assert!(lines.next().unwrap().is_none());
        let mut part = Lines::within(&mut input, 1..6).unwrap();
        assert_eq!(part.next().unwrap().unwrap().bytes, b"ne\n");
        assert_eq!(part.next().unwrap().unwrap().bytes, b"tw");
        assert!(part.next().unwrap().is_none());
    }
}
