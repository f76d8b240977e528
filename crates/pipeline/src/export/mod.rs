//! Records as files: CSV, JSON lines, XLSX. Whatever a document says, no spreadsheet takes it for a formula.

mod xlsx;

use std::collections::BTreeSet;

use docmill_core::record::RecordLine;
use docmill_core::text::shown;
use docmill_core::{Error, Result};
use serde_json::Value;

/// Records of one file at most: all of them are held in memory.
pub const MAX_RECORDS: usize = 200_000;

/// How records are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// With commas between values.
    Csv,
    /// An object a line.
    Jsonl,
    /// For spreadsheets.
    Xlsx,
}

impl Format {
    /// Every format.
    pub const ALL: &'static [Self] = &[Self::Csv, Self::Jsonl, Self::Xlsx];

    /// As typed, and as files end.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Xlsx => "xlsx",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// What such a file is.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Jsonl => "application/x-ndjson",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }
}

/// What stands before the fields of each record.
const HEAD: [&str; 7] = ["document_id", "name", "created_at", "state", "valid", "confidence", "version"];

/// Records as a file. Where there are none, `fields` are those that they would have: a table has its head all the same.
pub fn write(format: Format, lines: &[RecordLine], fields: &[String]) -> Result<Vec<u8>> {
    match format {
        Format::Jsonl => jsonl(lines),
        Format::Csv => Ok(csv(&table(lines, fields))),
        Format::Xlsx => {
            let rows = table(lines, fields);
            fit_cells(&rows)?;
            xlsx::write(&rows)
        }
    }
}

/// Refuses a value that a cell of a spreadsheet cannot hold: half of one would look like all of it.
fn fit_cells(rows: &[Vec<String>]) -> Result<()> {
    let Some((names, lines)) = rows.split_first() else { return Ok(()) };
    for row in lines {
        for (name, cell) in names.iter().zip(row) {
            // No text has more units than bytes.
            let units = if cell.len() > xlsx::MAX_CELL { cell.encode_utf16().count() } else { 0 };
            if units > xlsx::MAX_CELL {
                let document = row.first().map_or("", String::as_str);
                return Err(Error::limit_exceeded(format!(
                    "`{}` of document {document} has {units} characters, more than the {} of a cell of XLSX",
                    shown(name),
                    xlsx::MAX_CELL
                ))
                .with_hint("export the records as CSV or JSON lines, which have no such limit"));
            }
        }
    }
    Ok(())
}

fn jsonl(lines: &[RecordLine]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut out, line)
            .map_err(|e| Error::bug("cannot write a record as JSON").with_source(e))?;
        out.push(b'\n');
    }
    Ok(out)
}

/// A row of names, and a row for each record. Records of several versions of a schema have all fields of all of them.
fn table(lines: &[RecordLine], fields: &[String]) -> Vec<Vec<String>> {
    let fields: BTreeSet<&String> = match lines {
        [] => fields.iter().collect(),
        lines => lines.iter().flat_map(|line| line.data.keys()).collect(),
    };
    let names = HEAD.iter().map(|name| (*name).to_owned()).chain(fields.iter().map(|name| cell(name)));
    let mut rows = vec![names.collect::<Vec<String>>()];
    for line in lines {
        let head = [
            line.document_id.to_string(),
            cell(&line.name),
            line.created_at.to_string(),
            line.state.name().to_owned(),
            line.valid.to_string(),
            format!("{:.2}", line.confidence),
            line.version.to_string(),
        ];
        let values = fields.iter().map(|name| line.data.get(*name).map_or_else(String::new, value));
        rows.push(head.into_iter().chain(values).collect());
    }
    rows
}

/// One value of a record. The texts of a list stand one after the other; rows stay JSON.
fn value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => cell(text),
        Value::Array(all) if all.iter().all(Value::is_string) => {
            let texts: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
            cell(&texts.join("; "))
        }
        other => cell(&other.to_string()),
    }
}

