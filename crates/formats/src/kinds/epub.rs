//! Electronic books (EPUB): chapters in reading order, a page each.

use docmill_core::wire::{Found, ReadLimits, Want};
use docmill_core::{Error, Result};

use super::visible_text;
use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::document::{Troubles, native_page};
use crate::shared::opc::relations::resolve;
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};
use crate::sink::Sink;
use crate::sniff::Head;

const CONTAINER: &str = "META-INF/container.xml";
const ENCRYPTION: &str = "META-INF/encryption.xml";

/// A chapter is held while its markup is read.
const MAX_CHAPTER_BYTES: u64 = 64 << 20;

/// Files of one book beyond this are passed over.
const MAX_ITEMS: usize = 100_000;

/// What the book says of itself, by element.
const KEYS: &[(&str, &str)] = &[
    ("title", "title"),
    ("creator", "author"),
    ("subject", "subject"),
    ("description", "description"),
    ("publisher", "publisher"),
    ("date", "creation_date"),
    ("language", "stated_language"),
    ("identifier", "identifier"),
    ("rights", "rights"),
];

pub(super) struct Epub;

impl Format for Epub {
    fn name(&self) -> &'static str {
        "epub"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &["application/epub+zip"]
    }

    /// The family of ZIP files is told apart by `sniff::zip_family`.
    fn sniff(&self, _: &Head<'_>) -> Option<Claim> {
        None
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let mut package = Package::open(input, limits)?;
        let mut troubles = Troubles::default();
        troubles.note(package.take_trouble().map_or(Ok(()), Err))?;
        let root = root(&mut package, limits)?;
        let book = Book::read(&mut package, &root, limits, &mut troubles)?;
        if want.metadata {
            for (key, value) in &book.about {
                sink.meta(key, value)?;
            }
        }
        if want.text {
            let locked = locked(&mut package, limits, &mut troubles)?;
            if !book.chapters.is_empty() && book.chapters.iter().all(|chapter| locked.contains(chapter)) {
                return Err(Error::encrypted("the book's chapters are encrypted by a seller's protection"));
            }
            sink.put(Found::PageCount(book.chapters.len() as u32))?;
            for (index, chapter) in book.chapters.iter().enumerate() {
                let text = match package.whole(chapter, MAX_CHAPTER_BYTES) {
                    Ok(Some(markup)) => visible_text(&markup, false, limits)?,
                    Ok(None) => {
                        troubles.add(Error::corrupt(format!("chapter `{chapter}` is missing")));
                        String::new()
                    }
                    Err(e) => {
                        troubles.note(Err(e))?;
                        String::new()
                    }
                };
                sink.page(native_page(index as u32 + 1, "visible text of the chapter", text))?;
            }
        }
        troubles.tell(sink)
    }
}

/// The part that lists everything.
fn root(package: &mut Package<'_>, limits: &ReadLimits) -> Result<String> {
    if let Some(part) = package.part(CONTAINER)? {
        let mut xml = Xml::new(part, CONTAINER, limits);
        loop {
            match xml.next() {
                Node::Open(tag) if tag.name() == "rootfile" => {
                    if let Some(path) = tag.get("full-path") {
                        return Ok(path);
                    }
                }
                Node::End => break,
                _ => {}
            }
        }
    }
    let guessed = package.names().iter().find(|name| name.to_lowercase().ends_with(".opf")).cloned();
    guessed.ok_or_else(|| Error::corrupt("the book has no list of its chapters"))
}

