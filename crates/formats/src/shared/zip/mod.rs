//! The structure of ZIP files, read leniently and within bounds.
//!
//! Written here rather than taken from a crate because every entry must be accounted for: duplicate names,
//! lying counts, archives without a directory and volumes of a set all have to yield their members one by one,
//! without holding the directory of a terabyte archive in memory.
//!
//! `directory` walks the central directory, `content` unpacks one member, `recover` finds members where the
//! directory is lost, `name` decodes what they are called.

mod content;
mod directory;
mod name;
mod recover;

pub(crate) use content::{Content, Member};
pub(crate) use directory::{Directory, Entry, first_bytes};
pub(crate) use name::Names;
pub(crate) use recover::{local_content_offset, local_name, names_without_directory, recover_next};

/// What a plain archive is called.
pub(crate) const MEDIA_TYPE: &str = "application/zip";

pub(super) const LOCAL: [u8; 4] = *b"PK\x03\x04";
pub(super) const CENTRAL: [u8; 4] = *b"PK\x01\x02";
pub(super) const END: [u8; 4] = *b"PK\x05\x06";
pub(super) const END_64: [u8; 4] = *b"PK\x06\x06";
pub(super) const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";

/// Little-endian numbers at fixed places; 0 beyond the end, as callers have checked lengths that matter.
pub(super) fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    let mut value = [0_u8; 8];
    if let Some(source) = bytes.get(at..at + width) {
        value[..width].copy_from_slice(source);
    }
    u64::from_le_bytes(value)
}
