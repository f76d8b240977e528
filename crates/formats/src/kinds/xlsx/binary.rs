//! Workbooks whose parts are binary (`.xlsb`, MS-XLSB): the same sheets, texts and formats as records.

use std::collections::HashMap;
use std::io::Read;

use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};

use super::book::Book;
use super::strings::Strings;
use crate::shared::cells::{Shown, error_name, number, packed_number};
use crate::shared::flow::Flow;
use crate::shared::package::from_io;

/// A record holds at most one text, of at most 32,767 characters; rich ones have their looks after it.
const MAX_RECORD_BYTES: u32 = 16 << 20;

/// Formats of one workbook beyond this are shown as plain numbers.
const MAX_FORMATS: usize = 100_000;

/// Records that matter here.
mod id {
    pub(super) const ROW: u32 = 0;
    pub(super) const CELL_PACKED: u32 = 2;
    pub(super) const CELL_ERROR: u32 = 3;
    pub(super) const CELL_BOOL: u32 = 4;
    pub(super) const CELL_REAL: u32 = 5;
    pub(super) const CELL_TEXT: u32 = 6;
    pub(super) const CELL_SHARED: u32 = 7;
    pub(super) const FORMULA_TEXT: u32 = 8;
    pub(super) const FORMULA_REAL: u32 = 9;
    pub(super) const FORMULA_BOOL: u32 = 10;
    pub(super) const FORMULA_ERROR: u32 = 11;
    pub(super) const SHARED_TEXT: u32 = 19;
    pub(super) const FORMAT: u32 = 44;
    pub(super) const CELL_FORMAT: u32 = 47;
    pub(super) const CELL_RICH: u32 = 62;
    pub(super) const WORKBOOK: u32 = 153;
    pub(super) const SHEET: u32 = 156;
    pub(super) const BEGIN_CELL_FORMATS: u32 = 617;
    pub(super) const END_CELL_FORMATS: u32 = 618;
    pub(super) const COMMENT_AUTHOR: u32 = 632;
    pub(super) const BEGIN_COMMENT: u32 = 635;
    pub(super) const COMMENT_TEXT: u32 = 637;
}

/// One record after the other.
struct Records<R> {
    from: R,
    what: String,
    body: Vec<u8>,
}

impl<R: Read> Records<R> {
    fn new(from: R, what: &str) -> Self {
        Self { from, what: what.to_owned(), body: Vec::new() }
    }

    /// The next record's number; its body is in `body`.
    fn next(&mut self) -> Result<Option<u32>> {
        let Some(id) = self.number(2)? else { return Ok(None) };
        let length = self.number(4)?.unwrap_or(0);
        if length > MAX_RECORD_BYTES {
            let what = &self.what;
            return Err(Error::corrupt(format!("`{what}` has a record of {length} bytes, which is none")));
        }
        self.body.clear();
        let read = (&mut self.from).take(u64::from(length)).read_to_end(&mut self.body);
        if read.map_err(|e| from_io(&e, &self.what))? < length as usize {
            return Err(Error::corrupt(format!("`{}` is cut off inside a record", self.what)));
        }
        Ok(Some(id))
    }

    /// A number of seven bits a byte; the identifier keeps the upper bits as they stand.
    fn number(&mut self, max_bytes: u32) -> Result<Option<u32>> {
        let mut value = 0_u32;
        for at in 0..max_bytes {
            let mut byte = [0_u8; 1];
            if self.from.read(&mut byte).map_err(|e| from_io(&e, &self.what))? == 0 {
                return Ok(None);
            }
            value |= u32::from(byte[0] & 0x7f) << (7 * at);
            if byte[0] & 0x80 == 0 {
                break;
            }
        }
        Ok(Some(value))
    }

    fn u32(&self, at: usize) -> u32 {
        self.body.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn u16(&self, at: usize) -> u16 {
        self.body.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
    }

    fn f64(&self, at: usize) -> f64 {
        self.body.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0.0, f64::from_le_bytes)
    }

    fn byte(&self, at: usize) -> u8 {
        self.body.get(at).copied().unwrap_or(0)
    }

