//! What every full-text index must do.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed case")]

use std::collections::BTreeSet;

use docmill_core::error::ErrorKind;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::TextIndex;
use docmill_core::ports::filter::{Day, Particulars};
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextHits, TextQuery};
use uuid::Uuid;

use super::{Bench, Suite};
use crate::cases;

type Subject = Bench<dyn TextIndex>;

const ANNA: TenantId = TenantId(Uuid::from_u128(0xa));
const BERT: TenantId = TenantId(Uuid::from_u128(0xb));

/// The suite of the port.
pub fn suite() -> Suite<dyn TextIndex> {
    Suite {
        port: "text_index",
        cases: cases![
            new_index_is_empty_at_zero,
            apply_is_atomic_with_watermark,
            apply_survives_reopening,
            apply_given_up_leaves_all_or_nothing,
            apply_again_changes_nothing,
            apply_from_elsewhere_changes_nothing,
            apply_of_two_at_once_takes_one,
            apply_of_nothing_moves_the_watermark,
            apply_replaces_the_older_version,
            apply_takes_the_last_change_of_a_batch,
            remove_takes_out_and_repeats_harmlessly,
            tenants_never_see_each_other,
            scores_know_one_tenant_only,
            query_needs_every_word,
            query_finds_phrases_in_order_only,
            query_finds_beginnings_of_words,
            query_finds_other_forms_behind_the_word_itself,
            query_stems_by_the_language_of_the_document,
            query_in_quotation_marks_is_exact,
            query_finds_words_that_are_spelled_nearly_so,
            query_that_is_forgiving_replaces_words_that_no_document_has,
            query_without_a_word_leaves_out,
            query_with_or_takes_either,
            query_of_any_word_takes_some_of_them,
            query_in_a_field_looks_there_only,
            query_ranks_title_and_name_above_text,
            query_ignores_case_and_diacritics,
            query_finds_substrings_of_unspaced_scripts,
            query_of_names_with_punctuation_finds_them,
            query_of_nothing_is_invalid,
            query_beyond_the_limits_is_invalid,
            filters_insist_on_equal_values,
            filters_look_at_what_was_found_out,
            facets_count_all_that_was_found,
            facets_count_what_is_rare_in_one_batch_and_frequent_in_another,
            words_are_folded_for_snippets,
            limit_takes_the_best_of_a_thousand,
            rewind_keeps_what_there_is_until_it_is_replaced,
            clear_empties_and_resets,
            long_words_are_dropped,
        ],
    }
}

fn id(n: u128) -> DocumentId {
    DocumentId(Uuid::from_u128(n))
}

fn document(n: u128, text: &str) -> IndexedDocument {
    IndexedDocument {
        tenant_id: ANNA,
        document_id: id(n),
        name: format!("file-{n}.bin"),
        title: None,
        media_type: None,
        particulars: Particulars::default(),
        text: text.to_owned(),
    }
}

fn put(n: u128, text: &str) -> IndexChange {
    IndexChange::Put(document(n, text))
}

fn ask(query: &str) -> TextQuery {
    TextQuery {
        tenant_id: ANNA,
        query: query.to_owned(),
        limit: 100,
        filters: Vec::new(),
        any: false,
        forgiving: false,
        counted: true,
    }
}

/// Applies changes as the follower does that has read everything since the watermark.
async fn apply(index: &dyn TextIndex, changes: Vec<IndexChange>, upto: i64) {
    let from = index.turn().await.unwrap().unwrap();
    assert!(index.apply(changes, from, upto).await.unwrap());
}

async fn search(index: &dyn TextIndex, query: &str) -> TextHits {
    index.query(ask(query)).await.unwrap()
}

/// The numbers of the documents found, in ascending order.
async fn find(index: &dyn TextIndex, query: &str) -> Vec<u128> {
    let mut found: Vec<u128> =
        search(index, query).await.hits.iter().map(|hit| hit.document_id.0.as_u128()).collect();
    found.sort_unstable();
    found
}

async fn new_index_is_empty_at_zero(bench: Subject) {
    let index = bench.open().await;
    assert_eq!(index.watermark().await.unwrap(), 0);
    assert_eq!(index.count(ANNA).await.unwrap(), 0);
    assert!(find(&*index, "anything").await.is_empty());
}

