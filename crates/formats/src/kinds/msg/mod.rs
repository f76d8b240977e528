//! Outlook messages: compound files whose streams are properties. Fields as metadata, the body as text, attachments
//! as members; a message inside becomes a message file of its own.

mod inside;

use std::io::Read;

use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::compound::File;
use crate::shared::mail::Headers;
use crate::shared::mail::mapi::{Properties, Property, id, kind, person};
use crate::shared::members::Members;
use crate::sink::Sink;
use crate::sniff::{COMPOUND_FILE, Head, compound_type};

const MEDIA_TYPE: &str = "application/vnd.ms-outlook";

/// The stream of properties that fit into eight bytes.
const FIXED: &str = "__properties_version1.0";

/// Texts and the like beyond this are not read; only attachments are larger, and those stream.
const MAX_PROPERTY_BYTES: u64 = 32 << 20;

/// An attachment that is a message.
const METHOD_MESSAGE: u32 = 5;

pub(super) struct Msg;

impl Format for Msg {
    fn name(&self) -> &'static str {
        "msg"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn container(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let is_message = head.bytes.starts_with(COMPOUND_FILE) && compound_type(head) == MEDIA_TYPE;
        is_message.then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        input.go_to(0)?;
        let mut file =
            cfb::CompoundFile::open(input).map_err(|e| damaged("the message's file system is damaged", e))?;
        let message = properties(&mut file, "/", 32)?;
        let recipients = storages(&file, "__recip_version1.0_");
        let attachments = storages(&file, "__attach_version1.0_");
        if want.metadata {
            tell(&mut file, &message, &recipients, sink)?;
        }
        if !(want.text || want.children || want.listing) {
            return Ok(());
        }
        if message.damaged > 0 {
            let message = format!("{} properties of the message could not be read in full", message.damaged);
            sink.warn(Problem::new(ErrorKind::Corrupt, message))?;
        }
        let (body, rich) = message.body(limits, sink)?;
        let mut members = Members::new(sink, want);
        if members.wants_bytes() {
            let texts = usize::from(!want.text && !body.is_empty());
            let count = attachments.len() + usize::from(rich.is_some()) + texts;
            members.sink().put(Found::Declared(count as u64))?;
        }
        for storage in attachments {
            attachment(&mut file, &storage, &mut members)?;
        }
        if let Some(rich) = rich {
            members.begin("message.rtf", Some(rich.len() as u64))?;
            members.write(&rich)?;
            members.end()?;
        }
        body.give(&mut members, want)
    }
}

fn damaged(what: &str, error: std::io::Error) -> Error {
    Error::corrupt(what.to_owned()).with_source(error)
}

/// The storages at the top whose names begin like this, in the order of their names.
fn storages(file: &File<'_>, prefix: &str) -> Vec<String> {
    let mut names: Vec<String> = file
        .read_root_storage()
        .filter(|entry| entry.is_storage() && entry.name().starts_with(prefix))
        .map(|entry| format!("/{}", entry.name()))
        .collect();
    names.sort();
    names
}

/// The properties of a storage. `header` bytes stand before those in the fixed stream.
fn properties(file: &mut File<'_>, storage: &str, header: usize) -> Result<Properties> {
    let unreadable = |e| damaged("the message's properties cannot be listed", e);
    let mut out = Properties::default();
    let listed: Vec<(String, u64)> = file
        .read_storage(storage)
        .map_err(unreadable)?
        .filter(cfb::Entry::is_stream)
        .map(|entry| (entry.name().to_owned(), entry.len()))
        .collect();
    for (name, bytes) in listed {
        let path = format!("{}/{name}", storage.trim_end_matches('/'));
        if name == FIXED {
            for entry in
                stream(file, &path, &mut out.damaged).get(header..).unwrap_or_default().chunks_exact(16)
            {
                let (kind, id) =
                    (u16::from_le_bytes([entry[0], entry[1]]), u16::from_le_bytes([entry[2], entry[3]]));
                if !matches!(kind, kind::STRING | kind::UNICODE | kind::BINARY | kind::OBJECT) {
                    out.add(Property { id, kind, value: entry[8..].to_vec() });
                }
            }
        } else if let Some((id, kind)) = tag(&name)
            && id != id::ATTACHED_DATA
            && bytes <= MAX_PROPERTY_BYTES
        {
            let value = stream(file, &path, &mut out.damaged);
            out.add(Property { id, kind, value });
        }
    }
    Ok(out)
}

