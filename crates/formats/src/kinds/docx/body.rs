//! The text of one part: the document itself, or its notes, comments, headers.

use super::numbering::Numbering;
use super::styles::Styles;
use super::tables::Tables;
use crate::shared::flow::Flow;
use crate::shared::xml::{Node, Tag, Xml};

/// Charts of one document beyond this are passed over.
const MAX_CHARTS: usize = 1000;

/// Elements whose content is not text: properties, what a field is computed from, what was deleted or moved away,
/// and the second copy of what newer programs draw otherwise.
const PASSED_OVER: &[&str] = &[
    "rPr",
    "tblPr",
    "tblGrid",
    "trPr",
    "sectPr",
    "sdtPr",
    "sdtEndPr",
    "instrText",
    "delText",
    "delInstrText",
    "moveFrom",
    "Fallback",
    "rt",
    "binData",
    "pPrChange",
];

/// Walks through one part.
pub(super) struct Body<'a> {
    styles: &'a Styles,
    numbering: &'a mut Numbering,
    /// Inside `t`: text is text.
    in_text: u32,
    /// Charts that were met, by their relation.
    charts: Vec<String>,
    /// The paragraph at hand is a heading.
    is_heading: bool,
    tables: Tables,
}

impl<'a> Body<'a> {
    pub(super) fn new(styles: &'a Styles, numbering: &'a mut Numbering) -> Self {
        Self {
            styles,
            numbering,
            in_text: 0,
            charts: Vec::new(),
            is_heading: false,
            tables: Tables::default(),
        }
    }

    /// Takes one step; false at the end.
    pub(super) fn step(&mut self, xml: &mut Xml<'_>, flow: &mut Flow) -> bool {
        match xml.next() {
            Node::Open(tag) => match self.open(&tag, flow) {
                Then::GoOn => {}
                Then::Skip => xml.skip(),
                Then::Properties => self.paragraph(xml, flow),
                Then::CellProperties => self.tables.cell_properties(xml),
            },
            Node::Close(name) => self.close(name, flow),
            Node::Text(text) if self.in_text > 0 => flow.text(text),
            Node::Text(_) => {}
            Node::End => return false,
        }
        true
    }

    /// The relations of the charts that were met.
    pub(super) fn into_charts(self) -> Vec<String> {
        self.charts
    }

    fn open(&mut self, tag: &Tag<'_>, flow: &mut Flow) -> Then {
        match tag.name() {
            "t" => self.in_text += 1,
            "pPr" => return Then::Properties,
            "tcPr" => return Then::CellProperties,
            "tc" => self.tables.begin_cell(flow),
            "tab" | "ptab" => flow.text("\t"),
            "br" | "cr" => flow.line_break(),
            "noBreakHyphen" => flow.text("-"),
            "sym" => flow.text(&symbol(tag)),
            "oMath" => flow.space(),
            "tbl" => {
                flow.begin_table();
                self.tables.begin();
            }
            "txbxContent" => flow.begin_aside(),
            "footnoteReference" | "endnoteReference" => {
                if let Some(id) = tag.get("id") {
                    flow.text(&format!("[{id}]"));
                }
            }
            "footnote" | "endnote" => {
                // Lines between text and notes are kept as notes too.
                if tag.get("type").is_some_and(|kind| kind != "normal") {
                    return Then::Skip;
                }
                flow.end_line();
                flow.label(format!("[{}]", tag.get("id").unwrap_or_default()));
            }
            "comment" => {
                flow.end_line();
                // Who said it; when is for programs.
                let author = tag.get("author").unwrap_or_default();
                let author = author.trim();
                flow.label(if author.is_empty() { "-".into() } else { format!("{author}:") });
            }
            "chart" if self.charts.len() < MAX_CHARTS => self.charts.extend(tag.get("id")),
            "docPr" => {
                if let Some(words) = tag.get("descr") {
                    flow.follow(&words);
                }
            }
            name if PASSED_OVER.contains(&name) => return Then::Skip,
            _ => {}
        }
        Then::GoOn
    }

    fn close(&mut self, name: &str, flow: &mut Flow) {
        match name {
            "t" => self.in_text = self.in_text.saturating_sub(1),
            "p" => {
                flow.end_line();
                if std::mem::take(&mut self.is_heading) {
                    flow.gap();
                }
            }
            "oMath" => flow.space(),
            "tc" => self.tables.end_cell(flow),
            "tr" => {
                flow.end_row();
                self.tables.end_row();
            }
            "tbl" => {
                flow.end_table();
                self.tables.end();
            }
            "txbxContent" => {
                let text = flow.end_aside();
                flow.follow(&text);
            }
            _ => {}
        }
    }

    /// The properties of a paragraph: is it a heading, is it of a list.
    fn paragraph(&mut self, xml: &mut Xml<'_>, flow: &mut Flow) {
        let (mut style, mut level, mut number) = (None, None, None);
        let mut is_heading = false;
        let outside = xml.depth().saturating_sub(1);
        while xml.depth() > outside {
            match xml.next() {
                Node::Open(tag) => match tag.name() {
                    "pStyle" => style = tag.get("val"),
                    "ilvl" => level = tag.get("val").and_then(|v| v.parse::<usize>().ok()),
                    "numId" => number = tag.get("val"),
                    "outlineLvl" => is_heading = tag.get("val").is_some_and(|level| level != "9"),
                    "rPr" | "pPrChange" | "sectPr" => xml.skip(),
                    _ => {}
                },
                Node::End => break,
                _ => {}
            }
        }
        let style = style.as_deref().and_then(|id| self.styles.get(id));
        if is_heading || style.is_some_and(|style| style.is_heading) {
            self.is_heading = true;
            flow.gap();
        }
        let by_style = style.and_then(|style| style.number.clone());
        let level = level.or(style.and_then(|style| style.level)).unwrap_or(0);
        // Number 0 takes a paragraph out of the list that its style puts it into.
        if let Some(number) = number.or(by_style).filter(|number| number != "0")
            && let Some(label) = self.numbering.next(&number, level)
        {
            flow.label(label);
        }
    }
}

enum Then {
    GoOn,
    Skip,
    Properties,
    CellProperties,
}

/// A character of a symbol font. Those fonts place their signs in the private area; only what is a letter anywhere
/// can be told.
fn symbol(tag: &Tag<'_>) -> String {
    let code = tag.get("char").and_then(|hex| u32::from_str_radix(&hex, 16).ok());
    match code.and_then(char::from_u32) {
        Some(c) if !('\u{e000}'..='\u{f8ff}').contains(&c) && !c.is_control() => c.to_string(),
        _ => String::new(),
    }
}
