//! The stream of records, and numbers at fixed places in them.

use crate::shared::compound::{u16_at, u32_at};

/// Records that matter here (MS-XLS 2.3).
pub(super) mod id {
    pub(in super::super) const FORMULA: u16 = 0x0006;
    pub(in super::super) const EOF: u16 = 0x000a;
    pub(in super::super) const HEADER: u16 = 0x0014;
    pub(in super::super) const FOOTER: u16 = 0x0015;
    pub(in super::super) const NOTE: u16 = 0x001c;
    pub(in super::super) const DATES_1904: u16 = 0x0022;
    pub(in super::super) const FILE_PASS: u16 = 0x002f;
    pub(in super::super) const CONTINUE: u16 = 0x003c;
    pub(in super::super) const CODE_PAGE: u16 = 0x0042;
    pub(in super::super) const SHEET: u16 = 0x0085;
    pub(in super::super) const PACKED_CELLS: u16 = 0x00bd;
    pub(in super::super) const FORMAT_OF_CELLS: u16 = 0x00e0;
    pub(in super::super) const SHARED_TEXTS: u16 = 0x00fc;
    pub(in super::super) const SHARED_TEXT_CELL: u16 = 0x00fd;
    pub(in super::super) const RICH_CELL: u16 = 0x00d6;
    pub(in super::super) const TEXT_OBJECT: u16 = 0x01b6;
    pub(in super::super) const NUMBER_CELL_OLD: u16 = 0x0003;
    pub(in super::super) const TEXT_CELL_OLD: u16 = 0x0004;
    pub(in super::super) const NUMBER_CELL: u16 = 0x0203;
    pub(in super::super) const TEXT_CELL: u16 = 0x0204;
    pub(in super::super) const BOOL_CELL: u16 = 0x0205;
    pub(in super::super) const FORMULA_TEXT: u16 = 0x0207;
    pub(in super::super) const PACKED_CELL: u16 = 0x027e;
    pub(in super::super) const FORMULA_3: u16 = 0x0206;
    pub(in super::super) const FORMULA_4: u16 = 0x0406;
    pub(in super::super) const FORMAT: u16 = 0x041e;
    pub(in super::super) const BEGIN_OLD: u16 = 0x0009;
    pub(in super::super) const BEGIN_3: u16 = 0x0209;
    pub(in super::super) const BEGIN_4: u16 = 0x0409;
    pub(in super::super) const BEGIN: u16 = 0x0809;
    /// None of them.
    pub(in super::super) const NOTHING: u16 = 0xffff;
}

/// One record with the pieces that continue it.
pub(super) struct Record<'a> {
    pub(super) id: u16,
    /// Where it stands in the stream.
    pub(super) at: usize,
    /// The record itself, then each continuation.
    pub(super) pieces: Vec<&'a [u8]>,
}

impl<'a> Record<'a> {
    pub(super) fn body(&self) -> &'a [u8] {
        self.pieces.first().copied().unwrap_or_default()
    }

    pub(super) fn u16(&self, at: usize) -> u16 {
        u16_at(self.body(), at).unwrap_or(0)
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32_at(self.body(), at).unwrap_or(0)
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.body().get(at).copied().unwrap_or(0)
    }

    pub(super) fn f64(&self, at: usize) -> f64 {
        self.body().get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0.0, f64::from_le_bytes)
    }
}

/// Walks over a stream of records.
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next record; `None` at the end, or where what follows is none.
    pub(super) fn next(&mut self) -> Option<Record<'a>> {
        let at = self.at;
        let (id, body) = self.one()?;
        let mut pieces = vec![body];
        while u16_at(self.bytes, self.at) == Some(id::CONTINUE) {
            let Some((_, piece)) = self.one() else { break };
            pieces.push(piece);
        }
        Some(Record { id, at, pieces })
    }

    fn one(&mut self) -> Option<(u16, &'a [u8])> {
        let id = u16_at(self.bytes, self.at)?;
        let length = usize::from(u16_at(self.bytes, self.at + 2)?);
        let start = self.at + 4;
        let body = self.bytes.get(start..start + length).or_else(|| self.bytes.get(start..))?;
        self.at = start + length;
        Some((id, body))
    }

    /// Whether everything has been walked over.
    pub(super) fn is_at_end(&self) -> bool {
        // Streams are filled up with zeros.
        self.bytes.get(self.at..).is_none_or(|rest| rest.len() < 4 || rest.iter().take(64).all(|&b| b == 0))
    }
}
