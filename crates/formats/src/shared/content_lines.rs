//! Content lines, the writing of calendars and address cards (RFC 5545, RFC 6350): `NAME;PARAMETER=x:value`, long
//! ones folded over several lines. Also vCard 2.1, which folds its quoted-printable in its own way.

use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::Want;
use docmill_core::{Error, Result};

use crate::input::Input;
use crate::shared::charset::Charset;
use crate::shared::lines::{Lines, with_usual_ends};
use crate::shared::mail::body::decode;
use crate::shared::mail::transfer::{Decoder, Encoding};
use crate::shared::members::Members;
use crate::shared::pager::Pager;
use crate::sink::Sink;

/// The longest line: a photograph inside a card.
const MAX_LINE_BYTES: usize = 16 << 20;

/// A file in UTF-16 is held while it is read.
const MAX_WIDE_BYTES: u64 = 64 << 20;

/// A line taken apart.
struct Content<'a> {
    name: String,
    parameters: Vec<(String, String)>,
    value: &'a [u8],
}

/// Reads a file of content lines as text: one line for each property, a blank line before each of the `outer`
/// components. Binary values become members. `title` names the property that becomes the title.
pub(crate) fn read(
    input: &mut Input,
    want: Want,
    sink: &mut dyn Sink,
    outer: &[&str],
    title: &str,
) -> Result<()> {
    let mut reading = Reading { text: String::new(), title: None, count: 0, files: Vec::new(), cut: false };
    // Lines are found by bytes: text of two bytes a character is decoded before, and a byte order mark is none of it.
    let mut decoded;
    let (input, begin) = match Charset::from_mark(&input.head(4)?) {
        Some((charset, length)) if charset == Charset::UTF_8 => (input, length as u64),
        Some((charset, _)) => {
            let text = charset.decode(&input.whole(MAX_WIDE_BYTES)?).text;
            decoded = Input::from_bytes(text.into_bytes());
            (&mut decoded, 0)
        }
        None => match with_usual_ends(input)? {
            Some(changed) => {
                decoded = changed;
                (&mut decoded, 0)
            }
            None => (input, 0),
        },
    };
    let mut lines = Lines::from(input, begin)?;
    let mut unfolded: Vec<u8> = Vec::new();
    while let Some(line) = lines.next()? {
        let (bytes, _) = line.split_end();
        let soft = unfolded.last() == Some(&b'=') && is_quoted(&unfolded);
        let folded = line.begins && matches!(bytes.first(), Some(b' ' | b'\t'));
        if folded || soft || !line.begins {
            if soft {
                unfolded.pop();
            }
            if unfolded.len() + bytes.len() <= MAX_LINE_BYTES {
                unfolded.extend_from_slice(&bytes[usize::from(folded && !soft)..]);
            } else {
                reading.cut = true;
            }
            continue;
        }
        reading.line(&unfolded, outer, title);
        unfolded.clear();
        unfolded.extend_from_slice(bytes);
    }
    reading.line(&unfolded, outer, title);
    reading.give(want, sink)
}

/// Whether a line says that its value is quoted-printable, which goes on after a final `=`.
fn is_quoted(line: &[u8]) -> bool {
    let end = line.iter().position(|b| *b == b':').unwrap_or(0);
    line[..end].to_ascii_uppercase().windows(16).any(|w| w == b"QUOTED-PRINTABLE")
}

struct Reading {
    text: String,
    title: Option<String>,
    count: u64,
    files: Vec<(String, Vec<u8>)>,
    cut: bool,
}

