//! Bringing documents in.

use std::io::Write as _;

use docmill_testkit::archive::archive;
use serde_json::json;

use crate::support::Mill;
use crate::support::http::{Part, Reply, form};
use crate::{House, text};

#[test]
fn one_file_is_queued_and_can_be_followed_to_its_text() {
    let house = House::open();
    let reply = house.client.upload("/v1/documents", &[], &[Part::file("letter.txt", b"dear Wilhelmina\n")]);
    let reply = reply.expect(202);
    let queued = reply.json();
    assert_eq!((&queued["status"], &queued["duplicate"]), (&json!("queued"), &json!(false)));
    assert_eq!(reply.headers["location"], format!("/v1/ingestions/{}", text(&queued, "ingestion_id")));
    // A document is at work as long as one of its ingestions is.
    while house.client.get(&reply.headers["location"]).expect(200).json()["status"] != "completed" {}
    // The same again, and this time we wait: same document, another ingestion.
    let done = house.add("letter.txt", b"dear Wilhelmina\n");
    assert_eq!(done["document_id"], queued["document_id"]);
    assert_eq!(text(&done, "text").trim(), "dear Wilhelmina");
    assert_eq!((&done["state"], &done["status"]), (&json!("ready"), &json!("completed")));
    assert_eq!(done["ingestions"].as_array().unwrap().len(), 2);
    assert_eq!(done["ingestions"][0]["duplicate"], true);
    let ingestion = house.client.get(&reply.headers["location"]).expect(200).json();
    assert_eq!(ingestion["document_id"], queued["document_id"]);
    assert_eq!(ingestion["uploader"], "local");
}

