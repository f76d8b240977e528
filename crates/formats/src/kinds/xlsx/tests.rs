use docmill_core::limits::Limits;
use docmill_core::wire::ReadLimits;

use crate::tests_support::{EVERYTHING, fixture, package_of, read_fixture, try_read};

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
