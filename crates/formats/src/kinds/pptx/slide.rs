//! The text of one slide, of its notes or of a diagram, and the comments on it.

use docmill_core::Result;

use crate::shared::document::Troubles;
use crate::shared::flow::Flow;
use crate::shared::xml::{Node, Xml};

/// Charts of one slide beyond this are passed over.
const MAX_CHARTS: usize = 100;

/// Places on a slide that hold no text of its own.
const EMPTY_PLACES: &[&str] = &["sldNum", "sldImg"];

/// What is written of a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A slide, its notes, a diagram: everything.
    Whole,
    /// What slides are made after: only what stands on each of them, without the places that they fill.
    Template,
}

/// Writes what stands on a slide and gives the relations of its charts.
pub(super) fn write(
    mut xml: Xml<'_>,
    part: Part,
    flow: &mut Flow,
    troubles: &mut Troubles,
) -> Result<Vec<String>> {
    let mut charts = Vec::new();
    let mut is_empty_place = false;
    loop {
        match xml.next() {
            Node::Open(tag) => match tag.name() {
                "sld" if tag.get("show").is_some_and(|show| show == "0" || show == "false") => {
                    flow.text("(hidden slide)");
                    flow.end_line();
                }
                "sp" => is_empty_place = false,
                "ph" => {
                    let kind = tag.get("type").unwrap_or_default();
                    is_empty_place = part == Part::Template || EMPTY_PLACES.contains(&kind.as_str());
                }
                "t" => {
                    let text = xml.text_inside();
                    if !is_empty_place {
                        flow.text(&text);
                    }
                }
                "br" => flow.line_break(),
                "tab" => flow.text("\t"),
                "tbl" => flow.begin_table(),
                "oMath" => flow.space(),
                "cNvPr" => {
                    if let Some(words) = tag.get("descr") {
                        flow.follow(&words);
                    }
                }
                "chart" if charts.len() < MAX_CHARTS => charts.extend(tag.get("id")),
                "Fallback" | "rPr" | "pPr" | "defRPr" | "lstStyle" => xml.skip(),
                _ => {}
            },
            Node::Close(name) => match name {
                "p" => flow.end_line(),
                "tc" => flow.end_cell(1),
                "tr" => flow.end_row(),
                "tbl" => flow.end_table(),
                "sp" => is_empty_place = false,
                _ => {}
            },
            Node::Text(_) => {}
            Node::End => break,
        }
    }
    flow.end_line();
    troubles.note(xml.finish())?;
    Ok(charts)
}

/// Comments, of both kinds that PowerPoint has known.
pub(super) fn write_comments(mut xml: Xml<'_>, flow: &mut Flow) -> Result<()> {
    loop {
        match xml.next() {
            Node::Open(tag) => match tag.name() {
                "cm" | "reply" => {
                    flow.end_line();
                    let when = tag.get("dt").or_else(|| tag.get("created"));
                    flow.label(when.map_or_else(|| "comment:".into(), |when| format!("comment ({when}):")));
                }
                "text" | "t" => {
                    let text = xml.text_inside();
                    flow.text(&text);
                }
                _ => {}
            },
            Node::Close("cm" | "p" | "reply") => flow.end_line(),
            Node::Close(_) | Node::Text(_) => {}
            Node::End => return xml.finish(),
        }
    }
}
