//! Numbers of lists and headings. They are not in the text: a paragraph only says which list it is of, and the number
//! is counted out as Word does it. Contracts refer to those numbers, so a text without them is not the document.

use std::collections::HashMap;

use docmill_core::Result;
use docmill_core::wire::ReadLimits;

use crate::shared::document::Troubles;
use crate::shared::opc::Relations;
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};

/// A list has nine levels.
const LEVELS: usize = 9;

/// Lists of one document beyond this are shown with a mere sign.
const MAX_LISTS: usize = 10_000;

#[derive(Clone)]
struct Level {
    start: u32,
    format: Format,
    /// `%1.%2` stands for the numbers of the first and second level.
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Bullet,
    Decimal,
    PaddedDecimal,
    LowerLetter,
    UpperLetter,
    LowerRoman,
    UpperRoman,
    Nothing,
}

impl Default for Level {
    fn default() -> Self {
        Self { start: 1, format: Format::Decimal, text: String::new() }
    }
}

#[derive(Clone, Default)]
struct List {
    levels: Vec<Level>,
    /// What is counted together with other lists of the same form.
    form: String,
    /// Levels that begin anew, and where.
    restarts: [Option<u32>; LEVELS],
}

#[derive(Default)]
pub(super) struct Numbering {
    forms: HashMap<String, Vec<Level>>,
    lists: HashMap<String, List>,
    counts: HashMap<String, [Option<u32>; LEVELS]>,
    /// Lists whose restart has happened.
    restarted: HashMap<String, [bool; LEVELS]>,
}

impl Numbering {
    pub(super) fn read(
        package: &mut Package<'_>,
        relations: &Relations,
        limits: &ReadLimits,
        troubles: &mut Troubles,
    ) -> Result<Self> {
        let mut numbering = Self::default();
        let Some(name) = relations.of_kind("numbering").next() else { return Ok(numbering) };
        match package.part(name) {
            Ok(Some(part)) => {
                let mut xml = Xml::new(part, name, limits);
                numbering.fill(&mut xml);
                troubles.note(xml.finish())?;
            }
            Ok(None) => {}
            Err(e) => troubles.note(Err(e))?,
        }
        Ok(numbering)
    }

    fn fill(&mut self, xml: &mut Xml<'_>) {
        let mut form: Option<(String, Vec<Level>)> = None;
        let mut list: Option<(String, List)> = None;
        let mut level = 0;
        loop {
            match xml.next() {
                Node::Open(tag) => {
                    let value = || tag.get("val").unwrap_or_default();
                    match tag.name() {
                        "abstractNum" => {
                            let id = tag.get("abstractNumId").unwrap_or_default();
                            form = Some((id, vec![Level::default(); LEVELS]));
                        }
                        "num" => list = Some((tag.get("numId").unwrap_or_default(), List::default())),
                        "abstractNumId" => {
                            if let Some((_, list)) = &mut list {
                                list.form = value();
                            }
                        }
                        "lvl" | "lvlOverride" => {
                            level = tag.get("ilvl").and_then(|l| l.parse().ok()).unwrap_or(0).min(LEVELS - 1);
                        }
                        "startOverride" => {
                            if let Some((_, list)) = &mut list {
                                list.restarts[level] = value().parse().ok();
                            }
                        }
                        name => {
                            if let Some((_, levels)) = &mut form {
                                set(&mut levels[level], name, value);
                            }
                        }
                    }
                }
                Node::Close("abstractNum") => {
                    if let Some((id, levels)) = form.take()
                        && self.forms.len() < MAX_LISTS
                    {
                        self.forms.insert(id, levels);
                    }
                }
                Node::Close("num") => {
                    if let Some((id, list)) = list.take()
                        && self.lists.len() < MAX_LISTS
                    {
                        self.lists.insert(id, list);
                    }
                }
                Node::Close(_) | Node::Text(_) => {}
                Node::End => break,
            }
        }
        for list in self.lists.values_mut() {
            list.levels = self.forms.get(&list.form).cloned().unwrap_or_default();
        }
    }

