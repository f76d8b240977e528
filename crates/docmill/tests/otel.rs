//! Spans from the real binary to a collector that this test plays itself, byte by byte.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test binary")]

mod support;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

use support::tasks::tasks;
use support::{Mill, finish};

/// A request as it came in.
struct Delivery {
    path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// Answers every delivery with success, for as long as the test runs.
fn collector() -> (String, mpsc::Receiver<Delivery>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (delivered, deliveries) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            if delivered.send(take(stream.unwrap())).is_err() {
                return;
            }
        }
    });
    (address, deliveries)
}

fn take(stream: TcpStream) -> Delivery {
    let mut reader = BufReader::new(stream);
    let mut lines = (&mut reader).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    let path = first.strip_prefix("POST ").unwrap().strip_suffix(" HTTP/1.1").unwrap().to_owned();
    let head = lines.take_while(|line| !line.is_empty());
    let headers: BTreeMap<String, String> = head
        .map(|line| line.split_once(": ").map(|(k, v)| (k.to_lowercase(), v.to_owned())).unwrap())
        .collect();
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
    reader.get_mut().write_all(answer).unwrap();
    Delivery { path, headers, body }
}

/// A field of a protobuf message.
enum Field<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// The fields of a message, in order, by their numbers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return value;
            }
        }
        panic!("a number without end");
    }
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 | 5 => {
                let (number, rest) = bytes.split_at(if tag & 7 == 1 { 8 } else { 4 });
                bytes = rest;
                Field::Number(number.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(content)
            }
            other => panic!("wire type {other}"),
        };
        out.push((tag >> 3, field));
    }
    out
}

/// All messages or texts under one number.
fn parts(bytes: &[u8], number: u64) -> Vec<&[u8]> {
    let of_number = |(n, field)| match field {
        Field::Bytes(bytes) if n == number => Some(bytes),
        _ => None,
    };
    fields(bytes).into_iter().filter_map(of_number).collect()
}

