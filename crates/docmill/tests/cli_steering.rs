//! What people do to work under way: pause and resume, cancel, look after dead letters, follow events.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;
use support::tasks::{tasks, until};
use support::{Mill, children_of, signal};

/// Documents of which reading never ends; so many may be put aside while others pass, and one more works.
const SLEEPERS: usize = 5;

/// A place whose batch `b` of so many texts is queued and not begun.
fn queued(texts: u64) -> Mill {
    let mill = Mill::new();
    for n in 0..texts {
        mill.write(format!("{n}.txt"), format!("number {n}, an ibis\n"));
    }
    mill.run(&["ingest", "in", "--batch", "b", "--no-wait"]).expect(0);
    mill
}

/// How many a command says it has changed.
fn count(mill: &Mill, args: &[&str]) -> u64 {
    let mut args = args.to_vec();
    args.push("--json");
    mill.run(&args).expect(0).json()["count"].as_u64().unwrap()
}

/// Tasks by state, as `status` counts them: queued, held, running, dead.
fn counts(mill: &Mill) -> [u64; 4] {
    let status = mill.run(&["status", "--json"]).expect(0).json();
    ["queued", "held", "running", "dead"].map(|state| status["tasks"][state].as_u64().unwrap())
}

fn ingestions(mill: &Mill, status: &str) -> u64 {
    mill.run(&["status", "--json"]).expect(0).json()["ingestions"][status].as_u64().unwrap()
}

#[test]
fn paused_batch_is_left_alone_until_it_is_resumed() {
    let mill = queued(5);
    assert_eq!(count(&mill, &["pause", "b"]), 5);
    assert_eq!(counts(&mill), [0, 5, 0, 0]);
    assert_eq!(count(&mill, &["pause", "b"]), 0, "a second time changes nothing");
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    assert_eq!(counts(&mill), [0, 5, 0, 0], "nobody has touched it");

    // What comes in later waits as well.
    mill.write("late.txt", "a late ibis\n");
    mill.run(&["ingest", "in", "--batch", "b", "--no-wait"]).expect(0);
    assert_eq!(counts(&mill), [0, 6, 0, 0]);
    let list = mill.run(&["list", "--json"]).expect(0).json();
    let why =
        mill.run(&["why", list["documents"][0]["document_id"].as_str().unwrap(), "--json"]).expect(0).json();
    assert!(why["waiting_for"].as_str().unwrap().contains("paused"), "{why}");
    let why = mill.run(&["why", list["documents"][0]["document_id"].as_str().unwrap()]).expect(0).stdout;
    assert!(why.contains("paused") && !why.contains("tried again"), "nothing was tried yet: {why}");

    assert_eq!(count(&mill, &["resume", "b"]), 6);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    assert_eq!((counts(&mill), ingestions(&mill, "completed")), ([0, 0, 0, 0], 6));
    mill.run(&["audit"]).expect(0);
}

#[test]
fn queued_work_that_nobody_does_is_said_to_wait() {
    let mill = queued(1);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let asked = mill.run(&["reprocess", "--all", "--dry-run"]).expect(0).stderr;
    assert!(!asked.contains("no worker"), "nothing was queued: {asked}");
    mill.run(&["reprocess", "--all"]).expect(0).says(&["no worker runs; `docmill work --exit-when-idle`"]);
}

#[test]
fn search_in_an_index_that_is_behind_says_so() {
    let mill = queued(1);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    // Search goes on with what it had while the index is built again; without its files it has nothing.
    mill.run(&["index", "rebuild", "--no-wait"]).expect(0);
    assert!(mill.run(&["search", "ibis"]).expect(0).stdout.starts_with("1 hit"));
    std::fs::remove_dir_all(mill.data().join("index")).unwrap();
    mill.run(&["search", "ibis"]).expect(0).says(&["behind; `docmill work --exit-when-idle`"]);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let found = mill.run(&["search", "ibis"]).expect(0);
    assert!(found.stdout.starts_with("1 hit") && !found.stderr.contains("behind"), "{}", found.stdout);
}

