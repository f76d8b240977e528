use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;

use crate::tests_support::{
    EVERYTHING, fixture, members, read_bytes, read_fixture, stored_package_of, try_read,
};

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
fn cells_without_a_look_are_read_by_their_values_and_paragraphs_in_cells_stay_apart() {
    let content = br#"<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body><office:spreadsheet>
        <table:table table:name="S"><table:table-row>
        <table:table-cell office:value-type="float" office:value="42.5"/>
        <table:table-cell office:value-type="string" office:string-value="word"/>
        <table:table-cell office:value-type="percentage" office:value="0.25"/>
        <table:table-cell office:value-type="boolean" office:boolean-value="true"/>
        <table:table-cell office:value-type="float" office:value="1"><text:p>one</text:p></table:table-cell>
        <table:table-cell><text:h>Head</text:h><text:p>line</text:p></table:table-cell>
        </table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"#;
    let parts: [(&str, &[u8]); 2] =
        [("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", content)];
    let found = read_bytes("a.ods", &stored_package_of(&parts));
    assert_eq!(found.text(), "S\n42.5\tword\t25%\tTRUE\tone\tHead line\n");
}

#[test]
fn headers_and_what_stands_on_every_slide_make_no_page_of_their_own() {
    let header = "<style:header><text:p><text:sheet-name>???</text:sheet-name></text:p></style:header>\
        <style:footer><text:p>Page <text:page-number>1</text:page-number> of ACME</text:p></style:footer>";
    let master = r#"<draw:frame presentation:placeholder="true"><draw:text-box><text:p>Click</text:p></draw:text-box></draw:frame>
        <draw:frame><draw:text-box><text:p>Confidential</text:p></draw:text-box></draw:frame>"#;
    let sheet = |name| format!("<table:table table:name='{name}'><table:table-row/></table:table>");
    let sheets = format!("<office:spreadsheet>{}{}</office:spreadsheet>", sheet("A"), sheet("B"));
    let slide = "<office:presentation><draw:page><draw:frame><draw:text-box><text:p>Hello</text:p></draw:text-box>\
        </draw:frame></draw:page></office:presentation>";
    let cases = [
        ("spreadsheet", header, sheets.as_str(), vec!["A\n", "B\n\nPage of ACME\n"]),
        ("presentation", master, slide, vec!["Hello\n\nConfidential\n"]),
    ];
    for (kind, styles, body, expected) in cases {
        let kind = format!("application/vnd.oasis.opendocument.{kind}");
        let styles = format!(
            "<office:document-styles><office:master-styles><style:master-page>{styles}</style:master-page>\
             </office:master-styles></office:document-styles>"
        );
        let content =
            format!("<office:document-content><office:body>{body}</office:body></office:document-content>");
        let parts: [(&str, &[u8]); 3] = [
            ("mimetype", kind.as_bytes()),
            ("content.xml", content.as_bytes()),
            ("styles.xml", styles.as_bytes()),
        ];
        let found = read_bytes("a", &stored_package_of(&parts));
        let texts: Vec<&str> = found.pages().iter().map(|page| page.text.as_str()).collect();
        assert_eq!(texts, expected, "{kind}");
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
