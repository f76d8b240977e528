//! PowerPoint presentations until 2003 (MS-PPT): every slide a page, with its notes and comments.
//!
//! The stream holds every version that was ever saved; the directory of the last one says which slides count. Where that
//! is damaged, all slides that are found are given.

mod objects;
mod records;
mod slides;

use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::compound::{self, summary};
use crate::shared::document::{Troubles, native_page};
use crate::sink::Sink;
use crate::sniff::{COMPOUND_FILE, Head, compound_type};

const MEDIA_TYPE: &str = "application/vnd.ms-powerpoint";

/// The stream is held while it is read; pictures lie in another.
const MAX_STREAM_BYTES: u64 = 512 << 20;

/// Where a file for two versions keeps the newer one.
const DUAL: &str = "/PP97_DUALSTORAGE";

/// What the stream of PowerPoint 95 begins with; that of newer ones begins with the document's record.
const POWERPOINT_95: &[u8] = &[3, 0, 0, 0, 0xff, 0xff, 0, 0];

pub(super) struct Ppt;

impl Format for Ppt {
    fn name(&self) -> &'static str {
        "ppt"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let is_slides = head.bytes.starts_with(COMPOUND_FILE) && compound_type(head) == MEDIA_TYPE;
        is_slides.then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let mut file = compound::open(input)?;
        let mut troubles = Troubles::default();
        if want.metadata {
            summary::tell(&mut file, sink)?;
        }
        // A file for PowerPoint 95 and 97 holds the presentation twice, the older one in front.
        let folder = if file.is_storage(DUAL) { DUAL } else { "" };
        let user =
            compound::stream(&mut file, &format!("{folder}/Current User"), 1 << 20)?.unwrap_or_default().0;
        let stream = format!("{folder}/PowerPoint Document");
        let Some((bytes, damage)) = compound::stream(&mut file, &stream, MAX_STREAM_BYTES)? else {
            let missing = "the presentation's stream is missing: there is no `PowerPoint Document`";
            return Err(Error::corrupt(missing));
        };
        troubles.note(damage.map_or(Ok(()), Err))?;
        if bytes.starts_with(POWERPOINT_95) {
            return Err(Error::unsupported_format("the presentation is of PowerPoint 95, which is not read")
                .with_hint("save it as a newer presentation"));
        }
        if want.text {
            let slides = slides::read(&bytes, &user, limits, &mut troubles)?;
            sink.put(Found::PageCount(slides.len() as u32))?;
            for (index, text) in slides.into_iter().enumerate() {
                sink.page(native_page(index as u32 + 1, "text of the slide and its notes", text))?;
            }
        }
        objects::give(&bytes, &user, want, sink)?;
        troubles.tell(sink)
    }
}

#[cfg(test)]
mod tests;
