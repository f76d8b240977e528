//! The central directory: where it lies, and its entries one after the other.

use docmill_core::{Error, Result};

use super::content::Member;
use super::name::unicode_path;
use super::{CENTRAL, END, END_64, LOCATOR_64, number};
use crate::input::Input;

/// The end record and the longest comment after it.
const END_SEARCH_BYTES: u64 = 22 + 65_535;

/// The directory is read in pieces of this size; an entry has at most 46 + 3 × 65,535 bytes.
const WINDOW_BYTES: u64 = 256 << 10;

/// Where the directory lies and what the end record says of it.
pub(crate) struct Directory {
    /// Entries as stated, folders included; never trusted.
    pub(crate) stated_entries: u64,
    /// The number of this volume; not 0 in a set of several.
    pub(crate) volume: u64,
    /// What stands after the end record.
    pub(crate) comment: Vec<u8>,
    start: u64,
    end: u64,
    /// Bytes before the archive (a self-extractor): all offsets are shifted by them.
    prefix: u64,
}

/// One member as the directory describes it.
pub(crate) struct Entry {
    pub(crate) raw_name: Vec<u8>,
    /// The name is UTF-8 by its flag or comes from the Unicode path field.
    pub(crate) unicode_name: Option<String>,
    pub(crate) flags: u64,
    pub(crate) method: u64,
    pub(crate) crc: u32,
    pub(crate) packed_bytes: u64,
    pub(crate) bytes: u64,
    pub(crate) volume: u64,
    /// Of the local header, from the start of the file.
    pub(crate) offset: u64,
}

impl Entry {
    /// Folders are no members. Archives from DOS may end them with a backslash.
    pub(crate) fn is_folder(&self) -> bool {
        match self.raw_name.last() {
            Some(b'/') => true,
            Some(b'\\') => self.bytes == 0,
            _ => false,
        }
    }
}

impl Directory {
    /// Finds the directory from the end of the file.
    pub(crate) fn find(input: &mut Input) -> Result<Self> {
        let tail_start = input.length().saturating_sub(END_SEARCH_BYTES);
        let tail = input.piece(tail_start, END_SEARCH_BYTES)?;
        let at = last_end_record(&tail)
            .ok_or_else(|| Error::corrupt("archive has no end record; it is cut off or the part of a set"))?;
        let end_record = &tail[at..];
        let end_position = tail_start + at as u64;
        let comment_bytes = number(end_record, 20, 2) as usize;
        let mut found = Self {
            stated_entries: number(end_record, 10, 2),
            volume: number(end_record, 4, 2),
            comment: end_record.get(22..22 + comment_bytes).unwrap_or_default().to_vec(),
            start: number(end_record, 16, 4),
            end: end_position,
            prefix: 0,
        };
        let mut size = number(end_record, 12, 4);
        if let Some((position, record)) = end_record_64(input, end_position)? {
            found.volume = number(&record, 16, 4);
            found.stated_entries = number(&record, 32, 8);
            size = number(&record, 40, 8);
            found.start = number(&record, 48, 8);
            found.end = position;
        }
        found.place(input, size)
    }

    /// Decides where the directory begins: right before the end record if it is there, which also tells how
    /// many bytes stand before the archive, else where the end record says.
    fn place(mut self, input: &mut Input, size: u64) -> Result<Self> {
        let stated = self.start;
        if size == 0 && self.stated_entries == 0 {
            self.start = self.end;
            return Ok(self);
        }
        for start in [self.end.checked_sub(size), Some(stated)].into_iter().flatten() {
            if start < self.end && input.piece(start, 4)? == CENTRAL {
                self.prefix = start.saturating_sub(stated);
                self.start = start;
                return Ok(self);
            }
        }
        Err(Error::corrupt(format!("archive states its directory at byte {stated}, but there is none")))
    }

    /// Begins a walk over the entries.
    pub(crate) fn walk(&self) -> Walk {
        Walk {
            window: Vec::new(),
            window_start: self.start,
            position: self.start,
            end: self.end,
            prefix: self.prefix,
        }
    }

    /// The names of the first entries, as far as the directory can be read.
    pub(crate) fn first_names(&self, input: &mut Input, limit: u64) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let mut walk = self.walk();
        for _ in 0..limit {
            match walk.next(input) {
                Ok(Some(entry)) => names.push(String::from_utf8_lossy(&entry.raw_name).into_owned()),
                Ok(None) => break,
                Err(e) if e.kind() == docmill_core::ErrorKind::Corrupt => break,
                Err(e) => return Err(e),
            }
        }
        Ok(names)
    }
}

/// The first bytes of the member of this name; none if it is not there or cannot be read.
pub(crate) fn first_bytes(input: &mut Input, name: &str, limit: usize) -> Vec<u8> {
    let Ok(directory) = Directory::find(input) else { return Vec::new() };
    let mut walk = directory.walk();
    while let Ok(Some(entry)) = walk.next(input) {
        if entry.raw_name == name.as_bytes() {
            let content =
                Member::of_entry(input, &entry).and_then(|member| member.open(input)?.next_piece(limit));
            return content.unwrap_or_default();
        }
    }
    Vec::new()
}

