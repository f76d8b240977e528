//! The real server against its own OpenAPI document: schemathesis asks every route with values that the document allows
//! and with values that it does not, and compares every answer with it.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "test binary")]

mod support;

use std::process::ExitCode;

use docmill_testkit::archive::archive;
use docmill_testkit::conformance::{self, Property};
use support::Mill;
use support::http::{Client, Part};

/// A record of it is doubtful: there is something to review.
const BILL: &[u8] = b"INVOICE\nInvoice number: R-1\nInvoice date: 2024-03-09\nAmount due soon\n";

fn main() -> ExitCode {
    conformance::run(vec![
        Property::asked_by(
            "DOCMILL_TEST_SCHEMATHESIS",
            "every_route_answers_as_the_document_says",
            every_route_answers_as_the_document_says,
        )
        .into_trial(),
    ])
}

fn every_route_answers_as_the_document_says(program: Option<&str>) {
    let program = program.expect("it is asked for by naming the program");
    let mill = Mill::new();
    let server = mill.serve();
    let client = Client::new(&server.address);
    // Something to find: lists that are empty would hide what is wrong with their lines.
    let zip = archive([("in/a.txt", &b"inside a"[..]), ("b.txt", &b"inside b"[..])]);
    for (name, content) in [
        ("a.txt", &b"a letter"[..]),
        ("b.pdf", b"%PDF-1.7\nbroken"),
        ("c.xyz", &[7; 300]),
        ("d.zip", &zip),
        ("e.txt", BILL),
    ] {
        client.upload("/v1/documents?mode=sync", &[], &[Part::file(name, content)]).expect(200);
    }
    client.send("POST", "/v1/batches", &[], b"").expect(201);
    let mut run = mill.program(program);
    run.args(["run", &format!("http://{}/openapi.json", server.address)])
        // A stream never ends, and the first key that is made would shut everybody out.
        .args(["--exclude-path", "/v1/events/stream", "--exclude-operation-id", "createKey"])
        // Each request makes up to a hundred documents, which takes seconds: `http/generate.rs` asks these.
        .args(["--exclude-path-regex", "/generate$"])
        .args(["--checks", "all"])
        // Without keys nothing is refused for want of one, and whoever waits for a document may wait a minute.
        .args(["--exclude-checks", "ignored_auth,positive_data_acceptance"])
        .args(["--phases", "examples,coverage,fuzzing", "--max-examples", "25", "--seed", "1"])
        .args([
            "--request-timeout",
            "90",
            "--no-shrink",
            "--continue-on-failure",
            "--output-truncate",
            "false",
        ])
        .args(["--suppress-health-check", "all", "--warnings", "off"]);
    let run = support::finish(&mut run);
    assert_eq!(run.code, Some(0), "{}\n{}", run.stdout, run.stderr);
    // And the server has survived it all.
    client.get("/v1/status").expect(200);
    // Whoever seals a batch may claim that more came than did: nothing else may be missing in the ledger.
    let claimed: i64 = client.get("/v1/batches?limit=1000").expect(200).json()["batches"]
        .as_array()
        .expect("batches")
        .iter()
        .filter_map(|batch| Some(batch["expected"].as_i64()? - batch["received"].as_i64()?))
        .sum();
    let ledger = client.get("/v1/ledger").expect(200).json();
    let count = |key: &str| ledger[key].as_i64().expect("a number");
    let skipped: i64 =
        ledger["skipped"].as_object().expect("reasons").values().filter_map(serde_json::Value::as_i64).sum();
    let found = count("open") + count("completed") + count("failed") + count("cancelled") + skipped;
    assert_eq!(count("expected") - found, claimed, "{ledger}");
    assert_eq!(server.stop(), Some(0));
}
