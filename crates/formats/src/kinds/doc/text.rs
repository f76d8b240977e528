//! Characters to text: marks become line ends and cells, codes of fields are left out, stories are told apart.

use std::collections::HashMap;

use super::header::Header;
use super::pieces::Part;
use super::rows::Paragraph;
use crate::shared::flow::Flow;

/// The story of macros, which is none.
const MACROS: usize = 3;

/// Collects the text of all stories.
pub(super) struct Text {
    pub(super) flow: Flow,
    paragraphs: HashMap<u32, Paragraph>,
    /// Where each story ends, in characters.
    ends: [u64; 8],
    at: u64,
    story: usize,
    /// Fields that are open, and of which the code is being passed over.
    fields: Vec<bool>,
    in_table: bool,
    /// The cell mark before this one was the last thing seen.
    after_cell: bool,
}

impl Text {
    pub(super) fn new(header: &Header, paragraphs: HashMap<u32, Paragraph>) -> Self {
        let mut ends = [0; 8];
        let mut sum = 0;
        for (end, count) in ends.iter_mut().zip(header.stories) {
            sum += u64::from(count);
            *end = sum;
        }
        Self {
            flow: Flow::default(),
            paragraphs,
            ends,
            at: 0,
            story: 0,
            fields: Vec::new(),
            in_table: false,
            after_cell: false,
        }
    }

    pub(super) fn add(&mut self, part: &Part) {
        for &(character, after) in &part.characters {
            while self.story < 7 && self.at >= self.ends[self.story] {
                self.story += 1;
                self.leave_table();
                self.fields.clear();
                self.flow.gap();
            }
            // Positions count units of UTF-16.
            self.at += character.len_utf16() as u64;
            if self.story != MACROS && self.at <= self.ends[7] {
                self.character(character, after);
            }
        }
    }

    fn character(&mut self, character: char, after: u32) {
        const MAX_FIELDS: usize = 64;
        match character {
            '\u{13}' if self.fields.len() < MAX_FIELDS => return self.fields.push(true),
            '\u{14}' => {
                if let Some(field) = self.fields.last_mut() {
                    *field = false;
                }
                return;
            }
            '\u{15}' => {
                self.fields.pop();
                return;
            }
            _ => {}
        }
        if self.fields.iter().any(|in_code| *in_code) {
            return;
        }
        let after_cell = std::mem::take(&mut self.after_cell);
        match character {
            '\r' | '\u{c}' | '\u{e}' => {
                if self.in_table && character == '\r' && !self.is_in_table(after) {
                    self.leave_table();
                } else if self.in_table {
                    self.flow.space();
                } else {
                    self.flow.end_line();
                }
            }
            '\u{7}' => self.cell(after, after_cell),
            '\t' => self.flow.text("\t"),
            '\u{b}' => self.flow.line_break(),
            '\u{1e}' => self.flow.text("-"),
            '\u{1f}' | '\u{ad}' => {}
            c if c.is_control() || ('\u{f000}'..='\u{f0ff}').contains(&c) => {}
            c => self.flow.text(c.encode_utf8(&mut [0; 4])),
        }
    }

    /// A cell ends, or a row.
    fn cell(&mut self, after: u32, after_cell: bool) {
        let ends_row = match self.paragraphs.get(&after) {
            Some(paragraph) => paragraph.ends_row,
            // Without properties, a mark right after another ends the row.
            None => after_cell,
        };
        if !self.in_table {
            // The first cell of the table has been taken for a line.
            self.in_table = true;
            self.flow.begin_table_at_line();
        }
        if ends_row {
            self.flow.end_row();
        } else {
            self.flow.end_cell(1);
            self.after_cell = true;
        }
    }

    /// Whether the paragraph that ends here is one of a cell. Without properties, one where a row would begin is not.
    fn is_in_table(&self, after: u32) -> bool {
        match self.paragraphs.get(&after) {
            Some(paragraph) => paragraph.is_in_table,
            None => self.paragraphs.is_empty() && !self.flow.row_is_empty(),
        }
    }

    fn leave_table(&mut self) {
        if std::mem::take(&mut self.in_table) {
            self.flow.end_table();
        }
    }
}
