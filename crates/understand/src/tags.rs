//! Tags: the phrases that say what a text is about.
//!
//! Nothing here knows grammar. A phrase is what stands between words that say nothing (`language`), punctuation and
//! verbs; it counts more the oftener and the earlier it occurs, the more its words occur elsewhere, and if it is as long
//! as names of things are.

use std::borrow::Cow;
use std::collections::HashSet;

use docmill_core::text::is_unspaced;
use foldhash::HashMap;

use crate::Guess;
use crate::language::{Language, Weight};
use crate::words::{MAX_WORD_BYTES, fold, folded, is_number, words};

/// More text does not change what it is about, only how long the answer takes.
const MAX_BYTES: usize = 128 << 10;

/// Words of the longest phrase that is a tag.
const MAX_WORDS: usize = 4;

/// A longer word is a formula, an address or a key.
const MAX_LETTERS: usize = 40;

/// How a phrase is weighed. Set by hand after reading some abstracts with the tags that people gave them, before any was
/// scored; `docs/quality.md` says which, and has the figures with and without them.
struct Weights {
    /// By words of the phrase, from one on.
    length: [f32; MAX_WORDS],
    /// For each time it occurs again (logarithm).
    again: f32,
    /// For words that occur elsewhere too.
    words: f32,
    /// For standing early.
    early: f32,
    /// For capitals inside sentences.
    name: f32,
    /// For a part of a longer phrase that does not stand alone anywhere.
    part: f32,
    /// For short forms in capitals, and for what they stand for: `ion exchange capacity (IEC)`.
    short_form: f32,
}

const WEIGHTS: Weights = Weights {
    length: [0.0, 0.9, 1.0, 0.6],
    again: 0.8,
    words: 0.35,
    early: 0.6,
    name: 0.5,
    part: -0.8,
    short_form: 0.8,
};

/// A word of the text with what is known of it.
struct Token<'t> {
    text: &'t str,
    /// Equal for singular and plural.
    stem: u32,
    weight: Weight,
    /// Hangs on the one before without a space.
    joined: bool,
    /// Something other than a space stands before it.
    apart: bool,
    /// Begins a sentence or follows something that makes capitals mean nothing.
    opening: bool,
    number: bool,
    /// A short form in capitals.
    short_form: bool,
    /// The next word stands in brackets and is a short form.
    defined: bool,
    /// Bytes of an article that hangs on its beginning: `l'État`.
    article: usize,
}

/// What is known of one phrase.
#[derive(Clone, Default)]
struct Phrase {
    first: usize,
    words: usize,
    /// Where its first word stands, of all words.
    times: u32,
    /// How often it stood for itself, not inside a longer one.
    alone: u32,
    capitals: u32,
    short_form: bool,
}

/// The best phrases of a text, best first, at most `most`. Of a form those are none that only its own words make up, or
/// that hold a number, and none goes on in the next line.
pub(crate) fn tags(
    text: &str,
    language: &Language,
    form: &HashSet<String>,
    most: usize,
) -> Vec<Guess<String>> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let letters = Letters::of(text);
    if letters.unspaced * 2 > letters.all {
        return unspaced_tags(text, most);
    }
    // Where everything is written in capitals they mean nothing.
    let (tokens, stems) = tokens(text, language, letters.capitals * 2 > letters.all, !form.is_empty());
    let mut phrases = phrases(&tokens, language.code == "eng");
    let mut frequency = vec![0_u32; stems];
    for token in &tokens {
        frequency[token.stem as usize] += 1;
    }
    if !form.is_empty() {
        phrases.retain(|_, phrase| {
            let words = &tokens[phrase.first..phrase.first + phrase.words];
            let own = words.iter().all(|word| form.contains(&fold(word.text)));
            let digits = |word: &Token<'_>| word.text.bytes().filter(u8::is_ascii_digit).count();
            !own && words.iter().all(|word| digits(word) < 3)
        });
    }
    let mut scored: Vec<(f32, Phrase)> =
        phrases.drain().map(|(_, phrase)| (score(&phrase, &tokens, &frequency), phrase)).collect();
    scored
        .sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.first.cmp(&b.1.first)).then(b.1.words.cmp(&a.1.words)));
    choose(&scored, &tokens, most)
}

/// How many letters of each sort a text has.
#[derive(Default)]
struct Letters {
    all: usize,
    capitals: usize,
    unspaced: usize,
}

