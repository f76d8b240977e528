//! Texts as points: how often which words, pairs of words and short runs of letters occur, rare ones weighing more.
//!
//! A space is made from the examples alone; a text that is classified is seen through it and changes nothing.

use std::collections::HashMap;

use crate::words::{fold, is_number, words};

/// More words of one text are not looked at: what a text is about is said by then.
const MAX_WORDS: usize = 20_000;

/// Runs of letters within a word, from and to; the edges of the word count as letters. They see through endings and
/// misspellings, which few examples could not.
const LETTERS: std::ops::RangeInclusive<usize> = 3..=5;

/// The first lines of a text (subject, heading, sender) say more than as many lines of its middle.
const HEAD_BYTES: usize = 400;
const HEAD_WEIGHT: f32 = 2.0;

/// What of a text is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum View {
    /// Words and pairs of words.
    Words,
    /// Runs of letters.
    Letters,
}

/// Features with their weights, in the order of the features, so that sums are the same each time.
type Counts = Vec<(u64, f32)>;

/// One view of all examples.
pub(super) struct Space {
    view: View,
    /// The place of each feature.
    places: HashMap<u64, u32>,
    /// How rare each feature is.
    rarity: Vec<f32>,
    /// For each feature the examples that have it, with its weight there.
    holders: Vec<Vec<(u32, f32)>>,
    examples: usize,
}

impl Space {
    pub(super) fn of<'t>(view: View, texts: impl Iterator<Item = &'t str>) -> Self {
        let counted: Vec<Counts> = texts.map(|text| count(view, text)).collect();
        let (mut places, mut having) = (HashMap::new(), Vec::new());
        for (feature, _) in counted.iter().flatten() {
            let place = *places.entry(*feature).or_insert_with(|| {
                having.push(0_u32);
                having.len() as u32 - 1
            });
            having[place as usize] += 1;
        }
        let total = counted.len() as f32;
        let rarity = having.iter().map(|n| ((1.0 + total) / (1.0 + *n as f32)).ln() + 1.0).collect();
        let holders = vec![Vec::new(); having.len()];
        let mut space = Self { view, places, rarity, holders, examples: counted.len() };
        for (example, counts) in (0_u32..).zip(&counted) {
            for (place, weight) in space.point(counts) {
                space.holders[place as usize].push((example, weight));
            }
        }
        space
    }

    /// How near a text is to each of the examples, 0 to 1.
    pub(super) fn nearness(&self, text: &str) -> Vec<f32> {
        let mut near = vec![0.0; self.examples];
        for (place, weight) in self.point(&count(self.view, text)) {
            for (example, its) in &self.holders[place as usize] {
                near[*example as usize] += weight * its;
            }
        }
        near
    }

    /// The known features of a text by place, scaled to length 1.
    fn point(&self, counts: &Counts) -> Vec<(u32, f32)> {
        let mut point: Vec<(u32, f32)> = counts
            .iter()
            .filter_map(|(feature, n)| {
                let place = *self.places.get(feature)?;
                Some((place, (1.0 + n.ln()) * self.rarity[place as usize]))
            })
            .collect();
        let length = point.iter().map(|(_, w)| w * w).sum::<f32>().sqrt();
        if length > 0.0 {
            for (_, weight) in &mut point {
                *weight /= length;
            }
        }
        point
    }
}

fn count(view: View, text: &str) -> Counts {
    let mut counts: HashMap<u64, f32> = HashMap::new();
    let mut before = None;
    for word in words(text).take(MAX_WORDS) {
        let weight = if word.start < HEAD_BYTES { HEAD_WEIGHT } else { 1.0 };
        let mut add = |feature: u64| *counts.entry(feature).or_insert(0.0) += weight;
        let folded = fold(word.text);
        match view {
            View::Words => {
                // Which number it is says little; that it is one, and how long, says something.
                let this = if is_number(&folded) {
                    hash(1, &"0000"[..folded.len().min(4)])
                } else {
                    hash(1, &folded)
                };
                add(this);
                if let Some(before) = before.replace(this) {
                    add(this ^ u64::rotate_left(before, 17));
                }
            }
            View::Letters => {
                let edged: Vec<char> =
                    std::iter::once(' ').chain(folded.chars()).chain(std::iter::once(' ')).collect();
                for length in LETTERS {
                    for run in edged.windows(length) {
                        add(run.iter().fold(length as u64, |h, c| step(h, u64::from(*c))));
                    }
                }
            }
        }
    }
    let mut counts: Counts = counts.into_iter().collect();
    counts.sort_unstable_by_key(|(feature, _)| *feature);
    counts
}

fn hash(seed: u64, word: &str) -> u64 {
    word.bytes().fold(seed, |h, byte| step(h, u64::from(byte)))
}

fn step(hash: u64, value: u64) -> u64 {
    let mixed = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_nearest_to_the_example_it_shares_rare_words_with() {
        let examples = ["the engine of the car", "the hockey team of the year", "a recipe for bread"];
        for view in [View::Words, View::Letters] {
            let space = Space::of(view, examples.into_iter());
            let near = space.nearness("my car has a new engine");
            assert!(near[0] > near[1] && near[0] > near[2], "{near:?}");
            let same = space.nearness(examples[1]);
            assert!((same[1] - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn text_without_known_words_is_near_to_nothing() {
        let space = Space::of(View::Words, ["some words"].into_iter());
        assert_eq!(space.nearness("\0 ***"), [0.0]);
    }
}
