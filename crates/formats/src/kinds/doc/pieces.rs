//! The text lies in pieces, in the order in which it was typed; a list says in which order it is read.

use docmill_core::{Error, Result};

use super::header::Header;
use crate::shared::charset::Charset;
use crate::shared::compound::summary::code_page;
use crate::shared::compound::{u16_at, u32_at};

/// Pieces are decoded in parts of this size.
const PART_BYTES: usize = 64 << 10;

/// A run of text in the main stream.
pub(super) struct Piece {
    start: usize,
    characters: usize,
    is_wide: bool,
}

/// Characters with where the next one would stand in the stream.
pub(super) struct Part {
    pub(super) characters: Vec<(char, u32)>,
}

impl Piece {
    fn bytes<'m>(&self, main: &'m [u8]) -> &'m [u8] {
        let width = if self.is_wide { 2 } else { 1 };
        let end = self.start.saturating_add(self.characters.saturating_mul(width)).min(main.len());
        main.get(self.start..end).unwrap_or_default()
    }

    /// The piece in parts. What lies outside of the stream is not there.
    pub(super) fn parts<'m>(&self, main: &'m [u8], narrow: &'m Narrow) -> impl Iterator<Item = Part> + 'm {
        let (start, is_wide) = (self.start, self.is_wide);
        self.bytes(main).chunks(PART_BYTES).enumerate().map(move |(index, part)| {
            let offset = start + index * PART_BYTES;
            let characters = match narrow.double {
                _ if !is_wide => narrow.characters(part, offset),
                None => wide(part, offset),
                Some(charset) => narrow.double(part, offset, charset),
            };
            Part { characters }
        })
    }
}

fn wide(part: &[u8], offset: usize) -> Vec<(char, u32)> {
    let units = part.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let mut at = offset;
    char::decode_utf16(units)
        .map(|c| {
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            at += 2 * c.len_utf16();
            (c, at as u32)
        })
        .collect()
}

/// Characters that are not Unicode. Marks such as the end of a cell are control characters, which stay as they are.
pub(super) struct Narrow {
    /// The characters of one byte.
    single: [char; 256],
    /// The set of characters of two bytes, which the Far East versions have.
    double: Option<Charset>,
}

impl Narrow {
    pub(super) fn of(header: &Header, pieces: &[Piece], main: &[u8]) -> Self {
        let charset = code_page(header.code_page());
        let character = |byte: u8| match byte {
            0..0x80 => char::from(byte),
            _ => charset.decode(&[byte]).text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER),
        };
        let double = match header.double_pages() {
            [] => None,
            [page] => Some(code_page(*page)),
            // Simplified or traditional: the document does not say.
            pages => {
                let text: Vec<u8> = pieces.iter().flat_map(|piece| piece.bytes(main)).copied().collect();
                let swapped: Vec<u8> = text.chunks_exact(2).flat_map(|unit| [unit[1], unit[0]]).collect();
                let guess = Charset::by_statistics(&swapped);
                let mut pages = pages.iter().map(|page| code_page(*page));
                pages.clone().find(|page| *page == guess).or_else(|| pages.next())
            }
        };
        Self { single: std::array::from_fn(|byte| character(byte as u8)), double }
    }

    /// Units of two bytes, of which the upper one comes first in the set. One of 0 or 16 says that the other stands alone.
    fn double(&self, part: &[u8], offset: usize, charset: Charset) -> Vec<(char, u32)> {
        let character = |(index, unit): (usize, &[u8])| {
            let (low, high) = (unit[0], unit[1]);
            let character = match high {
                0 | 0x10 => self.single[usize::from(low)],
                _ => charset.decode(&[high, low]).text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER),
            };
            (character, (offset + 2 * (index + 1)) as u32)
        };
        part.chunks_exact(2).enumerate().map(character).collect()
    }

    fn characters(&self, part: &[u8], offset: usize) -> Vec<(char, u32)> {
        let character =
            |(index, &byte): (usize, &u8)| (self.single[usize::from(byte)], (offset + index + 1) as u32);
        part.iter().enumerate().map(character).collect()
    }
}

/// The pieces in the order they are read.
pub(super) fn read(header: &Header, main: &[u8], table: &[u8]) -> Result<Vec<Piece>> {
    let lists = if header.is_new() { table } else { main };
    let (at, bytes) = (header.pieces.0 as usize, header.pieces.1 as usize);
    let listed = at.checked_add(bytes).and_then(|end| lists.get(at..end)).unwrap_or_default();
    let all: u64 = header.stories.iter().map(|&count| u64::from(count)).sum();
    if let Some(pieces) = list(listed, header) {
        return Ok(pieces);
    }
    if header.is_complex || header.is_new() {
        return Err(Error::corrupt("the document's list of text pieces is damaged"));
    }
    Ok(vec![Piece {
        start: header.text_start as usize,
        characters: all as usize,
        is_wide: !header.double_pages().is_empty(),
    }])
}

/// Reads the list: properties that pieces share, then the pieces themselves.
fn list(mut rest: &[u8], header: &Header) -> Option<Vec<Piece>> {
    const PROPERTIES: u8 = 1;
    const PIECES: u8 = 2;
    while *rest.first()? == PROPERTIES {
        rest = rest.get(3 + usize::from(u16_at(rest, 1)?)..)?;
    }
    if *rest.first()? != PIECES {
        return None;
    }
    let length = u32_at(rest, 1)? as usize;
    let plc = rest.get(5..).map(|plc| plc.get(..length).unwrap_or(plc))?;
    let count = plc.len().checked_sub(4)? / 12;
    let mut out = Vec::new();
    for index in 0..count {
        let (from, to) = (u32_at(plc, index * 4)?, u32_at(plc, index * 4 + 4)?);
        let place = u32_at(plc, (count + 1) * 4 + index * 8 + 2)?;
        let start = place & 0x3fff_ffff;
        let (start, is_wide) = match (header.is_new(), place & 0x4000_0000 != 0) {
            (true, true) => (start / 2, false),
            (true, false) => (start, true),
            (false, _) => (start, !header.double_pages().is_empty()),
        };
        out.push(Piece { start: start as usize, characters: to.saturating_sub(from) as usize, is_wide });
    }
    Some(out)
}
