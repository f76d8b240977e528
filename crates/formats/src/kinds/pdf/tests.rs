use super::*;
use crate::tests_support::{EVERYTHING, fixture, read_bytes, read_fixture, try_read};
use docmill_core::limits::Limits;

#[test]
fn pages_are_read_in_order_with_their_source() {
    let found = read_fixture("pdf/three-pages.pdf");
    let pages: Vec<_> = found.pages().iter().map(|p| (p.number, p.source, p.text.as_str())).collect();
    let expected = [
        (1, TextSource::Native, "First line\nsecond line\n"),
        (2, TextSource::None, ""),
        (3, TextSource::Native, "turned page\n"),
    ];
    assert_eq!(pages, expected);
    assert_eq!(found.pages()[1].reason, "page has no text layer; OCR is not available in this version");
    assert!(
        found.0.iter().position(|f| *f == Found::PageCount(3))
            < found.0.iter().position(|f| matches!(f, Found::Page(_)))
    );
}

#[test]
fn information_dictionary_becomes_metadata() {
    let found = read_fixture("pdf/three-pages.pdf");
    assert_eq!(found.value("title"), Some("Zahlen"));
    assert_eq!(found.value("author"), Some("Ada"));
    assert_eq!(found.value("producer"), Some("by hand"));
    assert_eq!(found.value("creation_date"), Some("2024-02-29T12:00:00+01:00"));
}

#[test]
fn document_without_its_table_of_objects_is_repaired() {
    let found = read_fixture("pdf/no-xref.pdf");
    assert_eq!(found.pages()[0].text, "First line\nsecond line\n");
}

#[test]
fn only_wanted_pages_are_read() {
    let want = Want { pages: Some((3, 9)), ..EVERYTHING };
    let limits = Limits::default().for_reader();
    let (found, result) = try_read("a.pdf", &fixture("pdf/three-pages.pdf"), want, &limits);
    result.unwrap();
    assert_eq!(found.pages().iter().map(|p| p.number).collect::<Vec<_>>(), [3]);
}

#[test]
fn pages_beyond_the_limit_are_warned_about() {
    let limits = ReadLimits { max_pages: 2, ..Limits::default().for_reader() };
    let (found, result) = try_read("a.pdf", &fixture("pdf/three-pages.pdf"), EVERYTHING, &limits);
    result.unwrap();
    assert_eq!(found.pages().len(), 2);
    assert!(found.warnings()[0].message.contains("limits.max_pages"), "{:?}", found.warnings());
}

#[test]
fn content_that_expands_beyond_reason_costs_its_page_alone() {
    let limits = ReadLimits { ratio_from_bytes: 100_000, ..Limits::default().for_reader() };
    let (found, result) = try_read("a.pdf", &fixture("pdf/content-bomb.pdf"), EVERYTHING, &limits);
    result.unwrap();
    assert_eq!(found.warnings()[0].kind, ErrorKind::BombSuspected);
    assert_eq!(found.warnings()[0].page, Some(1));
    let texts: Vec<_> = found.pages().iter().map(|p| p.text.as_str()).collect();
    assert_eq!(texts, ["", "still read\n"]);
}

#[test]
fn garbage_behind_a_signature_is_corrupt() {
    let limits = Limits::default().for_reader();
    let (found, result) = try_read("a.pdf", b"%PDF-1.4\nnothing that makes sense", EVERYTHING, &limits);
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(matches!(&found.0[0], Found::Kind(kind) if kind.media_type == "application/pdf"));
}

#[test]
fn text_about_pdf_is_text() {
    let found = read_bytes("notes.txt", b"A file begins with %PDF-1.7 and so on.");
    assert!(matches!(&found.0[0], Found::Kind(kind) if kind.media_type == "text/plain"));
}
