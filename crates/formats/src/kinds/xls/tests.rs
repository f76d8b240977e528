use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;

use crate::tests_support::{EVERYTHING, fixture, read_fixture, try_read};

const FIGURES: &str = "Figures\nTag\t\tGröße\n2024-01-31\t12.34\n5\t6\n\ttext\nTRUE\t#DIV/0!\nTitle\nin it\n";

#[test]
fn sheets_are_pages_that_begin_with_their_name() {
    let found = read_fixture("xls/book.xls");
    let texts: Vec<&str> = found.pages().iter().map(|page| page.text.as_str()).collect();
    assert_eq!(texts, [FIGURES, "Secret (hidden sheet)\nhidden\n"]);
    assert_eq!(found.value("title"), Some("A book"));
    assert!(found.warnings().is_empty(), "{:?}", found.warnings());
}

#[test]
fn workbook_that_is_cut_off_keeps_what_came_before() {
    let found = read_fixture("xls/cut.xls");
    assert_eq!(found.pages()[0].text, FIGURES);
    assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
}

#[test]
fn workbook_that_opens_for_everybody_is_read() {
    let texts: Vec<String> =
        read_fixture("xls/protected.xls").pages().iter().map(|page| page.text.clone()).collect();
    let plain: Vec<String> =
        read_fixture("xls/book.xls").pages().iter().map(|page| page.text.clone()).collect();
    assert_eq!(texts, plain);
}

#[test]
fn encrypted_workbook_says_so() {
    let file = "xls/encrypted.xls";
    let (_, result) = try_read(file, &fixture(file), EVERYTHING, &Limits::default().for_reader());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Encrypted);
}
