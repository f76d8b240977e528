//! From what a user typed to what Tantivy looks for.

use docmill_core::id::TenantId;
use docmill_core::ports::text_index::TextQuery;
use docmill_core::{Error, Result};
use tantivy::Term;
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, FuzzyTermQuery, Occur, PhrasePrefixQuery, PhraseQuery, Query,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::tokenizer::TextAnalyzer;

use super::layout::Fields;
use super::words;
use crate::search::syntax::{self, Clause, Scope};

/// The longest query.
const MAX_QUERY_BYTES: usize = 4_096;

/// The most words and phrases of one query.
const MAX_CLAUSES: usize = 64;

/// The shortest beginning of a word: fewer letters begin too many words.
const MIN_PREFIX_LETTERS: usize = 2;

/// How many words a beginning may stand for inside a phrase.
const MAX_PHRASE_EXPANSIONS: u32 = 1_000;

/// What a word is worth in a title and in a name, measured against one in the text.
const TITLE_BOOST: f32 = 2.0;
const NAME_BOOST: f32 = 1.5;

/// A query ready to run.
pub(super) struct Prepared {
    /// Holds the tenant's filter.
    pub(super) query: BooleanQuery,
    /// What snippets should mark; a beginning of a word ends in `*`.
    pub(super) words: Vec<String>,
}

/// The filter every query starts from.
pub(super) fn tenant_term(fields: &Fields, tenant: TenantId) -> Term {
    Term::from_field_bytes(fields.tenant, tenant.as_bytes())
}

pub(super) fn prepare(fields: &Fields, analyzer: &mut TextAnalyzer, query: &TextQuery) -> Result<Prepared> {
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
    let mut words: Vec<String> = Vec::new();
    // Each group is a list of alternatives; all groups must be met.
    let mut groups: Vec<Vec<(Occur, Box<dyn Query>)>> = Vec::new();
    for clause in &clauses {
        let Some(meaning) = clause_query(fields, analyzer, clause)? else { continue };
        if clause.negated {
            groups.push(vec![(Occur::MustNot, meaning)]);
            continue;
        }
        if clause.scope != Scope::Type {
            note_words(analyzer, clause, &mut words);
        }
        match groups.last_mut() {
            Some(group) if clause.alternative && group[0].0 == Occur::Should => {
                group.push((Occur::Should, meaning));
            }
            _ => groups.push(vec![(Occur::Should, meaning)]),
        }
    }
    if groups.is_empty() {
        return Err(Error::invalid_request("the query holds no word to look for")
            .with_hint("type at least one word; punctuation alone finds nothing"));
    }
    let mut all: Vec<(Occur, Box<dyn Query>)> = vec![must(exactly(tenant_term(fields, query.tenant_id)))];
    for (name, value) in &query.filters {
        let field = match name.as_str() {
            "type" => fields.media_type,
            "name" => fields.exact_name,
            other => {
                return Err(Error::invalid_request(format!("there is no filter `{other}`"))
                    .with_hint("filters are `type` and `name`"));
            }
        };
        all.push(must(exactly(Term::from_field_text(field, value))));
    }
    for mut group in groups {
        match group.pop() {
            Some((Occur::MustNot, meaning)) => all.push((Occur::MustNot, meaning)),
            Some((_, meaning)) if group.is_empty() => all.push(must(meaning)),
            Some(last) => {
                group.push(last);
                all.push(must(Box::new(BooleanQuery::new(group))));
            }
            None => {}
        }
    }
    Ok(Prepared { query: BooleanQuery::new(all), words })
}

fn must(query: Box<dyn Query>) -> (Occur, Box<dyn Query>) {
    (Occur::Must, query)
}

/// A filter: it selects and adds nothing to the score.
fn exactly(term: Term) -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(Box::new(TermQuery::new(term, IndexRecordOption::Basic)), 0.0))
}

/// The clause in every field where it may be met; `None` if it holds no word.
fn clause_query(
    fields: &Fields,
    analyzer: &mut TextAnalyzer,
    clause: &Clause,
) -> Result<Option<Box<dyn Query>>> {
    let terms = words::terms(analyzer, &clause.text);
    let Some(last) = terms.last() else { return Ok(None) };
    // In scripts that are cut into characters, every search is for a beginning already.
    let prefix = clause.prefix && !words::is_unspaced_word(last);
    if prefix && last.chars().count() < MIN_PREFIX_LETTERS {
        return Err(Error::invalid_request(format!(
            "`{last}*` is too short: a beginning of a word needs at least {MIN_PREFIX_LETTERS} letters"
        )));
    }
    let in_field = |field: Field| field_query(field, &terms, prefix);
    Ok(Some(match clause.scope {
        Scope::Name => in_field(fields.name),
        Scope::Title => in_field(fields.title),
        Scope::Type => in_field(fields.kind),
        Scope::Everywhere => Box::new(BooleanQuery::union(vec![
            in_field(fields.text),
            Box::new(BoostQuery::new(in_field(fields.title), TITLE_BOOST)),
            Box::new(BoostQuery::new(in_field(fields.name), NAME_BOOST)),
        ])),
    }))
}

/// One word as a word, several (`foo@bar.com`, `東京`, a phrase) as neighbours.
fn field_query(field: Field, terms: &[String], prefix: bool) -> Box<dyn Query> {
    let mut terms: Vec<Term> = terms.iter().map(|term| Term::from_field_text(field, term)).collect();
    match (terms.len(), prefix) {
        (1, true) => Box::new(FuzzyTermQuery::new_prefix(terms.swap_remove(0), 0, false)),
        (1, false) => Box::new(TermQuery::new(terms.swap_remove(0), IndexRecordOption::WithFreqs)),
        (_, true) => {
            let mut phrase = PhrasePrefixQuery::new(terms);
            phrase.set_max_expansions(MAX_PHRASE_EXPANSIONS);
            // Its own scores would come from the whole index and not from this tenant's part.
            Box::new(ConstScoreQuery::new(Box::new(phrase), 1.0))
        }
        (_, false) => Box::new(PhraseQuery::new(terms)),
    }
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
