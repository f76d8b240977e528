//! What is put in, taken out and cleared, whose it is, and where the watermark stands.

use docmill_core::error::ErrorKind;
use docmill_core::ports::TextIndex;
use docmill_core::ports::text_index::{IndexChange, IndexedDocument, TextQuery};

use super::{ANNA, BERT, Subject, apply, ask, document, find, id, put, search};
use crate::conformance::Case;

pub(super) fn cases() -> Vec<Case<dyn TextIndex>> {
    crate::cases![
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
        rewind_keeps_what_there_is_until_it_is_replaced,
        clear_empties_and_resets,
        long_words_are_dropped,
    ]
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
