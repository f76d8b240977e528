//! Text as it flows out of an Office document: lines, cells of tables, and what stands aside of the text.
//!
//! Cells of a row are separated by tabs, rows by line ends; whatever would break a line inside a cell becomes a space.
//! A text box or a note stands in the middle of a paragraph: it is kept aside and follows that paragraph.

use crate::sink::MAX_PAGE_BYTES;

/// More empty cells in a row than this say nothing more.
const MAX_TABS: u32 = 64;

/// Collects text.
#[derive(Default)]
pub(crate) struct Flow {
    text: String,
    /// Lines that wait for the end of the paragraph at hand.
    waiting: Vec<String>,
    /// Outer texts while something aside is collected.
    outer: Vec<Outer>,
    /// Tables around the text at hand.
    tables: u32,
    /// Cells since the last text of the row.
    tabs: u32,
    row_begun: bool,
    /// The column that [`Self::text_in_column`] wrote last.
    column: u32,
    /// What separates the next text from the one before, inside a cell.
    space: bool,
    /// A list's sign for the line that comes.
    label: String,
    /// Whether text has been taken away already: then the beginning of `text` is not that of the document.
    begun: bool,
    /// Text was left out because nothing could be taken away for too long.
    cut: bool,
}

struct Outer {
    text: String,
    waiting: Vec<String>,
    tables: u32,
    tabs: u32,
    row_begun: bool,
    space: bool,
    label: String,
    begun: bool,
}

