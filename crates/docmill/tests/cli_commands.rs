//! The commands, one after the other, on a small pile of files.

#![expect(clippy::unwrap_used, reason = "test binary")]

mod support;

use serde_json::Value;
use support::Mill;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[track_caller]
fn has_keys(value: &Value, wanted: &[&str]) {
    let found = keys(value);
    for key in wanted {
        assert!(found.contains(key), "`{key}` is missing among {found:?}");
    }
}

#[test]
fn ingest_then_search_list_show_text_and_get_agree() {
    let mill = Mill::new();
    mill.write("a.txt", "the quick brown alpaca\n");
    mill.write("sub/b.md", "# Llamas\n\nthey hum\n");
    mill.write("sub/copy.txt", "the quick brown alpaca\n");
    let answer = mill.run(&["ingest", "in", "--json"]).expect(0).json();
    has_keys(
        &answer,
        &[
            "batch_id",
            "received",
            "completed",
            "failed",
            "skipped",
            "cancelled",
            "duplicates",
            "children",
            "open",
            "elapsed_ms",
        ],
    );
    assert_eq!((answer["received"].as_u64(), answer["completed"].as_u64()), (Some(3), Some(3)));
    assert_eq!(answer["duplicates"].as_u64(), Some(1));

    let found = mill.run(&["search", "alpaca", "--json"]).expect(0).json();
    has_keys(&found, &["query", "mode", "took_ms", "hits"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    has_keys(&found["hits"][0], &["document_id", "name", "title", "score", "page", "snippet"]);
    let id = found["hits"][0]["document_id"].as_str().unwrap();

    let list = mill.run(&["list", "--json"]).expect(0).json();
    assert_eq!(list["documents"].as_array().unwrap().len(), 2);
    let shown = mill.run(&["show", id, "--json"]).expect(0).json();
    has_keys(
        &shown,
        &[
            "document_id",
            "content_hash",
            "name",
            "media_type",
            "bytes",
            "state",
            "title",
            "summary",
            "date",
            "type",
            "tags",
            "labels",
            "record",
            "problems",
            "needs_review",
            "ingestions",
            "artifacts",
            "parent",
            "children",
            "timeline",
        ],
    );
    assert_eq!(shown["ingestions"].as_array().unwrap().len(), 2);
    assert_eq!(mill.run(&["text", id]).expect(0).stdout, "the quick brown alpaca\n");

    mill.run(&["get", id, "-o", "out.txt"]).expect(0);
    assert_eq!(std::fs::metadata(mill.path("out.txt")).unwrap().len(), 23);
    mill.run(&["get", id, "-o", "out.txt"]).expect(1).says(&["out.txt", "--force"]);
    assert_eq!(mill.run(&["get", id, "-o", "-"]).expect(0).stdout, "the quick brown alpaca\n");
}

#[test]
fn status_why_audit_and_doctor_have_their_promised_keys() {
    let mill = Mill::new();
    mill.write("a.txt", "x\n");
    mill.run(&["ingest", "in", "-q"]).expect(0);
    let status = mill.run(&["status", "--json"]).expect(0).json();
    has_keys(&status, &["documents", "ingestions", "tasks", "workers", "docs_per_s"]);
    has_keys(&status["ingestions"], &["in_progress", "completed", "failed"]);
    has_keys(&status["tasks"], &["queued", "running", "dead"]);
    let list = mill.run(&["list", "--json"]).expect(0).json();
    let id = list["documents"][0]["document_id"].as_str().unwrap();
    let why = mill.run(&["why", id, "--json"]).expect(0).json();
    has_keys(
        &why,
        &[
            "id",
            "state",
            "stage",
            "waiting_for",
            "attempt",
            "max_attempts",
            "last_error",
            "next_try_at",
            "lease",
        ],
    );
    let audit = mill.run(&["audit", "--json"]).expect(0).json();
    has_keys(
        &audit,
        &[
            "balanced",
            "expected",
            "completed",
            "failed",
            "skipped",
            "duplicates",
            "cancelled",
            "open",
            "containers",
            "blobs",
        ],
    );
    has_keys(&audit["blobs"], &["referenced", "missing", "orphaned"]);
    let doctor = mill.run(&["doctor", "--json"]).expect(0).json();
    has_keys(&doctor, &["ok", "checks"]);
    has_keys(&doctor["checks"][0], &["name", "ok", "detail", "hint"]);
    assert!(mill.run(&["audit"]).expect(0).stdout.contains("1 expected = 1 completed"));
}

#[test]
fn the_same_batch_again_adds_nothing_and_a_new_file_only_itself() {
    let mill = Mill::new();
    mill.write("a.txt", "a\n");
    let first = mill.run(&["ingest", "in", "--batch", "b", "--json"]).expect(0).json();
    let again = mill.run(&["ingest", "in", "--batch", "b", "--json"]).expect(0).json();
    assert_eq!(first["batch_id"], again["batch_id"]);
    assert_eq!(again["received"].as_u64(), Some(1));
    mill.write("b.txt", "b\n");
    let more = mill.run(&["ingest", "in", "--batch", "b", "--json"]).expect(0).json();
    assert_eq!(more["received"].as_u64(), Some(2));
    mill.run(&["audit", "--batch", "b"]).expect(0);
    let other = mill.run(&["ingest", "in", "--json"]).expect(0).json();
    assert_ne!(other["batch_id"], first["batch_id"]);
    assert_eq!(other["duplicates"].as_u64(), Some(2));
}

#[test]
fn no_wait_leaves_the_work_for_the_next_worker() {
    let mill = Mill::new();
    mill.write("a.txt", "the left-over walrus\n");
    let answer = mill.run(&["ingest", "in", "--no-wait", "--json"]).expect(0).says(&["docmill work"]).json();
    assert_eq!(answer["open"].as_u64(), Some(1));
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let found = mill.run(&["search", "walrus", "--json"]).expect(0).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn standard_input_needs_a_name_and_then_is_a_document() {
    let mill = Mill::new();
    mill.run(&["ingest", "-"]).expect(2).says(&["--name"]);
    mill.run_with_input(&["ingest", "-", "--name", "letter.txt"], b"dear capybara\n").expect(0);
    let list = mill.run(&["list", "--json"]).expect(0).json();
    assert_eq!(list["documents"][0]["name"], "letter.txt");
}

#[test]
fn read_stores_nothing_and_answers_a_line_a_file_in_order() {
    let mill = Mill::new();
    mill.write("a.txt", "alpha\n");
    mill.write("b.txt", "beta\n");
    let run = mill.run(&["read", "in/b.txt", "in/a.txt", "--json"]).expect(0);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines[0]["path"].as_str(), lines[1]["path"].as_str()), (Some("in/b.txt"), Some("in/a.txt")));
    has_keys(
        &lines[0],
        &[
            "path",
            "media_type",
            "result",
            "problems",
            "page_count",
            "language",
            "quality",
            "text",
            "metadata",
            "pages",
            "children",
        ],
    );
    has_keys(&lines[0]["pages"][0], &["number", "source", "reason", "quality", "text"]);
    assert_eq!(mill.run(&["read", "--text", "in/a.txt"]).expect(0).stdout, "alpha\n");
    assert!(!mill.data().try_exists().unwrap());
    mill.run(&["read", "in/a.txt", "--ocr", "sometimes"]).expect(2).says(&["sometimes", "always"]);
    mill.run(&["read", "in/none.txt"]).expect(1).says(&["none.txt", "does not exist"]);
}

#[test]
fn one_file_that_is_missing_keeps_the_others_from_nothing() {
    let mill = Mill::new();
    mill.write("a.txt", "It comes to 12.50 GBP\n");
    for command in [&["read"][..], &["classify"], &["extract", "--schema", "receipt"]] {
        let both = [command, &["--json", "in/a.txt", "in/none.txt"]].concat();
        let said = mill.run(&both).expect(7).says(&["none.txt"]).json();
        assert_eq!(said["path"], "in/a.txt");
        let none = [command, &["in/none.txt", "in/nothing.txt"]].concat();
        mill.run(&none).expect(1).says(&["none.txt", "nothing.txt"]);
    }
}

#[test]
fn index_is_rebuilt_from_what_was_read() {
    let mill = Mill::new();
    mill.write("a.txt", "the quick brown alpaca\n");
    mill.write("b.txt", "a slow green alpaca\n");
    mill.run(&["ingest", "in"]).expect(0);
    let answer = mill.run(&["index", "rebuild", "--json"]).expect(0).json();
    assert_eq!(answer["count"], 2);
    let found = mill.run(&["search", "alpaca", "--json"]).expect(0).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 2);
}

