//! An embedded object out of its wrapping: the file that a user put in, rather than the record of it.

use std::io::{Cursor, Read};

use docmill_core::Result;
use docmill_core::wire::{Found, Want};

use super::taken_out::take_out;
use super::{File, Held, u16_at, u32_at};
use crate::shared::members::Members;
use crate::sink::Sink;
use crate::sniff::COMPOUND_FILE;

/// What was embedded.
pub(crate) struct Object {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Streams that hold a whole file: what its name ends with, and what it begins with.
const WHOLE: &[(&str, &str, &[u8])] =
    &[("/Package", "", b"PK"), ("/CONTENTS", ".pdf", b"%PDF"), ("/EmbeddedOdf", ".odt", b"PK")];

/// Gives the objects of a compound document: each is a storage of its own, below `ObjectPool` in Word's, at the top in
/// Excel's.
pub(crate) fn give_embedded(file: &mut File<'_>, want: Want, sink: &mut dyn Sink) -> Result<()> {
    if !(want.children || want.listing) {
        return Ok(());
    }
    let below = |file: &File<'_>, folder: &str, prefix: &str| -> Vec<String> {
        let Ok(entries) = file.read_storage(folder) else { return Vec::new() };
        entries
            .filter(|entry| entry.is_storage() && entry.name().starts_with(prefix))
            .map(|entry| format!("{}/{}", folder.trim_end_matches('/'), entry.name()))
            .collect()
    };
    let mut storages = below(file, "/", "MBD");
    storages.extend(below(file, "/ObjectPool", "_"));
    let mut members = Members::new(sink, want);
    if members.wants_bytes() {
        members.sink().put(Found::Declared(storages.len() as u64))?;
    }
    for storage in storages {
        let name = storage.rsplit('/').next().unwrap_or_default().trim_start_matches('_');
        let extension = OWN.iter().find(|(stream, _)| file.is_stream(format!("{storage}/{stream}")));
        let name = format!("{name}.{}", extension.map_or("ole", |(_, extension)| extension));
        match take_out(file, &[(storage.clone(), String::new())], |_, _| {}) {
            Ok(bytes) => {
                let object = unwrap_object(bytes, &name);
                members.begin(&object.name, Some(object.bytes.len() as u64))?;
                members.write(&object.bytes)?;
                members.end()?;
            }
            Err(e) => members.refuse(&name, &e)?,
        }
    }
    Ok(())
}

/// Streams that tell what an object is, and what it is then called.
const OWN: &[(&str, &str)] =
    &[("WordDocument", "doc"), ("Workbook", "xls"), ("Book", "xls"), ("PowerPoint Document", "ppt")];

/// Unwraps an object; what has no wrapping that is known stays as it is.
pub(crate) fn unwrap_object(bytes: Vec<u8>, name: &str) -> Object {
    match bytes.starts_with(COMPOUND_FILE).then(|| unwrapped(&bytes, name)).flatten() {
        Some(object) => object,
        None => Object { name: name.to_owned(), bytes },
    }
}

fn unwrapped(bytes: &[u8], name: &str) -> Option<Object> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes.to_vec())).ok()?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if let Some(content) = read(&mut file, "/\u{1}Ole10Native") {
        return native(&content, name);
    }
    for (stream, extension, begins) in WHOLE {
        if let Some(bytes) = read(&mut file, stream)
            && bytes.starts_with(begins)
        {
            return Some(Object { name: format!("{stem}{extension}"), bytes });
        }
    }
    None
}

fn read(file: &mut Held, path: &str) -> Option<Vec<u8>> {
    if !file.is_stream(path) {
        return None;
    }
    let mut out = Vec::new();
    let length = file.open_stream(path).ok()?.take(512 << 20).read_to_end(&mut out).ok()?;
    (length > 0).then_some(out)
}

/// The stream of a file that was put in by `Insert > Object > From file`: its label, where it came from, its bytes.
pub(crate) fn native(content: &[u8], fallback: &str) -> Option<Object> {
    let is_file = u16_at(content, 4) == Some(2);
    if !is_file {
        let length = u32_at(content, 0)? as usize;
        let bytes = content.get(4..)?.get(..length).unwrap_or(content.get(4..)?);
        return Some(Object { name: fallback.to_owned(), bytes: bytes.to_vec() });
    }
    let mut at = 6;
    let label = c_string(content, &mut at)?;
    let path = c_string(content, &mut at)?;
    // Two unknown numbers, then the path of a temporary copy after its length.
    at = at.checked_add(4)?;
    let temporary = u32_at(content, at)? as usize;
    at = at.checked_add(4)?.checked_add(temporary)?;
    let length = u32_at(content, at)? as usize;
    let bytes = content.get(at.checked_add(4)?..)?;
    let bytes = bytes.get(..length).unwrap_or(bytes).to_vec();
    let name = [label, path]
        .into_iter()
        .map(|name| name.rsplit(['\\', '/']).next().unwrap_or_default().trim().to_owned())
        .find(|name| !name.is_empty());
    Some(Object { name: name.unwrap_or_else(|| fallback.to_owned()), bytes })
}

fn c_string(content: &[u8], at: &mut usize) -> Option<String> {
    let rest = content.get(*at..)?;
    let length = memchr::memchr(0, rest)?;
    *at += length + 1;
    Some(encoding_rs::WINDOWS_1252.decode_without_bom_handling(&rest[..length]).0.into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn object_with(stream: &str, content: &[u8]) -> Vec<u8> {
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        file.create_stream(stream).unwrap().write_all(content).unwrap();
        file.flush().unwrap();
        file.into_inner().into_inner()
    }

    #[test]
    fn file_comes_out_with_its_name() {
        let mut native = vec![0, 0, 0, 0, 2, 0];
        native.extend(b"note.txt\0C:\\temp\\note.txt\0\0\0\x03\0");
        native.extend([3, 0, 0, 0]);
        native.extend(b"C:\0");
        native.extend([5, 0, 0, 0]);
        native.extend(b"hello and more");
        let object = unwrap_object(object_with("/\u{1}Ole10Native", &native), "oleObject1.bin");
        assert_eq!((object.name.as_str(), object.bytes.as_slice()), ("note.txt", b"hello".as_slice()));
        let object = unwrap_object(object_with("/Package", b"PK"), "oleObject1.bin");
        assert_eq!((object.name.as_str(), object.bytes.as_slice()), ("oleObject1", b"PK".as_slice()));
    }

    #[test]
    fn what_is_not_known_stays_as_it_is() {
        let whole = object_with("/WordDocument", b"x");
        assert_eq!(unwrap_object(whole.clone(), "a.bin").bytes, whole);
        assert_eq!(unwrap_object(b"plain".to_vec(), "a.bin").bytes, b"plain");
        let cut = object_with("/\u{1}Ole10Native", &[1, 0, 0, 0, 2, 0, b'x']);
        assert_eq!(unwrap_object(cut.clone(), "a.bin").bytes, cut);
    }
}
