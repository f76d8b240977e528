use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;

use crate::tests_support::{EVERYTHING, fixture, members, read_fixture, try_read};

#[test]
fn slides_are_pages_with_titles_boxes_and_notes() {
    let found = read_fixture("ppt/slides.ppt");
    let texts: Vec<&str> = found.pages().iter().map(|page| page.text.as_str()).collect();
    assert_eq!(texts, ["The title\nA box\n\nNotes:\nSay hello\n", "Größe\nzweite Zeile\n"]);
    assert_eq!(members(&found), [("note.txt".to_owned(), Ok(b"An embedded note.\n".to_vec()))]);
}

#[test]
fn lost_directory_costs_the_order_only() {
    let found = read_fixture("ppt/no-directory.ppt");
    let texts: Vec<&str> = found.pages().iter().map(|page| page.text.as_str()).collect();
    assert_eq!(texts, ["The title\n", "A box\n", "Größe\nzweite Zeile\n", "Say hello\n"]);
    assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
}

#[test]
fn encrypted_presentation_says_so() {
    let file = "ppt/encrypted.ppt";
    let (_, result) = try_read(file, &fixture(file), EVERYTHING, &Limits::default().for_reader());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Encrypted);
}
