//! What every vector index must do.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed case")]

use docmill_core::error::ErrorKind;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::VectorIndex;
use docmill_core::ports::embedder::DIMENSIONS;
use docmill_core::ports::filter::{Day, Particulars};
use docmill_core::ports::vector_index::{EmbeddedDocument, Passage, VectorChange, VectorHit, VectorQuery};
use uuid::Uuid;

use super::{Bench, Suite};
use crate::cases;

type Subject = Bench<dyn VectorIndex>;

const ANNA: TenantId = TenantId(Uuid::from_u128(0xa));
const BERT: TenantId = TenantId(Uuid::from_u128(0xb));
const MODEL: &str = "model-1";

/// The suite of the port.
pub fn suite() -> Suite<dyn VectorIndex> {
    Suite {
        port: "vector_index",
        cases: cases![
            new_index_is_empty_at_zero,
            nearest_documents_come_first_with_their_best_passage,
            apply_survives_reopening,
            apply_from_elsewhere_changes_nothing,
            apply_replaces_and_removes,
            document_of_the_same_source_keeps_its_passages,
            another_model_begins_anew,
            tenants_never_see_each_other,
            filters_insist_on_equal_values,
            filters_look_at_what_was_found_out,
            one_document_of_many_passages_does_not_hide_others,
            limit_takes_the_best_of_a_thousand,
            odd_vectors_are_refused_and_harm_nothing,
            rewind_keeps_what_there_is_until_it_is_replaced,
        ],
    }
}

fn id(n: u128) -> DocumentId {
    DocumentId(Uuid::from_u128(n))
}

/// A direction between the first axes: 0 degrees is the first one.
fn vector(degrees: f32) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    (vector[0], vector[1]) = (degrees.to_radians().cos(), degrees.to_radians().sin());
    vector
}

fn passage(page: u32, degrees: f32) -> Passage {
    Passage { page, start: page * 10, end: page * 10 + 5, vector: vector(degrees) }
}

fn document(n: u128, degrees: &[f32]) -> EmbeddedDocument {
    EmbeddedDocument {
        tenant_id: ANNA,
        document_id: id(n),
        name: format!("file-{n}.bin"),
        media_type: None,
        particulars: Particulars::default(),
        source: format!("source-{n}"),
        passages: Some((1..).zip(degrees).map(|(page, degrees)| passage(page, *degrees)).collect()),
    }
}

fn put(n: u128, degrees: &[f32]) -> VectorChange {
    VectorChange::Put(document(n, degrees))
}

fn ask(degrees: f32) -> VectorQuery {
    VectorQuery { tenant_id: ANNA, vector: vector(degrees), limit: 100, filters: Vec::new() }
}

fn ids(hits: &[VectorHit]) -> Vec<u128> {
    hits.iter().map(|hit| hit.document_id.0.as_u128()).collect()
}

async fn new_index_is_empty_at_zero(bench: Subject) {
    let index = bench.open().await;
    assert_eq!(index.watermark(MODEL).await.unwrap(), 0);
    assert_eq!(index.count(ANNA).await.unwrap(), 0);
    assert_eq!(index.nearest(ask(0.0)).await.unwrap(), []);
    assert_eq!(index.sources(MODEL, ANNA, &[id(1)]).await.unwrap(), [None]);
    assert!(index.vectors(ANNA, id(1)).await.unwrap().is_empty());
}

async fn nearest_documents_come_first_with_their_best_passage(bench: Subject) {
    let index = bench.open().await;
    let changes = vec![put(1, &[80.0, 10.0]), put(2, &[30.0]), put(3, &[170.0])];
    assert!(index.apply(MODEL, changes, 0, 7).await.unwrap());
    assert_eq!(index.watermark(MODEL).await.unwrap(), 7);
    assert_eq!(index.count(ANNA).await.unwrap(), 4);
    let hits = index.nearest(ask(0.0)).await.unwrap();
    assert_eq!(ids(&hits), [1, 2, 3]);
    assert_eq!((hits[0].page, hits[0].start, hits[0].end), (2, 20, 25));
    assert!((hits[0].score - 10.0_f32.to_radians().cos()).abs() < 1e-3, "{}", hits[0].score);
    assert!(hits[2].score < 0.0);
    let vectors = index.vectors(ANNA, id(1)).await.unwrap();
    assert!((vectors[0][1] - 80.0_f32.to_radians().sin()).abs() < 1e-3);
    assert_eq!((vectors.len(), vectors[0].len()), (2, DIMENSIONS));
}

async fn apply_survives_reopening(bench: Subject) {
    let index = bench.open().await;
    index.apply(MODEL, vec![put(1, &[5.0])], 0, 3).await.unwrap();
    drop(index);
    let index = bench.open().await;
    assert_eq!(index.watermark(MODEL).await.unwrap(), 3);
    assert_eq!(ids(&index.nearest(ask(0.0)).await.unwrap()), [1]);
    // What comes after the first question is found as well.
    index.apply(MODEL, vec![put(2, &[1.0])], 3, 4).await.unwrap();
    assert_eq!(ids(&index.nearest(ask(0.0)).await.unwrap()), [2, 1]);
}

