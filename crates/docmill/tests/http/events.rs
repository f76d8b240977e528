//! The event log and its stream.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::Mill;
use crate::support::http::Part;
use crate::{House, text};

/// A stream of events that is being read.
struct Stream(BufReader<TcpStream>);

impl Stream {
    #[track_caller]
    fn open(house: &House, query: &str, headers: &[(&str, &str)]) -> Self {
        let path = format!("/v1/events/stream{query}");
        let mut from = BufReader::new(house.client.begin("GET", &path, headers, 0));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(from.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"), "{head}");
        Self(from)
    }

    /// The next event, or none when the stream has ended.
    fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }

    /// The numbers of the events up to this one.
    fn upto(&mut self, last: i64) -> Vec<i64> {
        let mut seen = Vec::new();
        while seen.last() != Some(&last) {
            seen.push(self.next().unwrap()["id"].as_i64().unwrap());
        }
        seen
    }
}

fn last_event(house: &House) -> i64 {
    house.client.get("/v1/status").expect(200).json()["last_event"].as_i64().unwrap()
}

#[test]
fn a_stream_tells_what_happens_and_goes_on_where_it_was() {
    let house = House::open();
    let mut all = Stream::open(&house, "?after=0", &[]);
    let mut new = Stream::open(&house, "", &[]);
    house.add("a.txt", b"one");
    let mut of_documents = Stream::open(&house, "?after=0&type=DOCUMENT_PROCESSED", &[]);
    house.add("b.txt", b"two");
    let last = last_event(&house);
    assert_eq!(all.upto(last), (1..=last).collect::<Vec<_>>(), "every number once, in order");
    let new = new.upto(last);
    assert!(new.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{new:?}");
    for _ in 0..2 {
        assert_eq!(of_documents.next().unwrap()["type"], "DOCUMENT_PROCESSED");
    }
    let middle = (last / 2).to_string();
    let mut back = Stream::open(&house, "?after=0", &[("Last-Event-ID", &middle)]);
    assert_eq!(
        back.upto(last),
        (last / 2 + 1..=last).collect::<Vec<_>>(),
        "the header is newer than the address"
    );
    house
        .client
        .send("GET", "/v1/events/stream", &[("Last-Event-ID", "x")], &[])
        .problem(400, "invalid_request");
    house.client.get("/v1/events/stream?type=ODD").problem(400, "invalid_request");
}

#[test]
fn a_place_beyond_the_end_is_refused_and_a_browser_is_set_back_to_the_end() {
    let house = House::open();
    house.add("a.txt", b"one");
    let last = last_event(&house);
    for path in ["/v1/events?after=1000000", "/v1/events/stream?after=1000000"] {
        let words = house.client.get(path).problem(400, "invalid_request");
        assert!(words.to_string().contains(&format!("the last event is {last}")), "{path}: {words}");
    }
    // Whoever is exactly at the end waits for what comes.
    house.client.get(&format!("/v1/events?after={last}")).expect(200);
    let mut at_end = Stream::open(&house, &format!("?after={last}"), &[]);
    // A browser that knew a later state of the log, or another one, would give up for good if it were refused.
    let mut back = Stream::open(&house, "", &[("Last-Event-ID", "1000000")]);
    assert_eq!(back.next().unwrap(), json!({ "last_event": last }));
    house.add("b.txt", b"two");
    assert_eq!(back.next().unwrap()["id"].as_i64(), Some(last + 1));
    assert_eq!(at_end.next().unwrap()["id"].as_i64(), Some(last + 1));
}

#[test]
fn a_browser_whose_place_was_pruned_is_set_back_to_the_end() {
    let house = House::of(Mill::new().with_settings(&[("DOCMILL_EVENTS_RETENTION", "1ms")]));
    house.add("a.txt", b"one");
    house.mill.run(&["prune"]).expect(0);
    let last = last_event(&house);
    let words = house.client.get("/v1/events/stream?after=1").problem(400, "invalid_request");
    assert!(words.to_string().contains("pruned"), "{words}");
    let mut back = Stream::open(&house, "", &[("Last-Event-ID", "1")]);
    assert_eq!(back.next().unwrap(), json!({ "last_event": last }));
    house.add("b.txt", b"two");
    assert_eq!(back.next().unwrap()["id"].as_i64(), Some(last + 1));
}

#[test]
fn listeners_hear_everything_while_much_goes_on_and_the_server_ends_in_order() {
    let house = House::open();
    for n in 0..300 {
        house.mill.write(format!("{n}.txt"), format!("letter {n}\n"));
    }
    let mut listeners: Vec<Stream> = (0..20).map(|_| Stream::open(&house, "?after=0", &[])).collect();
    house.mill.run(&["ingest", "in"]).expect(0);
    let last = last_event(&house);
    for listener in &mut listeners {
        assert_eq!(listener.upto(last), (1..=last).collect::<Vec<_>>());
    }
    let House { server, .. } = house;
    assert_eq!(server.stop(), Some(0));
    for listener in &mut listeners {
        while listener.next().is_some() {}
    }
}

#[test]
fn pages_of_events_follow_each_other_without_a_gap() {
    let house = House::open();
    let done = house.add("a.txt", b"one");
    house.add("b.txt", b"two");
    let (mut seen, mut after) = (Vec::new(), 0);
    loop {
        let page = house.client.get(&format!("/v1/events?after={after}&limit=3")).expect(200).json();
        let events = page["events"].as_array().unwrap();
        if events.is_empty() {
            break;
        }
        seen.extend(events.iter().map(|event| event["id"].as_i64().unwrap()));
        after = page["next"].as_i64().unwrap();
    }
    assert_eq!(seen, (1..=last_event(&house)).collect::<Vec<_>>());
    let id = text(&done, "document_id");
    let of_one = house.client.get(&format!("/v1/events?document_id={id}")).expect(200).json();
    assert!(of_one["events"].as_array().unwrap().iter().all(|event| event["document_id"] == json!(id)));
    assert!(!of_one["events"].as_array().unwrap().is_empty());
    for bad in ["after=x", "limit=0", "type=NOPE", "batch_id=x"] {
        house.client.get(&format!("/v1/events?{bad}")).problem(400, "invalid_request");
    }
    let queued = house.client.upload("/v1/documents", &[], &[Part::file("c.txt", b"c")]).expect(202).json();
    assert!(queued["document_id"].is_string());
}