#[test]
fn paused_kind_is_left_alone_until_it_is_resumed() {
    let mill = queued(3);
    mill.run(&["pause", "--kind", "no-such-kind"]).expect(2).says(&["no-such-kind"]);
    mill.run(&["pause", "--kind", "extract-text"]).expect(0);
    let status = mill.run(&["status", "--json"]).expect(0).json();
    assert_eq!(status["paused_kinds"], serde_json::json!(["extract-text"]));
    // The kind before it is done; then there is nothing left that may be done.
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let states: Vec<_> = tasks(&mill).into_iter().map(|task| (task.kind, task.state)).collect();
    for n in 0..3 {
        let expected = [("intake-document", "done"), ("extract-text", "queued")];
        let found = states[2 * n..2 * n + 2].iter().map(|(kind, state)| (kind.as_str(), state.as_str()));
        assert!(found.eq(expected), "{states:?}");
    }
    mill.run(&["resume", "--kind", "extract-text"]).expect(0);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    assert_eq!(ingestions(&mill, "completed"), 3);
    // What is not held cannot be freed.
    assert_eq!(count(&mill, &["resume", "--kind", "extract-text"]), 0);
}

#[test]
fn worker_may_be_limited_to_kinds_that_no_task_has_yet() {
    let mill = queued(1);
    let kinds = "text-from-image,render-pdf";
    let run = mill.run(&["work", "--exit-when-idle", "--kinds", kinds]).expect(0);
    run.says(&["no task of the kind `text-from-image` exists yet", "`render-pdf`"]);
    assert_eq!(ingestions(&mill, "completed"), 0);
    mill.run(&["work", "--exit-when-idle", "--kinds", "frobnicate"])
        .expect(2)
        .says(&["frobnicate", "extract-text"]);
}

#[test]
fn pause_needs_one_thing_that_is_there() {
    let mill = queued(1);
    mill.run(&["pause"]).expect(2);
    mill.run(&["pause", "b", "--kind", "extract-text"]).expect(2);
    for command in ["pause", "resume", "cancel"] {
        mill.run(&[command, "nosuch"]).expect(3).says(&["nosuch", "docmill status"]);
    }
}

#[test]
fn cancelled_batch_is_dropped_and_stays_accounted_for() {
    let mill = queued(4);
    assert_eq!(count(&mill, &["cancel", "b"]), 4);
    assert_eq!((counts(&mill), ingestions(&mill, "cancelled")), ([0, 0, 0, 0], 4));
    assert_eq!(count(&mill, &["cancel", "b"]), 0, "a second time changes nothing");
    let told = mill.run(&["cancel", "b"]).expect(0).stdout;
    assert!(told.contains("0 items cancelled"), "{told}");
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    assert_eq!(ingestions(&mill, "completed"), 0);
    let audit = mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!((audit["balanced"].as_bool(), audit["cancelled"].as_u64()), (Some(true), Some(4)));
    mill.run(&["ingest", "in", "--batch", "b"]).expect(1).says(&["`b`", "cancelled"]);
    // The same files under another name are no matter of the cancelled batch.
    let again = mill.run(&["ingest", "in", "--batch", "c", "--json"]).expect(0).json();
    assert_eq!((again["completed"].as_u64(), again["duplicates"].as_u64()), (Some(4), Some(4)));
}

