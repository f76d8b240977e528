//! The content: paragraphs, lists, tables, boxes, and the pages of sheets and slides.

use std::collections::HashSet;

use docmill_core::Result;
use docmill_core::wire::Found;

use crate::shared::cells::plain;
use crate::shared::document::{Troubles, native_page};
use crate::shared::flow::Flow;
use crate::shared::xml::{Node, Tag, Xml};
use crate::sink::{MAX_PAGE_BYTES, Sink};

/// A cell or a row may say that it stands for many; so many are written.
const MAX_REPEATS: u32 = 1000;

/// Text of a document without pages is cut into pieces of this size.
const PART_BYTES: usize = 8 << 20;

/// Pictures beyond this are passed over.
const MAX_PICTURES: usize = 1_000;

/// Styles that hide a table, beyond which none is noted.
const MAX_STYLES: usize = 100_000;

/// What is not text that one sees: what was deleted, what fields are made of, settings of forms.
const PASSED_OVER: &[&str] = &[
    "tracked-changes",
    "changed-region",
    "note-citation",
    "sequence-decls",
    "variable-decls",
    "user-field-decls",
    "dde-connection-decls",
    "binary-data",
    "settings",
    "calculation-settings",
    "content-validations",
    "label-ranges",
    "database-ranges",
    "named-expressions",
    "event-listeners",
    "page-number",
    "page-count",
    "sheet-name",
    "annotation-encoding",
];

/// Something that is open and matters when it ends.
enum Open {
    Paragraph,
    Heading,
    /// A box or a description, which follows its paragraph.
    Aside {
        is_text: bool,
    },
    /// A note or a comment, which follows the page.
    Note,
    /// What a speaker says to a slide.
    SpeakerNotes,
    Spreadsheet,
    Table {
        is_sheet: bool,
    },
    Row {
        repeats: u32,
        from: usize,
    },
    Cell {
        repeats: u32,
        from: usize,
        /// What it holds; its text says the same, if it has any.
        value: Option<String>,
    },
    Page,
    Math,
}

/// Collects text and gives pages.
pub(super) struct Body {
    flow: Flow,
    /// Notes and comments that follow the page or the text.
    beside: String,
    hidden_styles: HashSet<String>,
    /// What is open, with its depth.
    open: Vec<(u32, Open)>,
    /// How many of those make text out of characters.
    texts: u32,
    /// A document inside another gives no pages of its own.
    is_inner: bool,
    /// Sheets and slides are pages; a text has none.
    has_pages: bool,
    given: u32,
    /// The last sheet or slide, which waits for what follows the text.
    last: Option<(&'static str, String)>,
    /// Parts that are pictures, with the page they stand on.
    pictures: Vec<(u32, String)>,
}

impl Body {
    pub(super) fn new() -> Self {
        Self {
            flow: Flow::default(),
            beside: String::new(),
            hidden_styles: HashSet::new(),
            open: Vec::new(),
            texts: 0,
            is_inner: false,
            has_pages: false,
            pictures: Vec::new(),
            given: 0,
            last: None,
        }
    }

    /// Reads a whole part.
    pub(super) fn read(&mut self, xml: &mut Xml<'_>, sink: &mut dyn Sink) -> Result<()> {
        while self.step(xml, sink)? {}
        Ok(())
    }

    /// Reads the element that began last.
    pub(super) fn read_inside(&mut self, xml: &mut Xml<'_>, sink: &mut dyn Sink) -> Result<()> {
        let outside = xml.depth().saturating_sub(1);
        while xml.depth() > outside && self.step(xml, sink)? {}
        Ok(())
    }

    /// Reads a document inside the document: its text follows that of the outer one.
    pub(super) fn read_aside(&mut self, xml: &mut Xml<'_>) {
        let mut inner = Self { is_inner: true, ..Self::new() };
        while let Some(then) = inner.walk(xml) {
            debug_assert!(matches!(then, Then::GoOn), "an inner document gives no pages");
        }
        self.add_beside(&inner.flow.finish());
    }

