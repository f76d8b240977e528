use docmill_core::limits::Limits;

use super::*;
use crate::sink::Collected;
use crate::tests_support::{fixture, stored_package_of, try_read};

/// Each member as `position path: length or error kind`.
fn members(found: &Collected) -> Vec<String> {
    let mut out = Vec::new();
    let mut open: Option<(u64, String, usize)> = None;
    for found in &found.0 {
        match found {
            Found::ChildBegin { position, path, .. } => open = Some((*position, path.clone(), 0)),
            Found::ChildChunk(bytes) => open.as_mut().unwrap().2 += bytes.len(),
            Found::ChildEnd => {
                let (position, path, bytes) = open.take().unwrap();
                out.push(format!("{position} {path}: {bytes}"));
            }
            Found::ChildFailed { position, path, error } => {
                open = None;
                out.push(format!("{position} {path}: {}", error.kind));
            }
            _ => {}
        }
    }
    out
}

fn unpacked(path: &str, limits: &ReadLimits) -> Collected {
    let (found, result) = try_read(path, &fixture(path), Want::CHILDREN, limits);
    result.unwrap_or_else(|e| panic!("{path}: {e:?}"));
    found
}

fn declared(found: &Collected) -> Option<u64> {
    found.0.iter().find_map(|f| if let Found::Declared(n) = f { Some(*n) } else { None })
}

#[test]
fn every_member_is_accounted_for() {
    let whole = [
        "0 folder/stored.txt: 460",
        "1 deflated.txt: 460",
        "2 bzip2.txt: 460",
        "3 lzma.txt: 460",
        "4 größe.txt: 460",
    ];
    let with = |at: usize, changed: &'static str| {
        let mut list = whole.to_vec();
        list[at] = changed;
        list
    };
    let cases = [
        ("zip/methods.zip", Some(5), whole.to_vec()),
        ("zip/more-methods.zip", Some(3), vec!["0 deflate64.txt: 460", "1 zstd.txt: 460", "2 xz.txt: 460"]),
        ("zip/last-volume.zip", Some(5), with(2, "2 bzip2.txt: unreadable")),
        ("zip/bad-checksum.zip", Some(5), with(0, "0 folder/stored.txt: corrupt")),
        ("zip/encrypted-member.zip", Some(5), with(1, "1 deflated.txt: encrypted")),
        ("zip/unknown-method.zip", Some(5), with(1, "1 deflated.txt: unsupported_format")),
        ("zip/truncated.zip", None, whole.to_vec()),
        ("zip/cut-in-member.zip", None, vec!["0 folder/stored.txt: 460", "1 deflated.txt: corrupt"]),
        ("zip/duplicate-names.zip", Some(2), vec!["0 same.txt: 3", "1 same.txt: 3"]),
    ];
    for (path, count, expected) in cases {
        let found = unpacked(path, &Limits::default().for_reader());
        assert_eq!(members(&found), expected, "{path}");
        assert_eq!(declared(&found), count, "{path}");
        assert_eq!(found.warnings().is_empty(), count.is_some(), "{path}: {:?}", found.warnings());
    }
}

#[test]
fn bytes_before_the_archive_shift_it() {
    // What stands before keeps its signature out of the way, so the reader is called itself.
    let mut bytes = b"#!/bin/sh\nexit\n".to_vec();
    bytes.extend(fixture("zip/methods.zip"));
    let mut found = Collected::default();
    Zip.parse(&mut Input::from_bytes(bytes), Want::CHILDREN, &Limits::default().for_reader(), &mut found)
        .unwrap();
    assert_eq!(members(&found).len(), 5);
    assert!(members(&found).iter().all(|m| m.ends_with("460")), "{:?}", members(&found));
}

#[test]
fn comment_is_metadata() {
    let found = unpacked("zip/methods.zip", &Limits::default().for_reader());
    assert_eq!(found.value("comment"), Some("a comment"));
}

#[test]
fn bomb_fails_its_member_and_all_after_it() {
    let limits = ReadLimits { ratio_from_bytes: 100_000, ..Limits::default().for_reader() };
    let found = unpacked("zip/bomb.zip", &limits);
    assert_eq!(declared(&found), Some(2));
    assert_eq!(members(&found), ["0 a.bin: bomb_suspected", "1 b.txt: bomb_suspected"]);
}

#[test]
fn members_beyond_the_limit_are_declared_but_not_read() {
    let limits = ReadLimits { max_entries: 2, ..Limits::default().for_reader() };
    let found = unpacked("zip/methods.zip", &limits);
    assert_eq!(declared(&found), Some(5));
    assert_eq!(members(&found).len(), 2);
    assert_eq!(found.warnings().len(), 1);
    assert!(found.warnings()[0].message.contains("limits.max_entries"));
}

#[test]
fn listing_names_members_without_their_bytes() {
    let want = Want { listing: true, ..Want::KIND };
    let (found, result) =
        try_read("a.zip", &fixture("zip/methods.zip"), want, &Limits::default().for_reader());
    result.unwrap();
    let listed: Vec<_> = found
        .0
        .iter()
        .filter_map(|f| match f {
            Found::ChildListed { path, media_type, bytes, .. } => {
                Some((path.as_str(), media_type.as_str(), *bytes))
            }
            _ => None,
        })
        .collect();
    assert_eq!(listed.len(), 5);
    assert_eq!(listed[0], ("folder/stored.txt", "text/plain", 460));
}

#[test]
fn signature_alone_is_corrupt() {
    let (_, result) = try_read("a.zip", b"PK\x03\x04", Want::CHILDREN, &Limits::default().for_reader());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn members_behind_lost_bytes_are_found_near_their_place() {
    let whole = stored_package_of(&[("a.txt", b"one\r\ntwo\r\n"), ("b.txt", b"whole"), ("c.txt", b"too")]);
    let at = whole.windows(2).position(|pair| pair == b"\r\n").unwrap();
    let cut = [&whole[..at], &whole[at + 1..]].concat();
    let (found, result) = try_read("a.zip", &cut, Want::CHILDREN, &Limits::default().for_reader());
    result.unwrap();
    let expected = [format!("0 a.txt: {}", ErrorKind::Corrupt), "1 b.txt: 5".into(), "2 c.txt: 3".into()];
    assert_eq!(members(&found), expected);
}
