//! A storage inside a compound file, taken out as a compound file of its own. The same storage gives the same bytes
//! every time: what is inside is known by its content.

use std::io::{Cursor, Read, Write};
use std::time::SystemTime;

use docmill_core::{Error, Result};

use super::File;

/// It is put together in memory.
const MAX_BYTES: u64 = 256 << 20;

/// Storages to copy, each with where it goes, as one file. `change` may put a stream right, which it gets by its path
/// in the new file.
pub(crate) fn take_out(
    file: &mut File<'_>,
    from: &[(String, String)],
    change: impl Fn(&str, &mut Vec<u8>),
) -> Result<Vec<u8>> {
    let failed = |e| Error::corrupt("what is embedded cannot be taken out of the file").with_source(e);
    let mut out = cfb::CompoundFile::create(Cursor::new(Vec::new())).map_err(failed)?;
    let mut copied = 0;
    for (root, to) in from {
        let entries: Vec<(String, bool, u64)> = file
            .walk_storage(root)
            .map_err(failed)?
            .map(|entry| (entry.path().to_string_lossy().into_owned(), entry.is_stream(), entry.len()))
            .collect();
        for (path, is_stream, bytes) in entries {
            let Some(below) = path.strip_prefix(root.as_str()) else { continue };
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
                    "what is embedded has more than {MAX_BYTES} bytes"
                )));
            }
            let mut content = Vec::new();
            file.open_stream(&path)
                .and_then(|s| s.take(MAX_BYTES).read_to_end(&mut content))
                .map_err(failed)?;
            change(target.trim_start_matches('/'), &mut content);
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
