//! Tokens of markup to the text one would see.

use super::spans::Spans;
use std::cell::RefCell;
use std::mem;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};

/// Elements whose content nobody sees. `title` is kept aside instead.
const UNSEEN: &[&str] =
    &["script", "style", "template", "noembed", "noframes", "iframe", "object", "datalist"];

/// Elements that begin a new line.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "pre",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "title",
    "tr",
    "ul",
];

/// Among them those that stand apart by an empty line.
const PARAGRAPHS: &[&str] = &[
    "article",
    "blockquote",
    "dl",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
];

/// Facts from `meta` elements, by the name they have there.
const FACTS: &[(&str, &str)] = &[
    ("description", "description"),
    ("og:description", "description"),
    ("author", "author"),
    ("dc.creator", "author"),
    ("keywords", "keywords"),
    ("generator", "generator"),
];

/// Values longer than this are not facts.
const MAX_FACT_BYTES: usize = 16 << 10;

/// Collects visible text and facts.
#[derive(Default)]
pub(super) struct Visible(RefCell<State>);

#[derive(Default)]
struct State {
    text: String,
    about: Vec<(&'static str, String)>,
    title: String,
    /// The unseen element at hand and how many of its name are open.
    unseen: Option<(String, u32)>,
    in_title: bool,
    preformatted: u32,
    /// Lists that are open around the text.
    lists: u32,
    gap: Gap,
    /// Whether any text has come out yet; `text` is emptied between pieces.
    begun: bool,
    /// Cells in the row so far.
    cells: u32,
    /// Tabs to write before the next text: one for each cell since the last text of the row.
    tabs: u32,
    /// A cell has begun and is empty so far: what would separate blocks separates nothing yet.
    cell_is_fresh: bool,
    /// The row has text already.
    row_begun: bool,
    /// Cells that stand for several.
    spans: Spans,
}

/// What separates the text so far from the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

impl Visible {
    /// The text since the last call. Ends with a line end when it is the `last`.
    pub(super) fn take_text(&self, last: bool) -> String {
        let mut state = self.0.borrow_mut();
        state.spans.text_is_taken();
        let mut text = mem::take(&mut state.text);
        if last && state.begun {
            text.push('\n');
        }
        text
    }

    /// What the page says of itself.
    pub(super) fn about(&self) -> Vec<(&'static str, String)> {
        let mut state = self.0.borrow_mut();
        let title = collapse(&mem::take(&mut state.title));
        let mut about = mem::take(&mut state.about);
        about.insert(0, ("title", title));
        about
    }
}

impl TokenSink for Visible {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut state = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => return state.tag(&tag),
            Token::CharacterTokens(text) => state.characters(&text),
            Token::DoctypeToken(_)
            | Token::CommentToken(_)
            | Token::NullCharacterToken
            | Token::EOFToken
            | Token::ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }

    /// Reads `<![CDATA[…]]>` as text. In HTML proper it is a comment, but where it stands (XHTML, SVG) it is
    /// meant.
    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        true
    }
}

