//! Cuts the tree of pages of a document that has very many, before the engine sees it.
//!
//! The engine holds every page of a document, some two kilobytes each, whatever is wanted of it: a file of a million pages
//! does not fit into an ordinary child, although no more than the first ten thousand are read. So the references to pages
//! that nobody will look at are blanked in a copy of the file. That is done on bytes and without the table of objects, because
//! the engine gives access to it only after it has taken all pages; it works for trees in plain objects, and any other
//! tree is left as it is.

use std::collections::{HashMap, HashSet};

use memchr::memmem;

/// With fewer pages a document is not worth a second look: the engine takes a hundred megabytes for them.
const MANY: u64 = 50_000;

/// A tree may not be deeper. Real ones have three or four levels.
const MAX_DEPTH: usize = 64;

/// A document whose tree ends after the pages that are wanted.
pub(super) struct Cut {
    pub(super) bytes: Vec<u8>,
    /// How many pages the document says it has.
    pub(super) declared: u64,
}

/// Leaves the first `keep` pages in the tree. `None` if the document has not many more, or keeps its tree in another way.
pub(super) fn cut(bytes: &[u8], keep: u32) -> Option<Cut> {
    cut_beyond(bytes, keep, MANY)
}

fn cut_beyond(bytes: &[u8], keep: u32, many: u64) -> Option<Cut> {
    if !says_many(bytes, many) {
        return None;
    }
    let objects = Objects::of(bytes);
    let catalog = objects.at(last_reference(bytes, b"/Root")?)?;
    let root = objects.at(first_reference(catalog, b"/Pages")?)?;
    let declared = number_after(root, b"/Count")?;
    if declared <= many.max(u64::from(keep)) {
        return None;
    }
    let blanks = beyond(&objects, root, keep)?;
    let mut bytes = bytes.to_vec();
    for blank in blanks {
        bytes[blank].fill(b' ');
    }
    Some(Cut { bytes, declared })
}

/// Whether any count in the file is that large. Most files are done with here.
fn says_many(bytes: &[u8], many: u64) -> bool {
    memmem::find_iter(bytes, b"/Count")
        .any(|at| number(&bytes[at + b"/Count".len()..]).is_some_and(|n| n > many))
}

/// Where plain objects begin.
struct Objects<'a> {
    bytes: &'a [u8],
    begins: HashMap<u32, usize>,
}

impl<'a> Objects<'a> {
    /// Finds every `N G obj`. What is written later replaces what was written before, as in the table of objects.
    fn of(bytes: &'a [u8]) -> Self {
        let mut begins = HashMap::new();
        for at in memmem::find_iter(bytes, b"obj") {
            let line = &bytes[at.saturating_sub(24)..at];
            if let Some(id) = object_number(line) {
                begins.insert(id, at + b"obj".len());
            }
        }
        Self { bytes, begins }
    }

    /// The bytes of an object, to where it ends.
    fn at(&self, id: u32) -> Option<&'a [u8]> {
        let rest = &self.bytes[*self.begins.get(&id)?..];
        memmem::find(rest, b"endobj").map(|end| &rest[..end])
    }

    /// Where a part of an object lies in the file.
    fn place(&self, part: &[u8]) -> usize {
        part.as_ptr() as usize - self.bytes.as_ptr() as usize
    }
}

/// The list of children of a node, as far as it has been gone through.
struct Level<'a> {
    rest: &'a [u8],
}

/// What is to be blanked so that `keep` pages are left, in the order of the tree.
fn beyond(objects: &Objects<'_>, root: &[u8], keep: u32) -> Option<Vec<std::ops::Range<usize>>> {
    let mut seen = HashSet::new();
    let mut kept = 0;
    let mut levels = vec![Level { rest: kids(root)? }];
    while let Some(level) = levels.last_mut() {
        if kept == keep {
            let left = levels.iter().filter(|level| !level.rest.is_empty());
            return Some(
                left.map(|level| {
                    let begin = objects.place(level.rest);
                    begin..begin + level.rest.len()
                })
                .collect(),
            );
        }
        let Some((id, rest)) = reference(level.rest) else {
            levels.pop();
            continue;
        };
        level.rest = rest;
        if !seen.insert(id) {
            continue;
        }
        let child = objects.at(id)?;
        match kids(child) {
            Some(_) if levels.len() >= MAX_DEPTH => return None,
            Some(rest) => levels.push(Level { rest }),
            None => kept += 1,
        }
    }
    // Fewer pages than were announced: nothing to cut.
    None
}

/// What stands inside `/Kids [ … ]`; `None` for a page.
fn kids(object: &[u8]) -> Option<&[u8]> {
    let from = memmem::find(object, b"/Kids")? + b"/Kids".len();
    let list = object[from..].trim_ascii_start().strip_prefix(b"[")?;
    memchr::memchr(b']', list).map(|end| &list[..end])
}

