//! The first bytes of the main stream (the file information block): version, protection, and where things lie.

use docmill_core::{Error, Result};

use crate::shared::compound::{u16_at, u32_at};

/// The first version whose text is in pieces of Unicode.
const WORD_97: u16 = 0x00c1;

/// What the Far East versions of Word 6 and 95 begin with: Japanese, Korean, and Chinese of both kinds.
const JAPANESE: u16 = 0xa697;
const KOREAN: u16 = 0xa698;
const CHINESE: u16 = 0xa699;

/// What matters of it.
pub(super) struct Header {
    is_new: bool,
    magic: u16,
    /// Text is in pieces rather than in one run.
    pub(super) is_complex: bool,
    uses_second_table: bool,
    /// The language of the program that wrote it.
    language: u16,
    /// Where the text of an old document that is in one run begins.
    pub(super) text_start: u32,
    /// Characters of each story: the text, footnotes, headers, macros, comments, endnotes, boxes, boxes in headers.
    pub(super) stories: [u32; 8],
    /// Where the list of pieces lies, and how long it is.
    pub(super) pieces: (u32, u32),
    /// Where the list of paragraphs' properties lies.
    pub(super) paragraphs: (u32, u32),
}

impl Header {
    pub(super) fn read(main: &[u8]) -> Result<Self> {
        const ENCRYPTED: u16 = 0x0100;
        const COMPLEX: u16 = 0x0004;
        const SECOND_TABLE: u16 = 0x0200;
        let damaged = || Error::corrupt("the document's header is cut off");
        let magic = u16_at(main, 0).ok_or_else(damaged)?;
        // Word 97 and later, Word 6 and 95, and the Far East versions of those.
        if !matches!(magic, 0xa5ec | 0xa5dc | JAPANESE | KOREAN | CHINESE) {
            return Err(Error::corrupt(format!(
                "the document begins with {magic:04x}, which is no Word document"
            )));
        }
        let version = u16_at(main, 2).ok_or_else(damaged)?;
        let flags = u16_at(main, 10).ok_or_else(damaged)?;
        if flags & ENCRYPTED != 0 {
            return Err(Error::encrypted("the document is encrypted; a password is needed"));
        }
        let is_new = version >= WORD_97;
        let (stories_at, pieces_at, paragraphs_at) =
            if is_new { (0x4c, 0x1a2, 0x102) } else { (0x34, 0x160, 0xc0) };
        let mut stories = [0; 8];
        for (index, story) in stories.iter_mut().enumerate() {
            *story = u32_at(main, stories_at + index * 4).ok_or_else(damaged)?;
        }
        let pair = |at| Some((u32_at(main, at)?, u32_at(main, at + 4)?));
        Ok(Self {
            is_new,
            magic,
            is_complex: flags & COMPLEX != 0,
            uses_second_table: flags & SECOND_TABLE != 0,
            language: u16_at(main, 6).ok_or_else(damaged)?,
            text_start: u32_at(main, 0x18).ok_or_else(damaged)?,
            stories,
            pieces: pair(pieces_at).ok_or_else(damaged)?,
            paragraphs: pair(paragraphs_at).unwrap_or_default(),
        })
    }

    /// Whether lists are in a stream of their own, and say of each piece of text whether it is packed.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// The code pages that the text may be in, if it has two bytes a character without being Unicode.
    pub(super) fn double_pages(&self) -> &'static [u16] {
        match self.magic {
            JAPANESE if !self.is_new => &[932],
            KOREAN if !self.is_new => &[949],
            CHINESE if !self.is_new => &[936, 950],
            _ => &[],
        }
    }

    /// The code page of text that is not Unicode: new documents have one, old ones that of their program's language.
    pub(super) fn code_page(&self) -> u16 {
        if self.is_new {
            return 1252;
        }
        // Serbian in Cyrillic letters; in Latin ones it stands with Croatian.
        if self.language == 0x0c1a {
            return 1251;
        }
        // The lower bits are the language, the upper ones its country.
        match self.language & 0x3ff {
            0x02 | 0x19 | 0x22 | 0x23 | 0x2f => 1251,
            0x05 | 0x0e | 0x15 | 0x18 | 0x1a | 0x1b | 0x1c | 0x24 => 1250,
            0x08 => 1253,
            0x1f => 1254,
            0x0d => 1255,
            0x01 | 0x29 => 1256,
            0x25..=0x27 => 1257,
            0x2a => 1258,
            0x1e => 874,
            _ => 1252,
        }
    }

    /// The stream that holds the lists; none in old documents, which hold them in the main stream.
    pub(super) fn table_stream(&self) -> Option<&'static str> {
        self.is_new.then_some(if self.uses_second_table { "/1Table" } else { "/0Table" })
    }
}
