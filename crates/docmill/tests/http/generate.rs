//! `POST /v1/generate`.

use serde_json::json;

use crate::access::key;
use crate::{House, text};

#[test]
fn generated_documents_are_a_sealed_batch_that_is_processed() {
    let house = House::open();
    let wanted = json!({ "count": 6, "seed": 9, "scans": 0, "kinds": ["invoice", "letter"] });
    for path in ["/v1/generate", "/api/generate"] {
        let made = house.client.post(path, &wanted).expect(202);
        let made = made.json();
        assert_eq!((made["count"].as_u64(), made["seed"].as_u64()), (Some(6), Some(9)), "{made}");
        let batch = house.client.get(&format!("/v1/batches/{}", text(&made, "batch_id"))).expect(200).json();
        assert_eq!((batch["received"].as_u64(), batch["expected"].as_u64()), (Some(6), Some(6)), "{batch}");
    }
    // The same seed again: more receipts, no more documents.
    let listed = house.client.get("/v1/documents?limit=100").expect(200).json();
    assert_eq!(listed["documents"].as_array().unwrap().len(), 6);
}

#[test]
fn same_key_makes_them_once_and_names_the_same_batch() {
    let house = House::open();
    let body = serde_json::to_vec(&json!({ "count": 3, "scans": 0 })).unwrap();
    let headers = [("Idempotency-Key", "once-only"), ("Content-Type", "application/json")];
    let first = house.client.send("POST", "/v1/generate", &headers, &body).expect(202).json();
    let again = house.client.send("POST", "/v1/generate", &headers, &body).expect(202).json();
    assert_eq!(first, again);
    let batch = house.client.get(&format!("/v1/batches/{}", text(&first, "batch_id"))).expect(200).json();
    assert_eq!((batch["received"].as_u64(), batch["expected"].as_u64()), (Some(3), Some(3)), "{batch}");
    let other = serde_json::to_vec(&json!({ "count": 4, "scans": 0 })).unwrap();
    house.client.send("POST", "/v1/generate", &headers, &other).problem(409, "conflict");
}

#[test]
fn orders_that_cannot_be_made_name_the_limit() {
    let house = House::open();
    let problem = house.client.post("/v1/generate", &json!({ "count": 101 })).problem(400, "invalid_request");
    assert!(text(&problem, "detail").contains("1 to 100"), "{problem}");
    for bad in [
        json!({}),
        json!({ "count": 0 }),
        json!({ "count": 1, "kinds": ["poem"] }),
        json!({ "count": 1, "scans": 3 }),
    ] {
        house.client.post("/v1/generate", &bad).problem(400, "invalid_request");
    }
    let listed = house.client.get("/v1/batches").expect(200).json();
    assert_eq!(listed["batches"].as_array().unwrap().len(), 0, "nothing was opened: {listed}");
}

#[test]
fn making_documents_needs_the_role_write_and_stays_with_its_tenant() {
    let house = House::open();
    let reader = house.client.with_key(&key(&house.mill, "ours", "read"));
    let writer = house.client.with_key(&key(&house.mill, "ours", "write"));
    let others = house.client.with_key(&key(&house.mill, "theirs", "read"));
    let wanted = json!({ "count": 2, "scans": 0 });
    reader.post("/v1/generate", &wanted).problem(403, "forbidden");
    writer.post("/v1/generate", &wanted).expect(202);
    assert_eq!(reader.get("/v1/documents").expect(200).json()["documents"].as_array().unwrap().len(), 2);
    assert_eq!(others.get("/v1/documents").expect(200).json()["documents"].as_array().unwrap().len(), 0);
}
