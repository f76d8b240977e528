//! XML as a stream of elements and text, for markup that may be hostile.
//!
//! Nothing is expanded but the five entities that XML itself has and references to characters: a document type
//! with entities of its own is passed over, and nothing outside the file is ever asked for. Nesting is limited, and so
//! is the length of anything that would have to be held (a tag, a piece of text).
//!
//! Trouble ends the stream like its end does, and is told by [`Xml::finish`]: what came before stays.

use std::io::{self, BufRead, Read};

use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};
use quick_xml::Reader;
use quick_xml::errors::Error as Damage;
use quick_xml::events::Event;
use quick_xml::events::attributes::Attributes;

use super::charset::{Charset, Decoder};
use super::package::from_io;

/// No tag and no piece of text is longer.
const MAX_PIECE_BYTES: u64 = 32 << 20;

/// Where a document may say what character set it is in.
const DECLARATION_BYTES: usize = 1024;

/// Elements and text of one document.
pub(crate) struct Xml<'a> {
    reader: Reader<Guard<'a>>,
    what: String,
    buffer: Vec<u8>,
    text: String,
    depth: u32,
    max_depth: u32,
    trouble: Option<Error>,
    ended: bool,
}

/// What comes next.
pub(crate) enum Node<'n> {
    /// An element begins; empty ones begin and end.
    Open(Tag<'n>),
    /// An element ends; its name without a prefix.
    Close(&'n str),
    /// Text, with references resolved; what stands between two tags may come in several pieces.
    Text(&'n str),
    /// There is no more, or trouble.
    End,
}

/// The beginning of an element.
pub(crate) struct Tag<'n> {
    content: &'n str,
    name_bytes: usize,
}

impl Tag<'_> {
    /// Its name without a prefix.
    pub(crate) fn name(&self) -> &str {
        local(self.full_name().as_bytes())
    }

    /// Its name as it stands.
    pub(crate) fn full_name(&self) -> &str {
        self.content.get(..self.name_bytes).unwrap_or_default()
    }

    /// The value of the attribute of that name, whatever its prefix.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.attributes().find(|(full, _)| local(full.as_bytes()) == name).map(|(_, value)| value)
    }

    /// The value of the attribute of that name, prefix and all.
    pub(crate) fn get_exact(&self, name: &str) -> Option<String> {
        self.attributes().find(|(full, _)| full == name).map(|(_, value)| value)
    }

    /// The attributes that can be read, with their names as they stand.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (String, String)> {
        let mut attributes = Attributes::new(self.content, self.name_bytes);
        attributes.with_checks(false);
        attributes.filter_map(std::result::Result::ok).map(|attribute| {
            let name = String::from_utf8_lossy(attribute.key.into_inner()).into_owned();
            (name, unescaped(&String::from_utf8_lossy(&attribute.value)))
        })
    }
}

