//! What is found in a document.

use std::io::Write as _;
use std::sync::Arc;

use docmill_core::error::ErrorKind;
use docmill_core::ports::Reader;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::reader::ReadJob;
use docmill_core::wire::{Found, Kind, Want};

use super::Subject;
use super::desk::{Desk, job, members_of, probe, text};
use crate::archive::{archive, encrypted};
use crate::cases;
use crate::conformance::Case;

pub(super) fn cases() -> Vec<Case<dyn Reader>> {
    cases![
        text_is_read_after_its_kind,
        same_document_gives_the_same_findings_again,
        content_decides_and_not_the_name,
        kind_alone_is_said_without_reading,
        unknown_type_is_named_and_unsupported,
        empty_document_is_an_error_of_its_own,
        corrupt_document_is_an_error_of_its_own,
        nul_never_comes_out,
        pages_outside_the_wanted_range_are_left_out,
        members_come_in_order_after_their_number,
        listing_gives_names_and_sizes_and_no_content,
        member_that_cannot_be_had_is_named_and_the_others_come,
        member_that_breaks_off_is_failed_and_the_others_come,
        large_content_is_read_from_memory_and_from_a_file,
        file_is_read_from_its_beginning_however_often,
    ]
}

async fn text_is_read_after_its_kind(bench: Subject) {
    let reading = Desk::open(&bench).await.read(text("the quick brown alpaca\n")).await;
    let plain = Kind { media_type: "text/plain".into(), format: Some("text".into()), container: false };
    assert_eq!(*reading.kind(), plain);
    assert_eq!(reading.text(), "the quick brown alpaca\n");
    assert_eq!(reading.pages(), [1]);
    reading.end.unwrap();
}

async fn same_document_gives_the_same_findings_again(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let zip = archive([("a.txt", b"first".as_slice()), ("b.txt", b"second".as_slice())]);
    for job in [text("once and again"), members_of(zip)] {
        let (first, again) = (desk.read(job.clone()).await, desk.read(job).await);
        assert_eq!(first.found, again.found);
    }
}

async fn content_decides_and_not_the_name(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let zip = desk.read(job("letter.txt", archive([("a", b"x".as_slice())]))).await;
    assert_eq!((zip.kind().media_type.as_str(), zip.kind().container), ("application/zip", true));
    let letter = desk.read(job("letter.zip", "a plain letter\n")).await;
    assert_eq!(letter.kind().media_type, "text/plain");
}

async fn kind_alone_is_said_without_reading(bench: Subject) {
    let desk = Desk::open(&bench).await;
    // Reading this one would end badly.
    for job in [text("x"), probe("abort"), job("a.bin", vec![0, 159, 146, 150])] {
        let reading = desk.read(ReadJob { want: Want::KIND, ..job }).await;
        reading.kind();
        assert_eq!(reading.found.len(), 1, "{:?}", reading.found);
        reading.end.unwrap();
    }
}

async fn unknown_type_is_named_and_unsupported(bench: Subject) {
    let content = [0_u8, 159, 146, 150, 255, 0, 1, 2].repeat(10);
    let reading = Desk::open(&bench).await.read(job("a.bin", content)).await;
    let unknown = Kind { media_type: "application/octet-stream".into(), format: None, container: false };
    assert_eq!(*reading.kind(), unknown);
    assert_eq!(reading.error().kind(), ErrorKind::UnsupportedFormat);
    assert!(reading.error().message().contains("application/octet-stream"), "{:?}", reading.end);
    assert_eq!(reading.found.len(), 1, "nothing is made up: {:?}", reading.found);
}

async fn empty_document_is_an_error_of_its_own(bench: Subject) {
    let reading = Desk::open(&bench).await.read(text("")).await;
    assert_eq!(reading.kind().format, None);
    assert_eq!(reading.error().kind(), ErrorKind::EmptyFile);
}

async fn corrupt_document_is_an_error_of_its_own(bench: Subject) {
    let reading = Desk::open(&bench).await.read(members_of(b"PK\x03\x04 and then nothing".to_vec())).await;
    assert_eq!(reading.kind().media_type, "application/zip");
    assert_eq!(reading.error().kind(), ErrorKind::Corrupt);
}