/// A text that no spreadsheet takes for a formula. A number is none, whatever its sign is.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let number = || text.trim_start_matches(['-', '+']).chars().all(|c| c.is_ascii_digit() || c == '.');
    if formula && !number() { format!("'{text}") } else { text.to_owned() }
}

fn csv(rows: &[Vec<String>]) -> Vec<u8> {
    let mut out = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| {
                let quoted = cell.contains(['"', ',', '\n', '\r', ';']);
                if quoted { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
            })
            .collect();
        out.push_str(&cells.join(","));
        out.push_str("\r\n");
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use docmill_core::clock::Timestamp;
    use docmill_core::id::DocumentId;
    use docmill_core::record::RecordState;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn line(data: &Value) -> RecordLine {
        RecordLine {
            document_id: DocumentId(Uuid::from_u128(7)),
            name: "=a,\"b\".pdf".into(),
            created_at: Timestamp(0),
            schema: "invoice".into(),
            version: 1,
            state: RecordState::Passed,
            valid: true,
            confidence: 0.5,
            data: data.as_object().unwrap().clone(),
        }
    }

    #[test]
    fn cells_that_look_like_formulas_are_made_texts() {
        for (text, told) in [
            ("=1+1", "'=1+1"),
            ("+49 30 1", "'+49 30 1"),
            ("-cmd", "'-cmd"),
            ("@x", "'@x"),
            ("\t=1", "'\t=1"),
            ("-12.50", "-12.50"),
            ("12", "12"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(cell(text), told);
        }
    }

    #[test]
    fn csv_has_a_row_for_each_record_and_all_fields_of_all_of_them() {
        let lines = [line(&json!({ "total": "-1.00", "party": ["A", "B"] })), line(&json!({ "iban": "=X" }))];
        let written = String::from_utf8(write(Format::Csv, &lines, &[]).unwrap()).unwrap();
        let rows: Vec<&str> = written.split("\r\n").collect();
        assert!(rows[0].ends_with("version,iban,party,total"), "{}", rows[0]);
        assert!(
            rows[1].contains("\"'=a,\"\"b\"\".pdf\"") && rows[1].ends_with(",,\"A; B\",-1.00"),
            "{}",
            rows[1]
        );
        assert!(rows[2].ends_with(",'=X,,"), "{}", rows[2]);
    }

    #[test]
    fn table_without_records_has_the_head_that_they_would_have() {
        let fields = ["total".to_owned(), "iban".to_owned()];
        let written = String::from_utf8(write(Format::Csv, &[], &fields).unwrap()).unwrap();
        assert!(
            written.starts_with("document_id,name,") && written.ends_with(",version,iban,total\r\n"),
            "{written}"
        );
        assert_eq!(write(Format::Jsonl, &[], &fields).unwrap(), b"");
    }

    #[test]
    fn value_that_no_cell_holds_is_refused_and_not_cut() {
        // Each of these is two units of UTF-16.
        let fits = "🦀".repeat(xlsx::MAX_CELL / 2) + "x";
        let long = format!("{fits}🦀");
        let written = write(Format::Xlsx, &[line(&json!({ "note": fits }))], &[]).unwrap();
        assert!(String::from_utf8_lossy(&written).contains(&fits), "all of it");
        let lines = [line(&json!({ "note": long }))];
        let error = write(Format::Xlsx, &lines, &[]).unwrap_err();
        assert!(
            error.message().contains("`note` of document 00000000-0000-0000-0000-000000000007"),
            "{error}"
        );
        assert!(error.message().contains("32769") && error.hint().unwrap().contains("CSV"), "{error}");
        for format in [Format::Csv, Format::Jsonl] {
            assert!(String::from_utf8(write(format, &lines, &[]).unwrap()).unwrap().contains(&long));
        }
    }

    #[test]
    fn jsonl_has_an_object_for_each_record() {
        let written = write(Format::Jsonl, &[line(&json!({ "total": "1.00" }))], &[]).unwrap();
        let read: RecordLine = serde_json::from_slice(&written).unwrap();
        assert_eq!(read.data["total"], "1.00");
    }
}
