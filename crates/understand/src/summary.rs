//! A summary made of the document's own sentences: those that say most of what the whole says, in their order.

use std::borrow::Cow;

use foldhash::HashMap;

use crate::Guess;
use crate::language::{Language, Weight};
use crate::words::{Word, folded, is_number, sentences, words};

/// More text is not looked at: it would hardly change the choice.
const MAX_BYTES: usize = 64 << 10;
const MAX_SENTENCES: usize = 400;

/// Of the summary.
const MAX_CHARS: usize = 400;
const MOST: usize = 3;

/// Fewer words are a heading or a scrap, more a table.
const WORDS: std::ops::RangeInclusive<usize> = 5..=60;

/// How much sooner is better: the first sentences of a document say what it is about.
const EARLY: f32 = 0.35;

/// How much a sentence loses for saying again what was chosen before.
const AGAIN: f32 = 0.7;

struct Candidate<'t> {
    sentence: Word<'t>,
    /// Its words with their weights, by word, scaled to length 1.
    point: Vec<(u32, f32)>,
    score: f32,
}

/// The summary of a text.
pub(crate) fn summary(text: &str, language: &Language) -> Option<Guess<String>> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut candidates = candidates(text, language);
    if candidates.is_empty() {
        return first_lines(text);
    }
    score(&mut candidates);
    let mut chosen: Vec<usize> = Vec::new();
    let mut length = 0;
    while chosen.len() < MOST {
        let worth = |at: usize| {
            let again =
                chosen.iter().map(|c| dot(&candidates[at].point, &candidates[*c].point)).fold(0.0, f32::max);
            candidates[at].score - AGAIN * again
        };
        let fits = |at: &usize| {
            !chosen.contains(at)
                && (chosen.is_empty() || length + candidates[*at].sentence.text.len() <= MAX_CHARS)
        };
        let best = (0..candidates.len()).filter(fits).rev().max_by(|a, b| worth(*a).total_cmp(&worth(*b)));
        let Some(best) = best.filter(|best| chosen.is_empty() || worth(*best) > 0.0) else { break };
        length += candidates[best].sentence.text.len();
        chosen.push(best);
    }
    chosen.sort_unstable();
    let joined =
        chosen.iter().map(|at| one_line(candidates[*at].sentence.text)).collect::<Vec<_>>().join(" ");
    // Few sentences say all there is; of many they are a sample.
    let share = chosen.len() as f32 / candidates.len() as f32;
    Some(Guess { value: cut(&joined), confidence: 0.4 + 0.4 * share, method: "sentences" })
}

fn candidates<'t>(text: &'t str, language: &Language) -> Vec<Candidate<'t>> {
    let mut known: HashMap<Cow<'_, str>, u32> = HashMap::default();
    let mut candidates = Vec::new();
    for sentence in sentences(text).take(MAX_SENTENCES) {
        let all: Vec<Cow<'_, str>> =
            words(sentence.text).take(*WORDS.end() + 1).map(|w| folded(w.text)).collect();
        let telling = all.iter().filter(|w| !is_number(w)).count();
        // A sentence is mostly words, not numbers, and does not run over blank columns.
        let row =
            sentence.text.contains('\t') || sentence.text.contains("   ") || sentence.text.contains(" | ");
        if !WORDS.contains(&all.len()) || telling * 3 < all.len() * 2 || row {
            continue;
        }
        let mut point: Vec<(u32, f32)> = Vec::new();
        for word in all.into_iter().filter(|w| language.weigh(w) == Weight::Full && w.chars().count() > 1) {
            let next = known.len() as u32;
            point.push((*known.entry(word).or_insert(next), 1.0));
        }
        point.sort_unstable_by_key(|(word, _)| *word);
        point.dedup_by(|a, b| {
            let same = a.0 == b.0;
            b.1 += if same { a.1 } else { 0.0 };
            same
        });
        if !point.is_empty() {
            candidates.push(Candidate { sentence, point, score: 0.0 });
        }
    }
    candidates
}

