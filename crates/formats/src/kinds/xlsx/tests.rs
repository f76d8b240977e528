use docmill_core::limits::Limits;
use docmill_core::wire::ReadLimits;

use crate::tests_support::{EVERYTHING, fixture, package_of, read_bytes, read_fixture, try_read};

#[test]
fn sheets_are_pages_that_begin_with_their_name() {
    let found = read_fixture("xlsx/book.xlsx");
    let texts: Vec<&str> = found.pages().iter().map(|page| page.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "Figures\nDay\tAmount\n2024-01-31\t0.3\t\t25%\nTRUE\t#DIV/0!\ttwo lines\nConfidential\n\
             comment on B3 by Grace: Check this\n",
            "Secret (hidden sheet)\nhidden\n",
        ]
    );
    assert_eq!(found.value("title"), Some("A book"));
    assert_eq!(found.value("sheet_count"), Some("2"));
    assert!(found.warnings().is_empty(), "{:?}", found.warnings());
}

#[test]
fn sheet_with_two_far_cells_costs_two_lines() {
    let found = read_fixture("xlsx/sparse.xlsx");
    assert_eq!(found.text().lines().count(), 3);
    assert!(found.text().len() < 200);
}

#[test]
fn sheets_beyond_the_limit_stop_the_reading_with_a_warning() {
    let limits = ReadLimits { max_pages: 1, ..Limits::default().for_reader() };
    let (found, result) = try_read("a.xlsx", &fixture("xlsx/book.xlsx"), EVERYTHING, &limits);
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(found.pages().len(), 1);
    assert!(found.warnings()[0].message.contains("limits.max_pages"));
}

#[test]
fn damaged_shared_texts_cost_their_cells_only() {
    let parts: [(&str, &[u8]); 5] = [
        ("[Content_Types].xml", b"<Types/>"),
        ("xl/workbook.xml", b"<workbook/>"),
        (
            "xl/_rels/workbook.xml.rels",
            b"<Relationships><Relationship Id='1' Type='x/sharedStrings' Target='s.xml'/></Relationships>",
        ),
        ("xl/s.xml", b"<sst><si><t>kept</t></si><si><t>cut"),
        (
            "xl/worksheets/sheet1.xml",
            b"<worksheet><row><c t='s'><v>0</v></c><c t='s'><v>1</v></c><c><v>3</v></c></row></worksheet>",
        ),
    ];
    let (found, result) =
        try_read("a.xlsx", &package_of(&parts), EVERYTHING, &Limits::default().for_reader());
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(found.text(), "sheet1\nkept\t\t3\n");
    assert_eq!(found.warnings().len(), 1);
}

/// A workbook of one sheet with these rows, and these further parts.
fn book(rows: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    let sheet = format!("<worksheet>{rows}</worksheet>");
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", b"<Types/>"),
        ("xl/workbook.xml", b"<workbook/>"),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ];
    parts.extend(more);
    package_of(&parts)
}

#[test]
fn formula_that_nobody_has_computed_is_shown_and_a_computed_one_is_not() {
    let rows = "<row><c><f>SUM(A1:A3)</f></c><c><f>1+1</f><v>2</v></c><c t='str'><f>T(\"\")</f><v></v></c>\
        <c><f t='shared' si='0'/></c><c><v>5</v></c></row>";
    assert_eq!(read_bytes("a.xlsx", &book(rows, &[])).text(), "sheet1\n=SUM(A1:A3)\t2\t\t\t5\n");
}

#[test]
fn thread_of_comments_is_told_once() {
    let relations = b"<Relationships><Relationship Id='1' Type='x/comments' Target='../c.xml'/>\
        <Relationship Id='2' Type='x/threadedComment' Target='../t.xml'/></Relationships>";
    let old = b"<comments><authors><author>tc={1}</author><author>Ada</author></authors><commentList>\
        <comment ref='A1' authorId='0'><text><t>[Threaded comment] Really?</t></text></comment>\
        <comment ref='A2' authorId='1'><text><t>A note</t></text></comment></commentList></comments>";
    let new = b"<ThreadedComments><threadedComment ref='A1'><text>Really?</text></threadedComment></ThreadedComments>";
    let more: [(&str, &[u8]); 3] =
        [("xl/worksheets/_rels/sheet1.xml.rels", relations), ("xl/c.xml", old), ("xl/t.xml", new)];
    let found = read_bytes("a.xlsx", &book("<row><c><v>1</v></c></row>", &more));
    assert_eq!(found.text(), "sheet1\n1\ncomment on A2 by Ada: A note\ncomment on A1: Really?\n");
}
