//! How far a reading goes, and what it may cost. Whatever stops it is named, with the setting to change.

use std::time::Duration;

use docmill_core::error::ErrorKind;
use docmill_core::limits::MIB;
use docmill_core::ports::Reader;
use docmill_core::ports::reader::{Allowance, Finding, ReadJob};
use docmill_core::wire::ReadLimits;

use super::Subject;
use super::desk::{Desk, PATIENT, gather, job, members_of, names_a_setting, probe, text};
use crate::archive::archive;
use crate::cases;
use crate::conformance::Case;

pub(super) fn cases() -> Vec<Case<dyn Reader>> {
    cases![
        text_is_cut_at_its_limit_and_says_so,
        pages_are_cut_at_their_limit_and_say_so,
        members_are_cut_at_their_number_and_say_so,
        members_that_expand_too_far_fail_and_say_so,
        members_that_pass_the_ratio_fail_and_say_so,
        limits_of_one_document_do_not_hold_for_the_next,
        cpu_time_without_progress_ends_the_document,
        wall_time_without_progress_ends_the_document,
        memory_beyond_the_allowance_ends_the_document,
        document_that_gets_on_may_take_longer_than_its_allowance,
        receiver_that_dawdles_is_not_held_against_the_document,
    ]
}

fn limited(job: ReadJob, change: impl FnOnce(&mut ReadLimits)) -> ReadJob {
    let mut limits = job.limits;
    change(&mut limits);
    ReadJob { limits, ..job }
}

async fn text_is_cut_at_its_limit_and_says_so(bench: Subject) {
    let job = limited(text(&"ä".repeat(1000)), |limits| limits.max_text_bytes = 1001);
    let reading = Desk::open(&bench).await.read(job).await;
    // What the document says of itself is text too, and the border of a character is kept.
    let cut = reading.text();
    assert!(cut.len() > 900 && cut.len() <= 1001 && cut.chars().all(|c| c == 'ä'), "{cut}");
    reading.end.as_ref().unwrap();
    let [warning] = reading.warnings()[..] else { panic!("{:?}", reading.found) };
    assert_eq!(warning.kind, ErrorKind::LimitExceeded);
    assert!(warning.message.contains("1001 bytes"), "{warning:?}");
    names_a_setting(&warning.message);
}

async fn pages_are_cut_at_their_limit_and_say_so(bench: Subject) {
    let job = limited(probe("flood"), |limits| limits.max_pages = 3);
    let reading = Desk::open(&bench).await.read(job).await;
    assert_eq!(reading.pages(), [1, 2, 3]);
    reading.end.as_ref().unwrap();
    let [warning] = reading.warnings()[..] else { panic!("{:?}", reading.warnings()) };
    assert!(warning.message.contains("first 3 pages"), "{warning:?}");
    names_a_setting(&warning.message);
}

async fn members_are_cut_at_their_number_and_say_so(bench: Subject) {
    let zip = archive([("a", b"1".as_slice()), ("b", b"2".as_slice()), ("c", b"3".as_slice())]);
    let job = limited(members_of(zip), |limits| limits.max_entries = 2);
    let reading = Desk::open(&bench).await.read(job).await;
    assert_eq!(reading.members(), ["0 a = 1", "1 b = 2"]);
    reading.end.as_ref().unwrap();
    let [warning] = reading.warnings()[..] else { panic!("{:?}", reading.found) };
    assert!(warning.message.contains("first 2 members"), "{warning:?}");
    names_a_setting(&warning.message);
}

async fn members_that_expand_too_far_fail_and_say_so(bench: Subject) {
    let zip = archive([("a", b"12345".as_slice()), ("b", b"1234567".as_slice()), ("c", b"".as_slice())]);
    let job = limited(members_of(zip), |limits| limits.max_unpacked_bytes = 10);
    bomb_is_found(bench, job).await;
}

