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

use super::super::open::PostgresStore;
use super::super::readers::{look, of_tenant};
use super::super::tx::transact;
use super::super::{records, reviews};

#[async_trait]
impl Records for PostgresStore {
    async fn put_schema(&self, tenant: TenantId, name: &str, text: &str) -> Result<u32> {
        transact!(&self.db, |tx| records::put_schema(&mut tx, tenant, name, text).await)
            .map(|d| self.after(d))
    }

    async fn schemas(&self, tenant: TenantId) -> Result<Vec<StoredSchema>> {
        look!(of_tenant(&self.db, tenant), |conn| records::schemas(conn, tenant).await)
    }

    async fn schema(
        &self,
        tenant: TenantId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<StoredSchema>> {
        look!(of_tenant(&self.db, tenant), |conn| records::schema(conn, tenant, name, version).await)
    }

    async fn record(&self, tenant: TenantId, id: &str) -> Result<Option<KeptRecord>> {
        look!(of_tenant(&self.db, tenant), |conn| records::record(conn, tenant, id).await)
    }

    async fn records(&self, tenant: TenantId, query: &RecordQuery) -> Result<Vec<RecordLine>> {
        look!(of_tenant(&self.db, tenant), |conn| records::records(conn, tenant, query).await)
    }

    async fn reviews(&self, tenant: TenantId, query: &ReviewQuery) -> Result<ReviewsAnswer> {
        look!(of_tenant(&self.db, tenant), |conn| match self.db.time.now(conn).await {
            Ok(now) => reviews::reviews(conn, tenant, query, now).await,
            Err(error) => Err(error),
        })
    }

    async fn review(&self, tenant: TenantId, id: ReviewId) -> Result<Option<Review>> {
        look!(of_tenant(&self.db, tenant), |conn| match self.db.time.now(conn).await {
            Ok(now) => reviews::review(conn, tenant, id, now).await,
            Err(error) => Err(error),
        })
    }

    async fn lock_review(
        &self,
        tenant: TenantId,
        id: ReviewId,
        who: &str,
        hold: Duration,
    ) -> Result<LockAnswer> {
        transact!(&self.db, |tx| reviews::lock(&mut tx, tenant, id, who, Some(hold)).await)
            .map(|d| self.after(d))
    }

    async fn unlock_review(&self, tenant: TenantId, id: ReviewId, who: &str) -> Result<LockAnswer> {
        transact!(&self.db, |tx| reviews::lock(&mut tx, tenant, id, who, None).await).map(|d| self.after(d))
    }

    async fn decide_review(&self, tenant: TenantId, decision: Decision) -> Result<DecidedAnswer> {
        transact!(&self.db, |tx| reviews::decide(&mut tx, tenant, &decision).await).map(|d| self.after(d))
    }

    async fn corrections(
        &self,
        tenant: TenantId,
        schema: &str,
        senders: &[String],
        limit: usize,
    ) -> Result<Vec<Correction>> {
        look!(of_tenant(&self.db, tenant), |conn| {
            reviews::corrections(conn, tenant, schema, senders, limit).await
        })
    }

    async fn corrections_made(
        &self,
        tenant: TenantId,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<CorrectionsAnswer> {
        look!(of_tenant(&self.db, tenant), |conn| reviews::corrections_made(conn, tenant, cursor, limit)
            .await)
    }
}
