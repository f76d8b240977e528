//! Records to sheets.

use std::collections::HashMap;

use docmill_core::wire::{Found, ReadLimits};
use docmill_core::{Error, Result};

use super::records::{Record, Records, id};
use super::strings::{Cursor, Strings};
use crate::shared::cells::{Shown, error_name, header_text, number, packed_number};
use crate::shared::charset::Charset;
use crate::shared::compound::summary::code_page;
use crate::shared::document::{Troubles, native_page};
use crate::shared::flow::Flow;
use crate::sink::Sink;

/// Formats of one workbook beyond this are shown as plain numbers.
const MAX_FORMATS: usize = 100_000;

/// Comments and boxes of one sheet beyond this are passed over.
const MAX_BESIDE: usize = 100_000;

/// A sheet as the workbook lists it.
struct Listed {
    name: String,
    is_hidden: bool,
    at: usize,
}

/// Reads one workbook.
pub(super) struct Reader {
    limits: ReadLimits,
    version: u16,
    charset: Charset,
    from_1904: bool,
    sheets: Vec<Listed>,
    strings: Strings,
    own_formats: HashMap<u16, Shown>,
    formats: Vec<Shown>,
    given: u32,
}

/// The sheet at hand.
#[derive(Default)]
struct Page {
    flow: Flow,
    row: Option<u16>,
    beside: Vec<String>,
    /// The cell of a formula whose text follows.
    waits: Option<u16>,
    /// It has begun: its first line is written.
    is_open: bool,
}

impl Reader {
    pub(super) fn new(limits: &ReadLimits) -> Self {
        Self {
            limits: *limits,
            version: 0,
            charset: Charset::Web(encoding_rs::WINDOWS_1252),
            from_1904: false,
            sheets: Vec::new(),
            strings: Strings::default(),
            own_formats: HashMap::new(),
            formats: Vec::new(),
            given: 0,
        }
    }

