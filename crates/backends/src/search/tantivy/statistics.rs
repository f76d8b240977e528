//! How rare a word is, counted among one tenant's documents.
//!
//! Tantivy would count over the whole index. A score would then tell a tenant how often a word stands in
//! the documents of others, and would change whenever old versions of a document are merged away.

use tantivy::collector::Count;
use tantivy::query::{Bm25StatisticsProvider, BooleanQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term};

use crate::search::meaning::AVERAGE_WORDS;

/// The statistics of one tenant.
pub(super) struct TenantStatistics<'a> {
    searcher: &'a Searcher,
    tenant: TermQuery,
    documents: u64,
}

impl<'a> TenantStatistics<'a> {
    pub(super) fn new(searcher: &'a Searcher, tenant: Term) -> tantivy::Result<Self> {
        let tenant = TermQuery::new(tenant, IndexRecordOption::Basic);
        let documents = searcher.search(&tenant, &Count)? as u64;
        Ok(Self { searcher, tenant, documents })
    }

    /// Whether a document of the tenant has this.
    pub(super) fn has(&self, term: &Term) -> tantivy::Result<bool> {
        // Most words that are asked for so are in no document at all, which costs a look into the dictionaries.
        Ok(self.searcher.doc_freq(term)? > 0 && self.doc_freq(term)? > 0)
    }

    /// How many documents the tenant has.
    pub(super) fn documents(&self) -> u64 {
        self.documents
    }
}

impl Bm25StatisticsProvider for TenantStatistics<'_> {
    fn total_num_tokens(&self, _field: Field) -> tantivy::Result<u64> {
        Ok(self.documents * AVERAGE_WORDS)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let both: Vec<Box<dyn Query>> = vec![
            Box::new(self.tenant.clone()),
            Box::new(TermQuery::new(term.clone(), IndexRecordOption::Basic)),
        ];
        Ok(self.searcher.search(&BooleanQuery::intersection(both), &Count)? as u64)
    }
}
