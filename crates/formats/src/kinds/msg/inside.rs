//! What is attached as a storage of the message's own file, taken out as a file of its own.

use docmill_core::Result;

use super::{FIXED, File};
use crate::shared::compound::taken_out;

/// The names of custom properties, which only the outermost message holds.
const NAMES: &str = "/__nameid_version1.0";

/// The storage `root` as a file. A message's list of properties is shorter inside another message; it is made whole.
pub(super) fn take_out(file: &mut File<'_>, root: &str, is_message: bool) -> Result<Vec<u8>> {
    let mut from = vec![(root.to_owned(), String::new())];
    if is_message && file.is_storage(NAMES) && !file.is_storage(format!("{root}{NAMES}")) {
        from.push((NAMES.to_owned(), NAMES.to_owned()));
    }
    taken_out::take_out(file, &from, |path, content| {
        if is_message && path == FIXED {
            let header = content.len().min(24);
            content.splice(header..header, [0; 8]);
        }
    })
}