    /// Notes which tables are hidden.
    pub(super) fn note_styles(&mut self, xml: &mut Xml<'_>) {
        let outside = xml.depth().saturating_sub(1);
        let mut style = String::new();
        while xml.depth() > outside {
            match xml.next() {
                Node::Open(tag) => match tag.name() {
                    "style" => style = tag.get("name").unwrap_or_default(),
                    "table-properties" | "properties" => {
                        let hides = tag.get("display").is_some_and(|display| display == "false");
                        if hides && self.hidden_styles.len() < MAX_STYLES {
                            self.hidden_styles.insert(style.clone());
                        }
                    }
                    _ => {}
                },
                Node::End => break,
                _ => {}
            }
        }
    }

    /// Headers and footers of a whole part with styles.
    pub(super) fn read_styles(&mut self, xml: &mut Xml<'_>) {
        loop {
            match xml.next() {
                Node::Open(tag) if tag.name() == "master-styles" => self.read_styles_inside(xml),
                Node::End => return,
                _ => {}
            }
        }
    }

    /// Headers and footers inside the element that began last.
    pub(super) fn read_styles_inside(&mut self, xml: &mut Xml<'_>) {
        let outside = xml.depth().saturating_sub(1);
        while xml.depth() > outside {
            let is_header = match xml.next() {
                Node::Open(tag) => {
                    let name = tag.full_name();
                    let is_placeholder = tag.get("placeholder").is_some_and(|is| is == "true");
                    name.starts_with("style:header")
                        || name.starts_with("style:footer")
                        // What stands on every slide.
                        || (matches!(name, "draw:frame" | "draw:custom-shape") && !is_placeholder)
                }
                Node::End => return,
                _ => false,
            };
            if is_header {
                let within = xml.depth().saturating_sub(1);
                let mut inner = Self { is_inner: true, ..Self::new() };
                while xml.depth() > within && inner.walk(xml).is_some() {}
                // Fields that nobody has filled in are written like this; lines of nothing else say nothing.
                let text = inner.flow.finish().replace("???", "");
                let lines = text.lines().filter(|line| line.contains(char::is_alphanumeric));
                self.add_beside(&lines.collect::<Vec<_>>().join("\n"));
            }
        }
    }

    fn add_beside(&mut self, text: &str) {
        let text = text.trim_matches('\n');
        if !text.trim().is_empty() && self.beside.len() < MAX_PAGE_BYTES && !self.beside.contains(text) {
            self.beside.push_str(text);
            self.beside.push('\n');
        }
    }

