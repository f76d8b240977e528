//! Texts that no row can hold: every word and every phrase of them is found all the same.

use std::fmt::Write as _;

use docmill_core::ports::TextIndex as _;
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextQuery};
use docmill_testkit::conformance::{Bench, Case};

use super::{apply, ask, document, find, put};
use crate::Database;

pub(super) fn cases() -> Vec<Case<Database>> {
    docmill_testkit::cases![
        five_megabytes_of_prose_are_found_from_end_to_end,
        five_megabytes_of_numbers_are_found_from_end_to_end,
        phrases_are_found_at_every_border,
        word_repeated_without_end_is_one_document,
        odd_names_and_titles_are_taken_as_far_as_is_sensible,
        long_document_is_replaced_and_removed_whole,
    ]
}

/// Text that repeats itself as prose does: few words often, many words rarely.
fn prose(bytes: usize) -> String {
    let (mut text, mut n) = (String::with_capacity(bytes + 64), 0_u64);
    while text.len() < bytes {
        // A small generator; the words it gives are the same on every machine.
        n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (common, rare) = ((n >> 33) % 12, (n >> 40) % 20_000);
        write!(text, "the of{common} rare{rare} and ").unwrap();
    }
    text
}

/// How the row of a document says that it is shaped, and how many parts it has.
async fn shape(database: &Database, n: u128) -> (String, usize) {
    let rows = |what: &str| {
        format!("SELECT {what}::text FROM text_index_row WHERE document_id = lpad('{n:x}', 32, '0')::uuid")
    };
    let shape = database.text(&(rows("max(shape)") + " AND part = 0")).await;
    (shape, database.text(&rows("(count(*) - 1)")).await.parse().unwrap())
}

async fn five_megabytes_of_prose_are_found_from_end_to_end(bench: Bench<Database>) {
    let database = bench.open().await;
    let index = database.index().await;
    let half = prose(5 << 19);
    let text = format!("alpha begins {half} omikron pi middle {half} ends omega");
    assert!(text.len() > 5_000_000);
    apply(&index, vec![put(1, &text), put(2, "alpha omega"), put(3, "ends omega of1")]).await;
    let (shape, parts) = shape(&database, 1).await;
    assert!(shape == "1" && parts > 10, "shape {shape}, {parts} parts");
    for (query, expected) in [
        ("alpha", &[1, 2][..]),
        ("omega", &[1, 2, 3]),
        ("alpha omega pi", &[1]),
        ("alpha omega -pi", &[2]),
        ("alpha OR ends", &[1, 2, 3]),
        ("\"ends omega\"", &[1, 3]),
        ("\"alpha begins\" \"ends omega\"", &[1]),
        ("\"omikron pi middle\"", &[1]),
        ("\"omikron middle\"", &[]),
        ("\"alpha omega\"", &[2]),
        ("\"alpha omega\" OR \"ends om\"*", &[1, 2, 3]),
        ("omega -\"ends omega\"", &[2]),
        ("-\"ends omega\"", &[2]),
        ("-pi", &[2, 3]),
        ("omik* mid*", &[1]),
        ("name:file of1 omikron", &[1]),
        ("name:\"file 1\" \"ends omega\"", &[1]),
        ("rare77 alpha", &[1]),
    ] {
        assert_eq!(find(&index, query).await, expected, "{query}");
    }
    let filters = vec![("name".to_owned(), "file-3.bin".to_owned())];
    let hits = index.query(TextQuery { filters, ..ask("\"ends omega\"") }).await.unwrap().hits;
    assert_eq!(hits.len(), 1);
    // The short one that is about the word comes first.
    let hits = index.query(ask("omega")).await.unwrap().hits;
    assert_eq!(hits.last().unwrap().document_id, document(1, "").document_id);
    assert!(hits.iter().all(|hit| hit.score.is_finite() && hit.score > 0.0), "{hits:?}");
}

