//! Comma-separated values and their cousins: cells joined by tabs, rows by line ends.

use docmill_core::Result;
use docmill_core::wire::{ReadLimits, Want};

use super::text::read_plain;
use crate::format::{Claim, Format};
use crate::input::Input;
use crate::shared::charset::Charset;
use crate::shared::pager::Pager;
use crate::sink::Sink;
use crate::sniff::Head;

/// Larger tables are read as plain text, which says the same with other separators.
const MAX_BYTES: u64 = 64 << 20;

/// In order of preference where several fit equally.
const DELIMITERS: &[u8] = b",;\t|";

/// Rows that decide about the delimiter.
const ROWS_LOOKED_AT: usize = 50;

pub(super) struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn media_types(&self) -> &'static [&'static str] {
        &["text/csv", "text/tab-separated-values"]
    }

    fn sniff(&self, head: &Head<'_>) -> Option<Claim> {
        head.text.as_ref()?;
        match head.extension.as_str() {
            "csv" => Some(Claim::likely("text/csv")),
            "tsv" | "tab" => Some(Claim::likely("text/tab-separated-values")),
            _ => None,
        }
    }

    fn parse(&self, input: &mut Input, want: Want, limits: &ReadLimits, sink: &mut dyn Sink) -> Result<()> {
        if input.length() > MAX_BYTES {
            return read_plain(input, want, limits, sink, "large table read as plain text");
        }
        let charset = Charset::of_input(input, limits.max_text_bytes)?;
        let decoded = charset.decode(&input.whole(MAX_BYTES)?);
        let Some(table) = Table::parse(&decoded.text) else {
            return read_plain(input, want, limits, sink, "no table in it; plain text");
        };
        if want.metadata {
            sink.meta("charset", &charset.to_string())?;
            sink.meta("rows", &table.rows.to_string())?;
            sink.meta("columns", &table.columns.to_string())?;
        }
        if !want.text {
            return Ok(());
        }
        let delimiter =
            if table.delimiter == b'\t' { "tab".into() } else { char::from(table.delimiter).to_string() };
        let mut pager = Pager::new(sink, format!("table with delimiter {delimiter}, {charset}"));
        pager.replaced(decoded.replaced);
        pager.push(&table.text)?;
        pager.finish()
    }
}

/// A table as text.
struct Table {
    delimiter: u8,
    rows: u64,
    columns: usize,
    text: String,
}

impl Table {
    /// `None` if the text is no table, whatever the delimiter.
    fn parse(text: &str) -> Option<Self> {
        let delimiter = delimiter(text)?;
        let mut table = Self { delimiter, rows: 0, columns: 0, text: String::with_capacity(text.len()) };
        for record in reader(text, delimiter).into_records() {
            let record = record.ok()?;
            table.rows += 1;
            table.columns = table.columns.max(record.len());
            for (i, cell) in record.iter().enumerate() {
                if i > 0 {
                    table.text.push('\t');
                }
                // A cell may hold line ends and tabs; as such they would look like other cells.
                for (j, word) in cell.split(['\n', '\r', '\t']).filter(|w| !w.is_empty()).enumerate() {
                    if j > 0 {
                        table.text.push(' ');
                    }
                    table.text.push_str(word);
                }
            }
            table.text.push('\n');
        }
        (table.rows > 0).then_some(table)
    }
}

/// The delimiter that cuts most of the first rows into the same number of cells, if those are more than one; the comma for
/// a single column. Titles and remarks may stand above the table.
fn delimiter(text: &str) -> Option<u8> {
    let mut best = (0.0, b',');
    for &candidate in DELIMITERS {
        let mut widths = Vec::new();
        for record in reader(text, candidate).into_records().take(ROWS_LOOKED_AT) {
            widths.push(record.ok()?.len());
        }
        let count = |width: usize| widths.iter().filter(|&&w| w == width).count();
        let Some(usual) = widths.iter().copied().filter(|&w| w > 1).max_by_key(|&w| (count(w), w)) else {
            continue;
        };
        let even = count(usual) as f64 / widths.len() as f64;
        // Evenness counts most; among equals the one that cuts more.
        let score = even * 1000.0 + usual.min(999) as f64;
        if score > best.0 {
            best = (score, candidate);
        }
    }
    Some(best.1)
}

fn reader(text: &str, delimiter: u8) -> ::csv::Reader<&[u8]> {
    ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests_support::{read_bytes, read_fixture};

    #[test]
    fn delimiter_is_the_one_that_cuts_evenly() {
        let cases = [
            ("a,b,c\n1,2,3\n", b','),
            ("a;b;c\n1,5;2,5;3\n", b';'),
            ("a\tb\nx, y\tz\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("only\none\ncolumn\n", b','),
            ("Report for May, in euros\n\nname;net;gross\na;1,50;1,79\nb;2,50;2,98\n", b';'),
        ];
        for (text, expected) in cases {
            assert_eq!(delimiter(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn cells_with_delimiters_quotes_and_line_ends_stay_one_cell() {
        let found = read_fixture("csv/quoted.csv");
        assert_eq!(found.text(), "name\tnote\nAda, Countess\tsaid \"yes\"\nGrace\ttwo lines\n");
        assert_eq!((found.value("rows"), found.value("columns")), (Some("3"), Some("2")));
    }

    #[test]
    fn empty_table_is_read_as_plain_text() {
        let found = read_bytes("a.csv", b"\n\n");
        assert!(found.pages()[0].reason.contains("plain text"), "{:?}", found.0);
    }
}
