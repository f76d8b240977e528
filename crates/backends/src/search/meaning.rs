//! What a typed query asks for, whoever answers it: words and phrases where they are looked for, which of them are
//! alternatives, which must be absent. Limits are checked here, so every product refuses the same queries.

use docmill_core::ports::text_index::TextQuery;
use docmill_core::{Error, Result};
use tantivy::tokenizer::TextAnalyzer;

use super::common::is_common;
use super::syntax::{self, Clause, Scope};
use super::words;

/// The most hits a query can ask for.
pub(super) const MAX_HITS: usize = 10_000;

/// What a word is worth in a title and in a name, measured against one in the text.
const TITLE_BOOST: f32 = 2.0;
pub(super) const NAME_BOOST: f32 = 1.5;

/// In a title, where some of many words are enough: titles are short, and a question has words that say little.
const TITLE_BOOST_OF_SOME: f32 = 0.5;

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
}

/// What a query asks for.
#[derive(Debug)]
pub(super) struct Meaning<'q> {
    /// Each group is a list of alternatives; all groups must be met. None if only things without others are wanted.
    pub(super) groups: Vec<Vec<Wanted>>,
    /// What must not be there.
    pub(super) without: Vec<Wanted>,
    /// The media type and the name to insist on, each as often as it was asked for.
    pub(super) media_types: Vec<&'q str>,
    pub(super) names: Vec<&'q str>,
    /// What a word is worth in a title.
    pub(super) title_boost: f32,
    /// What snippets should mark; a beginning of a word ends in `*`.
    pub(super) words: Vec<String>,
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
        media_types: Vec::new(),
        names: Vec::new(),
        title_boost: if query.any { TITLE_BOOST_OF_SOME } else { TITLE_BOOST },
        words: Vec::new(),
    };
    // Whether the clause before can have alternatives: one that was negated cannot.
    let mut open = false;
    for (clause, wanted) in all_wanted(analyzer, &clauses, query.any)? {
        if clause.negated {
            meaning.without.push(wanted);
            open = false;
            continue;
        }
        if clause.scope != Scope::Type {
            note_words(analyzer, clause, &mut meaning.words);
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
    for (name, value) in &query.filters {
        match name.as_str() {
            "type" => meaning.media_types.push(value),
            "name" => meaning.names.push(value),
            other => {
                return Err(Error::invalid_request(format!("there is no filter `{other}`"))
                    .with_hint("filters are `type` and `name`"));
            }
        }
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
    Ok(Some(Wanted { scope: clause.scope, terms, prefix }))
}

fn note_words(analyzer: &mut TextAnalyzer, clause: &Clause, words: &mut Vec<String>) {
    let mut found = words::shown(analyzer, &clause.text);
    if clause.prefix
        && let Some(last) = found.last_mut()
    {
        last.push('*');
    }
    for word in found {
        if !words.contains(&word) {
            words.push(word);
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
}