impl<'a> Xml<'a> {
    /// Reads `from`, which `what` names in messages.
    pub(crate) fn new(from: impl BufRead + 'a, what: &str, limits: &ReadLimits) -> Self {
        let (from, trouble) = match decoded(Box::new(from)) {
            Ok(from) => (from, None),
            Err(e) => (Box::new(io::empty()) as Box<dyn BufRead + 'a>, Some(from_io(&e, what))),
        };
        let mut reader = Reader::from_reader(Guard { from, since: 0 });
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        Self {
            reader,
            what: what.to_owned(),
            buffer: Vec::new(),
            text: String::new(),
            depth: 0,
            max_depth: limits.max_markup_depth,
            ended: trouble.is_some(),
            trouble,
        }
    }

    /// What comes next.
    pub(crate) fn next(&mut self) -> Node<'_> {
        loop {
            if self.ended {
                return Node::End;
            }
            self.buffer.clear();
            self.reader.get_mut().since = 0;
            // An event borrows the buffer: what matters of it is copied to `text`, which is returned in a second step.
            let step = match self.reader.read_event_into(&mut self.buffer) {
                Ok(Event::Start(start)) => {
                    self.text.clear();
                    self.text.push_str(&String::from_utf8_lossy(&start));
                    Step::Open { name_bytes: start.name().into_inner().len() }
                }
                Ok(Event::End(end)) => {
                    self.text.clear();
                    self.text.push_str(local(end.name().into_inner()));
                    Step::Close
                }
                Ok(Event::Text(text)) => {
                    self.text.clear();
                    self.text.push_str(&String::from_utf8_lossy(&text));
                    Step::Text
                }
                Ok(Event::CData(text)) => {
                    self.text.clear();
                    self.text.push_str(&String::from_utf8_lossy(&text));
                    Step::Text
                }
                Ok(Event::GeneralRef(name)) => {
                    self.text.clear();
                    resolve(&String::from_utf8_lossy(&name), &mut self.text);
                    Step::Text
                }
                Ok(Event::Eof) => {
                    if self.depth > 0 {
                        let what = &self.what;
                        self.trouble =
                            Some(Error::corrupt(format!("`{what}` ends inside an element; it is cut off")));
                    }
                    Step::End
                }
                Ok(
                    Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_),
                ) => {
                    continue;
                }
                Err(e) => {
                    let trouble = damage(&e, &self.what, self.reader.error_position());
                    self.trouble = Some(trouble);
                    Step::End
                }
            };
            match step {
                Step::Open { name_bytes } => {
                    self.depth += 1;
                    if self.depth > self.max_depth {
                        let (what, limit) = (&self.what, self.max_depth);
                        let message = format!("elements of `{what}` are nested deeper than {limit}");
                        self.trouble =
                            Some(Error::limit_exceeded(message).with_hint("raise `limits.max_markup_depth`"));
                        self.ended = true;
                        return Node::End;
                    }
                    return Node::Open(Tag { content: &self.text, name_bytes });
                }
                Step::Close => {
                    self.depth = self.depth.saturating_sub(1);
                    return Node::Close(&self.text);
                }
                Step::Text => return Node::Text(&self.text),
                Step::End => {
                    self.ended = true;
                    return Node::End;
                }
            }
        }
    }

    /// Passes over the rest of the element that began last.
    pub(crate) fn skip(&mut self) {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            if matches!(self.next(), Node::End) {
                return;
            }
        }
    }

    /// The text of the element that began last, with everything inside it.
    pub(crate) fn text_inside(&mut self) -> String {
        let outside = self.depth.saturating_sub(1);
        let mut out = String::new();
        while self.depth > outside {
            match self.next() {
                Node::Text(text) if (out.len() as u64) < MAX_PIECE_BYTES => out.push_str(text),
                Node::End => break,
                _ => {}
            }
        }
        out
    }

    /// How many elements are open.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether it was read to its end; else why not.
    pub(crate) fn finish(self) -> Result<()> {
        self.trouble.map_or(Ok(()), Err)
    }
}

enum Step {
    Open { name_bytes: usize },
    Close,
    Text,
    End,
}

fn local(name: &[u8]) -> &str {
    let name = std::str::from_utf8(name).unwrap_or_default();
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

fn damage(error: &Damage, what: &str, position: u64) -> Error {
    match error {
        Damage::Io(e) => from_io(e, what),
        other => Error::corrupt(format!("markup of `{what}` is damaged at byte {position}: {other}")),
    }
}

/// Writes what a reference stands for; one that only a document type could explain stays as it is.
fn resolve(name: &str, out: &mut String) {
    let character = match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "quot" => Some('"'),
        "nbsp" => Some('\u{a0}'),
        _ => name.strip_prefix('#').and_then(|number| {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|&c| c != '\0')
        }),
    };
    if let Some(character) = character {
        out.push(character);
    } else {
        out.push('&');
        out.push_str(name);
        out.push(';');
    }
}

/// An attribute's value with its references resolved.
fn unescaped(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.find(';') {
            // A longer one is no reference, but a lone `&`.
            Some(end) if end <= 16 => {
                resolve(&rest[..end], &mut out);
                rest = &rest[end + 1..];
            }
            _ => out.push('&'),
        }
    }
    out.push_str(rest);
    out
}

/// Ends the reading of anything that would have to be held and is too long.
struct Guard<'a> {
    from: Box<dyn BufRead + 'a>,
    since: u64,
}

impl BufRead for Guard<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since > MAX_PIECE_BYTES {
            let message = format!("a tag or a text has more than {MAX_PIECE_BYTES} bytes");
            return Err(io::Error::other(Error::limit_exceeded(message)));
        }
        self.from.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.since += amount as u64;
        self.from.consume(amount);
    }
}

impl Read for Guard<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.from.read(buffer)
    }
}