    fn step(&mut self, xml: &mut Xml<'_>, sink: &mut dyn Sink) -> Result<bool> {
        match self.walk(xml) {
            Some(Then::Page(reason)) => self.give(sink, reason)?,
            Some(Then::GoOn) => {
                if !self.has_pages && self.flow.bytes() > PART_BYTES && self.flow.is_at_line_end() {
                    self.give(sink, "text of the document")?;
                }
            }
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Takes one step; `None` at the end.
    fn walk(&mut self, xml: &mut Xml<'_>) -> Option<Then> {
        let depth = xml.depth();
        match xml.next() {
            Node::Open(tag) => match self.begin(&tag, depth + 1) {
                Inside::Walk => {}
                Inside::Skip => xml.skip(),
                Inside::Styles => self.note_styles(xml),
                Inside::Value(value) => {
                    self.flow.text(&value);
                    xml.skip();
                    self.end(depth + 1);
                }
            },
            Node::Close(_) => {
                let then = self.end(depth);
                return Some(then);
            }
            Node::Text(text) => {
                if self.texts > 0 {
                    let text = collapsed(text, &self.flow);
                    self.flow.text(&text);
                }
            }
            Node::End => return None,
        }
        Some(Then::GoOn)
    }

    fn begin(&mut self, tag: &Tag<'_>, depth: u32) -> Inside {
        let open = match tag.name() {
            "automatic-styles" => return Inside::Styles,
            "p" if tag.full_name() == "text:p" => Open::Paragraph,
            "h" if tag.full_name() == "text:h" => {
                self.flow.gap();
                Open::Heading
            }
            "s" => {
                let count = tag.get("c").and_then(|c| c.parse::<usize>().ok()).unwrap_or(1);
                self.flow.text(&" ".repeat(count.min(100)));
                return Inside::Walk;
            }
            "tab" | "tab-stop" => {
                self.flow.text("\t");
                return Inside::Walk;
            }
            "line-break" => {
                self.flow.line_break();
                return Inside::Walk;
            }
            "list-item" | "list-header" => {
                self.flow.label("-".into());
                return Inside::Walk;
            }
            "title" | "desc" if tag.full_name().starts_with("svg:") => Open::Aside { is_text: true },
            "text-box" | "custom-shape" => Open::Aside { is_text: false },
            "note" | "footnote" | "endnote" => self.begin_note("note:"),
            "annotation" if tag.full_name() == "office:annotation" => self.begin_note("comment:"),
            "annotation" => return Inside::Skip,
            "creator" | "date" | "date-string" if self.open.iter().any(|(_, o)| matches!(o, Open::Note)) => {
                return Inside::Skip;
            }
            "spreadsheet" => Open::Spreadsheet,
            "table" if tag.full_name() == "table:table" => self.begin_table(tag),
            "table-row" => {
                Open::Row { repeats: repeats(tag, "number-rows-repeated"), from: self.flow.bytes() }
            }
            "table-cell" | "covered-table-cell" => {
                let (from, value) = (self.flow.bytes(), value(tag));
                let repeats = repeats(tag, "number-columns-repeated");
                self.open.push((depth, Open::Cell { repeats, from, value }));
                // The value says more exactly than the text what day it is.
                let is_date = tag.get("value-type").is_some_and(|kind| kind == "date");
                return tag.get("date-value").filter(|_| is_date).map_or(Inside::Walk, Inside::Value);
            }
            "page" if tag.full_name() == "draw:page" && !self.is_inner => {
                self.has_pages = true;
                Open::Page
            }
            "notes" if tag.full_name() == "presentation:notes" => Open::SpeakerNotes,
            "image" if tag.full_name() == "draw:image" => {
                if let Some(part) = tag.get("href").filter(|_| self.pictures.len() < MAX_PICTURES) {
                    let part = part.trim_start_matches("./").to_owned();
                    self.pictures.push((self.given + 1, part));
                }
                return Inside::Walk;
            }
            "math" => {
                self.flow.space();
                Open::Math
            }
            name if PASSED_OVER.contains(&name) => return Inside::Skip,
            _ => return Inside::Walk,
        };
        match open {
            Open::Paragraph | Open::Heading | Open::Math => self.texts += 1,
            Open::Aside { is_text } => {
                self.flow.begin_aside();
                self.texts += u32::from(is_text);
            }
            Open::SpeakerNotes => self.flow.begin_aside(),
            _ => {}
        }
        self.open.push((depth, open));
        Inside::Walk
    }

    fn begin_note(&mut self, word: &str) -> Open {
        self.flow.begin_aside();
        self.flow.label(word.into());
        Open::Note
    }

    fn begin_table(&mut self, tag: &Tag<'_>) -> Open {
        let is_sheet = !self.is_inner && matches!(self.open.last(), Some((_, Open::Spreadsheet)));
        if is_sheet {
            self.has_pages = true;
            self.flow.text(&tag.get("name").unwrap_or_default());
            if tag.get("style-name").is_some_and(|style| self.hidden_styles.contains(&style)) {
                self.flow.text(" (hidden sheet)");
            }
            self.flow.end_line();
        }
        self.flow.begin_table();
        Open::Table { is_sheet }
    }

    /// What was open at `depth` ends.
    fn end(&mut self, depth: u32) -> Then {
        if self.open.last().is_none_or(|(opened, _)| *opened != depth) {
            return Then::GoOn;
        }
        let Some((_, open)) = self.open.pop() else { return Then::GoOn };
        match open {
            Open::Paragraph => {
                self.texts -= 1;
                self.flow.end_line();
            }
            Open::Heading => {
                self.texts -= 1;
                // In a cell there is no gap, but words of two paragraphs stand apart all the same.
                self.flow.end_line();
                self.flow.gap();
            }
            Open::Math => {
                self.texts -= 1;
                self.flow.space();
            }
            Open::Aside { is_text } => {
                self.texts -= u32::from(is_text);
                let text = self.flow.end_aside();
                self.flow.follow(&text);
            }
            Open::Note => {
                let text = self.flow.end_aside();
                self.add_beside(&text);
            }
            Open::SpeakerNotes => {
                let text = self.flow.end_aside();
                if !text.trim().is_empty() {
                    self.add_beside(&format!("Notes:\n{text}"));
                }
            }
            Open::Cell { repeats, from, value } => {
                // Programs that write cells for programs leave out how they look.
                if let Some(value) = value.filter(|_| self.flow.cell_text(from).trim().is_empty()) {
                    self.flow.text(&value);
                }
                self.flow.end_cells(repeats, from);
            }
            Open::Row { repeats, from } => self.flow.end_rows(repeats, from),
            Open::Table { is_sheet } => {
                self.flow.end_table();
                if is_sheet {
                    return Then::Page("cells of the sheet");
                }
            }
            Open::Page => return Then::Page("text of the slide and its notes"),
            Open::Spreadsheet => {}
        }
        Then::GoOn
    }

    /// Gives what has come together as a page; of sheets and slides, the one before.
    fn give(&mut self, sink: &mut dyn Sink, reason: &'static str) -> Result<()> {
        self.given += 1;
        if !self.has_pages {
            return sink.page(native_page(self.given, reason, self.flow.take()));
        }
        let mut text = self.flow.finish();
        append(&mut text, &std::mem::take(&mut self.beside));
        match self.last.replace((reason, text)) {
            Some((reason, text)) => sink.page(native_page(self.given - 1, reason, text)),
            None => Ok(()),
        }
    }

    /// Gives the rest.
    pub(super) fn finish(
        mut self,
        troubles: &mut Troubles,
        sink: &mut dyn Sink,
    ) -> Result<Vec<(u32, String)>> {
        troubles.cut(&self.flow);
        let is_open = self.last.is_some();
        let (reason, mut text) = self.last.take().unwrap_or(("text of the document", String::new()));
        text.push_str(&self.flow.finish());
        append(&mut text, &self.beside);
        if is_open || self.given == 0 || !text.trim().is_empty() {
            self.given += u32::from(!is_open);
            sink.page(native_page(self.given, reason, text))?;
        }
        sink.put(Found::PageCount(self.given))?;
        // What stands after the last page belongs to it.
        for (page, _) in &mut self.pictures {
            *page = (*page).min(self.given);
        }
        Ok(self.pictures)
    }
}

/// What follows a step.
enum Then {
    GoOn,
    /// A page is complete.
    Page(&'static str),
}

/// What to do with the inside of an element.
enum Inside {
    Walk,
    Skip,
    Styles,
    /// Write this instead.
    Value(String),
}

/// The value of a cell of a spreadsheet.
fn value(tag: &Tag<'_>) -> Option<String> {
    let kind = tag.get("value-type")?;
    match kind.as_str() {
        "string" => tag.get("string-value"),
        "boolean" => tag.get("boolean-value").map(|value| value.to_uppercase()),
        "time" => tag.get("time-value"),
        "percentage" => {
            let part: f64 = tag.get("value")?.parse().ok()?;
            Some(format!("{}%", plain(part * 100.0)))
        }
        _ => tag.get("value"),
    }
}

/// Adds what follows a page behind an empty line.
fn append(text: &mut String, beside: &str) {
    if !beside.is_empty() {
        text.push_str(if text.is_empty() { "" } else { "\n" });
        text.push_str(beside);
    }
}

fn repeats(tag: &Tag<'_>, attribute: &str) -> u32 {
    tag.get(attribute).and_then(|count| count.parse().ok()).unwrap_or(1).clamp(1, MAX_REPEATS)
}

/// White space in a paragraph counts once, wherever it came from.
fn collapsed(text: &str, flow: &Flow) -> String {
    let mut out = String::with_capacity(text.len());
    let mut after_space = flow.ends_with_space();
    for c in text.chars() {
        if matches!(c, ' ' | '\n' | '\t' | '\r') {
            if !after_space {
                out.push(' ');
            }
            after_space = true;
        } else {
            out.push(c);
            after_space = false;
        }
    }
    out
}
