//! From what a query means to what the server looks up.
//!
//! Whether a document is a hit is asked of its row alone (`whole`), unless that row cannot know: a long document for
//! phrases, a spilled one for words. Those are *divided*: each group of alternatives is looked up by itself, in rows
//! and parts, and a document that meets every group is a hit. Scores are sums of *marks*, one look-up for a word in a
//! field, and for how often it stands there.

use docmill_core::id::TenantId;

use super::lexeme::{Kind, Spelling};
use super::rows::MAX_PART_PHRASE;
use super::wire::TsQuery;
use crate::search::meaning::{Meaning, NAME_BOOST, NEAR_BOOST, Wanted};
use crate::search::syntax::Scope;

/// The most words that count for scores, and of these, and of their stems, the most whose number of times counts. A query of more words
/// finds what it should; which of them stands how often would hardly change the order of the hits.
const MAX_SCORED: usize = 32;
pub(super) const MAX_GRADED: usize = 8;

/// What of a tenant's documents a query must look for in parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Divided {
    /// None: every document is asked by its row.
    Nothing,
    /// Those that have spilled.
    Spilled,
    /// All that are long.
    Long,
}

/// A word in a field, as scores see it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Scored {
    pub(super) kind: Kind,
    pub(super) word: String,
    /// What it is worth there.
    pub(super) boost: f32,
    /// Whether it is only the beginning of a word.
    pub(super) beginning: bool,
    /// Whether it counts how often it is there.
    pub(super) graded: bool,
}

/// The queries of one tenant.
pub(super) struct Queries<'m> {
    spelling: Spelling,
    meaning: &'m Meaning<'m>,
}

impl<'m> Queries<'m> {
    pub(super) fn new(tenant: TenantId, meaning: &'m Meaning<'m>) -> Self {
        Self { spelling: Spelling::of(tenant), meaning }
    }

    /// What must be divided, in an index that has such documents.
    pub(super) fn divided(&self, any_long: bool, any_spilled: bool) -> Divided {
        let all = self.meaning.groups.iter().flatten().chain(&self.meaning.without);
        let phrases = all.into_iter().any(|w| w.scope == Scope::Everywhere && w.terms.len() > 1);
        match (any_long && phrases, any_spilled) {
            (true, _) => Divided::Long,
            (false, true) => Divided::Spilled,
            (false, false) => Divided::Nothing,
        }
    }

    /// What the row of a document answers, except for those that are divided.
    pub(super) fn whole(&self, divided: Divided) -> TsQuery {
        let mut all: Vec<TsQuery> = self
            .meaning
            .groups
            .iter()
            .map(|group| any(group.iter().map(|wanted| self.in_row(wanted)).collect()))
            .collect();
        if all.is_empty() {
            all.push(self.lexeme(Kind::Document, ""));
        }
        let without = self.meaning.without.iter().map(|wanted| self.in_row(wanted));
        all.extend(without.chain(self.flag(divided)).map(|query| TsQuery::Not(Box::new(query))));
        every(all)
    }

    /// For documents that are divided: queries with the number of the group that a document meets by them. A negative
    /// number is that of a group it must not meet.
    pub(super) fn groups(&self, divided: Divided) -> Vec<(TsQuery, i32)> {
        let Some(flag) = self.flag(divided) else { return Vec::new() };
        let mut queries = Vec::new();
        for (number, group) in (0..).zip(&self.meaning.groups) {
            queries.extend(group.iter().map(|wanted| (self.in_row_or_part(wanted, &flag), number)));
        }
        if queries.is_empty() {
            queries.push((flag.clone(), 0));
        }
        queries.extend(self.meaning.without.iter().map(|wanted| (self.in_row_or_part(wanted, &flag), -1)));
        queries
    }

