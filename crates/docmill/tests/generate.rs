//! `docmill generate`: what it makes is what it says it made, as docmill itself reads it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test binary")]
#![expect(clippy::disallowed_methods, reason = "what is read here was made here")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use support::Mill;

/// Every file below a folder, by its name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            out.extend(files(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            out.insert(name, std::fs::read(&path).unwrap());
        }
    }
    out
}

fn lines(mill: &Mill, folder: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(mill.path(folder).join("documents.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Words alone: where lines break is a matter of width.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every text among the values.
fn leaves(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| leaves(value, out)),
        Value::Object(values) => values.values().for_each(|value| leaves(value, out)),
        _ => {}
    }
}

fn cents(value: &Value) -> i64 {
    let text = value.as_str().unwrap();
    let (whole, part) = text.split_once('.').unwrap_or_else(|| panic!("`{text}` has no point"));
    assert_eq!(part.len(), 2, "`{text}`");
    format!("{whole}{part}").parse().unwrap()
}

/// Whether the remainder by 97 is that of a right account number.
fn is_iban(iban: &str) -> bool {
    let turned = format!("{}{}", &iban[4..], &iban[..4]);
    let rest = turned
        .chars()
        .map(|c| c.to_digit(36).unwrap())
        .fold(0, |rest, digit| (rest * if digit > 9 { 100 } else { 10 } + digit) % 97);
    rest == 1
}

#[test]
fn documents_say_what_their_truth_says() {
    let mill = Mill::new();
    mill.run(&["generate", "--count", "60", "--seed", "5", "--scans", "0", "--out", "out"]).expect(0);
    let truths = lines(&mill, "out");
    assert_eq!(truths.len(), 60);
    let mut args = vec!["read".to_owned(), "--json".to_owned()];
    args.extend(truths.iter().map(|truth| format!("out/docs/{}", truth["file"].as_str().unwrap())));
    let read = mill.run(&args).expect(0);
    let read: Vec<Value> = read.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut kinds, mut told) = (std::collections::BTreeSet::new(), 0);
    for (truth, read) in truths.iter().zip(&read) {
        kinds.insert(truth["type"].as_str().unwrap().to_owned());
        assert_eq!(read["media_type"], truth["media_type"], "{}", truth["file"]);
        // The fields of a mail are no part of its text.
        let fields = read["metadata"].as_object().unwrap().values().filter_map(Value::as_str);
        let text =
            words(&[read["text"].as_str().unwrap()].into_iter().chain(fields).collect::<Vec<_>>().join(" "));
        let mut shown = Vec::new();
        leaves(&truth["shown"], &mut shown);
        assert!(!shown.is_empty(), "{truth}");
        for value in shown {
            // A long name may be broken over two lines of a narrow column, with words of its neighbours between.
            let there =
                |value: &str| text.contains(value) || value.split(' ').all(|word| text.contains(word));
            assert!(there(&words(&value)), "`{value}` of {} is not in: {text}", truth["file"]);
        }
        if truth["type"] != "mail" {
            assert_eq!(read["page_count"], truth["pages"], "{}", truth["file"]);
            // A bill of names and numbers may leave the language open, but not be taken for another.
            if !read["language"].is_null() {
                assert_eq!(read["language"], truth["language"], "{}", truth["file"]);
                told += 1;
            }
        }
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
    assert!(told * 2 > truths.len(), "of {} languages {told} were told", truths.len());
}

#[test]
fn sums_accounts_and_dates_of_invoices_are_right() {
    let mill = Mill::new();
    let args =
        ["generate", "--count", "80", "--seed", "5", "--scans", "0", "--kinds", "invoice", "--out", "out"];
    mill.run(&args).expect(0);
    let truth: Value = serde_json::from_slice(&std::fs::read(mill.path("out/truth.json")).unwrap()).unwrap();
    let mut with_account = 0;
    for (id, fields) in truth.as_object().unwrap() {
        let items = fields["items"].as_array().unwrap();
        let net: i64 = items.iter().map(|item| cents(&item["net_amount"])).sum();
        assert_eq!(net, cents(&fields["tax_basis_total"]), "{id}");
        assert_eq!(net + cents(&fields["tax_total"]), cents(&fields["total_amount"]), "{id}");
        assert!(fields["invoice_date"].as_str() < fields["due_date"].as_str(), "{id}");
        if let Some(iban) = fields["iban"].as_str() {
            assert!(is_iban(iban), "{id}: {iban}");
            with_account += 1;
        }
    }
    assert!(with_account > 20, "{with_account}");
    let of_schema: Value =
        serde_json::from_slice(&std::fs::read(mill.path("out/truth/invoice.json")).unwrap()).unwrap();
    assert_eq!(of_schema, truth);
}

#[test]
fn same_seed_gives_same_bytes_and_another_gives_others() {
    let mill = Mill::new();
    for (seed, folder) in [("7", "a"), ("7", "b"), ("8", "c")] {
        mill.run(&["generate", "--count", "12", "--seed", seed, "--scans", "0.3", "--out", folder]).expect(0);
    }
    let [a, b, c] = ["a", "b", "c"].map(|folder| files(&mill.path(folder)));
    assert!(a == b, "the same seed gave other bytes");
    let texts = |all: &BTreeMap<String, Vec<u8>>| {
        all.iter()
            .filter(|(name, _)| name.starts_with("text/"))
            .map(|(_, text)| text.clone())
            .collect::<Vec<_>>()
    };
    assert!(texts(&a).iter().all(|text| !texts(&c).contains(text)), "two seeds share a document");
}

#[test]
fn vendors_keep_their_look_whatever_the_seed() {
    let mill = Mill::new();
    let mut looks: BTreeMap<String, String> = BTreeMap::new();
    for seed in ["1", "2"] {
        let args = [
            "generate", "--count", "40", "--seed", seed, "--scans", "0", "--kinds", "invoice", "--out", seed,
        ];
        mill.run(&args).expect(0);
        for truth in lines(&mill, seed) {
            let (vendor, layout) = (truth["vendor"].as_str().unwrap(), truth["layout"].as_str().unwrap());
            let before = looks.entry(vendor.to_owned()).or_insert_with(|| layout.to_owned());
            assert_eq!(before, layout, "{vendor}");
        }
    }
    assert!(looks.len() > 8, "{looks:?}");
    let different: std::collections::BTreeSet<_> = looks.values().collect();
    assert_eq!(different.len(), 5, "{different:?}");
}

#[test]
fn scans_have_pixels_alone() {
    let mill = Mill::new();
    let args =
        ["generate", "--count", "4", "--seed", "3", "--scans", "1", "--kinds", "receipt", "--out", "out"];
    mill.run(&args).expect(0);
    for truth in lines(&mill, "out") {
        assert!(truth["scan"].is_string(), "{truth}");
        let path = format!("out/docs/{}", truth["file"].as_str().unwrap());
        let read = mill.run(&["read", "--json", "--ocr", "never", &path]).expect(0).json();
        assert_eq!(read["text"].as_str().unwrap().trim(), "", "{path}");
        assert_eq!(read["media_type"], truth["media_type"]);
    }
}

#[test]
fn without_a_folder_they_go_through_the_pipeline() {
    let mill = Mill::new();
    let args =
        ["generate", "--count", "10", "--seed", "4", "--scans", "0", "--kinds", "invoice,mail", "--json"];
    let answer = mill.run(&args).expect(0).json();
    assert_eq!(answer["received"], 10);
    assert_eq!((answer["failed"].as_u64(), answer["open"].as_u64()), (Some(0), Some(0)));
    assert!(answer["children"].as_u64().unwrap() > 0, "mails bring their attachments: {answer}");
    // The same again is the same content.
    let again = mill.run(&args).expect(0).json();
    assert_eq!(
        again["duplicates"].as_u64(),
        Some(again["received"].as_u64().unwrap() + again["children"].as_u64().unwrap())
    );
    mill.run(&["audit", "--json"]).expect(0);
}

#[test]
fn bad_orders_are_answered_with_the_way_out() {
    let mill = Mill::new();
    mill.run(&["generate", "--count", "0", "--out", "out"]).expect(2).says(&["1 to 1000000"]);
    mill.run(&["generate", "--count", "1", "--scans", "2", "--out", "out"]).expect(2).says(&["0 to 1"]);
    mill.run(&["generate", "--count", "1", "--kinds", "sonnet", "--out", "out"])
        .expect(2)
        .says(&["sonnet", "invoice, receipt"]);
    mill.write("kept.txt", "mine");
    mill.run(&["generate", "--count", "1", "--out", "in"]).expect(1).says(&["not empty"]);
}
