//! How docmill and its sandboxed children speak: length-prefixed postcard frames on a Unix socket.
//!
//! Both sides count: a frame longer than [`MAX_FRAME_BYTES`] ends the conversation, whatever its header
//! claims. The child is not trusted, so the parent strips NUL from every text it decodes ([`FromChild::clean`]):
//! PostgreSQL cannot store it, and no reader needs it.

use std::io::{self, Read, Write};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::artifact::Page;
use crate::error::{Error, ErrorNote, Result};
use crate::ocr::{OcrMode, Recognition, Scan};
use crate::picture::{Picture, PictureSize};
use crate::problem::Problem;
use crate::words::PageWords;

/// No frame is longer than this, in either direction.
pub const MAX_FRAME_BYTES: usize = 64 << 20;

/// No path of a member is longer: it is written down several times over, and an archive packs a hundred thousand long
/// ones into nearly nothing.
pub const MAX_MEMBER_PATH_BYTES: usize = 4 << 10;

/// Children's content travels in pieces of this size.
pub const CHUNK_BYTES: usize = 256 << 10;

/// What the caller wants from a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Want {
    /// Pages of text.
    pub text: bool,
    /// Author, dates, title.
    pub metadata: bool,
    /// The members of a container, with their bytes.
    pub children: bool,
    /// Only the names and sizes of the members.
    pub listing: bool,
    /// Only these pages, first and last, from 1.
    pub pages: Option<(u32, u32)>,
    /// Which pages are wanted as pixels too.
    pub ocr: OcrMode,
    /// Pages as pictures for people, this large.
    pub pictures: Option<PictureSize>,
    /// The words of pages with their places, as the file itself holds them.
    pub words: bool,
}

impl Want {
    /// Only say what it is. Sniffing always happens; this asks for nothing else.
    pub const KIND: Self = Self {
        text: false,
        metadata: false,
        children: false,
        listing: false,
        pages: None,
        ocr: OcrMode::Never,
        pictures: None,
        words: false,
    };
    /// Text and metadata; no scans.
    pub const TEXT: Self = Self { text: true, metadata: true, ..Self::KIND };
    /// Members with their bytes.
    pub const CHILDREN: Self = Self { metadata: true, children: true, ..Self::KIND };

    /// Whether it asks for something of pages that only formats have whose pages can be drawn.
    pub fn needs_drawn_pages(&self) -> bool {
        self.pictures.is_some() || self.words
    }
}

/// The limits that hold inside a child, for one document.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReadLimits {
    /// Pages of one document.
    pub max_pages: u32,
    /// Entries of one archive.
    pub max_entries: u64,
    /// Bytes that a container may expand to, all members together.
    pub max_unpacked_bytes: u64,
    /// Expansion ratio allowed once `ratio_from_bytes` have come out.
    pub max_ratio: u64,
    /// Below this the ratio does not matter.
    pub ratio_from_bytes: u64,
    /// Bytes of text of one document.
    pub max_text_bytes: u64,
    /// Nesting of markup elements, JSON values and the like.
    pub max_markup_depth: u32,
    /// Pixels of one picture, by what its header says and before it is decoded.
    pub max_image_pixels: u64,
}

/// One document or page to work on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Names it in answers; unique on this socket.
    pub index: u64,
    /// The file name as a hint; content decides.
    pub name: String,
    /// What to do with it.
    pub work: Work,
}

/// What a child can be asked to do. A child of one role refuses the work of another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Work {
    /// Role `parse`: read a document.
    Read {
        /// The bytes, or `None`: then a read-only descriptor comes with this frame (SCM_RIGHTS).
        inline: Option<Bytes>,
        /// What to find out.
        want: Want,
        /// How far to go.
        limits: ReadLimits,
        /// Tried on documents that are encrypted.
        passwords: Vec<String>,
    },
    /// Role `ocr`: recognise the text of a page.
    Recognise(Scan),
    /// Role `embed`: say what texts mean.
    Embed(Vec<String>),
}

/// Parent to child. One frame holds one descriptor order or up to 32 inline ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ToChild {
    /// Done one after the other, in this order.
    pub orders: Vec<Order>,
}

/// What a document turned out to be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kind {
    /// `application/pdf` and so on; `application/octet-stream` if nobody knows.
    pub media_type: String,
    /// The reader's name, as its file under `formats/src/kinds` is called; `None` if no reader takes it.
    pub format: Option<String>,
    /// Has members rather than pages.
    pub container: bool,
}

/// Something a reader found, as it appears.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Found {
    /// Always first.
    Kind(Kind),
    /// Something the file says of itself.
    Meta { key: String, value: String },
    /// How many pages there are, as soon as it is known (before the pages).
    PageCount(u32),
    /// A page of text.
    Page(Page),
    /// A page that is to be read by OCR (`Want::ocr`). Its [`Page`] comes as well, with whatever text it has.
    Scan(Scan),
    /// A page as somebody wants to see it (`Want::pictures`).
    Picture(Picture),
    /// The words of a page and where they stand (`Want::words`).
    Words(PageWords),
    /// How many members the container says it has.
    Declared(u64),
    /// A member begins; its chunks follow.
    ChildBegin { position: u64, path: String, bytes: Option<u64> },
    /// Bytes of the member that began last.
    ChildChunk(Bytes),
    /// That member is complete.
    ChildEnd,
    /// That member could not be had (also without a begin before it); the others go on.
    ChildFailed { position: u64, path: String, error: ErrorNote },
    /// A listing entry (`Want::listing`).
    ChildListed { position: u64, path: String, media_type: String, bytes: u64 },
    /// One more try at a scan is over: the work gets on.
    Tried,
    /// What a scan says.
    Recognised(Recognition),
    /// The meanings of the next texts, in their order.
    Vectors(Vec<Vec<f32>>),
    /// Something went wrong that does not stop the reading.
    Warn(Problem),
}

