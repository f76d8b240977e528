//! Which paragraphs are in tables, and which end a row. Cells and rows end with the same character; only the
//! paragraph's properties tell them apart.

use std::collections::HashMap;

use super::header::Header;
use crate::shared::compound::{u16_at, u32_at};

/// Properties of paragraphs lie in pages of this size.
const PAGE_BYTES: usize = 512;

/// The properties that say so: in new documents, and in old ones.
const IN_TABLE: u16 = 0x2416;
const ENDS_ROW: u16 = 0x2417;
const IN_TABLE_OLD: u8 = 24;
const ENDS_ROW_OLD: u8 = 25;

/// What a paragraph is to a table.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Paragraph {
    pub(super) is_in_table: bool,
    pub(super) ends_row: bool,
}

/// Paragraphs in tables by the position in the main stream right after them. Damage here costs the tables' shape only.
pub(super) fn read(header: &Header, main: &[u8], table: &[u8]) -> HashMap<u32, Paragraph> {
    let mut out = HashMap::new();
    let lists = if header.is_new() { table } else { main };
    let (at, bytes) = (header.paragraphs.0 as usize, header.paragraphs.1 as usize);
    let plc = at.checked_add(bytes).and_then(|end| lists.get(at..end)).unwrap_or_default();
    // New documents name pages by four bytes, old ones by two.
    let width = if header.is_new() { 4 } else { 2 };
    let count = plc.len().saturating_sub(4) / (4 + width);
    for index in 0..count {
        let place = (count + 1) * 4 + index * width;
        let page = if header.is_new() {
            u32_at(plc, place).map(|page| page & 0x003f_ffff)
        } else {
            u16_at(plc, place).map(u32::from)
        };
        let start = page.map_or(usize::MAX, |page| page as usize * PAGE_BYTES);
        if let Some(page) = start.checked_add(PAGE_BYTES).and_then(|end| main.get(start..end)) {
            read_page(page, header.is_new(), &mut out);
        }
    }
    out
}

fn read_page(page: &[u8], is_new: bool, out: &mut HashMap<u32, Paragraph>) {
    let runs = usize::from(page[PAGE_BYTES - 1]);
    let entry = if is_new { 13 } else { 7 };
    for run in 0..runs {
        let Some(&offset) = page.get((runs + 1) * 4 + run * entry) else { return };
        let Some(end) = u32_at(page, (run + 1) * 4) else { return };
        let properties = page.get(usize::from(offset) * 2..).unwrap_or_default();
        let found = if offset == 0 { None } else { of_properties(properties, is_new) };
        if let Some(paragraph) = found.filter(|paragraph| paragraph.is_in_table || paragraph.ends_row) {
            out.insert(end, paragraph);
        }
    }
}

/// What a paragraph's properties say.
fn of_properties(properties: &[u8], is_new: bool) -> Option<Paragraph> {
    let words = usize::from(*properties.first()?);
    let mut out = Paragraph::default();
    if !is_new {
        // The number of the style, then properties of one byte's name.
        let list = properties.get(2..(1 + words * 2).min(properties.len()))?;
        out.is_in_table = list.windows(2).any(|pair| pair == [IN_TABLE_OLD, 1]);
        out.ends_row = list.windows(2).any(|pair| pair == [ENDS_ROW_OLD, 1]);
        return Some(out);
    }
    let (start, length) =
        if words == 0 { (2, usize::from(*properties.get(1)?) * 2) } else { (1, words * 2 - 1) };
    let all = properties.get(start..)?;
    let mut rest = all.get(..length).unwrap_or(all).get(2..)?;
    while let Some(name) = u16_at(rest, 0) {
        let Some(operand) = operand_bytes(name, rest) else { break };
        match name {
            IN_TABLE => out.is_in_table = rest.get(2).is_some_and(|&value| value != 0),
            ENDS_ROW => out.ends_row = rest.get(2).is_some_and(|&value| value != 0),
            _ => {}
        }
        let Some(next) = rest.get(2 + operand..) else { break };
        rest = next;
    }
    Some(out)
}

/// How long a property's value is.
fn operand_bytes(name: u16, rest: &[u8]) -> Option<usize> {
    Some(match name >> 13 {
        0 | 1 => 1,
        2 | 4 | 5 => 2,
        3 => 4,
        7 => 3,
        // The definition of a table has two bytes of length, all others one.
        _ if name == 0xd608 => usize::from(u16_at(rest, 2)?) + 1,
        _ => usize::from(*rest.get(2)?) + 1,
    })
}
