//! What Prometheus is told by the real binary.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test binary")]

mod openmetrics;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use docmill_core::metrics::{ALL, AttemptOutcome, BlobOperation, ChildEnd, Outcome, TokenDirection, Type};
use docmill_testkit::archive::archive;
use openmetrics::{Page, scrape};
use serde_json::Value;
use support::http::get;
use support::tasks::tasks;
use support::{Mill, signal};

/// Items of many fates: read, unpacked, empty, unknown, broken, refused, twice the same.
fn fill(mill: &Mill) {
    for n in 0..40 {
        mill.write(format!("{n}.txt"), format!("letter number {n} to Wilhelmina\n"));
    }
    mill.write("again.txt", "letter number 7 to Wilhelmina\n");
    mill.write("empty.txt", "");
    mill.write("picture.bin", [7; 100]);
    mill.write("broken.pdf", "%PDF-1.7\nnothing more\n");
    mill.write("box.zip", archive([("a.txt", &b"inside a"[..]), ("b.txt", &b"inside b"[..])]));
}

fn count(value: &Value) -> f64 {
    value.as_u64().unwrap_or_else(|| panic!("not a count: {value}")) as f64
}

#[test]
fn scraped_numbers_agree_with_the_ledger_and_the_queue() {
    let mill = Mill::new();
    fill(&mill);
    let server = mill.serve();
    mill.run(&["ingest", "in", "--batch", "b", "--json"]).expect(0);
    let page = scrape(&server.address);
    let audit = mill.run(&["audit", "--json"]).expect(0).json();
    let status = mill.run(&["status", "--json"]).expect(0).json();

    assert_eq!(page.value("docmill_store_up", &[]), Some(1.0));
    assert_eq!(page.value("docmill_ledger_balanced", &[]), Some(1.0));
    assert_eq!(page.value("docmill_documents", &[]), Some(count(&status["documents"])));
    for (name, expected) in [
        ("completed", count(&audit["completed"])),
        ("failed", count(&audit["failed"])),
        ("cancelled", count(&audit["cancelled"])),
        ("in_progress", 0.0),
    ] {
        assert_eq!(page.value("docmill_ingestions", &[("status", name)]), Some(expected), "{name}");
    }
    assert_eq!(page.value("docmill_batches", &[("state", "finished")]), Some(1.0));
    assert_eq!(page.value("docmill_batches", &[("state", "open")]), Some(0.0));
    assert_eq!(page.value("docmill_events_total", &[]), Some(count(&status["last_event"])));
    assert_eq!(page.value("docmill_index_lag_changes", &[]), Some(0.0));
    assert_eq!(page.value("docmill_workers", &[]), Some(1.0));

    // Every task that the database calls done was counted once, under its kind.
    let mut done: BTreeMap<String, f64> = BTreeMap::new();
    for task in tasks(&mill) {
        assert_eq!(task.state, "done", "{task:?}");
        *done.entry(task.kind).or_default() += 1.0;
    }
    assert!(done.len() >= 3, "{done:?}");
    for (kind, n) in &done {
        let ended: f64 = ["completed", "skipped", "failed"]
            .iter()
            .filter_map(|outcome| {
                page.value("docmill_tasks_ended_total", &[("kind", kind), ("outcome", outcome)])
            })
            .sum();
        assert_eq!(Some(ended), Some(*n), "{kind}");
        assert_eq!(page.value("docmill_task_duration_seconds_count", &[("kind", kind)]), Some(*n), "{kind}");
        assert_eq!(page.value("docmill_tasks", &[("kind", kind), ("state", "queued")]), Some(0.0), "{kind}");
    }
    // Each item waited once in the queue; what follows the intake does so at once.
    let items = count(&audit["expected"]);
    let waited = page.value("docmill_task_wait_seconds_count", &[("kind", "intake-document")]);
    assert!(waited.is_some_and(|n| n >= 1.0 && n <= items), "{waited:?} of {items}");

    // Every original and every transcript was put once; and nothing failed.
    let blobs = count(&audit["blobs"]["referenced"]);
    assert!(page.sum("docmill_blob_operations_total", &[("operation", "put"), ("outcome", "ok")]) >= blobs);
    assert!(page.sum("docmill_blob_operations_total", &[("outcome", "failed")]) < 1.0);
    assert!(page.value("docmill_blob_written_bytes_total", &[]).unwrap() > 1_000.0);
    let transactions = page.sum("docmill_store_transactions_total", &[("outcome", "ok")]);
    assert_eq!(page.value("docmill_store_transaction_duration_seconds_count", &[]), Some(transactions));
    assert_eq!(page.value("docmill_store_group_size_count", &[]), Some(transactions));
    assert!(page.value("docmill_children_started_total", &[]).unwrap() >= 1.0);
    assert!(page.value("docmill_disk_free_bytes", &[]).unwrap() > 0.0);
    assert_eq!(page.value("docmill_worker_units_busy", &[]), Some(0.0));
    assert!(page.value("process_resident_memory_bytes", &[]).unwrap() > 1e6);
    assert!(page.value("process_cpu_seconds_total", &[]).unwrap() > 0.0);
    assert_eq!(page.value("docmill_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), Some(1.0));
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn page_is_the_catalogue_and_its_labels_are_bounded() {
    let mill = Mill::new();
    fill(&mill);
    let server = mill.serve();
    mill.run(&["ingest", "in", "--tenant", "acme-secret", "--batch", "batch-secret"]).expect(0);
    let page = scrape(&server.address);
    for metric in ALL {
        let family = page.families.get(metric.name).unwrap_or_else(|| panic!("{} is missing", metric.name));
        let kind = match metric.kind {
            Type::Counter => "counter",
            Type::Gauge => "gauge",
            Type::Histogram => "histogram",
            Type::Info => "info",
        };
        assert_eq!((family.kind.as_str(), family.help.trim_end_matches('.')), (kind, metric.help));
        for (sample, labels, _) in &family.samples {
            let names: Vec<&str> = labels.keys().map(String::as_str).filter(|name| *name != "le").collect();
            let mut expected = metric.labels.to_vec();
            expected.sort_unstable();
            assert_eq!(names, expected, "{sample}");
        }
    }
    assert_eq!(page.families.len(), ALL.len());

    let mut words: Vec<&str> = vec![env!("CARGO_PKG_VERSION"), "other"];
    words.extend(AttemptOutcome::ALL.iter().map(|v| v.name()));
    words.extend(Outcome::ALL.iter().map(|v| v.name()));
    words.extend(ChildEnd::ALL.iter().map(|v| v.name()));
    words.extend(BlobOperation::ALL.iter().map(|v| v.name()));
    words.extend(TokenDirection::ALL.iter().map(|v| v.name()));
    words.extend(["queued", "held", "running", "dead", "in_progress", "cancelled"]);
    words.extend(["open", "sealed", "finished", "completed", "skipped", "failed"]);
    words.extend(docmill_pipeline::stages::ALL.iter().map(|handler| handler.kind()).map(|kind| {
        let name: &'static str = kind.to_string().leak();
        name
    }));
    for (sample, labels, _) in page.families.values().flat_map(|family| &family.samples) {
        for (name, value) in labels.iter().filter(|(name, _)| *name != "le") {
            assert!(words.contains(&value.as_str()), "{sample}: `{name}` is `{value}`");
        }
    }
    for secret in ["acme", "secret", "Wilhelmina", ".txt", "box.zip", mill.data().to_str().unwrap()] {
        assert!(!page.text.contains(secret), "{secret} is told to whoever asks");
    }
}

#[test]
fn ledger_that_does_not_balance_shows() {
    let mill = Mill::new();
    mill.write("a.txt", "one\n");
    mill.run(&["ingest", "in"]).expect(0);
    let connection = rusqlite::Connection::open(mill.data().join("docmill.db")).unwrap();
    connection.execute("UPDATE batch SET expected = expected + 1", []).unwrap();
    drop(connection);
    mill.run(&["audit"]).expect(7);
    let server = mill.serve();
    assert_eq!(scrape(&server.address).value("docmill_ledger_balanced", &[]), Some(0.0));
}

/// A process that says where its metrics are.
struct Worker {
    child: Child,
    address: String,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Already gone is fine: the test has ended it.
        if self.child.kill().is_ok() {
            self.child.wait().unwrap();
        }
    }
}

fn start(mill: &Mill, args: &[&str]) -> Worker {
    let mut command = mill.command(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    Worker { child, address: said["metrics"].as_str().unwrap().to_owned() }
}

#[test]
fn worker_shows_metrics_on_an_address_of_its_own() {
    let mill = Mill::new();
    fill(&mill);
    mill.run(&["ingest", "in", "--no-wait"]).expect(0);
    let mut worker = start(&mill, &["work", "--json", "--metrics", "127.0.0.1:0"]);
    let page = loop {
        let page: Page = scrape(&worker.address);
        if tasks(&mill).iter().all(|task| task.state == "done") {
            break page;
        }
    };
    assert!(page.value("docmill_worker_units", &[]) == Some(256.0));
    assert!(scrape(&worker.address).sum("docmill_tasks_ended_total", &[("outcome", "completed")]) > 40.0);
    assert!(get(&worker.address, "/healthz", &worker.address).ends_with("ok\n"));
    assert!(get(&worker.address, "/readyz", &worker.address).ends_with("ready\n"));
    assert!(get(&worker.address, "/metrics", "evil.example").starts_with("HTTP/1.1 421"));
    for hidden in ["/", "/v1/status", "/v1/events", "/v1/dead"] {
        assert!(get(&worker.address, hidden, &worker.address).starts_with("HTTP/1.1 404"), "{hidden}");
    }
    signal(&worker.child, rustix::process::Signal::TERM);
    assert_eq!(worker.child.wait().unwrap().code(), Some(0));
}

#[test]
fn server_shows_metrics_on_a_second_address_if_told_to() {
    let mill = Mill::new();
    let mut command = mill.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    command.env("DOCMILL_METRICS_LISTEN", "0");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    for address in ["listen", "metrics"] {
        let address = said[address].as_str().unwrap();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        scrape(address);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn address_for_metrics_that_is_none_or_is_taken_is_refused() {
    let mill = Mill::new();
    mill.run(&["work", "--metrics", "here"]).expect(1).says(&["metrics.listen", "`here`", "9464"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    mill.run(&["work", "--metrics", &address]).expect(1).says(&[
        "cannot show metrics on",
        &address,
        "metrics.listen",
    ]);
}
