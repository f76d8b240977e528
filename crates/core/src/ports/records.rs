//! Schemas, records and reviews. Part of the store: a record becomes current with the commit that ends its ingestion.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::Result;
use crate::id::TenantId;
use crate::record::{KeptRecord, RecordLine, RecordQuery, StoredSchema};
use crate::review::{
    Correction, CorrectionsAnswer, DecidedAnswer, Decision, LockAnswer, Review, ReviewId, ReviewQuery,
    ReviewsAnswer,
};

/// What was extracted, and what people say of it.
#[async_trait]
pub trait Records: Send + Sync {
    /// Keeps a schema and answers its version: the one it has already if its newest text is the same, otherwise a new one.
    async fn put_schema(&self, tenant: TenantId, name: &str, text: &str) -> Result<u32>;
    /// The newest version of every schema of a tenant, by name.
    async fn schemas(&self, tenant: TenantId) -> Result<Vec<StoredSchema>>;
    /// A schema, the newest version of it if none is named.
    async fn schema(
        &self,
        tenant: TenantId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<StoredSchema>>;

    /// The record that holds for a document, by the id of it or of one of its ingestions.
    async fn record(&self, tenant: TenantId, id: &str) -> Result<Option<KeptRecord>>;
    /// Records that hold, in the order of their documents.
    async fn records(&self, tenant: TenantId, query: &RecordQuery) -> Result<Vec<RecordLine>>;

    /// The queue, or what was decided; the least sure first.
    async fn reviews(&self, tenant: TenantId, query: &ReviewQuery) -> Result<ReviewsAnswer>;
    /// One of them with its record and its history.
    async fn review(&self, tenant: TenantId, id: ReviewId) -> Result<Option<Review>>;
    /// Has somebody look at it alone for a while, or for longer. `conflict` if another does, or if it is decided.
    async fn lock_review(
        &self,
        tenant: TenantId,
        id: ReviewId,
        who: &str,
        hold: Duration,
    ) -> Result<LockAnswer>;
    /// Lets others look. `conflict` if another has it.
    async fn unlock_review(&self, tenant: TenantId, id: ReviewId, who: &str) -> Result<LockAnswer>;
    /// Takes a decision down, for ever, with the record and the flag of its document. `conflict` if another looks at it,
    /// or if it is decided.
    async fn decide_review(&self, tenant: TenantId, decision: Decision) -> Result<DecidedAnswer>;

    /// What was last corrected in records by this schema for senders with one of these marks: at most so many decisions,
    /// newest first. Of each mark the newest are among them, however many another mark has.
    async fn corrections(
        &self,
        tenant: TenantId,
        schema: &str,
        senders: &[String],
        limit: usize,
    ) -> Result<Vec<Correction>>;
    /// Every correction, oldest first, page by page.
    async fn corrections_made(
        &self,
        tenant: TenantId,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<CorrectionsAnswer>;
}
