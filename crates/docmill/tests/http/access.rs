//! Keys, roles, the audit log, and addresses that others can reach.

use serde_json::{Value, json};

use crate::support::Mill;
use crate::support::http::{Client, Part};
use crate::{House, text};

/// A key of a tenant, made by the command line.
#[track_caller]
pub(crate) fn key(mill: &Mill, tenant: &str, role: &str) -> String {
    let made =
        mill.run(&["--tenant", tenant, "key", "create", "--name", role, "--role", role, "--json"]).expect(0);
    text(&made.json(), "key").to_owned()
}

#[test]
fn once_there_is_a_key_everybody_needs_one_and_roles_hold() {
    let house = House::open();
    house.client.get("/v1/status").expect(200);
    let made = house.client.post("/v1/keys", &json!({ "name": "first", "role": "admin" })).expect(201).json();
    let admin = text(&made, "key").to_owned();
    assert!(admin.starts_with("dm_") && admin.len() > 30, "{made}");
    let refused = house.client.get("/v1/status");
    assert!(refused.headers["www-authenticate"].starts_with("Bearer"));
    refused.problem(401, "unauthorized");
    for wrong in ["dm_wrong", "", "x y"] {
        house.client.with_key(wrong).get("/v1/status").problem(401, "unauthorized");
    }
    let admin = house.client.with_key(&admin);
    let writer = house.client.with_key(&key(&house.mill, "local", "write"));
    let reader = house.client.with_key(&key(&house.mill, "local", "read"));
    let file = || [Part::file("a.txt", b"x")];
    reader.upload("/v1/documents", &[], &file()).problem(403, "forbidden");
    let queued = writer.upload("/v1/documents", &[], &file()).expect(202).json();
    let id = text(&queued, "document_id");
    assert_eq!(
        reader.get(&format!("/v1/documents/{id}")).expect(200).json()["ingestions"][0]["uploader"],
        "write"
    );
    reader.send("DELETE", &format!("/v1/documents/{id}"), &[], &[]).problem(403, "forbidden");
    for client in [&reader, &writer] {
        client.get("/v1/keys").problem(403, "forbidden");
        client.get("/v1/audit-log").problem(403, "forbidden");
        client.post("/v1/keys", &json!({ "name": "x", "role": "admin" })).problem(403, "forbidden");
    }
    let keys = admin.get("/v1/keys").expect(200);
    assert!(!keys.text().contains(text(&made, "key")), "a key is shown once");
    let keys = keys.json();
    assert_eq!(keys["keys"].as_array().unwrap().len(), 3);
    let reading = keys["keys"].as_array().unwrap().iter().find(|key| key["role"] == "read").unwrap();
    admin.send("DELETE", &format!("/v1/keys/{}", text(reading, "key_id")), &[], &[]).expect(204);
    reader.get("/v1/status").problem(401, "unauthorized");
    writer.get("/v1/status").expect(200);
    // A name is no secret: where a key is needed, any name of the machine will do.
    writer.send("GET", "/v1/status", &[("Host", "mill.example")], &[]).expect(200);
}

#[test]
fn the_last_key_taken_back_does_not_open_the_server() {
    let house = House::open();
    let made = house.client.post("/v1/keys", &json!({ "name": "k", "role": "admin" })).expect(201).json();
    house.mill.run(&["key", "revoke", text(&made, "key_id")]).expect(0);
    house.client.get("/v1/status").problem(401, "unauthorized");
    house.client.with_key(text(&made, "key")).get("/v1/status").problem(401, "unauthorized");
}

#[test]
fn the_audit_log_holds_every_change_in_a_chain() {
    let house = House::open();
    house.add("a.txt", b"x");
    let batch = house.client.post("/v1/batches", &json!({ "name": "b" })).expect(201).json();
    let id = text(&batch, "batch_id");
    house.client.json("PATCH", &format!("/v1/batches/{id}"), &json!({ "paused": true })).expect(200);
    house.client.send("DELETE", &format!("/v1/batches/{id}"), &[], &[]).expect(200);
    house.mill.run(&["dead", "replay", "--all"]).expect(0);
    let made = house.client.post("/v1/keys", &json!({ "name": "k", "role": "admin" })).expect(201).json();
    let admin = house.client.with_key(text(&made, "key"));
    let log = admin.get("/v1/audit-log").expect(200).json();
    assert_eq!(log["intact"], true, "{log}");
    let entries = log["entries"].as_array().unwrap();
    let actions: Vec<&str> = entries.iter().map(|entry| text(entry, "action")).collect();
    let expected = ["document.add", "batch.open", "batch.pause", "batch.cancel", "dead.replay", "key.create"];
    assert_eq!(actions, expected);
    for pair in entries.windows(2) {
        assert_eq!(pair[1]["previous"], pair[0]["hash"]);
    }
    assert!(entries[0]["request_id"].is_string() && entries[4]["request_id"].is_null(), "{log}");
    let rest = admin.get("/v1/audit-log?after=5&limit=1").expect(200).json();
    assert_eq!((&rest["entries"][0]["action"], &rest["next"]), (&json!("key.create"), &json!(6)));
    assert!(!log.to_string().contains(text(&made, "key")));
}

