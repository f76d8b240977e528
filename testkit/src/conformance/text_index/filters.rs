//! What may be insisted on, and how much of what was found is which.

use std::collections::BTreeSet;

use docmill_core::error::ErrorKind;
use docmill_core::ports::TextIndex;
use docmill_core::ports::filter::{Day, Particulars};
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextQuery};

use super::{ANNA, BERT, Subject, apply, ask, document, find, id, put};
use crate::conformance::Case;

pub(super) fn cases() -> Vec<Case<dyn TextIndex>> {
    crate::cases![
        filters_insist_on_equal_values,
        filters_look_at_what_was_found_out,
        facets_count_all_that_was_found,
        facets_count_what_is_rare_in_one_batch_and_frequent_in_another,
    ]
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
