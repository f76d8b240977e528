//! Samples as a caller gets them.

#![expect(clippy::unwrap_used, reason = "test binary")]

use std::collections::BTreeSet;

use docmill_core::generate::{Order, Sample, SampleKind};
use docmill_core::ports::Generator as _;
use docmill_generate::Press;

fn order(seed: u64, scans: f64) -> Order {
    Order { count: 60, seed, kinds: Vec::new(), scans }
}

fn make(order: &Order) -> Vec<Sample> {
    let press = Press::default();
    (0..order.count).map(|number| press.make(order, number).unwrap()).collect()
}

#[test]
fn same_seed_gives_the_same_and_another_seed_another() {
    let first = make(&order(1, 0.0));
    assert!(first == make(&order(1, 0.0)), "the same order gave something else");
    let texts: BTreeSet<_> = first.iter().map(|sample| &sample.truth.text).collect();
    assert_eq!(texts.len(), first.len(), "a document was made twice");
    assert!(make(&order(2, 0.0)).iter().all(|sample| !texts.contains(&sample.truth.text)));
}

#[test]
fn document_is_the_same_whatever_is_made_before_it() {
    let order = order(1, 0.0);
    let alone = Press::default().make(&order, 17).unwrap();
    assert!(alone == make(&order)[17]);
}

#[test]
fn every_kind_and_language_is_made_and_nothing_is_missing_from_a_font() {
    let all = make(&Order { count: 300, ..order(4, 0.0) });
    let kinds: BTreeSet<_> = all.iter().map(|sample| sample.truth.kind).collect();
    assert_eq!(kinds.len(), SampleKind::ALL.len());
    let languages: BTreeSet<_> = all.iter().map(|sample| sample.truth.language).collect();
    assert_eq!(languages, BTreeSet::from(["deu", "eng", "fra"]));
    assert!(all.iter().any(|sample| sample.truth.pages > 1));
    for sample in &all {
        let strange: Vec<char> = sample.truth.text.chars().filter(|c| !is_printable(*c)).collect();
        assert!(strange.is_empty(), "{strange:?} in {}", sample.name);
        assert!(!sample.truth.text.contains('{'), "a place was not filled in {}", sample.truth.text);
    }
}

/// Of WinAnsiEncoding, or the end of a line.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a1}'..='\u{ff}') || "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ".contains(c)
}

#[test]
fn scans_are_the_same_for_the_same_seed() {
    let order = Order { count: 3, kinds: vec![SampleKind::Receipt], ..order(6, 1.0) };
    let first = make(&order);
    assert!(first == make(&order), "the same order gave something else");
    assert!(first.iter().all(|sample| sample.truth.scan.is_some()));
}
