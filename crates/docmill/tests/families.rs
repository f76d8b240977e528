//! Documents that have both text and files inside: one ingestion, one end, and its members as a family. The real binary.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test binary")]

mod support;

use serde_json::Value;
use support::Mill;

/// A file under `fixtures/`.
fn fixture(path: &str) -> Vec<u8> {
    let full = format!("{}/../../fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&full).unwrap_or_else(|e| panic!("{full}: {e}"));
    docmill_core::limits::read_capped(file, 1 << 20, path).unwrap()
}

/// What is stored of the document of that name.
fn shown(mill: &Mill, name: &str) -> Value {
    let list = mill.run(&["list", "--json", "--limit", "100"]).expect(0).json();
    let all = list["documents"].as_array().unwrap();
    let document = all.iter().find(|d| d["name"] == name).unwrap_or_else(|| panic!("no {name} in {list}"));
    mill.run(&["show", document["document_id"].as_str().unwrap(), "--json"]).expect(0).json()
}

fn names(children: &Value) -> Vec<&str> {
    children.as_array().unwrap().iter().map(|child| child["name"].as_str().unwrap()).collect()
}

#[test]
fn document_is_transcribed_and_its_files_are_unpacked() {
    let mill = Mill::new();
    mill.write("letter.docx", fixture("docx/letter.docx"));
    mill.run(&["ingest", "in", "-q"]).expect(0);
    let letter = shown(&mill, "letter.docx");
    assert_eq!(names(&letter["children"]), ["note.txt", "inner.txt"]);
    assert_eq!(letter["ingestions"][0]["result"], "SUCCESS");
    assert_eq!(letter["metadata"]["author"], "Ada Lovelace");
    assert_eq!(letter["metadata"]["embedded_files"], "2");
    let text = mill.run(&["text", letter["document_id"].as_str().unwrap()]).expect(0);
    assert!(text.stdout.contains("Tea\tgross\t4"), "{}", text.stdout);
    assert_eq!(shown(&mill, "note.txt")["parent"]["name"], "letter.docx");
    let found = mill.run(&["search", "embedded", "--json"]).expect(0).json();
    assert_eq!(found["hits"][0]["name"], "note.txt");
    assert_eq!(mill.run(&["audit", "--json"]).expect(0).json()["balanced"], true);
}

#[test]
fn same_document_again_brings_its_files_again_and_reads_nothing() {
    let mill = Mill::new();
    mill.write("letter.docx", fixture("docx/letter.docx"));
    mill.run(&["ingest", "in", "-q"]).expect(0);
    mill.write("copy.docx", fixture("docx/letter.docx"));
    mill.run(&["ingest", "in/copy.docx", "-q"]).expect(0);
    let letter = shown(&mill, "letter.docx");
    assert_eq!(letter["ingestions"].as_array().unwrap().len(), 2);
    assert_eq!(names(&letter["children"]), ["note.txt", "inner.txt"]);
    assert_eq!(mill.run(&["audit", "--json"]).expect(0).json()["balanced"], true);
}

#[test]
fn read_shows_both_text_and_files() {
    let mill = Mill::new();
    let path = mill.write("letter.docx", fixture("docx/letter.docx"));
    let read = mill.run(&["read", path.to_str().unwrap(), "--json"]).expect(0).json();
    let read = read.get(0).unwrap_or(&read);
    assert!(read["text"].as_str().unwrap().contains("In the box"), "{read}");
    assert_eq!(names(&read["children"]), ["note.txt", "inner.txt"]);
}

#[test]
fn header_fields_of_a_mail_are_its_metadata() {
    let mill = Mill::new();
    mill.write("mail.eml", fixture("eml/mixed.eml"));
    mill.run(&["ingest", "in", "-q"]).expect(0);
    let mail = shown(&mill, "mail.eml");
    for key in ["from", "to", "date", "message_id", "subject"] {
        assert!(mail["metadata"][key].is_string(), "{key} is missing: {}", mail["metadata"]);
    }
    assert!(!names(&mail["children"]).is_empty());
}

#[test]
fn messages_of_a_mailbox_are_listed_with_their_subjects() {
    let mill = Mill::new();
    mill.write("three.mbox", fixture("mbox/three.mbox"));
    mill.run(&["ingest", "in", "-q"]).expect(0);
    let mailbox = shown(&mill, "three.mbox");
    let titles: Vec<_> =
        mailbox["children"].as_array().unwrap().iter().map(|line| line["title"].as_str()).collect();
    assert_eq!(titles, [Some("one"), Some("two"), Some("three")]);
}
