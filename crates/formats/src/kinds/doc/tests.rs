use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;

use crate::tests_support::{EVERYTHING, compound_of, fixture, read_bytes, read_fixture, try_read};

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
        let file = compound_of(&[("/WordDocument", &main)]);
        assert_eq!(read_bytes("a.doc", &file).text(), expected);
    }
}

/// Text as the Far East versions have it: two bytes a character, in a set of two bytes.
fn double(label: &str, text: &str) -> Vec<u8> {
    let set = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
    let unit = |c: char| match set.encode(c.encode_utf8(&mut [0; 4])).0.as_ref() {
        [high, low] => [*low, *high],
        // Quotes and the like of Windows are marked.
        _ if !c.is_ascii() => [encoding_rs::WINDOWS_1252.encode(&c.to_string()).0[0], 0x10],
        plain => [plain[0], 0],
    };
    text.chars().flat_map(unit).collect()
}

#[test]
fn old_document_of_the_far_east_has_characters_of_two_bytes() {
    for (magic, label, text) in [
        (0xa697_u16, "shift_jis", "報告書 May\r"),
        (0xa698, "euc-kr", "보고서 May\r"),
        (0xa699, "gbk", "委员会批准了年度预算，讨论经过长时间 May\r"),
        (0xa699, "big5", "委員會批准了年度預算，討論經過長時間 May\r"),
    ] {
        let text_bytes = double(label, text);
        let characters = (text_bytes.len() / 2) as u32;
        let mut main = vec![0; 0x200];
        let mut put = |at: usize, bytes: &[u8]| main[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &magic.to_le_bytes());
        put(2, &101_u16.to_le_bytes());
        put(6, &0x0409_u16.to_le_bytes());
        put(0x18, &0x200_u32.to_le_bytes());
        put(0x34, &characters.to_le_bytes());
        main.extend(&text_bytes);
        let in_one_run = compound_of(&[("/WordDocument", &main)]);
        let expected = text.replace('\r', "\n");
        assert_eq!(read_bytes("a.doc", &in_one_run).text(), expected, "{label}");
        // The last five characters first, then the others.
        let list_at = main.len() as u32;
        main[0x160..0x168].copy_from_slice(&[list_at.to_le_bytes(), 33_u32.to_le_bytes()].concat());
        main[10] = 4;
        main.extend([2, 28, 0, 0, 0]);
        for position in [0, 5, characters] {
            main.extend(u32::to_le_bytes(position));
        }
        for start in [0x200 + 2 * (characters - 5), 0x200] {
            main.extend([&[0, 0], &start.to_le_bytes()[..], &[0, 0]].concat());
        }
        let in_pieces = compound_of(&[("/WordDocument", &main)]);
        let (first, last) = expected.split_once(" May").unwrap();
        assert_eq!(
            read_bytes("a.doc", &in_pieces).text().trim(),
            format!("May{last}{first}").trim(),
            "{label}"
        );
    }
}
