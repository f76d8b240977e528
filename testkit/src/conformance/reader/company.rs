//! Documents beside each other: neighbours in a frame, tenants, receivers that leave, and the end of it all.

use std::collections::BTreeSet;

use docmill_core::error::ErrorKind;
use docmill_core::ports::Reader;
use docmill_core::ports::reader::ReadJob;

use super::desk::{ANNA, BERTA, Desk, PATIENT, gather, job, members_of, probe, text};
use super::{CHILDREN, Subject};
use crate::cases;
use crate::conformance::Case;

pub(super) fn cases() -> Vec<Case<dyn Reader>> {
    cases![
        many_small_documents_are_answered_each,
        findings_may_be_taken_in_any_order,
        errors_of_some_leave_their_neighbours_alone,
        deaths_of_some_leave_their_neighbours_alone,
        slow_document_lets_its_neighbours_pass,
        two_tenants_never_share_a_process,
        many_tenants_are_all_served,
        lone_document_shares_its_process_with_nobody,
        receiver_that_leaves_frees_the_reader,
        receiver_that_leaves_early_harms_nobody,
        layers_are_named_once_and_hold,
        drain_turns_away_what_waits_and_lets_the_rest_end,
        shutdown_ends_what_is_read_and_refuses_what_comes,
        shutdown_twice_is_no_error,
    ]
}

/// Answered, once, and with its own text.
#[track_caller]
fn is_well(reading: &super::desk::Reading, text: &str) {
    assert!(reading.end.is_ok(), "{text}: {:?}", reading.end);
    assert_eq!(reading.text(), text);
    assert_eq!(reading.kind().media_type, "text/plain", "{text}");
}

async fn many_small_documents_are_answered_each(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut readings = Vec::new();
    for n in 0..500 {
        readings.push(desk.begin(text(&format!("document {n}"))).await);
    }
    for (n, reading) in readings.into_iter().enumerate() {
        is_well(&gather(reading).await, &format!("document {n}"));
    }
}

async fn findings_may_be_taken_in_any_order(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut readings = Vec::new();
    for n in 0..100 {
        // Some are too large for a frame.
        let text_of = format!("document {n} {}", "x".repeat(if n % 10 == 0 { 100_000 } else { 10 }));
        readings.push((desk.begin(text(&text_of)).await, text_of));
    }
    while let Some((reading, text)) = readings.pop() {
        is_well(&gather(reading).await, &text);
    }
}

async fn errors_of_some_leave_their_neighbours_alone(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut good = Vec::new();
    let mut bad = Vec::new();
    for n in 0..60 {
        good.push(desk.begin(text(&format!("good {n}"))).await);
        let (job, kind) = match n % 4 {
            0 => (text(""), ErrorKind::EmptyFile),
            1 => (job("a.bin", vec![0, 159, 146, 150]), ErrorKind::UnsupportedFormat),
            2 => (members_of(b"PK\x03\x04 and then nothing".to_vec()), ErrorKind::Corrupt),
            _ => (probe("panic"), ErrorKind::Bug),
        };
        bad.push((desk.begin(job).await, kind));
    }
    for (n, reading) in good.into_iter().enumerate() {
        is_well(&gather(reading).await, &format!("good {n}"));
    }
    for (reading, kind) in bad {
        assert_eq!(gather(reading).await.error().kind(), kind);
    }
}

async fn deaths_of_some_leave_their_neighbours_alone(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut good = Vec::new();
    let mut bad = Vec::new();
    for (n, deed) in ["segfault", "abort", "stack", "segfault"].into_iter().enumerate() {
        for _ in 0..5 {
            good.push(desk.begin(text(&format!("before {deed} {n}"))).await);
        }
        bad.push(desk.begin(probe(deed)).await);
    }
    for reading in good {
        let reading = gather(reading).await;
        assert!(reading.end.is_ok(), "{:?}", reading.end);
        assert_eq!((reading.pages(), reading.text().starts_with("before")), (vec![1], true));
    }
    for reading in bad {
        let reading = gather(reading).await;
        assert_eq!(reading.error().kind(), ErrorKind::ChildCrashed, "{:?}", reading.end);
        assert!(reading.error().message().contains("probe.txt"), "the document is named: {:?}", reading.end);
    }
}

async fn slow_document_lets_its_neighbours_pass(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let slow = desk.begin(ReadJob { allowance: PATIENT, ..probe("loop") }).await;
    for n in 0..50 {
        is_well(&desk.read(text(&format!("document {n}"))).await, &format!("document {n}"));
    }
    drop(slow);
}

