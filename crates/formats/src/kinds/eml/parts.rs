//! One part of a message on its way out: into the body's text, or as a member.

use docmill_core::Result;
use docmill_core::wire::ReadLimits;

use crate::shared::mail::transfer::{Decoder, Encoding, uu_line, uu_name};
use crate::shared::mail::{Body, Headers};
use crate::shared::members::Members;

/// Text beyond this is no letter any more: it becomes a member and streams.
const MAX_TEXT_BYTES: usize = 8 << 20;

/// All texts of one message together.
const MAX_BODY_BYTES: usize = 32 << 20;

/// Where the bytes of a part go.
pub(super) enum Use {
    /// Into the text of the message.
    Plain,
    Html,
    /// Out as a member.
    Member,
}

/// What is known of a part before its bytes come.
pub(super) struct About {
    pub(super) becomes: Use,
    pub(super) name: String,
    pub(super) charset: Option<String>,
    pub(super) encoding: Encoding,
    pub(super) alternative: Option<usize>,
}

/// Takes parts one after the other.
pub(super) struct Parts<'a> {
    pub(super) members: Members<'a>,
    pub(super) body: Body,
    limits: &'a ReadLimits,
    body_bytes: usize,
    /// Files inside plain text, from before MIME.
    inside: Vec<(String, Vec<u8>)>,
}

/// The part that is arriving now.
pub(super) struct Part {
    about: About,
    decoder: Decoder,
    held: Vec<u8>,
    begun: bool,
    scratch: Vec<u8>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(members: Members<'a>, limits: &'a ReadLimits) -> Self {
        Self { members, body: Body::default(), limits, body_bytes: 0, inside: Vec::new() }
    }

    /// A part begins.
    pub(super) fn open(&mut self, about: About) -> Result<Part> {
        let begun = matches!(about.becomes, Use::Member);
        if begun {
            self.members.begin(&about.name, None)?;
        }
        let decoder = Decoder::new(about.encoding);
        Ok(Part { about, decoder, held: Vec::new(), begun, scratch: Vec::new() })
    }

    /// A line of it.
    pub(super) fn push(&mut self, part: &mut Part, line: &[u8], end: &[u8]) -> Result<()> {
        if part.begun {
            part.scratch.clear();
            part.decoder.push(line, end, &mut part.scratch);
            return self.members.write(&part.scratch);
        }
        part.decoder.push(line, end, &mut part.held);
        if part.held.len() > MAX_TEXT_BYTES || self.body_bytes + part.held.len() > MAX_BODY_BYTES {
            self.members.begin(&part.about.name, None)?;
            self.members.write(&part.held)?;
            part.held = Vec::new();
            part.begun = true;
        }
        Ok(())
    }

    /// It is complete. `whole` says that no boundary follows, so that the last line end is its own.
    pub(super) fn close(&mut self, mut part: Part, whole: bool) -> Result<()> {
        let mut rest = Vec::new();
        if whole {
            part.decoder.finish(&mut rest);
        }
        if part.begun {
            self.members.write(&rest)?;
            return self.members.end();
        }
        part.held.append(&mut rest);
        self.body_bytes += part.held.len();
        let (charset, alternative) = (part.about.charset.as_deref(), part.about.alternative);
        match part.about.becomes {
            Use::Html => self.body.add_html(&part.held, charset, alternative, self.limits),
            Use::Plain | Use::Member => {
                let text = self.take_files_out(&part.held);
                self.body.add_plain(&text, charset, alternative);
                for (name, bytes) in std::mem::take(&mut self.inside) {
                    self.members.begin(&name, Some(bytes.len() as u64))?;
                    self.members.write(&bytes)?;
                    self.members.end()?;
                }
                Ok(())
            }
        }
    }

    /// Closes a part, or forgets it where it is only a `remark` that is no part of the message.
    pub(super) fn close_unless(&mut self, part: Part, remark: bool, whole: bool) -> Result<()> {
        if remark && !part.begun { Ok(()) } else { self.close(part, whole) }
    }