async fn apply_is_atomic_with_watermark(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "apple"), put(2, "apple pear")], 17).await;
    assert_eq!(index.watermark().await.unwrap(), 17);
    assert_eq!(find(&*index, "apple").await, [1, 2], "visible as soon as it is applied");
    assert_eq!(index.count(ANNA).await.unwrap(), 2);
}

async fn apply_survives_reopening(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "apple")], 5).await;
    apply(&*index, vec![put(2, "pear")], 9).await;
    drop(index);
    let index = bench.open().await;
    assert_eq!(index.watermark().await.unwrap(), 9);
    assert_eq!(find(&*index, "apple OR pear").await, [1, 2]);
    apply(&*index, vec![put(3, "plum")], 10).await;
    assert_eq!(find(&*index, "plum").await, [3]);
}

async fn apply_given_up_leaves_all_or_nothing(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(0, "old")], 1).await;
    let changes = (1..=200).map(|n| put(n, "new")).collect();
    // Polled once, so that the work has begun, and then dropped; it may go on behind our back.
    drop(futures::future::select(index.apply(changes, 1, 2), std::future::ready(())).await);
    for _ in 0..100 {
        let watermark = index.watermark().await.unwrap();
        let found = find(&*index, "new").await.len();
        match watermark {
            1 => assert!(found == 0 || found == 100, "{found} of the 100 asked for"),
            2 => assert_eq!(found, 100, "what the watermark promises is there"),
            other => unreachable!("watermark {other}"),
        }
    }
}

async fn apply_again_changes_nothing(bench: Subject) {
    let index = bench.open().await;
    let changes = vec![put(1, "apple"), put(2, "pear"), IndexChange::Remove(ANNA, id(2))];
    assert!(index.apply(changes.clone(), 0, 3).await.unwrap());
    let before = search(&*index, "apple").await;
    assert!(!index.apply(changes, 0, 3).await.unwrap(), "the watermark has moved on");
    assert_eq!(search(&*index, "apple").await, before, "not even the scores");
    assert_eq!(index.count(ANNA).await.unwrap(), 1);
    assert_eq!(index.watermark().await.unwrap(), 3);
}

async fn apply_from_elsewhere_changes_nothing(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "new")], 5).await;
    // Whoever read from 3 on, and was slow, holds what is older than the index.
    for (from, upto) in [(3, 4), (3, 9), (7, 9), (0, 5)] {
        let stale = vec![put(1, "old"), put(2, "old"), IndexChange::Remove(ANNA, id(1))];
        assert!(!index.apply(stale, from, upto).await.unwrap(), "from {from} to {upto}");
    }
    assert_eq!(index.watermark().await.unwrap(), 5);
    assert_eq!(find(&*index, "new").await, [1]);
    assert!(find(&*index, "old").await.is_empty());
    apply(&*index, vec![put(2, "old")], 6).await;
    assert_eq!(find(&*index, "old").await, [2]);
}

async fn apply_of_two_at_once_takes_one(bench: Subject) {
    let index = bench.open().await;
    for round in 0..10 {
        let (a, b) = futures::future::join(
            index.apply(vec![put(1, "from the first")], round, round + 1),
            index.apply(vec![put(2, "from the second")], round, round + 1),
        )
        .await;
        assert_ne!(a.unwrap(), b.unwrap(), "round {round}");
        assert_eq!(index.watermark().await.unwrap(), round + 1);
    }
}

async fn apply_of_nothing_moves_the_watermark(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, Vec::new(), 42).await;
    drop(index);
    assert_eq!(bench.open().await.watermark().await.unwrap(), 42);
}

async fn apply_replaces_the_older_version(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "apple")], 1).await;
    apply(&*index, vec![put(1, "pear")], 2).await;
    assert!(find(&*index, "apple").await.is_empty());
    assert_eq!(find(&*index, "pear").await, [1]);
    assert_eq!(index.count(ANNA).await.unwrap(), 1);
}

async fn apply_takes_the_last_change_of_a_batch(bench: Subject) {
    let index = bench.open().await;
    let removed = IndexChange::Remove(ANNA, id(2));
    let changes =
        vec![put(1, "apple"), put(1, "pear"), put(2, "pear"), removed.clone(), removed, put(3, "x")];
    apply(&*index, changes, 6).await;
    assert!(find(&*index, "apple").await.is_empty());
    assert_eq!(find(&*index, "pear").await, [1]);
    assert_eq!(index.count(ANNA).await.unwrap(), 2);
}

