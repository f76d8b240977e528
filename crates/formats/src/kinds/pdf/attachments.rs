//! Files inside the document become its children.
//!
//! They hang in the tree of names `EmbeddedFiles`. The sink counts what comes out of them; what a file states
//! about sizes is not used.

use std::collections::HashSet;

use docmill_core::wire::{CHUNK_BYTES, Found, Want};
use docmill_core::{Error, Result};
use hayro_syntax::object::{Array, Dict, ObjectIdentifier, Stream, String as PdfString};
use hayro_syntax::xref::XRef;

use super::metadata::text_string;
use crate::sink::Sink;
use crate::sniff::media_type_of_name;

/// Deeper trees of names are not followed.
const DEEPEST: usize = 32;

/// Gives every attached file, or its name alone, as `want` says.
pub(super) fn emit(xref: &XRef, want: Want, sink: &mut dyn Sink) -> Result<()> {
    let names = xref
        .get::<Dict<'_>>(xref.root_id())
        .and_then(|root| root.get::<Dict<'_>>(b"Names"))
        .and_then(|names| names.get::<Dict<'_>>(b"EmbeddedFiles"));
    let Some(tree) = names else { return Ok(()) };
    let mut files = Vec::new();
    collect(&tree, 0, &mut HashSet::new(), &mut files);
    if files.is_empty() {
        return Ok(());
    }
    sink.put(Found::Declared(files.len() as u64))?;
    for (position, file) in (0..).zip(&files) {
        give(position, file, want, sink)?;
    }
    Ok(())
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
        let mut pairs = pairs.flex_iter();
        while let Some((_, file)) = pairs.next::<(PdfString<'a>, Dict<'a>)>() {
            files.push(file);
        }
    }
    for kid in node.get::<Array<'a>>(b"Kids").iter().flat_map(Array::iter::<Dict<'a>>) {
        collect(&kid, depth + 1, seen, files);
    }
}

fn give(position: u64, file: &Dict<'_>, want: Want, sink: &mut dyn Sink) -> Result<()> {
    let name = [&b"UF"[..], b"F"].iter().find_map(|key| file.get::<PdfString<'_>>(key));
    let path = name.map_or_else(|| format!("attachment-{}", position + 1), |name| text_string(&name));
    let content = file
        .get::<Dict<'_>>(b"EF")
        .and_then(|embedded| [&b"UF"[..], b"F"].iter().find_map(|key| embedded.get::<Stream<'_>>(key)));
    let Some(content) = content else {
        return sink.child_failed(position, &path, &Error::corrupt("attachment has no content"));
    };
    if !want.children {
        let media_type = media_type_of_name(&path).to_owned();
        let bytes = content.raw_data().len() as u64;
        return sink.put(Found::ChildListed { position, path, media_type, bytes });
    }
    let Ok(bytes) = content.decoded_data() else {
        return sink.child_failed(position, &path, &Error::corrupt("attachment cannot be unpacked"));
    };
    sink.put(Found::ChildBegin { position, path, bytes: Some(bytes.len() as u64) })?;
    for piece in bytes.chunks(CHUNK_BYTES) {
        sink.put(Found::ChildChunk(piece.to_vec().into()))?;
    }
    sink.put(Found::ChildEnd)
}
