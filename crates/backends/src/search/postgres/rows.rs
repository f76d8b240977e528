//! From a document to its rows.
//!
//! A `tsvector` holds a mebibyte, positions up to 16,383, and 255 of them for one word. A document within that is one
//! row. A longer one is a *long* document: its row holds every word without positions, and its text stands in parts
//! with them. Each part begins with the last words of the part before, so that a phrase stands whole in one of them.
//! A long document with more words than its row can hold has *spilled*: a word without room there is marked in the
//! parts it stands in. So every word is found, whatever the length. Stems stand in the row, as far as there is room.

use std::collections::HashMap;

use docmill_core::Result;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::text_index::IndexedDocument;
use tantivy::tokenizer::{TextAnalyzer, TokenStream as _};

use super::lexeme::{Kind, PREFIX_BYTES, Spelling, often};
use super::wire::{MAX_COST, MAX_POSITION, MAX_POSITIONS, TsVector, cost};
use crate::postgres::text;
use crate::search::near;
use crate::search::stems::{self, LANGUAGES, Language};

/// The longest phrase that is certain to stand whole in one part of a long document.
pub(super) const MAX_PART_PHRASE: usize = 64;

/// So many words at the end of a part are the beginning of the next.
const REPEATED: usize = MAX_PART_PHRASE - 1;

/// What a part, each of name, title, type and tags, and the words of a document may cost; together they leave room for
/// the rest.
const MAX_PART_COST: usize = 600_000;
const MAX_FIELD_COST: usize = 60_000;
const MAX_WORDS_COST: usize = 700_000;

/// What kind of row this is, as the table has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i16)]
pub(super) enum Shape {
    /// A document.
    Whole = 0,
    /// A document whose text stands in parts as well.
    Long = 1,
    /// One of these with words that only its parts have.
    Spilled = 2,
    /// A part.
    Part = 3,
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) tenant_id: TenantId,
    pub(super) document_id: DocumentId,
    pub(super) part: i32,
    pub(super) shape: Shape,
    pub(super) text_words: i32,
    pub(super) name: String,
    pub(super) media_type: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) language: Option<String>,
    pub(super) day: Option<i32>,
    /// Each in one line.
    pub(super) tags: Vec<String>,
    pub(super) words: TsVector,
    /// Words that others may be near to; with the row of the document.
    pub(super) vocabulary: Vec<String>,
}

/// Makes the rows of a document, the parts first. A very long document is never in memory as a whole.
pub(super) fn make(
    analyzer: &mut TextAnalyzer,
    document: &IndexedDocument,
    emit: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    let spelling = Spelling::of(document.tenant_id);
    let mut own = vec![(spelling.spell(Kind::Document, ""), Vec::new())];
    let known = &document.particulars;
    let mut stems = Stems::new(known.language.as_deref());
    let mut vocabulary = Vec::new();
    add_field(analyzer, spelling, Kind::Name, [&document.name], &mut own, |word| note(&mut vocabulary, word));
    add_field(analyzer, spelling, Kind::Title, &document.title, &mut own, |word| {
        note(&mut vocabulary, word);
        stems.take(word, 1);
    });
    let types = document.media_type.iter().chain(&known.kind);
    add_field(analyzer, spelling, Kind::Type, types, &mut own, |_| {});
    add_field(analyzer, spelling, Kind::Tag, &known.tags, &mut own, |_| {});
    let part_of = |part: i32, words_so_far: u32, lexemes| Row {
        tenant_id: document.tenant_id,
        document_id: document.document_id,
        part,
        shape: Shape::Part,
        text_words: at_most(words_so_far),
        name: String::new(),
        media_type: None,
        kind: None,
        language: None,
        day: None,
        tags: Vec::new(),
        words: TsVector::new(lexemes),
        vocabulary: Vec::new(),
    };

    let mut parts = 0;
    let (mut passage, mut whole, mut text_words) = (Passage::default(), Whole::default(), 0_u32);
    let mut stream = analyzer.token_stream(&document.text);
    while stream.advance() {
        let token = stream.token();
        if !passage.add(&token.text, token.position) {
            parts += 1;
            emit(part_of(parts, text_words, whole.take_in(spelling, &passage)))?;
            passage = passage.next(token.position);
            let added = passage.add(&token.text, token.position);
            debug_assert!(added, "a new part has room");
        }
        text_words = text_words.saturating_add(1);
    }
    drop(stream);

    let shape = if parts == 0 {
        for (word, places) in &passage.words {
            note(&mut vocabulary, word);
            stems.take(word, places.len() as u32);
        }
        stems.into_own(spelling, passage.cost, &mut own);
        passage.into_own(spelling, &mut own);
        Shape::Whole
    } else {
        parts += 1;
        emit(part_of(parts, text_words, whole.take_in(spelling, &passage)))?;
        let shape = if whole.spilled { Shape::Spilled } else { Shape::Long };
        for (word, count) in &whole.words {
            note(&mut vocabulary, word);
            stems.take(word, *count);
        }
        stems.into_own(spelling, whole.cost, &mut own);
        whole.into_own(spelling, &mut own);
        shape
    };
    emit(Row {
        tenant_id: document.tenant_id,
        document_id: document.document_id,
        part: 0,
        shape,
        text_words: at_most(text_words),
        name: text(&document.name),
        media_type: document.media_type.as_deref().map(text),
        kind: known.kind.as_deref().map(text),
        language: known.language.as_deref().map(text),
        day: known.date.and_then(|day| i32::try_from(day.0).ok()),
        tags: known.tags.iter().map(|tag| text(tag).replace('\n', " ")).collect(),
        words: TsVector::new(own),
        vocabulary,
    })
}

