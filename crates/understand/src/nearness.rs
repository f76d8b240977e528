//! Which texts are nearly the same: MinHash over runs of words.
//!
//! A signature says how large a part of their runs of words two texts share, without the texts. It is made once for
//! each document and can be stored; its bands are keys under which near ones are found without comparing all with all.
//! The numbers are written out here and must not change: signatures of yesterday are compared with those of today.

use std::collections::{BTreeMap, BTreeSet};

use docmill_core::sketch::Sketch;

use crate::words::{fold, words};

/// Words that make one run. Three are rare enough that two texts share them only where one has it from the other, and
/// few enough that a changed word spoils only three runs.
const RUN: usize = 3;

/// Values in a signature. The error of an estimate is about 1/√128, nine in a hundred at worst.
const VALUES: usize = 128;

/// Rows of a band. With 32 bands of four rows a pair that shares half of its runs is found with a chance of 0.87, and one
/// that shares 0.7 of them with 0.9999.
const ROWS: usize = 4;

/// Two texts that share so much are near duplicates. Half of the runs is what remains of a text in which every eighth
/// word was changed.
pub const NEAR: f32 = Sketch::NEAR;

/// Runs beyond these are not looked at: half a million runs say what a text is.
const MAX_RUNS: usize = 1 << 19;

/// A bucket of more documents than this says nothing about any of them: a standard form that a thousand senders use. Only
/// the neighbours within it are compared, so that the work stays in proportion.
const MAX_BUCKET: usize = 200;

/// What is left of a text for comparing it with others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature(Box<[u32; VALUES]>);

impl Signature {
    /// Bytes of a stored one.
    pub const BYTES: usize = VALUES * 4;

    /// The signature of a text; nothing if it has no words, because all empty texts would be the same.
    pub fn of(text: &str) -> Option<Self> {
        let mut values = Box::new([u32::MAX; VALUES]);
        let mut run = [0_u64; RUN];
        let mut count = 0;
        for word in words(text).take(MAX_RUNS) {
            run.rotate_left(1);
            run[RUN - 1] = hash(fold(word.text).as_bytes());
            count += 1;
            if count >= RUN {
                take_in(&mut values, &run);
            }
        }
        if count == 0 {
            return None;
        }
        if count < RUN {
            // Fewer words than a run are one run.
            take_in(&mut values, &run);
        }
        Some(Self(values))
    }

    /// How large a part of their runs two texts share, 0 to 1.
    pub fn similarity(&self, other: &Self) -> f32 {
        let equal = self.0.iter().zip(other.0.iter()).filter(|(a, b)| a == b).count();
        equal as f32 / VALUES as f32
    }

    /// The keys under which near duplicates meet: two texts are worth comparing if they have one in common.
    pub fn bands(&self) -> impl Iterator<Item = u64> {
        self.0.chunks_exact(ROWS).zip(0_u64..).map(|(rows, band)| {
            rows.iter().fold(mix(band ^ 0x6261_6e64), |key, row| mix(key ^ u64::from(*row)))
        })
    }

    /// What is kept of it where there are very many.
    pub fn sketch(&self) -> Sketch {
        Sketch::of(self.0.map(|value| (value & 0xff) as u8))
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// A stored one; nothing if these bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::BYTES {
            return None;
        }
        let mut values = Box::new([0_u32; VALUES]);
        for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(4)) {
            *value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        Some(Self(values))
    }
}

/// Two texts that are near, by their places in the list, the smaller first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// The place of the one.
    pub first: usize,
    /// The place of the other.
    pub second: usize,
    /// How much they share.
    pub similarity: f32,
}

/// All pairs of a list that share at least `least`, in order.
pub fn pairs(signatures: &[Option<Signature>], least: f32) -> Vec<Pair> {
    let mut buckets: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, signature) in signatures.iter().enumerate() {
        for key in signature.iter().flat_map(Signature::bands) {
            buckets.entry(key).or_default().push(place);
        }
    }
    let mut candidates = BTreeSet::new();
    for places in buckets.values() {
        let reach = if places.len() > MAX_BUCKET { 1 } else { places.len() };
        for (at, first) in places.iter().enumerate() {
            candidates.extend(places[at + 1..].iter().take(reach).map(|second| (*first, *second)));
        }
    }
    candidates
        .into_iter()
        .filter_map(|(first, second)| {
            let similarity = signatures[first].as_ref()?.similarity(signatures[second].as_ref()?);
            (similarity >= least).then_some(Pair { first, second, similarity })
        })
        .collect()
}