impl Reading {
    fn line(&mut self, line: &[u8], outer: &[&str], title: &str) {
        let Some(content) = take_apart(line) else {
            if !line.trim_ascii().is_empty() {
                self.text.push_str(&decode(line, None).0);
                self.text.push('\n');
            }
            return;
        };
        let parameter = |wanted: &str| {
            content.parameters.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
        };
        let encoding = parameter("ENCODING").unwrap_or_default().to_ascii_uppercase();
        let mut raw = Vec::new();
        // Version 4 of cards writes files as addresses of the sort `data:image/png;base64,…`.
        let inline = data_address(content.value);
        let (stated, value) = inline.map_or((None, content.value), |(kind, value)| (Some(kind), value));
        let encoding = if inline.is_some() { "BASE64" } else { encoding.as_str() };
        match encoding {
            "B" | "BASE64" => {
                Decoder::new(Encoding::Base64).push(value, b"", &mut raw);
                let ending = stated
                    .or_else(|| parameter("TYPE"))
                    .or_else(|| parameter("FMTTYPE"))
                    .and_then(|kind| kind.rsplit('/').next())
                    .map_or_else(|| "bin".to_owned(), str::to_lowercase);
                let number = self.files.len() + 1;
                let name = parameter("FILENAME").or_else(|| parameter("X-FILENAME")).map_or_else(
                    || format!("{}-{number}.{ending}", content.name.to_lowercase()),
                    str::to_owned,
                );
                self.files.push((name, raw));
                return;
            }
            "QUOTED-PRINTABLE" => Decoder::new(Encoding::QuotedPrintable).push(content.value, b"", &mut raw),
            _ => raw.extend_from_slice(content.value),
        }
        let value = unescaped(&decode(&raw, parameter("CHARSET")).0);
        match content.name.as_str() {
            "BEGIN" => {
                if outer.iter().any(|known| value.eq_ignore_ascii_case(known)) {
                    self.count += 1;
                    if !self.text.is_empty() {
                        self.text.push('\n');
                    }
                }
            }
            "END" | "VERSION" | "PRODID" => {}
            name => {
                if name == title && self.title.is_none() {
                    self.title = Some(value.clone());
                }
                let person = parameter("CN").map(|name| format!("{name} ")).unwrap_or_default();
                let value = value.trim();
                if !value.is_empty() {
                    self.text.push_str(&format!("{}: {person}{value}\n", shown(name)));
                }
            }
        }
    }

    fn give(self, want: Want, sink: &mut dyn Sink) -> Result<()> {
        if self.count == 0 && self.text.is_empty() && self.files.is_empty() {
            return Err(Error::corrupt("there is nothing in it"));
        }
        if want.metadata {
            sink.meta("title", &self.title.unwrap_or_default())?;
            sink.meta("entries", &self.count.to_string())?;
        }
        if self.cut {
            let message = format!("lines longer than {MAX_LINE_BYTES} bytes were cut");
            sink.warn(Problem::new(ErrorKind::LimitExceeded, message))?;
        }
        let mut members = Members::new(sink, want);
        if members.wanted() {
            for (name, bytes) in &self.files {
                members.begin(name, Some(bytes.len() as u64))?;
                members.write(bytes)?;
                members.end()?;
            }
        }
        if !want.text {
            return Ok(());
        }
        let mut pager = Pager::new(members.sink(), "the entries' properties");
        pager.push(&self.text)?;
        pager.finish()
    }
}

/// `NAME;PARAMETER=x;FLAG:value`; `None` if it is no content line.
fn take_apart(line: &[u8]) -> Option<Content<'_>> {
    let mut quoted = false;
    let colon = line.iter().position(|b| {
        quoted ^= *b == b'"';
        *b == b':' && !quoted
    })?;
    let before = decode(&line[..colon], None).0;
    let mut parts = before.split(';');
    // A group may stand before the name.
    let name = parts.next()?.rsplit('.').next()?.trim().to_ascii_uppercase();
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return None;
    }
    let parameters = parts
        .map(|part| match part.split_once('=') {
            Some((name, value)) => (name.to_ascii_uppercase(), value.trim_matches('"').to_owned()),
            // Version 2.1 leaves the parameter's name out.
            None if matches!(part.to_ascii_uppercase().as_str(), "BASE64" | "QUOTED-PRINTABLE") => {
                ("ENCODING".to_owned(), part.to_owned())
            }
            None => ("TYPE".to_owned(), part.to_owned()),
        })
        .collect();
    Some(Content { name, parameters, value: &line[colon + 1..] })
}

/// The type and the characters of a file that is written as an address.
fn data_address(value: &[u8]) -> Option<(&str, &[u8])> {
    let rest = value.strip_prefix(b"data:")?;
    let comma = memchr::memchr(b',', rest)?;
    let kind = std::str::from_utf8(&rest[..comma]).ok()?.strip_suffix(";base64")?;
    Some((kind.split(';').next().unwrap_or(kind), &rest[comma + 1..]))
}

/// A value without its backslashes; parts of a value are set apart by spaces.
fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | 'N') => out.push('\n'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            ';' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

/// `DTSTART` as `Dtstart`.
fn shown(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{first}{}", rest.to_ascii_lowercase())
}
