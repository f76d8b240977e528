//! Pages that come as pixels.

use std::sync::atomic::Ordering;

use docmill_core::ErrorKind;
use docmill_core::artifact::{TextSource, Transcript};
use docmill_core::ingestion::IngestionStatus as S;
use docmill_core::ocr::OcrMode;
use docmill_core::ports::Blobs as _;
use docmill_core::ports::blobs::Content;
use docmill_core::problem::ResultCode as R;

use crate::fakes::World;

async fn transcript(world: &World, name: &str) -> Transcript {
    let key = world.store.facts(name).transcription.unwrap();
    match world.blobs.open(&key, u64::MAX).await.unwrap() {
        Content::Inline(json) => serde_json::from_slice(&json).unwrap(),
        Content::File(..) => unreachable!("these blobs are in memory"),
    }
}

#[tokio::test(start_paused = true)]
async fn scans_become_text_with_how_it_was_recognised() {
    let world = World::new();
    world.ocr.see("words on paper", 0.9);
    world.offer("scan.png", b"pixels").await;
    world.work().await;
    assert_eq!(world.end("scan.png"), Some((S::Completed, R::Success)));
    let transcript = transcript(&world, "scan.png").await;
    assert_eq!(transcript.language.as_deref(), Some("eng"));
    let pages: Vec<_> = transcript.pages.iter().map(|p| (p.number, p.source, p.text.as_str())).collect();
    let expected: Vec<_> = (1..=3).map(|n| (n, TextSource::Ocr, "words on paper")).collect();
    assert_eq!(pages, expected);
    assert_eq!(transcript.pages[0].reason, "picture; recognised by fake");
    let numbers: Vec<_> = transcript.recognised.iter().map(|page| page.number).collect();
    assert_eq!(numbers, [1, 2, 3], "whatever the recogniser says");
}

#[tokio::test(start_paused = true)]
async fn page_that_cannot_be_recognised_is_named_and_the_others_are_read() {
    let world = World::new();
    world.ocr.see("words on paper", 0.9);
    *world.ocr.fails_on.lock().unwrap() = Some((2, ErrorKind::Timeout));
    world.offer("scan.png", b"pixels").await;
    world.work().await;
    assert_eq!(world.end("scan.png"), Some((S::Completed, R::Success)));
    let transcript = transcript(&world, "scan.png").await;
    assert_eq!(transcript.problems[0].page, Some(2));
    let sources: Vec<_> = transcript.pages.iter().map(|page| page.source).collect();
    assert_eq!(sources, [TextSource::Ocr, TextSource::None, TextSource::Ocr]);
}

#[tokio::test(start_paused = true)]
async fn scans_are_tried_again_when_the_recogniser_is_away() {
    let world = World::new();
    world.ocr.see("words on paper", 0.9);
    *world.ocr.fails_on.lock().unwrap() = Some((2, ErrorKind::Unavailable));
    world.offer("scan.png", b"pixels").await;
    world.work().await;
    assert_eq!(world.end("scan.png"), Some((S::Completed, R::Success)));
    assert!(transcript(&world, "scan.png").await.problems.is_empty());
}

#[tokio::test(start_paused = true)]
async fn without_a_recogniser_pages_say_what_is_missing_and_how_to_get_it() {
    let world = World::new();
    world.offer("scan.png", b"pixels").await;
    world.work().await;
    assert_eq!(world.end("scan.png"), Some((S::Completed, R::TextUnavailable)));
    let transcript = transcript(&world, "scan.png").await;
    assert_eq!(transcript.pages[0].reason, "picture; OCR is off: no glasses (buy some)");
}

#[tokio::test(start_paused = true)]
async fn recognising_can_be_switched_off() {
    let world = World::with(|settings| settings.ocr.mode = OcrMode::Never);
    world.ocr.see("words on paper", 0.9);
    world.offer("scan.png", b"pixels").await;
    world.work().await;
    assert_eq!(world.ocr.recognised.load(Ordering::SeqCst), 0);
    assert_eq!(transcript(&world, "scan.png").await.pages[0].reason, "picture; OCR is off (`never`)");
}

#[tokio::test(start_paused = true)]
async fn what_was_recognised_is_reused() {
    let world = World::new();
    world.ocr.see("words on paper", 0.9);
    world.offer("scan.png", b"pixels").await;
    world.work().await;
    world.offer("scan-again.png", b"pixels").await;
    world.work().await;
    assert_eq!(world.end("scan-again.png"), Some((S::Completed, R::Success)));
    assert_eq!(world.ocr.recognised.load(Ordering::SeqCst), 3, "three pages, once");
}

#[tokio::test(start_paused = true)]
async fn pictures_in_a_letter_follow_its_text() {
    let world = World::new();
    world.ocr.see("words on paper", 0.9);
    world.offer("letter.docx", b"text").await;
    world.work().await;
    assert_eq!(world.end("letter.docx"), Some((S::Completed, R::Success)));
    let transcript = transcript(&world, "letter.docx").await;
    assert_eq!(transcript.pages[0].text, "page 1\n\nwords on paper\n\nwords on paper");
    assert_eq!((transcript.pages[0].source, transcript.pages[0].quality), (TextSource::Native, Some(1.0)));
    let inline: Vec<_> = transcript.recognised.iter().map(|page| (page.number, page.inline)).collect();
    assert_eq!(inline, [(1, Some(1)), (1, Some(2))]);
}