/// Child to parent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FromChild {
    /// First of all: the sandbox is up, and these layers hold.
    Ready { layers: Vec<Layer> },
    /// Work on this document begins (the parent meters CPU from here).
    Begin { index: u64 },
    /// Something was found.
    Found { index: u64, found: Found },
    /// This document is finished. What was found before an error stays valid.
    End { index: u64, result: std::result::Result<(), ErrorNote> },
}

impl FromChild {
    /// Removes NUL from every text the frame carries.
    pub fn clean(&mut self) {
        match self {
            Self::Found { found, .. } => match found {
                Found::Kind(kind) => strip_nul(&mut kind.media_type),
                Found::Meta { key, value } => {
                    strip_nul(key);
                    strip_nul(value);
                }
                Found::Page(page) => {
                    strip_nul(&mut page.text);
                    strip_nul(&mut page.reason);
                }
                Found::Scan(scan) => strip_nul(&mut scan.reason),
                Found::ChildBegin { path, .. } => strip_nul(path),
                Found::ChildFailed { path, error, .. } => {
                    strip_nul(path);
                    strip_nul(&mut error.message);
                }
                Found::ChildListed { path, media_type, .. } => {
                    strip_nul(path);
                    strip_nul(media_type);
                }
                Found::Warn(problem) => strip_nul(&mut problem.message),
                Found::Recognised(recognition) => recognition.clean(strip_nul),
                Found::Words(page) => page.words.iter_mut().for_each(|word| strip_nul(&mut word.text)),
                Found::PageCount(_)
                | Found::Declared(_)
                | Found::ChildChunk(_)
                | Found::ChildEnd
                | Found::Picture(_)
                | Found::Vectors(_)
                | Found::Tried => {}
            },
            Self::End { result: Err(note), .. } => strip_nul(&mut note.message),
            Self::End { result: Ok(()), .. } | Self::Begin { .. } | Self::Ready { .. } => {}
        }
    }
}

fn strip_nul(text: &mut String) {
    if text.contains('\0') {
        text.retain(|c| c != '\0');
    }
}

/// One layer of the sandbox, as `docmill doctor` shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Layer {
    /// `landlock`, `seccomp`, `uid`, …
    pub name: String,
    /// Whether it holds.
    pub active: bool,
    /// Version, limit, or why not.
    pub detail: String,
}

/// Encodes one frame: four bytes of length, little endian, then the body.
pub fn encode<T: Serialize>(value: &T, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let taken = std::mem::take(out);
    *out = postcard::to_extend(value, taken).map_err(|e| Error::bug("cannot encode frame").with_source(e))?;
    let length = out.len() - start - 4;
    if length > MAX_FRAME_BYTES {
        out.truncate(start);
        return Err(Error::limit_exceeded(format!(
            "frame of {length} bytes exceeds the limit of {MAX_FRAME_BYTES} bytes"
        )));
    }
    out[start..start + 4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(())
}

/// Decodes the body of one frame.
pub fn decode<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T> {
    postcard::from_bytes(body).map_err(|e| Error::bug("cannot decode frame").with_source(e))
}

/// Reads one frame's body into `buffer`; false at a clean end of the stream.
pub fn read_frame(from: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<bool> {
    let mut header = [0_u8; 4];
    match from.read_exact(&mut header) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        Err(e) => return Err(e),
    }
    let length = u32::from_le_bytes(header) as usize;
    if length > MAX_FRAME_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("frame of {length} bytes exceeds the limit of {MAX_FRAME_BYTES} bytes"),
        ));
    }
    buffer.clear();
    buffer.resize(length, 0);
    from.read_exact(buffer)?;
    Ok(true)
}

/// Writes one frame.
pub fn write_frame<T: Serialize>(to: &mut impl Write, value: &T) -> Result<()> {
    let mut buffer = Vec::new();
    encode(value, &mut buffer)?;
    to.write_all(&buffer).map_err(|e| Error::unavailable("cannot write frame").with_source(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_round_trips_and_nul_is_stripped() {
        let mut bytes = Vec::new();
        let sent =
            FromChild::Found { index: 7, found: Found::Meta { key: "ti\0tle".into(), value: "a\0b".into() } };
        encode(&sent, &mut bytes).unwrap();
        let mut body = Vec::new();
        assert!(read_frame(&mut bytes.as_slice(), &mut body).unwrap());
        let mut got: FromChild = decode(&body).unwrap();
        got.clean();
        let FromChild::Found { index: 7, found: Found::Meta { key, value } } = got else { panic!("{got:?}") };
        assert_eq!((key.as_str(), value.as_str()), ("title", "ab"));
    }

    #[test]
    fn errors_and_problems_without_hint_or_page_round_trip() {
        let note = ErrorNote::from(&Error::corrupt("broken"));
        let problem = Problem::new(crate::ErrorKind::Corrupt, "page is broken");
        for sent in [
            FromChild::End { index: 1, result: Err(note) },
            FromChild::Found { index: 1, found: Found::Warn(problem) },
        ] {
            let mut bytes = Vec::new();
            encode(&sent, &mut bytes).unwrap();
            let got: FromChild = decode(&bytes[4..]).unwrap();
            assert_eq!(format!("{got:?}"), format!("{sent:?}"));
        }
    }

    #[test]
    fn frame_with_a_lying_length_is_refused_before_memory_is_taken() {
        let mut body = Vec::new();
        let error = read_frame(&mut [0xff, 0xff, 0xff, 0xff].as_slice(), &mut body).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert_eq!(body.capacity(), 0);
    }
}
