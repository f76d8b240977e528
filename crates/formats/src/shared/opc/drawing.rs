//! The words of a drawing: boxes over a sheet, or a diagram (SmartArt).

use docmill_core::Result;
use docmill_core::wire::ReadLimits;

use crate::shared::flow::Flow;
use crate::shared::package::Package;
use crate::shared::xml::{Node, Xml};

/// Writes what stands in part `name`, a line for each paragraph.
pub(crate) fn write(
    package: &mut Package<'_>,
    name: &str,
    limits: &ReadLimits,
    flow: &mut Flow,
) -> Result<()> {
    let Some(content) = package.part(name)? else { return Ok(()) };
    let mut xml = Xml::new(content, name, limits);
    // A node of a diagram is called `t` as its pieces of text are: only what stands right inside of one is text.
    let mut in_text = false;
    loop {
        match xml.next() {
            Node::Open(tag) => {
                in_text = tag.name() == "t";
                match tag.name() {
                    "br" => flow.line_break(),
                    "Fallback" => xml.skip(),
                    _ => {}
                }
            }
            Node::Close(closed) => {
                in_text = false;
                if closed == "p" {
                    flow.end_line();
                }
            }
            Node::Text(text) if in_text && !(text.contains('\n') && text.trim().is_empty()) => {
                flow.text(text);
            }
            Node::Text(_) => {}
            Node::End => break,
        }
    }
    flow.end_line();
    xml.finish()
}