fn number(bytes: &[u8], number: u64) -> Option<u64> {
    fields(bytes).into_iter().find_map(|(n, field)| match field {
        Field::Number(value) if n == number => Some(value),
        _ => None,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// Texts of `KeyValue` messages.
fn attributes(bytes: &[u8], under: u64) -> BTreeMap<String, String> {
    let pair = |pair: &[u8]| (text(parts(pair, 1)[0]), text(parts(parts(pair, 2)[0], 1)[0]));
    parts(bytes, under).into_iter().map(pair).collect()
}

#[derive(Debug)]
struct Span {
    trace: String,
    id: String,
    parent: String,
    name: String,
    /// Nanoseconds.
    began: u64,
    ended: u64,
    attributes: BTreeMap<String, String>,
    failed: bool,
}

/// What a delivery says about its sender, and its spans.
fn unpack(delivery: &Delivery) -> (BTreeMap<String, String>, Vec<Span>) {
    let mut spans = Vec::new();
    let mut sender = BTreeMap::new();
    for resource_spans in parts(&delivery.body, 1) {
        sender.extend(attributes(parts(resource_spans, 1)[0], 1));
        for scope in parts(resource_spans, 2) {
            for span in parts(scope, 2) {
                spans.push(Span {
                    trace: hex(parts(span, 1)[0]),
                    id: hex(parts(span, 2)[0]),
                    parent: parts(span, 4).first().map(|id| hex(id)).unwrap_or_default(),
                    name: text(parts(span, 5)[0]),
                    began: number(span, 7).unwrap(),
                    ended: number(span, 8).unwrap(),
                    attributes: attributes(span, 9),
                    failed: parts(span, 15).first().is_some_and(|status| number(status, 3) == Some(2)),
                });
            }
        }
    }
    (sender, spans)
}

#[test]
fn spans_of_ingestion_task_and_reading_reach_a_collector() {
    let (address, deliveries) = collector();
    let mill = Mill::new();
    for n in 0..20 {
        mill.write(format!("{n}.txt"), format!("letter {n} to Wilhelmina\n"));
    }
    mill.write("poison.txt", "DOCMILL-PROBE:segfault\n");
    let mut command = mill.command(&["ingest", "in", "--batch", "b", "--json"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &address).env("OTEL_SERVICE_NAME", "mill of the test");
    finish(command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-test=yes")).expect(7);

    let mut spans = Vec::new();
    // The command has ended, and with it its last delivery.
    for delivery in deliveries.try_iter() {
        assert_eq!(delivery.path, "/v1/traces");
        assert_eq!(delivery.headers["content-type"], "application/x-protobuf");
        assert_eq!(delivery.headers["x-test"], "yes");
        assert!(!String::from_utf8_lossy(&delivery.body).contains("Wilhelmina"));
        assert!(!String::from_utf8_lossy(&delivery.body).contains(".txt"), "names a file");
        let (sender, some) = unpack(&delivery);
        assert_eq!(sender["service.name"], "mill of the test");
        spans.extend(some);
    }

    let dead = mill.run(&["dead", "list", "--json"]).expect(0).json();
    let poison = dead["dead"][0]["ingestion_id"].as_str().unwrap().replace('-', "");
    let roots: Vec<&Span> = spans.iter().filter(|span| span.name == "ingestion").collect();
    assert_eq!(roots.len(), 21);
    for root in &roots {
        assert_eq!(root.parent, "");
        assert_eq!(root.trace, root.attributes["docmill.ingestion_id"].replace('-', ""));
        let of = |span: &&Span, parent: &Span| span.trace == parent.trace && span.parent == parent.id;
        let tasks: Vec<&Span> = spans.iter().filter(|span| of(span, root)).collect();
        let expected = if root.trace == poison { 4 } else { 2 };
        assert_eq!(tasks.len(), expected, "{root:?} {tasks:?}");
        for task in tasks {
            assert!(["intake-document", "extract-text"].contains(&task.name.as_str()), "{task:?}");
            assert_eq!(task.attributes["docmill.batch_id"], root.attributes["docmill.batch_id"]);
            assert!(task.began <= task.ended, "{task:?}");
            assert_eq!(task.failed, task.attributes["docmill.status"] != "completed", "{task:?}");
            let reads: Vec<&Span> = spans.iter().filter(|span| of(span, task)).collect();
            assert_eq!(reads.len(), 1, "{task:?}");
            assert_eq!((reads[0].name.as_str(), reads[0].failed), ("read", task.failed));
        }
    }
    let attempts = spans.iter().filter(|span| span.attributes.contains_key("docmill.task_id")).count();
    let failures: u32 = tasks(&mill).iter().map(|task| task.attempt).sum();
    let done = tasks(&mill).iter().filter(|task| task.state == "done").count();
    assert_eq!(attempts, done + failures as usize, "one span an attempt");
}

#[test]
fn setting_names_a_collector_and_sampling_leaves_traces_out() {
    let (address, deliveries) = collector();
    let mill = Mill::new();
    mill.write("a.txt", "a letter\n");
    std::fs::create_dir(mill.data()).unwrap();
    let file = mill.data().join("docmill.toml");
    std::fs::write(&file, format!("[otel]\nendpoint = \"{address}/v1/traces\"\nsample = 0\n")).unwrap();
    mill.run(&["ingest", "in"]).expect(0);
    assert_eq!(deliveries.try_iter().count(), 0, "nothing is sampled");
    std::fs::write(&file, format!("[otel]\nendpoint = \"{address}/v1/traces\"\n")).unwrap();
    mill.run(&["reprocess", "--all"]).expect(0);
    mill.run(&["work", "--exit-when-idle"]).expect(0);
    let sent: Vec<Delivery> = deliveries.try_iter().collect();
    assert!(sent.iter().all(|delivery| delivery.path == "/v1/traces"));
    let (sender, _) = unpack(&sent[0]);
    assert_eq!(sender["service.name"], "docmill");
}

#[test]
fn collector_that_is_away_costs_nothing_but_a_warning() {
    let mill = Mill::new();
    mill.write("a.txt", "a letter\n");
    // Bound and dropped: nobody listens there.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = mill.command(&["ingest", "in", "--json"]);
    command.env("DOCMILL_OTEL_ENDPOINT", format!("http://joe:hunter2@{address}"));
    let run = finish(command.env("DOCMILL_LOG", "debug")).expect(0);
    assert_eq!(run.json()["completed"], 1);
    assert!(run.stderr.contains("spans could not be delivered"), "{}", run.stderr);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
}

#[test]
fn variables_of_the_ecosystem_can_switch_it_off() {
    let (address, deliveries) = collector();
    let mill = Mill::new();
    mill.write("a.txt", "a letter\n");
    for (name, value) in [
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
    ] {
        let mut command = mill.command(&["ingest", "in"]);
        finish(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &address).env(name, value)).expect(0);
        assert_eq!(deliveries.try_iter().count(), 0, "{name}");
    }
}
