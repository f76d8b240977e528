//! Mailboxes: files of messages, each behind a line that begins with `From `. Every message is a member.
//!
//! Streamed: a mailbox of any length costs the same memory. Three ways of keeping a `From ` inside a message from
//! being taken for the line between two are read: a quoting `>` (mboxo, mboxrd), which is taken off again, and a
//! stated length (mboxcl2), which is believed where the message really ends there.

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::lines::{Line, Lines};
use crate::shared::mail::recognise::{field_name, is_mailbox, place_of_message, separator};
use crate::shared::members::Members;
use crate::sink::Sink;
use crate::sniff::Head;

const MEDIA_TYPE: &str = "application/mbox";

pub(super) struct Mbox;

impl Format for Mbox {
    fn name(&self) -> &'static str {
        "mbox"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn container(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let is_text = matches!(head.extension.as_str(), "txt" | "text" | "eml");
        (!is_text && is_mailbox(head.bytes)).then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, _: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let length = input.length();
        let members = Members::new(sink, want);
        if !members.wanted() {
            return Ok(());
        }
        let place = place_of_message(&input.head(1 << 10)?, length);
        let mut reading = Reading { lines: Lines::within(input, place)?, length, members };
        let mut more = reading.pass_separator()?;
        while more {
            more = reading.message()?;
        }
        Ok(())
    }
}

struct Reading<'a> {
    lines: Lines<'a>,
    length: u64,
    members: Members<'a>,
}

impl Reading<'_> {
    /// Passes the line before the first message; whether there is one.
    fn pass_separator(&mut self) -> Result<bool> {
        while let Some(line) = self.lines.next()? {
            if line.begins && separator(line.bytes) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// One message, up to the line before the next; whether there is a next.
    fn message(&mut self) -> Result<bool> {
        let name = format!("message-{:06}.eml", self.members.count() + 1);
        self.members.begin(&name, None)?;
        let stated = self.header()?;
        if let Some(bytes) = stated
            && let Some(after) = self.ends_after(bytes)?
        {
            self.copy(bytes)?;
            self.members.end()?;
            self.lines.go_to(after)?;
            return self.pass_separator();
        }
        // The blank line before a `From ` line belongs to the mailbox, not to the message.
        let mut blank: Option<&'static [u8]> = None;
        let mut after_blank = true;
        loop {
            let Some(line) = self.lines.next()? else {
                self.members.end()?;
                return Ok(false);
            };
            if after_blank && line.begins && separator(line.bytes) {
                self.members.end()?;
                return Ok(true);
            }
            if let Some(end) = blank.take() {
                self.members.write(end)?;
            }
            after_blank = line.begins && line.split_end().0.is_empty();
            if after_blank {
                blank = Some(if line.bytes.len() == 2 { b"\r\n" } else { b"\n" });
                continue;
            }
            self.members.write(unquoted(&line))?;
        }
    }

    /// The header fields, and the length that they state for the body.
    fn header(&mut self) -> Result<Option<u64>> {
        let mut stated = None;
        while let Some(line) = self.lines.next()? {
            if line.begins && separator(line.bytes) {
                // A message of no fields and no body.
                self.lines.give_back();
                break;
            }
            // Lines that a mailbox adds behind its own.
            if line.begins && line.bytes.starts_with(b">From ") {
                continue;
            }
            if let Some(name) = field_name(line.bytes)
                && line.begins
                && name.eq_ignore_ascii_case(b"content-length")
            {
                stated = std::str::from_utf8(&line.bytes[name.len()..])
                    .ok()
                    .and_then(|value| value.trim_start_matches([' ', ':', '\t']).trim().parse().ok());
            }
            let is_end = line.is_blank();
            self.members.write(line.bytes)?;
            if is_end {
                break;
            }
        }
        Ok(stated)
    }

    /// Where the next `From ` line stands if the message ends after `bytes` more, else nothing. Leaves the lines
    /// where they were.
    fn ends_after(&mut self, bytes: u64) -> Result<Option<u64>> {
        let from = self.lines.at();
        let Some(end) = from.checked_add(bytes).filter(|end| *end <= self.length) else { return Ok(None) };
        self.lines.go_to(end)?;
        let mut found = (end == self.length).then_some(end);
        for _ in 0..3 {
            match self.lines.next()? {
                Some(line) if separator(line.bytes) => {
                    found = Some(line.at);
                    break;
                }
                Some(line) if line.is_blank() => {}
                Some(_) => break,
                None => {
                    found = Some(end);
                    break;
                }
            }
        }
        self.lines.go_to(from)?;
        Ok(found)
    }

    /// `bytes` as they are.
    fn copy(&mut self, mut bytes: u64) -> Result<()> {
        while bytes > 0
            && let Some(line) = self.lines.next()?
        {
            let take = line.bytes.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
            self.members.write(&line.bytes[..take])?;
            bytes -= take as u64;
        }
        Ok(())
    }
}

/// The line without one quoting `>`.
fn unquoted<'a>(line: &Line<'a>) -> &'a [u8] {
    let marks = line.bytes.iter().take_while(|b| **b == b'>').count();
    let quoted = line.begins && marks > 0 && line.bytes[marks..].starts_with(b"From ");
    &line.bytes[usize::from(quoted)..]
}

#[cfg(test)]
mod tests {
    use docmill_core::wire::Found;

    use crate::tests_support::{members, read_bytes, read_fixture};

    const FIRST: &str = "From a@b Mon Jan  1 10:00:00 2024\n";

    fn bodies(mailbox: &str) -> Vec<String> {
        members(&read_bytes("a.mbox", mailbox.as_bytes()))
            .into_iter()
            .map(|(_, bytes)| String::from_utf8(bytes.unwrap()).unwrap())
            .collect()
    }

    #[test]
    fn every_message_is_a_member() {
        let found = read_fixture("mbox/three.mbox");
        let names: Vec<_> = members(&found).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["message-000001.eml", "message-000002.eml", "message-000003.eml"]);
        assert!(!found.0.iter().any(|f| matches!(f, Found::Declared(_))));
    }

    #[test]
    fn what_stands_before_the_first_message_hides_none() {
        for before in ["\n\n", "\u{feff}"] {
            let mailbox = format!("{before}{FIRST}Subject: x\n\none\n\n{FIRST}Subject: y\n\ntwo\n");
            assert_eq!(bodies(&mailbox), ["Subject: x\n\none\n", "Subject: y\n\ntwo\n"], "{before:?}");
        }
    }

    #[test]
    fn quoted_lines_are_restored_and_unquoted_ones_inside_a_paragraph_divide_nothing() {
        let text = format!(
            "{FIRST}Subject: x\n\n>From here\n>>From there\nFrom a@b Mon 10:00\nend\n\n{FIRST}Subject: y\n\n"
        );
        assert_eq!(
            bodies(&text),
            ["Subject: x\n\nFrom here\n>From there\nFrom a@b Mon 10:00\nend\n", "Subject: y\n\n"]
        );
    }

    #[test]
    fn stated_length_holds_where_the_message_ends_there() {
        let body = format!("one\n\n{FIRST}two\n");
        let right = format!("{FIRST}Content-Length: {}\n\n{body}\n{FIRST}Subject: y\n\nz\n", body.len());
        assert_eq!(bodies(&right).len(), 2);
        assert!(bodies(&right)[0].ends_with(&body));
        let wrong = right.replace("Content-Length: 4", "Content-Length: 1");
        assert_eq!(bodies(&wrong).len(), 3);
    }
}