#[test]
fn signed_links_open_one_document_for_a_while() {
    let house = House::open();
    let one = house.add("one.txt", b"one");
    let two = house.add("two.txt", b"two");
    let path = |of: &Value| format!("/v1/documents/{}", text(of, "document_id"));
    let made = house.client.post("/v1/keys", &json!({ "name": "k", "role": "admin" })).expect(201).json();
    let admin = house.client.with_key(text(&made, "key"));
    let link = admin.post(&format!("{}/link", path(&one)), &json!({ "expires_in_s": 60 })).expect(200).json();
    let url = text(&link, "url");
    assert_eq!(house.client.get(url).expect(200).body, b"one");
    let other = url.replace(text(&one, "document_id"), text(&two, "document_id"));
    house.client.get(&other).problem(401, "unauthorized");
    house.client.get(&url.replace("signature=", "signature=00")).problem(401, "unauthorized");
    // It opens the content, and nothing else.
    house.client.get(&url.replace("/content?", "?")).problem(401, "unauthorized");
    admin
        .post(&format!("{}/link", path(&one)), &json!({ "expires_in_s": 901 }))
        .problem(400, "invalid_request");
    // It ends with the key that it was asked for with.
    admin.send("DELETE", &format!("/v1/keys/{}", text(&made, "key_id")), &[], &[]).expect(204);
    house.client.get(url).problem(401, "unauthorized");
}

#[test]
fn an_address_that_others_can_reach_needs_a_key() {
    let mill = Mill::new();
    mill.run(&["serve", "--listen", "0.0.0.0:0"]).expect(1).says(&[
        "0.0.0.0",
        "no key yet",
        "docmill key create",
    ]);
    let admin = key(&mill, "local", "admin");
    let server = mill.serve_on("0.0.0.0:0");
    let port = server.address.rsplit_once(':').unwrap().1;
    let client = Client::new(&format!("127.0.0.1:{port}"));
    client.get("/v1/status").problem(401, "unauthorized");
    client.with_key(&admin).get("/v1/status").expect(200);
}

#[test]
fn a_key_that_asks_too_fast_is_told_to_wait() {
    let mill = Mill::new();
    std::fs::create_dir(mill.data()).unwrap();
    std::fs::write(mill.data().join("docmill.toml"), "[http]\nrequests_per_second = 1\n").unwrap();
    let fast = key(&mill, "local", "read");
    let slow = key(&mill, "local", "read");
    let house = House::of(mill);
    let client = house.client.with_key(&fast);
    let refused = (0..200).map(|_| client.get("/v1/status")).find(|reply| reply.status != 200).unwrap();
    assert!(refused.headers["retry-after"].parse::<u64>().unwrap() >= 1);
    assert_eq!(refused.problem(429, "rate_limited")["retryable"], true);
    house.client.with_key(&slow).get("/v1/status").expect(200);
}

#[test]
fn keys_and_tenants_are_managed_by_command() {
    let mill = Mill::new();
    mill.run(&["tenant", "create", "acme"]).expect(0);
    let tenants = mill.run(&["tenant", "list", "--json"]).expect(0).json();
    let names: Vec<&str> = tenants["tenants"].as_array().unwrap().iter().map(|t| text(t, "name")).collect();
    assert_eq!(names, ["acme", "local"]);
    let made = mill.run(&["--tenant", "acme", "key", "create", "--role", "read"]).expect(0);
    assert!(made.stdout.trim().starts_with("dm_") && made.stderr.contains("once"), "{made:?}");
    let listed = mill.run(&["--tenant", "acme", "key", "list", "--json"]).expect(0).json();
    let id = text(&listed["keys"][0], "key_id").to_owned();
    mill.run(&["key", "revoke", &id]).expect(3).says(&[&id]);
    mill.run(&["--tenant", "acme", "key", "revoke", &id]).expect(0);
    let listed = mill.run(&["--tenant", "acme", "key", "list", "--json"]).expect(0).json();
    assert!(listed["keys"][0]["revoked_at"].is_string());
    assert_eq!(mill.run(&["key", "list", "--json"]).expect(0).json(), json!({ "keys": [] }));
    mill.run(&["key", "create", "--role", "boss"]).expect(2);
    mill.run(&["tenant", "create", ""]).expect(2);
}

#[test]
fn server_listens_on_this_machine_by_its_name() {
    let mill = Mill::new();
    let server = mill.serve_on("localhost:0");
    assert!(server.address.starts_with("127.0.0.1:"), "{}", server.address);
    Client::new(&server.address).get("/v1/status").expect(200);
    mill.with_data("other")
        .run(&["serve", "--listen", "example.org:8420"])
        .expect(1)
        .says(&["not an address"]);
}