async fn nul_never_comes_out(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let reading = desk.read(text("DOCMILL-PROBE:pid\nbefore\0after")).await;
    assert!(reading.text().ends_with("\u{c}beforeafter"), "{:?}", reading.text());
    let zip = desk.read(members_of(archive([("a\0b.txt", b"x".as_slice())]))).await;
    assert_eq!(zip.members(), ["0 ab.txt = x"]);
}

async fn pages_outside_the_wanted_range_are_left_out(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let two_pages = text("DOCMILL-PROBE:pid\nthe second page");
    assert_eq!(desk.read(two_pages.clone()).await.pages(), [1, 2]);
    let want = Want { pages: Some((2, 5)), ..Want::TEXT };
    let reading = desk.read(ReadJob { want, ..two_pages }).await;
    assert_eq!((reading.pages(), reading.text().as_str()), (vec![2], "the second page"));
}

async fn members_come_in_order_after_their_number(bench: Subject) {
    let names: Vec<String> = (0..100).map(|n| format!("dir/{n}.txt")).collect();
    let zip = archive(names.iter().map(|name| (name.as_str(), name.as_bytes())));
    let reading = Desk::open(&bench).await.read(members_of(zip)).await;
    assert!(reading.kind().container);
    let declared = reading.found.iter().position(|found| matches!(found, Found::Declared(100)));
    let first = reading.found.iter().position(|found| matches!(found, Found::ChildBegin { .. }));
    assert!(declared.is_some() && declared < first, "the number comes first: {declared:?} {first:?}");
    let expected: Vec<String> = (0..100).map(|n| format!("{n} dir/{n}.txt = dir/{n}.txt")).collect();
    assert_eq!(reading.members(), expected);
    reading.end.unwrap();
}

async fn listing_gives_names_and_sizes_and_no_content(bench: Subject) {
    let zip = archive([("a.txt", b"12345".as_slice()), ("b.pdf", b"".as_slice())]);
    let want = Want { listing: true, ..Want::KIND };
    let reading = Desk::open(&bench).await.read(ReadJob { want, ..members_of(zip) }).await;
    let listed: Vec<String> = reading
        .found
        .iter()
        .filter_map(|found| match found {
            Found::ChildListed { position, path, media_type, bytes } => {
                Some(format!("{position} {path} {media_type} {bytes}"))
            }
            _ => None,
        })
        .collect();
    assert_eq!(listed, ["0 a.txt text/plain 5", "1 b.pdf application/pdf 0"]);
    assert!(reading.members().is_empty());
}

async fn member_that_cannot_be_had_is_named_and_the_others_come(bench: Subject) {
    let zip = archive([("a", b"1".as_slice()), ("locked", b"2".as_slice()), ("c", b"3".as_slice())]);
    let reading = Desk::open(&bench).await.read(members_of(encrypted(zip, "locked"))).await;
    assert_eq!(reading.members(), ["0 a = 1", "1 locked ! encrypted", "2 c = 3"]);
    reading.end.unwrap();
}

async fn member_that_breaks_off_is_failed_and_the_others_come(bench: Subject) {
    let mut zip = archive([("a", b"".as_slice()), ("broken", b"".as_slice()), ("c", b"3".as_slice())]);
    // The checksum that the directory states for the second member.
    let entry = zip.windows(4).enumerate().filter(|(_, four)| four == b"PK\x01\x02").nth(1).unwrap().0;
    zip[entry + 16] ^= 0xff;
    let reading = Desk::open(&bench).await.read(members_of(zip)).await;
    assert_eq!(reading.members(), ["0 a = ", "1 broken ! corrupt", "2 c = 3"]);
}

async fn large_content_is_read_from_memory_and_from_a_file(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let large = "a long line of text, again and again\n".repeat(60_000);
    let reading = desk.read(text(&large)).await;
    reading.end.as_ref().unwrap();
    assert_eq!(reading.text().len(), large.len());

    let mut file = tempfile::tempfile().unwrap();
    file.write_all(large.as_bytes()).unwrap();
    let content = Content::File(Arc::new(file), large.len() as u64);
    let from_file = desk.read(ReadJob { content, ..text("") }).await;
    assert!(from_file.found == reading.found, "the same findings");
}

async fn file_is_read_from_its_beginning_however_often(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all("small but in a file".as_bytes()).unwrap();
    let content = Content::File(Arc::new(file), 19);
    for _ in 0..2 {
        let reading = desk.read(ReadJob { content: content.clone(), ..text("") }).await;
        assert_eq!(reading.text(), "small but in a file");
    }
}