impl Letters {
    fn of(text: &str) -> Self {
        let mut letters = Self::default();
        for c in text.chars() {
            if c.is_alphabetic() {
                letters.all += 1;
                letters.capitals += usize::from(c.is_uppercase());
                letters.unspaced += usize::from(is_unspaced(c));
            }
        }
        letters
    }
}

fn tokens<'t>(text: &'t str, language: &Language, shouting: bool, is_form: bool) -> (Vec<Token<'t>>, usize) {
    let mut stems: HashMap<String, u32> = HashMap::default();
    let mut tokens: Vec<Token<'t>> = Vec::new();
    let mut end = 0;
    for word in words(text) {
        let between = &text[end..word.start];
        end = word.end();
        let folded = folded(word.text);
        let weight = match language.weigh(&folded) {
            Weight::Full if language.code == "eng" && is_adverb(&folded) => Weight::Verb,
            Weight::Full if folded.chars().count() > MAX_LETTERS || word.text.len() >= MAX_WORD_BYTES => {
                Weight::Stop
            }
            weight => weight,
        };
        let joined = matches!(between, "" | "-" | "‐" | "‑" | "–") && word.start > 0;
        let article = article(word.text, language);
        // `filière d'avenir` is one thing, `vote l'assemblée` are two.
        let parted = article > 0 && !folded.starts_with('d');
        let within = usize::from(!is_form);
        let broken = between.contains(|c: char| !c.is_whitespace()) || between.matches('\n').count() > within;
        let apart = !joined && (broken || parted);
        let short_form = is_short_form(word.text) && !shouting;
        if let Some(before) = tokens.last_mut().filter(|_| short_form && between.trim() == "(") {
            before.defined = true;
        }
        let opening = shouting
            || tokens.is_empty()
            || between.contains(['.', '!', '?', ':', '"', '“', '«', '•'])
            || between.matches('\n').count() > 1;
        let next = stems.len() as u32;
        let own = if article > 0 { Cow::Owned(fold(&word.text[article..])) } else { Cow::Borrowed(&*folded) };
        let stem = match stems.get(stem(&own)) {
            Some(known) => *known,
            None => *stems.entry(stem(&own).to_owned()).or_insert(next),
        };
        let number = is_number(&folded) || is_measure(word.text);
        tokens.push(Token {
            text: word.text,
            stem,
            weight,
            joined,
            apart,
            opening,
            number,
            short_form,
            defined: false,
            article,
        });
    }
    let count = stems.len();
    (tokens, count)
}

/// How many bytes of a word are an article or its like that hangs on it.
fn article(word: &str, language: &Language) -> usize {
    match word.find(['\'', '’']) {
        Some(at)
            if at <= 2
                && at > 0
                && language.code != "eng"
                && language.weigh(&fold(&word[..at])) == Weight::Stop =>
        {
            at + word[at..].chars().next().map_or(0, char::len_utf8)
        }
        _ => 0,
    }
}

/// Singular and plural are one; whatever else an ending says is kept.
fn stem(folded: &str) -> &str {
    let word = folded.strip_suffix("'s").unwrap_or(folded);
    if word.len() > 4 && word.ends_with("ies") {
        return &word[..word.len() - 3];
    }
    if word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is")
    {
        return &word[..word.len() - 1];
    }
    if word.len() > 4 && word.ends_with('y') { &word[..word.len() - 1] } else { word }
}

/// `SEM`, `PEMs`, `DNA`: capitals alone, not too many.
fn is_short_form(word: &str) -> bool {
    let word = word.strip_suffix('s').unwrap_or(word);
    (2..=6).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && word.bytes().filter(u8::is_ascii_uppercase).count() >= 2
}

/// `15min`, `6µm`, `2nd`: a number with its unit.
fn is_measure(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < word.len() && unit.chars().count() <= 3 && unit.chars().all(char::is_lowercase)
}

fn is_adverb(folded: &str) -> bool {
    const NOUNS: &[&str] = &[
        "family",
        "assembly",
        "supply",
        "anomaly",
        "monopoly",
        "italy",
        "july",
        "reply",
        "ally",
        "butterfly",
    ];
    folded.len() > 4 && folded.ends_with("ly") && !NOUNS.iter().any(|noun| folded.ends_with(noun))
}