async fn apply_from_elsewhere_changes_nothing(bench: Subject) {
    let index = bench.open().await;
    assert!(index.apply(MODEL, vec![put(1, &[5.0])], 0, 3).await.unwrap());
    assert!(!index.apply(MODEL, vec![put(2, &[5.0])], 0, 5).await.unwrap());
    assert!(!index.apply(MODEL, vec![put(2, &[5.0])], 4, 5).await.unwrap());
    assert_eq!((index.watermark(MODEL).await.unwrap(), index.count(ANNA).await.unwrap()), (3, 1));
}

async fn apply_replaces_and_removes(bench: Subject) {
    let index = bench.open().await;
    index.apply(MODEL, vec![put(1, &[5.0, 6.0]), put(2, &[40.0])], 0, 1).await.unwrap();
    assert_eq!(ids(&index.nearest(ask(0.0)).await.unwrap()), [1, 2]);
    index.apply(MODEL, vec![put(1, &[90.0])], 1, 2).await.unwrap();
    assert_eq!(ids(&index.nearest(ask(0.0)).await.unwrap()), [2, 1]);
    let remove = || vec![VectorChange::Remove(ANNA, id(1)), VectorChange::Remove(ANNA, id(9))];
    index.apply(MODEL, remove(), 2, 3).await.unwrap();
    index.apply(MODEL, remove(), 3, 4).await.unwrap();
    assert_eq!(ids(&index.nearest(ask(0.0)).await.unwrap()), [2]);
    assert_eq!(index.count(ANNA).await.unwrap(), 1);
}

async fn document_of_the_same_source_keeps_its_passages(bench: Subject) {
    let index = bench.open().await;
    index.apply(MODEL, vec![put(1, &[5.0])], 0, 1).await.unwrap();
    let source = Some("source-1".to_owned());
    assert_eq!(index.sources(MODEL, ANNA, &[id(2), id(1)]).await.unwrap(), [None, source.clone()]);
    let renamed = EmbeddedDocument { name: "new".into(), passages: None, ..document(1, &[]) };
    index.apply(MODEL, vec![VectorChange::Put(renamed)], 1, 2).await.unwrap();
    let named = |name: &str| VectorQuery { filters: vec![("name".into(), name.into())], ..ask(0.0) };
    assert_eq!(ids(&index.nearest(named("new")).await.unwrap()), [1]);
    assert_eq!(ids(&index.nearest(named("file-1.bin")).await.unwrap()), []);
    assert_eq!(index.sources(MODEL, ANNA, &[id(1)]).await.unwrap(), [source]);
}

async fn another_model_begins_anew(bench: Subject) {
    let index = bench.open().await;
    index.apply(MODEL, vec![put(1, &[5.0])], 0, 9).await.unwrap();
    assert_eq!(index.watermark("model-2").await.unwrap(), 0);
    assert_eq!(index.sources("model-2", ANNA, &[id(1)]).await.unwrap(), [None]);
    assert!(!index.apply("model-2", vec![put(2, &[5.0])], 9, 10).await.unwrap());
    assert!(index.apply("model-2", vec![put(2, &[5.0])], 0, 4).await.unwrap());
    assert_eq!(ids(&index.nearest(ask(0.0)).await.unwrap()), [2]);
    assert_eq!((index.watermark(MODEL).await.unwrap(), index.watermark("model-2").await.unwrap()), (0, 4));
}

async fn tenants_never_see_each_other(bench: Subject) {
    let index = bench.open().await;
    // Of the same id, by malice if not by chance.
    let theirs = EmbeddedDocument { tenant_id: BERT, ..document(1, &[0.0]) };
    index.apply(MODEL, vec![put(1, &[50.0]), VectorChange::Put(theirs)], 0, 1).await.unwrap();
    let hits = index.nearest(ask(0.0)).await.unwrap();
    assert_eq!(ids(&hits), [1]);
    assert!(hits[0].score < 0.9);
    index.apply(MODEL, vec![VectorChange::Remove(BERT, id(1))], 1, 2).await.unwrap();
    assert_eq!((index.count(ANNA).await.unwrap(), index.count(BERT).await.unwrap()), (1, 0));
    assert!(index.vectors(BERT, id(1)).await.unwrap().is_empty());
}

