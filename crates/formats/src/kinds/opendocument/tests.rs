use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;

use crate::tests_support::{EVERYTHING, fixture, members, read_fixture, try_read};

#[test]
fn text_gives_notes_comments_boxes_and_headers() {
    let found = read_fixture("opendocument/letter.odt");
    assert_eq!(
        found.text(),
        "Grüße\n\nTwo spaces  and\ta tab\nnext\n- one\n- two\na\tb\nText goes on.\nIn the box\n\n\
         note: Its proof.\ncomment: Really?\nPage header\n"
    );
    for (key, value) in [
        ("title", "A letter"),
        ("author", "Ada Lovelace"),
        ("creation_date", "2024-01-31T10:00:00"),
        ("page_count", "2"),
        ("word_count", "40"),
    ] {
        assert_eq!(found.value(key), Some(value), "{key}");
    }
    assert_eq!(members(&found), [("note.txt".to_owned(), Ok(b"An embedded note.\n".to_vec()))]);
}

#[test]
fn sheets_and_slides_are_pages() {
    let cases = [
        (
            "opendocument/book.ods",
            ["Figures\nDay\tx\tx\n2024-01-31\t5\n", "Secret (hidden sheet)\nhidden\nhidden\n"],
        ),
        ("opendocument/slides.odp", ["First slide\n\nNotes:\nSay hello\n", "Second slide\nwith two boxes\n"]),
    ];
    for (file, expected) in cases {
        let found = read_fixture(file);
        let texts: Vec<&str> = found.pages().iter().map(|page| page.text.as_str()).collect();
        assert_eq!(texts, expected, "{file}");
    }
}

#[test]
fn flat_file_is_read_like_a_packed_one() {
    let found = read_fixture("opendocument/flat.fodt");
    assert_eq!(found.text(), "In one file\n");
    assert_eq!(found.value("title"), Some("Flat"));
}

#[test]
fn encrypted_document_says_so() {
    let file = "opendocument/encrypted.odt";
    let (_, result) = try_read(file, &fixture(file), EVERYTHING, &Limits::default().for_reader());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Encrypted);
}
