//! From what a query means to what Tantivy looks for.

use std::ops::Bound;

use docmill_core::id::TenantId;
use docmill_core::ports::filter::Day;
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, FuzzyTermQuery, Occur, PhrasePrefixQuery, PhraseQuery, Query,
    RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term};

use super::layout::Fields;
use crate::search::meaning::{Meaning, NAME_BOOST, NEAR_BOOST, Wanted};
use crate::search::syntax::Scope;

/// How many words a beginning may stand for inside a phrase.
const MAX_PHRASE_EXPANSIONS: u32 = 1_000;

/// The filter every query starts from.
pub(super) fn tenant_term(fields: &Fields, tenant: TenantId) -> Term {
    Term::from_field_bytes(fields.tenant, tenant.as_bytes())
}

/// The query, with the tenant's filter in it.
pub(super) fn of(
    fields: &Fields,
    searcher: &Searcher,
    tenant: TenantId,
    meaning: &Meaning<'_>,
) -> tantivy::Result<BooleanQuery> {
    let mut all: Vec<(Occur, Box<dyn Query>)> = vec![must(exactly(tenant_term(fields, tenant)))];
    let filter = &meaning.filter;
    let filters = [
        (fields.media_type, &filter.media_types),
        (fields.exact_name, &filter.names),
        (fields.document_type, &filter.kinds),
        (fields.language, &filter.languages),
        (fields.tag, &filter.tags),
    ];
    for (field, values) in filters {
        all.extend(values.iter().map(|value| must(exactly(Term::from_field_text(field, value)))));
    }
    if filter.from.is_some() || filter.to.is_some() {
        let bound = |day: Option<Day>| {
            day.map_or(Bound::Unbounded, |day| {
                Bound::Included(Term::from_field_u64(fields.date, u64::from(day.0)))
            })
        };
        let range = RangeQuery::new(bound(filter.from), bound(filter.to));
        all.push(must(Box::new(ConstScoreQuery::new(Box::new(range), 0.0))));
    }
    for group in &meaning.groups {
        let mut alternatives = Vec::with_capacity(group.len());
        for wanted in group {
            alternatives.push(wanted_query(fields, searcher, meaning, wanted)?);
        }
        all.push(must(match alternatives.pop() {
            Some(only) if alternatives.is_empty() => only,
            last => {
                alternatives.extend(last);
                Box::new(BooleanQuery::union(alternatives))
            }
        }));
    }
    for wanted in &meaning.without {
        all.push((Occur::MustNot, wanted_query(fields, searcher, meaning, wanted)?));
    }
    Ok(BooleanQuery::new(all))
}

fn must(query: Box<dyn Query>) -> (Occur, Box<dyn Query>) {
    (Occur::Must, query)
}

/// A filter: it selects and adds nothing to the score.
fn exactly(term: Term) -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(Box::new(TermQuery::new(term, IndexRecordOption::Basic)), 0.0))
}

/// A thing to look for, in every field where it may be met.
fn wanted_query(
    fields: &Fields,
    searcher: &Searcher,
    meaning: &Meaning<'_>,
    wanted: &Wanted,
) -> tantivy::Result<Box<dyn Query>> {
    let in_field = |field: Field| field_query(field, &wanted.terms, wanted.prefix);
    match wanted.scope {
        Scope::Name => return Ok(in_field(fields.name)),
        Scope::Title => return Ok(in_field(fields.title)),
        Scope::Type => return Ok(in_field(fields.kind)),
        Scope::Tag => return Ok(in_field(fields.tag_words)),
        Scope::Everywhere => {}
    }
    let mut all = everywhere(fields, meaning, &wanted.terms, wanted.prefix);
    for stem in &wanted.stems {
        let term = Term::from_field_text(fields.stems[stem.language], &stem.stem);
        // Most languages do not have the word; asking a dictionary is cheaper than a part of a query.
        if searcher.doc_freq(&term)? > 0 {
            let query = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            all.push(Box::new(BoostQuery::new(query, meaning.stem_boost)));
        }
    }
    for word in &wanted.near {
        let near = everywhere(fields, meaning, std::slice::from_ref(word), false);
        all.push(Box::new(BoostQuery::new(Box::new(BooleanQuery::union(near)), NEAR_BOOST)));
    }
    Ok(Box::new(BooleanQuery::union(all)))
}

/// In text, title and name.
fn everywhere(fields: &Fields, meaning: &Meaning<'_>, terms: &[String], prefix: bool) -> Vec<Box<dyn Query>> {
    let in_field = |field: Field| field_query(field, terms, prefix);
    vec![
        in_field(fields.text),
        Box::new(BoostQuery::new(in_field(fields.title), meaning.title_boost)),
        Box::new(BoostQuery::new(in_field(fields.name), NAME_BOOST)),
    ]
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
