//! Schemas, records, and what people say of them.

use serde_json::{Value, json};

use crate::access::key;
use crate::support::http::{Client, Part};
use crate::{House, text};

/// An invoice as text that lacks its total.
pub(crate) const DOUBTFUL: &str = "INVOICE\n\nInvoice number: R-2024-17\nInvoice date: 2024-03-09\nDue date: 2024-04-09\n\
    Bill to: Jones GmbH\nPayment terms: 30 days\nSubtotal and VAT follow\n";

/// Brings a doubtful invoice in and answers its document.
fn doubtful(client: &Client, n: usize) -> Value {
    let content = format!("{DOUBTFUL}Purchase order {n}\n");
    let name = format!("bill-{n}.txt");
    let parts = [Part::file(&name, content.as_bytes())];
    client.upload("/v1/documents?mode=sync", &[], &parts).expect(200).json()
}

#[test]
fn doubtful_record_is_reviewed_corrected_and_exported() {
    let house = House::open();
    let client = &house.client;
    let first = doubtful(client, 1);
    doubtful(client, 2);
    assert_eq!((text(&first, "state"), &first["needs_review"]), ("needs_review", &json!(true)), "{first}");
    assert_eq!((text(&first["record"], "schema"), &first["record"]["version"]), ("invoice", &json!(1)));
    let id = text(&first, "review_id");
    let queue = client.get("/v1/reviews").expect(200).json();
    assert_eq!((queue["items"].as_array().unwrap().len(), &queue["open"]), (2, &json!(2)), "{queue}");
    let path = format!("/v1/reviews/{id}");
    let review = client.get(&path).expect(200).json();
    let missing = review["violations"].as_array().unwrap().iter().any(|v| v["field"] == "total_amount");
    assert!(missing && review["history"] == json!([]), "{review}");
    assert_eq!(
        review["fields_missing"].as_u64().unwrap(),
        review["violations"].as_array().unwrap().len() as u64
    );
    // Values that do not fit are refused by field, value and rule, and nothing is decided.
    for (fields, said) in [
        (json!({ "total_amount": "much" }), "`much` of the field `total_amount` is no money"),
        (json!({ "sum": "1" }), "no field `sum`"),
        (json!({}), "already"),
    ] {
        let refused = client.post(&format!("{path}/correct"), &json!({ "fields": fields }));
        let problem = refused.problem(400, "invalid_request");
        assert!(text(&problem, "detail").contains(said), "{problem}");
    }
    client.post(&format!("{path}/reject"), &json!({})).problem(400, "invalid_request");
    let many: serde_json::Map<_, _> =
        (0..301).map(|n| (format!("items[{n}].quantity"), json!("1"))).collect();
    let refused =
        client.post(&format!("{path}/correct"), &json!({ "fields": many })).problem(413, "limit_exceeded");
    assert!(text(&refused, "detail").contains("301 values, more than the 300"), "{refused}");
    let fields = json!({ "total_amount": "1.190,00", "seller_name": "Kestrel Ltd", "due_date": null });
    let body = json!({ "fields": fields, "reason": "as on paper" });
    let decided = client.post(&format!("{path}/correct"), &body).expect(200).json();
    assert_eq!(text(&decided, "state"), "corrected");
    let next = text(&decided, "next").to_owned();
    assert_ne!(next, id);
    let again = client.post(&format!("{path}/accept"), &json!({})).problem(409, "conflict");
    assert!(text(&again, "detail").contains("corrected already"), "{again}");
    let shown = client.get(&format!("/v1/documents/{}", text(&first, "document_id"))).expect(200).json();
    assert_eq!(shown["record"]["data"]["total_amount"], "1190.00", "{shown}");
    assert!(shown["record"]["data"]["due_date"].is_null() && shown["review_id"].is_null(), "{shown}");
    assert_eq!(text(&shown, "state"), "ready");
    let history = client.get(&path).expect(200).json()["history"].clone();
    assert_eq!((text(&history[0], "by"), text(&history[0], "reason")), ("local", "as on paper"));
    assert_eq!(history[0]["changes"]["total_amount"]["after"], "1190.00");
    assert!(history[0]["changes"]["total_amount"]["before"].is_null());
    let corrections = client.get("/v1/reviews/corrections").expect(200);
    assert_eq!(corrections.text().lines().count(), 3, "{}", corrections.text());
    // The other one is rejected, and so not exported.
    client.post(&format!("/v1/reviews/{next}/reject"), &json!({ "reason": "a test" })).expect(200);
    let done = client.get("/v1/reviews?state=done").expect(200).json();
    assert_eq!((done["items"].as_array().unwrap().len(), &done["open"]), (2, &json!(0)));
    let csv = client.get("/v1/export?schema=invoice&format=csv").expect(200);
    assert_eq!(csv.text().lines().count(), 2, "{}", csv.text());
    assert!(csv.text().contains("1190.00"), "{}", csv.text());
    let all = client.get("/v1/export?schema=invoice&format=jsonl&state=rejected").expect(200);
    assert_eq!(all.text().lines().count(), 1);
    client.get("/v1/export?schema=invoice&format=xlsx").expect(200);
    client.get("/v1/export?schema=none").problem(404, "not_found");
    client.get("/v1/export?schema=invoice&state=odd").problem(400, "invalid_request");
}

