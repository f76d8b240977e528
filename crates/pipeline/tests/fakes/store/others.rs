//! The ports beside the work protocol, of which the scenarios use what meanings are written to, and no more.

use std::time::Duration;

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::access::{AuditLogAnswer, Holder, KeyCounts, KeyLine, NewAudit, NewKey, TenantLine};
use docmill_core::id::{ContentHash, DocumentId, KeyId, TenantId};
use docmill_core::ports::catalogue::{ComparedTag, Entry, TagName, TagQuery, Uncatalogued};
use docmill_core::ports::{Access, Catalogue, Records, Store as _};
use docmill_core::record::{KeptRecord, RecordLine, RecordQuery, StoredSchema};
use docmill_core::review::{
    Correction, CorrectionsAnswer, DecidedAnswer, Decision, LockAnswer, Review, ReviewId, ReviewQuery,
    ReviewsAnswer,
};
use docmill_core::sketch::NearLine;
use docmill_core::tag::{MergeAnswer, TagsAnswer};
use docmill_core::understanding::Judgement;

use super::{FakeStore, absent};

#[async_trait]
impl Access for FakeStore {
    async fn tenants(&self) -> Result<Vec<TenantLine>> {
        absent()
    }
    async fn find_tenant(&self, _name: &str) -> Result<Option<TenantId>> {
        absent()
    }
    async fn add_key(&self, _key: NewKey, _audit: NewAudit) -> Result<KeyLine> {
        absent()
    }
    async fn keys(&self, _tenant: TenantId) -> Result<Vec<KeyLine>> {
        absent()
    }
    async fn revoke_key(&self, _tenant: TenantId, _key: KeyId, _audit: NewAudit) -> Result<bool> {
        absent()
    }
    async fn find_key(&self, _hash: &ContentHash) -> Result<Option<Holder>> {
        absent()
    }
    async fn key(&self, _id: KeyId) -> Result<Option<(Holder, ContentHash)>> {
        absent()
    }
    async fn count_keys(&self) -> Result<KeyCounts> {
        absent()
    }
    async fn audit(&self, _tenant: TenantId, _entry: NewAudit) -> Result<()> {
        // What is written here is nobody's concern in these tests, but a call without it is not done.
        Ok(())
    }
    async fn audit_log(&self, _tenant: TenantId, _after: i64, _limit: usize) -> Result<AuditLogAnswer> {
        absent()
    }
}

/// Holds everything at once, so that nobody waits for its follower.
#[async_trait]
impl Catalogue for FakeStore {
    async fn catalogued(&self) -> Result<i64> {
        self.last_change().await
    }
    async fn uncatalogued(&self, _after: i64, _limit: usize) -> Result<Vec<Uncatalogued>> {
        Ok(Vec::new())
    }
    async fn catalogue(&self, _entries: Vec<Entry>, _from: i64, _upto: i64) -> Result<bool> {
        absent()
    }
    async fn tags(&self, _tenant: TenantId, _query: &TagQuery) -> Result<TagsAnswer> {
        absent()
    }
    async fn tag_names(&self, _tenant: TenantId, _keys: &[String]) -> Result<Vec<Option<String>>> {
        absent()
    }
    async fn merge_tags(&self, _tenant: TenantId, _from: &str, _into: &str) -> Result<Option<MergeAnswer>> {
        absent()
    }
    async fn unembedded_tags(&self, _model: &str, _limit: usize) -> Result<Vec<TagName>> {
        Ok(Vec::new())
    }
    async fn embed_tags(&self, _model: &str, _tags: Vec<(TagName, Vec<f32>)>) -> Result<()> {
        absent()
    }
    async fn compared_tags(&self, _tenant: TenantId, _model: &str) -> Result<Vec<ComparedTag>> {
        absent()
    }
    async fn near(&self, _tenant: TenantId, _document: DocumentId) -> Result<Vec<NearLine>> {
        absent()
    }
    async fn judge(&self, judged: Vec<(TenantId, DocumentId, Option<Judgement>)>) -> Result<()> {
        self.state
            .lock()
            .unwrap()
            .judged
            .extend(judged.into_iter().map(|(_, document, said)| (document, said)));
        Ok(())
    }
    async fn judgement(&self, _tenant: TenantId, document: DocumentId) -> Result<Option<Judgement>> {
        Ok(self.state.lock().unwrap().judged.get(&document).cloned().flatten())
    }
}

#[async_trait]
impl Records for FakeStore {
    async fn put_schema(&self, _tenant: TenantId, _name: &str, _text: &str) -> Result<u32> {
        absent()
    }
    async fn schemas(&self, _tenant: TenantId) -> Result<Vec<StoredSchema>> {
        absent()
    }
    async fn schema(
        &self,
        _tenant: TenantId,
        _name: &str,
        _version: Option<u32>,
    ) -> Result<Option<StoredSchema>> {
        Ok(None)
    }
    async fn record(&self, _tenant: TenantId, _id: &str) -> Result<Option<KeptRecord>> {
        absent()
    }
    async fn records(&self, _tenant: TenantId, _query: &RecordQuery) -> Result<Vec<RecordLine>> {
        absent()
    }
    async fn reviews(&self, _tenant: TenantId, _query: &ReviewQuery) -> Result<ReviewsAnswer> {
        absent()
    }
    async fn review(&self, _tenant: TenantId, _id: ReviewId) -> Result<Option<Review>> {
        absent()
    }
    async fn lock_review(
        &self,
        _tenant: TenantId,
        _id: ReviewId,
        _who: &str,
        _hold: Duration,
    ) -> Result<LockAnswer> {
        absent()
    }
    async fn unlock_review(&self, _tenant: TenantId, _id: ReviewId, _who: &str) -> Result<LockAnswer> {
        absent()
    }
    async fn decide_review(&self, _tenant: TenantId, _decision: Decision) -> Result<DecidedAnswer> {
        absent()
    }
    async fn corrections(
        &self,
        _tenant: TenantId,
        _schema: &str,
        _senders: &[String],
        _limit: usize,
    ) -> Result<Vec<Correction>> {
        Ok(Vec::new())
    }
    async fn corrections_made(
        &self,
        _tenant: TenantId,
        _cursor: Option<&str>,
        _limit: usize,
    ) -> Result<CorrectionsAnswer> {
        absent()
    }
}
