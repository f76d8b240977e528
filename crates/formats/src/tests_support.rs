//! What the tests of every reader need.

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
