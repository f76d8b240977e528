//! The engine and the stages over ports in memory, on paused time: every way a task can end.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "test binary")]

mod fakes;
mod followers;
mod recognition;

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use docmill_core::ErrorKind;
use docmill_core::call::Call;
use docmill_core::ingestion::IngestionStatus as S;
use docmill_core::problem::ResultCode as R;
use docmill_core::state::TaskState;
use docmill_pipeline::Offered;
use tokio::sync::mpsc;

use fakes::{World, offer};

// How items come in.

#[tokio::test]
async fn file_that_finds_the_disk_full_on_its_way_is_refused_and_waited_for_by_nobody() {
    let world = World::new();
    world.blobs.full.store(true, Ordering::SeqCst);
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(8 << 20).unwrap();
    let content = Offered::File(file.reopen().unwrap(), file.path().to_owned());
    let refused = world.service.receive(world.tenant, vec![offer("large.txt", content)]).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::DiskFull);
}

// How tasks end.

#[tokio::test(start_paused = true)]
async fn document_goes_from_receipt_to_text_in_one_worker() {
    let world = World::new();
    world.offer("a.txt", b"hello").await;
    world.work().await;
    assert_eq!(world.end("a.txt"), Some((S::Completed, R::Success)));
    assert_eq!(world.store.log(), ["intake-document: done", "extract-text: done"]);
    let facts = world.store.facts("a.txt");
    assert_eq!((facts.page_count, facts.word_count), (Some(1), Some(2)));
    let key = facts.transcription.expect("a transcription");
    assert!(world.blobs.keys().contains(&key.to_string()));
    assert_eq!(world.store.workers_listed(), 0, "retired");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_understood_is_read_all_the_same() {
    let world = World::new();
    for name in ["plain.txt", "puzzling.txt", "maddening.txt"] {
        world.offer(name, name.as_bytes()).await;
    }
    world.work().await;
    for (name, titled) in [("plain.txt", true), ("puzzling.txt", false), ("maddening.txt", false)] {
        assert_eq!(world.end(name), Some((S::Completed, R::Success)), "{name}");
        let facts = world.store.facts(name);
        assert_eq!((facts.word_count, facts.title.is_some()), (Some(2), titled), "{name}");
        assert!(facts.understanding.is_some(), "{name} was tried, so without a title it is unclassified");
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_and_empty_files_complete_without_a_reading() {
    let world = World::new();
    world.offer("a.odd", b"?").await;
    world.offer("empty.txt", b"").await;
    world.work().await;
    assert_eq!(world.end("a.odd"), Some((S::Completed, R::Unsupported)));
    assert_eq!(world.end("empty.txt"), Some((S::Completed, R::Empty)));
    assert_eq!(world.reader.readings.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn same_content_again_reuses_the_text() {
    let world = World::new();
    world.offer("a.txt", b"hello").await;
    world.work().await;
    let blobs = world.blobs.keys();
    world.offer("b.txt", b"hello").await;
    world.work().await;
    assert_eq!(world.end("b.txt"), Some((S::Completed, R::Success)));
    assert_eq!(world.store.log().last().unwrap(), "extract-text: reused");
    assert_eq!(world.blobs.keys(), blobs, "nothing was written");
}

#[tokio::test(start_paused = true)]
async fn time_out_on_small_is_tried_once_on_large() {
    let world = World::new();
    world.offer("once.txt", b"hello").await;
    world.work().await;
    assert_eq!(world.end("once.txt"), Some((S::Completed, R::Success)));
    assert_eq!(
        world.store.log(),
        ["intake-document: done", "extract-text: retry on large after timeout", "extract-text: done"]
    );
}

#[tokio::test(start_paused = true)]
async fn crashing_document_dies_after_three_and_stays_a_document() {
    let world = World::new();
    world.offer("crash.txt", b"hello").await;
    world.work().await;
    let end = world.store.end("crash.txt").unwrap();
    assert_eq!((end.status, end.result, end.needs_review), (S::Completed, R::TextUnavailable, true));
    assert!(end.problems[0].message.contains("signal 11"));
    assert_eq!(
        world.store.log(),
        [
            "intake-document: done",
            "extract-text: retry on small after child_crashed",
            "extract-text: retry on large after child_crashed",
            "extract-text: dead after child_crashed"
        ]
    );
    assert_eq!(world.store.attempts("extract-text")[0].total, 3);
}

#[tokio::test(start_paused = true)]
async fn locked_document_completes_and_says_so() {
    let world = World::new();
    world.offer("locked.txt", b"hello").await;
    world.work().await;
    assert_eq!(world.end("locked.txt"), Some((S::Completed, R::PasswordProtected)));
}

#[tokio::test(start_paused = true)]
async fn panic_in_a_handler_is_a_bug_of_one_document() {
    let world = World::new();
    world.offer("panic.txt", b"hello").await;
    world.offer("a.txt", b"good").await;
    world.work().await;
    let end = world.store.end("panic.txt").unwrap();
    assert_eq!(end.error.unwrap().kind, ErrorKind::Bug);
    assert_eq!(world.end("a.txt"), Some((S::Completed, R::Success)));
}

#[tokio::test(start_paused = true)]
async fn long_pdf_is_read_in_parts_and_joined() {
    let world = World::with(|settings| settings.engine.pages_per_part = 2);
    world.offer("long.pdf", b"%PDF").await;
    world.work().await;
    assert_eq!(world.end("long.pdf"), Some((S::Completed, R::Success)));
    assert_eq!(world.store.facts("long.pdf").page_count, Some(5));
    assert_eq!(world.store.states("extract-text-part"), [TaskState::Done; 3]);
    assert_eq!(world.store.states("join-text"), [TaskState::Done]);
}

#[tokio::test(start_paused = true)]
async fn task_lost_too_often_is_buried_with_its_recovery() {
    let world = World::new();
    world.offer("a.txt", b"hello").await;
    world.store.wear_out();
    world.work().await;
    assert_eq!(world.end("a.txt"), Some((S::Failed, R::FileMissingOrIncomplete)));
    assert_eq!(world.store.log(), ["intake-document: buried after worker_lost"]);
}

// Leases.

#[tokio::test(start_paused = true)]
async fn commit_waits_for_a_store_that_is_away() {
    let world = World::new();
    world.store.failing_commits.store(5, Ordering::SeqCst);
    world.offer("a.txt", b"hello").await;
    world.work().await;
    assert_eq!(world.end("a.txt"), Some((S::Completed, R::Success)));
    assert_eq!(world.store.attempts("intake-document")[0].total, 0);
}

#[tokio::test(start_paused = true)]
async fn work_that_was_taken_away_stops_at_the_next_renewal() {
    let world = World::new();
    world.offer("hang.txt", b"hello").await;
    let engine = world.engine();
    world.reader.hangs.notified().await;
    world.store.take_away();
    world.reader.given_up().await;
    engine.shutdown(Duration::ZERO).await;
    assert_eq!(world.store.log(), ["intake-document: done"], "nothing was reported or released");
}

#[tokio::test(start_paused = true)]
async fn result_under_an_old_epoch_changes_nothing() {
    let world = World::new();
    world.offer("hang.txt", b"hello").await;
    let engine = world.engine();
    world.reader.hangs.notified().await;
    world.store.take_away();
    world.reader.let_go();
    world.store.logged(2).await;
    engine.shutdown(Duration::ZERO).await;
    assert_eq!(world.store.log(), ["intake-document: done", "extract-text: stale"]);
    assert_eq!(world.end("hang.txt"), None);
}

#[tokio::test(start_paused = true)]
async fn work_stops_before_a_lease_that_cannot_be_renewed_ends() {
    let world = World::new();
    world.offer("hang.txt", b"hello").await;
    let engine = world.engine();
    world.reader.hangs.notified().await;
    let leased_at = tokio::time::Instant::now();
    world.store.failing_renewals.store(true, Ordering::SeqCst);
    world.reader.given_up().await;
    assert!(leased_at.elapsed() < Duration::from_mins(1));
    world.store.failing_renewals.store(false, Ordering::SeqCst);
    engine.shutdown(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn work_stops_before_a_short_lease_ends_too() {
    let lease = Duration::from_millis(900);
    let world = World::with(|settings| {
        (settings.engine.lease, settings.engine.renew_every) = (lease, lease / 4);
    });
    world.offer("hang.txt", b"hello").await;
    let engine = world.engine();
    world.reader.hangs.notified().await;
    // At any moment between two looks.
    tokio::time::sleep(Duration::from_millis(430)).await;
    let last_renewal = tokio::time::Instant::now();
    world.store.failing_renewals.store(true, Ordering::SeqCst);
    world.reader.given_up().await;
    assert!(last_renewal.elapsed() < lease, "{:?}", last_renewal.elapsed());
    world.store.failing_renewals.store(false, Ordering::SeqCst);
    engine.shutdown(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn clock_that_is_set_ahead_takes_no_work_away() {
    let world = World::new();
    world.offer("hang.txt", b"hello").await;
    let engine = world.engine();
    world.reader.hangs.notified().await;
    let epoch = world.store.epochs("extract-text");
    for _ in 0..3 {
        // Every lease seems to have ended long ago.
        world.clock.set_ahead(Duration::from_hours(1));
        tokio::time::sleep(Duration::from_mins(2)).await;
    }
    assert_eq!(world.store.epochs("extract-text"), epoch, "nobody has swept it");
    assert_eq!(world.store.states("extract-text"), [TaskState::Running]);
    world.reader.let_go();
    world.store.logged(2).await;
    engine.shutdown(Duration::ZERO).await;
    assert_eq!(world.store.log(), ["intake-document: done", "extract-text: done"]);
}

#[tokio::test(start_paused = true)]
async fn work_without_progress_is_stopped_and_tried_on_large() {
    let world = World::new();
    world.offer("hang.txt", b"hello").await;
    let engine = world.engine();
    world.reader.hangs.notified().await;
    world.reader.given_up().await;
    world.reader.hangs.notified().await;
    engine.shutdown(Duration::ZERO).await;
    let log = world.store.log();
    assert_eq!(log[1], "extract-text: retry on large after timeout");
}

// The end of an engine.

#[tokio::test(start_paused = true)]
async fn shutdown_hands_running_work_back_after_the_grace() {
    let world = World::new();
    world.offer("hang.txt", b"hello").await;
    let engine = world.engine();
    world.reader.hangs.notified().await;
    let asked_at = tokio::time::Instant::now();
    engine.shutdown(Duration::from_secs(30)).await;
    assert!(asked_at.elapsed() >= Duration::from_secs(30));
    assert_eq!(world.store.log(), ["intake-document: done", "released 1"]);
    assert_eq!(world.store.attempts("extract-text")[0].total, 0, "no attempt is charged");
    assert_eq!(world.store.workers_listed(), 0);
}

// Receiving.

#[tokio::test(start_paused = true)]
async fn receive_writes_equal_content_once() {
    let world = World::new();
    let bytes = || Offered::Bytes(Bytes::from_static(b"same"));
    let offers = vec![offer("a.txt", bytes()), offer("b.txt", bytes())];
    let received = world.service.receive(world.tenant, offers).await.unwrap();
    assert_eq!(received[0].document_id, received[1].document_id);
    assert!(!received[0].duplicate && received[1].duplicate);
    assert_eq!(world.blobs.puts.load(Ordering::SeqCst), 1);
    world.offer("c.txt", b"same").await;
    assert_eq!(world.blobs.puts.load(Ordering::SeqCst), 1, "known content is not written");
}

#[tokio::test(start_paused = true)]
async fn receive_on_a_full_disk_accepts_nothing() {
    let world = World::new();
    world.blobs.free.store(1_000, Ordering::SeqCst);
    let offers = vec![offer("a.txt", Offered::Bytes(Bytes::from_static(b"x")))];
    let error = world.service.receive(world.tenant, offers).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DiskFull);
    assert!(error.message().contains("1000 B") && error.message().contains("512.0 MiB"));
    assert!(error.hint().unwrap().contains("limits.min_free_disk_bytes"));
    assert!(world.blobs.keys().is_empty());
}

#[tokio::test(start_paused = true)]
async fn receive_of_an_unreadable_item_accounts_for_it() {
    let world = World::new();
    let refused = docmill_core::Error::unreadable("cannot read `b.txt`: permission denied");
    let offers = vec![
        offer("a.txt", Offered::Bytes(Bytes::from_static(b"x"))),
        offer("b.txt", Offered::Refused(refused)),
    ];
    let received = world.service.receive(world.tenant, offers).await.unwrap();
    assert!(received[0].document_id.is_some() && received[1].document_id.is_none());
    assert_eq!(world.end("b.txt"), Some((S::Failed, R::FileMissingOrIncomplete)));
}

#[tokio::test(start_paused = true)]
async fn receive_of_files_small_and_large_stores_them_whole() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let mut offers = Vec::new();
    for (name, bytes) in [("small.txt", 10), ("large.txt", 3 << 20), ("again.txt", 3 << 20)] {
        let path = folder.path().join(name);
        std::fs::write(&path, vec![b'x'; bytes]).unwrap();
        offers.push(offer(name, Offered::File(std::fs::File::open(&path).unwrap(), path)));
    }
    let received = world.service.receive(world.tenant, offers).await.unwrap();
    assert_eq!(received[1].document_id, received[2].document_id);
    let keys = world.blobs.keys();
    assert_eq!(keys.len(), 2, "no upload is left behind: {keys:?}");
    let lengths: Vec<usize> = world.blobs.map.lock().unwrap().values().map(Bytes::len).collect();
    assert!(lengths.contains(&10) && lengths.contains(&(3 << 20)));
}

#[tokio::test(start_paused = true)]
async fn receive_of_a_stream_that_breaks_off_leaves_nothing() {
    let world = World::new();
    let (sender, pieces) = mpsc::channel(8);
    for _ in 0..3 {
        sender.send(Ok(Bytes::from(vec![0; 1 << 20]))).await.unwrap();
    }
    sender.send(Err(docmill_core::Error::unavailable("the client is gone"))).await.unwrap();
    let offers = vec![offer("a.bin", Offered::Stream(pieces))];
    let error = world.service.receive(world.tenant, offers).await.unwrap_err();
    assert_eq!(error.message(), "the client is gone");
    assert!(world.end("a.bin").is_none());
    tokio::task::yield_now().await;
    assert!(world.blobs.keys().is_empty(), "{:?}", world.blobs.keys());
}

// Containers.

#[tokio::test(start_paused = true)]
async fn unpack_accounts_for_every_member() {
    let world = World::new();
    world.offer("a.zip", b"one.txt=first\ntwo.txt=second\nsecret.txt\ncopy.txt=first").await;
    world.work().await;
    assert_eq!(world.end("a.zip"), Some((S::Completed, R::Success)));
    for name in ["one.txt", "two.txt", "copy.txt"] {
        assert_eq!(world.end(name), Some((S::Completed, R::Success)), "{name}");
    }
    assert_eq!(world.end("secret.txt"), Some((S::Failed, R::PasswordProtected)));
    let manifests = world.store.manifests();
    assert_eq!((manifests[0].declared, manifests[0].refused), (Some(4), 0));
    let originals = world.blobs.keys().iter().filter(|key| key.starts_with("documents/")).count();
    assert_eq!(originals, 3, "the container and two different members");
}

#[tokio::test(start_paused = true)]
async fn unpack_stopped_at_a_limit_counts_what_it_refused() {
    let world = World::new();
    world.offer("bomb.zip", b"one.txt=first\nnever\nnever").await;
    world.work().await;
    assert_eq!(world.end("bomb.zip"), Some((S::Failed, R::LimitExceeded)));
    assert_eq!(world.end("one.txt"), Some((S::Completed, R::Success)));
    let manifests = world.store.manifests();
    assert_eq!((manifests[0].declared, manifests[0].refused), (Some(3), 2));
}

#[tokio::test(start_paused = true)]
async fn unpack_beyond_the_nesting_limit_fails_with_the_setting() {
    let world = World::with(|settings| settings.limits.max_nesting = 1);
    world.offer("a.zip", b"b.zip=c.txt=deep").await;
    world.work().await;
    let end = world.store.end("b.zip").unwrap();
    assert_eq!((end.status, end.result), (S::Failed, R::LimitExceeded));
    assert!(end.error.unwrap().hint.unwrap().contains("limits.max_nesting"));
    assert!(world.end("c.txt").is_none());
}

// Calls.

#[tokio::test(start_paused = true)]
async fn call_for_an_unknown_id_is_not_found_and_names_it() {
    let world = World::new();
    let calls = [
        Call::Show { id: "nobody".into() },
        Call::Why { id: "nobody".into() },
        Call::Text { id: "nobody".into() },
        Call::Retry { id: Some("nobody".into()) },
    ];
    for call in calls {
        let error = world.service.call(world.tenant, call).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.message().contains("`nobody`"));
    }
}

#[tokio::test(start_paused = true)]
async fn engine_for_an_unknown_kind_is_refused_with_the_known_ones() {
    let world = World::new();
    let settings = &world.service.deps().settings.engine;
    let options = docmill_pipeline::EngineOptions {
        kinds: vec!["extract-txt".into()],
        ..docmill_pipeline::EngineOptions::new(settings)
    };
    let Err(error) = world.service.start_engine(options) else { panic!("it started") };
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.hint().unwrap().contains("extract-text"));
}

// What is told.

/// The value of a sample on the page for scrapers.
async fn told(world: &World, sample: &str) -> Option<f64> {
    let page = world.service.metrics().await.unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.map(|value| value.parse().unwrap())
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_counted_once_with_its_outcome() {
    let world = World::new();
    for name in ["a.txt", "once.txt", "crash.txt", "locked.txt", "a.odd"] {
        world.offer(name, name.as_bytes()).await;
    }
    world.work().await;
    let log = world.store.log();
    let reported = |kind: &str, what: &str| {
        log.iter().filter(|line| line.starts_with(&format!("{kind}: {what}"))).count() as f64
    };
    for (outcome, words) in [("completed", "done"), ("retried", "retry"), ("dead", "dead")] {
        for kind in ["intake-document", "extract-text"] {
            let sample = format!("docmill_tasks_ended_total{{kind=\"{kind}\",outcome=\"{outcome}\"}}");
            assert_eq!(told(&world, &sample).await, Some(reported(kind, words)), "{sample} of {log:?}");
        }
    }
    assert!(reported("extract-text", "retry") > 0.0 && reported("extract-text", "dead") > 0.0, "{log:?}");
    let spans = world.spans.ended();
    let attempts = spans.iter().filter(|span| !["read", "ingestion"].contains(&span.name.as_str()));
    assert_eq!(attempts.count(), log.len(), "one span an attempt");
    assert_eq!(told(&world, "docmill_worker_units_busy").await, Some(0.0));
    assert_eq!(told(&world, "docmill_worker_units").await, Some(0.0), "the worker has ended");
}

#[tokio::test(start_paused = true)]
async fn work_handed_back_or_taken_away_is_counted_as_such() {
    let ended =
        |outcome: &str| format!("docmill_tasks_ended_total{{kind=\"extract-text\",outcome=\"{outcome}\"}}");
    let world = World::new();
    world.offer("hang.txt", b"hello").await;
    let engine = world.engine();
    world.reader.hangs.notified().await;
    assert_eq!(told(&world, "docmill_worker_units").await, Some(256.0));
    assert_eq!(told(&world, "docmill_worker_units_busy").await, Some(1.0));
    engine.shutdown(Duration::ZERO).await;
    assert_eq!(told(&world, &ended("released")).await, Some(1.0));
    let engine = world.engine();
    world.reader.hangs.notified().await;
    world.store.take_away();
    world.reader.given_up().await;
    engine.shutdown(Duration::ZERO).await;
    assert_eq!(told(&world, &ended("abandoned")).await, Some(1.0));
    assert_eq!(told(&world, "docmill_leases_lost_total").await, Some(1.0));
}

#[tokio::test(start_paused = true)]
async fn spans_of_an_ingestion_hang_together() {
    let world = World::new();
    world.offer("a.txt", b"hello").await;
    world.work().await;
    let spans = world.spans.ended();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["read", "intake-document", "read", "extract-text", "ingestion"]);
    let root = &spans[4];
    assert_eq!(root.parent, None);
    for (read, task) in [(0, 1), (2, 3)] {
        assert_eq!(spans[read].parent, Some(spans[task].id));
        assert_eq!(spans[task].parent, Some(root.id));
    }
    assert!(spans.iter().all(|span| span.trace == root.trace && span.error.is_none()));
    assert!(!format!("{spans:?}").contains("a.txt"), "no span names a file");
}

#[tokio::test(start_paused = true)]
async fn scraping_often_counts_seldom() {
    let world = World::new();
    world.offer("a.txt", b"hello").await;
    for _ in 0..50 {
        assert_eq!(told(&world, "docmill_documents").await, Some(1.0));
    }
    let asked = || world.store.tallies.load(Ordering::SeqCst);
    assert_eq!(asked(), 1);
    // Counting that takes a second happens at most every hundred.
    world.store.slow_tallies.store(1_000, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(6)).await;
    for _ in 0..20 {
        told(&world, "docmill_documents").await.unwrap();
        tokio::time::sleep(Duration::from_secs(4)).await;
    }
    assert_eq!(asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn scrape_of_a_slow_or_broken_store_is_answered_all_the_same() {
    let world = World::new();
    world.offer("a.txt", b"hello").await;
    world.store.slow_tallies.store(60_000, Ordering::SeqCst);
    assert_eq!(told(&world, "docmill_store_up").await, Some(1.0), "slow is not down");
    assert_eq!(told(&world, "docmill_documents").await, None);
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(told(&world, "docmill_documents").await, Some(1.0), "it has come meanwhile");
    world.store.slow_tallies.store(0, Ordering::SeqCst);
    world.store.failing_tallies.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_hours(2)).await;
    assert_eq!(told(&world, "docmill_store_up").await, Some(0.0));
    assert_eq!(told(&world, "docmill_documents").await, None, "an old number is worse than none");
}

#[tokio::test(start_paused = true)]
async fn record_is_taken_of_documents_with_a_schema_and_of_no_others() {
    let world = World::with(|settings| settings.extract.schemas = vec!["note=words".into()]);
    world.offer("a.txt", b"hello there").await;
    world.offer("told-note.txt", b"doubtful words").await;
    world.offer("told-note-2.txt", b"unsuitable words").await;
    world.offer("told-note-3.txt", b"words that panic").await;
    world.work().await;
    for name in ["a.txt", "told-note.txt", "told-note-2.txt", "told-note-3.txt"] {
        assert_eq!(world.end(name), Some((S::Completed, R::Success)), "{name}");
    }
    assert_eq!(world.store.states("extract-record").len(), 3, "{:?}", world.store.log());
    let records = world.store.extracted();
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((record.extraction.schema.as_str(), record.version), ("words", 3));
    assert_eq!((record.extraction.data["word"].as_str(), record.reasons.len()), (Some("doubtful"), 1));
    // What broke on it costs a document its record, and nothing else.
    let problems = world.store.end("told-note-3.txt").unwrap().problems;
    assert_eq!((problems.len(), problems[0].code), (1, R::NotExtracted));
}

#[tokio::test(start_paused = true)]
async fn schema_that_is_not_there_is_a_warning() {
    let world = World::with(|settings| settings.extract.schemas = vec!["note=none".into()]);
    world.offer("told-note.txt", b"words").await;
    world.work().await;
    let end = world.store.end("told-note.txt").unwrap();
    assert_eq!((end.status, end.result), (S::Completed, R::Success));
    assert!(end.problems[0].message.contains("`none`"), "{:?}", end.problems);
}
