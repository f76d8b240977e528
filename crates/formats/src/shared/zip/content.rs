//! One member's bytes, unpacked piece by piece and checked at the end.

use std::io::{self, BufReader, Read};

use docmill_core::{Error, Result};

use super::{Entry, LOCAL, number};
use crate::input::Input;

/// Dictionaries and windows beyond this would let a small file claim much memory.
const MAX_WINDOW_BYTES: u64 = 128 << 20;

const ENCRYPTED: u64 = 1;
const STRONGLY_ENCRYPTED: u64 = 1 << 6;
const LZMA_END_MARK: u64 = 1 << 1;

/// How far off its place a header is looked for.
const NEARBY_BYTES: u64 = 16 << 10;

/// What is needed to unpack a member.
pub(crate) struct Member {
    pub(crate) flags: u64,
    pub(crate) method: u64,
    /// Unknown where the directory is lost and the length comes after the data.
    pub(crate) packed_bytes: Option<u64>,
    /// What the content must amount to, where the archive says so.
    pub(crate) expected: Option<Expected>,
    /// Where the packed data begins.
    pub(crate) data: u64,
}

/// Length and checksum as stated.
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) bytes: u64,
    pub(crate) crc: u32,
}

impl Member {
    /// Follows a directory entry to its local header.
    pub(crate) fn of_entry(input: &mut Input, entry: &Entry) -> Result<Self> {
        let mut offset = entry.offset;
        let mut header = input.piece(offset, 30)?;
        if header.len() < 30 || header[..4] != LOCAL {
            let missing = || Error::corrupt(format!("member has no header at byte {}", entry.offset));
            offset = header_nearby(input, entry)?.ok_or_else(missing)?;
            header = input.piece(offset, 30)?;
        }
        let data = offset + 30 + number(&header, 26, 2) + number(&header, 28, 2);
        Ok(Self {
            flags: entry.flags,
            method: entry.method,
            packed_bytes: Some(entry.packed_bytes),
            expected: Some(Expected { bytes: entry.bytes, crc: entry.crc }),
            data,
        })
    }

    /// Opens the member. Nothing is unpacked yet.
    pub(crate) fn open<'a>(&self, input: &'a mut Input) -> Result<Content<'a>> {
        if self.flags & (ENCRYPTED | STRONGLY_ENCRYPTED) != 0 || self.method == 99 {
            return Err(Error::encrypted("member is encrypted"));
        }
        if self.packed_bytes.is_none() && self.method == 0 {
            return Err(Error::corrupt("member's length is lost with the archive's directory"));
        }
        input.go_to(self.data)?;
        let packed = BufReader::with_capacity(64 << 10, input.take(self.packed_bytes.unwrap_or(u64::MAX)));
        Ok(Content {
            unpacked: self.unpacker(packed)?,
            expected: self.expected,
            bytes: 0,
            crc: crc32fast::Hasher::new(),
        })
    }

    fn unpacker<'a>(&self, mut packed: BufReader<io::Take<&'a mut Input>>) -> Result<Unpacker<'a>> {
        Ok(match self.method {
            0 => Unpacker::Other(Box::new(packed)),
            8 => Unpacker::Deflate(flate2::bufread::DeflateDecoder::new(packed)),
            9 => Unpacker::Other(Box::new(deflate64::Deflate64Decoder::with_buffer(packed))),
            12 => Unpacker::Other(Box::new(bzip2::bufread::BzDecoder::new(packed))),
            14 => Unpacker::Other(Box::new(self.lzma(packed)?)),
            20 | 93 => {
                let decoder =
                    ruzstd::decoding::StreamingDecoder::new_with_max_window_size(packed, MAX_WINDOW_BYTES)
                        .map_err(|e| Error::corrupt("member's zstd header is damaged").with_source(e))?;
                Unpacker::Other(Box::new(decoder))
            }
            95 => {
                // The reader refuses an empty stream only on its first read, as any damage.
                if packed.get_mut().limit() == 0 {
                    return Err(Error::corrupt("member's xz data is missing"));
                }
                let limit = (MAX_WINDOW_BYTES >> 10) as u32;
                Unpacker::Other(Box::new(lzma_rust2::XzReader::new_mem_limit(packed, true, limit)))
            }
            other => {
                return Err(Error::unsupported_format(format!(
                    "member is packed with method {other}, which is not supported"
                )));
            }
        })
    }

    /// LZMA inside ZIP: two bytes of version, two of length, five of properties, then the raw stream.
    fn lzma<R: Read>(&self, mut packed: R) -> Result<lzma_rust2::LzmaReader<R>> {
        let damaged = |e: io::Error| Error::corrupt("member's lzma header is damaged").with_source(e);
        let mut header = [0_u8; 9];
        packed.read_exact(&mut header).map_err(damaged)?;
        let dictionary = number(&header, 5, 4);
        if dictionary > MAX_WINDOW_BYTES {
            return Err(Error::unsupported_format(format!(
                "member wants an lzma dictionary of {dictionary} bytes, more than the {MAX_WINDOW_BYTES} allowed"
            )));
        }
        let bytes = match self.expected {
            Some(expected) if self.flags & LZMA_END_MARK == 0 => expected.bytes,
            _ => u64::MAX,
        };
        lzma_rust2::LzmaReader::new_with_props(packed, bytes, header[4], dictionary as u32, None)
            .map_err(damaged)
    }
}

