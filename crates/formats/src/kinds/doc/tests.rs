use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;

use crate::tests_support::{EVERYTHING, fixture, read_fixture, try_read};

#[test]
fn letter_gives_its_pieces_in_order_with_tables_and_notes() {
    let found = read_fixture("doc/letter.doc");
    assert_eq!(found.text(), "Grüße\nItem\tPrice\nTea\nAfter 1\nPlain “text”\n\n Its proof.\n");
    assert_eq!(found.value("title"), Some("A letter"));
    assert_eq!(found.value("creation_date"), Some("2024-01-31T10:00:00Z"));
}

#[test]
fn encrypted_document_says_so() {
    let file = "doc/encrypted.doc";
    let (_, result) = try_read(file, &fixture(file), EVERYTHING, &Limits::default().for_reader());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Encrypted);
}
