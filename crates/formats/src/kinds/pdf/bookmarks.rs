//! The table of contents that a document carries for its readers.

use docmill_core::Result;
use hayro_syntax::object::{Dict, String as PdfString};
use hayro_syntax::xref::XRef;

use super::metadata::text_string;
use crate::sink::Sink;

/// More are not read: the entries may refer to each other in a circle.
const MOST: usize = 10_000;

/// Deeper entries are not read.
const DEEPEST: usize = 32;

/// Gives all titles as one value, one a line, two spaces in front for each level.
pub(super) fn emit(xref: &XRef, sink: &mut dyn Sink) -> Result<()> {
    let Some(root) = xref.get::<Dict<'_>>(xref.root_id()) else { return Ok(()) };
    let Some(outlines) = root.get::<Dict<'_>>(b"Outlines") else { return Ok(()) };
    let mut titles = String::new();
    let mut left = MOST;
    list(&outlines, 0, &mut left, &mut titles);
    sink.meta("bookmarks", titles.trim_end())
}

fn list(parent: &Dict<'_>, depth: usize, left: &mut usize, titles: &mut String) {
    let mut next = parent.get::<Dict<'_>>(b"First");
    while let Some(entry) = next.filter(|_| *left > 0 && depth < DEEPEST) {
        *left -= 1;
        if let Some(title) = entry.get::<PdfString<'_>>(b"Title") {
            let title = text_string(&title);
            titles.push_str(&"  ".repeat(depth));
            titles.push_str(&title.split_whitespace().collect::<Vec<_>>().join(" "));
            titles.push('\n');
        }
        list(&entry, depth + 1, left, titles);
        next = entry.get::<Dict<'_>>(b"Next");
    }
}
