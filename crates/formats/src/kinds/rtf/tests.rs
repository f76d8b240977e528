use docmill_core::error::ErrorKind;

use crate::tests_support::{members, read_bytes, read_fixture};

#[test]
fn letter_gives_text_notes_tables_and_headers() {
    let found = read_fixture("rtf/letter.rtf");
    assert_eq!(
        found.text(),
        "Grüße €5 Привет\nA claim.\nnote: Its proof.\na\tb\n\td\nAfter\n7 —\nbroken shown\n🙀 end\n\nPage header\n"
    );
    for (key, value) in [
        ("title", "A letter"),
        ("author", "Ada Lovelace"),
        ("creation_date", "2024-01-31T10:00:00"),
        ("page_count", "2"),
    ] {
        assert_eq!(found.value(key), Some(value), "{key}");
    }
    assert_eq!(members(&found), [("note.txt".to_owned(), Ok(b"An embedded note.\n".to_vec()))]);
}

#[test]
fn cut_and_deep_files_keep_what_came_before() {
    let found = read_fixture("rtf/cut.rtf");
    assert!(found.text().starts_with("Grüße €5"), "{}", found.text());
    assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
    let found = read_fixture("rtf/deep.rtf");
    assert_eq!(found.text(), "above\n");
    assert_eq!(found.warnings()[0].kind, ErrorKind::LimitExceeded);
}

#[test]
fn text_made_from_html_loses_its_markup() {
    let rtf = br"{\rtf1\ansi\fromhtml1{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 Hello{\*\htmltag84 <b>}\htmlrtf \b\htmlrtf0  world}\par}";
    assert_eq!(read_bytes("a.rtf", rtf).text(), "Hello world\n");
}

#[test]
fn binary_data_is_passed_over() {
    assert_eq!(read_bytes("a.rtf", b"{\\rtf1 a{\\pict\\bin4 }}}}}b\\par c}").text(), "ab\nc\n");
}

#[test]
fn boxes_of_old_programs_are_read_once() {
    let old = r"{\*\do\dobxpage{\dptxbxtext In the box\par}\dpx0}";
    let both = format!(r"{{\shp{{\*\shpinst{{\sp{{\sn x}}}}{{\shptxt In the box\par}}}}{{\shprslt{old}}}}}");
    for shape in [old.to_owned(), both] {
        let rtf = format!(r"{{\rtf1 Beside {shape}it.\par}}");
        assert_eq!(read_bytes("a.rtf", rtf.as_bytes()).text(), "Beside it.\nIn the box\n", "{shape}");
    }
}

#[test]
fn plain_text_is_in_the_character_set_of_the_default_font() {
    let rtf = b"{\\rtf1\\ansi\\ansicpg1252\\deff1{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}}\\pard\\plain \\'cf\\'f0\\f0 \\'e4\\plain\\'e8\\par}";
    assert_eq!(read_bytes("a.rtf", rtf).text(), "Прäи\n");
}