fn note(vocabulary: &mut Vec<String>, word: &str) {
    if near::is_offered(word) {
        vocabulary.push(word.to_owned());
    }
}

fn at_most(words: u32) -> i32 {
    i32::try_from(words).unwrap_or(i32::MAX)
}

/// Adds the words of the values of a short field. What is longer than any sensible name or title is found by its
/// beginning.
fn add_field<'v>(
    analyzer: &mut TextAnalyzer,
    spelling: Spelling,
    kind: Kind,
    values: impl IntoIterator<Item = &'v String>,
    own: &mut Vec<(String, Vec<u16>)>,
    mut each: impl FnMut(&str),
) {
    let (mut words, mut spent): (HashMap<String, Vec<u16>>, usize) = (HashMap::new(), 0);
    let mut begin = 1;
    for value in values {
        let mut end = begin;
        let mut stream = analyzer.token_stream(value);
        while stream.advance() && spent < MAX_FIELD_COST {
            let token = stream.token();
            each(&token.text);
            end = begin + token.position;
            let positions = words.entry(token.text.clone()).or_insert_with(|| {
                spent += cost(PREFIX_BYTES + token.text.len(), 0);
                Vec::new()
            });
            match u16::try_from(end) {
                Ok(place) if place <= MAX_POSITION && positions.len() < MAX_POSITIONS => {
                    positions.push(place);
                    spent += 2;
                }
                _ => {}
            }
        }
        // The last word of one value and the first of the next are no phrase.
        begin = end + 2;
    }
    own.extend(words.into_iter().map(|(word, positions)| (spelling.spell(kind, &word), positions)));
}

/// The stems of a document, and how often they stand in it.
struct Stems {
    language: Option<&'static Language>,
    counts: HashMap<String, u32>,
}

impl Stems {
    fn new(language: Option<&str>) -> Self {
        Self { language: stems::of_document(language).map(|place| &LANGUAGES[place]), counts: HashMap::new() }
    }

    fn take(&mut self, word: &str, times: u32) {
        if let Some(language) = self.language
            && let Some(stem) = language.stem(word)
        {
            let count = self.counts.entry(language.spell(&stem)).or_default();
            *count = count.saturating_add(times);
        }
    }

    /// Adds them beside what costs `reserved`, the most frequent first: only a document of very many words has no room.
    fn into_own(self, spelling: Spelling, reserved: usize, own: &mut Vec<(String, Vec<u16>)>) {
        let before: usize = own.iter().map(|(lexeme, places)| cost(lexeme.len(), places.len())).sum();
        let mut spent = reserved + before;
        let mut stems: Vec<(String, u32)> = self.counts.into_iter().collect();
        stems.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        for (stem, count) in stems {
            let level = often(count);
            spent += cost(PREFIX_BYTES + stem.len(), 0) * (1 + usize::from(level.is_some()));
            if spent > MAX_COST {
                return;
            }
            own.extend(level.map(|level| (spelling.spell(level, &stem), Vec::new())));
            own.push((spelling.spell(Kind::Stem, &stem), Vec::new()));
        }
    }
}