    /// Reads the stream. A password stands at its beginning, before any text.
    pub(super) fn read(mut self, bytes: &[u8], troubles: &mut Troubles, sink: &mut dyn Sink) -> Result<()> {
        let mut records = Records::new(bytes);
        let mut page = Page::default();
        // Charts and macros have parts of their own, some inside those of a sheet.
        let mut depth = 0_u32;
        while let Some(record) = records.next() {
            match record.id {
                id::BEGIN | id::BEGIN_4 | id::BEGIN_3 | id::BEGIN_OLD => {
                    depth += 1;
                    self.begin(&record, depth, &mut page);
                }
                id::EOF => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && page.is_open {
                        self.give(&mut page, troubles, sink)?;
                    }
                }
                id::FILE_PASS => {
                    return Err(Error::encrypted("the workbook is encrypted; a password is needed"));
                }
                _ if page.is_open => self.cell(&record, &mut page),
                _ => troubles.note(self.globals(&record))?,
            }
        }
        if page.is_open {
            self.give(&mut page, troubles, sink)?;
            troubles.add(Error::corrupt("the workbook ends inside a sheet; it is cut off"));
        } else if !records.is_at_end() {
            troubles.add(Error::corrupt("the workbook's records end before its stream does"));
        }
        sink.put(Found::PageCount(self.given))
    }

    /// A part begins: the workbook's own, or a sheet.
    fn begin(&mut self, record: &Record<'_>, depth: u32, page: &mut Page) {
        const GLOBALS: u16 = 5;
        if self.version == 0 {
            self.version = match record.id {
                id::BEGIN if record.u16(0) == 0x0600 => 8,
                id::BEGIN => 5,
                id::BEGIN_4 => 4,
                id::BEGIN_3 => 3,
                _ => 2,
            };
        }
        let kind = record.u16(2);
        if depth > 1 || kind == GLOBALS || page.is_open {
            return;
        }
        page.is_open = true;
        let listed = self.sheets.iter().find(|sheet| sheet.at == record.at);
        let (name, is_hidden) = match listed {
            Some(sheet) => (sheet.name.clone(), sheet.is_hidden),
            None => (format!("Sheet{}", self.given + 1), false),
        };
        page.flow.text(&name);
        if is_hidden {
            page.flow.text(" (hidden sheet)");
        }
        page.flow.end_line();
        page.flow.begin_table();
    }

    fn give(&mut self, page: &mut Page, troubles: &mut Troubles, sink: &mut dyn Sink) -> Result<()> {
        let mut page = std::mem::take(page);
        page.flow.end_table();
        for line in &page.beside {
            page.flow.text(line);
            page.flow.end_line();
        }
        troubles.cut(&page.flow);
        self.given += 1;
        sink.page(native_page(self.given, "cells of the sheet", page.flow.finish()))
    }

    /// A record of the workbook as a whole.
    fn globals(&mut self, record: &Record<'_>) -> Result<()> {
        match record.id {
            id::CODE_PAGE => self.charset = code_page(record.u16(0)),
            id::DATES_1904 => self.from_1904 = record.u16(0) == 1,
            id::SHEET if self.sheets.len() <= self.limits.max_pages as usize => {
                let name = self.short_text(record, 6);
                let is_hidden = record.byte(4) & 3 != 0;
                self.sheets.push(Listed { name, is_hidden, at: record.u32(0) as usize });
            }
            id::FORMAT if self.own_formats.len() < MAX_FORMATS => {
                let code = if self.version == 8 {
                    Cursor::new(&record.pieces, 2).rich().unwrap_or_default()
                } else {
                    self.short_text(record, 2)
                };
                self.own_formats.insert(record.u16(0), Shown::of_code(&code));
            }
            id::FORMAT_OF_CELLS if self.formats.len() < MAX_FORMATS => {
                let id = record.u16(2);
                let shown = self.own_formats.get(&id).copied().or_else(|| Shown::builtin(u32::from(id)));
                self.formats.push(shown.unwrap_or_default());
            }
            id::SHARED_TEXTS => return self.strings.read(&record.pieces, &self.limits),
            _ => {}
        }
        Ok(())
    }

    /// A text after one byte of length.
    fn short_text(&self, record: &Record<'_>, at: usize) -> String {
        let length = usize::from(record.byte(at));
        if self.version == 8 {
            let is_wide = record.byte(at + 1) & 1 == 1;
            return Cursor::new(&record.pieces, at + 2).characters(length, is_wide).unwrap_or_default();
        }
        let bytes = record.body().get(at + 1..).unwrap_or_default();
        self.charset.decode(&bytes[..bytes.len().min(length)]).text
    }

    /// A text after two bytes of length.
    fn long_text(&self, record: &Record<'_>, at: usize) -> String {
        if self.version == 8 {
            return Cursor::new(&record.pieces, at).rich().unwrap_or_default();
        }
        let bytes = record.body().get(at + 2..).unwrap_or_default();
        self.charset.decode(&bytes[..bytes.len().min(usize::from(record.u16(at)))]).text
    }

    /// A record of a sheet.
    fn cell(&mut self, record: &Record<'_>, page: &mut Page) {
        let (row, column) = (record.u16(0), record.u16(2));
        match record.id {
            id::NUMBER_CELL => self.write_number(page, record, record.f64(6)),
            id::PACKED_CELL => self.write_number(page, record, packed_number(record.u32(6))),
            id::PACKED_CELLS => {
                let count = record.body().len().saturating_sub(6) / 6;
                for i in 0..count {
                    let at = 4 + i * 6;
                    let shown = self.shown(record.u16(at));
                    let text = number(packed_number(record.u32(at + 2)), shown, self.from_1904);
                    write(page, row, column.saturating_add(i as u16), &text);
                }
            }
            id::SHARED_TEXT_CELL => {
                let text = self.strings.get(record.u32(6) as usize).unwrap_or_default();
                write(page, row, column, text);
            }
            id::TEXT_CELL | id::RICH_CELL => {
                let text = self.long_text(record, 6);
                write(page, row, column, &text);
            }
            // Cells of the first versions have three bytes of looks.
            id::NUMBER_CELL_OLD => {
                write(page, row, column, &number(record.f64(7), Shown::Number, self.from_1904));
            }
            id::TEXT_CELL_OLD => {
                let bytes = record.body().get(8..).unwrap_or_default();
                let text = self.charset.decode(&bytes[..bytes.len().min(usize::from(record.byte(7)))]).text;
                write(page, row, column, &text);
            }
            id::BOOL_CELL => {
                let value = record.byte(6);
                let text = match record.byte(7) {
                    0 if value == 0 => "FALSE",
                    0 => "TRUE",
                    _ => error_name(value),
                };
                write(page, row, column, text);
            }
            id::FORMULA | id::FORMULA_3 | id::FORMULA_4 => self.formula(record, page),
            id::FORMULA_TEXT => {
                if let Some(column) = page.waits.take() {
                    let text = self.long_text(record, 0);
                    let row = page.row.unwrap_or_default();
                    write(page, row, column, &text);
                }
            }
            id::HEADER | id::FOOTER if !record.body().is_empty() => {
                let coded =
                    if self.version == 8 { self.long_text(record, 0) } else { self.short_text(record, 0) };
                let text = header_text(&coded);
                if !text.is_empty() && page.beside.len() < MAX_BESIDE {
                    page.beside.push(text);
                }
            }
            id::NOTE if self.version < 8 && page.beside.len() < MAX_BESIDE => {
                let bytes = record.body().get(6..).unwrap_or_default();
                page.beside.push(format!("comment: {}", self.charset.decode(bytes).text));
            }
            // The text of a comment or a box stands in the record's continuation.
            id::TEXT_OBJECT if page.beside.len() < MAX_BESIDE => {
                let length = usize::from(record.u16(10));
                if let Some(first) = record.pieces.get(1).and_then(|piece| piece.first()) {
                    let text = Cursor::new(&record.pieces[1..], 1).characters(length, first & 1 == 1);
                    page.beside.extend(text.filter(|text| !text.trim().is_empty()));
                }
            }
            _ => {}
        }
    }

    fn formula(&mut self, record: &Record<'_>, page: &mut Page) {
        let (row, column) = (record.u16(0), record.u16(2));
        // A value that is no number ends with two full bytes.
        if record.u16(12) != 0xffff {
            return self.write_number(page, record, record.f64(6));
        }
        match record.byte(6) {
            0 => {
                // The row begins here, so that the text that follows finds its place.
                begin_row(page, row);
                page.waits = Some(column);
            }
            1 => write(page, row, column, if record.byte(8) == 0 { "FALSE" } else { "TRUE" }),
            2 => write(page, row, column, error_name(record.byte(8))),
            _ => {}
        }
    }

    fn write_number(&self, page: &mut Page, record: &Record<'_>, value: f64) {
        let text = number(value, self.shown(record.u16(4)), self.from_1904);
        write(page, record.u16(0), record.u16(2), &text);
    }

    fn shown(&self, format: u16) -> Shown {
        self.formats.get(usize::from(format)).copied().unwrap_or_default()
    }
}

fn begin_row(page: &mut Page, row: u16) {
    if page.row != Some(row) {
        page.flow.end_row();
        page.row = Some(row);
    }
}

fn write(page: &mut Page, row: u16, column: u16, text: &str) {
    begin_row(page, row);
    page.flow.text_in_column(u32::from(column), text);
}
