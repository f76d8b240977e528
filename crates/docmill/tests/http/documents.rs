//! Looking at documents, and taking them out.

use serde_json::{Value, json};

use crate::support::http::Part;
use crate::{House, text};

#[test]
fn documents_are_listed_in_pages_and_by_state_type_and_query() {
    let house = House::open();
    for n in 0..7 {
        house.add(&format!("{n}.txt"), format!("letter {n} about herons\n").as_bytes());
    }
    house.add("thing.xyz", &[7; 300]);
    let list = |query: &str| house.client.get(&format!("/v1/documents{query}")).expect(200).json();
    let names = |answer: &Value| -> Vec<String> {
        answer["documents"].as_array().unwrap().iter().map(|d| text(d, "name").to_owned()).collect()
    };
    assert_eq!(names(&list(""))[..2], ["thing.xyz", "6.txt"]);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = list(&format!("?limit=3{cursor}"));
        seen.extend(names(&page));
        assert!(page["documents"].as_array().unwrap().iter().all(|d| d.get("text").is_none()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen.len(), 8);
    assert_eq!(names(&list("?state=unsupported")), ["thing.xyz"]);
    assert_eq!(names(&list("?type=text/plain")).len(), 7);
    assert_eq!(names(&list("?type=text/*")).len(), 7);
    assert!(names(&list("?type=image/*")).is_empty());
    house.mill.run(&["search", "herons"]).expect(0);
    assert_eq!(names(&list("?q=%22letter+3%22")), ["3.txt"]);
    assert_eq!(names(&list("?q=herons&limit=2")).len(), 2);
    for bad in ["?limit=0", "?limit=1001", "?limit=x", "?state=odd", "?cursor=nope"] {
        house.client.get(&format!("/v1/documents{bad}")).problem(400, "invalid_request");
    }
    // The other name of the same.
    assert_eq!(house.client.get("/api/documents").expect(200).json(), list(""));
    let id = text(&list("")["documents"][0], "document_id").to_owned();
    assert_eq!(house.client.get(&format!("/api/documents/{id}")).expect(200).json()["document_id"], id);
}

#[test]
fn documents_are_listed_counted_and_selected_by_what_they_are() {
    let house = House::open();
    let bill = "INVOICE\n\nInvoice number: R-2024-17\nInvoice date: 2024-03-09\nBill to: Jones GmbH\n";
    let bill = house.add("bill.txt", bill.as_bytes());
    house.add("herons.txt", b"herons stand in the pond\n");
    let shown = house.client.get(&format!("/v1/documents/{}", text(&bill, "document_id"))).expect(200).json();
    assert_eq!(shown["type"], "invoice", "{shown}");
    let list = |kind: &str| house.client.get(&format!("/v1/documents?type={kind}")).expect(200).json();
    let invoices = list("invoice");
    assert_eq!(invoices["documents"].as_array().unwrap().len(), 1, "{invoices}");
    assert_eq!(invoices["documents"][0]["document_id"], bill["document_id"]);
    assert_eq!(invoices["documents"][0]["type"], "invoice");
    for (kind, found) in [("letter", 0), ("text/plain", 2), ("text/*", 2), ("*", 2), ("", 2)] {
        assert_eq!(list(kind)["documents"].as_array().unwrap().len(), found, "{kind:?}");
    }
    let facets = house.client.get("/v1/facets").expect(200).json();
    assert_eq!(facets["types"], json!({ "text/plain": 2 }), "{facets}");
    assert_eq!(facets["kinds"]["invoice"], 1, "{facets}");
    for (kind, found) in [("invoice", 1), ("letter", 0), ("text/*", 2)] {
        let body = json!({ "type": kind, "dry_run": true });
        let counted = house.client.post("/v1/documents/reprocess", &body).expect(200).json();
        assert_eq!(counted["count"], found, "{kind}: {counted}");
    }
    let counted = house.mill.run(&["reprocess", "--where", "type=invoice", "--dry-run", "--json"]);
    assert_eq!(counted.expect(0).json()["count"], 1);
}

#[test]
fn a_document_is_shown_with_a_tag_and_answers_304_to_it() {
    let house = House::open();
    let done = house.add("a.txt", b"one two three\n");
    let path = format!("/v1/documents/{}", text(&done, "document_id"));
    let shown = house.client.get(&path).expect(200);
    let tag = shown.headers["etag"].clone();
    assert_eq!((&shown.json()["word_count"], &shown.json()["page_count"]), (&json!(3), &json!(1)));
    let again = house.client.send("GET", &path, &[("If-None-Match", &tag)], &[]).expect(304);
    assert!(again.body.is_empty() && again.headers["etag"] == tag);
    house.client.send("GET", &path, &[("If-None-Match", "\"other\"")], &[]).expect(200);
    let pages = house.client.get(&format!("{path}/pages")).expect(200).json();
    assert_eq!(pages["pages"][0]["text"].as_str().map(str::trim), Some("one two three"));
    let plain =
        house.client.send("GET", &format!("{path}/text"), &[("Accept", "text/plain")], &[]).expect(200);
    assert_eq!(plain.text().trim(), "one two three");
    assert_eq!(house.client.get(&format!("{path}/text")).expect(200).json()["text"], json!(plain.text()));
    let timeline = house.client.get(&format!("{path}/timeline")).expect(200).json();
    let what: Vec<&str> = timeline["timeline"].as_array().unwrap().iter().map(|l| text(l, "what")).collect();
    assert!(what.first() == Some(&"received") && what.last() == Some(&"completed"), "{what:?}");
    let why = house.client.get(&format!("/v1/why/{}", text(&done, "document_id"))).expect(200).json();
    assert!(text(&why, "waiting_for").starts_with("nothing"), "{why}");
}

#[test]
fn originals_come_whole_or_in_part_and_are_never_run() {
    let house = House::open();
    let page = b"<script>alert(1)</script><p>hello</p>\n";
    let done = house.add("<img src=x onerror=alert(1)>.html", page);
    let path = format!("/v1/documents/{}/content", text(&done, "document_id"));
    let whole = house.client.get(&path).expect(200);
    assert_eq!(whole.body, page);
    assert!(whole.headers["content-disposition"].starts_with("attachment; filename="));
    assert_eq!(whole.headers["x-content-type-options"], "nosniff");
    assert!(whole.headers["content-security-policy"].starts_with("sandbox"));
    let part = |range: &str| house.client.send("GET", &path, &[("Range", range)], &[]);
    let some = part("bytes=8-12").expect(206);
    assert_eq!(some.body, &page[8..13]);
    assert_eq!(some.headers["content-range"], format!("bytes 8-12/{}", page.len()));
    assert_eq!(part("bytes=-6").expect(206).body, &page[page.len() - 6..]);
    part("bytes=9999-").problem(416, "range_not_satisfiable");
    let tag = whole.headers["etag"].clone();
    house.client.send("GET", &path, &[("If-None-Match", &tag)], &[]).expect(304);
    let head = house.client.send("HEAD", &path, &[], &[]).expect(200);
    assert_eq!(head.headers["content-length"], page.len().to_string());
}

#[test]
fn a_large_original_comes_back_as_it_was() {
    let house = House::open();
    let large: Vec<u8> = (0..5_000_000_u32).flat_map(|n| (n % 251).to_le_bytes()).take(5 << 20).collect();
    let done = house.add("large.bin", &large);
    let path = format!("/v1/documents/{}/content", text(&done, "document_id"));
    assert!(house.client.get(&path).expect(200).body == large);
    let part = house.client.send("GET", &path, &[("Range", "bytes=1000000-3999999")], &[]).expect(206);
    assert!(part.body == large[1_000_000..4_000_000]);
}

#[test]
fn rapid_clicks_on_reprocess_start_one() {
    let house = House::open();
    house.mill.run(&["pause", "--kind", "intake-document"]).expect(0);
    let queued = house.client.upload("/v1/documents", &[], &[Part::file("a.txt", b"x")]).expect(202).json();
    let id = text(&queued, "document_id").to_owned();
    house.mill.run(&["resume", "--kind", "intake-document"]).expect(0);
    let done = house.add("a.txt", b"x");
    assert_eq!(done["document_id"], json!(id));
    house.mill.run(&["pause", "--kind", "intake-document"]).expect(0);
    let path = format!("/v1/documents/{id}/reprocess");
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let click = || house.client.send("POST", &path, &[], b"").expect(200).json();
        let clicks: Vec<_> = (0..6).map(|_| scope.spawn(click)).collect();
        clicks.into_iter().map(|click| click.join().unwrap()).collect()
    });
    let queued: Vec<&Value> = answers.iter().filter(|a| a["status"] == "queued").collect();
    assert_eq!(queued.len(), 1, "{answers:?}");
    assert!(
        answers.iter().filter(|a| a["status"] == "skipped").all(|a| a["reason"] == "busy"),
        "{answers:?}"
    );
    let ingestion =
        house.client.get(&format!("/v1/ingestions/{}", text(queued[0], "ingestion_id"))).expect(200);
    assert_eq!(ingestion.json()["status"], "queued");
}

