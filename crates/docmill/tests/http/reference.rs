//! What the server says of itself.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::House;

const COMMITTED: &str = include_str!("../../../../docs/reference/openapi.json");

#[test]
fn the_committed_document_is_what_is_served() {
    let house = House::open();
    let served = house.client.get("/openapi.json").expect(200).json();
    let committed: Value = serde_json::from_str(COMMITTED).unwrap();
    assert!(served == committed, "docs/reference/openapi.json is out of date; run `cargo xtask gen`");
}

#[test]
fn every_reference_in_the_document_leads_somewhere_and_every_operation_has_a_name() {
    let document: Value = serde_json::from_str(COMMITTED).unwrap();
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(references.len() > 50, "{}", references.len());
    for reference in references {
        let place = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(place).is_some(), "{reference}");
    }
    let mut names = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name), "{method} {path}: `{name}` is another's");
        }
    }
}

fn collect<'v>(value: &'v Value, references: &mut Vec<&'v str>) {
    match value {
        Value::Object(object) => {
            references.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| collect(value, references));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, references)),
        _ => {}
    }
}

#[test]
fn the_page_for_people_comes_from_this_host_alone() {
    let house = House::open();
    for path in ["/docs", "/docs.css", "/docs.js"] {
        let reply = house.client.get(path).expect(200);
        assert!(
            !reply.text().contains("http://") && !reply.text().contains("https://"),
            "{path} names a host"
        );
        assert!(reply.headers["content-security-policy"].starts_with("default-src 'none'"));
    }
    assert!(!house.client.get("/docs.js").text().contains("innerHTML"));
}
