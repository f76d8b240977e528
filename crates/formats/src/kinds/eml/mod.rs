//! Mail as it travels (RFC 5322, MIME): header fields as metadata, the body as text, every other part a member.
//!
//! Read line by line and never held: attachments stream out as they are decoded. A message inside is a member like
//! any other and is read in its turn, so only the multiparts of one message nest here.

mod parts;
mod walk;

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::lines::with_usual_ends;
use crate::shared::mail::recognise::{is_mailbox, is_message};
use crate::sink::Sink;
use crate::sniff::Head;

const MEDIA_TYPE: &str = "message/rfc822";

pub(super) struct Eml;

impl Format for Eml {
    fn name(&self) -> &'static str {
        "eml"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn container(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let extension = head.extension.as_str();
        // A mail that was saved as a text calls itself one, and is read as one.
        if matches!(extension, "txt" | "text") {
            return None;
        }
        let named = matches!(extension, "eml" | "mht" | "mhtml" | "emlx" | "msg" | "nws");
        // A mailbox that is called a mail holds one message.
        let is_mail = is_message(head.bytes, named) && (extension == "eml" || !is_mailbox(head.bytes));
        is_mail.then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        match with_usual_ends(input)? {
            Some(mut changed) => walk::read(&mut changed, want, limits, sink),
            None => walk::read(input, want, limits, sink),
        }
    }
}

#[cfg(test)]
mod tests;