/// How much of what all sentences say each one says, with a little more for early ones.
fn score(candidates: &mut [Candidate<'_>]) {
    let words = candidates.iter().flat_map(|c| &c.point).map(|(word, _)| *word as usize + 1).max();
    let mut having = vec![0.0_f32; words.unwrap_or(0)];
    for (word, times) in candidates.iter().flat_map(|c| &c.point) {
        having[*word as usize] += times;
    }
    for candidate in candidates.iter_mut() {
        for (_, weight) in &mut candidate.point {
            *weight = 1.0 + weight.ln();
        }
        let length = dot(&candidate.point, &candidate.point).sqrt();
        candidate.point.iter_mut().for_each(|(_, w)| *w /= length);
    }
    let whole = having.iter().map(|n| n * n).sum::<f32>().sqrt();
    let count = candidates.len() as f32;
    for (place, candidate) in candidates.iter_mut().enumerate() {
        let central: f32 =
            candidate.point.iter().map(|(word, w)| w * having[*word as usize]).sum::<f32>() / whole;
        let early = 1.0 - (place as f32 / count).min(1.0);
        let first = if place < 2 { 0.1 } else { 0.0 };
        candidate.score = central + EARLY * early * early + first;
    }
}

/// Documents without sentences (forms, tables, receipts) are summed up by their first lines of words.
fn first_lines(text: &str) -> Option<Guess<String>> {
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for line in text.lines().take(200).map(one_line) {
        let letters = line.chars().filter(|c| c.is_alphabetic()).count();
        if letters * 2 < line.chars().filter(|c| !c.is_whitespace()).count() || letters < 3 {
            continue;
        }
        length += line.len();
        lines.push(line);
        if length > MAX_CHARS / 2 || lines.len() >= 4 {
            break;
        }
    }
    if lines.is_empty() {
        return None;
    }
    Some(Guess { value: cut(&lines.join(" · ")), confidence: 0.25, method: "first_lines" })
}

/// A product of two points whose words are in order.
fn dot(a: &[(u32, f32)], b: &[(u32, f32)]) -> f32 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while let (Some((x, w)), Some((y, v))) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += w * v;
                i += 1;
                j += 1;
            }
        }
    }
    sum
}

fn one_line(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    let cut: String = text.chars().take(MAX_CHARS).collect();
    format!("{}…", cut.rsplit_once(' ').map_or(cut.as_str(), |(before, _)| before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Languages;

    fn of(text: &str) -> Option<Guess<String>> {
        let languages = Languages::load().unwrap();
        summary(text, languages.of(None, text))
    }

    #[test]
    fn summary_is_made_of_central_sentences_in_their_order() {
        let text = "The council approved the new budget for schools. Somebody opened a window in the meantime. \
                    The budget gives every school money for new teachers. Lunch was served at noon by friendly people. \
                    Teachers and schools welcomed the budget of the council.";
        let found = of(text).unwrap();
        assert!(
            found.value.starts_with("The council approved the new budget for schools."),
            "{}",
            found.value
        );
        assert!(!found.value.contains("Lunch"), "{}", found.value);
        assert_eq!(found.method, "sentences");
    }

    #[test]
    fn form_is_summed_up_by_its_first_lines() {
        let found = of("ACME\nOffice chair\t12.00\n12345\nTotal amount\t12.00").unwrap();
        assert_eq!(
            (found.value.as_str(), found.method),
            ("ACME · Office chair 12.00 · Total amount 12.00", "first_lines")
        );
    }

    #[test]
    fn hostile_texts_give_short_summaries_or_none() {
        let (long, same) = ("x".repeat(1 << 20), "word word word word word word. ".repeat(20_000));
        for text in ["", "\0", "1 2 3", &long, &same, "日本語の文章です。これは長い文章です。"]
        {
            assert!(of(text).is_none_or(|s| s.value.chars().count() <= MAX_CHARS + 1));
        }
    }
}