#[test]
fn two_reviewers_are_kept_apart() {
    let house = House::open();
    doubtful(&house.client, 1);
    let local = house.client.get("/v1/reviews").expect(200).json();
    let id = text(&local["items"][0], "review_id").to_owned();
    let ada = house.client.with_key(&named(&house, "ada"));
    let bob = house.client.with_key(&named(&house, "bob"));
    let path = format!("/v1/reviews/{id}");
    let held = ada.send("POST", &format!("{path}/lock"), &[], b"").expect(200).json();
    assert!(text(&held, "locked_by").starts_with("ada (…"), "{held}");
    let me = ada.get("/v1/me").expect(200).json();
    assert_eq!((text(&me, "name"), text(&me, "reviewer")), ("ada", text(&held, "locked_by")));
    let refused = bob.post(&format!("{path}/lock"), &json!({})).problem(409, "conflict");
    assert!(text(&refused, "detail").contains("`ada (…"), "{refused}");
    // Names of keys are not unique.
    let namesake = house.client.with_key(&named(&house, "ada"));
    namesake.post(&format!("{path}/lock"), &json!({})).problem(409, "conflict");
    namesake.post(&format!("{path}/accept"), &json!({})).problem(409, "conflict");
    bob.post(&format!("{path}/accept"), &json!({})).problem(409, "conflict");
    ada.post(&format!("{path}/lock"), &json!({})).expect(200);
    ada.send("DELETE", &format!("{path}/lock"), &[], b"").expect(200);
    bob.post(&format!("{path}/accept"), &json!({ "reason": "seen" })).expect(200);
    let history = ada.get(&path).expect(200).json()["history"].clone();
    assert!(text(&history[0], "by").starts_with("bob (…"), "{history}");
}

/// A key of the local tenant.
fn named(house: &House, name: &str) -> String {
    let made = house.mill.run(&["key", "create", "--name", name, "--role", "write", "--json"]).expect(0);
    text(&made.json(), "key").to_owned()
}

#[test]
fn schemas_are_added_tried_and_refused_with_their_mistakes() {
    let house = House::open();
    let client = &house.client;
    let listed = client.get("/v1/schemas").expect(200).json();
    let names: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|line| text(line, "name")).collect();
    assert!(names.contains(&"invoice") && names.contains(&"bank_statement"), "{names:?}");
    let schema = json!({ "title": "bill", "type": "object", "properties": {
        "number": { "type": "string", "x-docmill": { "critical": true, "labels": ["invoice number"] } } } });
    let put = |name: &str, schema: &Value| client.json("PUT", &format!("/v1/schemas/{name}"), schema);
    assert_eq!(put("bill", &schema).expect(200).json(), json!({ "name": "bill", "version": 1 }));
    assert_eq!(put("bill", &schema).expect(200).json()["version"], 1, "nothing is new");
    let mut changed = schema.clone();
    changed["properties"]["date"] = json!({ "type": "string", "x-docmill": { "normalise": "date" } });
    assert_eq!(put("bill", &changed).expect(200).json()["version"], 2);
    let shown = client.get("/v1/schemas/bill").expect(200).json();
    assert_eq!((&shown["schema"], &shown["built_in"]), (&changed, &json!(false)));
    // Fields stand in the order of the text that was sent, and another layout of it is nothing new.
    let json = [("content-type", "application/json")];
    let ordered = br#"{ "title": "slip", "properties": { "zebra": {}, "apple": {}, "mango": {} } }"#;
    for text in [ordered.to_vec(), ordered.iter().copied().filter(|byte| *byte != b' ').collect()] {
        let added = client.send("PUT", "/v1/schemas/slip", &json, &text).expect(200).json();
        assert_eq!(added["version"], 1);
    }
    let listed = client.get("/v1/schemas").expect(200).json();
    let slip = listed["items"].as_array().unwrap().iter().find(|line| line["name"] == "slip").unwrap();
    let fields: Vec<&str> = slip["fields"].as_array().unwrap().iter().map(|f| text(f, "name")).collect();
    assert_eq!(fields, ["zebra", "apple", "mango"]);
    // The address names it as well as a title does.
    let untitled = json!({ "properties": { "number": {} } });
    assert_eq!(put("docket", &untitled).expect(200).json(), json!({ "name": "docket", "version": 1 }));
    assert_eq!(client.get("/v1/schemas/docket").expect(200).json()["schema"]["title"], "docket");
    let empty = client.get("/v1/export?schema=docket").expect(200).text();
    assert!(empty.ends_with(",version,number\r\n"), "{empty}");
    client.get("/v1/reviews/1").problem(404, "not_found");
    let refused = put("invoice", &schema).problem(400, "invalid_request");
    assert!(refused.to_string().contains("my_invoice"), "{refused}");
    put("Bad.Name", &schema).problem(400, "invalid_request");
    let mut odd = schema.clone();
    odd["properties"]["number"]["x-docmill"]["critcal"] = json!(true);
    let refused = put("odd", &odd).problem(400, "invalid_request");
    assert!(text(&refused, "detail").contains("properties.number.x-docmill.critcal"), "{refused}");
    client.get("/v1/schemas/none").problem(404, "not_found");
    let document = doubtful(client, 1);
    let on = json!({ "document_id": text(&document, "document_id") });
    let tried = client.post("/v1/schemas/bill/test", &on).expect(200).json();
    assert_eq!(
        (&tried["schema"], &tried["data"]["number"]),
        (&json!("bill"), &json!("R-2024-17")),
        "{tried}"
    );
    let after = client.get(&format!("/v1/documents/{}", text(&document, "document_id"))).expect(200).json();
    assert_eq!(after["record"]["schema"], "invoice", "nothing was stored");
    let other = house.client.with_key(&key(&house.mill, "other", "admin"));
    assert_eq!(other.get("/v1/schemas").expect(200).json()["items"].as_array().unwrap().len(), 5);
}