async fn remove_takes_out_and_repeats_harmlessly(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "apple"), put(2, "apple")], 2).await;
    for upto in [3, 4] {
        apply(&*index, vec![IndexChange::Remove(ANNA, id(1))], upto).await;
        assert_eq!(find(&*index, "apple").await, [2]);
        assert_eq!(index.count(ANNA).await.unwrap(), 1);
    }
}

async fn tenants_never_see_each_other(bench: Subject) {
    let index = bench.open().await;
    let secret =
        IndexedDocument { tenant_id: BERT, name: "secret.pdf".into(), ..document(2, "apple secret") };
    apply(&*index, vec![put(1, "apple"), IndexChange::Put(secret)], 2).await;
    for query in ["secret", "sec*", "apple OR secret", "name:secret.pdf", "-apple", "\"apple secret\""] {
        assert!(!find(&*index, query).await.contains(&2), "{query}");
    }
    for filter in ["name", "type"] {
        let filters = vec![(filter.to_owned(), "secret.pdf".to_owned())];
        assert!(index.query(TextQuery { filters, ..ask("apple") }).await.unwrap().hits.is_empty());
    }
    let other = index.query(TextQuery { tenant_id: BERT, ..ask("apple") }).await.unwrap();
    assert_eq!(other.hits.iter().map(|hit| hit.document_id).collect::<Vec<_>>(), [id(2)]);
    // Nor can one touch the other's documents, even knowing the id.
    apply(&*index, vec![IndexChange::Remove(ANNA, id(2)), put(2, "mine")], 3).await;
    assert_eq!((index.count(ANNA).await.unwrap(), index.count(BERT).await.unwrap()), (2, 1));
}

async fn scores_know_one_tenant_only(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "apple"), put(2, "pear"), put(3, "plum")], 3).await;
    let before = search(&*index, "apple").await;
    let others = (10..60)
        .map(|n| IndexChange::Put(IndexedDocument { tenant_id: BERT, ..document(n, "apple apple pie") }))
        .collect();
    apply(&*index, others, 60).await;
    assert_eq!(search(&*index, "apple").await, before);
}

async fn query_needs_every_word(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "apple pear"), put(2, "apple"), put(3, "pear")], 3).await;
    assert_eq!(find(&*index, "pear apple").await, [1]);
    assert_eq!(find(&*index, "pear AND apple").await, [1]);
    assert_eq!(find(&*index, "apple file 1").await, [1], "words may stand in different fields");
}

async fn query_finds_phrases_in_order_only(bench: Subject) {
    let index = bench.open().await;
    let texts = ["the annual report of", "report annual", "annual big report", "annual. Report"];
    let changes = texts.iter().enumerate().map(|(n, text)| put(n as u128, text)).collect();
    apply(&*index, changes, 4).await;
    assert_eq!(find(&*index, "\"Annual report\"").await, [0, 3]);
    assert_eq!(find(&*index, "\"annual rep\"*").await, [0, 3]);
    assert_eq!(find(&*index, "annual -\"annual report\"").await, [1, 2]);
}

async fn query_finds_beginnings_of_words(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "invoice"), put(2, "Invoices"), put(3, "voice"), put(4, "in")], 4).await;
    assert_eq!(find(&*index, "invoi*").await, [1, 2]);
    assert_eq!(find(&*index, "INV*").await, [1, 2]);
    assert_eq!(find(&*index, "name:file*").await, [1, 2, 3, 4]);
    assert_eq!(find(&*index, "in").await, [4], "without the star a word is a word");
    assert_eq!(index.query(ask("i*")).await.unwrap_err().kind(), ErrorKind::InvalidRequest);
}

/// As the reader says it is.
fn written_in(language: &str, document: IndexedDocument) -> IndexChange {
    let particulars = Particulars { language: Some(language.to_owned()), ..Particulars::default() };
    IndexChange::Put(IndexedDocument { particulars, ..document })
}

