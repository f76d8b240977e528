//! Members of an archive whose directory is lost: every one also has a header of its own before its data.

use docmill_core::Result;

use super::content::{Expected, Member};
use super::{LOCAL, number};
use crate::input::Input;

/// Pieces in which the file is searched for headers.
const SEARCH_BYTES: u64 = 256 << 10;

/// Length and checksum come after the data instead of before it.
const LENGTH_FOLLOWS: u64 = 1 << 3;

/// A member found by its own header.
pub(crate) struct Recovered {
    pub(crate) raw_name: Vec<u8>,
    pub(crate) member: Member,
    pub(crate) is_folder: bool,
}

impl Recovered {
    /// Where the search goes on: after the data where its length is known.
    pub(crate) fn next_position(&self, packed_bytes: Option<u64>) -> u64 {
        let length = self.member.packed_bytes.or(packed_bytes).unwrap_or(0);
        self.member.data.saturating_add(length)
    }
}

/// The next member whose header stands at `position` or later.
pub(crate) fn recover_next(input: &mut Input, position: u64) -> Result<Option<Recovered>> {
    let Some(at) = find_header(input, position)? else { return Ok(None) };
    let header = input.piece(at, 30)?;
    if header.len() < 30 {
        return Ok(None);
    }
    let (name_bytes, extra_bytes) = (number(&header, 26, 2), number(&header, 28, 2));
    let raw_name = input.piece(at + 30, name_bytes)?;
    let flags = number(&header, 6, 2);
    let (packed, bytes) = (number(&header, 18, 4), number(&header, 22, 4));
    let known = flags & LENGTH_FOLLOWS == 0 && packed != u64::from(u32::MAX);
    let member = Member {
        flags,
        method: number(&header, 8, 2),
        packed_bytes: known.then_some(packed),
        expected: known.then_some(Expected { bytes, crc: number(&header, 14, 4) as u32 }),
        data: at + 30 + name_bytes + extra_bytes,
    };
    let is_folder = raw_name.ends_with(b"/");
    Ok(Some(Recovered { raw_name, member, is_folder }))
}

/// The names of members whose headers stand in the first `limit` bytes.
pub(crate) fn names_without_directory(input: &mut Input, limit: u64) -> Result<Vec<String>> {
    let (mut names, mut at) = (Vec::new(), 0);
    while at < limit.min(input.length()) {
        let Some(found) = recover_next(input, at)? else { break };
        names.push(String::from_utf8_lossy(&found.raw_name).into_owned());
        at = found.next_position(None).max(at + 1);
    }
    Ok(names)
}

fn find_header(input: &mut Input, from: u64) -> Result<Option<u64>> {
    let mut position = from;
    while position < input.length() {
        let piece = input.piece(position, SEARCH_BYTES)?;
        if let Some(at) = piece.windows(4).position(|w| w == LOCAL) {
            return Ok(Some(position + at as u64));
        }
        if piece.len() < 4 {
            break;
        }
        // A signature may lie across the border of two pieces.
        position += piece.len() as u64 - 3;
        if piece.len() < SEARCH_BYTES as usize {
            break;
        }
    }
    Ok(None)
}

/// The name in the local header at `at` of the first bytes of a file.
pub(crate) fn local_name(head: &[u8], at: usize) -> Option<String> {
    let header = head.get(at..at + 30)?;
    if header[..4] != LOCAL {
        return None;
    }
    let length = number(header, 26, 2) as usize;
    Some(String::from_utf8_lossy(head.get(at + 30..at + 30 + length)?).into_owned())
}

/// Where the first member's data begins, from the first bytes of a file.
pub(crate) fn local_content_offset(head: &[u8]) -> Option<usize> {
    (head.len() >= 30).then(|| 30 + number(head, 26, 2) as usize + number(head, 28, 2) as usize)
}
