//! What a file is: its content decides, its name helps where content cannot.
//!
//! Certain signatures come first, then checks for types that are known but not read (so that an Office file is
//! never unpacked as a mere ZIP, nor a mail read as plain text), then the formats that need the name's help,
//! and last plain text. Nothing here may panic on any bytes; a property test holds it to that.

mod unread;
pub mod unsupported;
mod zip_family;

use std::borrow::Cow;

use docmill_core::Result;

use crate::format::{Claim, Confidence, Format};
use crate::input::Input;
use crate::kinds;
use crate::shared::charset::Charset;
use crate::shared::zip;

pub(crate) use unread::{COMPOUND_FILE, compound_type};

/// What nobody knows.
const UNKNOWN: &str = "application/octet-stream";

/// What an archive may stand behind, so that only its end tells: another volume of a set, a program that unpacks it.
const BEFORE_ARCHIVES: &[&str] = &[UNKNOWN, "application/x-dosexec", "text/x-shellscript"];

/// How much of a file is looked at.
const HEAD_BYTES: u64 = 16 << 10;

/// How much of the directory of a compound file is looked at; it may lie at its end.
const DIRECTORY_BYTES: u64 = 4 << 10;

/// The beginning of a file, as formats see it.
pub struct Head<'a> {
    /// The first bytes; those of a compound file are followed by its directory.
    pub bytes: &'a [u8],
    /// The same as text, without a byte order mark; `None` if it is not text.
    pub text: Option<String>,
    /// The last part of the file's name, in lower case, without the dot; may be empty.
    pub extension: String,
    /// Whether `bytes` are all there are.
    pub whole: bool,
    /// What a compound file has at its top, as far as it can be opened. Documents that are embedded deeper down have
    /// streams of their own, which say nothing about the file.
    pub top: Vec<String>,
}

impl<'a> Head<'a> {
    /// Prepares the first bytes of a file called `name`.
    pub fn new(bytes: &'a [u8], name: &str, whole: bool) -> Self {
        let text = Charset::of_head(bytes).map(|charset| charset.decode(bytes).text);
        Self { bytes, text, extension: extension(name), whole, top: Vec::new() }
    }
}

/// What a file turned out to be.
pub struct Sniffed {
    /// Its media type.
    pub media_type: Cow<'static, str>,
    /// Who reads it, if anybody does.
    pub format: Option<&'static dyn Format>,
}

/// Tells what `input` is.
pub fn sniff(input: &mut Input, name: &str) -> Result<Sniffed> {
    let mut bytes = input.head(HEAD_BYTES)?;
    let whole = bytes.len() as u64 == input.length();
    if let Some(directory) = unread::compound_directory(&bytes) {
        bytes.extend(input.piece(directory, DIRECTORY_BYTES)?);
    }
    let mut head = Head::new(&bytes, name, whole);
    if bytes.starts_with(COMPOUND_FILE) {
        head.top = unread::compound_names(input);
    }
    let claim = best_claim(&head);
    if let Some((format, claim)) = claim
        && claim.confidence == Confidence::Certain
    {
        // Many formats are ZIP files underneath; those must not be taken apart as archives.
        return Ok(match zip_family::member_type(input, &head, claim)? {
            zip_family::Member::Archive(media_type) => {
                Sniffed { media_type: media_type.into(), format: Some(format) }
            }
            zip_family::Member::Other(media_type) => {
                Sniffed { media_type: media_type.into(), format: kinds::of_media_type(media_type) }
            }
        });
    }
    if let Some(media_type) = unread::media_type(&head) {
        // A claim that content and name make together beats not knowing.
        let is_claimed = media_type == UNKNOWN && claim.is_some();
        if !is_claimed && BEFORE_ARCHIVES.contains(&&*media_type) && zip::Directory::find(input).is_ok() {
            return Ok(Sniffed {
                media_type: zip::MEDIA_TYPE.into(),
                format: kinds::of_media_type(zip::MEDIA_TYPE),
            });
        }
        if !is_claimed {
            return Ok(Sniffed { media_type, format: None });
        }
    }
    Ok(match claim {
        Some((format, claim)) => Sniffed { media_type: claim.media_type.into(), format: Some(format) },
        None => Sniffed { media_type: UNKNOWN.into(), format: None },
    })
}

/// The strongest claim; among equals the first in [`kinds::ALL`].
fn best_claim(head: &Head<'_>) -> Option<(&'static dyn Format, Claim)> {
    let mut best: Option<(&'static dyn Format, Claim)> = None;
    for format in kinds::ALL {
        if let Some(claim) = format.sniff(head)
            && best.is_none_or(|(_, other)| claim.confidence > other.confidence)
        {
            best = Some((*format, claim));
        }
    }
    best
}

/// The media type that a name alone suggests, for listings.
pub fn media_type_of_name(name: &str) -> &'static str {
    let extension = extension(name);
    unread::OF_EXTENSION
        .iter()
        .find(|(known, _)| *known == extension)
        .map_or(UNKNOWN, |(_, media_type)| media_type)
}

fn extension(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match file.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.len() <= 16 => extension.to_lowercase(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