async fn query_finds_other_forms_behind_the_word_itself(bench: Subject) {
    let index = bench.open().await;
    let titled = IndexedDocument { title: Some("Reported costs".into()), ..document(4, "nothing else") };
    let changes = vec![
        put(1, "three reports of the town"),
        put(2, "one report of the town"),
        put(3, "it was said of the town"),
        IndexChange::Put(titled),
    ];
    apply(&*index, changes, 1).await;
    let hits = search(&*index, "report").await.hits;
    assert_eq!(hits[0].document_id, id(2), "the word itself is first");
    assert_eq!(find(&*index, "report").await, [1, 2, 4]);
    assert_eq!(find(&*index, "reporting towns").await, [1, 2]);
    assert_eq!(find(&*index, "report -reports").await, [2, 4], "what must be absent is meant exactly");
    assert_eq!(find(&*index, "title:reports").await, [], "and so is what a field must have");
}

async fn query_stems_by_the_language_of_the_document(bench: Subject) {
    let index = bench.open().await;
    let changes = vec![
        written_in("deu", document(1, "zwei Rechnungen vom März")),
        written_in("fra", document(2, "deux factures impayées")),
        written_in("rus", document(3, "два договора о поставке")),
        written_in("jpn", document(4, "reports 契約書")),
        written_in("eng", document(5, "two invoices")),
    ];
    apply(&*index, changes, 1).await;
    for (query, expected) in [
        ("Rechnung", &[1][..]),
        ("facture", &[2]),
        ("impayee", &[2]),
        ("договор", &[3]),
        ("invoice", &[5]),
        ("reports", &[4]),
        ("report", &[]),
        ("契約", &[4]),
    ] {
        assert_eq!(find(&*index, query).await, expected, "{query}");
    }
}

async fn query_in_quotation_marks_is_exact(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "the annual reports"), put(2, "the annual report")], 1).await;
    assert_eq!(find(&*index, "\"report\"").await, [2]);
    assert_eq!(find(&*index, "\"annual report\"").await, [2]);
    assert_eq!(find(&*index, "annual report").await, [1, 2]);
}

async fn query_finds_words_that_are_spelled_nearly_so(bench: Subject) {
    let index = bench.open().await;
    let theirs = IndexedDocument { tenant_id: BERT, ..document(9, "recieve") };
    let changes = vec![
        put(1, "we receive goods"),
        put(2, "we relieve pain"),
        put(3, "we deceive nobody"),
        put(4, "größe"),
        IndexChange::Put(theirs),
    ];
    apply(&*index, changes, 1).await;
    assert_eq!(find(&*index, "recieve").await, [], "not unless it is asked for");
    let found = search(&*index, "recieve~").await;
    assert_eq!(find(&*index, "recieve~").await, [1, 2], "the first letter must be right");
    assert!(found.words.contains(&"receive".to_owned()), "{:?}", found.words);
    assert!(!found.words.contains(&"recieve".to_owned()), "another's words are not spoken of");
    assert_eq!(find(&*index, "receive~ goods").await, [1]);
    assert_eq!(find(&*index, "grässe~").await, [4], "diacritics are no slips");
    // Words of documents that are gone are not offered.
    apply(&*index, vec![IndexChange::Remove(ANNA, id(2))], 2).await;
    assert_eq!(find(&*index, "recieve~").await, [1]);
    assert_eq!(search(&*index, "recieve~").await.words, ["recieve~", "receive"]);
}

async fn query_that_is_forgiving_replaces_words_that_no_document_has(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "receive invoices"), put(2, "relive the invoice"), put(3, "goods 2024")], 1)
        .await;
    let forgiving = |query: &str| TextQuery { forgiving: true, ..ask(query) };
    let found = index.query(forgiving("recieve invoice")).await.unwrap();
    assert_eq!(found.hits.iter().map(|hit| hit.document_id).collect::<Vec<_>>(), [id(1)]);
    assert_eq!(found.instead, [("recieve".to_owned(), vec!["receive".to_owned()])]);
    // What is there, if only in another form, is taken as it is; numbers and short words are never replaced.
    for query in ["invoice", "receives", "2025", "god", "\"recieve\"", "zzzzzz"] {
        assert_eq!(index.query(forgiving(query)).await.unwrap().instead, [], "{query}");
    }
}

async fn query_without_a_word_leaves_out(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "apple pear"), put(2, "apple"), put(3, "plum")], 3).await;
    assert_eq!(find(&*index, "apple -pear").await, [2]);
    assert_eq!(find(&*index, "apple NOT pear").await, [2]);
    assert_eq!(find(&*index, "-apple").await, [3]);
    apply(&*index, vec![put(4, "plum and pear")], 4).await;
    assert_eq!(find(&*index, "-\"and pear\"").await, [1, 2, 3]);
}