#[test]
fn a_removed_document_is_gone_and_the_account_stays_whole() {
    let house = House::open();
    let done = house.add("secret.txt", b"the secret marabou\n");
    house.add("other.txt", b"another heron\n");
    let id = text(&done, "document_id").to_owned();
    let ingestion = text(&done["ingestions"][0], "ingestion_id").to_owned();
    let path = format!("/v1/documents/{id}");
    house.client.send("DELETE", &path, &[], &[]).expect(204);
    for gone in ["", "/content", "/text", "/pages", "/timeline"] {
        house.client.get(&format!("{path}{gone}")).problem(404, "not_found");
    }
    house.client.send("DELETE", &path, &[], &[]).problem(404, "not_found");
    house.client.get(&format!("/v1/why/{id}")).problem(404, "not_found");
    let left = house.client.get(&format!("/v1/ingestions/{ingestion}")).expect(200).json();
    assert_eq!((&left["document_id"], &left["status"]), (&Value::Null, &json!("completed")));
    let audit = house.mill.run(&["audit", "--json"]).expect(0).json();
    assert_eq!((&audit["balanced"], &audit["expected"]), (&json!(true), &json!(2)), "{audit}");
    assert_eq!(audit["blobs"]["orphaned"], 0, "its bytes are gone too: {audit}");
    assert_eq!(house.client.get("/v1/status").expect(200).json()["documents"], 1);
    // The index follows; a removed document is never shown, whether it has caught up or not.
    let found = house.client.get("/v1/search?q=marabou").expect(200).json();
    assert!(found["hits"].as_array().unwrap().is_empty(), "{found}");
    // The same bytes are a new document.
    let again = house.add("secret.txt", b"the secret marabou\n");
    assert_ne!(text(&again, "document_id"), id);
    assert_eq!(again["ingestions"].as_array().unwrap().len(), 1);
    assert_eq!(text(&again, "text").trim(), "the secret marabou");
    house.mill.run(&["audit"]).expect(0);
}

