//! Compound files (MS-CFB), in which Office kept everything until 2007 and still keeps objects: streams by name, what
//! a document says of itself, and objects out of their wrapping.

pub(crate) mod object;
pub(crate) mod summary;
pub(crate) mod taken_out;

use std::io::{Cursor, Read};

use docmill_core::{Error, Result};

use crate::input::Input;

pub(crate) use object::unwrap_object;

/// A compound file that is read from a document.
pub(crate) type File<'a> = cfb::CompoundFile<&'a mut Input>;

/// A compound file in memory.
pub(crate) type Held = cfb::CompoundFile<Cursor<Vec<u8>>>;

/// Opens a document. Files that are protected by rights management or a password hold their content as one stream.
pub(crate) fn open(input: &mut Input) -> Result<File<'_>> {
    input.go_to(0)?;
    let file = cfb::CompoundFile::open(input)
        .map_err(|e| Error::corrupt("the document's file system is damaged").with_source(e))?;
    for stream in ["/EncryptedPackage", "/EncryptionInfo", "/\u{9}DRMContent", "/EncryptedSummary"] {
        if file.exists(stream) {
            return Err(Error::encrypted("the document is encrypted; a password or a right is needed"));
        }
    }
    Ok(file)
}

/// All of a stream, if it has at most `limit` bytes; `None` if there is none. What can be read of a damaged one is
/// given with the damage.
pub(crate) fn stream(
    file: &mut File<'_>,
    path: &str,
    limit: u64,
) -> Result<Option<(Vec<u8>, Option<Error>)>> {
    if !file.is_stream(path) {
        return Ok(None);
    }
    let name = path.trim_start_matches('/');
    let damaged = |e| Error::corrupt(format!("stream `{name}` is damaged")).with_source(e);
    let stream = file.open_stream(path).map_err(damaged)?;
    if stream.len() > limit {
        let bytes = stream.len();
        return Err(Error::limit_exceeded(format!(
            "stream `{name}` has {bytes} bytes, more than the {limit} that are read"
        )));
    }
    let mut out = Vec::new();
    let trouble = stream.take(limit).read_to_end(&mut out).err().map(damaged);
    Ok(Some((out, trouble)))
}

/// Little-endian numbers at fixed places; `None` beyond the end.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?).map(|b| u16::from_le_bytes([b[0], b[1]]))
}

/// Four bytes.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// UTF-16 as text.
pub(crate) fn wide(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
