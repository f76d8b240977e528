//! Requests that nobody means well: each gets an answer that says what is wrong, and the server goes on.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use crate::support::Mill;
use crate::support::http::{Part, Reply, form};
use crate::{House, text};

const FORM: (&str, &str) = ("Content-Type", "multipart/form-data; boundary=oOo");
const JSON: (&str, &str) = ("Content-Type", "application/json");

/// Bytes as they are, and what comes back.
fn raw(house: &House, bytes: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(&house.server.address).unwrap();
    // An answer may come before everything was taken: then the rest cannot be sent, and the answer counts.
    if let Err(e) = stream.write_all(bytes) {
        assert!(matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{e}");
    }
    Reply::read(stream, false)
}

fn head(house: &House, request: &str, headers: &str) -> Vec<u8> {
    format!("{request} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", house.server.address)
        .into_bytes()
}

#[test]
fn a_form_that_breaks_off_anywhere_is_answered_and_leaves_nothing() {
    let house = House::open();
    let whole = form(&[Part::file("a.txt", b"content"), Part::field("priority", "3")]);
    for length in 0..whole.len() - "\r\n".len() - 1 {
        let reply = house.client.send("POST", "/v1/documents", &[FORM], &whole[..length]);
        let problem = reply.problem(400, "invalid_request");
        assert!(text(&problem, "detail").contains("multipart/form-data"), "{length}: {problem}");
    }
    assert_eq!(house.client.get("/v1/status").expect(200).json()["documents"], 0);
    house.client.send("POST", "/v1/documents", &[FORM], &whole).expect(202);
}

#[test]
fn senders_that_stop_in_the_middle_keep_nobody_from_being_answered() {
    let house = House::open();
    let whole = form(&[Part::file("slow.txt", &vec![b'x'; 1 << 20])]);
    let (first, rest) = whole.split_at(whole.len() / 2);
    let begin = |_| {
        let mut stream = house.client.begin("POST", "/v1/documents", &[FORM], whole.len());
        stream.write_all(first).unwrap();
        stream
    };
    let stopped: Vec<TcpStream> = (0..40).map(begin).collect();
    house.client.get("/v1/status").expect(200);
    house.add("a.txt", b"a heron");
    for mut stream in stopped {
        stream.write_all(rest).unwrap();
        Reply::read(stream, false).expect(202);
    }
}

#[test]
fn forms_that_never_begin_and_forms_without_end_are_cut_off() {
    let house = House::open();
    let parts: Vec<Part<'_>> = (0..20_000).map(|_| Part::file("a", b"x")).collect();
    let problem = house.client.upload("/v1/documents", &[], &parts).problem(413, "limit_exceeded");
    assert!(text(&problem, "detail").contains("1000 parts"), "{problem}");
    let preamble = vec![b'x'; 1 << 20];
    house.client.send("POST", "/v1/documents", &[FORM], &preamble).problem(400, "invalid_request");
    let endless = format!("--oOo\r\nContent-Disposition: form-data; name=\"{}", "n".repeat(1 << 20));
    house.client.send("POST", "/v1/documents", &[FORM], endless.as_bytes()).problem(400, "invalid_request");
    let metadata = "{\"a\":".repeat(10_000);
    let deep = [Part::file("a", b"x"), Part::field("metadata", &metadata)];
    house.client.upload("/v1/documents", &[], &deep).problem(400, "invalid_request");
    assert_eq!(house.client.get("/v1/status").expect(200).json()["documents"], 0);
}

#[test]
fn heads_that_are_too_large_or_contradict_themselves_are_refused() {
    let house = House::open();
    let large = format!("X-Large: {}\r\n", "x".repeat(200_000));
    assert_eq!(raw(&house, &head(&house, "GET /v1/status", &large)).status, 431);
    assert_eq!(raw(&house, &head(&house, "GET /v1/status", &"X: y\r\n".repeat(200))).status, 431);
    let large = format!("X-Large: {}\r\n", "x".repeat(40_000));
    let problem = raw(&house, &head(&house, "GET /v1/status", &large)).problem(431, "headers_too_large");
    assert!(text(&problem, "detail").contains("32768"), "{problem}");
    let address = format!("GET /v1/search?q={}", "x".repeat(20_000));
    let problem = raw(&house, &head(&house, &address, "")).problem(414, "address_too_long");
    assert!(text(&problem, "detail").contains("16384"), "{problem}");
    let address = format!("GET /v1/search?q={}", "x".repeat(100_000));
    assert_eq!(raw(&house, &head(&house, &address, "")).status, 414);
    for lengths in ["Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length: -1\r\n"] {
        assert_eq!(raw(&house, &head(&house, "POST /v1/batches", lengths)).status, 400, "{lengths}");
    }
    raw(&house, &head(&house, "GET /v1/status", "Host: evil.example\r\n")).problem(421, "misdirected");
    raw(&house, b"GET /v1/status HTTP/1.0\r\n\r\n").problem(421, "misdirected");
    house.client.get("/v1/status").expect(200);
}

#[test]
fn text_that_no_store_can_keep_is_refused_and_other_bytes_are_text() {
    let house = House::open();
    house.client.get("/v1/search?q=a%00b").problem(400, "invalid_request");
    house.client.get("/v1/batches/a%00b").problem(400, "invalid_request");
    house.client.get("/v1/documents/%ff%fe").problem(400, "invalid_request");
    house.client.get("/v1/search?q=%ff%fe").problem(400, "invalid_request");
    house.client.post("/v1/batches", &json!({ "name": "a\0b" })).problem(400, "invalid_request");
    let metadata = [Part::file("a", b"x"), Part::field("metadata", r#"{"a": {"b": ["\u0000"]}}"#)];
    house.client.upload("/v1/documents", &[], &metadata).problem(400, "invalid_request");
    let deep = [b"{\"name\":".to_vec(), vec![b'['; 100_000]].concat();
    house.client.send("POST", "/v1/batches", &[JSON], &deep).problem(400, "invalid_request");
    let long = vec![b' '; 2 << 20];
    house.client.send("POST", "/v1/batches", &[JSON], &long).problem(413, "limit_exceeded");
}

#[test]
fn names_are_text_wherever_they_come_from() {
    let house = House::open();
    for (n, (sent, shown)) in [
        ("../../etc/passwd", "passwd"),
        (r"C:\x\..\evil.txt", "evil.txt"),
        ("..", ".."),
        ("<img src=x onerror=alert(1)>.txt", "<img src=x onerror=alert(1)>.txt"),
        ("=cmd|' -C calc'!A0.csv", "=cmd|' -C calc'!A0.csv"),
        ("photo\u{202e}gnp.exe", "photo\u{202e}gnp.exe"),
        ("\u{1b}[31mred", "\u{1b}[31mred"),
    ]
    .into_iter()
    .enumerate()
    {
        let done = house.add(sent, format!("letter {n}\n").as_bytes());
        assert_eq!(text(&done, "name"), shown, "as it was sent, for programs");
        let id = text(&done, "document_id");
        // For people: no control, nothing that turns the line around.
        let printed = house.mill.run(&["show", id]).expect(0).stdout;
        assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{printed:?}");
        let content = house.client.get(&format!("/v1/documents/{id}/content")).expect(200);
        let disposition = &content.headers["content-disposition"];
        assert!(disposition.starts_with("attachment; ") && disposition.is_ascii(), "{disposition}");
        assert!(!disposition.contains("%E2%80%AE") && !disposition.contains("%1B"), "{disposition}");
    }
}

#[test]
fn two_requests_with_one_key_at_once_add_one() {
    let house = House::open();
    let answers: Vec<Reply> = std::thread::scope(|scope| {
        let house = &house;
        let send = |n: usize| {
            let content = if n.is_multiple_of(2) { "even" } else { "odd" };
            let parts = [Part::file("twin.txt", content.as_bytes())];
            house.client.upload("/v1/documents", &[("Idempotency-Key", "twin")], &parts)
        };
        let senders: Vec<_> = (0..10).map(|n| scope.spawn(move || send(n))).collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    let accepted: Vec<_> = answers.iter().filter(|reply| reply.status == 202).collect();
    assert_eq!(accepted.len(), 5, "one of the two requests, as often as it was sent");
    assert!(accepted.iter().all(|reply| reply.json() == accepted[0].json()));
    assert_eq!(accepted.iter().filter(|r| !r.headers.contains_key("idempotency-replayed")).count(), 1);
    assert!(answers.iter().filter(|reply| reply.status != 202).all(|reply| reply.status == 409));
    assert_eq!(house.client.get("/v1/status").expect(200).json()["documents"], 1);
}

/// A page somewhere makes a browser send forms and scripts' requests here, or points its own name here.
#[test]
fn a_foreign_page_reaches_nothing() {
    let house = House::open();
    let own = format!("http://{}", house.server.address);
    let kinds: &[&[(&str, &str)]] = &[
        &[("Origin", "https://evil.example")],
        &[("Origin", "null")],
        &[("Origin", "http://127.0.0.1:1")],
        &[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")],
        &[("Sec-Fetch-Site", "same-site")],
    ];
    for headers in kinds {
        house.client.upload("/v1/documents", headers, &[Part::file("a", b"x")]).problem(403, "forbidden");
        for path in ["/v1/documents", "/v1/events/stream", "/metrics"] {
            house.client.send("GET", path, headers, &[]).problem(403, "forbidden");
        }
    }
    for path in ["/", "/v1/documents", "/openapi.json", "/healthz", "/metrics"] {
        for host in ["evil.example", "evil.example:8420", "127.0.0.1.evil.example"] {
            house.client.send("GET", path, &[("Host", host)], &[]).problem(421, "misdirected");
        }
    }
    // A link in a mail leads to the page, which asks for the rest by itself.
    house.client.send("GET", "/", kinds[3], &[]).expect(200);
    house.client.upload("/v1/documents", &[("Origin", &own)], &[Part::file("a", b"x")]).expect(202);
}

#[test]
fn ranges_by_the_thousand_are_one_answer() {
    let house = House::open();
    let done = house.add("a.txt", &b"0123456789".repeat(1000));
    let path = format!("/v1/documents/{}/content", text(&done, "document_id"));
    let ranges: Vec<String> = (0..4000).map(|n| format!("0-{n}")).collect();
    let range = format!("bytes={}", ranges.join(","));
    let reply = house.client.send("GET", &path, &[("Range", &range)], &[]).expect(200);
    assert_eq!(reply.body.len(), 10_000);
    let behind = format!("bytes={0}-{0}", u64::MAX);
    let reply = house.client.send("GET", &path, &[("Range", &behind)], &[]);
    assert_eq!(reply.headers["content-range"], "bytes */10000");
    reply.problem(416, "range_not_satisfiable");
}

#[test]
fn listeners_that_never_read_disturb_nobody() {
    let house = House::open();
    let silent: Vec<TcpStream> =
        (0..200).map(|_| house.client.begin("GET", "/v1/events/stream?after=0", &[], 0)).collect();
    for n in 0..20 {
        house.add(&format!("{n}.txt"), format!("letter {n}\n").as_bytes());
    }
    let House { server, .. } = house;
    assert_eq!(server.stop(), Some(0), "it ends in order although they read nothing");
    for mut stream in silent {
        let mut heard = String::new();
        stream.read_to_string(&mut heard).unwrap();
        assert!(heard.starts_with("HTTP/1.1 200"), "{heard}");
    }
}

/// Whether something has come back, without waiting for it.
fn is_answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let answered = stream.peek(&mut [0]).is_ok();
    stream.set_nonblocking(false).unwrap();
    answered
}

#[test]
fn one_upload_too_many_is_told_when_to_come_again_and_the_others_go_on() {
    let mill = Mill::new();
    std::fs::create_dir(mill.data()).unwrap();
    std::fs::write(mill.data().join("docmill.toml"), "[http]\nmax_uploads = 1\n").unwrap();
    let house = House::of(mill);
    let body = form(&[Part::file("slow.txt", b"a slow letter")]);
    let begin = || {
        let mut slow = house.client.begin("POST", "/v1/documents", &[FORM], body.len());
        slow.write_all(&body[..body.len() / 2]).unwrap();
        slow
    };
    let mut slow = begin();
    // Which of the two is first is the server's to say; the slow one has its place once another is refused. Where it was
    // refused itself, it begins again.
    let refused = loop {
        let reply = house.client.upload("/v1/documents", &[], &[Part::file("b.txt", b"another")]);
        if reply.status != 202 {
            break reply;
        }
        if is_answered(&slow) {
            slow = begin();
        }
    };
    assert!(refused.headers["retry-after"].parse::<u64>().unwrap() >= 1);
    let problem = refused.problem(503, "unavailable");
    assert!(problem["retryable"] == true && text(&problem, "hint").contains("http.max_uploads"), "{problem}");
    slow.write_all(&body[body.len() / 2..]).unwrap();
    Reply::read(slow, false).expect(202);
    house.client.upload("/v1/documents", &[], &[Part::file("b.txt", b"another")]).expect(202);
    let audit = house.mill.run(&["audit", "--json"]).json();
    assert_eq!(audit["balanced"], true, "{audit}");
}