/// `N G R` at the beginning, and what follows it.
fn reference(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (id, rest) = digits(bytes.trim_ascii_start())?;
    let (_, rest) = digits(rest.trim_ascii_start())?;
    let rest = rest.trim_ascii_start().strip_prefix(b"R")?;
    Some((u32::try_from(id).ok()?, rest))
}

fn first_reference(bytes: &[u8], key: &[u8]) -> Option<u32> {
    memmem::find_iter(bytes, key).find_map(|at| reference(&bytes[at + key.len()..])).map(|(id, _)| id)
}

fn last_reference(bytes: &[u8], key: &[u8]) -> Option<u32> {
    let at = memmem::rfind(bytes, key)?;
    reference(&bytes[at + key.len()..]).map(|(id, _)| id)
}

fn number_after(bytes: &[u8], key: &[u8]) -> Option<u64> {
    let at = memmem::find(bytes, key)?;
    number(&bytes[at + key.len()..])
}

fn number(bytes: &[u8]) -> Option<u64> {
    digits(bytes.trim_ascii_start()).map(|(n, _)| n)
}

fn digits(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = bytes.iter().position(|b| !b.is_ascii_digit()).unwrap_or(bytes.len());
    let n = std::str::from_utf8(&bytes[..end]).ok()?.parse().ok()?;
    Some((n, &bytes[end..]))
}

/// The `N` of `N G obj`, given what stands before `obj`.
fn object_number(before: &[u8]) -> Option<u32> {
    let (rest, _) = last_digits(before.trim_ascii_end())?;
    if !rest.last().is_some_and(u8::is_ascii_whitespace) {
        return None;
    }
    let (_, id) = last_digits(rest.trim_ascii_end())?;
    u32::try_from(id).ok()
}

/// What stands before the digits at the end, and their number.
fn last_digits(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let begin = bytes.iter().rposition(|b| !b.is_ascii_digit()).map_or(0, |at| at + 1);
    let n = std::str::from_utf8(&bytes[begin..]).ok()?.parse().ok()?;
    Some((&bytes[..begin], n))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document with a tree of two levels, and a table that is to be searched for.
    fn document(nodes: usize, per_node: usize) -> Vec<u8> {
        let mut out = String::from("%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n");
        let node = |n: usize| 10 + n * (per_node + 1);
        let list = |ids: &mut dyn Iterator<Item = usize>| {
            ids.map(|id| format!("{id} 0 R")).collect::<Vec<_>>().join(" ")
        };
        let kids = list(&mut (0..nodes).map(node));
        let count = nodes * per_node;
        out.push_str(&format!("2 0 obj\n<</Type/Pages/Count {count}/Kids[{kids}]>>\nendobj\n"));
        out.push_str("4 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>\nendobj\n");
        for n in 0..nodes {
            let id = node(n);
            let kids = list(&mut (1..=per_node).map(|k| id + k));
            out.push_str(&format!(
                "{id} 0 obj\n<</Type/Pages/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 4 0 R>>>>\
                 /Count {per_node}/Kids [ {kids} ]>>\nendobj\n"
            ));
            for k in 1..=per_node {
                out.push_str(&format!("{} 0 obj\n<</Type/Page/Parent {id} 0 R>>\nendobj\n", id + k));
            }
        }
        out.push_str("trailer <</Root 1 0 R>>\n%%EOF\n");
        out.into_bytes()
    }

    fn pages(bytes: Vec<u8>) -> usize {
        hayro_syntax::Pdf::new(bytes).map(|pdf| pdf.pages().len()).unwrap_or_default()
    }

    #[test]
    fn tree_ends_after_the_pages_that_are_kept() {
        let whole = document(7, 5);
        assert_eq!(pages(whole.clone()), 35);
        for keep in [1, 4, 5, 6, 34] {
            let cut = cut_beyond(&whole, keep, 10).unwrap();
            assert_eq!((pages(cut.bytes), cut.declared), (keep as usize, 35), "{keep} pages");
        }
    }

    #[test]
    fn documents_with_few_pages_and_trees_that_cannot_be_followed_are_left_alone() {
        let whole = document(7, 5);
        assert!(cut_beyond(&whole, 3, 35).is_none(), "not many");
        assert!(cut_beyond(&whole, 35, 10).is_none(), "all are kept");
        let text = String::from_utf8(whole).unwrap();
        for (from, to) in
            [("/Pages 2 0 R", "/Pages 900 0 R"), ("/Root 1", "/Root x"), ("/Kids[10", "/Kids[901")]
        {
            assert!(text.contains(from));
            assert!(cut_beyond(text.replace(from, to).as_bytes(), 3, 10).is_none(), "{to}");
        }
        // A node that is its own child ends, too.
        let circle = text.replace("/Kids [ 11 0 R", "/Kids [ 10 0 R");
        assert_eq!(pages(cut_beyond(circle.as_bytes(), 3, 10).unwrap().bytes), 3);
    }
}
