//! What the real binary logs: a line for every attempt, nothing of a document, no secret.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test binary")]

mod support;

use docmill_core::clock::Timestamp;
use serde_json::Value;
use support::{Mill, Run, finish};

/// The fields of every line about an attempt.
const FIELDS: &[&str] = &[
    "ingestion_id",
    "document_id",
    "worker_id",
    "attempt",
    "step",
    "duration_ms",
    "status",
    "batch_id",
    "tenant",
];

/// Takes everything in, then works it off in a process whose stderr is nothing but its log.
fn work(mill: &Mill, settings: &[(&str, &str)]) -> Run {
    mill.run(&["ingest", "in", "--batch", "b", "--no-wait"]).expect(0);
    let mut command = mill.command(&["work", "--exit-when-idle"]);
    finish(command.envs(settings.iter().copied()))
}

/// Every line, which must be an object of its own.
fn objects(run: &Run) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    run.stderr.lines().map(parse).collect()
}

#[test]
fn every_attempt_is_one_json_line_with_its_fields() {
    let mill = Mill::new();
    mill.write("good.txt", "all is well\n");
    mill.write("poison.txt", "DOCMILL-PROBE:segfault\n");
    let run = work(&mill, &[("DOCMILL_LOG_FORMAT", "json"), ("DOCMILL_LOG_LEVEL", "info")]).expect(0);
    let lines = objects(&run);
    for line in &lines {
        serde_json::from_value::<Timestamp>(line["timestamp"].clone()).unwrap();
        assert!(line["level"].is_string() && line["message"].is_string(), "{line}");
    }
    let attempts: Vec<&Value> = lines.iter().filter(|line| line.get("status").is_some()).collect();
    for line in &attempts {
        for field in FIELDS {
            assert!(line.get(field).is_some(), "`{field}` is missing in {line}");
        }
        assert!(line["attempt"].as_u64().unwrap() >= 1 && line["duration_ms"].is_u64(), "{line}");
    }

    let dead = mill.run(&["dead", "list", "--json"]).expect(0).json();
    let letter = &dead["dead"][0];
    let told = |of_poison: bool| {
        let is_poison = |line: &&&Value| line["ingestion_id"] == letter["ingestion_id"];
        let chosen = attempts.iter().filter(move |line| is_poison(line) == of_poison);
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        chosen
            .map(|line| {
                let attempt = line["attempt"].as_u64().unwrap();
                (text(&line["step"]), attempt, text(&line["status"]), text(&line["error_kind"]))
            })
            .collect::<Vec<_>>()
    };
    let row = |step: &str, attempt, status: &str, error: &str| {
        (step.to_owned(), attempt, status.to_owned(), error.to_owned())
    };
    assert_eq!(
        told(true),
        [
            row("intake-document", 1, "completed", "-"),
            row("extract-text", 1, "retried", "child_crashed"),
            row("extract-text", 2, "retried", "child_crashed"),
            row("extract-text", 3, "dead", "child_crashed"),
        ]
    );
    assert_eq!(
        told(false),
        [row("intake-document", 1, "completed", "-"), row("extract-text", 1, "completed", "-")]
    );
    let last = attempts.iter().find(|line| line["status"] == "dead").unwrap();
    assert_eq!(last["level"], "WARN");
    assert_eq!(last["document_id"], letter["document_id"]);
    assert_eq!(last["task_id"], letter["task_id"]);
    assert_eq!(last["error"], "child was killed by SIGSEGV");
    assert_eq!(last["message"], "task failed");
}

