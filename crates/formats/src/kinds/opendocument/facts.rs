//! What a document says of itself.

use docmill_core::Result;

use crate::shared::xml::{Node, Tag, Xml};
use crate::sink::Sink;

/// Elements and what they are called here.
const KEYS: &[(&str, &str)] = &[
    ("title", "title"),
    ("initial-creator", "author"),
    ("creator", "last_modified_by"),
    ("subject", "subject"),
    ("keyword", "keywords"),
    ("description", "description"),
    ("creation-date", "creation_date"),
    ("date", "mod_date"),
    ("print-date", "print_date"),
    ("editing-cycles", "revision"),
    ("generator", "creator"),
    ("language", "stated_language"),
];

/// Counts, which are attributes of one element.
const COUNTS: &[(&str, &str)] = &[
    ("page-count", "page_count"),
    ("word-count", "word_count"),
    ("character-count", "character_count"),
    ("table-count", "table_count"),
];

/// Values longer than this are cut: they are facts, not texts.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// Facts of a whole part.
pub(super) fn tell(xml: &mut Xml<'_>, sink: &mut dyn Sink) -> Result<()> {
    while tell_next(xml, sink)? {}
    Ok(())
}

/// Facts inside the element that began last.
pub(super) fn tell_inside(xml: &mut Xml<'_>, sink: &mut dyn Sink) -> Result<()> {
    let outside = xml.depth().saturating_sub(1);
    while xml.depth() > outside && tell_next(xml, sink)? {}
    Ok(())
}

fn tell_next(xml: &mut Xml<'_>, sink: &mut dyn Sink) -> Result<bool> {
    let key = match xml.next() {
        Node::Open(tag) if tag.name() == "document-statistic" => {
            tell_counts(&tag, sink)?;
            None
        }
        Node::Open(tag) if tag.name() == "user-defined" => {
            tag.get("name").map(|name| format!("custom:{name}"))
        }
        Node::Open(tag) => {
            KEYS.iter().find(|(known, _)| *known == tag.name()).map(|(_, key)| (*key).to_owned())
        }
        Node::End => return Ok(false),
        _ => None,
    };
    if let Some(key) = key {
        let value = xml.text_inside();
        sink.meta(&key, &value[..value.floor_char_boundary(MAX_VALUE_BYTES)])?;
    }
    Ok(true)
}

fn tell_counts(tag: &Tag<'_>, sink: &mut dyn Sink) -> Result<()> {
    for (attribute, key) in COUNTS {
        if let Some(value) = tag.get(attribute).filter(|value| value != "0") {
            sink.meta(key, &value)?;
        }
    }
    Ok(())
}