async fn query_with_or_takes_either(bench: Subject) {
    let index = bench.open().await;
    let changes = vec![put(1, "apple red"), put(2, "pear red"), put(3, "plum red"), put(4, "pear")];
    apply(&*index, changes, 4).await;
    assert_eq!(find(&*index, "apple OR pear red").await, [1, 2]);
    assert_eq!(find(&*index, "red apple OR plum OR pear").await, [1, 2, 3]);
}

async fn query_of_any_word_takes_some_of_them(bench: Subject) {
    let index = bench.open().await;
    let changes = vec![put(1, "apple"), put(2, "apple pear"), put(3, "plum"), put(4, "apple pear worm")];
    index.apply(changes, 0, 1).await.unwrap();
    let any = |query: &str| TextQuery { any: true, ..ask(query) };
    // Who has both is the better answer; what must be absent must be absent all the same.
    let hits = index.query(any("apple pear -worm")).await.unwrap().hits;
    assert_eq!(hits.iter().map(|hit| hit.document_id).collect::<Vec<_>>(), [id(2), id(1)]);
    assert!(index.query(any("cherry nut")).await.unwrap().hits.is_empty());
    // What nearly every text has does not answer a question, unless nothing else is asked for.
    index.apply(vec![put(5, "this and that")], 1, 2).await.unwrap();
    assert_eq!(index.query(any("plum and cherry")).await.unwrap().hits.len(), 1);
    assert_eq!(index.query(any("this and")).await.unwrap().hits.len(), 1);
}

async fn query_in_a_field_looks_there_only(bench: Subject) {
    let index = bench.open().await;
    let named = IndexedDocument { name: "Budget 2024.xlsx".into(), ..document(1, "x") };
    let titled = IndexedDocument { title: Some("Budget of the town".into()), ..document(2, "x") };
    let typed = IndexedDocument { media_type: Some("application/pdf".into()), ..document(3, "budget") };
    apply(&*index, [named, titled, typed].map(IndexChange::Put).to_vec(), 3).await;
    for (query, expected) in [
        ("budget", &[1, 2, 3][..]),
        ("name:budget", &[1]),
        ("name:\"budget 2024\"", &[1]),
        ("title:budget", &[2]),
        ("title:\"of the town\"", &[2]),
        ("type:pdf", &[3]),
        ("type:application/pdf", &[3]),
        ("budget -type:pdf", &[1, 2]),
        ("type:budget", &[]),
    ] {
        assert_eq!(find(&*index, query).await, expected, "{query}");
    }
}

async fn query_ranks_title_and_name_above_text(bench: Subject) {
    let index = bench.open().await;
    let named = IndexedDocument { name: "apple".into(), ..document(1, "pear") };
    let titled = IndexedDocument { name: "x".into(), title: Some("apple".into()), ..document(2, "pear") };
    let plain = IndexedDocument { name: "x".into(), title: Some("pear".into()), ..document(3, "apple") };
    apply(&*index, [plain, named, titled].map(IndexChange::Put).to_vec(), 3).await;
    let hits = search(&*index, "apple").await.hits;
    assert_eq!(hits.iter().map(|hit| hit.document_id).collect::<Vec<_>>(), [id(2), id(1), id(3)]);
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "best first");
}

async fn query_ignores_case_and_diacritics(bench: Subject) {
    let index = bench.open().await;
    let changes =
        vec![put(1, "Übergröße CAFÉ"), put(2, "ubergrosse cafe"), put(3, "U\u{308}bergröße cafe\u{301}")];
    apply(&*index, changes, 3).await;
    for query in ["übergröße", "UBERGROSSE", "Café", "cafe\u{301}", "\"ubergröße café\"", "überg*"] {
        assert_eq!(find(&*index, query).await, [1, 2, 3], "{query}");
    }
}

