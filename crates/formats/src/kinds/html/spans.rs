//! Cells of a table that stand for several: their text is written in each place, so that every row and every column
//! reads by itself.

use std::collections::BTreeMap;

/// Longer texts are not written again.
const MAX_BYTES: usize = 1024;

/// As many columns and rows a cell may stand for.
const MAX_COLUMNS: usize = 64;
const MAX_ROWS: usize = 1000;

/// Places in the row at hand. Tables inside of cells are text of those cells.
#[derive(Default)]
pub(super) struct Spans {
    tables: u32,
    column: usize,
    /// Where the text of the row began, and whether any text came before it.
    row: Option<(usize, bool)>,
    /// The row has a cell that is not continued below.
    has_height: bool,
    open: Option<Cell>,
    /// By column: for how many rows more, and what.
    down: BTreeMap<usize, (usize, String)>,
}

struct Cell {
    columns: usize,
    rows: usize,
    from: usize,
}

impl Spans {
    pub(super) fn begin_table(&mut self) {
        self.tables += 1;
        if self.tables == 1 {
            (self.column, self.open) = (0, None);
            self.down.clear();
        }
    }

    pub(super) fn end_table(&mut self) {
        self.tables = self.tables.saturating_sub(1);
    }

    /// A row begins whose text will stand from byte `from` on.
    pub(super) fn begin_row(&mut self, from: usize, begun: bool) {
        if self.tables <= 1 {
            (self.column, self.row, self.has_height) = (0, Some((from, begun)), false);
        }
    }

    /// Where a row began all of whose cells go on below: it is no line of its own, its cells stand in those after it.
    pub(super) fn row_without_height(&mut self) -> Option<(usize, bool)> {
        let is_line = self.tables > 1 || self.has_height || self.column == 0;
        self.row.take().filter(|_| !is_line)
    }

    /// A cell begins whose text will stand from byte `from` on.
    pub(super) fn begin_cell(&mut self, columns: usize, rows: usize, from: usize) {
        if self.tables == 1 {
            let (columns, rows) = (columns.clamp(1, MAX_COLUMNS), rows.clamp(1, MAX_ROWS));
            self.open = Some(Cell { columns, rows, from });
        }
    }

    /// The cell at hand ends: its text, if it is to be written again, and for how many columns it stands.
    pub(super) fn end_cell(&mut self, text: &str) -> Option<(String, usize)> {
        if self.tables > 1 {
            return None;
        }
        let cell = self.open.take()?;
        let written = text.get(cell.from..).unwrap_or_default();
        let written = written.trim_matches(['\t', '\n', ' ']);
        let is_line = written.len() <= MAX_BYTES && !written.contains('\n');
        let written = if is_line { written.to_owned() } else { String::new() };
        self.has_height |= cell.rows == 1 || cell.from == usize::MAX || written.is_empty();
        if cell.rows > 1 {
            for column in self.column..self.column + cell.columns {
                self.down.insert(column, (cell.rows - 1, written.clone()));
            }
        }
        self.column += cell.columns;
        (cell.columns > 1).then_some((written, cell.columns))
    }

    /// The text that reaches down to the column at hand; with `all`, to any after it.
    pub(super) fn reaching_down(&mut self, all: bool) -> Option<String> {
        if self.tables > 1 {
            return None;
        }
        let column = if all { *self.down.range(self.column..).next()?.0 } else { self.column };
        let (rows, text) = self.down.get_mut(&column)?;
        *rows -= 1;
        // What reaches down from further above makes no row by itself.
        let (is_over, text) = (*rows == 0, text.clone());
        if is_over {
            self.down.remove(&column);
        }
        self.column = column + 1;
        Some(text)
    }

    /// Text was taken away: where the cell at hand began is not known any more.
    pub(super) fn text_is_taken(&mut self) {
        self.row = None;
        if let Some(cell) = &mut self.open {
            cell.from = usize::MAX;
        }
    }
}
