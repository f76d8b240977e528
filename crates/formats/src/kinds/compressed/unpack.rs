//! The ways of compressing, each undone piece by piece and over several streams one after the other.

use std::io::{self, BufRead, Read};

use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder as ZstdDecoder};

/// Enough to see past what may stand before the data.
pub(super) const HEAD_BYTES: u64 = 16 << 10;

/// Dictionaries and windows beyond this would let a small file claim much memory.
const MAX_WINDOW_BYTES: u64 = 128 << 20;

const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const LZ4: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
const LZ4_OF_OLD: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    Gzip,
    Bzip2,
    Xz,
    Lzma,
    Lzip,
    Zstd,
    Lz4,
}

impl Method {
    /// What the first bytes say.
    pub(super) fn of(mut head: &[u8]) -> Option<Self> {
        const BZIP2_BLOCKS: [&[u8]; 2] = [b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"];
        // Frames to be passed over may stand first, in two formats alike.
        while let Some(length) = skippable(head) {
            head = head.get(8 + length as usize..)?;
        }
        if head.starts_with(&[0x1f, 0x8b, 8]) {
            return Some(Self::Gzip);
        }
        if head.starts_with(b"BZh")
            && head.get(3).is_some_and(u8::is_ascii_digit)
            && BZIP2_BLOCKS.iter().any(|block| head[4..].starts_with(block))
        {
            return Some(Self::Bzip2);
        }
        if head.starts_with(b"\xfd7zXZ\0") {
            return Some(Self::Xz);
        }
        if head.starts_with(b"LZIP") && matches!(head.get(4), Some(0 | 1)) {
            return Some(Self::Lzip);
        }
        match head.first_chunk::<4>() {
            Some(&ZSTD) => Some(Self::Zstd),
            Some(&LZ4 | &LZ4_OF_OLD) => Some(Self::Lz4),
            _ => None,
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Gzip => "application/gzip",
            Self::Bzip2 => "application/x-bzip2",
            Self::Xz => "application/x-xz",
            Self::Lzma => "application/x-lzma",
            Self::Lzip => "application/x-lzip",
            Self::Zstd => "application/zstd",
            Self::Lz4 => "application/x-lz4",
        }
    }

    /// The name that the file remembers of what it was made from.
    pub(super) fn stored_name(self, head: &[u8]) -> Option<String> {
        const HAS_EXTRA: u8 = 4;
        const HAS_NAME: u8 = 8;
        let flags = *head.get(3).filter(|_| self == Self::Gzip)?;
        if flags & HAS_NAME == 0 {
            return None;
        }
        let mut at = 10;
        if flags & HAS_EXTRA != 0 {
            at += 2 + usize::from(u16::from_le_bytes([*head.get(10)?, *head.get(11)?]));
        }
        let rest = head.get(at..)?;
        let raw = &rest[..rest.iter().position(|b| *b == 0)?];
        let name = match std::str::from_utf8(raw) {
            Ok(name) => name.to_owned(),
            // The format says Latin-1.
            Err(_) => raw.iter().map(|b| char::from(*b)).collect(),
        };
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim().to_owned();
        (!name.is_empty()).then_some(name)
    }

    /// The content. Nothing is unpacked yet, except a header where the format has one.
    pub(super) fn open<'a>(self, mut packed: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
        let limit_kib = (MAX_WINDOW_BYTES >> 10) as u32;
        Ok(match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(packed, true, limit_kib)),
            Self::Lzma => Box::new(lzma_rust2::LzmaReader::new_mem_limit(packed, limit_kib, None)?),
            Self::Lzip => {
                // The sixth byte states the dictionary, its lower bits as a power of two.
                let power = packed.fill_buf()?.get(5).map_or(0, |byte| byte & 31);
                if 1_u64 << power > MAX_WINDOW_BYTES {
                    let message = format!("it wants a dictionary of more than {MAX_WINDOW_BYTES} bytes");
                    return Err(io::Error::other(message));
                }
                Box::new(lzma_rust2::LzipReader::new(packed))
            }
            Self::Zstd => Box::new(Zstd::new(packed)),
            Self::Lz4 => Box::new(Lz4 { frames: Lz4Decoder::new(packed), is_open: false }),
        })
    }
}

/// The length of a frame that carries no content; `None` if it is none.
fn skippable(head: &[u8]) -> Option<u32> {
    let (mark, rest) = head.split_first_chunk::<4>()?;
    let length = rest.first_chunk::<4>()?;
    (mark[0] & 0xf0 == 0x50 && mark[1..] == [0x2a, 0x4d, 0x18]).then(|| u32::from_le_bytes(*length))
}

/// Passes over frames without content; false at the end of the file.
fn to_next_frame(packed: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let waiting = packed.fill_buf()?;
        if waiting.is_empty() {
            return Ok(false);
        }
        // The header of a frame lies in one buffer, except by rare chance; then the decoder says that it is damaged.
        let Some(length) = skippable(waiting) else { return Ok(true) };
        io::copy(&mut packed.take(8 + u64::from(length)), &mut io::sink())?;
    }
}

/// Zstandard frames one after the other.
struct Zstd<R> {
    packed: R,
    frame: ZstdDecoder,
    is_open: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(packed: R) -> Self {
        let mut frame = ZstdDecoder::new();
        frame.set_max_window_size(MAX_WINDOW_BYTES);
        Self { packed, frame, is_open: false }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open {
                if !to_next_frame(&mut self.packed)? {
                    return Ok(0);
                }
                self.frame.reset(&mut self.packed).map_err(io::Error::other)?;
                self.is_open = true;
            }
            while self.frame.can_collect() == 0 && !self.frame.is_finished() {
                self.frame
                    .decode_blocks(&mut self.packed, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            }
            match self.frame.read(buffer)? {
                0 if !buffer.is_empty() => {
                    self.check()?;
                    self.is_open = false;
                }
                n => return Ok(n),
            }
        }
    }
}

impl<R> Zstd<R> {
    /// The decoder leaves comparing to its caller.
    fn check(&self) -> io::Result<()> {
        match (self.frame.get_checksum_from_data(), self.frame.get_calculated_checksum()) {
            (Some(stated), Some(found)) if stated != found => {
                Err(io::Error::other(format!("frame has checksum {found:08x} where it states {stated:08x}")))
            }
            _ => Ok(()),
        }
    }
}

/// LZ4 frames one after the other.
struct Lz4<R: BufRead> {
    frames: Lz4Decoder<R>,
    is_open: bool,
}

impl<R: BufRead> Read for Lz4<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open {
                if !to_next_frame(self.frames.get_mut())? {
                    return Ok(0);
                }
                self.is_open = true;
            }
            match self.frames.read(buffer)? {
                0 if !buffer.is_empty() => self.is_open = false,
                n => return Ok(n),
            }
        }
    }
}
