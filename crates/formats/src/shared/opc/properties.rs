//! What an Office document says of itself.

use docmill_core::Result;
use docmill_core::wire::ReadLimits;

use crate::shared::document::Troubles;
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};
use crate::sink::Sink;

/// Elements of the two standard parts and what they are called here.
const KEYS: &[(&str, &str)] = &[
    ("title", "title"),
    ("creator", "author"),
    ("subject", "subject"),
    ("keywords", "keywords"),
    ("description", "description"),
    ("category", "category"),
    ("lastModifiedBy", "last_modified_by"),
    ("created", "creation_date"),
    ("modified", "mod_date"),
    ("lastPrinted", "print_date"),
    ("revision", "revision"),
    ("contentStatus", "status"),
    ("language", "stated_language"),
    ("Pages", "page_count"),
    ("Words", "word_count"),
    ("Characters", "character_count"),
    ("Slides", "slide_count"),
    ("HiddenSlides", "hidden_slide_count"),
    ("Company", "company"),
    ("Manager", "manager"),
    ("Application", "creator"),
];

/// Values longer than this are cut: they are facts, not texts.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// Custom properties beyond this are passed over.
const MAX_CUSTOM: u32 = 1000;

/// Hands on what the parts for properties hold. A missing part is nothing unusual.
pub(crate) fn tell(
    package: &mut Package<'_>,
    limits: &ReadLimits,
    troubles: &mut Troubles,
    sink: &mut dyn Sink,
) -> Result<()> {
    for name in ["docProps/core.xml", "docProps/app.xml"] {
        let part = match package.part(name) {
            Ok(Some(part)) => part,
            Ok(None) => continue,
            Err(e) => {
                troubles.note(Err(e))?;
                continue;
            }
        };
        let mut xml = Xml::new(part, name, limits);
        loop {
            let key = match xml.next() {
                Node::Open(tag) => KEYS.iter().find(|(known, _)| *known == tag.name()).map(|(_, key)| *key),
                Node::End => break,
                _ => None,
            };
            // All facts stand right below the root.
            if let Some(key) = key
                && xml.depth() == 2
            {
                let value = xml.text_inside();
                // A count of nothing is a count that nobody took.
                if !(key.ends_with("_count") && value.trim() == "0") {
                    sink.meta(key, fact(&value))?;
                }
            }
        }
        troubles.note(xml.finish())?;
    }
    tell_custom(package, limits, troubles, sink)
}

/// Properties that a user or a program added, under `custom:` and their name.
fn tell_custom(
    package: &mut Package<'_>,
    limits: &ReadLimits,
    troubles: &mut Troubles,
    sink: &mut dyn Sink,
) -> Result<()> {
    const PART: &str = "docProps/custom.xml";
    let part = match package.part(PART) {
        Ok(Some(part)) => part,
        Ok(None) => return Ok(()),
        Err(e) => return troubles.note(Err(e)),
    };
    let mut xml = Xml::new(part, PART, limits);
    let mut count = 0;
    loop {
        let name = match xml.next() {
            Node::Open(tag) if tag.name() == "property" => tag.get("name"),
            Node::End => break,
            _ => None,
        };
        if let Some(name) = name
            && count < MAX_CUSTOM
        {
            count += 1;
            let value = xml.text_inside();
            sink.meta(&format!("custom:{name}"), fact(&value))?;
        }
    }
    troubles.note(xml.finish())
}

fn fact(value: &str) -> &str {
    &value[..value.floor_char_boundary(MAX_VALUE_BYTES)]
}