#[test]
fn many_files_with_folders_metadata_batch_and_priority_come_in_together() {
    let house = House::open();
    let batch =
        house.client.post("/v1/batches", &json!({ "name": "march", "priority": 7 })).expect(201).json();
    let id = text(&batch, "batch_id");
    let parts = [
        Part::file("a/one.txt", b"one"),
        Part::field("metadata", r#"{"case": 17}"#),
        Part::file("b/one.txt", b"two"),
        Part::field("batch_id", id),
        Part::field("priority", "3"),
        Part::file("März.txt", "drei".as_bytes()),
    ];
    let items = house.client.upload("/v1/documents?mode=sync", &[], &parts).expect(200).json();
    let items = items["items"].as_array().unwrap();
    let names: Vec<&str> = items.iter().map(|item| text(item, "name")).collect();
    assert_eq!(names, ["one.txt", "one.txt", "März.txt"]);
    for (item, origin) in items.iter().zip(["a/one.txt", "b/one.txt", "März.txt"]) {
        let ingestion = &item["ingestions"][0];
        assert_eq!(ingestion["origin"], origin);
        assert_eq!(ingestion["source_metadata"], json!({ "case": 17 }));
        assert_eq!(ingestion["batch_id"].as_str(), Some(id));
    }
    let sealed =
        house.client.json("PATCH", &format!("/v1/batches/{id}"), &json!({ "sealed": true, "expected": 3 }));
    assert_eq!(sealed.expect(200).json()["state"], "finished");
    let audit = house.client.get(&format!("/v1/batches/{id}/audit")).expect(200).json();
    assert_eq!((&audit["balanced"], &audit["expected"]), (&json!(true), &json!(3)));
    house.mill.run(&["audit", "--batch", "march"]).expect(0);
    let late = [Part::field("batch_id", id), Part::file("late.txt", b"late")];
    house.client.upload("/v1/documents", &[], &late).problem(409, "conflict");
    let audit = house.mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!(audit["blobs"]["orphaned"], 0, "what came too late leaves nothing: {audit}");
}

#[test]
fn a_request_that_makes_no_sense_is_refused_and_leaves_nothing() {
    let house = House::open();
    let file = Part::file("a.txt", b"content");
    let bad: &[(&[Part<'_>], &str)] = &[
        (&[], "no file"),
        (&[Part::field("metadata", "{}")], "no file"),
        (&[Part::file("a.txt", b"x"), Part::field("metadata", "{")], "`metadata` is not JSON"),
        (&[Part::file("a.txt", b"x"), Part::field("metadata", "[]")], "not a JSON object"),
        (&[Part::file("a.txt", b"x"), Part::field("priority", "100")], "`100`"),
        (&[Part::file("a.txt", b"x"), Part::field("batch_id", "nope")], "`nope` is no batch id"),
        (&[Part::file("a.txt", b"x"), Part::field("colour", "red")], "no field `colour`"),
    ];
    for (parts, says) in bad {
        let problem = house.client.upload("/v1/documents", &[], parts).problem(400, "invalid_request");
        assert!(text(&problem, "detail").contains(says), "{problem}");
    }
    let unknown = "018f0000-0000-7000-8000-000000000000";
    house
        .client
        .upload("/v1/documents", &[], &[file, Part::field("batch_id", unknown)])
        .problem(404, "not_found");
    house.client.post("/v1/documents", &json!({})).problem(400, "invalid_request");
    house
        .client
        .upload("/v1/documents?mode=never", &[], &[Part::file("a", b"x")])
        .problem(400, "invalid_request");
    assert_eq!(house.client.get("/v1/status").expect(200).json()["documents"], 0);
    assert!(house.client.get("/v1/documents").expect(200).json()["documents"].as_array().unwrap().is_empty());
}

#[test]
fn a_file_over_the_limit_is_413_and_nothing_of_its_request_stays() {
    let mill = Mill::new();
    std::fs::create_dir(mill.data()).unwrap();
    std::fs::write(mill.data().join("docmill.toml"), "[limits]\nmax_document_bytes = \"1MiB\"\n").unwrap();
    let house = House::of(mill);
    let large = vec![7; 3 << 20];
    let parts = [Part::file("small.txt", b"small"), Part::file("large.bin", &large)];
    let problem = house.client.upload("/v1/documents", &[], &parts).problem(413, "limit_exceeded");
    assert!(
        text(&problem, "detail").contains("1048576") && text(&problem, "hint").contains("max_document_bytes")
    );
    assert_eq!(house.client.get("/v1/status").expect(200).json()["documents"], 0);
    let audit = house.mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!(audit["blobs"], json!({ "referenced": 0, "missing": 0, "orphaned": 0 }));
}

#[test]
fn a_full_disk_is_507_before_anything_is_read() {
    let mill = Mill::new();
    std::fs::create_dir(mill.data()).unwrap();
    std::fs::write(mill.data().join("docmill.toml"), "[limits]\nmin_free_disk_bytes = \"900TiB\"\n").unwrap();
    let house = House::of(mill);
    let reply = house.client.upload("/v1/documents", &[], &[Part::file("a.txt", b"x")]);
    assert_eq!(reply.headers["retry-after"], "60");
    assert_eq!(reply.problem(507, "disk_full")["retryable"], true);
    // Whoever sends everything before they listen hears it too.
    let large = vec![7; 24 << 20];
    house.client.upload("/v1/documents", &[], &[Part::file("large.bin", &large)]).problem(507, "disk_full");
}

#[test]
fn whoever_waits_for_the_work_keeps_nobody_from_bringing_more() {
    let mill = Mill::new().with_settings(&[("DOCMILL_HTTP_MAX_UPLOADS", "1")]);
    let house = House::of(mill);
    house.mill.run(&["pause", "--kind", "intake-document"]).expect(0);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| house.add("a.txt", b"one"));
        while house.client.get("/v1/status").expect(200).json()["documents"] != 1 {}
        // The place is free a moment after the rows are there.
        while house.client.upload("/v1/documents", &[], &[Part::file("b.txt", b"two")]).status != 202 {}
        assert!(!waiting.is_finished(), "it was not brought in beside it, but after it");
        house.mill.run(&["resume", "--kind", "intake-document"]).expect(0);
        assert_eq!(waiting.join().unwrap()["state"], "ready");
    });
}

#[test]
fn a_large_file_and_an_archive_go_through() {
    let house = House::open();
    let large = b"a large marabou\n".repeat(500_000);
    let done = house.add("large.txt", &large);
    assert_eq!(done["bytes"].as_u64(), Some(large.len() as u64));
    assert!(text(&done, "text").starts_with("a large marabou"));
    let zip = archive([("in/a.txt", &b"inside a"[..]), ("b.txt", &b"inside b"[..])]);
    let done = house.add("box.zip", &zip);
    assert_eq!(done["children"].as_array().unwrap().len(), 2, "{done}");
    house.mill.run(&["audit"]).expect(0);
}