async fn query_finds_substrings_of_unspaced_scripts(bench: Subject) {
    let index = bench.open().await;
    let changes = vec![
        put(1, "私は東京都に住んでいます"),
        put(2, "京都と東の山"),
        put(3, "我们在北京开会"),
        put(4, "대한민국의 수도는 서울입니다"),
        put(5, "契約書PDF版"),
    ];
    apply(&*index, changes, 5).await;
    for (query, expected) in [
        ("東京", &[1][..]),
        ("京都", &[1, 2]),
        ("京", &[1, 2, 3]),
        ("北京 开会", &[3]),
        ("서울", &[4]),
        ("民国", &[]),
        ("민국", &[4]),
        ("住んで*", &[1]),
        ("契約書pdf", &[5]),
    ] {
        assert_eq!(find(&*index, query).await, expected, "{query}");
    }
}

async fn query_of_names_with_punctuation_finds_them(bench: Subject) {
    let index = bench.open().await;
    let text = "write to foo@bar.com about C++ in file_name.pdf, a:b, https://x.org/p?q=1, O'Brien & Sons, 50% (net)";
    apply(&*index, vec![put(1, text), put(2, "nothing of it")], 2).await;
    for query in [
        "foo@bar.com",
        "C++",
        "file_name.pdf",
        "a:b",
        "https://x.org/p?q=1",
        "O'Brien",
        "O'Brien & Sons",
        "50%",
        "(net)",
        "[net]",
        "net)",
        "\"foo@bar",
        "net~",
        "/net/",
        "net\\",
        "{net}",
        "text:net OR a:b",
        "+net",
        "net -",
        "a:b:",
        "net!",
        "||net",
        "&&net",
        "<net",
        ">=50",
        "*net",
        "net AND",
        "OR net",
        "NOT zebra net",
        "net\0",
    ] {
        assert_eq!(find(&*index, query).await, [1], "{query}");
    }
}

async fn query_of_nothing_is_invalid(bench: Subject) {
    let index = bench.open().await;
    for query in ["", "   ", "...", "\"\"", "-", "*", "OR", "type:.", "\u{301}"] {
        let error = index.query(ask(query)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{query}");
        assert!(error.message().contains("no word"), "{query}: {error}");
    }
}

async fn query_beyond_the_limits_is_invalid(bench: Subject) {
    let index = bench.open().await;
    for query in ["word ".repeat(10_000), "x".repeat(1 << 20), "\"".repeat(5_000)] {
        assert_eq!(index.query(ask(&query)).await.unwrap_err().kind(), ErrorKind::InvalidRequest);
    }
    assert!(index.query(TextQuery { limit: usize::MAX, ..ask("word") }).await.unwrap().hits.is_empty());
    let filters = vec![("tenant".to_owned(), "x".to_owned())];
    let error = index.query(TextQuery { filters, ..ask("word") }).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
}

async fn filters_insist_on_equal_values(bench: Subject) {
    let index = bench.open().await;
    let typed = |n, name: &str, media_type: &str| {
        let document = document(n, "apple");
        IndexChange::Put(IndexedDocument {
            name: name.into(),
            media_type: Some(media_type.into()),
            ..document
        })
    };
    let changes = vec![
        typed(1, "A b.txt", "text/plain"),
        typed(2, "a b.txt", "text/plain"),
        typed(3, "A b.txt", "text/html"),
    ];
    apply(&*index, changes, 3).await;
    for (filters, expected) in [
        (&[("type", "text/plain")][..], &[1, 2][..]),
        (&[("name", "A b.txt")], &[1, 3]),
        (&[("type", "text/plain"), ("name", "A b.txt")], &[1]),
        (&[("type", "text")], &[]),
    ] {
        let filters = filters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let hits = index.query(TextQuery { filters, ..ask("apple") }).await.unwrap().hits;
        let found: BTreeSet<u128> = hits.iter().map(|hit| hit.document_id.0.as_u128()).collect();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }
}

/// A document of which something was found out.
fn known(n: u128, kind: &str, language: &str, date: &str, tags: &[&str]) -> IndexChange {
    let particulars = Particulars {
        kind: Some(kind.to_owned()),
        language: Some(language.to_owned()),
        date: Day::first(date),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
    };
    let media_type = Some("application/pdf".to_owned());
    IndexChange::Put(IndexedDocument { particulars, media_type, ..document(n, "apple") })
}

async fn filters_look_at_what_was_found_out(bench: Subject) {
    let index = bench.open().await;
    let changes = vec![
        known(1, "invoice", "eng", "2023-12-31", &["heat pump", "energy"]),
        known(2, "invoice", "deu", "2024-02-01", &["energy"]),
        known(3, "letter", "eng", "2024-06-30", &[]),
        put(4, "apple"),
    ];
    apply(&*index, changes, 1).await;
    for (filters, expected) in [
        (&[("type", "invoice")][..], &[1, 2][..]),
        (&[("type", "application/pdf"), ("type", "letter")], &[3]),
        (&[("media_type", "application/pdf")], &[1, 2, 3]),
        (&[("language", "eng")], &[1, 3]),
        (&[("tag", "energy")], &[1, 2]),
        (&[("tag", "energy"), ("tag", "heat pump")], &[1]),
        (&[("tag", "heat")], &[]),
        (&[("date_from", "2024")], &[2, 3]),
        (&[("date_to", "2024-02")], &[1, 2]),
        (&[("date_from", "2024-02-01"), ("date_to", "2024-02-01"), ("type", "invoice")], &[2]),
    ] {
        let pairs = filters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let found = index.query(TextQuery { filters: pairs, ..ask("apple") }).await.unwrap();
        let ids: BTreeSet<u128> = found.hits.iter().map(|hit| hit.document_id.0.as_u128()).collect();
        assert_eq!(ids.into_iter().collect::<Vec<_>>(), expected, "{filters:?}");
        assert_eq!(found.total, expected.len() as u64, "{filters:?}");
    }
    for (query, expected) in [
        ("tag:energy", &[1, 2][..]),
        ("tag:\"heat pump\"", &[1]),
        ("tag:\"pump energy\"", &[]),
        ("type:letter", &[3]),
        ("type:pdf", &[1, 2, 3]),
    ] {
        assert_eq!(find(&*index, query).await, expected, "{query}");
    }
    let error =
        index.query(TextQuery { filters: vec![("date_to".into(), "soon".into())], ..ask("apple") }).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidRequest);
}