/// A walk over the directory that holds one window of it.
pub(crate) struct Walk {
    window: Vec<u8>,
    window_start: u64,
    position: u64,
    end: u64,
    prefix: u64,
}

impl Walk {
    /// The next entry; `Corrupt` where the directory does not go on as it must.
    pub(crate) fn next(&mut self, input: &mut Input) -> Result<Option<Entry>> {
        let position = self.position;
        let fixed = self.slice(input, position, 46)?;
        // A signature record may stand between the entries and the end record.
        if fixed.is_empty() || fixed.starts_with(b"PK\x05\x05") || fixed.starts_with(&END_64) {
            return Ok(None);
        }
        if fixed.len() < 46 || fixed[..4] != CENTRAL {
            return Err(Error::corrupt(format!("archive directory is damaged at byte {position}")));
        }
        let fixed = fixed.to_vec();
        let lengths = [28, 30, 32].map(|at| number(&fixed, at, 2) as usize);
        let total = 46 + lengths.iter().sum::<usize>();
        let whole = self.slice(input, position, total)?;
        if whole.len() < total {
            return Err(Error::corrupt(format!("archive directory is cut off at byte {position}")));
        }
        let raw_name = whole[46..46 + lengths[0]].to_vec();
        let extra = whole[46 + lengths[0]..46 + lengths[0] + lengths[1]].to_vec();
        self.position += total as u64;
        Ok(Some(self.entry(&fixed, raw_name, &extra)))
    }

    fn entry(&self, fixed: &[u8], raw_name: Vec<u8>, extra: &[u8]) -> Entry {
        let flags = number(fixed, 8, 2);
        let mut entry = Entry {
            unicode_name: None,
            flags,
            method: number(fixed, 10, 2),
            crc: number(fixed, 16, 4) as u32,
            packed_bytes: number(fixed, 20, 4),
            bytes: number(fixed, 24, 4),
            volume: number(fixed, 34, 2),
            offset: number(fixed, 42, 4),
            raw_name,
        };
        for (id, field) in fields(extra) {
            match id {
                // ZIP64: holds only those numbers that do not fit above, in this order.
                1 => {
                    let mut at = 0;
                    for value in [&mut entry.bytes, &mut entry.packed_bytes, &mut entry.offset] {
                        if *value == u64::from(u32::MAX) && at + 8 <= field.len() {
                            *value = number(field, at, 8);
                            at += 8;
                        }
                    }
                    if entry.volume == 0xffff && at + 4 <= field.len() {
                        entry.volume = number(field, at, 4);
                    }
                }
                0x7075 => entry.unicode_name = unicode_path(field, &entry.raw_name),
                _ => {}
            }
        }
        if flags & 0x800 != 0 {
            entry.unicode_name = Some(String::from_utf8_lossy(&entry.raw_name).into_owned());
        }
        entry.offset = entry.offset.saturating_add(self.prefix);
        entry
    }

    /// Up to `length` bytes of the directory at `position`, from the window or after moving it.
    fn slice(&mut self, input: &mut Input, position: u64, length: usize) -> Result<&[u8]> {
        let length = (length as u64).min(self.end.saturating_sub(position));
        if position + length > self.window_start + self.window.len() as u64 {
            self.window = input.piece(position, WINDOW_BYTES.min(self.end.saturating_sub(position)))?;
            self.window_start = position;
        }
        let from = (position - self.window_start) as usize;
        let to = (from + length as usize).min(self.window.len());
        Ok(self.window.get(from..to).unwrap_or_default())
    }
}

/// The extra fields of a header, as far as they are whole.
pub(super) fn fields(extra: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = extra;
    std::iter::from_fn(move || {
        let length = number(rest, 2, 2) as usize;
        let field = rest.get(4..4 + length)?;
        let id = number(rest, 0, 2);
        rest = &rest[4 + length..];
        Some((id, field))
    })
}

/// The last end record whose comment fits the file; a comment may contain the signature by chance.
fn last_end_record(tail: &[u8]) -> Option<usize> {
    let records =
        || tail.windows(22).enumerate().rev().filter(|(_, w)| w.starts_with(&END)).map(|(at, _)| at);
    let comment = |at: usize| number(tail, at + 20, 2) as usize;
    records().find(|&at| at + 22 + comment(at) == tail.len()).or_else(|| records().next())
}

/// The ZIP64 end record and its position, if there is one.
fn end_record_64(input: &mut Input, end_position: u64) -> Result<Option<(u64, Vec<u8>)>> {
    let Some(locator_position) = end_position.checked_sub(20) else { return Ok(None) };
    let locator = input.piece(locator_position, 20)?;
    if locator.len() < 20 || locator[..4] != LOCATOR_64 {
        return Ok(None);
    }
    // Right before the locator if bytes stand before the archive, else where the locator says.
    let stated = number(&locator, 8, 8);
    for position in [Some(stated), locator_position.checked_sub(56)].into_iter().flatten() {
        let record = input.piece(position, 56)?;
        if record.len() == 56 && record[..4] == END_64 && position < end_position {
            return Ok(Some((position, record)));
        }
    }
    Err(Error::corrupt(format!("archive states its ZIP64 end record at byte {stated}, but there is none")))
}