#[test]
fn text_lines_carry_the_same_fields_and_the_default_shows_only_what_went_wrong() {
    let mill = Mill::new();
    mill.write("good.txt", "all is well\n");
    mill.write("poison.txt", "DOCMILL-PROBE:segfault\n");
    let run = work(&mill, &[]).expect(0);
    assert!(!run.stderr.contains("completed"), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 3, "{}", run.stderr);
    for line in run.stderr.lines() {
        assert!(line.contains(" WARN "), "{line}");
        for field in FIELDS {
            assert!(line.contains(&format!("{field}=")), "`{field}` is missing in {line}");
        }
    }
    mill.write("other.txt", "all is well here too\n");
    let run = work(&mill, &[("DOCMILL_LOG_LEVEL", "info")]).expect(0);
    assert!(run.stderr.contains("status=\"completed\""), "{}", run.stderr);
}

#[test]
fn log_never_says_what_a_document_says() {
    let mill = Mill::new();
    // A reader that panics over it, and one that quotes it in its error.
    mill.write("panics.txt", "DOCMILL-PROBE:panic: over Wilhelmina\n");
    mill.write("quotes.txt", "DOCMILL-PROBE:Wilhelmina is no deed\n");
    mill.write("crashes.txt", "DOCMILL-PROBE:abort\nWilhelmina\n");
    mill.write("reads.txt", "dear Wilhelmina\n");
    let run = work(&mill, &[("DOCMILL_LOG", "debug"), ("DOCMILL_LOG_FORMAT", "json")]).expect(0);
    assert!(!run.stderr.contains("Wilhelmina"), "{}", run.stderr);
    let bug = objects(&run).into_iter().find(|line| line["error_kind"] == "bug").unwrap();
    assert_eq!((bug["level"].as_str(), bug["status"].as_str()), (Some("ERROR"), Some("dead")));
    // Its owner is told.
    let dead = mill.run(&["dead", "list", "--json"]).expect(0).stdout;
    assert!(dead.contains("over Wilhelmina"), "{dead}");

    // Nor how a file is called, unless somebody looks into how docmill works.
    mill.write("Wilhelmina.txt", "DOCMILL-PROBE:oom\n");
    let run =
        work(&mill, &[("DOCMILL_LOG_LEVEL", "info"), ("DOCMILL_SANDBOX_MEMORY_LARGE", "1GiB")]).expect(0);
    assert!(run.stderr.contains("out_of_memory"), "{}", run.stderr);
    assert!(!run.stderr.contains("Wilhelmina"), "{}", run.stderr);
}

#[test]
fn passwords_in_urls_are_shown_to_nobody() {
    let mill = Mill::new();
    let secret = "postgres://joe:hunter2@db.example/docs?password=hunter2";
    let shown = "postgres://joe:***@db.example/docs?password=***";
    let run = finish(mill.command(&["status", "--server", secret]).env("DOCMILL_LOG", "trace")).expect(2);
    assert!(run.stderr.contains(shown) && !run.stderr.contains("hunter2"), "{}", run.stderr);
    // A setting that is not what it should be is named with its value.
    let run = finish(mill.command(&["status"]).env("DOCMILL_LISTEN", secret)).expect(1);
    assert!(run.stderr.contains(shown) && !run.stderr.contains("hunter2"), "{}", run.stderr);
    for args in [&["config", "show"][..], &["config", "show", "--origin"], &["config", "show", "--json"]] {
        let run = finish(mill.command(args).env("DOCMILL_BLOBS_URL", "file://joe:hunter2@here")).expect(0);
        assert!(run.stdout.contains("file://joe:***@here"), "{}", run.stdout);
        assert!(!run.stdout.contains("hunter2"), "{}", run.stdout);
    }
}

#[test]
fn level_or_format_that_does_not_exist_is_refused_with_those_that_do() {
    let mill = Mill::new();
    let mut command = mill.command(&["status"]);
    command.env("DOCMILL_LOG_LEVEL", "loud").env("DOCMILL_LOG_FORMAT", "xml");
    finish(&mut command).expect(1).says(&[
        "DOCMILL_LOG_LEVEL: `log.level`: `loud` is none of `error`, `warn`, `info`, `debug`, `trace`",
        "DOCMILL_LOG_FORMAT: `log.format`: `xml` is none of `text`, `json`",
    ]);
}