/// The document as UTF-8, without a byte order mark, whatever it is in.
fn decoded<'a>(mut from: Box<dyn BufRead + 'a>) -> io::Result<Box<dyn BufRead + 'a>> {
    let head = from.fill_buf()?;
    let head = &head[..head.len().min(DECLARATION_BYTES)];
    let (charset, mark) = match Charset::from_mark(head) {
        Some(found) => found,
        None if head.starts_with(b"<\0") => (Charset::Web(encoding_rs::UTF_16LE), 0),
        None if head.starts_with(b"\0<") => (Charset::Web(encoding_rs::UTF_16BE), 0),
        None => (declared_charset(head).unwrap_or(Charset::UTF_8), 0),
    };
    from.consume(mark);
    if charset == Charset::UTF_8 {
        return Ok(from);
    }
    Ok(Box::new(Decoding { from, decoder: Decoder::new(charset), text: String::new(), at: 0, ended: false }))
}

/// The label in `<?xml … encoding="…"?>`. UTF-16 cannot be read this way, so what says so is UTF-8.
fn declared_charset(head: &[u8]) -> Option<Charset> {
    let text = String::from_utf8_lossy(head);
    let declaration = text.trim_start().strip_prefix("<?xml")?.split("?>").next()?;
    let (_, value) = declaration.split_once("encoding")?;
    let label = value.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let charset = Charset::from_label(label.split(['"', '\'']).next()?)?;
    let wide = [Charset::Web(encoding_rs::UTF_16LE), Charset::Web(encoding_rs::UTF_16BE)];
    (!wide.contains(&charset)).then_some(charset)
}

/// Decodes while it is read.
struct Decoding<'a> {
    from: Box<dyn BufRead + 'a>,
    decoder: Decoder,
    text: String,
    at: usize,
    ended: bool,
}

impl BufRead for Decoding<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.text.len() && !self.ended {
            self.text.clear();
            self.at = 0;
            let piece = self.from.fill_buf()?;
            let length = piece.len();
            self.ended = length == 0;
            self.decoder.push(piece, self.ended, &mut self.text);
            self.from.consume(length);
        }
        Ok(&self.text.as_bytes()[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at = (self.at + amount).min(self.text.len());
    }
}

impl Read for Decoding<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::error::ErrorKind;
    use docmill_core::limits::Limits;

    use super::*;

    fn nodes(bytes: &[u8]) -> (String, Result<()>) {
        let limits = Limits::default().for_reader();
        let mut xml = Xml::new(bytes, "test", &limits);
        let mut out = String::new();
        loop {
            match xml.next() {
                Node::Open(tag) => {
                    out.push_str(&format!("<{}", tag.name()));
                    for (name, value) in tag.attributes() {
                        out.push_str(&format!(" {name}={value}"));
                    }
                    out.push('>');
                }
                Node::Close(name) => out.push_str(&format!("</{name}>")),
                Node::Text(text) => out.push_str(text),
                Node::End => return (out, xml.finish()),
            }
        }
    }

    #[test]
    fn elements_text_and_references_come_in_order() {
        let (out, result) =
            nodes(b"<?xml version='1.0'?><a:b c:d='1 &lt; 2'>x&amp;&#65;<![CDATA[<y>]]><e/></a:b>");
        assert_eq!(out, "<b c:d=1 < 2>x&A<y><e></e></b>");
        assert!(result.is_ok(), "{result:?}");
    }

    #[test]
    fn entities_of_a_document_type_are_never_expanded() {
        let bomb = b"<!DOCTYPE a [<!ENTITY b \"0123456789\"><!ENTITY c SYSTEM \"file:///etc/passwd\">]><a>&b;&c;</a>";
        let (out, result) = nodes(bomb);
        assert_eq!(out, "<a>&b;&c;</a>");
        assert!(result.is_ok(), "{result:?}");
    }

    #[test]
    fn nesting_beyond_the_limit_ends_the_stream_with_the_reason() {
        let (out, result) = nodes(&b"<a>".repeat(10_000));
        assert_eq!(out.matches("<a>").count(), 256);
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert_eq!(error.hint(), Some("raise `limits.max_markup_depth`"));
    }

    #[test]
    fn other_character_sets_are_decoded_by_mark_declaration_or_zeros() {
        let expected = "<a>größe</a>";
        let wide: Vec<u8> = expected.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let latin = b"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><a>gr\xf6\xdfe</a>";
        for bytes in [wide.as_slice(), &[b"\xfe\xff", wide.as_slice()].concat(), latin, expected.as_bytes()] {
            assert_eq!(nodes(bytes).0, expected);
        }
    }

    #[test]
    fn damage_keeps_what_came_before() {
        for cut in ["<a>one<b>two", "<a>one<b>two</", "<a>one<b>two<c d='"] {
            let (out, result) = nodes(cut.as_bytes());
            assert_eq!(out, "<a>one<b>two", "{cut}");
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt, "{cut}");
        }
    }
}
