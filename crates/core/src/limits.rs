//! Every cap in one place. Each has a setting of the same name under `[limits]`.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::wire::ReadLimits;

/// One kibibyte.
pub const KIB: u64 = 1 << 10;
/// One mebibyte.
pub const MIB: u64 = 1 << 20;
/// One gibibyte.
pub const GIB: u64 = 1 << 30;
/// One tebibyte.
pub const TIB: u64 = 1 << 40;

/// The caps on what comes in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// A single document.
    pub max_document_bytes: u64,
    /// A container that is read as a stream.
    pub max_container_bytes: u64,
    /// Expansion of a container: bytes out for each byte in…
    pub max_ratio: u64,
    /// …once so many bytes have come out.
    pub ratio_from_bytes: u64,
    /// Containers inside containers.
    pub max_nesting: u32,
    /// Entries of one archive.
    pub max_entries: u64,
    /// Entries of an archive and of all archives inside it together.
    pub max_tree_entries: u64,
    /// Pages of one document.
    pub max_pages: u32,
    /// Text of one document.
    pub max_text_bytes: u64,
    /// Nesting of markup.
    pub max_markup_depth: u32,
    /// Pixels of one picture.
    pub max_image_pixels: u64,
    /// Intake pauses when less room than this is left.
    pub min_free_disk_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_document_bytes: 4 * GIB,
            max_container_bytes: TIB,
            max_ratio: 200,
            ratio_from_bytes: 64 * MIB,
            max_nesting: 16,
            max_entries: 100_000,
            max_tree_entries: 1_000_000,
            max_pages: 10_000,
            max_text_bytes: 256 * MIB,
            max_markup_depth: 256,
            max_image_pixels: 100_000_000,
            min_free_disk_bytes: 512 * MIB,
        }
    }
}

impl Limits {
    /// The part that holds inside a child.
    pub fn for_reader(&self) -> ReadLimits {
        ReadLimits {
            max_pages: self.max_pages,
            max_entries: self.max_entries,
            max_unpacked_bytes: self.max_container_bytes,
            max_ratio: self.max_ratio,
            ratio_from_bytes: self.ratio_from_bytes,
            max_text_bytes: self.max_text_bytes,
            max_markup_depth: self.max_markup_depth,
            max_image_pixels: self.max_image_pixels,
        }
    }

    /// How many bytes an item may have whose content begins with `head`: containers that are read as a
    /// stream may be larger than documents that are not.
    pub fn receive_limit(&self, head: &[u8]) -> (u64, &'static str) {
        if is_streamed_container(head) {
            (self.max_container_bytes, "limits.max_container_bytes")
        } else {
            (self.max_document_bytes, "limits.max_document_bytes")
        }
    }

    /// Refuses `bytes` that pass the limit for content beginning with `head`.
    pub fn check_receive(&self, name: &str, bytes: u64, head: &[u8]) -> Result<()> {
        let (limit, setting) = self.receive_limit(head);
        if bytes <= limit {
            return Ok(());
        }
        Err(Error::limit_exceeded(format!(
            "`{name}` has {bytes} bytes, more than the limit of {limit} bytes"
        ))
        .with_hint(format!("raise `{setting}`")))
    }
}

/// ZIP, TAR, 7z, RAR, PST and mbox are recognised by their first bytes; nothing is parsed here.
fn is_streamed_container(head: &[u8]) -> bool {
    const MAGIC: &[&[u8]] =
        &[b"PK\x03\x04", b"PK\x05\x06", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"!BDN", b"From "];
    MAGIC.iter().any(|m| head.starts_with(m)) || head.get(257..262) == Some(b"ustar")
}

/// Reads at most `limit` bytes; one byte more is an error that names `what`.
pub fn read_capped(from: impl Read, limit: u64, what: &str) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let read: io::Result<_> = from.take(limit.saturating_add(1)).read_to_end(&mut out);
    read.map_err(|e| Error::unreadable(format!("cannot read {what}")).with_source(e))?;
    if out.len() as u64 > limit {
        return Err(Error::limit_exceeded(format!("{what} has more than {limit} bytes")));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_may_be_larger_than_documents() {
        let limits = Limits::default();
        assert!(limits.check_receive("a.bin", 5 * GIB, b"\0\0\0\0").is_err());
        assert!(limits.check_receive("a.zip", 5 * GIB, b"PK\x03\x04").is_ok());
        let error = limits.check_receive("a.bin", 5 * GIB, b"").unwrap_err();
        assert!(error.message().contains("a.bin") && error.message().contains("4294967296"));
        assert_eq!(error.hint(), Some("raise `limits.max_document_bytes`"));
    }

    #[test]
    fn read_capped_allows_exactly_the_limit() {
        assert_eq!(read_capped(&b"abc"[..], 3, "x").unwrap(), b"abc");
        assert!(read_capped(&b"abcd"[..], 3, "x").is_err());
    }
}
