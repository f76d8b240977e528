//! A document cut into pieces for embedding, along its pages, headings, paragraphs and sentences, so that a hit points to
//! a page and a span.
//!
//! Chunks do not overlap: they end where the text itself pauses, and each carries the heading that it stands under, which
//! says more about it than the last words of its neighbour would. Everything that is not blank is in exactly one chunk.

use docmill_core::text::is_unspaced;

use crate::Page;
use crate::headings::is_heading;
use crate::words::sentences;

/// What a chunk aims at: more would be cut off by the model, and less says too little.
pub const TARGET_TOKENS: usize = 128;

/// A section with fewer tokens joins the next one.
const MIN_TOKENS: usize = 32;

/// A run without spaces that is longer than this is no word (a key, an image in letters) and may be cut.
const MAX_RUN_BYTES: usize = 512;

/// Of a heading that chunks carry.
const MAX_HEADING_BYTES: usize = 200;

/// A piece of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// The page, as the document numbers it.
    pub page: u32,
    /// Where it begins in the text of the page, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// About how many tokens a model makes of it.
    pub tokens: usize,
    /// The last heading before it or at its beginning, perhaps on an earlier page.
    pub heading: Option<String>,
}

/// What is never cut: a sentence, or a part of one that is too long.
struct Atom {
    start: usize,
    end: usize,
    tokens: usize,
    begins: Begin,
}

/// What begins with an atom; the greater, the better a place to cut.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Begin {
    Words,
    Line,
    Sentence,
    Paragraph,
    Heading,
}

/// The chunks of a document, in its order.
pub fn chunks(pages: &[Page<'_>]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut heading: Option<String> = None;
    for page in pages {
        let atoms = atoms(page.text);
        let mut first = 0;
        while first < atoms.len() {
            let end = end_of_chunk(&atoms, first);
            let these = &atoms[first..end];
            if let Some(atom) = these.iter().find(|a| a.begins == Begin::Heading).filter(|_| {
                // A heading in the middle of a chunk is not what its beginning stands under.
                these[0].begins == Begin::Heading || heading.is_none()
            }) {
                heading = Some(shown(&page.text[atom.start..atom.end]));
            }
            chunks.push(Chunk {
                page: page.number,
                start: these[0].start,
                end: these[these.len() - 1].end,
                tokens: these.iter().map(|a| a.tokens).sum(),
                heading: heading.clone(),
            });
            if let Some(last) = these.iter().rev().find(|a| a.begins == Begin::Heading) {
                heading = Some(shown(&page.text[last.start..last.end]));
            }
            first = end;
        }
    }
    chunks
}

/// Where the chunk that begins with the atom `first` ends: at the best pause in its second half.
fn end_of_chunk(atoms: &[Atom], first: usize) -> usize {
    let mut tokens = atoms[first].tokens;
    let mut best: Option<(Begin, usize)> = None;
    for (at, atom) in atoms.iter().enumerate().skip(first + 1) {
        let after_heading = atoms[at - 1].begins == Begin::Heading;
        if atom.begins == Begin::Heading && tokens >= MIN_TOKENS && !after_heading {
            return at;
        }
        // A heading belongs to what follows it.
        if tokens * 2 >= TARGET_TOKENS && !after_heading && best.is_none_or(|(begin, _)| atom.begins >= begin)
        {
            best = Some((atom.begins, at));
        }
        if tokens + atom.tokens > TARGET_TOKENS {
            return best.map_or(at, |(_, at)| at);
        }
        tokens += atom.tokens;
    }
    atoms.len()
}

fn atoms(text: &str) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for (start, end) in paragraphs(text) {
        let paragraph = &text[start..end];
        if is_heading(paragraph) {
            push(&mut atoms, text, (start, end), Begin::Heading);
            continue;
        }
        let mut begins = Begin::Paragraph;
        for sentence in sentences(paragraph) {
            push(&mut atoms, text, (start + sentence.start, start + sentence.end()), begins);
            begins = Begin::Sentence;
        }
    }
    atoms
}

/// Stretches between blank lines, without the blanks around them.
fn paragraphs(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let (mut at, mut open) = (0, false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            open = false;
        } else {
            let start = at + (line.len() - line.trim_start().len());
            let end = start + trimmed.len();
            match found.last_mut().filter(|_| open) {
                Some(last) => last.1 = end,
                None => found.push((start, end)),
            }
            open = true;
        }
        at += line.len();
    }
    found
}

/// Adds a stretch; one that is too long in parts, between lines if it has any, otherwise between words.
fn push(atoms: &mut Vec<Atom>, text: &str, (start, end): (usize, usize), begins: Begin) {
    let mut begins = begins;
    let mut part = start;
    let (mut tokens, mut here) = (Counter::default(), Cut::default());
    for (at, c) in text[start..end].char_indices() {
        let at = start + at;
        here.see(at, c);
        let total = tokens.add(c);
        if total > TARGET_TOKENS
            && let Some((cut, next)) = here.take(part, at)
        {
            add(atoms, text, (part, cut), begins);
            part = cut;
            begins = next;
            tokens = Counter::default();
            for c in text[part..at + c.len_utf8()].chars() {
                tokens.add(c);
            }
        }
    }
    add(atoms, text, (part, end), begins);
}

fn add(atoms: &mut Vec<Atom>, text: &str, (start, end): (usize, usize), begins: Begin) {
    let piece = &text[start..end];
    let trimmed = piece.trim();
    if !trimmed.is_empty() {
        let start = start + (piece.len() - piece.trim_start().len());
        let mut counter = Counter::default();
        let tokens = trimmed.chars().map(|c| counter.add(c)).last().unwrap_or(0);
        atoms.push(Atom { start, end: start + trimmed.len(), tokens, begins });
    }
}

