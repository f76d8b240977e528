//! A table as an XLSX file: one sheet of texts in a ZIP archive without compression. Texts are no formulas whatever they
//! begin with; amounts stay texts too, because a number of a spreadsheet is rounded. A text that does not fit into a cell is
//! never cut: whoever calls refuses it before.

use docmill_core::{Error, Result};

/// What spreadsheets take in one sheet.
const MAX_ROWS: usize = 1_048_576;
/// What they take in one cell, in units of UTF-16, in which they count.
pub(super) const MAX_CELL: usize = 32_767;

const TYPES: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"#;
const RELATIONS: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
const BOOK: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="records" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
const BOOK_RELATIONS: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;

pub(super) fn write(rows: &[Vec<String>]) -> Result<Vec<u8>> {
    if rows.len() > MAX_ROWS {
        return Err(Error::limit_exceeded(format!(
            "{} rows are more than the {MAX_ROWS} of a sheet",
            rows.len()
        ))
        .with_hint("export them as CSV, or fewer of them"));
    }
    let mut archive = Archive::default();
    archive.add("[Content_Types].xml", TYPES.as_bytes())?;
    archive.add("_rels/.rels", RELATIONS.as_bytes())?;
    archive.add("xl/workbook.xml", BOOK.as_bytes())?;
    archive.add("xl/_rels/workbook.xml.rels", BOOK_RELATIONS.as_bytes())?;
    archive.add("xl/worksheets/sheet1.xml", sheet(rows).as_bytes())?;
    archive.end()
}

fn sheet(rows: &[Vec<String>]) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<worksheet \
         xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>",
    );
    for row in rows {
        out.push_str("<row>");
        for cell in row {
            out.push_str("<c t=\"inlineStr\"><is><t xml:space=\"preserve\">");
            for c in cell.chars() {
                match c {
                    '&' => out.push_str("&amp;"),
                    '<' => out.push_str("&lt;"),
                    '>' => out.push_str("&gt;"),
                    // XML cannot hold the other control characters.
                    '\t' | '\n' => out.push(c),
                    c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
                    c => out.push(c),
                }
            }
            out.push_str("</t></is></c>");
        }
        out.push_str("</row>");
    }
    out.push_str("</sheetData></worksheet>");
    out
}

/// A ZIP archive whose members are not compressed.
#[derive(Default)]
struct Archive {
    body: Vec<u8>,
    directory: Vec<u8>,
    members: u16,
}

impl Archive {
    fn add(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let too_large = |_| Error::limit_exceeded("the table is larger than a file of this kind can be");
        let (size, at) = (
            u32::try_from(content.len()).map_err(too_large)?,
            u32::try_from(self.body.len()).map_err(too_large)?,
        );
        // Version 2.0, no flags, not compressed, the first of January 1980; then checksum and both sizes.
        let mut head = Vec::new();
        for field in [20_u16, 0, 0, 0, 0x21] {
            head.extend(field.to_le_bytes());
        }
        for field in [crc32fast::hash(content), size, size] {
            head.extend(field.to_le_bytes());
        }
        head.extend((name.len() as u16).to_le_bytes());
        head.extend(0_u16.to_le_bytes());
        self.body.extend(b"PK\x03\x04");
        self.body.extend(&head);
        self.body.extend(name.as_bytes());
        self.body.extend(content);
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(20_u16.to_le_bytes());
        self.directory.extend(&head);
        // No comment, first disk, no attributes; then where the member begins.
        self.directory.extend([0; 10]);
        self.directory.extend(at.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.members += 1;
        Ok(())
    }

    fn end(mut self) -> Result<Vec<u8>> {
        let too_large = |_| Error::limit_exceeded("the table is larger than a file of this kind can be");
        let at = u32::try_from(self.body.len()).map_err(too_large)?;
        let size = u32::try_from(self.directory.len()).map_err(too_large)?;
        self.body.append(&mut self.directory);
        self.body.extend(b"PK\x05\x06\0\0\0\0");
        self.body.extend(self.members.to_le_bytes());
        self.body.extend(self.members.to_le_bytes());
        self.body.extend(size.to_le_bytes());
        self.body.extend(at.to_le_bytes());
        self.body.extend(0_u16.to_le_bytes());
        Ok(self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_what_xml_cannot_hold_is_left_out() {
        let sheet = sheet(&[vec!["<a & b>\u{1}\tc".into()]]);
        assert!(sheet.contains(">&lt;a &amp; b&gt; \tc</t>"), "{sheet}");
    }

    #[test]
    fn archive_ends_with_a_directory_of_its_members() {
        let written = write(&[vec!["a".into()]]).unwrap();
        assert!(written.starts_with(b"PK\x03\x04"));
        let end = &written[written.len() - 22..];
        assert_eq!((&end[..4], end[8], end[10]), (&b"PK\x05\x06"[..], 5, 5));
        let at = u32::from_le_bytes(end[16..20].try_into().unwrap()) as usize;
        assert_eq!(&written[at..at + 4], b"PK\x01\x02");
    }
}