#[test]
fn cancel_stops_what_runs_in_another_process() {
    let mill = Mill::new();
    for n in 0..SLEEPERS {
        mill.write(format!("sleeper-{n}.txt"), format!("DOCMILL-PROBE:sleep\n{n}"));
    }
    std::fs::create_dir(mill.data()).unwrap();
    std::fs::write(
        mill.data().join("docmill.toml"),
        "[sandbox]\nchildren = 1\nwall_without_progress = \"1h\"\n",
    )
    .unwrap();
    let mut server = mill.serve();
    let mut ingest = mill.command(&["ingest", "in", "--batch", "b", "--json"]);
    let ingest = ingest.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let pid = server.child.id();
    until(&mut server.child, "every sleeper has a child of its own", || children_of(pid).len() == SLEEPERS);
    let asleep = children_of(pid);
    assert_eq!(count(&mill, &["cancel", "b"]), SLEEPERS as u64);
    // Whoever waits for the batch is told, and the children are gone: by themselves they would sleep on.
    let output = ingest.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["cancelled"].as_u64(), Some(SLEEPERS as u64), "{answer}");
    until(&mut server.child, "the children are gone", || {
        let left = children_of(pid);
        asleep.iter().all(|child| !left.contains(child))
    });
    assert!(tasks(&mill).iter().all(|task| task.attempt == 0));
    mill.run(&["audit"]).expect(0);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn dead_letters_are_listed_replayed_and_given_up() {
    let mill = Mill::new();
    mill.write("good.txt", "a good ibis\n");
    for n in 0..3 {
        mill.write(format!("bad-{n}.txt"), format!("DOCMILL-PROBE:panic\n{n}"));
    }
    assert!(mill.run(&["dead", "list"]).expect(0).stdout.contains("no dead letters"));
    mill.run(&["ingest", "in", "--batch", "b"]).expect(7);
    let list = mill.run(&["dead", "list", "--json"]).expect(0).json();
    let letters = list["dead"].as_array().unwrap();
    assert_eq!(letters.len(), 3);
    assert!(
        letters.iter().all(|letter| letter["error"]["kind"] == "bug" && letter["attempt"] == 1),
        "{list}"
    );
    let shown = mill.run(&["dead", "list"]).expect(0).stdout;
    assert!(shown.contains("bad-1.txt") && shown.contains("panics on purpose"), "{shown}");
    assert_eq!(
        mill.run(&["dead", "list", "--limit", "2", "--json"]).expect(0).json()["dead"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let ids: Vec<String> = letters.iter().map(|letter| letter["task_id"].to_string()).collect();

    // Replayed, one of them dies again with fresh attempts; the number twice is the number once.
    assert_eq!(count(&mill, &["dead", "replay", &ids[0], &ids[0]]), 1);
    assert_eq!(counts(&mill), [1, 0, 0, 2]);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    assert_eq!(counts(&mill), [0, 0, 0, 3]);
    mill.run(&["audit"]).expect(0);

    // Given up, they are no longer listed, and only by number can they be had again.
    assert_eq!(count(&mill, &["dead", "drop", &ids[1]]), 1);
    mill.run(&["dead", "drop", &ids[1]]).expect(3).says(&[&ids[1], "docmill dead list"]);
    assert_eq!(count(&mill, &["dead", "drop", "--all"]), 2);
    assert_eq!(counts(&mill), [0, 0, 0, 0]);
    assert_eq!(count(&mill, &["dead", "replay", "--all"]), 0);
    assert_eq!(count(&mill, &["dead", "replay", &ids[1]]), 1);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    assert_eq!(counts(&mill), [0, 0, 0, 1]);
    mill.run(&["audit"]).expect(0);

    mill.run(&["dead", "replay"]).expect(2);
    mill.run(&["dead", "replay", "999999"]).expect(3).says(&["999999"]);
    mill.run(&["dead", "drop", "999999"]).expect(3).says(&["999999"]);
}

#[test]
fn follower_of_events_hears_what_happens_and_ends_when_told() {
    let mill = Mill::new();
    mill.write("a.txt", "an ibis\n");
    let server = mill.serve();
    let mut command = mill.command(&["events", "--follow", "--json"]);
    let mut follower = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut events = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(events.next().unwrap()["type"], "WORKER_STARTED", "what was there before comes first");
    for batch in ["one", "two"] {
        mill.run(&["ingest", "in", "--batch", batch, "-q"]).expect(0);
        let heard: Vec<Value> = events.by_ref().take_while(|event| event["type"] != "JOB_FINISHED").collect();
        assert!(heard.iter().any(|event| event["type"] == "DOCUMENT_PROCESSED"), "{heard:?}");
        assert!(
            heard.windows(2).all(|pair| pair[1]["id"].as_i64() == pair[0]["id"].as_i64().map(|id| id + 1))
        );
    }
    signal(&follower, Signal::INT);
    assert_eq!(follower.wait().unwrap().code(), Some(130));
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn follower_of_events_owns_a_place_that_nobody_serves() {
    let mill = Mill::new();
    mill.write("a.txt", "an ibis\n");
    let mut command = mill.command(&["events", "--follow", "--json", "--type", "JOB_FINISHED"]);
    let mut follower = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    until(&mut follower, "it answers others", || mill.data().join("docmill.sock").try_exists().unwrap());
    let answer = mill.run(&["ingest", "in", "--batch", "b", "--json"]).expect(0).json();
    assert_eq!(answer["completed"].as_u64(), Some(1));
    let mut line = String::new();
    BufReader::new(follower.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let event: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (event["type"].as_str(), event["batch_id"].as_str()),
        (Some("JOB_FINISHED"), answer["batch_id"].as_str())
    );
    signal(&follower, Signal::TERM);
    assert_eq!(follower.wait().unwrap().code(), Some(130));
}