#[derive(Default)]
struct Book {
    about: Vec<(&'static str, String)>,
    chapters: Vec<String>,
}

impl Book {
    fn read(
        package: &mut Package<'_>,
        root: &str,
        limits: &ReadLimits,
        troubles: &mut Troubles,
    ) -> Result<Self> {
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        let Some(part) = package.part(root)? else {
            return Err(Error::corrupt(format!("the book's list of chapters `{root}` is missing")));
        };
        let mut xml = Xml::new(part, root, limits);
        let (mut book, mut items, mut spine) = (Self::default(), Vec::new(), Vec::new());
        loop {
            let key = match xml.next() {
                Node::Open(tag) => match tag.name() {
                    "item" if items.len() < MAX_ITEMS => {
                        let readable = tag
                            .get("media-type")
                            .is_some_and(|kind| kind.contains("html") || kind.contains("dtbook"));
                        if let (Some(id), Some(target)) = (tag.get("id"), tag.get("href")) {
                            items.push((id, resolve(folder, &percent_decoded(&target)), readable));
                        }
                        None
                    }
                    "itemref" if spine.len() <= limits.max_pages as usize => {
                        spine.extend(tag.get("idref"));
                        None
                    }
                    name => KEYS.iter().find(|(known, _)| *known == name).map(|(_, key)| *key),
                },
                Node::End => break,
                _ => None,
            };
            if let Some(key) = key {
                let value = xml.text_inside();
                if !value.trim().is_empty() && book.about.len() < 1000 {
                    book.about.push((key, value));
                }
            }
        }
        troubles.note(xml.finish())?;
        let places: std::collections::HashMap<&str, &str> =
            items.iter().map(|(id, target, _)| (id.as_str(), target.as_str())).collect();
        book.chapters =
            spine.iter().filter_map(|id| places.get(id.as_str()).map(|t| (*t).to_owned())).collect();
        if book.chapters.is_empty() {
            book.chapters =
                items.into_iter().filter(|(_, _, readable)| *readable).map(|(_, target, _)| target).collect();
        }
        Ok(book)
    }
}

/// Parts that only a reader with the right key can open. Fonts may be garbled without the book being locked.
fn locked(package: &mut Package<'_>, limits: &ReadLimits, troubles: &mut Troubles) -> Result<Vec<String>> {
    let mut out = Vec::new();
    let part = match package.part(ENCRYPTION) {
        Ok(Some(part)) => part,
        Ok(None) => return Ok(out),
        Err(e) => {
            troubles.note(Err(e))?;
            return Ok(out);
        }
    };
    let mut xml = Xml::new(part, ENCRYPTION, limits);
    loop {
        match xml.next() {
            Node::Open(tag) if tag.name() == "CipherReference" && out.len() < MAX_ITEMS => {
                out.extend(tag.get("URI").map(|uri| resolve("", &percent_decoded(&uri))));
            }
            Node::End => break,
            _ => {}
        }
    }
    troubles.note(xml.finish())?;
    Ok(out)
}

/// `Chapter%201.xhtml` as it is called inside the book.
fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(decoded) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            out.push(decoded);
            rest = &after[2..];
        } else {
            out.push(byte);
            rest = after;
        }
    }
    let decoded = String::from_utf8_lossy(&out).into_owned();
    decoded.split('#').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use docmill_core::error::ErrorKind;
    use docmill_core::limits::Limits;

    use crate::tests_support::{EVERYTHING, fixture, read_fixture, try_read};

    #[test]
    fn chapters_are_pages_in_reading_order_and_missing_ones_are_named() {
        let found = read_fixture("epub/book.epub");
        let texts: Vec<&str> = found.pages().iter().map(|page| page.text.as_str()).collect();
        assert_eq!(texts, ["One\n\nThe first chapter.\n", "Two\n\nThe second chapter.\n", ""]);
        assert_eq!(found.pages()[2].source, docmill_core::artifact::TextSource::None);
        assert_eq!((found.value("title"), found.value("author")), (Some("A book"), Some("Ada Lovelace")));
        assert_eq!(found.warnings()[0].message, "chapter `OPS/gone.xhtml` is missing");
    }

    #[test]
    fn book_whose_chapters_are_locked_says_so() {
        let file = "epub/locked.epub";
        let (_, result) = try_read(file, &fixture(file), EVERYTHING, &Limits::default().for_reader());
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Encrypted);
    }
}
