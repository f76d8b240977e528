//! Outlook's `winmail.dat` (TNEF): the message's text and attachments as they were before it was sent.
//!
//! Attributes follow one another; an attachment's bytes come before its full name, so they are noted where they
//! stand and given once the next attachment begins.

use std::io::Read;

use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::wire::{ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::mail::body::decode;
use crate::shared::mail::mapi::{Properties, Property, cut_off, id, kind};
use crate::shared::members::Members;
use crate::sink::Sink;
use crate::sniff::Head;

const MEDIA_TYPE: &str = "application/vnd.ms-tnef";
const SIGNATURE: [u8; 4] = [0x78, 0x9f, 0x3e, 0x22];

/// Lists of properties are held; attachments that are not inside one are not.
const MAX_PROPERTIES_BYTES: u64 = 256 << 20;

const SUBJECT: u32 = 0x0001_8004;
const BODY: u32 = 0x0002_800c;
const ATTACHED_DATA: u32 = 0x0006_800f;
const ATTACHED_TITLE: u32 = 0x0001_8010;
const ATTACHMENT_BEGINS: u32 = 0x0006_9002;
const MESSAGE_PROPERTIES: u32 = 0x0006_9003;
const ATTACHED_PROPERTIES: u32 = 0x0006_9005;
const CODE_PAGE: u32 = 0x0006_9007;

pub(super) struct Tnef;

impl Format for Tnef {
    fn name(&self) -> &'static str {
        "tnef"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn container(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        head.bytes.starts_with(&SIGNATURE).then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let mut found = Attributes::default();
        // What stands before the damage is good; it is given with a warning.
        let damage = found.read(input).err();
        if want.metadata {
            found.message.tell(sink)?;
        }
        if !(want.text || want.children || want.listing) {
            return Ok(());
        }
        if let Some(damage) = &damage {
            if damage.kind() != ErrorKind::Corrupt {
                return Err(Error::unreadable(damage.message()));
            }
            if found.attached.is_empty() && found.message.is_empty() {
                return Err(Error::corrupt(damage.message()));
            }
            sink.warn(Problem::new(ErrorKind::Corrupt, damage.message()))?;
        }
        let (body, rich) = found.message.body(limits, sink)?;
        let mut members = Members::new(sink, want);
        for attached in &found.attached {
            attached.give(input, &mut members)?;
        }
        if let Some(rich) = rich {
            members.begin("message.rtf", Some(rich.len() as u64))?;
            members.write(&rich)?;
            members.end()?;
        }
        body.give(&mut members, want)
    }
}

/// Everything but the bytes of attachments.
#[derive(Default)]
struct Attributes {
    message: Properties,
    attached: Vec<Attached>,
}

#[derive(Default)]
struct Attached {
    title: Option<String>,
    data: Option<(u64, u64)>,
    about: Properties,
}

impl Attributes {
    fn read(&mut self, input: &mut Input) -> Result<()> {
        let mut at = 6;
        loop {
            let header = input.piece(at, 9)?;
            // One byte says whether it is the message's or an attachment's.
            let [_, i0, i1, i2, i3, l0, l1, l2, l3] = header[..] else {
                return if header.is_empty() { Ok(()) } else { Err(cut_off("an attribute")) };
            };
            let (name, length) =
                (u32::from_le_bytes([i0, i1, i2, i3]), u64::from(u32::from_le_bytes([l0, l1, l2, l3])));
            let from = at + 9;
            if from + length > input.length() {
                return Err(cut_off(&format!("the attribute {name:08x} at byte {at}")));
            }
            self.take(input, name, from, length)?;
            // A checksum of two bytes follows; many programs write it wrong.
            at = from + length + 2;
        }
    }

    fn take(&mut self, input: &mut Input, name: u32, from: u64, length: u64) -> Result<()> {
        match name {
            ATTACHMENT_BEGINS => self.attached.push(Attached::default()),
            ATTACHED_DATA => self.last().data = Some((from, length)),
            ATTACHED_TITLE | SUBJECT | BODY => {
                let value = input.piece(from, length.min(MAX_PROPERTIES_BYTES))?;
                if name == ATTACHED_TITLE {
                    let title = decode(value.split(|b| *b == 0).next().unwrap_or_default(), None).0;
                    self.last().title = Some(title).filter(|title| !title.trim().is_empty());
                } else {
                    let id = if name == SUBJECT { id::SUBJECT } else { id::BODY };
                    self.message.add_unless_known(Property { id, kind: kind::STRING, value });
                }
            }
            CODE_PAGE => {
                let value = input.piece(from, length.min(4))?;
                self.message.add_unless_known(Property { id: id::CODE_PAGE, kind: kind::NUMBER, value });
            }
            MESSAGE_PROPERTIES | ATTACHED_PROPERTIES if length <= MAX_PROPERTIES_BYTES => {
                let list = input.piece(from, length)?;
                let into =
                    if name == MESSAGE_PROPERTIES { &mut self.message } else { &mut self.last().about };
                properties(&list, into)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The attachment at hand; some files forget to say that it begins.
    fn last(&mut self) -> &mut Attached {
        if self.attached.is_empty() {
            self.attached.push(Attached::default());
        }
        let last = self.attached.len() - 1;
        &mut self.attached[last]
    }
}

impl Attached {
    fn give(&self, input: &mut Input, members: &mut Members<'_>) -> Result<()> {
        // A message or another object inside stands behind sixteen bytes that say what it is.
        let object = self.about.get(id::ATTACHED_DATA).filter(|data| data.kind == kind::OBJECT);
        let is_message = object.is_some_and(|data| data.value.get(16..20) == Some(&SIGNATURE));
        let number = members.count() + 1;
        let name = self.about.attached_name().or_else(|| self.title.clone());
        let name = match name {
            Some(name) if is_message && !name.to_lowercase().ends_with(".dat") => format!("{name}.dat"),
            Some(name) => name,
            None => format!("attachment-{number}.{}", if is_message { "dat" } else { "bin" }),
        };
        if let Some(object) = object {
            let content = object.value.get(16..).unwrap_or_default();
            members.begin(&name, Some(content.len() as u64))?;
            members.write(content)?;
            return members.end();
        }
        if let Some((from, length)) = self.data {
            input.go_to(from)?;
            members.begin(&name, Some(length))?;
            return match members.pour(&mut input.take(length))? {
                Ok(()) => members.end(),
                Err(e) => members.fail(&Error::unreadable("attachment cannot be read").with_source(e)),
            };
        }
        match self.about.get(id::ATTACHED_DATA) {
            Some(data) => {
                members.begin(&name, Some(data.value.len() as u64))?;
                members.write(&data.value)?;
                members.end()
            }
            None => members.refuse(&name, &Error::corrupt("attachment has no content")),
        }
    }
}

/// A list of properties: how many, then each with its type, identifier and value.
fn properties(list: &[u8], into: &mut Properties) -> Result<()> {
    const SEVERAL: u16 = 0x1000;
    let mut rest = Rest(list);
    for _ in 0..rest.number()? {
        let (mut kind, id) = (rest.short()?, rest.short()?);
        if id >= 0x8000 {
            rest.take(16)?;
            if rest.number()? == 0 {
                rest.number()?;
            } else {
                let length = rest.number()?;
                rest.padded(length)?;
            }
        }
        let several = kind & SEVERAL != 0;
        kind &= !SEVERAL;
        let variable = matches!(kind, kind::STRING | kind::UNICODE | kind::BINARY | kind::OBJECT);
        let count = if several || variable { rest.number()? } else { 1 };
        for nth in 0..count {
            let value = match kind {
                _ if variable => {
                    let length = rest.number()?;
                    rest.padded(length)?
                }
                0x0002 | 0x0003 | 0x0004 | 0x000a | 0x000b => rest.take(4)?,
                0x0005 | 0x0006 | 0x0007 | 0x0014 | 0x0040 => rest.take(8)?,
                0x0048 => rest.take(16)?,
                0x0000 | 0x0001 => &[],
                other => {
                    return Err(Error::corrupt(format!("a property has the unknown type {other:04x}")));
                }
            };
            if nth == 0 && !several {
                into.add(Property { id, kind, value: value.to_vec() });
            }
        }
    }
    Ok(())
}

/// Bytes not yet taken.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(|| cut_off("a list of properties"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// Bytes with what fills them up to a multiple of four, which the last ones may lack.
    fn padded(&mut self, bytes: u32) -> Result<&'a [u8]> {
        let bytes = bytes as usize;
        let taken = self.take(bytes)?;
        let fill = (bytes.next_multiple_of(4) - bytes).min(self.0.len());
        self.take(fill)?;
        Ok(taken)
    }

    fn short(&mut self) -> Result<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn number(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;

    use super::*;
    use crate::tests_support::{fixture, members, read_bytes, read_fixture, try_read};

    #[test]
    fn text_and_attachments_come_out_under_their_full_names() {
        let found = read_fixture("tnef/winmail.dat");
        assert_eq!(found.value("subject"), Some("Grüße"));
        assert_eq!(found.text(), "the body");
        let parts = members(&found);
        assert_eq!(parts[0], ("long name größe.txt".to_owned(), Ok(b"attached".to_vec())));
        assert_eq!(parts[1].0, "inner.dat");
        assert!(parts[1].1.as_ref().unwrap().starts_with(&SIGNATURE));
        assert_eq!(parts.len(), 2);
    }

    #[test]
    fn rich_text_that_cannot_be_read_costs_no_attachment() {
        let attribute = |level: u8, name: u32, value: &[u8]| {
            let sum = value.iter().fold(0_u16, |sum, byte| sum.wrapping_add(u16::from(*byte)));
            let length = (value.len() as u32).to_le_bytes();
            [&[level][..], &name.to_le_bytes(), &length, value, &sum.to_le_bytes()].concat()
        };
        let rich = b"0123456789abNOPE and so on";
        let mut list = [1_u32.to_le_bytes(), 0x1009_0102_u32.to_le_bytes(), 1_u32.to_le_bytes()].concat();
        list.extend((rich.len() as u32).to_le_bytes());
        list.extend(rich);
        list.extend([0; 2]);
        let file = [
            &SIGNATURE[..],
            &[1, 0],
            &attribute(1, MESSAGE_PROPERTIES, &list),
            &attribute(2, ATTACHMENT_BEGINS, &[0; 14]),
            &attribute(2, ATTACHED_TITLE, b"a.txt\0"),
            &attribute(2, ATTACHED_DATA, b"attached"),
        ]
        .concat();
        let found = read_bytes("winmail.dat", &file);
        assert_eq!(members(&found), [("a.txt".to_owned(), Ok(b"attached".to_vec()))]);
        assert!(found.warnings()[0].message.contains("rich text"), "{:?}", found.warnings());
    }

    #[test]
    fn cut_file_gives_what_came_before_with_a_warning() {
        let whole = fixture("tnef/winmail.dat");
        let limits = Limits::default().for_reader();
        let cut = &whole[..whole.len() - 20];
        let (found, result) = try_read("winmail.dat", cut, crate::tests_support::EVERYTHING, &limits);
        result.unwrap();
        assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
        assert_eq!(found.text(), "the body");
        let (_, result) = try_read("winmail.dat", &whole[..12], Want::CHILDREN, &limits);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
