//! Word documents until 2003 (MS-DOC, and Word 6 and 95): the text in the order of its pieces, with tables, then notes,
//! comments, headers and text boxes.
//!
//! The text is not held: pieces are decoded one after the other. Held are the list of pieces and where rows end.

mod header;
mod pieces;
mod rows;
mod text;

use docmill_core::wire::{ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::compound::{self, summary};
use crate::shared::document::{Troubles, hand_on};
use crate::shared::pager::Pager;
use crate::sink::Sink;
use crate::sniff::{COMPOUND_FILE, Head, compound_type};
use header::Header;
use pieces::Narrow;
use text::Text;

const MEDIA_TYPE: &str = "application/msword";

/// Any newer document of Office with a password: a compound file that says only that.
const ENCRYPTED_PACKAGE: &str = "application/vnd.ms-office.encrypted-package";

/// The main stream is held while it is read.
const MAX_STREAM_BYTES: u64 = 512 << 20;

/// The other one has lists only.
const MAX_TABLE_BYTES: u64 = 256 << 20;

pub(super) struct Doc;

impl Format for Doc {
    fn name(&self) -> &'static str {
        "doc"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE, ENCRYPTED_PACKAGE]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let kind = head.bytes.starts_with(COMPOUND_FILE).then(|| compound_type(head))?;
        [MEDIA_TYPE, ENCRYPTED_PACKAGE].contains(&kind).then_some(Claim::certain(kind))
    }

    fn parse(&self, input: &mut Input, want: Want, _: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let mut file = compound::open(input)?;
        let mut troubles = Troubles::default();
        if want.metadata {
            summary::tell(&mut file, sink)?;
        }
        if want.text {
            let Some((main, damage)) = compound::stream(&mut file, "/WordDocument", MAX_STREAM_BYTES)? else {
                return Err(Error::corrupt("the document's stream is missing: there is no `WordDocument`"));
            };
            troubles.note(damage.map_or(Ok(()), Err))?;
            let header = Header::read(&main)?;
            let table = match header.table_stream() {
                Some(name) => match compound::stream(&mut file, name, MAX_TABLE_BYTES)? {
                    Some((table, damage)) => {
                        troubles.note(damage.map_or(Ok(()), Err))?;
                        table
                    }
                    None => Vec::new(),
                },
                None => Vec::new(),
            };
            let pieces = pieces::read(&header, &main, &table)?;
            let narrow = Narrow::of(&header, &pieces, &main);
            let mut text = Text::new(&header, rows::read(&header, &main, &table));
            let mut pager = Pager::of_document(sink, "text of the document");
            for piece in &pieces {
                for part in piece.parts(&main, &narrow) {
                    text.add(&part);
                    hand_on(&mut text.flow, &mut pager)?;
                }
            }
            troubles.cut(&text.flow);
            pager.push(&text.flow.finish())?;
            pager.finish()?;
        }
        compound::object::give_embedded(&mut file, want, sink)?;
        troubles.tell(sink)
    }
}

#[cfg(test)]
mod tests;