async fn five_megabytes_of_numbers_are_found_from_end_to_end(bench: Bench<Database>) {
    let database = bench.open().await;
    let index = database.index().await;
    let mut text = String::from("table of many numbers ");
    for n in 0..640_000 {
        write!(text, "n{n:06} ").unwrap();
    }
    text.push_str("and that is all");
    assert!(text.len() > 5_000_000);
    apply(&index, vec![put(1, &text), put(2, "n639999 n000003"), put(3, "table n000003 all that")]).await;
    let (shape, parts) = shape(&database, 1).await;
    assert!(shape == "2" && parts > 10, "shape {shape}, {parts} parts");
    for (query, expected) in [
        ("n000003", &[1, 2, 3][..]),
        ("n639999", &[1, 2]),
        ("n000003 n639999", &[1, 2]),
        ("n000003 n639999 n320000 all", &[1]),
        ("n320000 -n639998", &[]),
        ("n639999 -n320000", &[2]),
        ("-n320000", &[2, 3]),
        ("-n639999 table", &[3]),
        ("n320000 OR table", &[1, 3]),
        ("n32000* n639999", &[1]),
        ("\"n639998 n639999 and that\"", &[1]),
        ("\"n639999 n639998\"", &[]),
        ("\"n000003 n000004\" OR \"n000003 all\"", &[1, 3]),
        ("table -\"all that\"", &[1]),
        ("\"that is all\" -n320000", &[]),
        ("n999999", &[]),
    ] {
        assert_eq!(find(&index, query).await, expected, "{query}");
    }
    let hits = index.query(ask("n639999")).await.unwrap().hits;
    assert!(hits.iter().all(|hit| hit.score.is_finite() && hit.score > 0.0), "{hits:?}");
    assert_eq!(hits.len(), 2, "each document once");
}

async fn phrases_are_found_at_every_border(bench: Bench<Database>) {
    let database = bench.open().await;
    let index = database.index().await;
    let words: Vec<String> = (0..36_000).map(|n| format!("w{n}")).collect();
    apply(&index, vec![put(1, &words.join(" "))]).await;
    assert_eq!(shape(&database, 1).await, ("1".into(), 3));
    // The server keeps positions up to 16,383; the words around that are the end of one part and the beginning of the
    // next, and so on.
    for border in [16_383, 32_703] {
        for first in border - 70..border + 70 {
            let phrase = format!("\"{}\"", words[first..first + 2].join(" "));
            assert_eq!(find(&index, &phrase).await, [1], "{phrase}");
            let gap = format!("\"{} {}\"", words[first], words[first + 2]);
            assert!(find(&index, &gap).await.is_empty(), "{gap}");
        }
        for first in (border - 70..border + 10).step_by(3) {
            for length in [64, 65, 200] {
                let phrase = format!("\"{}\"", words[first..first + length].join(" "));
                assert_eq!(find(&index, &phrase).await, [1], "{length} words from {first}");
            }
        }
    }
}

async fn word_repeated_without_end_is_one_document(bench: Bench<Database>) {
    let database = bench.open().await;
    let index = database.index().await;
    let text = format!("{}end of it", "again ".repeat(50_000));
    apply(&index, vec![put(1, &text), put(2, "again and again")]).await;
    assert_eq!(find(&index, "again").await, [1, 2]);
    assert_eq!(find(&index, "\"again again again\"").await, [1]);
    assert_eq!(find(&index, "\"again end of it\"").await, [1]);
    assert_eq!(find(&index, "again -\"again again\"").await, [2]);
    let (_, parts) = shape(&database, 1).await;
    assert!(parts < 50_000 / 150, "{parts} parts");
}

async fn odd_names_and_titles_are_taken_as_far_as_is_sensible(bench: Bench<Database>) {
    let database = bench.open().await;
    let index = database.index().await;
    let many: Vec<String> = (0..40_000).map(|n| format!("w{n}")).collect();
    let odd = IndexedDocument {
        name: format!("na\0me {}", "x ".repeat(30_000)),
        title: Some(many.join(" ")),
        media_type: Some("a/b ".repeat(5_000)),
        ..document(1, &many.join(" "))
    };
    apply(&index, vec![IndexChange::Put(odd)]).await;
    for query in
        ["name:x", "name:\"x x\"", "title:w0", "title:\"w7 w8 w9\"", "type:b", "w39999", "\"w39998 w39999\""]
    {
        assert_eq!(find(&index, query).await, [1], "{query}");
    }
}

async fn long_document_is_replaced_and_removed_whole(bench: Bench<Database>) {
    let database = bench.open().await;
    let index = database.index().await;
    let long = prose(300_000);
    let counts =
        "SELECT documents || ' ' || long_documents || ' ' || spilled_documents FROM text_index_tenant";
    apply(&index, vec![put(1, &long), put(2, &long)]).await;
    assert_eq!(database.text(counts).await, "2 2 0");
    apply(&index, vec![put(1, "short now")]).await;
    assert_eq!(database.text(counts).await, "2 1 0");
    assert_eq!(shape(&database, 1).await, ("0".into(), 0));
    assert_eq!(find(&index, "the").await, [2]);
    apply(&index, vec![put(1, &long), IndexChange::Remove(super::ANNA, document(2, "").document_id)]).await;
    assert_eq!(find(&index, "the -short").await, [1]);
    apply(&index, vec![IndexChange::Remove(super::ANNA, document(1, "").document_id)]).await;
    assert_eq!(database.text(counts).await, "0 0 0");
    assert_eq!(database.text("SELECT count(*)::text FROM text_index_row").await, "0");
    assert!(find(&index, "the").await.is_empty());
}