impl State {
    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let opens = tag.kind == TagKind::StartTag;
        if let Some((unseen, depth)) = &mut self.unseen {
            if unseen == name && !tag.self_closing {
                *depth = if opens { *depth + 1 } else { *depth - 1 };
                if *depth == 0 {
                    self.unseen = None;
                }
            }
            return raw_text(name, opens && !tag.self_closing);
        }
        if opens {
            self.start(name, tag);
        }
        // XHTML closes in one tag what has no content: the `<title/>` of a book's chapter must not take the chapter.
        if !opens || (tag.self_closing && !is_void(name)) {
            self.end(name);
        }
        raw_text(name, opens && !tag.self_closing)
    }

    fn start(&mut self, name: &str, tag: &Tag) {
        let hidden = attribute(tag, "hidden").is_some() && !is_void(name) && !may_lack_end(name);
        if (UNSEEN.contains(&name) || hidden) && !tag.self_closing {
            self.unseen = Some((name.to_owned(), 1));
            return;
        }
        match name {
            "title" if self.title.is_empty() => self.in_title = true,
            "meta" => self.fact(tag),
            "html" => {
                if let Some(language) = attribute(tag, "lang").or_else(|| attribute(tag, "xml:lang")) {
                    self.note("lang", language);
                }
            }
            "br" => self.line_break(),
            "img" | "area" => {
                if let Some(text) = attribute(tag, "alt") {
                    self.separate(Gap::Space);
                    self.characters(text);
                    self.separate(Gap::Space);
                }
            }
            "td" | "th" => {
                self.end_cell();
                self.fill(false);
                self.cell();
                let span =
                    |name| attribute(tag, name).and_then(|count| count.trim().parse().ok()).unwrap_or(1);
                self.spans.begin_cell(span("colspan"), span("rowspan"), self.text.len());
            }
            "tr" => {
                self.end_row();
                self.row();
                self.spans.begin_row(self.text.len(), self.begun);
            }
            "table" => {
                self.separate_block(name);
                self.spans.begin_table();
            }
            "pre" | "textarea" | "listing" | "xmp" => {
                self.separate_block(name);
                self.preformatted += 1;
            }
            "ul" | "ol" => {
                self.separate_block(name);
                self.lists += 1;
            }
            _ => self.separate_block(name),
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "title" => self.in_title = false,
            "td" | "th" => self.end_cell(),
            "tr" => {
                self.end_row();
                self.separate_block(name);
            }
            "table" => {
                self.end_row();
                self.spans.end_table();
                self.separate_block(name);
            }
            "ul" | "ol" => {
                self.lists = self.lists.saturating_sub(1);
                self.separate_block(name);
            }
            "pre" | "textarea" | "listing" | "xmp" => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.separate_block(name);
            }
            _ => self.separate_block(name),
        }
    }

    fn separate_block(&mut self, name: &str) {
        let inner_list = matches!(name, "ul" | "ol") && self.lists > 0;
        if PARAGRAPHS.contains(&name) && !inner_list {
            self.separate(Gap::Paragraph);
        } else if BLOCKS.contains(&name) {
            self.separate(Gap::Line);
        }
        if name == "table" {
            self.leave_row();
        }
    }

    fn separate(&mut self, gap: Gap) {
        if !self.cell_is_fresh {
            self.gap = self.gap.max(gap);
        }
    }

    /// A new line, whatever stood at the end of the row before.
    fn row(&mut self) {
        self.gap = if self.cells > 0 { Gap::Line } else { self.gap.max(Gap::Line) };
        self.leave_row();
    }

    fn leave_row(&mut self) {
        self.cells = 0;
        self.tabs = 0;
        self.cell_is_fresh = false;
        self.row_begun = false;
    }

    /// A tab, whatever stood at the end of the cell before.
    fn cell(&mut self) {
        if self.cells > 0 {
            self.tabs += 1;
            if self.row_begun {
                self.gap = Gap::None;
            }
        }
        self.cells += 1;
        self.cell_is_fresh = true;
    }

    /// Writes a cell again for every further column that it stands for.
    fn end_cell(&mut self) {
        if let Some((text, columns)) = self.spans.end_cell(&self.text) {
            for _ in 1..columns {
                self.again(&text);
            }
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        if let Some((from, begun)) = self.spans.row_without_height() {
            self.text.truncate(from);
            self.begun = begun;
            return;
        }
        self.fill(true);
    }

    /// Writes the cells that reach down from rows above: those at hand, or all to the `end` of the row.
    fn fill(&mut self, end: bool) {
        while let Some(text) = self.spans.reaching_down(end) {
            self.again(&text);
        }
    }

    fn again(&mut self, text: &str) {
        self.cell();
        if !text.is_empty() {
            self.write_gap();
            self.text.push_str(text);
        }
    }

    fn line_break(&mut self) {
        let second = self.gap >= Gap::Line && self.begun;
        self.separate(if second { Gap::Paragraph } else { Gap::Line });
    }

    fn characters(&mut self, text: &str) {
        if self.unseen.is_some() {
            return;
        }
        if self.in_title {
            if self.title.len() + text.len() <= MAX_FACT_BYTES {
                self.title.push_str(text);
            }
            return;
        }
        if self.preformatted > 0 {
            self.write_gap();
            self.text.push_str(text);
            return;
        }
        for (i, word) in text.split([' ', '\t', '\n', '\r', '\u{c}']).enumerate() {
            if i > 0 {
                self.separate(Gap::Space);
            }
            if !word.is_empty() {
                self.write_gap();
                self.text.push_str(word);
            }
        }
    }

    fn write_gap(&mut self) {
        let gap = mem::take(&mut self.gap);
        if mem::replace(&mut self.begun, true) {
            self.text.push_str(match gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        for _ in 0..mem::take(&mut self.tabs) {
            self.text.push('\t');
        }
        self.cell_is_fresh = false;
        self.row_begun = true;
    }

    fn fact(&mut self, tag: &Tag) {
        let Some(name) = attribute(tag, "name").or_else(|| attribute(tag, "property")) else { return };
        let name = name.to_ascii_lowercase();
        let known = FACTS.iter().find(|(known, _)| *known == name);
        if let (Some((_, key)), Some(content)) = (known, attribute(tag, "content")) {
            self.note(key, content);
        }
    }

    /// Keeps the first value of a key.
    fn note(&mut self, key: &'static str, value: &str) {
        let value = collapse(value);
        if value.len() <= MAX_FACT_BYTES && !self.about.iter().any(|(known, _)| *known == key) {
            self.about.push((key, value));
        }
    }
}

/// How the tokenizer must read what follows a start tag; a tree builder would tell it.
fn raw_text(name: &str, opens: bool) -> TokenSinkResult<()> {
    if !opens {
        return TokenSinkResult::Continue;
    }
    match name {
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

/// Elements without content, which can hide nothing.
fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Elements that need no end tag: who hides one would hide everything that comes after it. Hidden text that is shown is
/// the smaller harm.
fn may_lack_end(name: &str) -> bool {
    matches!(
        name,
        "html"
            | "head"
            | "body"
            | "p"
            | "li"
            | "dt"
            | "dd"
            | "option"
            | "optgroup"
            | "tr"
            | "td"
            | "th"
            | "thead"
            | "tbody"
            | "tfoot"
    )
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    tag.attrs.iter().find(|a| &*a.name.local == name).map(|a| &*a.value)
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
