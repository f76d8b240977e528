//! From what a query means to what Tantivy looks for.

use docmill_core::id::TenantId;
use tantivy::Term;
use tantivy::query::{
    BooleanQuery, BoostQuery, ConstScoreQuery, FuzzyTermQuery, Occur, PhrasePrefixQuery, PhraseQuery, Query,
    TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::layout::Fields;
use crate::search::meaning::{Meaning, NAME_BOOST, Wanted};
use crate::search::syntax::Scope;

/// How many words a beginning may stand for inside a phrase.
const MAX_PHRASE_EXPANSIONS: u32 = 1_000;

/// The filter every query starts from.
pub(super) fn tenant_term(fields: &Fields, tenant: TenantId) -> Term {
    Term::from_field_bytes(fields.tenant, tenant.as_bytes())
}

/// The query, with the tenant's filter in it.
pub(super) fn of(fields: &Fields, tenant: TenantId, meaning: &Meaning<'_>) -> BooleanQuery {
    let mut all: Vec<(Occur, Box<dyn Query>)> = vec![must(exactly(tenant_term(fields, tenant)))];
    let filters = [(fields.media_type, &meaning.media_types), (fields.exact_name, &meaning.names)];
    for (field, values) in filters {
        all.extend(values.iter().map(|value| must(exactly(Term::from_field_text(field, value)))));
    }
    for group in &meaning.groups {
        let mut alternatives: Vec<_> =
            group.iter().map(|wanted| wanted_query(fields, meaning, wanted)).collect();
        all.push(must(match alternatives.pop() {
            Some(only) if alternatives.is_empty() => only,
            last => {
                alternatives.extend(last);
                Box::new(BooleanQuery::union(alternatives))
            }
        }));
    }
    all.extend(meaning.without.iter().map(|wanted| (Occur::MustNot, wanted_query(fields, meaning, wanted))));
    BooleanQuery::new(all)
}

fn must(query: Box<dyn Query>) -> (Occur, Box<dyn Query>) {
    (Occur::Must, query)
}

/// A filter: it selects and adds nothing to the score.
fn exactly(term: Term) -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(Box::new(TermQuery::new(term, IndexRecordOption::Basic)), 0.0))
}

/// A thing to look for, in every field where it may be met.
fn wanted_query(fields: &Fields, meaning: &Meaning<'_>, wanted: &Wanted) -> Box<dyn Query> {
    let in_field = |field: Field| field_query(field, &wanted.terms, wanted.prefix);
    match wanted.scope {
        Scope::Name => in_field(fields.name),
        Scope::Title => in_field(fields.title),
        Scope::Type => in_field(fields.kind),
        Scope::Everywhere => Box::new(BooleanQuery::union(vec![
            in_field(fields.text),
            Box::new(BoostQuery::new(in_field(fields.title), meaning.title_boost)),
            Box::new(BoostQuery::new(in_field(fields.name), NAME_BOOST)),
        ])),
    }
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