async fn facets_count_all_that_was_found(bench: Subject) {
    let index = bench.open().await;
    let mut changes =
        vec![known(1, "letter", "eng", "2023-12-31", &["heat pump"]), put(2, "apple"), put(3, "pear")];
    changes.extend((10..40).map(|n| known(n, "invoice", "deu", "2024-02-01", &["energy", "heat pump"])));
    apply(&*index, changes, 1).await;
    let found = index.query(TextQuery { limit: 5, ..ask("apple") }).await.unwrap();
    assert_eq!((found.hits.len(), found.total), (5, 32));
    let uncounted = index.query(TextQuery { limit: 5, counted: false, ..ask("apple") }).await.unwrap();
    assert_eq!((uncounted.hits, uncounted.total), (found.hits.clone(), 0));
    let counts = |facet: &std::collections::BTreeMap<String, u64>| {
        facet.iter().map(|(value, count)| format!("{value} {count}")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(counts(&found.facets.kind), "invoice 30, letter 1");
    assert_eq!(counts(&found.facets.media_type), "application/pdf 31");
    assert_eq!(counts(&found.facets.language), "deu 30, eng 1");
    assert_eq!(counts(&found.facets.year), "2023 1, 2024 30");
    assert_eq!(counts(&found.facets.tag), "energy 30, heat pump 31");
    // Of some documents, one of which is another's, and one of nobody.
    let theirs = IndexedDocument { tenant_id: BERT, ..document(2, "apple") };
    apply(&*index, vec![IndexChange::Put(theirs)], 2).await;
    let some = index.facets(ANNA, &[id(1), id(2), id(10), id(99)]).await.unwrap();
    assert_eq!(counts(&some.kind), "invoice 1, letter 1");
    assert_eq!(counts(&index.facets(BERT, &[id(1), id(2)]).await.unwrap().kind), "");
    assert_eq!(index.facets(ANNA, &[]).await.unwrap(), docmill_core::ports::filter::Facets::default());
}

async fn facets_count_what_is_rare_in_one_batch_and_frequent_in_another(bench: Subject) {
    let index = bench.open().await;
    let tagged = |n, tags: &[&str]| known(n, "letter", "eng", "2024-02-01", tags);
    // Many more tags than are shown, each more frequent here than the one that counts.
    let others: Vec<String> = (0..100).map(|n| format!("other {n:02}")).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    apply(&*index, vec![tagged(1, &others), tagged(2, &others), tagged(3, &["heat pump"])], 1).await;
    apply(&*index, (10..20).map(|n| tagged(n, &["heat pump"])).collect(), 2).await;
    let found = index.query(ask("apple")).await.unwrap();
    assert_eq!(found.facets.tag.get("heat pump"), Some(&11));
    assert!(found.facets.tag.values().all(|count| *count == 2 || *count == 11), "{:?}", found.facets.tag);
}

async fn words_are_folded_for_snippets(bench: Subject) {
    let index = bench.open().await;
    let query = "Größe \"Annual Report\" -draft inv* 東京都 title:Été type:pdf foo@bar.com annual";
    let words = search(&*index, query).await.words;
    assert_eq!(words, ["grosse~", "annual~", "report", "inv*", "東京都", "ete", "foo", "bar", "com"]);
    assert!(index.alike("reports", "report") && !index.alike("reports", "reason"));
    assert_eq!(index.fold("GRÖSSE"), "grosse");
    assert_eq!(index.fold("Größe"), "grosse");
    assert_eq!(index.fold("東"), "東");
}

async fn limit_takes_the_best_of_a_thousand(bench: Subject) {
    let index = bench.open().await;
    // The higher the number, the more often the word.
    let changes =
        (1..=1_000).map(|n| put(n, &format!("{} filler", "apple ".repeat(n as usize % 50 + 1)))).collect();
    apply(&*index, changes, 1_000).await;
    let all = index.query(TextQuery { limit: 2_000, ..ask("apple") }).await.unwrap().hits;
    assert_eq!(all.len(), 1_000);
    assert_eq!(all.iter().map(|hit| hit.document_id).collect::<BTreeSet<_>>().len(), 1_000, "each once");
    for limit in [0, 1, 7, 500, 1_000] {
        let some = index.query(TextQuery { limit, ..ask("apple") }).await.unwrap().hits;
        assert_eq!(some, all[..limit], "a page is the beginning of the whole");
    }
    assert_eq!(index.count(ANNA).await.unwrap(), 1_000);
}

async fn rewind_keeps_what_there_is_until_it_is_replaced(bench: Subject) {
    let index = bench.open().await;
    apply(&*index, vec![put(1, "apple"), put(2, "apple")], 8).await;
    index.rewind().await.unwrap();
    assert_eq!(index.watermark().await.unwrap(), 0);
    assert_eq!(find(&*index, "apple").await.len(), 2, "search goes on");
    assert!(!index.apply(vec![put(9, "apple")], 8, 9).await.unwrap(), "what was read before is refused");
    // The same changes again, of which one is another now.
    apply(&*index, vec![put(1, "pear"), IndexChange::Remove(ANNA, id(2))], 8).await;
    drop(index);
    let index = bench.open().await;
    assert!(find(&*index, "apple").await.is_empty());
    assert_eq!(find(&*index, "pear").await, [1]);
    assert_eq!((index.watermark().await.unwrap(), index.count(ANNA).await.unwrap()), (8, 1));
}

async fn clear_empties_and_resets(bench: Subject) {
    let index = bench.open().await;
    let other = IndexChange::Put(IndexedDocument { tenant_id: BERT, ..document(2, "apple") });
    apply(&*index, vec![put(1, "apple"), other], 8).await;
    index.clear().await.unwrap();
    assert_eq!(index.watermark().await.unwrap(), 0);
    assert_eq!((index.count(ANNA).await.unwrap(), index.count(BERT).await.unwrap()), (0, 0));
    assert!(find(&*index, "apple").await.is_empty());
    apply(&*index, vec![put(3, "apple")], 3).await;
    drop(index);
    let index = bench.open().await;
    assert_eq!(find(&*index, "apple").await, [3]);
    assert_eq!(index.watermark().await.unwrap(), 3);
}

async fn long_words_are_dropped(bench: Subject) {
    let index = bench.open().await;
    let text = format!("before {} after {}", "x".repeat(100_000), "y".repeat(70_000_usize));
    let odd = IndexedDocument { name: "n".repeat(70_000), title: Some(String::new()), ..document(1, &text) };
    apply(&*index, vec![IndexChange::Put(odd)], 1).await;
    assert_eq!(find(&*index, "before after").await, [1]);
    let error = index.query(ask(&"x".repeat(300))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
}
