//! What a page says beside its text: notes of readers, and values of form fields that nothing draws.

use hayro_syntax::object::{Array, Dict, Name, String as PdfString};
use hayro_syntax::page::Page;

use super::lists;
use super::metadata::text_string;

/// A note that is not to be seen.
const HIDDEN: u32 = 1 << 1;

/// No page has more.
const MOST: usize = 10_000;

/// A field's value may stand with one of its ancestors, so many steps up.
const DEEPEST: usize = 8;

/// Each note on a line of its own.
pub(super) fn text(page: &Page<'_>) -> String {
    let mut out = String::new();
    let Some(notes) = page.raw().get::<Array<'_>>(b"Annots") else { return out };
    for note in lists::dicts(&notes).take(MOST) {
        if let Some(text) = said(&note) {
            let text = text_string(&text);
            if !text.trim().is_empty() {
                out.push_str(text.trim());
                out.push('\n');
            }
        }
    }
    out
}

fn said<'a>(note: &Dict<'a>) -> Option<PdfString<'a>> {
    if note.get::<u32>(b"F").unwrap_or(0) & HIDDEN != 0 {
        return None;
    }
    let kind = note.get::<Name<'_>>(b"Subtype")?;
    let drawn = note.contains_key(b"AP");
    match &*kind {
        b"Widget" => (!drawn).then(|| value(note)).flatten(),
        // Drawn as text, or no words of a reader.
        b"FreeText" if drawn => None,
        b"Popup" | b"Link" => None,
        _ => note.get::<PdfString<'a>>(b"Contents"),
    }
}

fn value<'a>(field: &Dict<'a>) -> Option<PdfString<'a>> {
    let mut field = field.clone();
    for _ in 0..DEEPEST {
        if let Some(value) = field.get::<PdfString<'a>>(b"V") {
            return Some(value);
        }
        field = field.get::<Dict<'a>>(b"Parent")?;
    }
    None
}