fn take_in(values: &mut [u32; VALUES], run: &[u64; RUN]) {
    let whole = run.iter().fold(0, |hash, word| mix(hash ^ word));
    // One strong hash makes all the others: two halves, and a step that is odd.
    let (start, step) = (whole, mix(whole) | 1);
    for (value, turn) in values.iter_mut().zip(0_u64..) {
        let turned = mix_short(start.wrapping_add(step.wrapping_mul(turn)));
        *value = (*value).min(turned);
    }
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The finish of SplitMix64: every bit of the value changes about half of the bits of the result.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn mix_short(value: u64) -> u32 {
    let value = (value ^ (value >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (value >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: std::ops::Range<u32>) -> String {
        words.map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn similarity_is_the_share_of_common_runs() {
        let whole = Signature::of(&text(0..1000)).unwrap();
        assert!((whole.similarity(&whole) - 1.0).abs() < f32::EPSILON);
        // 500 of 1500 runs are common.
        let half = Signature::of(&text(500..1500)).unwrap();
        assert!((whole.similarity(&half) - 1.0 / 3.0).abs() < 0.12, "{}", whole.similarity(&half));
        let other = Signature::of(&text(5000..6000)).unwrap();
        assert!(whole.similarity(&other) < 0.05);
    }

    #[test]
    fn case_accents_and_spaces_make_no_difference() {
        let one = Signature::of("Die Straße  nach\nDüsseldorf").unwrap();
        assert_eq!(one, Signature::of("DIE STRASSE NACH DUSSELDORF").unwrap());
    }

    #[test]
    fn text_without_words_has_no_signature() {
        assert_eq!(Signature::of(" \0\n--- "), None);
        assert!(Signature::of("one").is_some());
    }

    #[test]
    fn sketch_says_nearly_what_the_signature_says() {
        let whole = Signature::of(&text(0..1000)).unwrap();
        for shift in [0, 50, 200, 500, 2000] {
            let other = Signature::of(&text(shift..1000 + shift)).unwrap();
            let sketched = whole.sketch().similarity(other.sketch().as_bytes());
            let whole = whole.similarity(&other);
            assert!((sketched - whole).abs() < 0.03, "{shift}: {sketched} {whole}");
        }
        // Sketches of yesterday are compared with those of today.
        let signature = Signature::of("the quick brown fox jumps over the lazy dog").unwrap();
        assert_eq!(signature.sketch().as_bytes()[..3], [171, 100, 193]);
    }

    #[test]
    fn stored_signature_comes_back() {
        let signature = Signature::of("a few words in a row").unwrap();
        assert_eq!(Signature::from_bytes(&signature.to_bytes()), Some(signature));
        assert_eq!(Signature::from_bytes(&[1, 2, 3]), None);
    }

    #[test]
    fn signature_of_a_text_never_changes() {
        // Stored signatures are compared with new ones: another value here makes all of them useless.
        let signature = Signature::of("the quick brown fox jumps over the lazy dog").unwrap();
        assert_eq!(signature.0[..3], [1_423_309_483, 11_859_044, 633_087_681]);
    }

    #[test]
    fn pairs_finds_near_ones_and_only_them() {
        let texts = [text(0..300), text(1000..1300), text(0..280), String::new(), text(1000..1300)];
        let signatures: Vec<_> = texts.iter().map(|t| Signature::of(t)).collect();
        let found: Vec<_> = pairs(&signatures, NEAR).iter().map(|p| (p.first, p.second)).collect();
        assert_eq!(found, [(0, 2), (1, 4)]);
    }

    #[test]
    fn thousand_equal_texts_do_not_make_half_a_million_comparisons() {
        let signature = Signature::of("the same form again");
        let found = pairs(&vec![signature; 1_000], NEAR);
        assert_eq!(found.len(), 999);
    }
}