#[test]
fn search_without_a_model_finds_by_words_and_says_so() {
    let mill = Mill::new();
    mill.write("a.txt", "the quick brown alpaca\n");
    mill.write("b.txt", "a slow green alpaca\n");
    mill.run(&["ingest", "in"]).expect(0);
    // Nobody knows what is meant; the way out is named.
    mill.run(&["search", "camels", "--mode", "semantic"]).expect(1).says(&["docmill models pull"]);
    mill.run(&["search", "camels", "--limit", "0"]).expect(2);
    let found = mill.run(&["search", "quick alpaca", "--mode", "hybrid", "--json"]).expect(0).json();
    assert_eq!((found["mode"].as_str(), found["hits"].as_array().unwrap().len()), (Some("text"), 1));
    assert!(found["note"].as_str().unwrap().contains("docmill models pull"), "{found}");
    // All words first; if no document has them all, some of them.
    let both = mill.run(&["search", "quick green alpaca", "--json"]).expect(0).json();
    assert_eq!(both["hits"].as_array().unwrap().len(), 2);
    assert!(both["note"].as_str().unwrap().contains("some of them"), "{both}");
    let exact = mill.run(&["search", "\"quick green\"", "--json"]).expect(0).json();
    assert_eq!(exact["hits"].as_array().unwrap().len(), 0);
}

