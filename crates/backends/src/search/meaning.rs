//! What a typed query asks for, whoever answers it: words and phrases where they are looked for, which of them are
//! alternatives, which must be absent. Limits are checked here, so every product refuses the same queries.

use docmill_core::ports::filter::Filter;
use docmill_core::ports::text_index::TextQuery;
use docmill_core::{Error, Result};
use tantivy::tokenizer::TextAnalyzer;

use super::common::is_common;
use super::stems::{self, Stem};
use super::syntax::{self, Clause, Scope};
use super::words;

/// The most hits a query can ask for.
pub(super) const MAX_HITS: usize = 10_000;

/// What a word is worth in a title and in a name, measured against one in the text.
const TITLE_BOOST: f32 = 2.0;
pub(super) const NAME_BOOST: f32 = 1.5;

/// In a title, where some of many words are enough: titles are short, and a question has words that say little.
const TITLE_BOOST_OF_SOME: f32 = 0.5;

/// What a stem is worth, measured against the word itself, which counts beside it. Small enough that a document with
/// the word is before one with many of its other forms.
const STEM_BOOST: f32 = 0.8;

/// Where some of many words are enough: nobody remembers the forms that a question should have. A sketch of the
/// ranking on Cranfield saw no difference that matters between 0.8 and 2.
const STEM_BOOST_OF_SOME: f32 = 1.5;

/// What a word is worth that is only spelled nearly as the one that was asked for.
pub(super) const NEAR_BOOST: f32 = 0.5;

/// The length an average document is taken to have, in words. A fixed one, as the true one could only be had over all
/// tenants; it merely sets where long documents begin to count less.
pub(super) const AVERAGE_WORDS: u64 = 400;

/// The longest query.
const MAX_QUERY_BYTES: usize = 4_096;

/// The most words and phrases of one query.
const MAX_CLAUSES: usize = 64;

/// The shortest beginning of a word: fewer letters begin too many words.
const MIN_PREFIX_LETTERS: usize = 2;

/// One thing to look for.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Where.
    pub(super) scope: Scope,
    /// One word, or several that must stand side by side: a phrase, `foo@bar.com`, `東京`. Never none.
    pub(super) terms: Vec<String>,
    /// Whether the last word is only the beginning of one.
    pub(super) prefix: bool,
    /// Other forms of it that will do, if it is one plain word.
    pub(super) stems: Vec<Stem>,
    /// Words that are spelled nearly so and will do as well; found by the index, see [`Meaning::doubtful`].
    pub(super) near: Vec<String>,
    /// Whether it was typed so.
    roughly: bool,
    /// Whether it may be taken so if no document has it.
    plain: bool,
}

/// A word to look near to: where it stands in the groups.
#[derive(Clone, Debug)]
pub(super) struct Doubtful {
    pub(super) word: String,
    /// Only if no document has it.
    pub(super) if_missing: bool,
    group: usize,
    place: usize,
}

/// What a query asks for.
#[derive(Debug)]
pub(super) struct Meaning<'q> {
    /// Each group is a list of alternatives; all groups must be met. None if only things without others are wanted.
    pub(super) groups: Vec<Vec<Wanted>>,
    /// What must not be there.
    pub(super) without: Vec<Wanted>,
    /// What to insist on beside.
    pub(super) filter: Filter<'q>,
    /// What a word is worth in a title, and what its stem is.
    pub(super) title_boost: f32,
    pub(super) stem_boost: f32,
    /// What snippets should mark; a beginning of a word ends in `*`, a word that stands for its forms in `~`.
    pub(super) words: Vec<String>,
    /// What was looked for instead of words that no document has.
    pub(super) instead: Vec<(String, Vec<String>)>,
}

