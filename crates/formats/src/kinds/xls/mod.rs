//! Excel workbooks until 2003 (BIFF, MS-XLS): every sheet a page that begins with its name, a line for a row, cells
//! apart by tabs; comments and text boxes follow.
//!
//! The one stream of records is read from its beginning to its end. Held are the shared texts, up to a limit, and the page
//! at hand.

mod locked;
mod records;
mod sheet;
mod strings;

use docmill_core::wire::{ReadLimits, Want};
use docmill_core::{Error, Result};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::compound::{self, summary};
use crate::shared::document::Troubles;
use crate::sink::Sink;
use crate::sniff::{COMPOUND_FILE, Head, compound_type};
use sheet::Reader;

const MEDIA_TYPE: &str = "application/vnd.ms-excel";

/// The stream is held while it is read.
const MAX_STREAM_BYTES: u64 = 512 << 20;

pub(super) struct Xls;

impl Format for Xls {
    fn name(&self) -> &'static str {
        "xls"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[MEDIA_TYPE]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let is_book = head.bytes.starts_with(COMPOUND_FILE) && compound_type(head) == MEDIA_TYPE;
        // Before 1993 a workbook was a mere stream of records, which begins with its version.
        let is_bare =
            matches!(head.bytes, [0x09, 0x00 | 0x02 | 0x04, 0x04 | 0x06, 0, _, _, 0x10 | 0x20 | 0x40, 0, ..]);
        (is_book || is_bare).then_some(Claim::certain(MEDIA_TYPE))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let mut troubles = Troubles::default();
        if !input.head(8)?.starts_with(COMPOUND_FILE) {
            let bytes = input.whole(MAX_STREAM_BYTES)?;
            return if want.text { Reader::new(limits).read(&bytes, &mut troubles, sink) } else { Ok(()) }
                .and_then(|()| troubles.tell(sink));
        }
        let mut file = compound::open(input)?;
        if want.metadata {
            summary::tell(&mut file, sink)?;
        }
        if want.text {
            let mut found = None;
            for path in ["/Workbook", "/Book", "/WORKBOOK", "/BOOK"] {
                found = compound::stream(&mut file, path, MAX_STREAM_BYTES)?;
                if found.is_some() {
                    break;
                }
            }
            let Some((bytes, damage)) = found else {
                return Err(Error::corrupt("the workbook's stream is missing: there is no `Workbook`"));
            };
            troubles.note(damage.map_or(Ok(()), Err))?;
            Reader::new(limits).read(&locked::opened(bytes)?, &mut troubles, sink)?;
        }
        compound::object::give_embedded(&mut file, want, sink)?;
        troubles.tell(sink)
    }
}

#[cfg(test)]
mod tests;