    /// Plain text without the uuencoded files in it, which become members.
    fn take_files_out(&mut self, text: &[u8]) -> Vec<u8> {
        if memchr::memmem::find(text, b"begin ").is_none() {
            return text.to_vec();
        }
        let mut out = Vec::with_capacity(text.len());
        let mut lines = text.split_inclusive(|&b| b == b'\n');
        while let Some(line) = lines.next() {
            let file = uu_name(line.trim_ascii_end()).and_then(|name| {
                let mut ahead = lines.clone();
                let mut bytes = Vec::new();
                loop {
                    let line = ahead.next()?.strip_suffix(b"\n")?;
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    if line.trim_ascii() == b"end" {
                        return Some((String::from_utf8_lossy(name).into_owned(), bytes, ahead));
                    }
                    // Anything else than data means that the word stood in a sentence.
                    if line.len() > 90 || !uu_line(line, &mut bytes) {
                        return None;
                    }
                }
            });
            match file {
                Some((name, bytes, after)) => {
                    self.inside.push((name, bytes));
                    lines = after;
                }
                None => out.extend_from_slice(line),
            }
        }
        out
    }
}

/// What becomes of a part with these headers. `n` numbers the parts that have no name.
pub(super) fn about(
    headers: &Headers,
    in_digest: bool,
    alternative: Option<usize>,
    is_root: bool,
    n: u64,
) -> About {
    let default = if in_digest { "message/rfc822" } else { "text/plain" };
    let media_type = headers.media_type().unwrap_or_else(|| default.to_owned());
    let name = headers.file_name();
    let attached = headers.is_attachment() || (name.is_some() && !is_root);
    let becomes = match media_type.as_str() {
        // A multipart without a boundary, or nested too deep to follow, is shown as it stands.
        "text/plain" if !attached => Use::Plain,
        "text/html" if !attached => Use::Html,
        kind if kind.starts_with("multipart/") && !headers.is_attachment() => Use::Plain,
        _ => Use::Member,
    };
    About {
        becomes,
        name: member_name(name, &media_type, n),
        charset: headers.parameter("charset").map(str::to_owned),
        encoding: headers.encoding(),
        alternative,
    }
}

/// The part's own name, or one made of its number and type. Messages must end in `.eml`: their content may say too
/// little to be known by.
fn member_name(name: Option<String>, media_type: &str, n: u64) -> String {
    let is_message = is_message_type(media_type);
    match name {
        Some(name) if is_message && !name.to_ascii_lowercase().ends_with(".eml") => format!("{name}.eml"),
        Some(name) => name,
        None if is_message => format!("message-{n}.eml"),
        None => format!("part-{n}.{}", extension(media_type)),
    }
}

/// A whole message inside.
fn is_message_type(media_type: &str) -> bool {
    matches!(media_type, "message/rfc822" | "message/global" | "message/news")
}

/// How a file of this type is usually called.
fn extension(media_type: &str) -> &str {
    const KNOWN: &[(&str, &str)] = &[
        ("text/calendar", "ics"),
        ("text/vcard", "vcf"),
        ("text/x-vcard", "vcf"),
        ("text/html", "html"),
        ("text/csv", "csv"),
        ("text/rtf", "rtf"),
        ("application/rtf", "rtf"),
        ("application/ms-tnef", "dat"),
        ("application/pdf", "pdf"),
        ("application/zip", "zip"),
        ("application/json", "json"),
        ("application/xml", "xml"),
        ("text/xml", "xml"),
        ("image/jpeg", "jpg"),
        ("image/png", "png"),
        ("image/gif", "gif"),
        ("image/tiff", "tif"),
    ];
    match KNOWN.iter().find(|(known, _)| *known == media_type) {
        Some((_, extension)) => extension,
        None if media_type.starts_with("text/") || media_type.starts_with("message/") => "txt",
        None => "bin",
    }
}