    /// The words that count for scores, each once, with their stems and what is near to them.
    pub(super) fn scored(&self) -> Vec<Scored> {
        let mut scored = ScoredWords { left: MAX_SCORED, ..ScoredWords::default() };
        let title = self.meaning.title_boost;
        for wanted in self.meaning.groups.iter().flatten() {
            for (place, word) in wanted.terms.iter().enumerate() {
                let beginning = wanted.prefix && place + 1 == wanted.terms.len();
                scored.add(kinds(wanted.scope), word, beginning, title, 1.0);
            }
            for word in &wanted.near {
                scored.add(kinds(wanted.scope), word, false, title, NEAR_BOOST);
            }
            for stem in &wanted.stems {
                scored.add_stem(stem.spelled(), self.meaning.stem_boost);
            }
        }
        scored.all
    }

    /// Which rows hold a scored word, or hold it at a level. Others than hits are left out as far as that is cheap.
    pub(super) fn mark(&self, scored: &Scored, level: Option<Kind>, divided: Divided) -> TsQuery {
        let word = self.word(level.unwrap_or(scored.kind), &scored.word, scored.beginning);
        // A query of one word finds every row that has it, or a form of it.
        let single = matches!(self.meaning.groups.as_slice(), [group] if group.len() == 1 && group[0].terms.len() == 1);
        let mut bound = if single { Vec::new() } else { self.roughly() };
        if bound.is_empty() {
            return word;
        }
        if let Some(flag) = self.flag(divided) {
            bound = vec![TsQuery::Any(vec![every(bound), flag])];
        }
        bound.push(word);
        TsQuery::All(bound)
    }

    /// Which parts hold a scored word that the rows of their documents have no room for.
    pub(super) fn spilled_mark(&self, scored: &Scored) -> TsQuery {
        self.word(Kind::Spill, &scored.word, scored.beginning)
    }

    /// The single lexeme of a scored word.
    pub(super) fn scored_lexeme(&self, scored: &Scored) -> TsQuery {
        self.lexeme(scored.kind, &scored.word)
    }

    /// What every hit meets whose row holds all its words: the groups, with phrases as loose words, as far as these are
    /// few.
    fn roughly(&self) -> Vec<TsQuery> {
        let (mut all, mut left) = (Vec::new(), MAX_SCORED);
        for group in &self.meaning.groups {
            let words: usize = group.iter().map(|wanted| wanted.terms.len()).sum();
            if words <= left {
                left -= words;
                all.push(any(group.iter().map(|wanted| self.loosely(wanted)).collect()));
            }
        }
        all
    }

    /// What marks a document that must be divided.
    fn flag(&self, divided: Divided) -> Option<TsQuery> {
        match divided {
            Divided::Nothing => None,
            Divided::Spilled => Some(self.lexeme(Kind::Spilled, "")),
            Divided::Long => Some(self.lexeme(Kind::Long, "")),
        }
    }

    /// In any field, as the row of a document that is not long has it.
    fn in_row(&self, wanted: &Wanted) -> TsQuery {
        let mut all: Vec<TsQuery> = kinds(wanted.scope)
            .iter()
            .map(|kind| self.side_by_side(*kind, &wanted.terms, wanted.prefix))
            .collect();
        all.extend(self.instead(wanted));
        any(all)
    }

    /// What will do as well: stems, and words that are near.
    fn instead(&self, wanted: &Wanted) -> Vec<TsQuery> {
        let stems = wanted.stems.iter().map(|stem| self.lexeme(Kind::Stem, &stem.spelled()));
        let near = wanted
            .near
            .iter()
            .flat_map(|word| kinds(wanted.scope).iter().map(move |kind| self.lexeme(*kind, word)));
        stems.chain(near).collect()
    }

    /// In any field, without regard to the order of words.
    fn loosely(&self, wanted: &Wanted) -> TsQuery {
        let last = wanted.terms.len() - 1;
        let in_field = |kind: Kind| {
            let words = wanted.terms.iter().enumerate();
            every(words.map(|(place, word)| self.word(kind, word, wanted.prefix && place == last)).collect())
        };
        let mut all: Vec<TsQuery> = kinds(wanted.scope).iter().map(|kind| in_field(*kind)).collect();
        all.extend(self.instead(wanted));
        any(all)
    }