    /// A text after its length, and where it ends.
    fn text(&self, at: usize) -> (String, usize) {
        let length = self.u32(at);
        // The text that is not there has this length.
        if length == u32::MAX {
            return (String::new(), at + 4);
        }
        let end = at.saturating_add(4).saturating_add((length as usize).saturating_mul(2));
        let bytes = self.body.get(at + 4..end.min(self.body.len())).unwrap_or_default();
        let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        (char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect(), end)
    }
}

pub(super) fn book(from: impl Read, what: &str, book: &mut Book, limits: &ReadLimits) -> Result<()> {
    let mut records = Records::new(from, what);
    while let Some(id) = records.next()? {
        match id {
            id::WORKBOOK => book.from_1904 = records.u32(0) & 1 == 1,
            id::SHEET => {
                let (relation, after) = records.text(8);
                let (name, _) = records.text(after);
                book.add_sheet(name, records.u32(0) != 0, Some(&relation), limits);
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn strings(from: impl Read, what: &str, strings: &mut Strings, limits: &ReadLimits) -> Result<()> {
    let mut records = Records::new(from, what);
    while let Some(id) = records.next()? {
        if id == id::SHARED_TEXT {
            strings.add(&records.text(1).0, limits)?;
        }
    }
    Ok(())
}

pub(super) fn styles(from: impl Read, what: &str, formats: &mut Vec<Shown>) -> Result<()> {
    let mut records = Records::new(from, what);
    let (mut own, mut in_cells) = (HashMap::new(), false);
    while let Some(id) = records.next()? {
        match id {
            id::FORMAT if own.len() < MAX_FORMATS => {
                own.insert(records.u16(0), Shown::of_code(&records.text(2).0));
            }
            id::BEGIN_CELL_FORMATS => in_cells = true,
            id::END_CELL_FORMATS => in_cells = false,
            id::CELL_FORMAT if in_cells && formats.len() < MAX_FORMATS => {
                let id = records.u16(2);
                let shown = own.get(&id).copied().or_else(|| Shown::builtin(u32::from(id)));
                formats.push(shown.unwrap_or_default());
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn sheet(from: impl Read, what: &str, book: &Book, flow: &mut Flow) -> Result<()> {
    let mut records = Records::new(from, what);
    flow.begin_table();
    let result = loop {
        let id = match records.next() {
            Ok(Some(id)) => id,
            Ok(None) => break Ok(()),
            Err(e) => break Err(e),
        };
        let column = records.u32(0);
        let format = (records.u32(4) & 0x00ff_ffff) as usize;
        let shown = |value| number(value, book.shown(format), book.from_1904);
        let text = match id {
            id::ROW => {
                flow.end_row();
                continue;
            }
            id::CELL_PACKED => shown(packed_number(records.u32(8))),
            id::CELL_REAL | id::FORMULA_REAL => shown(records.f64(8)),
            id::CELL_TEXT | id::FORMULA_TEXT => records.text(8).0,
            id::CELL_RICH => records.text(9).0,
            id::CELL_SHARED => book.strings.get(records.u32(8) as usize).unwrap_or_default().to_owned(),
            id::CELL_BOOL | id::FORMULA_BOOL => {
                if records.byte(8) == 1 {
                    "TRUE".into()
                } else {
                    "FALSE".into()
                }
            }
            id::CELL_ERROR | id::FORMULA_ERROR => error_name(records.byte(8)).into(),
            _ => continue,
        };
        flow.text_in_column(column, &text);
    };
    flow.end_table();
    result
}

pub(super) fn comments(from: impl Read, what: &str, flow: &mut Flow) -> Result<()> {
    let mut records = Records::new(from, what);
    let mut authors = Vec::new();
    while let Some(id) = records.next()? {
        match id {
            id::COMMENT_AUTHOR => authors.push(records.text(0).0),
            id::BEGIN_COMMENT => {
                let by = authors.get(records.u32(0) as usize).map_or("", String::as_str);
                let (row, column) = (records.u32(4), records.u32(12));
                flow.end_line();
                flow.label(format!(
                    "comment on row {}, column {} by {by}:",
                    row.saturating_add(1),
                    column.saturating_add(1)
                ));
            }
            id::COMMENT_TEXT => {
                flow.text(&records.text(1).0.replace('\n', " "));
                flow.end_line();
            }
            _ => {}
        }
    }
    Ok(())
}