async fn two_tenants_never_share_a_process(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut served = Vec::new();
    for turn in 0..3 {
        for tenant in [ANNA, BERTA] {
            let pid = desk.process(ReadJob { tenant, ..text("") }).await;
            served.push((turn, tenant, pid));
        }
    }
    for (_, tenant, pid) in &served {
        let others = served.iter().filter(|(_, other, _)| other != tenant);
        assert!(others.into_iter().all(|(_, _, other)| other != pid), "a process was shared: {served:?}");
    }
}

async fn many_tenants_are_all_served(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut readings = Vec::new();
    for round in 0..3 {
        for n in 0..8 {
            let tenant = docmill_core::id::TenantId(uuid::Uuid::from_u128(n));
            let own = format!("document {round} of tenant {n}");
            readings.push((desk.begin(ReadJob { tenant, ..text(&own) }).await, own));
        }
    }
    for (reading, own) in readings {
        is_well(&gather(reading).await, &own);
    }
}

async fn lone_document_shares_its_process_with_nobody(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut served = Vec::new();
    for alone in [false, true, true, false, true, false] {
        served.push((alone, desk.process(ReadJob { alone, ..text("") }).await));
    }
    for (_, lone) in served.iter().filter(|(alone, _)| *alone) {
        let times = served.iter().filter(|(_, pid)| pid == lone).count();
        assert_eq!(times, 1, "a process was shared with a lone document: {served:?}");
    }
}

async fn receiver_that_leaves_frees_the_reader(bench: Subject) {
    let desk = Desk::open(&bench).await;
    // More than can be read beside each other by any count.
    let mut endless = Vec::new();
    for _ in 0..8 * CHILDREN {
        endless.push(desk.begin(ReadJob { allowance: PATIENT, alone: true, ..probe("loop") }).await);
    }
    let waiting = desk.begin(text("innocent")).await;
    drop(endless);
    is_well(&gather(waiting).await, "innocent");
}

async fn receiver_that_leaves_early_harms_nobody(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut kept = Vec::new();
    for n in 0..200 {
        let reading = desk.begin(text(&format!("document {n}"))).await;
        if n % 3 == 0 {
            drop(reading);
        } else {
            kept.push((n, reading));
        }
    }
    for (n, reading) in kept {
        is_well(&gather(reading).await, &format!("document {n}"));
    }
}

async fn layers_are_named_once_and_hold(bench: Subject) {
    let layers = Desk::open(&bench).await.reader().layers().await.unwrap();
    assert!(!layers.is_empty());
    let names: BTreeSet<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(names.len(), layers.len(), "{layers:?}");
    for layer in &layers {
        assert!(!layer.name.is_empty() && !layer.detail.is_empty(), "{layer:?}");
    }
}

async fn drain_turns_away_what_waits_and_lets_the_rest_end(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let slow = ReadJob { alone: true, ..probe("walk:20:100") };
    let mut under_way = desk.begin(slow).await;
    assert!(under_way.recv().await.is_some(), "it has begun");
    let mut waiting = Vec::new();
    for n in 0..50 {
        waiting.push(desk.begin(ReadJob { alone: true, ..text(&format!("document {n}")) }).await);
    }
    desk.reader().drain().await;
    let late = desk.reader().read(text("late")).await;
    assert_eq!(late.unwrap_err().kind(), ErrorKind::ShuttingDown);
    let mut turned_away = 0;
    for reading in waiting {
        match gather(reading).await.end {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ShuttingDown);
                turned_away += 1;
            }
        }
    }
    assert!(turned_away > 0, "fifty lone documents were read before they could be turned away");
    let reading = gather(under_way).await;
    assert!(reading.end.is_ok(), "{:?}", reading.end);
    assert_eq!(reading.pages().last(), Some(&1), "it came to its answer: {:?}", reading.pages());
}

async fn shutdown_ends_what_is_read_and_refuses_what_comes(bench: Subject) {
    let desk = Desk::open(&bench).await;
    let mut readings = Vec::new();
    for n in 0..8 * CHILDREN {
        let deed = if n % 2 == 0 { "loop" } else { "sleep" };
        readings.push(desk.begin(ReadJob { allowance: PATIENT, ..probe(deed) }).await);
    }
    desk.reader().shutdown().await;
    for reading in readings {
        assert_eq!(gather(reading).await.error().kind(), ErrorKind::ShuttingDown);
    }
    let late = desk.reader().read(text("late")).await;
    assert_eq!(late.unwrap_err().kind(), ErrorKind::ShuttingDown);
}

async fn shutdown_twice_is_no_error(bench: Subject) {
    let desk = Desk::open(&bench).await;
    is_well(&desk.read(text("x")).await, "x");
    desk.reader().shutdown().await;
    desk.reader().shutdown().await;
}
