//! A storage inside a compound file, taken out as a compound file of its own. The same storage gives the same bytes
//! every time: what is inside is known by its content.

use std::io::{Cursor, Read, Write};
use std::time::SystemTime;

use docmill_core::{Error, Result};

use super::{FIXED, File, damaged};

/// It is put together in memory.
const MAX_BYTES: u64 = 256 << 20;

/// The names of custom properties, which only the outermost message holds.
const NAMES: &str = "/__nameid_version1.0";

/// The storage `root` as a file. A message's list of properties is shorter inside another message; it is made whole.
pub(super) fn take_out(file: &mut File<'_>, root: &str, is_message: bool) -> Result<Vec<u8>> {
    let failed = |e| damaged("what is attached cannot be taken out of the message", e);
    let mut out = cfb::CompoundFile::create(Cursor::new(Vec::new())).map_err(failed)?;
    let mut copied = 0;
    let mut from: Vec<(String, String)> = vec![(root.to_owned(), String::new())];
    if is_message && file.is_storage(NAMES) && !file.is_storage(format!("{root}{NAMES}")) {
        from.push((NAMES.to_owned(), NAMES.to_owned()));
    }
    for (root, to) in from {
        let entries: Vec<(String, bool, u64)> = file
            .walk_storage(&root)
            .map_err(failed)?
            .map(|entry| (entry.path().to_string_lossy().into_owned(), entry.is_stream(), entry.len()))
            .collect();
        for (path, is_stream, bytes) in entries {
            let Some(below) = path.strip_prefix(&root) else { continue };
            let target = format!("{to}{below}");
            if target.is_empty() {
                continue;
            }
            if !is_stream {
                out.create_storage(&target).map_err(failed)?;
                continue;
            }
            copied += bytes;
            if copied > MAX_BYTES {
                return Err(Error::limit_exceeded(format!(
                    "what is attached has more than {MAX_BYTES} bytes"
                )));
            }
            let mut content = Vec::new();
            file.open_stream(&path)
                .and_then(|s| s.take(MAX_BYTES).read_to_end(&mut content))
                .map_err(failed)?;
            if is_message && target.trim_start_matches('/') == FIXED {
                let header = content.len().min(24);
                content.splice(header..header, [0; 8]);
            }
            out.create_stream(&target).and_then(|mut s| s.write_all(&content)).map_err(failed)?;
        }
    }
    let storages: Vec<_> = out.walk().filter(|e| !e.is_stream()).map(|e| e.path().to_owned()).collect();
    for path in storages {
        // The moment of taking out must not show. The root alone has no moment of creation.
        if path.parent().is_some() {
            out.set_created_time(&path, SystemTime::UNIX_EPOCH).map_err(failed)?;
        }
        out.set_modified_time(&path, SystemTime::UNIX_EPOCH).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    Ok(out.into_inner().into_inner())
}
