//! Batches, dead letters, problems, and how everything stands.

use serde_json::{Value, json};

use crate::support::http::Part;
use crate::{House, text};

#[test]
fn a_batch_is_paused_resumed_reprioritised_sealed_and_cancelled() {
    let house = House::open();
    let batch = house.client.send("POST", "/v1/batches", &[], b"").expect(201).json();
    let path = format!("/v1/batches/{}", text(&batch, "batch_id"));
    let change = |body: Value| house.client.json("PATCH", &path, &body);
    assert_eq!(change(json!({ "paused": true, "priority": 5 })).expect(200).json()["paused"], true);
    for n in 0..3 {
        let content = format!("letter {n}");
        let id = text(&batch, "batch_id");
        let parts = [Part::file("a.txt", content.as_bytes()), Part::field("batch_id", id)];
        let queued = house.client.upload("/v1/documents", &[], &parts).expect(202).json();
        let why = house.client.get(&format!("/v1/why/{}", text(&queued, "ingestion_id"))).expect(200).json();
        assert!(text(&why, "waiting_for").contains("is paused"), "{why}");
    }
    let shown = house.client.get(&path).expect(200).json();
    assert_eq!((&shown["priority"], &shown["received"], &shown["open"]), (&json!(5), &json!(3), &json!(3)));
    change(json!({ "priority": 100 })).problem(400, "invalid_request");
    change(json!({ "sealed": false })).problem(400, "invalid_request");
    change(json!({ "expected": 3 })).problem(400, "invalid_request");
    change(json!({ "paused": "yes" })).problem(400, "invalid_request");
    let cancelled = house.client.send("DELETE", &path, &[], &[]).expect(200).json();
    assert_eq!((&cancelled["state"], &cancelled["cancelled"]), (&json!("cancelled"), &json!(3)));
    let list = house.client.get("/v1/batches?limit=1").expect(200).json();
    assert_eq!(list["batches"][0]["batch_id"], batch["batch_id"]);
    // The same name is the same batch.
    let named = json!({ "name": "again" });
    let first = house.client.post("/v1/batches", &named).expect(201).json();
    assert_eq!(house.client.post("/v1/batches", &named).expect(200).json()["batch_id"], first["batch_id"]);
    let pages = house.client.get("/v1/batches?limit=1").expect(200).json();
    let next =
        house.client.get(&format!("/v1/batches?limit=1&cursor={}", text(&pages, "next_cursor"))).expect(200);
    assert_eq!(next.json()["batches"][0]["batch_id"], batch["batch_id"]);
    // And the name is as good as the id.
    let path = "/v1/batches/again";
    assert_eq!(house.client.get(path).expect(200).json()["batch_id"], first["batch_id"]);
    let paused = house.client.json("PATCH", path, &json!({ "pause": true })).expect(200).json();
    assert_eq!((&paused["batch_id"], &paused["paused"]), (&first["batch_id"], &json!(true)));
    assert_eq!(house.client.get("/v1/batches/again/audit").expect(200).json()["balanced"], true);
    let gone = house.client.send("DELETE", path, &[], &[]).expect(200).json();
    assert_eq!((&gone["batch_id"], &gone["state"]), (&first["batch_id"], &json!("cancelled")));
    house.client.get("/v1/batches/nosuch").problem(404, "not_found");
    house.client.get("/v1/batches/018f0000-0000-7000-8000-000000000000").problem(404, "not_found");
    house.mill.run(&["audit"]).expect(0);
}

#[test]
fn problems_are_grouped_by_cause_and_tried_again_together() {
    let house = House::open();
    for n in 0..3 {
        house.add(&format!("{n}.pdf"), format!("%PDF-1.7\nbroken {n}\n").as_bytes());
    }
    house.add("good.txt", b"fine");
    let problems = house.client.get("/v1/problems").expect(200).json();
    let groups = problems["problems"].as_array().unwrap();
    assert_eq!(groups.len(), 1, "{problems}");
    let group = &groups[0];
    assert_eq!(group["count"], 3, "{problems}");
    assert_eq!(group["samples"].as_array().unwrap().len(), 3);
    assert!(!text(&group["samples"][0], "message").is_empty());
    let cause = text(group, "cause");
    let again = house.client.post(&format!("/v1/problems/{cause}/retry"), &json!({})).expect(200).json();
    assert_eq!(again["count"], 3, "{again}");
    house.client.post("/v1/problems/odd/retry", &json!({})).problem(400, "invalid_request");
    assert_eq!(house.client.post("/v1/problems/encrypted/retry", &json!({})).expect(200).json()["count"], 0);
}

#[test]
fn dead_letters_are_replayed_and_dropped_by_number_or_all() {
    let house = House::open();
    let dead = house.client.get("/v1/dead").expect(200).json();
    assert_eq!(dead, json!({ "dead": [] }));
    for path in ["/v1/dead/replay", "/v1/dead/drop"] {
        assert_eq!(house.client.post(path, &json!({ "all": true })).expect(200).json()["count"], 0);
        house.client.post(path, &json!({})).problem(400, "invalid_request");
        house.client.post(path, &json!({ "all": true, "ids": [1] })).problem(400, "invalid_request");
        house.client.post(path, &json!({ "ids": [1] })).problem(404, "not_found");
    }
}

#[test]
fn status_ledger_workers_doctor_and_me_answer() {
    let house = House::open();
    house.add("a.txt", b"x");
    let status = house.client.get("/v1/status").expect(200).json();
    assert_eq!((&status["documents"], &status["ingestions"]["completed"]), (&json!(1), &json!(1)));
    let ledger = house.client.get("/v1/ledger").expect(200).json();
    assert_eq!((&ledger["balanced"], &ledger["expected"]), (&json!(true), &json!(1)));
    let workers = house.client.get("/v1/workers").expect(200).json();
    assert_eq!(workers["workers"][0]["pid"], house.server.child.id());
    assert_eq!(house.client.get("/v1/doctor").expect(200).json()["ok"], true);
    let me = house.client.get("/v1/me").expect(200).json();
    assert_eq!(
        (&me["tenant"], &me["role"], &me["key_needed"]),
        (&json!("local"), &json!("admin"), &json!(false))
    );
}

#[test]
fn many_documents_are_processed_again_by_id_and_by_what_they_have_in_common() {
    let house = House::open();
    let ids: Vec<Value> = (0..3)
        .map(|n| house.add(&format!("{n}.txt"), format!("n {n}").as_bytes())["document_id"].clone())
        .collect();
    let again = |body: Value| house.client.post("/v1/documents/reprocess", &body);
    let dry = again(json!({ "type": "text/plain", "dry_run": true })).expect(200).json();
    assert_eq!((&dry["count"], &dry["dry_run"]), (&json!(3), &json!(true)));
    assert_eq!(again(json!({ "ids": ids[..2] })).expect(200).json()["count"], 2);
    again(json!({})).problem(400, "invalid_request");
    again(json!({ "ids": ["nope"] })).problem(400, "invalid_request");
    again(json!({ "state": "ready", "type": "a and state=failed" })).problem(400, "invalid_request");
}