#[tokio::test(start_paused = true)]
async fn pictures_in_a_letter_that_fail_or_say_nothing_leave_its_text_alone() {
    let world = World::new();
    world.ocr.see("~ |. i", 0.1);
    world.offer("letter.docx", b"text").await;
    world.work().await;
    assert_eq!(transcript(&world, "letter.docx").await.pages[0].text, "page 1");
    *world.ocr.fails_on.lock().unwrap() = Some((1, ErrorKind::ChildCrashed));
    world.offer("letter2.docx", b"other text").await;
    world.work().await;
    assert_eq!(world.end("letter2.docx"), Some((S::Completed, R::Success)));
    let transcript = transcript(&world, "letter2.docx").await;
    assert_eq!((transcript.pages[0].text.as_str(), transcript.problems.len()), ("page 1", 2));
}

fn keeps_notes(settings: &mut docmill_core::config::Settings) {
    settings.extract.schemas = vec![format!("note={}", crate::fakes::extractor::SCHEMA)];
}

#[tokio::test(start_paused = true)]
async fn scan_with_a_doubtful_record_is_looked_at_once_more_by_the_others() {
    let world = World::with(keeps_notes);
    world.ocr.see("doubtful words", 0.9);
    world.ocr_again.see("clear words", 0.9);
    world.offer("scan-note.png", b"pixels").await;
    world.work().await;
    let records = world.store.extracted();
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((record.extraction.data["word"].as_str(), record.reasons.len()), (Some("clear"), 0));
    assert_eq!(world.ocr.recognised.load(Ordering::SeqCst), 3, "the text that is there is the first look");
    assert_eq!(world.ocr_again.recognised.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn second_look_that_cannot_be_had_leaves_the_first_to_a_person() {
    for failing in [false, true] {
        let world = World::with(keeps_notes);
        world.ocr.see("doubtful words", 0.9);
        if failing {
            world.ocr_again.see("clear words", 0.9);
            *world.ocr_again.fails_on.lock().unwrap() = Some((1, ErrorKind::Corrupt));
        }
        world.offer("scan-note.png", b"pixels").await;
        world.work().await;
        assert_eq!(world.end("scan-note.png"), Some((S::Completed, R::Success)));
        let records = world.store.extracted();
        let [record] = records.as_slice() else { panic!("{records:?}") };
        let expected = if failing { "clear" } else { "doubtful" };
        assert_eq!(record.extraction.data["word"].as_str(), Some(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn second_look_by_the_engine_of_the_first_is_no_evidence() {
    for (first, again, found) in [("one 1.0 eng", "one 1.1 eng", "doubtful"), ("one 1.0 eng", "two", "clear")]
    {
        let world = World::with(keeps_notes);
        world.ocr.see("doubtful words", 0.9);
        world.ocr_again.see("clear words", 0.9);
        *world.ocr.engine.lock().unwrap() = Some(first);
        *world.ocr_again.engine.lock().unwrap() = Some(again);
        world.offer("scan-note.png", b"pixels").await;
        world.work().await;
        let records = world.store.extracted();
        let [record] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!(record.extraction.data["word"].as_str(), Some(found), "{again} after {first}");
    }
}

#[tokio::test(start_paused = true)]
async fn second_look_that_waits_for_others_is_not_taken_for_one_that_hangs() {
    let world = World::with(keeps_notes);
    world.ocr.see("doubtful words", 0.9);
    world.ocr_again.see("clear words", 0.9);
    let limit = world.service.deps().settings.engine.stall_limit;
    *world.ocr_again.queue.lock().unwrap() = limit * 3;
    world.offer("scan-note.png", b"pixels").await;
    world.work().await;
    assert_eq!(world.end("scan-note.png"), Some((S::Completed, R::Success)));
    assert!(world.store.log().iter().all(|line| !line.contains("retry")), "{:?}", world.store.log());
    let records = world.store.extracted();
    assert_eq!(records.last().unwrap().extraction.data["word"].as_str(), Some("clear"));
}

#[tokio::test(start_paused = true)]
async fn second_look_whose_recognisers_are_away_leaves_the_first() {
    let world = World::with(keeps_notes);
    world.ocr.see("doubtful words", 0.9);
    world.ocr_again.see("clear words", 0.9);
    *world.ocr_again.fails_on.lock().unwrap() = Some((1, ErrorKind::Unavailable));
    world.offer("scan-note.png", b"pixels").await;
    world.work().await;
    assert!(world.store.log().iter().all(|line| !line.contains("retry")), "{:?}", world.store.log());
    let records = world.store.extracted();
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((record.extraction.data["word"].as_str(), record.reasons.len()), (Some("doubtful"), 1));
}

#[tokio::test(start_paused = true)]
async fn scan_that_is_sure_is_looked_at_once() {
    let world = World::with(keeps_notes);
    world.ocr.see("plain words", 0.9);
    world.ocr_again.see("clear words", 0.9);
    world.offer("scan-note.png", b"pixels").await;
    world.work().await;
    assert_eq!(world.ocr_again.recognised.load(Ordering::SeqCst), 0);
}