/// All phrases by the stems of their words.
fn phrases(tokens: &[Token<'_>], english: bool) -> HashMap<Vec<u32>, Phrase> {
    let mut found = HashMap::default();
    let mut start = 0;
    while start < tokens.len() {
        if ends_phrase(tokens, start) {
            start += 1;
            continue;
        }
        let mut end = start + 1;
        while end < tokens.len() && !tokens[end].apart && !ends_phrase(tokens, end) {
            end += 1;
        }
        take_run(tokens, start, end, english, &mut found);
        start = end;
    }
    found
}

/// A word that says nothing ends a phrase, unless it hangs on others: `state-of-the-art`.
fn ends_phrase(tokens: &[Token<'_>], at: usize) -> bool {
    let hangs = tokens[at].joined || tokens.get(at + 1).is_some_and(|next| next.joined);
    matches!(tokens[at].weight, Weight::Stop | Weight::Verb) && !hangs
}

/// Takes in a run of words between others: as a whole, and its parts.
fn take_run(
    tokens: &[Token<'_>],
    mut start: usize,
    mut end: usize,
    english: bool,
    found: &mut HashMap<Vec<u32>, Phrase>,
) {
    let idle = |token: &Token<'_>| token.weight != Weight::Full || token.number;
    while start < end && idle(&tokens[start]) && !tokens.get(start + 1).is_some_and(|next| next.joined) {
        start += 1;
    }
    let verbal = |token: &Token<'_>| english && token.text.len() > 4 && token.text.ends_with("ed");
    while start < end && !tokens[end - 1].joined && (idle(&tokens[end - 1]) || verbal(&tokens[end - 1])) {
        end -= 1;
    }
    for first in start..end {
        // A part does not begin or end in the middle of what hangs together.
        if first > start && (tokens[first].joined || idle(&tokens[first])) {
            continue;
        }
        for last in first..end.min(first + MAX_WORDS) {
            let cut = tokens.get(last + 1).is_some_and(|next| last + 1 < end && next.joined);
            if cut || (last + 1 < end && idle(&tokens[last])) {
                continue;
            }
            let words = &tokens[first..=last];
            if words.len() == 1
                && (words[0].number || words[0].text.chars().count() < 3 && !is_name(&words[0]))
            {
                continue;
            }
            let key: Vec<u32> = words.iter().map(|t| t.stem).collect();
            let phrase =
                found.entry(key).or_insert_with(|| Phrase { first, words: words.len(), ..Phrase::default() });
            phrase.times += 1;
            phrase.alone += u32::from(first == start && last + 1 == end);
            phrase.short_form |= words[words.len() - 1].defined || (words.len() == 1 && words[0].short_form);
            phrase.capitals += u32::from(words.iter().all(|t| is_name(t) && !t.opening));
        }
    }
}

fn is_name(token: &Token<'_>) -> bool {
    token.text[token.article..].chars().next().is_some_and(char::is_uppercase)
}

fn score(phrase: &Phrase, tokens: &[Token<'_>], frequency: &[u32]) -> f32 {
    let words = &tokens[phrase.first..phrase.first + phrase.words];
    let log = |n: u32| (1.0 + n as f32).log2();
    let mean = words.iter().map(|t| log(frequency[t.stem as usize])).sum::<f32>() / words.len() as f32;
    let early = 1.0 - phrase.first as f32 / tokens.len() as f32;
    WEIGHTS.length[phrase.words.min(MAX_WORDS) - 1]
        + WEIGHTS.again * log(phrase.times)
        + WEIGHTS.words * mean
        + WEIGHTS.early * early
        + WEIGHTS.name * f32::from(phrase.capitals > 0)
        + WEIGHTS.short_form * f32::from(phrase.short_form)
        + if phrase.alone == 0 { WEIGHTS.part } else { 0.0 }
}

/// Takes the best ones, and leaves out what says the same as a better one.
fn choose(scored: &[(f32, Phrase)], tokens: &[Token<'_>], most: usize) -> Vec<Guess<String>> {
    let stems = |phrase: &Phrase| -> Vec<u32> {
        tokens[phrase.first..phrase.first + phrase.words].iter().map(|t| t.stem).collect()
    };
    let mut chosen: Vec<(Vec<u32>, u32)> = Vec::new();
    let mut tags = Vec::new();
    let top = scored.first().map_or(1.0, |(score, _)| *score);
    for (score, phrase) in scored {
        if tags.len() >= most {
            break;
        }
        let these = stems(phrase);
        let said = chosen.iter().any(|(other, times)| {
            let inside = contains(other, &these) && phrase.times <= *times;
            let around = contains(&these, other) && phrase.alone == 0;
            inside || around
        });
        if said {
            continue;
        }
        tags.push(Guess {
            value: shown(&tokens[phrase.first..phrase.first + phrase.words]),
            confidence: (0.9 * score / top).clamp(0.05, 0.9),
            method: "phrases",
        });
        chosen.push((these, phrase.times));
    }
    tags
}

fn contains(whole: &[u32], part: &[u32]) -> bool {
    whole.windows(part.len()).any(|window| window == part)
}

/// A phrase as people write it: as in the text, in small letters if its capital only begins a sentence.
fn shown(words: &[Token<'_>]) -> String {
    let mut shown = String::new();
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            shown.push(if word.joined { '-' } else { ' ' });
        }
        let text = if at == 0 { &word.text[word.article..] } else { word.text };
        let only_first = text.chars().skip(1).all(char::is_lowercase);
        if word.opening && only_first && words.len() > 1 && !words[1..].iter().any(is_name) {
            shown.push_str(&text.to_lowercase());
        } else {
            shown.push_str(text);
        }
    }
    shown
}

/// Of scripts without spaces: runs of two to four letters that come again, the longest of those that come equally often.
fn unspaced_tags(text: &str, most: usize) -> Vec<Guess<String>> {
    const LONGEST: usize = 4;
    let mut counts: HashMap<&str, (u32, usize)> = HashMap::default();
    // Japanese endings and particles are written in hiragana; they join words rather than being part of them.
    let joins = |c: char| !is_unspaced(c) || matches!(c, '\u{3040}'..='\u{309f}');
    let mut at = 0;
    for piece in text.split_inclusive(joins) {
        let run = piece.trim_end_matches(joins);
        let edges: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
        for length in 2..=LONGEST {
            for window in edges.windows(length + 1) {
                counts.entry(&run[window[0]..window[length]]).or_insert((0, at + window[0])).0 += 1;
            }
        }
        at += piece.len();
    }
    let mut ranked: Vec<(&str, u32, usize)> =
        counts.into_iter().map(|(part, (times, place))| (part, times, place)).collect();
    let worth = |(part, times, _): &(&str, u32, usize)| u64::from(*times) * part.chars().count() as u64;
    ranked.sort_by(|a, b| worth(b).cmp(&worth(a)).then(a.2.cmp(&b.2)).then(b.0.len().cmp(&a.0.len())));
    let mut tags: Vec<Guess<String>> = Vec::new();
    let top = ranked.first().map_or(1, worth) as f32;
    for entry in ranked.iter().filter(|(_, times, _)| *times > 1) {
        if tags.len() >= most {
            break;
        }
        if !tags.iter().any(|tag| tag.value.contains(entry.0) || entry.0.contains(tag.value.as_str())) {
            let confidence = (0.6 * worth(entry) as f32 / top).clamp(0.05, 0.6);
            tags.push(Guess { value: entry.0.to_owned(), confidence, method: "runs" });
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Languages;

    fn found(text: &str) -> Vec<String> {
        let languages = Languages::load().unwrap();
        tags(text, languages.of(None, text), &HashSet::new(), 10).into_iter().map(|t| t.value).collect()
    }

    #[test]
    fn tags_are_phrases_without_empty_words() {
        let text = "The partition function is a solution to the wave equation. A partition function of this kind \
                    describes phase transitions. Phase transitions are described by the partition function.";
        let tags = found(text);
        assert_eq!(tags[0], "partition function");
        assert!(tags.iter().any(|t| t == "phase transitions"), "{tags:?}");
        assert!(tags.iter().any(|t| t == "wave equation"), "{tags:?}");
        assert!(!tags.iter().any(|t| t.contains("the") || t.contains("described")), "{tags:?}");
    }

    #[test]
    fn tags_of_chinese_are_runs_that_come_again() {
        let tags = found("机器学习是人工智能的一个分支。机器学习研究算法。人工智能和机器学习都很重要。");
        assert!(tags.contains(&"机器学习".to_owned()) && tags.contains(&"人工智能".to_owned()), "{tags:?}");
    }

    #[test]
    fn hostile_texts_give_few_tags_and_no_harm() {
        let long = "x".repeat(2 << 20);
        let same = "word ".repeat(200_000);
        let chinese = "的".repeat(500_000);
        for text in ["", "\0", "1 2 3", &long, &same, &chinese, "\u{202e}\u{202e}", "- - -"] {
            assert!(found(text).len() <= 10);
        }
        assert!(found(&long).is_empty());
    }
}
