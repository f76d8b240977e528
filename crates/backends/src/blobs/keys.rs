//! Which texts are keys. Keys are checked although only `BlobKey` makes them: they come back from a database.

use docmill_core::{Error, Result};

/// The longest key; ids, hashes and names of docmill's own making stay far below.
const MAX_KEY: usize = 512;

/// Refuses whatever could leave the store, meet a staging folder, or mean something to a file system or in a URL.
pub(super) fn check_key(key: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let part_is_fine = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(plain);
    if key.len() <= MAX_KEY && key.split('/').all(part_is_fine) {
        return Ok(());
    }
    Err(Error::invalid_request(format!("`{}` is not a blob key", docmill_core::text::shown(key))))
}
