use std::io::{Cursor, Write};

use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;

use crate::tests_support::{EVERYTHING, fixture, read_bytes, read_fixture, try_read};

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

#[test]
fn old_document_is_in_the_code_page_of_its_language() {
    for (language, expected) in [(0x0419_u16, "Привет\n"), (0x0409, "Ïðèâåò\n")] {
        let text = b"\xcf\xf0\xe8\xe2\xe5\xf2\r";
        let mut main = vec![0; 0x200];
        let mut put = |at: usize, bytes: &[u8]| main[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &0xa5dc_u16.to_le_bytes());
        put(2, &104_u16.to_le_bytes());
        put(6, &language.to_le_bytes());
        put(0x18, &0x200_u32.to_le_bytes());
        put(0x34, &(text.len() as u32).to_le_bytes());
        main.extend(text);
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        file.create_stream("/WordDocument").unwrap().write_all(&main).unwrap();
        file.flush().unwrap();
        assert_eq!(read_bytes("a.doc", &file.into_inner().into_inner()).text(), expected);
    }
}
