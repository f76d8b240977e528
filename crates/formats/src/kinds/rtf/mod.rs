//! Rich Text Format: its text with tables, notes, comments, headers and boxes; embedded objects are members.
//!
//! Read as a stream of groups and control words; held are the states of the open groups and the paragraph at hand.

mod objects;
mod tokens;
mod walk;
mod words;

use docmill_core::Result;
use docmill_core::wire::{Found, ReadLimits, Want};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::document::{Troubles, hand_on};
use crate::shared::members::Members;
use crate::shared::pager::Pager;
use crate::sink::{Collected, Sink};
use crate::sniff::Head;
use tokens::Tokens;
use walk::Walk;

const MEDIA_TYPE: &str = "application/rtf";

pub(super) struct Rtf;

impl Format for Rtf {
    fn name(&self) -> &'static str {
        "rtf"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        head.bytes.trim_ascii_start().starts_with(b"{\\rtf").then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        input.go_to(0)?;
        let mut troubles = Troubles::default();
        let wants_objects = want.children || want.listing;
        let mut walk = Walk::new(limits, wants_objects);
        let mut tokens = Tokens::new(input);
        let mut pager = Pager::of_document(sink, "text of the document");
        while walk.step(&mut tokens)? {
            hand_on(&mut walk.flow, &mut pager)?;
        }
        let found = walk.finish();
        troubles.note(found.trouble)?;
        pager.replaced(found.replaced);
        pager.push(&found.text)?;
        if want.text {
            pager.finish()?;
        }
        if want.metadata {
            for (key, value) in &found.about {
                sink.meta(key, value)?;
            }
        }
        if wants_objects {
            let mut members = Members::new(sink, want);
            if members.wants_bytes() {
                members.sink().put(Found::Declared(found.objects.len() as u64))?;
            }
            for (index, data) in found.objects.into_iter().enumerate() {
                let object = objects::unwrapped(data, index + 1);
                members.begin(&object.name, Some(object.bytes.len() as u64))?;
                members.write(&object.bytes)?;
                members.end()?;
            }
        }
        troubles.tell(sink)
    }
}

/// The text of a message that is rich text, as mail programs keep it.
pub(crate) fn rich_text(rich: Vec<u8>, limits: &ReadLimits) -> Result<String> {
    let mut found = Collected::default();
    Rtf.parse(&mut Input::from_bytes(rich), Want::TEXT, limits, &mut found)?;
    Ok(found.pages().iter().map(|page| page.text.as_str()).collect())
}

#[cfg(test)]
mod tests;
