//! Tags, and documents that say nearly the same.

use serde_json::json;

use crate::support::Mill;
use crate::{House, text};

const CHAIRS: &str = "Thank you for your order of twelve office chairs. The office chairs leave our warehouse in Leeds on \
    Monday. Our driver will call you before the delivery of the office chairs, and the delivery takes an hour of your time.\n";

fn house() -> House {
    let mill = Mill::new();
    mill.write("a.txt", CHAIRS);
    mill.write("b.txt", CHAIRS.replace("Monday", "Friday"));
    // The command waits until the catalogue holds everything.
    mill.run(&["ingest", "in"]).expect(0);
    House::of(mill)
}

#[test]
fn tags_are_listed_page_by_page_and_merged() {
    let House { client, .. } = &house();
    let first = client.get("/v1/tags?limit=1").expect(200).json();
    assert_eq!(first["items"].as_array().unwrap().len(), 1);
    let next = text(&first, "next").replace(' ', "%20");
    let second = client.get(&format!("/v1/tags?limit=1&cursor={next}")).expect(200).json();
    assert_ne!(first["items"], second["items"]);
    let found = client.get("/v1/tags?q=office%20chairs").expect(200).json();
    assert_eq!(found["items"][0]["documents"], 2, "{found}");
    let listed = client.get("/v1/documents?tag=Office%20Chairs").expect(200).json();
    assert_eq!(listed["documents"].as_array().unwrap().len(), 2);
    let merged =
        client.post("/v1/tags/merge", &json!({ "from": "office chairs", "into": "furniture" })).expect(200);
    assert_eq!(merged.json(), json!({ "tag": { "tag": "furniture", "documents": 2 }, "moved": 2 }));
    let listed = client.get("/v1/documents?tag=office%20chairs").expect(200).json();
    assert_eq!(listed["documents"].as_array().unwrap().len(), 2, "the old name leads there too");
    client.post("/v1/tags/merge", &json!({ "from": "nothing", "into": "x" })).problem(404, "not_found");
    client.post("/v1/tags/merge", &json!({ "from": "furniture" })).problem(400, "invalid_request");
    client.get("/v1/tags?cursor=nonsense").problem(400, "invalid_request");
    assert!(client.get("/v1/tags/similar").expect(200).json()["items"].is_array());
}

#[test]
fn near_duplicates_of_a_document_are_told() {
    let House { client, .. } = &house();
    let listed = client.get("/v1/documents").expect(200).json();
    let [one, other] = [0, 1].map(|at| text(&listed["documents"][at], "document_id").to_owned());
    let near = client.get(&format!("/v1/documents/{one}/near")).expect(200).json();
    assert_eq!(text(&near["items"][0], "document_id"), other);
    let similarity = near["items"][0]["similarity"].as_f64().unwrap();
    assert!((0.5..1.0).contains(&similarity), "{near}");
}