    /// In any field of a long document: a word of the text in its row, or in a part if it has spilled; a phrase of the
    /// text in a part. Of a phrase that is longer than what is sure to stand in one part, the beginning is enough.
    fn in_row_or_part(&self, wanted: &Wanted, flag: &TsQuery) -> TsQuery {
        let phrase = wanted.terms.len() > 1;
        let mut rows: Vec<TsQuery> = kinds(wanted.scope)
            .iter()
            .filter(|kind| !phrase || **kind != Kind::Word)
            .map(|kind| self.side_by_side(*kind, &wanted.terms, wanted.prefix))
            .collect();
        rows.extend(self.instead(wanted));
        let mut found = vec![TsQuery::All(vec![any(rows), flag.clone()])];
        if wanted.scope == Scope::Everywhere {
            let terms = &wanted.terms[..wanted.terms.len().min(MAX_PART_PHRASE)];
            let prefix = wanted.prefix && terms.len() == wanted.terms.len();
            found.push(self.side_by_side(if phrase { Kind::Part } else { Kind::Spill }, terms, prefix));
            found.extend(wanted.near.iter().map(|word| self.lexeme(Kind::Spill, word)));
        }
        any(found)
    }

    /// One word, or several in this order, in one field.
    fn side_by_side(&self, kind: Kind, terms: &[String], prefix: bool) -> TsQuery {
        let last = terms.len() - 1;
        let mut words: Vec<TsQuery> = terms
            .iter()
            .enumerate()
            .map(|(place, word)| self.word(kind, word, prefix && place == last))
            .collect();
        if words.len() == 1 { words.swap_remove(0) } else { TsQuery::Phrase(words) }
    }

    fn word(&self, kind: Kind, word: &str, beginning: bool) -> TsQuery {
        let lexeme = self.spelling.spell(kind, word);
        if beginning { TsQuery::Beginning(lexeme) } else { TsQuery::Lexeme(lexeme) }
    }

    fn lexeme(&self, kind: Kind, word: &str) -> TsQuery {
        self.word(kind, word, false)
    }
}

/// Gathers what counts for scores.
#[derive(Default)]
struct ScoredWords {
    all: Vec<Scored>,
    /// How many more words may count.
    left: usize,
    graded: usize,
}

impl ScoredWords {
    /// A word in each of these fields, `worth` as much as one that was asked for.
    fn add(&mut self, kinds: &[Kind], word: &str, beginning: bool, title_boost: f32, worth: f32) {
        if self.left == 0 {
            return;
        }
        let mut new = false;
        for kind in kinds {
            if self.all.iter().any(|s| s.kind == *kind && s.word == word && s.beginning == beginning) {
                continue;
            }
            new = true;
            let graded = *kind == Kind::Word && !beginning && self.graded < MAX_GRADED;
            self.graded += usize::from(graded);
            let boost = worth
                * match kind {
                    Kind::Title => title_boost,
                    Kind::Name => NAME_BOOST,
                    _ => 1.0,
                };
            self.all.push(Scored { kind: *kind, word: word.to_owned(), boost, beginning, graded });
        }
        self.left -= usize::from(new);
    }

    /// A stem in one of its languages. Which of them there are is not known yet, so all are graded.
    fn add_stem(&mut self, word: String, boost: f32) {
        if self.left > 0 && !self.all.iter().any(|s| s.kind == Kind::Stem && s.word == word) {
            self.all.push(Scored { kind: Kind::Stem, word, boost, beginning: false, graded: true });
        }
    }
}

/// The fields that a scope covers.
fn kinds(scope: Scope) -> &'static [Kind] {
    match scope {
        Scope::Everywhere => &[Kind::Word, Kind::Title, Kind::Name],
        Scope::Name => &[Kind::Name],
        Scope::Title => &[Kind::Title],
        Scope::Type => &[Kind::Type],
        Scope::Tag => &[Kind::Tag],
    }
}

fn any(mut queries: Vec<TsQuery>) -> TsQuery {
    if queries.len() == 1 { queries.swap_remove(0) } else { TsQuery::Any(queries) }
}

fn every(mut queries: Vec<TsQuery>) -> TsQuery {
    if queries.len() == 1 { queries.swap_remove(0) } else { TsQuery::All(queries) }
}
