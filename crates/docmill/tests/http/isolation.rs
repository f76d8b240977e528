//! Every route of the OpenAPI document, asked by one tenant with the ids of another.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::access::key;
use crate::reviews::DOUBTFUL;
use crate::support::http::{Client, Part, Reply};
use crate::{House, text};

/// Everything of one tenant that has an id, by what stands in its route.
fn ids(client: &Client) -> BTreeMap<&'static str, String> {
    let batch = client.post("/v1/batches", &json!({ "name": "theirs" })).expect(201).json();
    let batch = text(&batch, "batch_id").to_owned();
    let parts = [Part::file("secret.txt", b"the secret marabou"), Part::field("batch_id", &batch)];
    let done = client.upload("/v1/documents?mode=sync", &[], &parts).expect(200).json();
    let keys = client.get("/v1/keys").expect(200).json();
    let bill = [Part::file("secret.txt", DOUBTFUL.as_bytes())];
    let bill = client.upload("/v1/documents?mode=sync", &[], &bill).expect(200).json();
    BTreeMap::from([
        ("documents", text(&done, "document_id").to_owned()),
        ("ingestions", text(&done["ingestions"][0], "ingestion_id").to_owned()),
        ("why", text(&done, "document_id").to_owned()),
        ("batches", batch),
        ("reviews", text(&bill, "review_id").to_owned()),
        ("keys", text(&keys["keys"][0], "key_id").to_owned()),
    ])
}

/// A body that the route takes, so that only the id decides.
fn body(operation: &Value) -> Option<Value> {
    let content = operation["requestBody"]["content"].as_object()?;
    content.contains_key("application/json").then(|| json!({}))
}

fn ask(client: &Client, method: &str, path: &str, operation: &Value) -> Reply {
    match body(operation) {
        Some(body) => client.json(method, path, &body),
        None => client.send(method, path, &[], &[]),
    }
}

#[test]
fn no_route_shows_or_changes_anything_of_another_tenant() {
    let house = House::open();
    let theirs = house.client.with_key(&key(&house.mill, "theirs", "admin"));
    let ours = house.client.with_key(&key(&house.mill, "ours", "admin"));
    let ids = ids(&theirs);
    let before = everything(&theirs, &ids);
    let document = house.client.get("/openapi.json").expect(200).json();
    let mut with_id = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = method.to_uppercase();
            // Nobody gets in without a key.
            let bare =
                path.replace("{id}", "018f0000-0000-7000-8000-000000000000").replace("{cause}", "corrupt");
            let bare = bare.replace("{number}", "1").replace("{name}", "invoice");
            ask(&house.client, &method, &bare, operation).problem(401, "unauthorized");
            if path.contains("{id}") {
                let kind = path.split('/').nth(2).unwrap();
                let id = ids.get(kind).unwrap_or_else(|| panic!("say in `ids` what an id of {path} is"));
                ask(&ours, &method, &path.replace("{id}", id).replace("{number}", "1"), operation)
                    .problem(404, "not_found");
                with_id += 1;
            } else if method == "GET" && !path.ends_with("/stream") {
                let query = match path.as_str() {
                    "/v1/search" => "?q=marabou",
                    "/v1/export" => "?schema=invoice",
                    _ => "",
                };
                let path = path.replace("{name}", "invoice");
                let reply = ours.get(&format!("{path}{query}")).expect(200);
                for id in ids.values() {
                    assert!(!reply.text().contains(id.as_str()), "{path} shows {id}: {}", reply.text());
                }
                assert!(!reply.text().contains("secret.txt"), "{path}: {}", reply.text());
            }
        }
    }
    assert!(with_id >= 16, "only {with_id} routes have an id");
    // Ids in bodies and queries, which no path shows.
    let id = &ids["documents"];
    let parts = [Part::file("x", b"x"), Part::field("batch_id", &ids["batches"])];
    ours.upload("/v1/documents", &[], &parts).problem(404, "not_found");
    ours.post("/v1/documents/reprocess", &json!({ "ids": [id] })).problem(404, "not_found");
    for query in [format!("document_id={id}"), format!("batch_id={}", ids["batches"])] {
        let events = ours.get(&format!("/v1/events?{query}")).expect(200).json();
        assert_eq!(events["events"], json!([]));
    }
    // The same bytes are another document of ours, and their key is not ours.
    let same = ours.upload("/v1/documents?mode=sync", &[], &[Part::file("s.txt", b"the secret marabou")]);
    assert_ne!(text(&same.expect(200).json(), "document_id"), id);
    assert_eq!(everything(&theirs, &ids), before, "and nothing of theirs has changed");
}

/// What a tenant sees of its own.
fn everything(client: &Client, ids: &BTreeMap<&'static str, String>) -> Vec<Value> {
    let paths = [
        format!("/v1/documents/{}", ids["documents"]),
        format!("/v1/ingestions/{}", ids["ingestions"]),
        format!("/v1/batches/{}", ids["batches"]),
        format!("/v1/reviews/{}", ids["reviews"]),
        "/v1/documents".to_owned(),
        "/v1/keys".to_owned(),
        "/v1/audit-log".to_owned(),
        "/v1/events".to_owned(),
    ];
    paths.iter().map(|path| client.get(path).expect(200).json()).collect()
}
