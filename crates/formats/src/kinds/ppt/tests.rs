use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;

use crate::input::Input;
use crate::shared::compound;
use crate::tests_support::{EVERYTHING, compound_of, fixture, members, read_bytes, read_fixture, try_read};

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

#[test]
fn of_two_versions_the_newer_one_is_read_and_the_older_alone_is_refused() {
    const OLD: &[u8] = &[3, 0, 0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff];
    let mut input = Input::from_bytes(fixture("ppt/slides.ppt"));
    let mut file = compound::open(&mut input).unwrap();
    let mut stream = |name| compound::stream(&mut file, name, 1 << 20).unwrap().unwrap().0;
    let (user, slides) = (stream("/Current User"), stream("/PowerPoint Document"));
    let dual = compound_of(&[
        ("/PowerPoint Document", OLD),
        ("/PP97_DUALSTORAGE/Current User", &user),
        ("/PP97_DUALSTORAGE/PowerPoint Document", &slides),
    ]);
    assert_eq!(read_bytes("a.ppt", &dual).pages()[1].text, "Größe\nzweite Zeile\n");
    let old = compound_of(&[("/PowerPoint Document", OLD)]);
    let (_, result) = try_read("a.ppt", &old, EVERYTHING, &Limits::default().for_reader());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::UnsupportedFormat);
}
