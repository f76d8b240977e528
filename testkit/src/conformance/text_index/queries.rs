//! What a query finds, in which order, and which are refused.

use std::collections::BTreeSet;

use docmill_core::error::ErrorKind;
use docmill_core::ports::TextIndex;
use docmill_core::ports::filter::Particulars;
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextQuery};

use super::{ANNA, BERT, Subject, apply, ask, document, find, id, put, search};
use crate::conformance::Case;

pub(super) fn cases() -> Vec<Case<dyn TextIndex>> {
    crate::cases![
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
        words_are_folded_for_snippets,
        limit_takes_the_best_of_a_thousand,
    ]
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
