//! Cells of a table that stand for several: their text is written in each place, so that every row and every column
//! reads by itself.

use std::collections::HashMap;

use crate::shared::flow::Flow;
use crate::shared::xml::{Node, Xml};

/// Longer texts are not written again.
const MAX_BYTES: usize = 1024;

/// As many columns a cell may stand for; Word allows 63.
const MAX_COLUMNS: u32 = 64;

/// The tables around the text at hand.
#[derive(Default)]
pub(super) struct Tables(Vec<Table>);

#[derive(Default)]
struct Table {
    column: u32,
    from: usize,
    columns: u32,
    merge: Merge,
    /// By column, what reaches down.
    down: HashMap<u32, String>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Merge {
    #[default]
    None,
    Begins,
    GoesOn,
}

impl Tables {
    pub(super) fn begin(&mut self) {
        self.0.push(Table::default());
    }

    pub(super) fn end(&mut self) {
        self.0.pop();
    }

    pub(super) fn begin_cell(&mut self, flow: &Flow) {
        if let Some(table) = self.0.last_mut() {
            (table.from, table.columns, table.merge) = (flow.bytes(), 1, Merge::None);
        }
    }

    /// Reads the properties of the cell that began last.
    pub(super) fn cell_properties(&mut self, xml: &mut Xml<'_>) {
        let outside = xml.depth().saturating_sub(1);
        while xml.depth() > outside {
            match xml.next() {
                Node::Open(tag) => {
                    let Some(table) = self.0.last_mut() else { continue };
                    match tag.name() {
                        "gridSpan" => {
                            let columns = tag.get("val").and_then(|count| count.parse().ok()).unwrap_or(1);
                            table.columns = u32::clamp(columns, 1, MAX_COLUMNS);
                        }
                        "vMerge" => {
                            let begins = tag.get("val").is_some_and(|val| val == "restart");
                            table.merge = if begins { Merge::Begins } else { Merge::GoesOn };
                        }
                        _ => {}
                    }
                }
                Node::End => return,
                _ => {}
            }
        }
    }

    pub(super) fn end_cell(&mut self, flow: &mut Flow) {
        let Some(table) = self.0.last_mut() else { return };
        match table.merge {
            Merge::None => {
                table.down.remove(&table.column);
            }
            Merge::Begins => {
                let text = flow.cell_text(table.from);
                if text.len() <= MAX_BYTES {
                    table.down.insert(table.column, text.to_owned());
                }
            }
            Merge::GoesOn => {
                if flow.cell_text(table.from).is_empty()
                    && let Some(text) = table.down.get(&table.column)
                {
                    flow.text(text);
                }
            }
        }
        if flow.cell_text(table.from).len() <= MAX_BYTES {
            flow.end_cells(table.columns, table.from);
        } else {
            flow.end_cell(table.columns);
        }
        table.column += table.columns;
    }

    pub(super) fn end_row(&mut self) {
        if let Some(table) = self.0.last_mut() {
            table.column = 0;
        }
    }
}
