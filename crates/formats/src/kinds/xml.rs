//! XML of any kind: the text of its elements, a line for each, without the markup.
//!
//! Nothing but the text is known of it, so lines follow the elements: where one ends and another begins, a line ends; where
//! an element stands inside of text, nothing does. A document whose elements hold no text (everything is in
//! attributes) is shown as it stands.

use std::io::BufReader;

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use super::text::read_plain;
use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::document::{Troubles, hand_on};
use crate::shared::flow::Flow;
use crate::shared::pager::Pager;
use crate::shared::xml::{Node, Xml as Markup};
use crate::sink::Sink;
use crate::sniff::Head;

const XML: &str = "application/xml";
const SVG: &str = "image/svg+xml";

/// What a drawing holds besides its words.
const PASSED_OVER: &[&str] = &["script", "style", "binary", "Thumbnail"];

pub(super) struct Xml;

impl Format for Xml {
    fn name(&self) -> &'static str {
        "xml"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &[XML, SVG]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        let text = head.text.as_ref()?.trim_start();
        if text.starts_with("<?xml") || text.starts_with("<svg") || text.starts_with("<!DOCTYPE svg") {
            let start = &text[..text.floor_char_boundary(4096)];
            return Some(Claim::likely(if start.contains("<svg") { SVG } else { XML }));
        }
        (head.extension == "xml" && text.starts_with('<')).then_some(Claim::likely(XML))
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        let mut troubles = Troubles::default();
        input.go_to(0)?;
        let mut found =
            Found { want, title: None, pager: Pager::new(sink, "text of the elements"), any: false };
        let result = {
            let mut markup = Markup::new(BufReader::with_capacity(64 << 10, &mut *input), "document", limits);
            found.walk(&mut markup)?;
            markup.finish()
        };
        let (any, title) = (found.any, found.title.take());
        let pager = found.pager;
        if !any {
            return read_plain(input, want, limits, sink, "markup without text of its own, as it stands");
        }
        if want.text {
            pager.finish()?;
        }
        if want.metadata {
            sink.meta("title", title.as_deref().unwrap_or_default())?;
        }
        troubles.note(result)?;
        troubles.tell(sink)
    }
}

struct Found<'a> {
    want: Want,
    title: Option<String>,
    pager: Pager<'a>,
    any: bool,
}

impl Found<'_> {
    fn walk(&mut self, markup: &mut Markup<'_>) -> Result<()> {
        let mut flow = Flow::default();
        let mut before = Before::Tag;
        loop {
            match markup.next() {
                Node::Open(tag) => {
                    if PASSED_OVER.contains(&tag.name()) {
                        markup.skip();
                        continue;
                    }
                    let is_title = tag.name() == "title" && self.title.is_none();
                    if before != Before::Text {
                        flow.end_line();
                    }
                    before = Before::Tag;
                    if is_title {
                        let title = markup.text_inside();
                        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
                        flow.text(&title);
                        self.any |= !title.is_empty();
                        self.title = Some(title);
                        before = Before::End;
                    }
                }
                Node::Close(_) => before = Before::End,
                Node::Text(text) => {
                    if text.trim().is_empty() {
                        if before == Before::Text || !text.contains('\n') {
                            flow.space();
                        } else if before == Before::End {
                            flow.end_line();
                        }
                        continue;
                    }
                    self.any = true;
                    write(text, &mut flow);
                    before = Before::Text;
                    if self.want.text {
                        hand_on(&mut flow, &mut self.pager)?;
                    }
                }
                Node::End => break,
            }
            if self.want.text && flow.is_at_line_end() {
                hand_on(&mut flow, &mut self.pager)?;
            }
        }
        self.pager.push(&flow.finish())
    }
}

/// What stands before what comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Tag,
    End,
    Text,
}

/// Writes text with its white space counted once.
fn write(text: &str, flow: &mut Flow) {
    if text.starts_with(char::is_whitespace) {
        flow.space();
    }
    for (i, word) in text.split_whitespace().enumerate() {
        if i > 0 {
            flow.text(" ");
        }
        flow.text(word);
    }
    if text.ends_with(char::is_whitespace) {
        flow.space();
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::error::ErrorKind;

    use crate::tests_support::{read_bytes, read_fixture};

    #[test]
    fn lines_follow_elements_and_text_is_not_torn() {
        let cases = [
            ("<a><b>1</b><c>2</c></a>", "1\n2\n"),
            ("<a>\n  <b>1</b>\n  <c>2</c>\n</a>", "1\n2\n"),
            ("<p>H<sub>2</sub>O is <b>wet</b> here</p>", "H2O is wet here\n"),
            ("<p>a &amp; b<![CDATA[ <c>]]></p>", "a & b <c>\n"),
            ("<a><title>One  title</title><b>x</b></a>", "One title\nx\n"),
        ];
        for (markup, expected) in cases {
            assert_eq!(read_bytes("a.xml", markup.as_bytes()).text(), expected, "{markup}");
        }
    }

    #[test]
    fn markup_without_text_is_shown_as_it_stands() {
        let found = read_bytes("a.xml", b"<?xml version='1.0'?><a b='c'/>");
        assert!(found.text().contains("b='c'"), "{}", found.text());
    }

    #[test]
    fn entities_are_not_expanded_and_nesting_is_limited() {
        let found = read_fixture("xml/entities.xml");
        assert_eq!(found.text(), "before &lol3; after\n");
        let found = read_bytes("a.xml", format!("<?xml version='1.0'?>{}x", "<a>y".repeat(5000)).as_bytes());
        assert_eq!(found.warnings()[0].kind, ErrorKind::LimitExceeded);
        assert!(found.text().starts_with('y'));
    }

    #[test]
    fn fixture_gives_title_and_text() {
        let found = read_fixture("xml/order.xml");
        assert_eq!(found.value("title"), Some("Order 4711"));
        assert_eq!(found.text(), "Order 4711\nAda Lovelace\n2024-01-31\nWidget\n3\nGröße M\n");
    }
}