    /// The sign or number of the next paragraph of a list.
    pub(super) fn next(&mut self, id: &str, level: usize) -> Option<String> {
        let list = self.lists.get(id)?;
        let level = level.min(LEVELS - 1);
        let form = list.levels.get(level)?;
        match form.format {
            Format::Bullet => return Some("-".into()),
            Format::Nothing => return None,
            _ => {}
        }
        let counts = self.counts.entry(list.form.clone()).or_default();
        let restarted = self.restarted.entry(id.to_owned()).or_default();
        counts[level] = Some(match (list.restarts[level], counts[level]) {
            (Some(start), _) if !restarted[level] => start,
            (_, Some(count)) => count.saturating_add(1),
            (_, None) => form.start,
        });
        restarted[level] = true;
        for count in &mut counts[level + 1..] {
            *count = None;
        }
        let mut out = String::new();
        let mut characters = form.text.chars();
        while let Some(c) = characters.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let Some(of) = characters.next().and_then(|c| c.to_digit(10)).map(|d| d as usize) else {
                continue;
            };
            if let Some(other) = of.checked_sub(1).and_then(|at| list.levels.get(at)) {
                out.push_str(&shown(counts[of - 1].unwrap_or(other.start), other.format));
            }
        }
        (!out.trim().is_empty()).then_some(out)
    }
}

fn set(level: &mut Level, name: &str, value: impl Fn() -> String) {
    match name {
        "start" => level.start = value().parse().unwrap_or(1),
        "numFmt" => {
            level.format = match value().as_str() {
                "bullet" => Format::Bullet,
                "decimalZero" => Format::PaddedDecimal,
                "lowerLetter" => Format::LowerLetter,
                "upperLetter" => Format::UpperLetter,
                "lowerRoman" => Format::LowerRoman,
                "upperRoman" => Format::UpperRoman,
                "none" => Format::Nothing,
                _ => Format::Decimal,
            };
        }
        "lvlText" => level.text = value(),
        _ => {}
    }
}

fn shown(number: u32, format: Format) -> String {
    match format {
        Format::Decimal | Format::Bullet => number.to_string(),
        Format::PaddedDecimal => format!("{number:02}"),
        Format::LowerLetter => letters(number, b'a'),
        Format::UpperLetter => letters(number, b'A'),
        Format::LowerRoman => roman(number).to_lowercase(),
        Format::UpperRoman => roman(number),
        Format::Nothing => String::new(),
    }
}

/// a … z, aa, bb …, as Word counts.
fn letters(number: u32, first: u8) -> String {
    let Some(index) = number.checked_sub(1) else { return String::new() };
    let letter = char::from(first + (index % 26) as u8);
    std::iter::repeat_n(letter, (index / 26 + 1).min(16) as usize).collect()
}

fn roman(mut number: u32) -> String {
    const SIGNS: &[(u32, &str)] = &[
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if number > 4999 {
        return number.to_string();
    }
    let mut out = String::new();
    for (value, sign) in SIGNS {
        while number >= *value {
            out.push_str(sign);
            number -= value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use docmill_core::limits::Limits;

    use super::*;

    #[test]
    fn numbers_are_counted_out_by_level() {
        let xml = br#"<w:numbering>
            <w:abstractNum w:abstractNumId="0">
              <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
              <w:lvl w:ilvl="1"><w:start w:val="3"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>
              <w:lvl w:ilvl="2"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%3"/></w:lvl>
              <w:lvl w:ilvl="3"><w:numFmt w:val="bullet"/><w:lvlText w:val="x"/></w:lvl>
            </w:abstractNum>
            <w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num>
            <w:num w:numId="6"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
          </w:numbering>"#;
        let limits = Limits::default().for_reader();
        let mut numbering = Numbering::default();
        numbering.fill(&mut Xml::new(&xml[..], "test", &limits));
        let cases = [
            ("5", 0, Some("1.")),
            ("5", 1, Some("1.c)")),
            ("5", 1, Some("1.d)")),
            ("5", 0, Some("2.")),
            ("5", 1, Some("2.c)")),
            ("5", 2, Some("I")),
            ("5", 2, Some("II")),
            ("5", 3, Some("-")),
            ("6", 0, Some("7.")),
            ("6", 0, Some("8.")),
            ("9", 0, None),
        ];
        for (id, level, expected) in cases {
            assert_eq!(numbering.next(id, level).as_deref(), expected, "{id} {level}");
        }
    }

    #[test]
    fn letters_and_roman_numbers_are_written_as_word_does() {
        assert_eq!((letters(1, b'a'), letters(27, b'A')), ("a".into(), "AA".into()));
        assert_eq!((roman(4), roman(1994)), ("IV".into(), "MCMXCIV".into()));
    }
}
