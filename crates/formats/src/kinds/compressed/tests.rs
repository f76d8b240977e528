use std::io::Write;

use docmill_core::limits::Limits;

use super::*;
use crate::tests_support::{fixture, members, read_bytes, read_fixture, try_read};

const TEXT: &str = "The quick brown fox jumps over the lazy dog.\n";

fn text() -> String {
    TEXT.repeat(100)
}

#[test]
fn every_method_gives_its_content_under_the_name_without_ending() {
    for ending in ["gz", "bz2", "xz", "lzma", "lz", "zst", "lz4"] {
        let found =
            read_bytes(&format!("fox.txt.{ending}"), &fixture(&format!("compressed/fox.txt.{ending}")));
        assert_eq!(members(&found), [("fox.txt".to_owned(), Ok(text().into_bytes()))], "{ending}");
        assert!(found.warnings().is_empty(), "{ending}: {:?}", found.warnings());
    }
}

#[test]
fn streams_one_after_the_other_are_one_content() {
    for ending in ["gz", "bz2", "xz", "zst", "lz4"] {
        let one = fixture(&format!("compressed/fox.txt.{ending}"));
        let mut bytes = one.clone();
        if matches!(ending, "zst" | "lz4") {
            // A frame without content between them.
            bytes.extend(b"\x51\x2a\x4d\x18\x03\0\0\0abc");
        }
        bytes.extend(&one);
        let found = read_bytes("a", &bytes);
        assert_eq!(members(&found)[0].1.as_ref().unwrap().len(), 2 * text().len(), "{ending}");
    }
}

#[test]
fn archive_inside_is_unpacked_in_one_go() {
    let found = read_fixture("compressed/some.tar.gz");
    let names: Vec<_> = members(&found).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names[..2], ["a.txt", "empty"]);
    assert_eq!(names.len(), 4);
}

#[test]
fn name_in_the_file_wins_over_the_name_of_the_file() {
    let found = read_bytes("a.gz", &fixture("compressed/named.gz"));
    assert_eq!(members(&found)[0].0, "original.txt");
}

#[test]
fn cut_stream_keeps_what_came_out_and_warns() {
    let numbers = (0..50_000).map(|n| (n * 7919 % 65_537).to_string()).collect::<Vec<_>>().join("\n");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(numbers.as_bytes()).unwrap();
    let mut bytes = packed.finish().unwrap();
    bytes.truncate(bytes.len() / 2);
    let found = read_bytes("a.log.gz", &bytes);
    let content = members(&found)[0].1.clone().unwrap();
    assert!(!content.is_empty() && numbers.as_bytes().starts_with(&content));
    assert_eq!(found.warnings()[0].kind, ErrorKind::Corrupt);
}

#[test]
fn bomb_fails_its_member() {
    let limits = ReadLimits { ratio_from_bytes: 100, max_ratio: 2, ..Limits::default().for_reader() };
    let (found, result) = try_read("a.gz", &fixture("compressed/fox.txt.gz"), Want::CHILDREN, &limits);
    result.unwrap();
    assert_eq!(members(&found)[0].1, Err(ErrorKind::BombSuspected));
}

#[test]
fn signature_alone_fails_its_member() {
    for head in [&b"\x1f\x8b\x08"[..], b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"] {
        let found = read_bytes("a", head);
        assert_eq!(members(&found).len(), 1, "{}", head.escape_ascii());
        assert!(found.warnings().is_empty());
    }
}