/// Identifier and type in the name of a stream: `__substg1.0_0037001F`.
fn tag(name: &str) -> Option<(u16, u16)> {
    let digits = name.strip_prefix("__substg1.0_")?;
    let number = |range: std::ops::Range<usize>| u16::from_str_radix(digits.get(range)?, 16).ok();
    // More digits mean one of several values.
    (digits.len() == 8).then_some((number(0..4)?, number(4..8)?))
}

/// A property's stream. What cannot be read of it is left out and counted: a text with a hole is better than none.
fn stream(file: &mut File<'_>, path: &str, damaged: &mut u64) -> Vec<u8> {
    let mut out = Vec::new();
    let read =
        file.open_stream(path).and_then(|stream| stream.take(MAX_PROPERTY_BYTES).read_to_end(&mut out));
    *damaged += u64::from(read.is_err());
    out
}

/// Gives the message's fields. What it lacks is taken from the header it arrived with, if that was kept.
fn tell(file: &mut File<'_>, message: &Properties, recipients: &[String], sink: &mut dyn Sink) -> Result<()> {
    if message.get(id::SUBJECT).is_none()
        && let Some(header) = message.text(id::TRANSPORT_HEADERS)
    {
        Headers::parse(header.as_bytes()).tell(sink)?;
    }
    message.tell(sink)?;
    let mut people: [Vec<String>; 3] = Default::default();
    for storage in recipients {
        let recipient = properties(file, storage, 8)?;
        let address = recipient.text(id::SMTP_ADDRESS).or_else(|| recipient.text(id::ADDRESS));
        let shown = person(recipient.text(id::DISPLAY_NAME), address);
        // 1 to, 2 copy, 3 blind copy; the upper bits are flags.
        let place = recipient.number(id::RECIPIENT_TYPE).unwrap_or(1) & 0xf;
        if let Some(list) = people.get_mut(place.saturating_sub(1) as usize) {
            list.push(shown);
        }
    }
    let shown = [("to", id::DISPLAY_TO), ("cc", id::DISPLAY_CC), ("bcc", id::DISPLAY_BCC)];
    for ((key, fallback), list) in shown.into_iter().zip(people) {
        let listed = list.join(", ");
        let value = if listed.is_empty() { message.text(fallback).unwrap_or_default() } else { listed };
        sink.meta(key, &value)?;
    }
    Ok(())
}

/// Gives one attachment.
fn attachment(file: &mut File<'_>, storage: &str, members: &mut Members<'_>) -> Result<()> {
    let about = match properties(file, storage, 8) {
        Ok(about) => about,
        Err(e) => return members.refuse(storage.trim_start_matches('/'), &e),
    };
    let name = about.attached_name();
    let number = members.count() + 1;
    let object = format!("{storage}/__substg1.0_3701000D");
    if file.is_storage(&object) {
        let is_message = about.number(id::ATTACHED_METHOD) == Some(METHOD_MESSAGE);
        let name = match name {
            Some(name) if is_message && !name.to_lowercase().ends_with(".msg") => format!("{name}.msg"),
            Some(name) => name,
            None => format!("attachment-{number}.{}", if is_message { "msg" } else { "ole" }),
        };
        return match inside::take_out(file, &object, is_message) {
            Ok(bytes) => {
                members.begin(&name, Some(bytes.len() as u64))?;
                members.write(&bytes)?;
                members.end()
            }
            Err(e) => members.refuse(&name, &e),
        };
    }
    let name = name.unwrap_or_else(|| format!("attachment-{number}.bin"));
    let path = format!("{storage}/__substg1.0_37010102");
    let mut content = match file.open_stream(&path) {
        Ok(content) => content,
        Err(e) => {
            let error =
                Error::unreadable("the message holds only a reference to this attachment").with_source(e);
            return members.refuse(&name, &error);
        }
    };
    members.begin(&name, Some(content.len()))?;
    match members.pour(&mut content)? {
        Ok(()) => members.end(),
        Err(e) => {
            let bytes = members.open_bytes();
            members.fail(&damaged(&format!("attachment is damaged after {bytes} bytes"), e))
        }
    }
}

#[cfg(test)]
mod tests;