#[test]
fn backup_is_restored_whole_and_searchable() {
    let mill = Mill::new();
    mill.write("a.txt", "remember the ocelot\n");
    mill.run(&["ingest", "in", "-q"]).expect(0);
    mill.run(&["backup", "copy"]).expect(0);
    mill.run(&["restore", "copy"]).expect(1).says(&["not empty", "--data"]);
    let restored = mill.with_data("restored");
    restored.run(&["restore", "copy"]).expect(0);
    restored.run(&["audit"]).expect(0);
    let found = restored.run(&["search", "ocelot", "--json"]).expect(0).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    mill.with_data("other").run(&["restore", "in"]).expect(3).says(&["is not a backup"]);
}

#[test]
fn missing_original_is_named_and_keeps_nobody_else_from_being_processed() {
    let mill = Mill::new();
    mill.write("a.txt", "the quick brown alpaca\n");
    mill.write("b.txt", "a slow green alpaca\n");
    mill.run(&["ingest", "in"]).expect(0);
    let list = mill.run(&["list", "--json"]).expect(0).json();
    let ids: Vec<&str> =
        list["documents"].as_array().unwrap().iter().map(|d| d["document_id"].as_str().unwrap()).collect();
    let original = |id: &str| mill.data().join(format!("blobs/documents/{id}.txt"));
    std::fs::remove_file(original(ids[0])).unwrap();
    let both = mill.run(&["reprocess", ids[0], ids[1], "--json"]).expect(0).json();
    assert_eq!((&both["count"], &both["reasons"]["missing"]), (&1.into(), &1.into()), "{both}");
    mill.run(&["reprocess", ids[0]]).expect(3).says(&["is missing", "backup"]);
    std::fs::remove_file(original(ids[1])).unwrap();
    let none = mill.run(&["reprocess", ids[0], ids[1], "--json"]).expect(0).json();
    assert_eq!((&none["count"], &none["reasons"]["missing"]), (&0.into(), &2.into()), "{none}");
}

