//! Search by meaning: passages of documents as vectors. Derived, as the text index is: it can be thrown away and built
//! again, which costs the work of a model.

use async_trait::async_trait;

use super::filter::Particulars;
use crate::error::Result;
use crate::id::{DocumentId, TenantId};

/// A piece of a document and what it means.
#[derive(Clone, PartialEq, Debug)]
pub struct Passage {
    /// The page.
    pub page: u32,
    /// Where it begins in the text of the page, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// Of length 1, with [`DIMENSIONS`](super::embedder::DIMENSIONS) numbers.
    pub vector: Vec<f32>,
}

/// One document as the index sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct EmbeddedDocument {
    /// Whose it is.
    pub tenant_id: TenantId,
    /// Which it is.
    pub document_id: DocumentId,
    /// The file name.
    pub name: String,
    /// What it is.
    pub media_type: Option<String>,
    /// What was found out about it.
    pub particulars: Particulars,
    /// What its passages were made from.
    pub source: String,
    /// Its passages, which replace older ones; `None` keeps those that are there, because they come from this source.
    pub passages: Option<Vec<Passage>>,
}

/// One change to follow.
#[derive(Clone, PartialEq, Debug)]
pub enum VectorChange {
    /// Add or replace.
    Put(EmbeddedDocument),
    /// Take out.
    Remove(TenantId, DocumentId),
}

/// A question.
#[derive(Clone, PartialEq, Debug)]
pub struct VectorQuery {
    /// Only this tenant's documents are seen.
    pub tenant_id: TenantId,
    /// What is meant.
    pub vector: Vec<f32>,
    /// At most so many documents.
    pub limit: usize,
    /// What to insist on, as [`Filter`](super::filter::Filter) reads it.
    pub filters: Vec<(String, String)>,
}

/// A document that has something near to say, by its nearest passage.
#[derive(Clone, PartialEq, Debug)]
pub struct VectorHit {
    /// Which document.
    pub document_id: DocumentId,
    /// The cosine of the two meanings: 1 is the same, 0 has nothing to do with it.
    pub score: f32,
    /// The page of the passage.
    pub page: u32,
    /// Where it begins in the text of the page, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

/// An index of meanings that follows a change log. Vectors of one model only: those of two cannot be compared.
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// The sequence up to which the index holds everything that `model` said, durably; zero if it holds what another said.
    async fn watermark(&self, model: &str) -> Result<i64>;

    /// Asks for the turn to bring the index up to date, as [`TextIndex::turn`](super::TextIndex::turn) does.
    async fn turn(&self, model: &str) -> Result<Option<i64>> {
        self.watermark(model).await.map(Some)
    }

    /// What the passages of these documents were made from, where there are any of this model.
    async fn sources(
        &self,
        model: &str,
        tenant: TenantId,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<String>>>;

    /// Applies `changes`, which are all between `from` and `upto`, and moves the watermark, in one durable step. Vectors
    /// of another model go. Answers `false` and does nothing if the watermark is not, or no longer, at `from`.
    async fn apply(&self, model: &str, changes: Vec<VectorChange>, from: i64, upto: i64) -> Result<bool>;

    /// The nearest documents, best first, on the last applied state.
    async fn nearest(&self, query: VectorQuery) -> Result<Vec<VectorHit>>;

    /// What the passages of a document mean, in their order; none if it is not known.
    async fn vectors(&self, tenant: TenantId, document: DocumentId) -> Result<Vec<Vec<f32>>>;

    /// How many passages of a tenant are in the index.
    async fn count(&self, tenant: TenantId) -> Result<u64>;

    /// Sets the watermark to zero and forgets what passages were made from, but not the passages: every document is
    /// embedded again, and found by what it had until then.
    async fn rewind(&self) -> Result<()>;
}
