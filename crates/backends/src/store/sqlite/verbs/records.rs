//! Records, their schemas and their reviews.

use std::time::Duration;

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::id::TenantId;
use docmill_core::ports::Records;
use docmill_core::record::{KeptRecord, RecordLine, RecordQuery, StoredSchema};
use docmill_core::review::{
    Correction, CorrectionsAnswer, DecidedAnswer, Decision, LockAnswer, Review, ReviewId, ReviewQuery,
    ReviewsAnswer,
};

use super::super::open::SqliteStore;
use super::super::writer::Lane;
use super::super::{records, reviews};

#[async_trait]
impl Records for SqliteStore {
    async fn put_schema(&self, tenant: TenantId, name: &str, text: &str) -> Result<u32> {
        let (name, text) = (name.to_owned(), text.to_owned());
        self.writer.write(Lane::Usual, move |tx| records::put_schema(tx, tenant, &name, &text)).await
    }

    async fn schemas(&self, tenant: TenantId) -> Result<Vec<StoredSchema>> {
        self.readers.read(move |conn| records::schemas(conn, tenant)).await
    }

    async fn schema(
        &self,
        tenant: TenantId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<StoredSchema>> {
        let name = name.to_owned();
        self.readers.read(move |conn| records::schema(conn, tenant, &name, version)).await
    }

    async fn record(&self, tenant: TenantId, id: &str) -> Result<Option<KeptRecord>> {
        let id = id.to_owned();
        self.readers.read(move |conn| records::record(conn, tenant, &id)).await
    }

    async fn records(&self, tenant: TenantId, query: &RecordQuery) -> Result<Vec<RecordLine>> {
        let query = query.clone();
        self.readers.read(move |conn| records::records(conn, tenant, &query)).await
    }

    async fn reviews(&self, tenant: TenantId, query: &ReviewQuery) -> Result<ReviewsAnswer> {
        let (query, now) = (query.clone(), self.clock.now());
        self.readers.read(move |conn| reviews::reviews(conn, tenant, &query, now)).await
    }

    async fn review(&self, tenant: TenantId, id: ReviewId) -> Result<Option<Review>> {
        let now = self.clock.now();
        self.readers.read(move |conn| reviews::review(conn, tenant, id, now)).await
    }

    async fn lock_review(
        &self,
        tenant: TenantId,
        id: ReviewId,
        who: &str,
        hold: Duration,
    ) -> Result<LockAnswer> {
        let who = who.to_owned();
        self.writer.write(Lane::Usual, move |tx| reviews::lock(tx, tenant, id, &who, Some(hold))).await
    }

    async fn unlock_review(&self, tenant: TenantId, id: ReviewId, who: &str) -> Result<LockAnswer> {
        let who = who.to_owned();
        self.writer.write(Lane::Usual, move |tx| reviews::lock(tx, tenant, id, &who, None)).await
    }

    async fn decide_review(&self, tenant: TenantId, decision: Decision) -> Result<DecidedAnswer> {
        self.writer.write(Lane::Usual, move |tx| reviews::decide(tx, tenant, &decision)).await
    }

    async fn corrections(
        &self,
        tenant: TenantId,
        schema: &str,
        senders: &[String],
        limit: usize,
    ) -> Result<Vec<Correction>> {
        let (schema, senders) = (schema.to_owned(), senders.to_vec());
        self.readers.read(move |conn| reviews::corrections(conn, tenant, &schema, &senders, limit)).await
    }

    async fn corrections_made(
        &self,
        tenant: TenantId,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<CorrectionsAnswer> {
        let cursor = cursor.map(str::to_owned);
        self.readers.read(move |conn| reviews::corrections_made(conn, tenant, cursor.as_deref(), limit)).await
    }
}
