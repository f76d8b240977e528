//! The texts that the cells of a workbook share.

use docmill_core::wire::ReadLimits;
use docmill_core::{Error, Result};

use crate::shared::xml::{Node, Xml};

/// They are held, so they may not be as long as all of the text.
const MAX_BYTES: usize = 128 << 20;

/// Texts one after the other in one string: millions of small ones cost little more than their characters.
#[derive(Default)]
pub(super) struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.text.get(start..end)
    }

    /// Adds one; an error where they are too many.
    pub(super) fn add(&mut self, text: &str, limits: &ReadLimits) -> Result<()> {
        let limit = MAX_BYTES.min(limits.max_text_bytes as usize);
        // An empty text costs its place.
        if self.text.len() + text.len() + self.ends.len() * 4 > limit {
            return Err(Error::limit_exceeded(format!(
                "shared texts of the workbook have more than {limit} bytes; cells with the rest are empty"
            )));
        }
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        Ok(())
    }

    pub(super) fn read(&mut self, mut xml: Xml<'_>, limits: &ReadLimits) -> Result<()> {
        let mut text = String::new();
        loop {
            match xml.next() {
                Node::Open(tag) => match tag.name() {
                    "si" => text.clear(),
                    "t" => {
                        let inside = xml.text_inside();
                        text.push_str(&inside);
                    }
                    // How the text is pronounced, for Japanese.
                    "rPh" => xml.skip(),
                    _ => {}
                },
                Node::Close("si") => self.add(&unescaped(&text), limits)?,
                Node::Close(_) | Node::Text(_) => {}
                Node::End => return xml.finish(),
            }
        }
    }
}

/// `_x000D_` stands for a character that XML cannot hold.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 2..at + 6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if let (Some(c), Some("_")) = (code.and_then(char::from_u32), rest.get(at + 6..at + 7)) {
            if !c.is_control() || matches!(c, '\n' | '\t') {
                out.push(c);
            }
            rest = &rest[at + 7..];
        } else {
            out.push_str("_x");
            rest = &rest[at + 2..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;

    use super::*;

    #[test]
    fn texts_are_found_by_their_number() {
        let limits = Limits::default().for_reader();
        let mut strings = Strings::default();
        for text in ["one", "", "drei"] {
            strings.add(text, &limits).unwrap();
        }
        assert_eq!([0, 1, 2, 3].map(|at| strings.get(at)), [Some("one"), Some(""), Some("drei"), None]);
        let tight = ReadLimits { max_text_bytes: 20, ..limits };
        assert!(strings.add("four", &tight).is_err());
    }

    #[test]
    fn escapes_of_characters_are_resolved() {
        assert_eq!(unescaped("a_x000D__x000A_b_x0041_c_xyz_"), "a\nbAc_xyz_");
    }
}
