//! Cells of one sheet, and the comments on them.

use docmill_core::Result;

use super::book::Book;
use super::strings::unescaped;
use crate::shared::cells::{header_text, number};
use crate::shared::flow::Flow;
use crate::shared::xml::{Node, Xml};

/// Headers and footers of a sheet, by element.
const HEADERS: &[&str] =
    &["oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter"];

/// The cell at hand.
#[derive(Default)]
struct Cell {
    kind: String,
    format: usize,
    value: String,
    /// What it is computed from.
    formula: String,
}

pub(super) fn write(mut xml: Xml<'_>, book: &Book, flow: &mut Flow) -> Result<()> {
    let (mut cell, mut column, mut next) = (Cell::default(), 0, 0);
    let mut headers = Vec::new();
    flow.begin_table();
    loop {
        match xml.next() {
            Node::Open(tag) => match tag.name() {
                "row" => (column, next) = (0, 0),
                "c" => {
                    column = tag.get_exact("r").and_then(|r| column_of(&r)).unwrap_or(next);
                    next = column + 1;
                    cell.kind = tag.get_exact("t").unwrap_or_default();
                    cell.format = tag.get_exact("s").and_then(|s| s.parse().ok()).unwrap_or(0);
                    cell.value.clear();
                    cell.formula.clear();
                }
                "f" => cell.formula = xml.text_inside(),
                "v" | "t" => {
                    let text = xml.text_inside();
                    cell.value.push_str(&text);
                }
                "rPh" => xml.skip(),
                name if HEADERS.contains(&name) => {
                    let text = header_text(&xml.text_inside());
                    headers.push(text);
                }
                _ => {}
            },
            Node::Close("c") => {
                write_cell(&cell, book, flow, column);
                cell.value.clear();
                cell.formula.clear();
            }
            Node::Close("row") => flow.end_row(),
            Node::Close(_) | Node::Text(_) => {}
            Node::End => break,
        }
    }
    flow.end_table();
    for header in headers.iter().filter(|header| !header.is_empty()) {
        flow.text(header);
        flow.end_line();
    }
    xml.finish()
}

/// Where a cell stands, from its name: `C12` is in the third column.
fn column_of(name: &str) -> Option<u32> {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters.fold(0_u32, |sum, letter| {
        sum.saturating_mul(26).saturating_add(u32::from(letter.to_ascii_uppercase() - b'A') + 1)
    });
    number.checked_sub(1)
}

fn write_cell(cell: &Cell, book: &Book, flow: &mut Flow, column: u32) {
    let value = cell.value.trim();
    if value.is_empty() {
        // Programs that only write workbooks leave the computing to whoever opens them.
        if !cell.formula.trim().is_empty() && cell.kind.is_empty() {
            flow.text_in_column(column, &format!("={}", cell.formula.trim()));
        }
        return;
    }
    match cell.kind.as_str() {
        "s" => {
            let shared = value.parse().ok().and_then(|index| book.strings.get(index));
            flow.text_in_column(column, shared.unwrap_or_default());
        }
        "inlineStr" | "str" => flow.text_in_column(column, &unescaped(&cell.value)),
        "b" => flow.text_in_column(column, if value == "1" { "TRUE" } else { "FALSE" }),
        "e" | "d" => flow.text_in_column(column, value),
        _ => match value.parse::<f64>() {
            Ok(parsed) => {
                flow.text_in_column(column, &number(parsed, book.shown(cell.format), book.from_1904));
            }
            Err(_) => flow.text_in_column(column, value),
        },
    }
}

/// Writes comments. With `threads` those are left out that only repeat a thread, which comes in a part of its own.
pub(super) fn write_comments(mut xml: Xml<'_>, threads: bool, flow: &mut Flow) -> Result<()> {
    let mut authors: Vec<String> = Vec::new();
    let mut in_comment = false;
    loop {
        match xml.next() {
            Node::Open(tag) => match tag.name() {
                "author" => {
                    let author = xml.text_inside();
                    authors.push(author);
                }
                "comment" | "threadedComment" => {
                    in_comment = true;
                    let place = tag.get_exact("ref").unwrap_or_default();
                    let author = tag.get_exact("authorId").and_then(|id| id.parse::<usize>().ok());
                    let author = author.and_then(|at| authors.get(at)).map(|a| a.trim()).unwrap_or_default();
                    // The author of a threaded comment stands here as an identifier for programs.
                    let repeats = author.starts_with("tc={");
                    let by =
                        if author.is_empty() || repeats { String::new() } else { format!(" by {author}") };
                    if repeats && threads {
                        in_comment = false;
                        xml.skip();
                        continue;
                    }
                    flow.end_line();
                    flow.label(format!("comment on {place}{by}:"));
                }
                "t" if in_comment => {
                    let text = xml.text_inside();
                    flow.text(&text.replace('\n', " "));
                }
                "rPh" => xml.skip(),
                _ => {}
            },
            Node::Close("comment" | "threadedComment") => {
                in_comment = false;
                flow.end_line();
            }
            // The text of a threaded comment has no runs.
            Node::Text(text) if in_comment && !text.trim().is_empty() => flow.text(&text.replace('\n', " ")),
            Node::Close(_) | Node::Text(_) => {}
            Node::End => return xml.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::column_of;

    #[test]
    fn columns_are_counted_from_their_letters() {
        let cases = [
            ("A1", Some(0)),
            ("Z9", Some(25)),
            ("AA1", Some(26)),
            ("XFD1048576", Some(16_383)),
            ("12", None),
        ];
        for (name, expected) in cases {
            assert_eq!(column_of(name), expected, "{name}");
        }
    }
}