#[test]
fn events_are_json_lines_without_gaps() {
    let mill = Mill::new();
    mill.write("a.txt", "x\n");
    mill.run(&["ingest", "in", "-q"]).expect(0);
    let run = mill.run(&["events", "--json"]).expect(0);
    let ids: Vec<i64> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, (1..=ids.len() as i64).collect::<Vec<_>>());
    let finished = mill.run(&["events", "--json", "--type", "JOB_FINISHED"]).expect(0);
    assert_eq!(finished.stdout.lines().count(), 1);
}

#[test]
fn help_is_a_command_too() {
    let mill = Mill::new();
    let all = mill.run(&["help"]).expect(0).stdout;
    assert_eq!(all, mill.run(&["--help"]).expect(0).stdout);
    let one = mill.run(&["help", "schema", "add"]).expect(0).stdout;
    assert!(one.contains("Usage: docmill schema add"), "{one}");
    mill.run(&["help", "frobnicate"]).expect(2);
}

#[test]
fn documents_are_processed_again_by_what_lists_know_of_them() {
    let mill = Mill::new();
    mill.write("a.txt", "the quick brown alpaca\n");
    mill.run(&["ingest", "in", "--batch", "first"]).expect(0);
    mill.write("b.txt", "a slow green alpaca\n");
    mill.run(&["ingest", "in/b.txt", "--batch", "second"]).expect(0);
    let count = |args: &[&str]| {
        let args = [&["reprocess", "--dry-run", "--json"], args].concat();
        mill.run(&args).expect(0).json()["count"].as_u64().unwrap()
    };
    assert_eq!(count(&[]), 2, "to count all changes nothing");
    assert_eq!(count(&["--where", "name=a.txt"]), 1);
    assert_eq!(count(&["--where", "name=none.txt"]), 0);
    assert_eq!(count(&["--where", "batch=second and state=ready"]), 1);
    assert_eq!(count(&["--where", "batch=second and name=a.txt"]), 0);
    assert_eq!(count(&["--where", "tag=nothing"]), 0);
    mill.run(&["reprocess", "--where", "batch=third"]).expect(3).says(&["third"]);
    mill.run(&["reprocess", "--where", "size=3"]).expect(2).says(&["`tag`"]);
    // Every stage of the vocabulary can be named.
    assert_eq!(count(&["--all", "--from", "embedding"]), 2);
    let drawn = mill.run(&["reprocess", "--all", "--from", "rendering", "--json"]).expect(0);
    let drawn = drawn.says(&["nothing to render"]).json();
    assert_eq!((&drawn["count"], &drawn["reasons"]["drawn_when_viewed"]), (&0.into(), &2.into()), "{drawn}");
}

#[test]
fn wrong_usage_is_2_and_an_unknown_id_is_3() {
    let mill = Mill::new();
    mill.run(&["frobnicate"]).expect(2);
    mill.run(&["ingest"]).expect(2);
    mill.run(&["reprocess"]).expect(2);
    mill.run(&["--server", "http://example", "status"]).expect(2).says(&["later version"]);
    let unknown = "01900000-0000-7000-8000-000000000000";
    for command in ["show", "text", "why", "retry", "reprocess"] {
        mill.run(&[command, unknown]).expect(3).says(&[unknown]);
        // What is no id at all is the id of nothing.
        mill.run(&[command, "nosuch"]).expect(3).says(&["nosuch"]);
    }
    mill.run(&["review", "show", "1"]).expect(3).says(&["`1` is no review id", "docmill review list"]);
    mill.run(&["work", "--slots", "0"]).expect(2);
    mill.run(&["list", "--limit", "0"]).expect(2);
    mill.run(&["cancel", "nosuch"]).expect(3).says(&["nosuch"]);
    mill.run::<&str>(&["--version"]).expect(0);
}