#[test]
fn search_finds_with_a_passage_and_names_mistakes() {
    let house = House::open();
    house.add("a.txt", b"a heron and a marabou\n");
    let found = house.client.get("/v1/search?q=marabou").expect(200).json();
    assert_eq!(found["hits"][0]["snippet"].as_str().map(str::trim), Some("a heron and a **marabou**"));
    house.client.get("/v1/search").problem(400, "invalid_request");
    house.client.get("/v1/search?q=x&mode=odd").problem(400, "invalid_request");
    house.client.get(&format!("/v1/search?q={}", "x".repeat(5000))).problem(413, "limit_exceeded");
}

#[test]
fn what_is_not_there_and_what_is_not_meant_are_problems_too() {
    let house = House::open();
    house.client.get("/v1/nothing").problem(404, "not_found");
    house.client.get("/nothing.txt").problem(404, "not_found");
    house.client.json("PUT", "/v1/documents", &json!({})).problem(405, "method_not_allowed");
    house.client.get("/v1/documents/nope").problem(404, "not_found");
    house.client.get("/v1/documents?status=failed").problem(400, "invalid_request");
    house.client.get("/v1/documents/018f0000-0000-7000-8000-000000000000").problem(404, "not_found");
    house.client.send("GET", "/v1/status", &[("Host", "evil.example")], &[]).problem(421, "misdirected");
    let origin = ("Origin", "https://evil.example");
    house.client.upload("/v1/documents", &[origin], &[Part::file("a", b"x")]).problem(403, "forbidden");
    let own = format!("http://{}", house.server.address);
    house.client.upload("/v1/documents", &[("Origin", &own)], &[Part::file("a", b"x")]).expect(202);
    let preflight = [origin, ("Access-Control-Request-Method", "POST")];
    let reply = house.client.send("OPTIONS", "/v1/documents", &preflight, &[]);
    assert!(!reply.headers.keys().any(|name| name.starts_with("access-control")), "{reply:?}");
}

#[test]
fn original_that_is_missing_is_told_without_the_place_where_it_lay() {
    let house = House::open();
    let id = text(&house.add("a.txt", b"the quick brown alpaca"), "document_id").to_owned();
    std::fs::remove_file(house.mill.data().join(format!("blobs/documents/{id}.txt"))).unwrap();
    let path = format!("/v1/documents/{id}/content");
    for headers in [&[][..], &[("Range", "bytes=0-3")]] {
        let problem = house.client.send("GET", &path, headers, &[]).problem(404, "not_found");
        assert!(
            text(&problem, "detail").contains("is missing") && problem.to_string().contains("docmill audit")
        );
        assert!(!problem.to_string().contains(house.mill.root().to_str().unwrap()), "{problem}");
    }
}

#[test]
fn bodies_of_curl_are_json_and_those_of_pages_must_say_so() {
    let house = House::open();
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let send =
        |headers: &[(&str, &str)]| house.client.send("POST", "/v1/batches", headers, br#"{"priority":3}"#);
    send(&[form]).expect(201);
    send(&[]).expect(201);
    let own = format!("http://{}", house.server.address);
    for browser in [("Origin", own.as_str()), ("Sec-Fetch-Site", "same-origin"), ("Referer", own.as_str())] {
        for headers in [&[browser][..], &[form, browser]] {
            let problem = send(headers).problem(400, "invalid_request");
            assert!(text(&problem, "hint").contains("Content-Type: application/json"), "{problem}");
        }
    }
    send(&[("Origin", "https://evil.example"), form]).problem(403, "forbidden");
    send(&[("Content-Type", "text/plain")]).problem(400, "invalid_request");
}

#[test]
fn long_answers_are_compressed_for_those_who_take_it() {
    let house = House::open();
    let plain = house.client.get("/openapi.json").expect(200);
    let squeezed = house.client.send("GET", "/openapi.json", &[("Accept-Encoding", "gzip")], &[]).expect(200);
    assert_eq!(squeezed.headers["content-encoding"], "gzip");
    assert!(!plain.headers.contains_key("content-encoding"));
    assert!(squeezed.body.len() * 4 < plain.body.len(), "{} of {}", squeezed.body.len(), plain.body.len());
    assert_eq!(plain.json()["openapi"], "3.1.0");
}