impl Meaning<'_> {
    /// The words that the index should look near to; of those that were not typed so, only if it is forgiving.
    pub(super) fn doubtful(&self, forgiving: bool) -> Vec<Doubtful> {
        let mut doubtful = Vec::new();
        for (group, wanted) in self.groups.iter().enumerate() {
            for (place, wanted) in wanted.iter().enumerate() {
                if let ([word], true) =
                    (wanted.terms.as_slice(), wanted.roughly || (forgiving && wanted.plain))
                {
                    let (word, if_missing) = (word.clone(), !wanted.roughly);
                    doubtful.push(Doubtful { word, if_missing, group, place });
                }
            }
        }
        doubtful
    }

    /// Takes the words that were found near to one.
    pub(super) fn take_near(&mut self, doubtful: Doubtful, near: Vec<String>) {
        if near.is_empty() {
            return;
        }
        self.words.extend(near.iter().cloned());
        if doubtful.if_missing {
            self.instead.push((doubtful.word, near.clone()));
        }
        self.groups[doubtful.group][doubtful.place].near = near;
    }
}

/// Reads a query, or says what is wrong with it.
pub(super) fn of<'q>(analyzer: &mut TextAnalyzer, query: &'q TextQuery) -> Result<Meaning<'q>> {
    if query.query.len() > MAX_QUERY_BYTES {
        let bytes = query.query.len();
        return Err(Error::invalid_request(format!(
            "the query has {bytes} bytes, more than the limit of {MAX_QUERY_BYTES} bytes"
        )));
    }
    let clauses = syntax::parse(&query.query);
    if clauses.len() > MAX_CLAUSES {
        let count = clauses.len();
        return Err(Error::invalid_request(format!(
            "the query has {count} words and phrases, more than the limit of {MAX_CLAUSES}"
        )));
    }
    let mut meaning = Meaning {
        groups: Vec::new(),
        without: Vec::new(),
        filter: Filter::of(&query.filters)?,
        title_boost: if query.any { TITLE_BOOST_OF_SOME } else { TITLE_BOOST },
        stem_boost: if query.any { STEM_BOOST_OF_SOME } else { STEM_BOOST },
        words: Vec::new(),
        instead: Vec::new(),
    };
    // Whether the clause before can have alternatives: one that was negated cannot.
    let mut open = false;
    for (clause, wanted) in all_wanted(analyzer, &clauses, query.any)? {
        if clause.negated {
            meaning.without.push(wanted);
            open = false;
            continue;
        }
        if !matches!(clause.scope, Scope::Type | Scope::Tag) {
            note_words(analyzer, clause, &wanted, &mut meaning.words);
        }
        match meaning.groups.last_mut() {
            Some(group) if (clause.alternative && open) || query.any => group.push(wanted),
            _ => meaning.groups.push(vec![wanted]),
        }
        open = true;
    }
    if meaning.groups.is_empty() && meaning.without.is_empty() {
        return Err(Error::invalid_request("the query holds no word to look for")
            .with_hint("type at least one word; punctuation alone finds nothing"));
    }
    Ok(meaning)
}

/// What each clause asks for. Where some of the words are enough, those that nearly every text has are left out, unless
/// nothing else is asked for.
fn all_wanted<'c>(
    analyzer: &mut TextAnalyzer,
    clauses: &'c [Clause],
    any: bool,
) -> Result<Vec<(&'c Clause, Wanted)>> {
    let mut all = Vec::with_capacity(clauses.len());
    for clause in clauses {
        if let Some(wanted) = wanted(analyzer, clause)? {
            all.push((clause, wanted));
        }
    }
    let telling = |wanted: &Wanted| wanted.terms.iter().any(|term| !is_common(term));
    if any && all.iter().any(|(clause, wanted)| !clause.negated && telling(wanted)) {
        all.retain(|(clause, wanted)| clause.negated || telling(wanted));
    }
    Ok(all)
}

