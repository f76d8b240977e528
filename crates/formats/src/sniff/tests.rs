use proptest::prelude::*;

use super::*;
use crate::tests_support::{compound_of, fixture, stored_package_of};

fn kind(name: &str, bytes: &[u8]) -> (String, Option<&'static str>) {
    let found = sniff(&mut Input::from_bytes(bytes.to_vec()), name).unwrap();
    (found.media_type.into_owned(), found.format.map(Format::name))
}

/// A ZIP file of empty members with these names; `mimetype` gets content.
fn zip_of(names: &[&str], content: &str) -> Vec<u8> {
    let parts: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (*name, if *name == "mimetype" { content.as_bytes() } else { b"".as_slice() }))
        .collect();
    stored_package_of(&parts)
}

#[test]
fn content_decides_and_the_name_helps() {
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let odt = "application/vnd.oasis.opendocument.text";
    let cases: Vec<(&str, Vec<u8>, &str, Option<&str>)> = vec![
        ("a.txt", b"%PDF-1.4\n".to_vec(), "application/pdf", Some("pdf")),
        ("a.pdf", b"just text".to_vec(), "text/plain", Some("text")),
        ("a", b"<!DOCTYPE html><p>x".to_vec(), "text/html", Some("html")),
        (
            "a",
            b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>".to_vec(),
            "application/xhtml+xml",
            Some("html"),
        ),
        ("a.xml", b"<?xml version='1.0'?><doc/>".to_vec(), "application/xml", Some("xml")),
        ("a", b"{\"a\": 1}".to_vec(), "application/json", Some("json")),
        ("a", b"{\"a\":1}\n{\"a\":2}\n".to_vec(), "application/jsonl", Some("json")),
        ("a.csv", b"a,b\n1,2\n".to_vec(), "text/csv", Some("csv")),
        ("a.tsv", b"a\tb\n1\t2\n".to_vec(), "text/tab-separated-values", Some("csv")),
        ("a.md", b"# Hi\n".to_vec(), "text/markdown", Some("markdown")),
        ("BM.txt", b"BM is short for something".to_vec(), "text/plain", Some("text")),
        (
            "a.ppm",
            [b"P6\n# made\n90 30\n255\n".as_slice(), &[0xff; 400]].concat(),
            "image/x-portable-pixmap",
            None,
        ),
        ("a.txt", b"P6 12 30\nP7 9 8\n".to_vec(), "text/plain", Some("text")),
        ("a.rtf", b"{\\rtf1\\ansi hello}".to_vec(), "application/rtf", Some("rtf")),
        (
            "a",
            b"From: a@b.c\nTo: d@e.f\nDate: today\nSubject: x\n\nhi".to_vec(),
            "message/rfc822",
            Some("eml"),
        ),
        (
            "a.txt",
            b"From: a@b.c\nTo: d@e.f\nDate: today\nSubject: x\n\nhi".to_vec(),
            "text/plain",
            Some("text"),
        ),
        ("a.txt", b"Note: this\nis no mail: really\n".to_vec(), "text/plain", Some("text")),
        (
            "a",
            b"From a@b.c Mon Jan  1 10:00:00 2024\nSubject: x\n\nhi".to_vec(),
            "application/mbox",
            Some("mbox"),
        ),
        ("a.txt", b"From Monday on it rained\nNote: all day\n".to_vec(), "text/plain", Some("text")),
        ("a", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), "image/png", Some("image")),
        ("a", b"\0\x01\x02\x03".to_vec(), "application/octet-stream", None),
        (
            "a.msg",
            [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 600]].concat(),
            "application/vnd.ms-outlook",
            Some("msg"),
        ),
        ("a.zip", fixture("zip/methods.zip"), "application/zip", Some("zip")),
        ("a.docx", zip_of(&["[Content_Types].xml", "word/document.xml"], ""), word, Some("docx")),
        ("a.zip", zip_of(&["word/document.xml", "[Content_Types].xml"], ""), word, Some("docx")),
        ("a.docx", zip_of(&["[Content_Types].xml", "word\\document.xml"], ""), word, Some("docx")),
        ("a.odt", zip_of(&["mimetype", "content.xml"], odt), odt, Some("opendocument")),
        ("a.jar", zip_of(&["META-INF/MANIFEST.MF", "A.class"], ""), "application/java-archive", Some("zip")),
    ];
    for (name, bytes, media_type, format) in cases {
        assert_eq!(kind(name, &bytes), (media_type.to_owned(), format), "{name}: {}", bytes.escape_ascii());
    }
}

#[test]
fn compound_file_is_what_lies_at_its_top_whatever_is_embedded_in_it() {
    let word = ("/MBD0018D4CE/WordDocument", b"a".as_slice());
    for (stream, format) in [("/Workbook", "xls"), ("/PowerPoint Document", "ppt"), ("/WordDocument", "doc")]
    {
        for streams in [[word, (stream, b"b".as_slice())], [(stream, b"b".as_slice()), word]] {
            assert_eq!(kind("a", &compound_of(&streams)).1, Some(format), "{stream}");
        }
    }
    // One that cannot be opened goes by any name in it.
    let mut damaged = compound_of(&[("/Workbook", b"b")]);
    damaged[28] ^= 0xff;
    assert_eq!(kind("a", &damaged).1, Some("xls"));
}

#[test]
fn media_type_of_name_ignores_case_and_folders() {
    assert_eq!(media_type_of_name("a/b.d/REPORT.PDF"), "application/pdf");
    assert_eq!(media_type_of_name("a\\b.txt"), "text/plain");
    assert_eq!(media_type_of_name(".pdf"), "application/octet-stream");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sniff_never_panics_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2000), name in ".{0,12}") {
        prop_assert!(sniff(&mut Input::from_bytes(bytes), &name).is_ok());
    }
}