/// Where the header of a member stands that is not at its place: bytes were lost or added on the way, as when line ends
/// were translated. Everything behind the damage is whole, and its checksum says so.
fn header_nearby(input: &mut Input, entry: &Entry) -> Result<Option<u64>> {
    let from = entry.offset.saturating_sub(NEARBY_BYTES);
    let window = input.piece(from, 2 * NEARBY_BYTES)?;
    let is_its_own = |at: &usize| {
        let name_bytes = number(&window, at + 26, 2) as usize;
        window.get(at + 30..at + 30 + name_bytes) == Some(entry.raw_name.as_slice())
    };
    let found = memchr::memmem::find_iter(&window, &LOCAL).filter(is_its_own).map(|at| from + at as u64);
    Ok(found.min_by_key(|at| at.abs_diff(entry.offset)))
}

/// The unpacked bytes of a member.
pub(crate) struct Content<'a> {
    unpacked: Unpacker<'a>,
    expected: Option<Expected>,
    bytes: u64,
    crc: crc32fast::Hasher,
}

enum Unpacker<'a> {
    /// Kept apart because it can tell how much it has taken, which recovery needs.
    Deflate(flate2::bufread::DeflateDecoder<BufReader<io::Take<&'a mut Input>>>),
    Other(Box<dyn Read + 'a>),
}

impl Content<'_> {
    /// The next piece, full unless it is the last; empty at the end, after length and checksum have been
    /// found right.
    pub(crate) fn next_piece(&mut self, limit: usize) -> Result<Vec<u8>> {
        // Archives hold many small members: a buffer of the stated length saves clearing a large one for each.
        let stated = self.expected.map_or(u64::MAX, |e| e.bytes.saturating_sub(self.bytes).saturating_add(1));
        let limit = limit.min(stated.max(4096) as usize);
        let mut piece = vec![0; limit];
        let mut filled = 0;
        while filled < limit {
            let read = match &mut self.unpacked {
                Unpacker::Deflate(decoder) => decoder.read(&mut piece[filled..]),
                Unpacker::Other(decoder) => decoder.read(&mut piece[filled..]),
            };
            match read {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    let at = self.bytes + filled as u64;
                    return Err(Error::corrupt(format!("member is damaged after {at} bytes")).with_source(e));
                }
            }
        }
        piece.truncate(filled);
        self.bytes += filled as u64;
        self.crc.update(&piece);
        if filled == 0 {
            self.check()?;
        }
        Ok(piece)
    }

    fn check(&self) -> Result<()> {
        let Some(expected) = self.expected else { return Ok(()) };
        if self.bytes != expected.bytes {
            let (bytes, stated) = (self.bytes, expected.bytes);
            return Err(Error::corrupt(format!(
                "member has {bytes} bytes where the archive states {stated}"
            )));
        }
        let crc = self.crc.clone().finalize();
        if crc != expected.crc {
            let stated = expected.crc;
            return Err(Error::corrupt(format!(
                "member has checksum {crc:08x} where the archive states {stated:08x}"
            )));
        }
        Ok(())
    }

    /// How many packed bytes the member took, where that can be told.
    pub(crate) fn packed_bytes(&self) -> Option<u64> {
        match &self.unpacked {
            Unpacker::Deflate(decoder) => Some(decoder.total_in()),
            Unpacker::Other(_) => None,
        }
    }
}
