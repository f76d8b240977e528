//! What the tests of every reader need.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use docmill_core::Result;
use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;
use docmill_core::ocr::Scan;
use docmill_core::wire::{Found, ReadLimits, Want};

use crate::input::Input;
use crate::read::read;
use crate::sink::Collected;

/// Text, metadata and members: everything.
pub(crate) const EVERYTHING: Want = Want { children: true, ..Want::TEXT };

/// Reads bytes under a name; errors are test failures.
pub(crate) fn read_bytes(name: &str, bytes: &[u8]) -> Collected {
    let (found, result) = try_read(name, bytes, EVERYTHING, &Limits::default().for_reader());
    result.unwrap();
    found
}

/// Reads bytes and gives the result beside the findings.
pub(crate) fn try_read(name: &str, bytes: &[u8], want: Want, limits: &ReadLimits) -> (Collected, Result<()>) {
    let mut found = Collected::default();
    let result = read(&mut Input::from_bytes(bytes.to_vec()), name, want, limits, &mut found);
    (found, result)
}

/// The bytes of a file under `fixtures/`.
pub(crate) fn fixture(path: &str) -> Vec<u8> {
    let full = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(path);
    let file = std::fs::File::open(&full).unwrap_or_else(|e| panic!("{}: {e}", full.display()));
    docmill_core::limits::read_capped(file, 1 << 20, path).unwrap()
}

/// Reads a file under `fixtures/`; errors are test failures.
pub(crate) fn read_fixture(path: &str) -> Collected {
    read_bytes(path, &fixture(path))
}

/// The pages that came as pixels.
pub(crate) fn scans(found: &Collected) -> Vec<&Scan> {
    found.0.iter().filter_map(|f| if let Found::Scan(scan) = f { Some(scan) } else { None }).collect()
}

/// A compound file of these streams; a path may lead through storages.
pub(crate) fn compound_of(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (path, body) in streams {
        if let Some((storage, _)) = path.rsplit_once('/').filter(|(storage, _)| !storage.is_empty()) {
            file.create_storage_all(storage).unwrap();
        }
        file.create_stream(path).unwrap().write_all(body).unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

/// A ZIP file of these members, packed.
pub(crate) fn package_of(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let pack = |body: &[u8]| {
        let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(body).unwrap();
        packer.finish().unwrap()
    };
    zip_of(parts, 8, pack)
}

/// A ZIP file of these members as they are.
pub(crate) fn stored_package_of(parts: &[(&str, &[u8])]) -> Vec<u8> {
    zip_of(parts, 0, <[u8]>::to_vec)
}

fn zip_of(parts: &[(&str, &[u8])], method: u8, pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, body) in parts {
        let packed = pack(body);
        let offset = out.len() as u32;
        let mut common = vec![20, 0, 0, 0, method, 0, 0, 0, 0, 0];
        common.extend(crc32fast::hash(body).to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((body.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(packed);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend((parts.len() as u16).to_le_bytes());
    out.extend((parts.len() as u16).to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// The members in their order, each with its bytes or why there are none.
pub(crate) fn members(found: &Collected) -> Vec<(String, std::result::Result<Vec<u8>, ErrorKind>)> {
    let mut out: Vec<(String, std::result::Result<Vec<u8>, ErrorKind>)> = Vec::new();
    let mut open = false;
    for found in &found.0 {
        match found {
            Found::ChildBegin { position, path, .. } => {
                assert_eq!(*position, out.len() as u64, "{path}");
                out.push((path.clone(), Ok(Vec::new())));
                open = true;
            }
            Found::ChildChunk(bytes) => out.last_mut().unwrap().1.as_mut().unwrap().extend(bytes),
            Found::ChildEnd => open = false,
            Found::ChildFailed { path, error, .. } => {
                if open {
                    out.pop();
                }
                open = false;
                out.push((path.clone(), Err(error.kind)));
            }
            _ => {}
        }
    }
    assert!(!open, "a member never ended");
    out
}
