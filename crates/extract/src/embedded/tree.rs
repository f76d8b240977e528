//! XML as a small tree, for data that may be hostile.
//!
//! Nothing is expanded but the five entities that XML itself has and references to characters; a document type is passed
//! over. Bytes, elements, nesting, attributes and the length of a text are limited: beyond a limit there is no tree, since
//! half of an invoice is none. Names are compared without their prefix, and kept with it for whoever wants to look.

use std::borrow::Cow;
use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The largest data that is looked at: room for thousands of lines and for attached files. An estimate.
const MAX_BYTES: usize = 32 << 20;

/// Elements of one tree: some thirty for each of [`super::MAX_ITEMS`] lines, and room. An estimate.
const MAX_ELEMENTS: usize = 500_000;

/// Far deeper than either form of invoices nests.
const MAX_DEPTH: usize = 64;

/// Attributes of one element that are kept, and bytes of the text of one element.
const MAX_ATTRIBUTES: usize = 16;
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Where a document may say what character set it is in.
const DECLARATION_BYTES: usize = 200;

/// The elements of a document.
#[derive(Debug)]
pub(super) struct Tree {
    elements: Vec<Element>,
}

#[derive(Debug)]
struct Element {
    /// With its prefix.
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    parent: Option<usize>,
    children: Vec<usize>,
    /// Its place among the siblings of its name, from 1; 0 if it has none.
    place: u32,
}

/// One element of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'t> {
    tree: &'t Tree,
    at: usize,
}

impl Tree {
    /// The tree of a whole document; nothing if it is none, is cut off, or is beyond a limit.
    pub(super) fn parse(xml: &[u8]) -> Option<Self> {
        if xml.len() > MAX_BYTES {
            return None;
        }
        let xml = decoded(xml);
        let mut reader = Reader::from_str(&xml);
        let config = reader.config_mut();
        config.check_end_names = true;
        config.allow_dangling_amp = true;
        let mut tree = Self { elements: Vec::new() };
        let mut open: Vec<(usize, BTreeMap<String, u32>)> = Vec::new();
        loop {
            match reader.read_event().ok()? {
                Event::Start(start) => {
                    let at = tree.add(&start, &mut open)?;
                    open.push((at, BTreeMap::new()));
                    if open.len() > MAX_DEPTH {
                        return None;
                    }
                }
                Event::Empty(start) => {
                    tree.add(&start, &mut open)?;
                    if open.is_empty() {
                        return Some(tree);
                    }
                }
                Event::End(_) => {
                    let (at, names) = open.pop()?;
                    tree.close(at, &names);
                    // What follows the root says nothing, and is often padding.
                    if open.is_empty() {
                        return Some(tree);
                    }
                }
                Event::Text(text) => tree.write(&open, &String::from_utf8_lossy(&text)),
                Event::CData(text) => tree.write(&open, &String::from_utf8_lossy(&text)),
                Event::GeneralRef(name) => {
                    tree.write(&open, &resolved(&String::from_utf8_lossy(&name)));
                }
                Event::Eof => return None,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }

    /// All elements, in the order of the document.
    pub(super) fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.elements.len()).map(|at| Node { tree: self, at })
    }

    fn add(&mut self, start: &BytesStart<'_>, open: &mut [(usize, BTreeMap<String, u32>)]) -> Option<usize> {
        if self.elements.len() >= MAX_ELEMENTS {
            return None;
        }
        let name = String::from_utf8_lossy(start.name().into_inner()).into_owned();
        let mut attributes = Vec::new();
        // Looking for attributes of the same name takes time in proportion to the square of their number.
        for attribute in start.attributes().with_checks(false).take(MAX_ATTRIBUTES).flatten() {
            let name = String::from_utf8_lossy(attribute.key.into_inner()).into_owned();
            let value = String::from_utf8_lossy(&attribute.value).trim().to_owned();
            if value.len() <= MAX_TEXT_BYTES {
                attributes.push((name, value));
            }
        }
        let at = self.elements.len();
        let (parent, place) = match open.last_mut() {
            Some((parent, names)) => {
                let place = names.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
                self.elements[*parent].children.push(at);
                (Some(*parent), *place)
            }
            None => (None, 0),
        };
        self.elements.push(Element {
            name,
            attributes,
            text: String::new(),
            parent,
            children: Vec::new(),
            place,
        });
        Some(at)
    }

    fn close(&mut self, at: usize, names: &BTreeMap<String, u32>) {
        let children = std::mem::take(&mut self.elements[at].children);
        for &child in &children {
            let child = &mut self.elements[child];
            if names.get(&child.name) == Some(&1) {
                child.place = 0;
            }
        }
        self.elements[at].children = children;
    }

    fn write(&mut self, open: &[(usize, BTreeMap<String, u32>)], text: &str) {
        let Some((at, _)) = open.last() else { return };
        let element = &mut self.elements[*at];
        // Attachments in Base64 are no text that anybody asks for.
        if element.text.len() + text.len() <= MAX_TEXT_BYTES {
            element.text.push_str(text);
        }
    }
}

