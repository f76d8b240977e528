//! Records inside records.

use crate::shared::compound::{u16_at, u32_at};

/// Records that matter here (MS-PPT 2.13.24).
pub(super) mod id {
    pub(in super::super) const DOCUMENT: u16 = 0x03e8;
    pub(in super::super) const SLIDE: u16 = 0x03ee;
    pub(in super::super) const NOTES: u16 = 0x03f0;
    pub(in super::super) const SLIDE_ATOM: u16 = 0x03ef;
    pub(in super::super) const NOTES_ATOM: u16 = 0x03f1;
    pub(in super::super) const PERSIST: u16 = 0x03f3;
    pub(in super::super) const SLIDE_SHOW_INFO: u16 = 0x03f9;
    pub(in super::super) const SLIDE_LIST: u16 = 0x0ff0;
    pub(in super::super) const OUTLINE_REFERENCE: u16 = 0x0f9e;
    pub(in super::super) const TEXT_HEADER: u16 = 0x0f9f;
    pub(in super::super) const WIDE_TEXT: u16 = 0x0fa0;
    pub(in super::super) const NARROW_TEXT: u16 = 0x0fa8;
    pub(in super::super) const STRING: u16 = 0x0fba;
    pub(in super::super) const USER_EDIT: u16 = 0x0ff5;
    pub(in super::super) const OBJECT: u16 = 0x1011;
    pub(in super::super) const DIRECTORY: u16 = 0x1772;
    pub(in super::super) const COMMENT: u16 = 0x2ee0;
    pub(in super::super) const COMMENT_TEXT_INSTANCE: u16 = 1;
}

/// A record.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) id: u16,
    pub(super) instance: u16,
    pub(super) holds_records: bool,
    pub(super) body: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record at a place in the stream. One that is longer than the stream ends with it.
    pub(super) fn at(bytes: &'a [u8], at: usize) -> Option<Self> {
        let head = u16_at(bytes, at)?;
        let id = u16_at(bytes, at + 2)?;
        let length = u32_at(bytes, at + 4)? as usize;
        let rest = bytes.get(at + 8..)?;
        let body = rest.get(..length).unwrap_or(rest);
        Some(Self { id, instance: head >> 4, holds_records: head & 0xf == 0xf, body })
    }

    /// The records inside.
    pub(super) fn inside(self) -> impl Iterator<Item = Record<'a>> {
        let bytes = if self.holds_records { self.body } else { &[] };
        all(bytes)
    }
}

/// The records one after the other.
pub(super) fn all(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let record = Record::at(bytes, at)?;
        at += 8 + record.body.len();
        Some(record)
    })
}
