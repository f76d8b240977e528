//! Tags, near duplicates and what meanings say.

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::Catalogue;
use docmill_core::ports::catalogue::{ComparedTag, Entry, TagName, TagQuery, Uncatalogued};
use docmill_core::sketch::NearLine;
use docmill_core::tag::{MergeAnswer, TagsAnswer};
use docmill_core::understanding::Judgement;

use super::super::catalogue;
use super::super::open::PostgresStore;
use super::super::readers::{look, of_engine, of_tenant};
use super::super::tx::transact;

#[async_trait]
impl Catalogue for PostgresStore {
    async fn catalogued(&self) -> Result<i64> {
        look!(of_engine(&self.db), |conn| catalogue::catalogued(conn).await)
    }

    async fn uncatalogued(&self, after: i64, limit: usize) -> Result<Vec<Uncatalogued>> {
        self.fold().await?;
        look!(of_engine(&self.db), |conn| catalogue::uncatalogued(conn, after, limit).await)
    }

    async fn catalogue(&self, entries: Vec<Entry>, from: i64, upto: i64) -> Result<bool> {
        transact!(&self.db, |tx| catalogue::catalogue(&mut tx, &entries, from, upto).await)
            .map(|d| self.after(d))
    }

    async fn tags(&self, tenant: TenantId, query: &TagQuery) -> Result<TagsAnswer> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::tags(conn, tenant, query).await)
    }

    async fn tag_names(&self, tenant: TenantId, keys: &[String]) -> Result<Vec<Option<String>>> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::tag_names(conn, tenant, keys).await)
    }

    async fn merge_tags(&self, tenant: TenantId, from: &str, into: &str) -> Result<Option<MergeAnswer>> {
        transact!(&self.db, |tx| catalogue::merge(&mut tx, tenant, from, into).await).map(|d| self.after(d))
    }

    async fn unembedded_tags(&self, model: &str, limit: usize) -> Result<Vec<TagName>> {
        look!(of_engine(&self.db), |conn| catalogue::unembedded(conn, model, limit).await)
    }

    async fn embed_tags(&self, model: &str, tags: Vec<(TagName, Vec<f32>)>) -> Result<()> {
        transact!(&self.db, |tx| catalogue::embed(&mut tx, model, &tags).await).map(|d| self.after(d))
    }

    async fn compared_tags(&self, tenant: TenantId, model: &str) -> Result<Vec<ComparedTag>> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::compared(conn, tenant, model).await)
    }

    async fn near(&self, tenant: TenantId, document: DocumentId) -> Result<Vec<NearLine>> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::near(conn, tenant, document).await)
    }

    async fn judge(&self, judged: Vec<(TenantId, DocumentId, Option<Judgement>)>) -> Result<()> {
        transact!(&self.db, |tx| catalogue::judge(&mut tx, &judged).await).map(|d| self.after(d))
    }

    async fn judgement(&self, tenant: TenantId, document: DocumentId) -> Result<Option<Judgement>> {
        look!(of_tenant(&self.db, tenant), |conn| catalogue::judgement(conn, tenant, document).await)
    }
}
