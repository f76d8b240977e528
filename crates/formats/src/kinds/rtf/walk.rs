//! Groups and control words to text.

use std::collections::HashMap;
use std::io::Read;

use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};

use super::tokens::{Token, Tokens, hex};
use super::words::{COUNTS, DATES, FACTS, KNOWN_STARRED, PASSED_OVER, font_charset, is_header};
use crate::shared::charset::Charset;
use crate::shared::compound::summary::code_page;
use crate::shared::flow::Flow;

/// Objects and facts are held: so much of all together, so many, so long.
const MAX_OBJECT_BYTES: usize = 64 << 20;
const MAX_OBJECTS: usize = 1000;
const MAX_FACT_BYTES: usize = 64 << 10;
const MAX_FONTS: usize = 10_000;
/// Headers and the like, which follow the text.
const MAX_BESIDE_BYTES: usize = 8 << 20;

/// Where the characters of a group go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Text,
    Nowhere,
    Fonts,
    Fact,
    Object,
}

/// What holds until a group ends.
#[derive(Clone)]
struct Group {
    place: Place,
    charset: Charset,
    /// Characters that stand for the last Unicode one in older programs.
    fallbacks: u32,
    is_deleted: bool,
    /// In rich text made from HTML: what only the rich text has.
    is_markup: bool,
    /// What to do when it ends.
    ends: Ends,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Nothing,
    /// A note or comment ends.
    Aside,
    /// A header or footer ends.
    Beside,
    Object,
    Date(&'static str),
    Fact(&'static str),
}

/// Everything that was found apart from text that has been handed on.
pub(super) struct Found {
    pub(super) text: String,
    pub(super) about: Vec<(&'static str, String)>,
    pub(super) objects: Vec<Vec<u8>>,
    pub(super) replaced: u64,
    pub(super) trouble: Result<()>,
}

/// One document.
pub(super) struct Walk {
    pub(super) flow: Flow,
    group: Group,
    outer: Vec<Group>,
    max_depth: usize,
    wants_objects: bool,
    /// Bytes that wait to be decoded together.
    bytes: Vec<u8>,
    high_surrogate: Option<u16>,
    skip: u32,
    default_charset: Charset,
    fonts: HashMap<i32, Charset>,
    font: i32,
    /// What text is in that names no other.
    default_font: i32,
    starred: bool,
    /// The paragraph at hand is one of a table; a table is open.
    in_table: bool,
    table_is_open: bool,
    fact: String,
    date: [i32; 6],
    object: Vec<u8>,
    object_bytes: usize,
    half: Option<u8>,
    found: Found,
    beside: String,
}

impl Walk {
    pub(super) fn new(limits: &ReadLimits, wants_objects: bool) -> Self {
        let charset = Charset::Web(encoding_rs::WINDOWS_1252);
        Self {
            flow: Flow::default(),
            group: Group {
                place: Place::Text,
                charset,
                fallbacks: 1,
                is_deleted: false,
                is_markup: false,
                ends: Ends::Nothing,
            },
            outer: Vec::new(),
            max_depth: limits.max_markup_depth as usize,
            wants_objects,
            bytes: Vec::new(),
            high_surrogate: None,
            skip: 0,
            default_charset: charset,
            fonts: HashMap::new(),
            font: 0,
            default_font: 0,
            starred: false,
            in_table: false,
            table_is_open: false,
            fact: String::new(),
            date: [0; 6],
            object: Vec::new(),
            object_bytes: 0,
            half: None,
            found: Found {
                text: String::new(),
                about: Vec::new(),
                objects: Vec::new(),
                replaced: 0,
                trouble: Ok(()),
            },
            beside: String::new(),
        }
    }

    /// Takes one step; false at the end.
    pub(super) fn step(&mut self, tokens: &mut Tokens<impl Read>) -> Result<bool> {
        match tokens.next()? {
            Token::Open => {
                self.flush();
                self.skip = 0;
                if self.outer.len() >= self.max_depth {
                    let limit = self.max_depth;
                    self.found.trouble =
                        Err(Error::limit_exceeded(format!("groups are nested deeper than {limit}"))
                            .with_hint("raise `limits.max_markup_depth`"));
                    return Ok(false);
                }
                self.outer.push(self.group.clone());
                self.group.ends = Ends::Nothing;
                self.starred = false;
            }
            Token::Close => {
                self.flush();
                self.skip = 0;
                self.end_group();
                match self.outer.pop() {
                    Some(group) => self.group = group,
                    // More ends than beginnings: what follows the document is none of it.
                    None => return Ok(false),
                }
                if self.outer.is_empty() {
                    return Ok(false);
                }
            }
            Token::Word(number) => {
                let word = std::mem::take(&mut tokens.word);
                if word == "bin" {
                    tokens.skip(u64::from(number.unwrap_or(0).max(0).unsigned_abs()))?;
                } else if word == "u" {
                    self.unicode(number.unwrap_or(0));
                } else if self.skip > 0 {
                    self.skip -= 1;
                } else {
                    self.flush();
                    self.word(&word, number);
                    self.starred = false;
                }
                tokens.word = word;
            }
            Token::Symbol(symbol) => self.symbol(symbol),
            Token::Code(byte) | Token::Byte(byte) => self.byte(byte),
            Token::End => {
                self.flush();
                if !self.outer.is_empty() {
                    self.found.trouble =
                        Err(Error::corrupt("the document ends inside a group; it is cut off"));
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Everything that was found.
    pub(super) fn finish(mut self) -> Found {
        if self.table_is_open {
            self.flow.end_table();
        }
        if self.flow.is_cut() && self.found.trouble.is_ok() {
            self.found.trouble =
                Err(Error::limit_exceeded("a row or a note of the document is too long and was cut"));
        }
        let mut text = self.flow.finish();
        if !self.beside.is_empty() {
            text.push('\n');
            text.push_str(&self.beside);
        }
        self.found.text = text;
        self.found
    }

    fn end_group(&mut self) {
        match self.group.ends {
            Ends::Nothing => {}
            Ends::Aside => {
                let text = self.flow.end_aside();
                self.flow.follow(&text);
            }
            Ends::Beside => {
                let text = self.flow.end_aside();
                let text = text.trim();
                if !text.is_empty()
                    && self.beside.len() + text.len() < MAX_BESIDE_BYTES
                    && !self.beside.lines().any(|line| line == text)
                {
                    self.beside.push_str(text);
                    self.beside.push('\n');
                }
            }
            Ends::Object => {
                let object = std::mem::take(&mut self.object);
                self.object_bytes += object.len();
                let fits = self.found.objects.len() < MAX_OBJECTS && self.object_bytes <= MAX_OBJECT_BYTES;
                if !object.is_empty() && fits {
                    self.found.objects.push(object);
                } else if !object.is_empty() {
                    self.found.trouble = Err(Error::limit_exceeded(format!(
                        "objects of more than {MAX_OBJECT_BYTES} bytes together, or more than {MAX_OBJECTS}, are left out"
                    )));
                }
            }
            Ends::Fact(key) => {
                let value = std::mem::take(&mut self.fact);
                let value = value.trim().trim_end_matches(';');
                if !value.is_empty() {
                    self.found.about.push((key, value.to_owned()));
                }
            }
            Ends::Date(key) => {
                let [year, month, day, hour, minute, second] = std::mem::take(&mut self.date);
                if year > 0 && (1..=12).contains(&month) && (1..=31).contains(&day) {
                    let date = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
                    self.found.about.push((key, date));
                }
            }
        }
    }

    /// A control word that is not about single characters.
    fn word(&mut self, word: &str, number: Option<i32>) {
        if self.begin_place(word) {
            return;
        }
        let starred = self.starred;
        match word {
            "ansicpg" => {
                self.default_charset = code_page(number.unwrap_or(1252) as u16);
                self.group.charset = self.default_charset;
            }
            "mac" => self.set_default(10_000),
            "pc" => self.set_default(437),
            "pca" => self.set_default(850),
            "f" => self.set_font(number.unwrap_or(0)),
            "fcharset" if self.group.place == Place::Fonts => {
                let charset = font_charset(number.unwrap_or(0)).map_or(self.default_charset, code_page);
                self.add_font(charset);
            }
            "cpg" if self.group.place == Place::Fonts => self.add_font(code_page(number.unwrap_or(0) as u16)),
            "uc" => self.group.fallbacks = number.unwrap_or(1).clamp(0, 16).unsigned_abs(),
            "deleted" => self.group.is_deleted = number != Some(0),
            "htmlrtf" => self.group.is_markup = number != Some(0),
            "deff" => self.default_font = number.unwrap_or(0),
            "plain" => {
                self.group.is_deleted = false;
                self.set_font(self.default_font);
            }
            "yr" => self.date[0] = number.unwrap_or(0),
            "mo" => self.date[1] = number.unwrap_or(0),
            "dy" => self.date[2] = number.unwrap_or(0),
            "hr" => self.date[3] = number.unwrap_or(0),
            "min" => self.date[4] = number.unwrap_or(0),
            "sec" => self.date[5] = number.unwrap_or(0),
            _ if COUNTS.iter().any(|(known, _)| *known == word) => {
                let key = COUNTS.iter().find(|(known, _)| *known == word).map_or("", |(_, key)| key);
                if let Some(count) = number.filter(|&count| count > 0) {
                    self.found.about.push((key, count.to_string()));
                }
            }
            _ if self.is_seen() => self.text_word(word),
            _ => {}
        }
        // An unknown destination that may be passed over.
        if starred && !KNOWN_STARRED.contains(&word) {
            self.group.place = Place::Nowhere;
        }
    }

    /// Words that say where the characters of this group go.
    fn begin_place(&mut self, word: &str) -> bool {
        let find = |list: &[(&'static str, &'static str)]| {
            list.iter().find(|(known, _)| *known == word).map(|(_, key)| *key)
        };
        if PASSED_OVER.contains(&word) {
            self.group.place = Place::Nowhere;
        } else if word == "fonttbl" {
            self.group.place = Place::Fonts;
        } else if word == "info" {
            self.group.place = Place::Nowhere;
        } else if let Some(key) =
            find(FACTS).filter(|_| self.group.place != Place::Text || word == "generator")
        {
            self.fact.clear();
            self.group.place = Place::Fact;
            self.group.ends = Ends::Fact(key);
        } else if let Some(key) = find(DATES) {
            self.date = [0; 6];
            self.group.place = Place::Nowhere;
            self.group.ends = Ends::Date(key);
        } else if word == "objdata" {
            self.object.clear();
            self.half = None;
            self.group.place = if self.wants_objects { Place::Object } else { Place::Nowhere };
            self.group.ends = Ends::Object;
        } else if word == "ud" {
            // The Unicode half of a pair whose other half is passed over.
            self.group.place = Place::Text;
        } else if matches!(word, "footnote" | "annotation") && self.group.place == Place::Text {
            self.begin_aside(Ends::Aside);
            self.flow.label(if word == "footnote" { "note:".into() } else { "comment:".into() });
        } else if word == "atnauthor" {
            self.group.place = Place::Nowhere;
        } else if is_header(word) && self.group.place == Place::Text {
            self.begin_aside(Ends::Beside);
        } else if matches!(word, "shptxt" | "dptxbxtext") && self.group.place == Place::Text {
            self.begin_aside(Ends::Aside);
        } else if matches!(word, "shpinst" | "do") && self.group.place == Place::Text {
            // Holds the shape's text among its properties.
        } else {
            return false;
        }
        true
    }

    fn begin_aside(&mut self, ends: Ends) {
        self.flow.begin_aside();
        self.group.ends = ends;
    }

    fn is_seen(&self) -> bool {
        self.group.place == Place::Text && !self.group.is_deleted && !self.group.is_markup
    }

    /// Words that stand for text.
    fn text_word(&mut self, word: &str) {
        let character = match word {
            "tab" => "\t",
            "emdash" => "—",
            "endash" => "–",
            "lquote" => "‘",
            "rquote" => "’",
            "ldblquote" => "“",
            "rdblquote" => "”",
            "bullet" => "•",
            "emspace" | "enspace" | "qmspace" => " ",
            "par" | "sect" | "page" => {
                self.settle_table();
                self.flow.end_line();
                return;
            }
            "line" | "lbr" => {
                self.flow.line_break();
                return;
            }
            "pard" => {
                self.in_table = false;
                return;
            }
            "intbl" => {
                self.in_table = true;
                return;
            }
            "cell" => {
                self.in_table = true;
                self.settle_table();
                self.flow.end_cell(1);
                return;
            }
            "nestcell" | "nestrow" => {
                self.flow.space();
                return;
            }
            "row" => {
                self.in_table = true;
                self.settle_table();
                self.flow.end_row();
                return;
            }
            _ => return,
        };
        self.write(character);
    }

    /// Opens or closes the table around what comes. Inside a note the text is never one of a table.
    fn settle_table(&mut self) {
        if self.in_table == self.table_is_open || self.flow.is_aside() {
            return;
        }
        self.table_is_open = self.in_table;
        if self.in_table {
            self.flow.begin_table();
        } else {
            self.flow.end_table();
        }
    }

    fn write(&mut self, text: &str) {
        match self.group.place {
            Place::Text if self.is_seen() => {
                self.settle_table();
                self.flow.text(text);
            }
            Place::Fact if self.fact.len() < MAX_FACT_BYTES => self.fact.push_str(text),
            _ => {}
        }
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'*' => self.starred = true,
            b'\\' | b'{' | b'}' => self.byte(symbol),
            b'~' => {
                self.flush();
                self.write("\u{a0}");
            }
            b'_' => {
                self.flush();
                self.write("-");
            }
            b'\n' | b'\r' => {
                self.flush();
                if self.is_seen() {
                    self.settle_table();
                    self.flow.end_line();
                }
            }
            b'\t' => {
                self.flush();
                self.write("\t");
            }
            _ => {}
        }
    }

    /// A character of the group's character set.
    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        match self.group.place {
            Place::Nowhere | Place::Fonts => {}
            Place::Object => {
                let Some(digit) = hex(byte) else { return };
                match self.half.take() {
                    Some(high) if self.object.len() < MAX_OBJECT_BYTES => self.object.push(high << 4 | digit),
                    Some(_) => {}
                    None => self.half = Some(digit),
                }
            }
            Place::Text | Place::Fact => self.bytes.push(byte),
        }
    }

    /// Decodes the bytes that have come together.
    fn flush(&mut self) {
        self.high_surrogate = None;
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.is_ascii() {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            self.write(&text);
        } else {
            let decoded = self.group.charset.decode(&bytes);
            self.found.replaced += decoded.replaced;
            self.write(&decoded.text);
        }
    }

    /// A character by its number; what stands for it in older programs follows.
    fn unicode(&mut self, number: i32) {
        let high = self.high_surrogate.take();
        self.flush();
        // Numbers beyond 32,767 are written as negative ones.
        let unit = number as u16;
        self.skip = self.group.fallbacks;
        match (high, char::decode_utf16(high.into_iter().chain([unit])).next()) {
            (_, Some(Ok(character))) => self.write(character.encode_utf8(&mut [0; 4])),
            (None, _) if (0xd800..0xdc00).contains(&unit) => self.high_surrogate = Some(unit),
            _ => {
                self.found.replaced += 1;
                self.write("\u{fffd}");
            }
        }
    }

    fn set_default(&mut self, page: u16) {
        self.default_charset = code_page(page);
        self.group.charset = self.default_charset;
    }

    fn set_font(&mut self, font: i32) {
        self.font = font;
        if self.group.place != Place::Fonts {
            self.group.charset = self.fonts.get(&font).copied().unwrap_or(self.default_charset);
        }
    }

    fn add_font(&mut self, charset: Charset) {
        if self.fonts.len() < MAX_FONTS {
            self.fonts.insert(self.font, charset);
        }
    }
}
