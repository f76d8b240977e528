//! A document on its way into the sink: flowing text as pages, or pages of its own, and troubles that cost a part of it.

use docmill_core::artifact::{Page, TextSource};
use docmill_core::error::ErrorKind;
use docmill_core::problem::Problem;
use docmill_core::{Error, Result};

use crate::shared::flow::Flow;
use crate::shared::pager::Pager;
use crate::sink::Sink;

/// Text is handed on in pieces of this size.
const PIECE_BYTES: usize = 256 << 10;

/// Troubles of parts beyond this are counted only.
const MAX_TOLD: usize = 20;

/// What went wrong in parts of a document while the rest was read.
#[derive(Default)]
pub(crate) struct Troubles {
    told: Vec<Error>,
    more: u64,
}

impl Troubles {
    /// Takes note of a part that could not be read to its end. What concerns the whole document is returned: a
    /// password that is missing, an expansion beyond reason.
    pub(crate) fn note(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Ok(()) => Ok(()),
            Err(e) if matches!(e.kind(), ErrorKind::BombSuspected | ErrorKind::Encrypted) => Err(e),
            Err(e) => {
                self.add(e);
                Ok(())
            }
        }
    }

    /// Takes note of it.
    pub(crate) fn add(&mut self, error: Error) {
        if self.told.len() < MAX_TOLD {
            self.told.push(error);
        } else {
            self.more += 1;
        }
    }

    /// Says that text was left out, if so.
    pub(crate) fn cut(&mut self, flow: &Flow) {
        if flow.is_cut() {
            let limit = crate::sink::MAX_PAGE_BYTES;
            self.add(Error::limit_exceeded(format!(
                "a row, a box or a note has more than {limit} bytes of text and was cut"
            )));
        }
    }

    /// Tells them.
    pub(crate) fn tell(self, sink: &mut dyn Sink) -> Result<()> {
        for error in self.told {
            let message = match error.hint() {
                Some(hint) => format!("{}; {hint}", error.message()),
                None => error.message().to_owned(),
            };
            sink.warn(Problem::new(error.kind(), message))?;
        }
        if self.more > 0 {
            sink.warn(Problem::new(ErrorKind::Corrupt, format!("{} more parts are damaged", self.more)))?;
        }
        Ok(())
    }
}

/// Hands on what has flowed so far, once it is worth it.
pub(crate) fn hand_on(flow: &mut Flow, pager: &mut Pager<'_>) -> Result<()> {
    if flow.bytes() > PIECE_BYTES && flow.is_at_line_end() {
        return pager.push(&flow.take());
    }
    Ok(())
}

/// A page that the file itself holds as text, or one that holds none: a drawing, a slide of pictures.
pub(crate) fn native_page(number: u32, reason: &str, text: String) -> Page {
    if text.trim().is_empty() {
        let reason = format!("no text there: {reason}");
        return Page { number, source: TextSource::None, reason, quality: None, text: String::new() };
    }
    Page { number, source: TextSource::Native, reason: reason.into(), quality: Some(1.0), text }
}