async fn filters_insist_on_equal_values(bench: Subject) {
    let index = bench.open().await;
    let pdf = EmbeddedDocument { media_type: Some("application/pdf".into()), ..document(1, &[30.0]) };
    index.apply(MODEL, vec![VectorChange::Put(pdf), put(2, &[1.0])], 0, 1).await.unwrap();
    let filtered = |key: &str, value: &str| VectorQuery {
        filters: vec![(key.to_owned(), value.to_owned())],
        ..ask(0.0)
    };
    assert_eq!(ids(&index.nearest(filtered("type", "application/pdf")).await.unwrap()), [1]);
    assert_eq!(ids(&index.nearest(filtered("name", "file-2.bin")).await.unwrap()), [2]);
    assert_eq!(ids(&index.nearest(filtered("type", "text/plain")).await.unwrap()), []);
    let error = index.nearest(filtered("colour", "red")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
}

async fn filters_look_at_what_was_found_out(bench: Subject) {
    let index = bench.open().await;
    let known = |n: u128, kind: &str, date: &str, tags: &[&str]| {
        let particulars = Particulars {
            kind: Some(kind.to_owned()),
            language: Some("eng".to_owned()),
            date: Day::first(date),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        };
        EmbeddedDocument { particulars, ..document(n, &[n as f32]) }
    };
    let changes = vec![
        VectorChange::Put(known(1, "invoice", "2023-12-31", &["heat pump", "energy"])),
        VectorChange::Put(known(2, "letter", "2024-02-01", &["energy"])),
        put(3, &[3.0]),
    ];
    index.apply(MODEL, changes, 0, 1).await.unwrap();
    for (filters, expected) in [
        (&[("type", "invoice")][..], &[1][..]),
        (&[("language", "eng")], &[1, 2]),
        (&[("tag", "energy"), ("tag", "heat pump")], &[1]),
        (&[("date_from", "2024")], &[2]),
        (&[("date_to", "2024"), ("type", "letter")], &[2]),
        (&[("tag", "heat")], &[]),
    ] {
        let pairs = filters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let hits = index.nearest(VectorQuery { filters: pairs, ..ask(0.0) }).await.unwrap();
        assert_eq!(ids(&hits), expected, "{filters:?}");
    }
    // What is found out later holds, though the text is the same.
    let later = EmbeddedDocument { passages: None, ..known(3, "invoice", "2025-01-01", &[]) };
    index.apply(MODEL, vec![VectorChange::Put(later)], 1, 2).await.unwrap();
    let invoices = VectorQuery { filters: vec![("type".into(), "invoice".into())], ..ask(0.0) };
    assert_eq!(ids(&index.nearest(invoices).await.unwrap()), [1, 3]);
}

async fn one_document_of_many_passages_does_not_hide_others(bench: Subject) {
    let index = bench.open().await;
    let many: Vec<f32> = (0..300).map(|n| n as f32 * 0.01).collect();
    index.apply(MODEL, vec![put(1, &many), put(2, &[20.0]), put(3, &[30.0])], 0, 1).await.unwrap();
    let hits = index.nearest(VectorQuery { limit: 3, ..ask(0.0) }).await.unwrap();
    assert_eq!(ids(&hits), [1, 2, 3]);
}

async fn limit_takes_the_best_of_a_thousand(bench: Subject) {
    let index = bench.open().await;
    let all = (0..1_000_u16).map(|n| put(u128::from(n), &[f32::from(n) * 0.17])).collect();
    index.apply(MODEL, all, 0, 1).await.unwrap();
    for (limit, expected) in [(0, 0), (1, 1), (7, 7)] {
        let hits = index.nearest(VectorQuery { limit, ..ask(0.0) }).await.unwrap();
        assert_eq!(ids(&hits), (0..expected).collect::<Vec<u128>>());
    }
}

async fn odd_vectors_are_refused_and_harm_nothing(bench: Subject) {
    let index = bench.open().await;
    index.apply(MODEL, vec![put(1, &[5.0])], 0, 1).await.unwrap();
    for odd in [vec![0.5; 3], vec![f32::NAN; DIMENSIONS], Vec::new()] {
        let error = index.nearest(VectorQuery { vector: odd.clone(), ..ask(0.0) }).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        let mut broken = document(2, &[1.0]);
        broken.passages = Some(vec![Passage { vector: odd, ..passage(1, 0.0) }]);
        assert!(index.apply(MODEL, vec![VectorChange::Put(broken)], 1, 2).await.is_err());
    }
    assert_eq!((index.watermark(MODEL).await.unwrap(), index.count(ANNA).await.unwrap()), (1, 1));
    assert_eq!(ids(&index.nearest(ask(0.0)).await.unwrap()), [1]);
}

async fn rewind_keeps_what_there_is_until_it_is_replaced(bench: Subject) {
    let index = bench.open().await;
    index.apply(MODEL, vec![put(1, &[5.0])], 0, 5).await.unwrap();
    let known = document(1, &[5.0]);
    assert_eq!(index.sources(MODEL, ANNA, &[known.document_id]).await.unwrap(), [Some(known.source.clone())]);
    index.rewind().await.unwrap();
    assert_eq!(index.watermark(MODEL).await.unwrap(), 0);
    assert_eq!(ids(&index.nearest(ask(0.0)).await.unwrap()), [1], "search goes on");
    let sources = index.sources(MODEL, ANNA, &[known.document_id]).await.unwrap();
    assert_ne!(sources, [Some(known.source)], "it is to be embedded again");
    assert!(
        !index.apply(MODEL, vec![put(2, &[6.0])], 5, 6).await.unwrap(),
        "what was read before is refused"
    );
    assert!(index.apply(MODEL, vec![put(1, &[5.0, 7.0])], 0, 5).await.unwrap());
    assert_eq!((index.watermark(MODEL).await.unwrap(), index.count(ANNA).await.unwrap()), (5, 2));
}
