//! Full-text search. The index is derived: it can be thrown away and built again from the store.

use async_trait::async_trait;

use super::filter::{Facets, Particulars};
use crate::error::Result;
use crate::id::{DocumentId, TenantId};

/// One document as the index sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexedDocument {
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Which it is; an older version of it in the index is replaced.
    pub document_id: DocumentId,
    /// The file name.
    pub name: String,
    /// The title, if it has one.
    pub title: Option<String>,
    /// What it is.
    pub media_type: Option<String>,
    /// What was found out about it. Its language says how its words are stemmed.
    pub particulars: Particulars,
    /// All its text.
    pub text: String,
}

/// One change to follow.
#[derive(Clone, PartialEq, Debug)]
pub enum IndexChange {
    /// Add or replace.
    Put(IndexedDocument),
    /// Take out.
    Remove(TenantId, DocumentId),
}

/// A text query.
#[derive(Clone, PartialEq, Debug)]
pub struct TextQuery {
    /// Only this tenant's documents are seen.
    pub tenant_id: TenantId,
    /// As the user typed it: words, "phrases", beginn*, roughl~, field:word (name, title, type, tag), -without.
    pub query: String,
    /// At most so many hits.
    pub limit: usize,
    /// What to insist on beside, as [`Filter`](super::filter::Filter) reads it.
    pub filters: Vec<(String, String)>,
    /// Whether documents with some of the words are hits as well, rather than only those with all of them.
    pub any: bool,
    /// Whether a word that no document has is looked for by words that are spelled nearly so.
    pub forgiving: bool,
    /// Whether all documents that meet the query are counted, as [`TextHits::total`] and [`TextHits::facets`]. Whoever wants
    /// the best ones alone gets them sooner without.
    pub counted: bool,
}

/// One hit. Page and snippet are made by the caller from the transcript.
#[derive(Clone, PartialEq, Debug)]
pub struct TextHit {
    /// Which document.
    pub document_id: DocumentId,
    /// How well it answers, by BM25 or something close to it; never infinite, never less than zero.
    pub score: f32,
}

/// What a query found, best first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TextHits {
    /// The hits.
    pub hits: Vec<TextHit>,
    /// How many documents meet the query, of which the hits are the best.
    pub total: u64,
    /// How many of all these are what.
    pub facets: Facets,
    /// The plain words of the query, for snippets, folded as the index folds them. One that ends in `*` is a beginning;
    /// one that ends in `~` stands for its other forms too.
    pub words: Vec<String>,
    /// Words that no document has, each with those that were looked for instead.
    pub instead: Vec<(String, Vec<String>)>,
}

/// A full-text index that follows a change log. Several processes may share one.
#[async_trait]
pub trait TextIndex: Send + Sync {
    /// The sequence up to which the index holds everything, durably.
    async fn watermark(&self) -> Result<i64>;

    /// Asks for the turn to bring the index up to date: the watermark, or nothing while another process is at it.
    /// A turn ends with its `apply`, or after some seconds. It only saves several processes from doing the same
    /// work; what keeps the index right is `from`.
    async fn turn(&self) -> Result<Option<i64>> {
        self.watermark().await.map(Some)
    }

    /// Applies `changes`, which are all between `from` and `upto`, and moves the watermark from the one to the other
    /// in one durable step: after a crash either all of it is there or nothing. Answers `false` and does nothing if
    /// the watermark is not, or no longer, at `from`: somebody was faster, and what was read for this call may be
    /// older than what the index holds.
    async fn apply(&self, changes: Vec<IndexChange>, from: i64, upto: i64) -> Result<bool>;

    /// Answers a query on the last applied state. A query that cannot be understood is `invalid_request`.
    async fn query(&self, query: TextQuery) -> Result<TextHits>;

    /// How many of these documents are what; those that the index does not hold do not count.
    async fn facets(&self, tenant: TenantId, documents: &[DocumentId]) -> Result<Facets>;

    /// How many documents of a tenant are in the index.
    async fn count(&self, tenant: TenantId) -> Result<u64>;

    /// Sets the watermark to zero and keeps what there is: every change is applied again, each document in the place of
    /// what the index had of it, and search goes on meanwhile.
    async fn rewind(&self) -> Result<()>;

    /// Empties the index and sets the watermark to zero.
    async fn clear(&self) -> Result<()>;

    /// Folds one word as the index does (case, diacritics), so that snippets mark what was found.
    fn fold(&self, word: &str) -> String;

    /// Whether two folded words are forms of one, in a language that the index knows.
    fn alike(&self, word: &str, other: &str) -> bool;
}