/// A stretch of text that fits into one `tsvector`.
#[derive(Default)]
struct Passage {
    words: HashMap<String, Vec<u16>>,
    cost: usize,
    /// Where it begins in the text, counted in words.
    begin: usize,
    /// Up to this place its words stand in the passage before as well.
    repeated: u16,
}

impl Passage {
    /// Adds the word at a place in the text; not if there is no room for it.
    fn add(&mut self, word: &str, at: usize) -> bool {
        if self.words.is_empty() && self.repeated == 0 {
            self.begin = at;
        }
        let Ok(place) = u16::try_from(at - self.begin + 1) else { return false };
        if place > MAX_POSITION {
            return false;
        }
        // Most words have been here before, and their text need not be copied.
        if let Some(places) = self.words.get_mut(word) {
            if places.len() == MAX_POSITIONS || self.cost + 2 > MAX_PART_COST {
                return false;
            }
            places.push(place);
            self.cost += 2;
            return true;
        }
        // It may need a second lexeme, see `Whole::take_in`.
        let more = cost(PREFIX_BYTES + word.len(), 1) + cost(PREFIX_BYTES + word.len(), 0);
        if self.cost + more > MAX_PART_COST {
            return false;
        }
        self.words.insert(word.to_owned(), vec![place]);
        self.cost += more;
        true
    }

    /// The passage that follows, up to but not including the word at this place.
    fn next(&self, at: usize) -> Self {
        let begin = at.saturating_sub(REPEATED).max(self.begin);
        let mut next = Self { begin, repeated: (at - begin) as u16, ..Self::default() };
        let before = begin - self.begin;
        for (word, places) in &self.words {
            // Places count from one, and ascend.
            for place in &places[places.partition_point(|place| usize::from(*place) <= before)..] {
                let added = next.add(word, self.begin + usize::from(*place) - 1);
                debug_assert!(added, "a few words always fit");
            }
        }
        next
    }

    /// As the words of a document that is not long.
    fn into_own(self, spelling: Spelling, own: &mut Vec<(String, Vec<u16>)>) {
        for (word, places) in self.words {
            if let Some(level) = often(places.len() as u32) {
                own.push((spelling.spell(level, &word), Vec::new()));
            }
            own.push((spelling.spell(Kind::Word, &word), places));
        }
    }
}

/// The words of a long document, and how often they stand in it.
#[derive(Default)]
struct Whole {
    words: HashMap<String, u32>,
    cost: usize,
    spilled: bool,
}

impl Whole {
    /// Counts the words of a passage; answers its lexemes.
    fn take_in(&mut self, spelling: Spelling, passage: &Passage) -> Vec<(String, Vec<u16>)> {
        let mut lexemes = Vec::with_capacity(passage.words.len());
        // In order, so that the same document always gets the same rows.
        let mut words: Vec<_> = passage.words.iter().collect();
        words.sort_unstable_by_key(|(word, _)| *word);
        for (word, places) in words {
            lexemes.push((spelling.spell(Kind::Part, word), places.clone()));
            let new = places.len() - places.partition_point(|place| *place <= passage.repeated);
            if new == 0 {
                continue;
            }
            if let Some(count) = self.words.get_mut(word) {
                *count = count.saturating_add(new as u32);
                continue;
            }
            let more = cost(PREFIX_BYTES + word.len(), 0);
            if self.cost + more > MAX_WORDS_COST {
                self.spilled = true;
                lexemes.push((spelling.spell(Kind::Spill, word), Vec::new()));
                continue;
            }
            self.cost += more;
            self.words.insert(word.clone(), new as u32);
        }
        lexemes
    }

    fn into_own(self, spelling: Spelling, own: &mut Vec<(String, Vec<u16>)>) {
        own.push((spelling.spell(Kind::Long, ""), Vec::new()));
        if self.spilled {
            own.push((spelling.spell(Kind::Spilled, ""), Vec::new()));
        }
        let mut spent: usize = own.iter().map(|(lexeme, places)| cost(lexeme.len(), places.len())).sum();
        spent += self.cost;
        for (word, count) in self.words {
            // How often a word stands in the text is for scores; that it does is for finding it.
            if let Some(level) = often(count)
                && spent + cost(PREFIX_BYTES + word.len(), 0) <= MAX_COST
            {
                spent += cost(PREFIX_BYTES + word.len(), 0);
                own.push((spelling.spell(level, &word), Vec::new()));
            }
            own.push((spelling.spell(Kind::Word, &word), Vec::new()));
        }
    }
}