/// Where a stretch may be cut, as it goes by.
#[derive(Default)]
struct Cut {
    line: Option<usize>,
    word: Option<usize>,
    /// Where the run without spaces began.
    run: Option<usize>,
    before: Option<char>,
}

impl Cut {
    fn see(&mut self, at: usize, c: char) {
        let run = *self.run.get_or_insert(at);
        if c.is_whitespace() {
            self.word = Some(at);
            if c == '\n' {
                self.line = Some(at);
            }
            self.run = None;
        } else if self.before.is_some_and(|before| is_unspaced(before) || is_unspaced(c))
            || at - run >= MAX_RUN_BYTES
        {
            self.word = Some(at);
            self.run = Some(at);
        }
        self.before = Some(c);
    }

    /// The best place after `part`: the last line break if it leaves no crumbs, otherwise the last space.
    fn take(&mut self, part: usize, at: usize) -> Option<(usize, Begin)> {
        let line = self.line.filter(|line| (line - part.min(*line)) * 2 > at - part);
        match (line, self.word.filter(|word| *word > part)) {
            (Some(line), _) => Some((line, Begin::Line)),
            (None, Some(word)) => Some((word, Begin::Words)),
            (None, None) => None,
        }
    }
}

/// About how many tokens a model makes of letters that go by: one for a short word, more for a long one, one for each
/// mark, one for two digits, one for a letter of a script without spaces. English words have 1.3 on average.
#[derive(Default)]
struct Counter {
    total: usize,
    letters: usize,
    digits: usize,
}

impl Counter {
    fn add(&mut self, c: char) -> usize {
        if is_unspaced(c) {
            (self.letters, self.digits) = (0, 0);
            self.total += 1;
        } else if c.is_alphabetic() {
            self.digits = 0;
            self.total += usize::from(self.letters.is_multiple_of(8));
            self.letters += 1;
        } else if c.is_numeric() {
            self.letters = 0;
            self.total += usize::from(self.digits.is_multiple_of(2));
            self.digits += 1;
        } else {
            (self.letters, self.digits) = (0, 0);
            self.total += usize::from(!c.is_whitespace());
        }
        self.total
    }
}

fn shown(heading: &str) -> String {
    heading[..heading.floor_char_boundary(MAX_HEADING_BYTES)].trim_start_matches('#').trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Vec<Chunk> {
        chunks(&[Page { number: 1, text }])
    }

    /// What a chunking must keep to, whatever the text.
    fn check(text: &str) {
        let chunks = of(text);
        let mut at = 0;
        for chunk in &chunks {
            assert!(
                chunk.start < chunk.end
                    && text.is_char_boundary(chunk.start)
                    && text.is_char_boundary(chunk.end)
            );
            assert!(chunk.start >= at, "chunks overlap");
            assert!(
                text[at..chunk.start].trim().is_empty(),
                "something is left out: {:?}",
                &text[at..chunk.start]
            );
            assert!(chunk.tokens <= 2 * TARGET_TOKENS + MAX_RUN_BYTES, "{}", chunk.tokens);
            let (before, first) =
                (text[..chunk.start].chars().next_back(), text[chunk.start..].chars().next());
            if let (Some(before), Some(first)) = (before, first)
                && before.is_alphanumeric()
                && first.is_alphanumeric()
                && !is_unspaced(before)
                && !is_unspaced(first)
            {
                let run = text[..chunk.start].chars().rev().take_while(|c| !c.is_whitespace()).count();
                assert!(run >= MAX_RUN_BYTES / 4, "cut within a word");
            }
            at = chunk.end;
        }
        assert!(text[at..].trim().is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn chunks_cover_everything_and_cut_no_words(text in "([a-zß日本é.!?#0-9]{1,12}[ \n\t]{1,3}){0,400}") {
            check(&text);
        }

        #[test]
        fn chunks_of_any_characters_cover_everything(text in ".{0,2000}") {
            check(&text);
        }
    }

    #[test]
    fn hostile_texts_are_cut_into_bounded_chunks() {
        let (long, dots, lines, chinese) =
            ("x".repeat(1 << 20), ".".repeat(1 << 20), "\n".repeat(1 << 20), "語".repeat(200_000));
        for text in ["", " \n ", "\0\0\0", &long, &dots, &lines, &chinese, "\u{202e}abc def"] {
            check(text);
        }
        assert!(of(&long).len() > 100 && of(&chinese).len() > 1_000);
    }

    #[test]
    fn chunk_begins_with_a_heading_and_carries_it() {
        let filler = "This sentence has exactly eight words in it. ".repeat(6);
        let text = format!("# First\n\n{filler}\n\n# Second\n\n{filler}{filler}{filler}");
        let chunks = of(&text);
        assert!(text[chunks[0].start..].starts_with("# First"));
        let second = chunks.iter().position(|c| text[c.start..].starts_with("# Second")).unwrap();
        assert_eq!(chunks[0].heading.as_deref(), Some("First"));
        assert!(chunks[second..].iter().all(|c| c.heading.as_deref() == Some("Second")));
        assert_eq!(chunks.len(), 3);
    }

    #[test]
    fn pages_are_never_mixed() {
        let pages = [Page { number: 3, text: "One short page." }, Page { number: 4, text: "Another one." }];
        let found: Vec<_> = chunks(&pages).iter().map(|c| (c.page, c.start)).collect();
        assert_eq!(found, [(3, 0), (4, 0)]);
    }
}