impl Flow {
    /// Text within a line. Line ends in it are kept, outside of tables.
    pub(crate) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.text.len() > MAX_PAGE_BYTES {
            self.cut = true;
            return;
        }
        self.before_text();
        if self.tables == 0 {
            self.text.push_str(text);
        } else if text.contains(['\n', '\r', '\t']) {
            self.text.push_str(&text.replace(['\n', '\r', '\t'], " "));
        } else {
            self.text.push_str(text);
        }
    }

    fn before_text(&mut self) {
        if self.tabs > 0 {
            for _ in 0..self.tabs.min(MAX_TABS) {
                self.text.push('\t');
            }
            self.tabs = 0;
            self.space = false;
        }
        if std::mem::take(&mut self.space) && self.row_begun {
            self.text.push(' ');
        }
        if self.tables > 0 {
            self.row_begun = true;
        }
        if !self.label.is_empty() {
            let label = std::mem::take(&mut self.label);
            self.text.push_str(&label);
            self.text.push(' ');
        }
    }

    /// The sign or number of a list that the coming line begins with, if it has text.
    pub(crate) fn label(&mut self, label: String) {
        self.label = label;
    }

    /// A line end inside a paragraph.
    pub(crate) fn line_break(&mut self) {
        if self.tables > 0 {
            self.space = true;
        } else {
            self.text.push('\n');
        }
    }

    /// A space, unless there is one.
    pub(crate) fn space(&mut self) {
        if self.tables > 0 {
            self.space = true;
        } else if !self.text.is_empty() && !self.text.ends_with([' ', '\n', '\t']) {
            self.text.push(' ');
        }
    }

    /// The paragraph at hand ends.
    pub(crate) fn end_line(&mut self) {
        self.label.clear();
        if self.tables > 0 {
            self.space = true;
            return;
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        for line in std::mem::take(&mut self.waiting) {
            self.text.push_str(&line);
            if !line.ends_with('\n') {
                self.text.push('\n');
            }
        }
    }

    /// An empty line before what comes, unless it is the first.
    pub(crate) fn gap(&mut self) {
        if self.tables > 0 {
            return;
        }
        self.end_line();
        let is_first = self.text.is_empty() && !self.begun;
        if !is_first && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A table begins, maybe inside a cell of another.
    pub(crate) fn begin_table(&mut self) {
        if self.tables == 0 {
            self.end_line();
        }
        self.tables += 1;
    }

    /// A table begins whose first cell is the text of the line at hand.
    pub(crate) fn begin_table_at_line(&mut self) {
        self.tables += 1;
        self.row_begun = !self.text.is_empty() && !self.text.ends_with('\n');
    }

    /// Whether the row at hand has no text and no cells yet.
    pub(crate) fn row_is_empty(&self) -> bool {
        !self.row_begun && self.tabs == 0
    }

    /// It ends.
    pub(crate) fn end_table(&mut self) {
        self.tables = self.tables.saturating_sub(1);
        if self.tables == 0 {
            self.end_row_line();
        }
    }

    /// A cell ends. `columns` are as many as it spans.
    pub(crate) fn end_cell(&mut self, columns: u32) {
        match self.tables {
            0 => {}
            1 => {
                self.tabs = self.tabs.saturating_add(columns.max(1));
                self.space = false;
            }
            _ => self.space = true,
        }
    }

    /// The text of the cell at hand, which began at `from`.
    pub(crate) fn cell_text(&self, from: usize) -> &str {
        self.text.get(from..).unwrap_or_default().trim_start_matches('\t')
    }

    /// A cell ends that stands for `repeats` of the same text, which began at `from`.
    pub(crate) fn end_cells(&mut self, repeats: u32, from: usize) {
        let text = self.cell_text(from).to_owned();
        if text.is_empty() || self.tables != 1 {
            return self.end_cell(repeats);
        }
        self.end_cell(1);
        for _ in 1..repeats {
            self.text(&text);
            self.end_cell(1);
        }
    }

    /// A row ends that stands for `repeats` of the same text, which began at `from`.
    pub(crate) fn end_rows(&mut self, repeats: u32, from: usize) {
        self.end_row();
        let text = self.text.get(from..).unwrap_or_default().to_owned();
        if self.tables != 1 || text.trim().is_empty() {
            return;
        }
        for _ in 1..repeats {
            if self.text.len() > MAX_PAGE_BYTES {
                self.cut = true;
                return;
            }
            self.text.push_str(&text);
        }
    }

    /// Whether white space before the next text would be one too many.
    pub(crate) fn ends_with_space(&self) -> bool {
        self.text.is_empty() || self.text.ends_with([' ', '\n', '\t']) || self.tabs > 0 || self.space
    }

    /// Text of a cell in this column, from 0; the columns before it that had none are left empty.
    pub(crate) fn text_in_column(&mut self, column: u32, text: &str) {
        if text.is_empty() {
            return;
        }
        self.tabs = column.saturating_sub(self.column);
        self.column = self.column.max(column);
        self.space = false;
        self.text(text);
    }

    /// A row ends; empty ones leave no trace.
    pub(crate) fn end_row(&mut self) {
        match self.tables {
            0 => self.end_line(),
            1 => self.end_row_line(),
            _ => self.space = true,
        }
    }

    fn end_row_line(&mut self) {
        let tables = std::mem::take(&mut self.tables);
        self.tabs = 0;
        self.column = 0;
        self.space = false;
        self.row_begun = false;
        self.end_line();
        self.tables = tables;
    }

    /// What comes stands aside, until [`Self::end_aside`].
    pub(crate) fn begin_aside(&mut self) {
        self.outer.push(Outer {
            text: std::mem::take(&mut self.text),
            waiting: std::mem::take(&mut self.waiting),
            tables: std::mem::take(&mut self.tables),
            tabs: std::mem::take(&mut self.tabs),
            row_begun: std::mem::take(&mut self.row_begun),
            space: std::mem::take(&mut self.space),
            label: std::mem::take(&mut self.label),
            begun: std::mem::take(&mut self.begun),
        });
    }

    /// Goes back to what it stood aside of, and gives what was collected.
    pub(crate) fn end_aside(&mut self) -> String {
        let Some(outer) = self.outer.pop() else { return String::new() };
        self.end_line();
        let aside = std::mem::replace(&mut self.text, outer.text);
        self.waiting = outer.waiting;
        self.tables = outer.tables;
        self.tabs = outer.tabs;
        self.row_begun = outer.row_begun;
        self.space = outer.space;
        self.label = outer.label;
        self.begun = outer.begun;
        aside
    }

    /// Makes `text` follow the paragraph at hand. Inside a table it is text of the cell.
    pub(crate) fn follow(&mut self, text: &str) {
        let text = text.trim_matches(['\n', ' ']);
        if text.is_empty() {
            return;
        }
        if self.tables > 0 {
            self.space = true;
            self.text(text);
            self.space = true;
        } else if self.text.is_empty() || self.text.ends_with('\n') {
            // No paragraph is open.
            self.text(text);
            self.end_line();
        } else {
            self.waiting.push(text.to_owned());
        }
    }

    /// Whether what comes stands aside.
    pub(crate) fn is_aside(&self) -> bool {
        !self.outer.is_empty()
    }

    /// How much there is.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Whether text may be taken away now: nothing stands aside, and a line has ended.
    pub(crate) fn is_at_line_end(&self) -> bool {
        let between_rows = self.tables == 1 && !self.row_begun && self.tabs == 0;
        self.outer.is_empty()
            && self.waiting.is_empty()
            && (self.tables == 0 || between_rows)
            && self.text.ends_with('\n')
    }

    /// Whether text was left out: a row, a box or a note longer than any page.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Everything so far.
    pub(crate) fn take(&mut self) -> String {
        self.begun |= !self.text.is_empty();
        std::mem::take(&mut self.text)
    }

    /// Everything, with what still waits.
    pub(crate) fn finish(&mut self) -> String {
        while !self.outer.is_empty() {
            let aside = self.end_aside();
            self.follow(&aside);
        }
        self.end_row_line();
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_apart_by_tabs_and_stay_on_their_line() {
        let mut flow = Flow::default();
        flow.text("before");
        flow.begin_table();
        for (row, cells) in [["a", "b"], ["", "d"]].iter().enumerate() {
            for cell in cells {
                flow.text(cell);
                flow.end_line();
                if row == 0 {
                    flow.text("more");
                    flow.end_line();
                }
                flow.end_cell(1);
            }
            flow.end_row();
        }
        flow.end_table();
        flow.text("after");
        assert_eq!(flow.finish(), "before\na more\tb more\n\td\nafter\n");
    }

    #[test]
    fn table_inside_a_cell_is_text_of_that_cell() {
        let mut flow = Flow::default();
        flow.begin_table();
        flow.text("a");
        flow.end_line();
        flow.begin_table();
        for cell in ["1", "2"] {
            flow.text(cell);
            flow.end_cell(1);
        }
        flow.end_row();
        flow.end_table();
        flow.end_cell(1);
        flow.text("b");
        flow.end_cell(1);
        flow.end_row();
        flow.end_table();
        assert_eq!(flow.finish(), "a 1 2\tb\n");
    }

    #[test]
    fn box_in_a_paragraph_follows_it() {
        let mut flow = Flow::default();
        flow.text("one ");
        flow.begin_aside();
        flow.text("box");
        flow.end_line();
        let aside = flow.end_aside();
        flow.follow(&aside);
        flow.text("two");
        flow.end_line();
        flow.text("three");
        assert_eq!(flow.finish(), "one two\nbox\nthree\n");
    }

    #[test]
    fn gap_stands_between_but_never_first_or_twice() {
        let mut flow = Flow::default();
        flow.gap();
        flow.text("a");
        flow.gap();
        flow.gap();
        flow.text("b");
        assert_eq!(flow.finish(), "a\n\nb\n");
    }
}