async fn members_that_pass_the_ratio_fail_and_say_so(bench: Subject) {
    let zip = archive([("a", b"12345".as_slice()), ("b", &[b'x'; 10_000]), ("c", b"".as_slice())]);
    let job = limited(members_of(zip), |limits| (limits.max_ratio, limits.ratio_from_bytes) = (2, 1000));
    bomb_is_found(bench, job).await;
}

/// The first member comes, the second breaks the limit, and what follows is accounted for.
async fn bomb_is_found(bench: Subject, job: ReadJob) {
    let reading = Desk::open(&bench).await.read(job).await;
    assert_eq!(reading.members(), ["0 a = 12345", "1 b ! bomb_suspected", "2 c ! bomb_suspected"]);
    let broken = reading.found.iter().find_map(|found| match found {
        docmill_core::wire::Found::ChildFailed { position: 1, error, .. } => error.hint.clone(),
        _ => None,
    });
    names_a_setting(&broken.unwrap());
    reading.end.unwrap();
}

async fn limits_of_one_document_do_not_hold_for_the_next(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let long = "x".repeat(1000);
    let short = limited(text(&long), |limits| limits.max_text_bytes = 500);
    let readings = [desk.begin(text(&long)).await, desk.begin(short).await, desk.begin(text(&long)).await];
    let mut whole = Vec::new();
    for reading in readings {
        whole.push(gather(reading).await.text() == long);
    }
    assert_eq!(whole, [true, false, true]);
}

async fn cpu_time_without_progress_ends_the_document(bench: Subject) {
    let allowance = Allowance { cpu_without_progress: Duration::from_secs(1), ..PATIENT };
    let reading = Desk::open(&bench).await.read(ReadJob { allowance, ..probe("loop") }).await;
    let error = reading.error();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
    assert!(error.message().contains("CPU") && error.message().contains("limit is 1 s"), "{error:?}");
    names_a_setting(error.hint().unwrap());
}

async fn wall_time_without_progress_ends_the_document(bench: Subject) {
    let allowance = Allowance { wall_without_progress: Duration::from_secs(1), ..PATIENT };
    let reading = Desk::open(&bench).await.read(ReadJob { allowance, ..probe("sleep") }).await;
    let error = reading.error();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
    assert!(error.message().contains("limit is 1 s"), "{error:?}");
    names_a_setting(error.hint().unwrap());
}

async fn memory_beyond_the_allowance_ends_the_document(bench: Subject) {
    let reading = Desk::open(&bench).await.read(probe("oom")).await;
    let error = reading.error();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error:?}");
    assert!(error.message().contains(&(256 * MIB).to_string()), "{error:?}");
    names_a_setting(error.hint().unwrap());
}

async fn document_that_gets_on_may_take_longer_than_its_allowance(bench: Subject) {
    let desk = Desk::open(&bench).await;
    // Twice the allowance in all, a page every tenth of it.
    let allowance = Allowance { wall_without_progress: Duration::from_secs(2), ..PATIENT };
    let reading = desk.read(ReadJob { allowance, ..probe("walk:20:200") }).await;
    reading.end.as_ref().unwrap();
    assert_eq!(reading.pages().len(), 21, "twenty on the way and the answer");
}

async fn receiver_that_dawdles_is_not_held_against_the_document(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let noise: Vec<u8> = (0..64 << 10).map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let names: Vec<String> = (0..200).map(|n| n.to_string()).collect();
    let zip = archive(names.iter().map(|name| (name.as_str(), noise.as_slice())));
    let allowance = Allowance { wall_without_progress: Duration::from_secs(1), ..PATIENT };
    let mut findings = desk.begin(ReadJob { allowance, ..members_of(zip) }).await;
    assert!(matches!(findings.recv().await, Some(Finding::Found(_))));
    // The time that passes is what is tried here: nothing is waited for.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let reading = gather(findings).await;
    reading.end.as_ref().unwrap();
    assert_eq!(reading.members().len(), 200);
    assert_eq!(desk.read(job("b.txt", "next")).await.text(), "next");
}
