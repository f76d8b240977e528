//! PDF: the text layer of each page.
//!
//! `document` goes from page to page. `device` receives the glyphs that hayro's interpreter draws, `charcode` and
//! `program` know their characters, `layout` makes lines of them, and `gate` judges whether that is true text;
//! `render` draws pages for recognition and for people, and `second` is asked where all this fails. `bomb` refuses content that expands beyond reason, and
//! `tree` keeps pages that nobody asks for out of memory. A page that cannot be read is a warning; the others go on.

mod articles;
mod attachments;
mod bomb;
mod bookmarks;
mod charcode;
mod device;
mod document;
mod gate;
mod layout;
mod letters;
mod lists;
mod marks;
mod metadata;
mod notes;
mod numbered;
mod program;
mod render;
mod second;
mod tree;

use std::sync::Arc;

use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};
use hayro_syntax::{DecryptionError, LoadPdfError};

use crate::format::{Claim, Format};
use crate::input::Input;
use crate::sink::Sink;
use crate::sniff::Head;
use document::Document;

/// The signature must stand here or before; mailers and printers put lines in front of it.
const SIGNATURE_WITHIN_BYTES: usize = 1024;

pub(super) struct Pdf;

impl Format for Pdf {
    fn name(&self) -> &'static str {
        "pdf"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &["application/pdf"]
    }

    fn draws(&self) -> bool {
        true
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let start = &head.bytes[..head.bytes.len().min(SIGNATURE_WITHIN_BYTES)];
        let Some(at) = start.windows(5).position(|w| w == b"%PDF-") else {
            // Without its signature, or with too much before it, it can be read by searching for its objects.
            let has_objects = head.extension == "pdf" && memchr::memmem::find(head.bytes, b" obj").is_some();
            return has_objects.then_some(Claim::likely("application/pdf"));
        };
        let begins = start[..at].trim_ascii().is_empty() || start[..at] == *b"\xef\xbb\xbf";
        if begins || head.extension == "pdf" {
            return Some(Claim::certain("application/pdf"));
        }
        // Something stands before it. If that is text, the file may just as well be about PDF.
        head.text.is_none().then_some(Claim::likely("application/pdf"))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        // hayro works on the whole file in memory. The child's memory limit holds for it.
        let mut bytes = input.whole(u64::MAX)?;
        // One more than allowed, so that the sink can say that it was too many.
        let furthest = want.pages.map_or(limits.max_pages, |(_, last)| last).saturating_add(1);
        let declared = tree::cut(&bytes, furthest).map(|cut| {
            bytes = Arc::new(cut.bytes);
            cut.declared
        });
        let pdf = match open(&bytes, input.passwords()) {
            Ok(pdf) => pdf,
            Err(e) => return second::read(&bytes, input.passwords(), e, want, limits, sink),
        };
        let page_count = pdf.pages().len() as u32;
        let said = declared.and_then(|n| u32::try_from(n).ok()).unwrap_or(page_count);
        sink.put(Found::PageCount(said))?;
        if want.metadata {
            metadata::emit(pdf.metadata(), sink)?;
            bookmarks::emit(pdf.xref(), sink)?;
        }
        if want.children || want.listing {
            attachments::emit(&pdf, want, sink)?;
        }
        if !want.text && !want.needs_drawn_pages() {
            return Ok(());
        }
        if page_count == 0 {
            let without = Error::corrupt("document has no pages");
            return second::read(&bytes, input.passwords(), without, want, limits, sink);
        }
        let (first, last) = want.pages.unwrap_or((1, page_count));
        let document = Document::new(&pdf, (&bytes, input.passwords()), want, limits);
        for number in first.max(1)..=last.min(page_count) {
            // One more than allowed is handed on, so that the sink can say that it was too many.
            if number - first.max(1) > limits.max_pages {
                break;
            }
            document.give(number, sink)?;
        }
        Ok(())
    }
}

/// Opens a document: without a password, or with one of those that are known.
fn open(bytes: &Arc<Vec<u8>>, passwords: &[String]) -> Result<hayro_syntax::Pdf> {
    let first = match hayro_syntax::Pdf::new(Arc::clone(bytes)) {
        Err(e @ LoadPdfError::Decryption(DecryptionError::PasswordProtected)) => e,
        other => return other.map_err(load_error),
    };
    let known = passwords.iter();
    let opened =
        known.map(|one| hayro_syntax::Pdf::new_with_password(Arc::clone(bytes), one)).find_map(Result::ok);
    opened.ok_or_else(|| match passwords.len() {
        0 => load_error(first).with_hint("give its password in `read.passwords`"),
        count => {
            load_error(first).with_hint(format!("none of the {count} passwords in `read.passwords` opens it"))
        }
    })
}

fn load_error(error: LoadPdfError) -> Error {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            Error::encrypted("document needs a password to open")
        }
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => {
            Error::encrypted("document is encrypted in a way that is not supported")
        }
        LoadPdfError::Decryption(DecryptionError::MissingIDEntry | DecryptionError::InvalidEncryption) => {
            Error::corrupt("document's encryption is damaged")
        }
        LoadPdfError::Invalid => {
            Error::corrupt("document's structure cannot be read, even by searching for it")
        }
    }
}

/// A page that draws with a built-in font and with a built-in CJK character map.
const WARM_UP: &[u8] = include_bytes!("../../../../../fixtures/pdf/warm-up.pdf");

pub(crate) use second::load as load_second;

/// Reads a small document, so that fonts and maps are loaded before the sandbox closes.
pub(crate) fn warm_up() -> Result<()> {
    let limits = docmill_core::limits::Limits::default().for_reader();
    let mut seen = crate::sink::Collected::default();
    Pdf.parse(&mut Input::from_bytes(WARM_UP.to_vec()), Want::TEXT, &limits, &mut seen)?;
    if seen.text().is_empty() {
        return Err(Error::bug("the built-in PDF fonts give no text"));
    }
    second::begin();
    Ok(())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_places;
