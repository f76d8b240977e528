//! Files inside the document become its children.
//!
//! They hang in the tree of names `EmbeddedFiles`, or on a page as a note. The sink counts what comes out of them; what
//! a file states about sizes is not used.

use std::collections::HashSet;

use docmill_core::wire::{Found, Want};
use docmill_core::{Error, Result};
use hayro_syntax::Pdf;
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream, String as PdfString};

use super::lists;
use super::metadata::text_string;
use crate::shared::members::Members;
use crate::sink::Sink;

/// Deeper trees of names are not followed.
const DEEPEST: usize = 32;

/// Notes of one page beyond this are not looked at.
const MOST_NOTES: usize = 10_000;

/// Gives every attached file, or its name alone, as `want` says.
pub(super) fn emit(pdf: &Pdf, want: Want, sink: &mut dyn Sink) -> Result<()> {
    let xref = pdf.xref();
    let names = xref
        .get::<Dict<'_>>(xref.root_id())
        .and_then(|root| root.get::<Dict<'_>>(b"Names"))
        .and_then(|names| names.get::<Dict<'_>>(b"EmbeddedFiles"));
    let mut files = Vec::new();
    if let Some(tree) = names {
        collect(&tree, 0, &mut HashSet::new(), &mut files);
    }
    pin_boards(pdf, &mut files);
    if files.is_empty() {
        return Ok(());
    }
    let mut members = Members::new(sink, want);
    members.sink().put(Found::Declared(files.len() as u64))?;
    files.iter().try_for_each(|file| give(file, want, &mut members))
}

/// Finds the files that are pinned to pages, but for those that the tree of names has too.
fn pin_boards<'a>(pdf: &'a Pdf, files: &mut Vec<Dict<'a>>) {
    let place = |file: &Dict<'a>| content(file).and_then(|content| content.dict().obj_id());
    let mut seen: HashSet<ObjectIdentifier> = files.iter().filter_map(place).collect();
    for page in pdf.pages().iter() {
        let Some(notes) = page.raw().get::<Array<'a>>(b"Annots") else { continue };
        for note in lists::dicts(&notes).take(MOST_NOTES) {
            let is_file = note.get::<Name<'_>>(b"Subtype").is_some_and(|kind| *kind == *b"FileAttachment");
            let Some(file) = is_file.then(|| note.get::<Dict<'a>>(b"FS")).flatten() else { continue };
            if place(&file).is_none_or(|id| seen.insert(id)) {
                files.push(file);
            }
        }
    }
}

/// The bytes of a file.
fn content<'a>(file: &Dict<'a>) -> Option<Stream<'a>> {
    let embedded = file.get::<Dict<'a>>(b"EF")?;
    [&b"UF"[..], b"F"].iter().find_map(|key| embedded.get::<Stream<'a>>(key))
}

/// Finds the files of a tree of names. A node that was seen before is a circle.
fn collect<'a>(
    node: &Dict<'a>,
    depth: usize,
    seen: &mut HashSet<ObjectIdentifier>,
    files: &mut Vec<Dict<'a>>,
) {
    if depth >= DEEPEST || node.obj_id().is_some_and(|id| !seen.insert(id)) {
        return;
    }
    if let Some(pairs) = node.get::<Array<'a>>(b"Names") {
        let mut pairs = lists::objects(&pairs);
        while let Some(_name) = pairs.next() {
            // One that is missing is a member that cannot be had.
            let file = pairs.next().flatten().and_then(Object::into_dict);
            files.push(file.unwrap_or_else(Dict::empty));
        }
    }
    for kid in node.get::<Array<'a>>(b"Kids").iter().flat_map(lists::dicts) {
        collect(&kid, depth + 1, seen, files);
    }
}

fn give(file: &Dict<'_>, want: Want, members: &mut Members<'_>) -> Result<()> {
    let name = [&b"UF"[..], b"F"].iter().find_map(|key| file.get::<PdfString<'_>>(key));
    let path = name.map_or_else(|| format!("attachment-{}", members.count() + 1), |name| text_string(&name));
    let Some(content) = content(file) else {
        return members.refuse(&path, &Error::corrupt("attachment has no content"));
    };
    if !want.children {
        return members.list(&path, content.raw_data().len() as u64);
    }
    let Ok(bytes) = content.decoded_data() else {
        return members.refuse(&path, &Error::corrupt("attachment cannot be unpacked"));
    };
    members.begin(&path, Some(bytes.len() as u64))?;
    members.write(&bytes)?;
    members.end()
}