/// What a clause asks for; `None` if it holds no word.
fn wanted(analyzer: &mut TextAnalyzer, clause: &Clause) -> Result<Option<Wanted>> {
    let terms = words::terms(analyzer, &clause.text);
    let Some(last) = terms.last() else { return Ok(None) };
    // In scripts that are cut into characters, every search is for a beginning already.
    let prefix = clause.prefix && !words::is_unspaced_word(last);
    if prefix && last.chars().count() < MIN_PREFIX_LETTERS {
        return Err(Error::invalid_request(format!(
            "`{last}*` is too short: a beginning of a word needs at least {MIN_PREFIX_LETTERS} letters"
        )));
    }
    // What must be absent must be meant exactly; and a field is named by whoever knows what it holds.
    let plain =
        clause.scope == Scope::Everywhere && !clause.quoted && !prefix && !clause.negated && terms.len() == 1;
    let stems = if plain { stems::of_query(&terms[0]) } else { Vec::new() };
    let roughly = plain && clause.roughly;
    Ok(Some(Wanted { scope: clause.scope, terms, prefix, stems, near: Vec::new(), roughly, plain }))
}

fn note_words(analyzer: &mut TextAnalyzer, clause: &Clause, wanted: &Wanted, words: &mut Vec<String>) {
    let mut found = words::shown(analyzer, &clause.text);
    if let Some(last) = found.last_mut() {
        if clause.prefix {
            last.push('*');
        } else if !wanted.stems.is_empty() {
            last.push('~');
        }
    }
    for word in found {
        let same = |known: &String| known.trim_end_matches('~') == word.trim_end_matches('~');
        match words.iter_mut().find(|known| same(known)) {
            // Whoever asks for a word and for its forms asks for its forms.
            Some(known) if word.len() > known.len() => *known = word,
            Some(_) => {}
            None => words.push(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::id::TenantId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn meaning_groups_alternatives_and_sets_aside_what_must_be_absent() {
        let print =
            |wanted: &Wanted| format!("{}{}", wanted.terms.join("+"), if wanted.prefix { "*" } else { "" });
        for (typed, expected) in [
            ("a OR b c", "a|b c"),
            ("a -b OR c", "a c without b"),
            ("a OR -b OR c", "a c without b"),
            ("\"a b\" foo@bar.com inv*", "a+b foo+bar+com inv*"),
            ("東京*", "東+京"),
            ("-a", " without a"),
            ("... a", "a"),
        ] {
            let query = TextQuery {
                tenant_id: TenantId(Uuid::nil()),
                query: typed.to_owned(),
                limit: 1,
                filters: Vec::new(),
                any: false,
                forgiving: false,
                counted: true,
            };
            let meaning = of(&mut words::analyzer(), &query).unwrap();
            let groups: Vec<String> = meaning
                .groups
                .iter()
                .map(|group| group.iter().map(print).collect::<Vec<_>>().join("|"))
                .collect();
            let mut shown = groups.join(" ");
            if !meaning.without.is_empty() {
                let without: Vec<String> = meaning.without.iter().map(print).collect();
                shown.push_str(&format!(" without {}", without.join(" ")));
            }
            assert_eq!(shown, expected, "{typed}");
        }
    }

    #[test]
    fn only_plain_words_stand_for_their_forms_and_near_ones() {
        for (typed, stems, doubtful, forgiven) in [
            ("reports", true, 0, 1),
            ("reports~", true, 1, 1),
            ("\"reports\"", false, 0, 0),
            ("report*", false, 0, 0),
            ("title:reports", false, 0, 0),
            ("a-b", false, 0, 0),
            ("2024", false, 0, 1),
        ] {
            let query = TextQuery {
                tenant_id: TenantId(Uuid::nil()),
                query: typed.to_owned(),
                limit: 1,
                filters: Vec::new(),
                any: false,
                forgiving: false,
                counted: true,
            };
            let meaning = of(&mut words::analyzer(), &query).unwrap();
            assert_eq!(!meaning.groups[0][0].stems.is_empty(), stems, "{typed}");
            assert_eq!(meaning.doubtful(false).len(), doubtful, "{typed}");
            assert_eq!(meaning.doubtful(true).len(), forgiven, "{typed}");
        }
    }
}