impl<'t> Node<'t> {
    fn element(self) -> &'t Element {
        &self.tree.elements[self.at]
    }

    /// Its name without a prefix.
    pub(super) fn name(self) -> &'t str {
        local(&self.element().name)
    }

    /// What stands in it, without space around.
    pub(super) fn text(self) -> &'t str {
        self.element().text.trim()
    }

    /// The value of the attribute of that name, whatever its prefix.
    pub(super) fn attribute(self, name: &str) -> Option<&'t str> {
        self.element().attributes.iter().find(|(n, _)| local(n) == name).map(|(_, value)| value.as_str())
    }

    /// The namespace of its name, as it or an element around it declares the prefix.
    pub(super) fn namespace(self) -> Option<&'t str> {
        let declared = match self.element().name.split_once(':') {
            Some((prefix, _)) => format!("xmlns:{prefix}"),
            None => "xmlns".to_owned(),
        };
        let mut at = Some(self);
        while let Some(node) = at {
            if let Some((_, uri)) = node.element().attributes.iter().find(|(name, _)| *name == declared) {
                return Some(uri);
            }
            at = node.parent();
        }
        None
    }

    pub(super) fn parent(self) -> Option<Self> {
        self.element().parent.map(|at| Self { tree: self.tree, at })
    }

    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        self.element().children.iter().map(move |&at| Self { tree: self.tree, at })
    }

    /// The children of that name.
    pub(super) fn all(self, name: &str) -> impl Iterator<Item = Self> {
        self.children().filter(move |child| child.name() == name)
    }

    /// The first element on that path of names: `Party/PartyName/Name`. Every branch is tried.
    pub(super) fn find(self, path: &str) -> Option<Self> {
        match path.split_once('/') {
            Some((first, rest)) => self.all(first).find_map(|child| child.find(rest)),
            None => self.all(path).next(),
        }
    }

    /// The first element on that path that has a text.
    pub(super) fn said(self, path: &str) -> Option<Self> {
        match path.split_once('/') {
            Some((first, rest)) => self.all(first).find_map(|child| child.said(rest)),
            None => self.all(path).find(|child| !child.text().is_empty()),
        }
    }

    /// How many elements are around it.
    pub(super) fn depth(self) -> usize {
        std::iter::successors(self.parent(), |node| node.parent()).count()
    }

    /// Where it stands, with names as they stand there: `rsm:CrossIndustryInvoice/rsm:ExchangedDocument/ram:ID`.
    pub(super) fn path(self) -> String {
        let mut names: Vec<String> = std::iter::successors(Some(self), |node| node.parent())
            .map(|node| match node.element() {
                Element { name, place: 0, .. } => name.clone(),
                Element { name, place, .. } => format!("{name}[{place}]"),
            })
            .collect();
        names.reverse();
        names.join("/")
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// What a reference stands for; one that only a document type could explain stays as it is.
fn resolved(name: &str) -> String {
    let character = match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "apos" => Some('\''),
        "quot" => Some('"'),
        _ => name.strip_prefix('#').and_then(|number| {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|&c| c != '\0')
        }),
    };
    character.map_or_else(|| format!("&{name};"), String::from)
}

/// The document as text: UTF-8, UTF-16 by its mark or its first character, or Latin-1 if it says so.
fn decoded(xml: &[u8]) -> Cow<'_, str> {
    let wide = |bytes: &[u8], of: fn([u8; 2]) -> u16| {
        let units = bytes.as_chunks::<2>().0.iter().map(|pair| of(*pair));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    match xml {
        [0xff, 0xfe, rest @ ..] => return wide(rest, u16::from_le_bytes).into(),
        [0xfe, 0xff, rest @ ..] => return wide(rest, u16::from_be_bytes).into(),
        [b'<', 0, ..] => return wide(xml, u16::from_le_bytes).into(),
        [0, b'<', ..] => return wide(xml, u16::from_be_bytes).into(),
        _ => {}
    }
    let xml = xml.strip_prefix(b"\xef\xbb\xbf").unwrap_or(xml);
    let head = String::from_utf8_lossy(&xml[..xml.len().min(DECLARATION_BYTES)]).to_ascii_lowercase();
    let declaration = head.split_once("?>").map_or("", |(declaration, _)| declaration);
    if declaration.contains("iso-8859-1") || declaration.contains("windows-1252") {
        return xml.iter().map(|&byte| char::from(byte)).collect::<String>().into();
    }
    String::from_utf8_lossy(xml)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_names_elements_as_they_stand_and_counts_siblings() {
        let tree = Tree::parse(b"<a:x xmlns:a='u'><a:y>1</a:y><a:y><z> 2 </z></a:y></a:x>").unwrap();
        let node = tree.nodes().next().unwrap().find("y/z").unwrap();
        assert_eq!((node.text(), node.path().as_str()), ("2", "a:x/a:y[2]/z"));
        assert_eq!(tree.nodes().next().unwrap().namespace(), Some("u"));
    }

    #[test]
    fn entity_of_a_document_type_stays_as_it_is() {
        let xml = b"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><x>&b;&amp;&#65;</x>";
        let tree = Tree::parse(xml).unwrap();
        assert_eq!(tree.nodes().next().unwrap().text(), "&b;&A");
    }

    #[test]
    fn deep_cut_off_and_empty_documents_give_none() {
        assert!(Tree::parse("<a>".repeat(100_000).as_bytes()).is_none());
        assert!(Tree::parse(b"<a><b>1</b>").is_none());
        assert!(Tree::parse(b"").is_none());
        assert!(Tree::parse(b"<a></b>").is_none());
    }

    #[test]
    fn other_character_sets_are_decoded() {
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><x>M\xfcller</x>";
        assert_eq!(Tree::parse(latin).unwrap().nodes().next().unwrap().text(), "Müller");
        let wide: Vec<u8> = "\u{feff}<x>Müller</x>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(Tree::parse(&wide).unwrap().nodes().next().unwrap().text(), "Müller");
    }
}