#[test]
fn an_unknown_type_is_stored_and_completes_as_unsupported() {
    let house = House::open();
    let done = house.add("thing.xyz", &[7; 300]);
    assert_eq!((&done["state"], &done["status"]), (&json!("unsupported"), &json!("completed")));
    let again = house.client.send(
        "POST",
        &format!("/v1/documents/{}/reprocess", text(&done, "document_id")),
        &[],
        b"",
    );
    assert_eq!(again.expect(200).json(), json!({ "status": "skipped", "reason": "unsupported" }));
}

#[test]
fn the_same_idempotency_key_adds_once_and_another_request_with_it_is_refused() {
    let house = House::open();
    let send = |key: &str, content: &[u8]| {
        house.client.upload("/v1/documents", &[("Idempotency-Key", key)], &[Part::file("a.txt", content)])
    };
    let first = send("order-66", b"the letter").expect(202);
    assert!(!first.headers.contains_key("idempotency-replayed"));
    for _ in 0..3 {
        let again = send("order-66", b"the letter").expect(202);
        assert_eq!(again.json(), first.json());
        assert_eq!(again.headers["idempotency-replayed"], "true");
        assert_eq!(again.headers["location"], first.headers["location"]);
    }
    let problem = send("order-66", b"another letter").problem(409, "conflict");
    assert!(text(&problem, "detail").contains("order-66"));
    let other = send("order-67", b"the letter").expect(202).json();
    assert_ne!(other["ingestion_id"], first.json()["ingestion_id"]);
    send(&"x".repeat(256), b"x").problem(400, "invalid_request");
    let status = house.client.get("/v1/status").expect(200).json();
    assert_eq!(status["documents"], 1);
    house.mill.run(&["audit"]).expect(0);
}

#[test]
fn the_key_is_remembered_over_a_restart() {
    let house = House::open();
    let parts = [Part::file("a.txt", b"the letter")];
    let headers = [("Idempotency-Key", "k")];
    let first = house.client.upload("/v1/documents", &headers, &parts).expect(202).json();
    let House { mill, server, .. } = house;
    drop(server);
    let house = House::of(mill);
    assert_eq!(house.client.upload("/v1/documents", &headers, &parts).expect(202).json(), first);
}

/// The client hears 202 and the document is there after the restart, or it hears nothing and nothing is there.
#[test]
fn a_server_that_is_killed_during_an_upload_has_all_or_nothing() {
    let mut mill = Mill::new();
    for cut in [0.1, 0.5, 0.9, 1.0] {
        let mut house = House::of(mill);
        let before = house.client.get("/v1/status").expect(200).json()["documents"].as_u64().unwrap();
        let content = format!("letter {cut}\n").repeat(200_000);
        let body = form(&[Part::file("letter.txt", content.as_bytes())]);
        let kind = ("Content-Type", "multipart/form-data; boundary=oOo");
        let mut stream = house.client.begin("POST", "/v1/documents", &[kind], body.len());
        let sent = (body.len() as f64 * cut) as usize;
        stream.write_all(&body[..sent]).unwrap();
        stream.flush().unwrap();
        house.server.child.kill().unwrap();
        house.server.child.wait().unwrap();
        let mut heard = String::new();
        // What was on its way when the server died may be lost with it.
        let heard = std::io::Read::read_to_string(&mut stream, &mut heard).map(|_| heard).unwrap_or_default();
        let House { mill: back, server, .. } = house;
        drop(server);
        let house = House::of(back);
        let after = house.client.get("/v1/status").expect(200).json()["documents"].as_u64().unwrap();
        if heard.starts_with("HTTP/1.1 202") {
            assert_eq!(after, before + 1, "it was told that its document is there");
        }
        if cut < 1.0 {
            assert!(heard.is_empty() && after == before, "half a request left something: {heard}");
        }
        let audit = house.mill.run(&["audit", "--json"]).expect(0).json();
        assert_eq!((&audit["balanced"], &audit["blobs"]["missing"]), (&json!(true), &json!(0)), "{audit}");
        mill = house.mill;
    }
}

#[test]
fn a_client_that_goes_away_leaves_nothing() {
    let house = House::open();
    let content = b"letter\n".repeat(300_000);
    let body = form(&[Part::file("letter.txt", &content)]);
    let kind = ("Content-Type", "multipart/form-data; boundary=oOo");
    let mut stream = house.client.begin("POST", "/v1/documents", &[kind], body.len());
    stream.write_all(&body[..body.len() / 2]).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    Reply::read(stream, false).problem(400, "invalid_request");
    assert_eq!(house.client.get("/v1/status").expect(200).json()["documents"], 0);
    house.mill.run(&["audit"]).expect(0);
}
