use docmill_core::error::ErrorKind;
use docmill_core::limits::Limits;
use docmill_core::wire::ReadLimits;

use crate::tests_support::{EVERYTHING, fixture, members, package_of, read_bytes, read_fixture, try_read};

const LETTER: &str = "Grüße & more\n\n1. First\n1.a) Inner\n2. Second\nItem\tPrice\tPrice\nTea\tnet\t3\nTea\tgross\t4\n\
                      Text beside a box, goes on.\nIn the box\nA claim[2].\nnew\ttabbed\nbroken\n\n\
                      [2] Its proof.\n\nComments:\nGrace: Really?\n\nPage header\n";

#[test]
fn letter_gives_text_notes_comments_and_headers() {
    let found = read_fixture("docx/letter.docx");
    assert_eq!(found.text(), LETTER);
    for (key, value) in [
        ("title", "A letter"),
        ("author", "Ada Lovelace"),
        ("creation_date", "2024-01-31T10:00:00Z"),
        ("page_count", "2"),
        ("word_count", "40"),
    ] {
        assert_eq!(found.value(key), Some(value), "{key}");
    }
    assert!(found.warnings().is_empty(), "{:?}", found.warnings());
}

#[test]
fn embedded_files_come_out_of_their_wrapping() {
    let expected = [
        ("note.txt".to_owned(), Ok(b"An embedded note.\n".to_vec())),
        ("inner.txt".to_owned(), Ok(b"A second one.\n".to_vec())),
    ];
    assert_eq!(members(&read_fixture("docx/letter.docx")), expected);
}

#[test]
fn words_of_a_diagram_follow_the_text() {
    let relations = br#"<Relationships><Relationship Id="r1" Type="x/diagramData" Target="diagrams/data1.xml"/></Relationships>"#;
    let diagram = br#"<d:dataModel xmlns:d="d" xmlns:a="a"><d:pt><d:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></d:t></d:pt>
        <d:pt><d:t><a:p><a:r><a:t>Bu</a:t></a:r><a:r><a:t>ild</a:t></a:r></a:p></d:t></d:pt></d:dataModel>"#;
    let parts: [(&str, &[u8]); 4] = [
        ("[Content_Types].xml", b"<Types/>"),
        (
            "word/document.xml",
            b"<w:document><w:body><w:p><w:r><w:t>Steps</w:t></w:r></w:p></w:body></w:document>",
        ),
        ("word/_rels/document.xml.rels", relations),
        ("word/diagrams/data1.xml", diagram),
    ];
    assert_eq!(read_bytes("a.docx", &package_of(&parts)).text(), "Steps\n\nPlan\nBuild\n");
}

#[test]
fn file_without_its_directory_is_read_by_its_parts_headers() {
    let found = read_fixture("docx/truncated.docx");
    assert_eq!(found.text(), LETTER);
    assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
}

#[test]
fn parts_may_have_other_names() {
    assert_eq!(read_fixture("docx/other-part-names.docx").text(), "Found by its relation\n");
}

#[test]
fn nesting_beyond_the_limit_keeps_what_came_before() {
    let found = read_fixture("docx/deep.docx");
    assert_eq!(found.text(), "Above\n");
    assert_eq!(found.warnings()[0].kind, ErrorKind::LimitExceeded);
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let limits = Limits::default().for_reader();
    for (file, kind) in
        [("docx/no-main-part.docx", ErrorKind::Corrupt), ("docx/encrypted.docx", ErrorKind::Encrypted)]
    {
        let (_, result) = try_read(file, &fixture(file), EVERYTHING, &limits);
        assert_eq!(result.unwrap_err().kind(), kind, "{file}");
    }
}

/// A document whose text is a megabyte of the same words.
fn bomb() -> Vec<u8> {
    let paragraph = "<w:p><w:r><w:t>again and again</w:t></w:r></w:p>";
    let document = format!("<w:document><w:body>{}</w:body></w:document>", paragraph.repeat(20_000));
    package_of(&[("[Content_Types].xml", b"<Types/>"), ("word/document.xml", document.as_bytes())])
}

#[test]
fn part_that_expands_beyond_reason_is_a_bomb_and_keeps_what_came_before() {
    let limits = ReadLimits { max_ratio: 20, ratio_from_bytes: 100_000, ..Limits::default().for_reader() };
    let (found, result) = try_read("a.docx", &bomb(), EVERYTHING, &limits);
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BombSuspected);
    assert_eq!(error.hint(), Some("raise `limits.max_ratio`"));
    assert!(found.text().starts_with("again and again\n"));
    assert!(found.text().len() < 1_000_000);
}

#[test]
fn text_beyond_the_limit_is_cut_with_the_reason() {
    let limits = ReadLimits { max_text_bytes: 1000, ..Limits::default().for_reader() };
    let (found, result) = try_read("a.docx", &bomb(), EVERYTHING, &limits);
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(found.text().len(), 1000);
    assert!(found.warnings()[0].message.contains("limits.max_text_bytes"));
}

#[test]
fn name_alone_does_not_make_a_document() {
    assert_eq!(read_bytes("a.docx", b"just text").text(), "just text");
    let (_, result) = try_read("a.docx", b"PK\x03\x04", EVERYTHING, &Limits::default().for_reader());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
}
