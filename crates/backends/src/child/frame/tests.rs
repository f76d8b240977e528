use docmill_core::ErrorKind;
use docmill_core::artifact::{Page, TextSource};
use docmill_core::ports::reader::Findings;

use super::super::queue::tests::ticket;
use super::*;

fn frame_of(names: &[&str], fresh: bool) -> (Frame, Vec<Findings>) {
    let (tickets, findings): (Vec<_>, Vec<_>) = names.iter().map(|name| ticket(1, name, 1)).unzip();
    (Frame::new(tickets, 10, fresh, 1000), findings)
}

fn page(index: u64, text: &str) -> FromChild {
    let page = Page {
        number: 1,
        source: TextSource::Native,
        reason: String::new(),
        quality: None,
        text: text.into(),
    };
    FromChild::Found { index, found: Found::Page(page) }
}

fn begin(index: u64) -> FromChild {
    FromChild::Begin { index }
}

fn end(index: u64) -> FromChild {
    FromChild::End { index, result: Ok(()) }
}

fn died() -> Fault {
    Fault::Died(None)
}

/// Names and whether they must be alone; names and the kinds they are charged with.
type Summary<'a> = (Vec<(&'a str, bool)>, Vec<(&'a str, ErrorKind)>);

fn summary(settled: &Settled) -> Summary<'_> {
    let again = settled.again.iter().map(|t| (t.job.name.as_str(), t.alone)).collect();
    let ended = settled.ended.iter().map(|(t, _, e)| (t.job.name.as_str(), e.kind())).collect();
    (again, ended)
}

#[test]
fn findings_of_a_shared_frame_arrive_only_with_the_end() {
    let (mut frame, mut findings) = frame_of(&["a", "b"], true);
    frame.hear(begin(10)).unwrap();
    assert!(matches!(frame.hear(page(10, "text")).unwrap(), Step::Held(true)));
    assert!(findings[0].try_recv().is_err());
    frame.hear(end(10)).unwrap();
    assert!(matches!(findings[0].try_recv().unwrap(), Finding::Found(Found::Page(_))));
    assert!(matches!(findings[0].try_recv().unwrap(), Finding::End(Ok(()))));
}

#[test]
fn findings_of_a_lone_document_are_forwarded_at_once() {
    let (mut frame, _findings) = frame_of(&["a"], true);
    frame.hear(begin(10)).unwrap();
    assert!(matches!(frame.hear(page(10, "text")).unwrap(), Step::Forward(Found::Page(_), true)));
    frame.hear(end(10)).unwrap();
    assert!(frame.is_done());
}

#[test]
fn messages_out_of_turn_are_a_breach() {
    let (mut frame, _findings) = frame_of(&["a", "b"], true);
    assert!(matches!(frame.hear(begin(11)), Err(Fault::Breach(_))));
    assert!(matches!(frame.hear(page(10, "x")), Err(Fault::Breach(_))));
    assert!(matches!(frame.hear(end(10)), Err(Fault::Breach(_))));
    frame.hear(begin(10)).unwrap();
    assert!(matches!(frame.hear(begin(10)), Err(Fault::Breach(_))));
    assert!(matches!(frame.hear(page(11, "x")), Err(Fault::Breach(_))));
    assert!(matches!(frame.hear(end(11)), Err(Fault::Breach(_))));
    frame.hear(end(10)).unwrap();
    frame.hear(begin(11)).unwrap();
    frame.hear(end(11)).unwrap();
    assert!(matches!(frame.hear(begin(12)), Err(Fault::Breach(_))));
    assert!(matches!(frame.hear(FromChild::Ready { layers: vec![] }), Err(Fault::Breach(_))));
}

#[test]
fn death_in_a_shared_frame_charges_nobody_and_isolates_the_one_in_work() {
    let (mut frame, _findings) = frame_of(&["a", "b", "c"], true);
    frame.hear(begin(10)).unwrap();
    frame.hear(end(10)).unwrap();
    frame.hear(begin(11)).unwrap();
    let settled = frame.settle(&died());
    assert_eq!(summary(&settled), (vec![("b", true), ("c", false)], vec![]));
}

#[test]
fn death_before_anyone_began_makes_all_suspect() {
    let (frame, _findings) = frame_of(&["a", "b"], true);
    assert_eq!(summary(&frame.settle(&died())), (vec![("a", true), ("b", true)], vec![]));
}

#[test]
fn death_of_a_lone_document_is_charged() {
    let (mut frame, _findings) = frame_of(&["a"], false);
    frame.hear(begin(10)).unwrap();
    assert_eq!(summary(&frame.settle(&died())), (vec![], vec![("a", ErrorKind::ChildCrashed)]));
}

#[test]
fn death_before_a_lone_document_began_is_charged_in_a_fresh_child_only() {
    let (frame, _findings) = frame_of(&["a"], false);
    assert_eq!(summary(&frame.settle(&died())), (vec![("a", true)], vec![]));
    let (frame, _findings) = frame_of(&["a"], true);
    assert_eq!(summary(&frame.settle(&died())), (vec![], vec![("a", ErrorKind::ChildCrashed)]));
}

#[test]
fn own_timeout_is_charged_even_in_a_shared_frame() {
    let (mut frame, _findings) = frame_of(&["a", "b"], true);
    frame.hear(begin(10)).unwrap();
    let settled = frame.settle(&Fault::OwnTime(Error::timeout("too slow")));
    assert_eq!(summary(&settled), (vec![("b", false)], vec![("a", ErrorKind::Timeout)]));
}

#[test]
fn memory_in_a_shared_frame_is_tried_again_alone() {
    let (mut frame, _findings) = frame_of(&["a", "b"], true);
    frame.hear(begin(10)).unwrap();
    assert_eq!(summary(&frame.settle(&Fault::Memory)), (vec![("a", true), ("b", false)], vec![]));
}

#[test]
fn cancelled_document_is_dropped_and_its_neighbours_go_on() {
    let (mut frame, mut findings) = frame_of(&["a", "b"], true);
    frame.hear(begin(10)).unwrap();
    drop(findings.remove(0));
    assert_eq!(summary(&frame.settle(&Fault::Cancelled)), (vec![("b", false)], vec![]));
}

#[test]
fn output_beyond_what_is_held_back_is_read_again_alone() {
    let (mut frame, _findings) = frame_of(&["a", "b"], true);
    frame.hear(begin(10)).unwrap();
    let fault = frame.hear(page(10, &"x".repeat(2000))).unwrap_err();
    assert_eq!(summary(&frame.settle(&fault)), (vec![("a", true), ("b", false)], vec![]));
}

#[test]
fn take_back_leaves_the_one_in_work_and_forbids_the_rest() {
    let (mut frame, _findings) = frame_of(&["a", "b", "c"], true);
    frame.hear(begin(10)).unwrap();
    assert!(frame.holds_up_others());
    let names: Vec<_> = frame.take_back().into_iter().map(|t| t.job.name).collect();
    assert_eq!(names, ["b", "c"]);
    frame.hear(end(10)).unwrap();
    assert!(frame.is_done() && frame.was_taken_back());
    assert!(matches!(frame.hear(begin(11)), Err(Fault::Breach(_))));
}
