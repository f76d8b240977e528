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
use super::super::open::SqliteStore;
use super::super::writer::Lane;

#[async_trait]
impl Catalogue for SqliteStore {
    async fn catalogued(&self) -> Result<i64> {
        self.readers.read(catalogue::catalogued).await
    }

    async fn uncatalogued(&self, after: i64, limit: usize) -> Result<Vec<Uncatalogued>> {
        self.readers.read(move |conn| catalogue::uncatalogued(conn, after, limit)).await
    }

    async fn catalogue(&self, entries: Vec<Entry>, from: i64, upto: i64) -> Result<bool> {
        self.writer.write(Lane::Usual, move |tx| catalogue::catalogue(tx, &entries, from, upto)).await
    }

    async fn tags(&self, tenant: TenantId, query: &TagQuery) -> Result<TagsAnswer> {
        let query = query.clone();
        self.readers.read(move |conn| catalogue::tags(conn, tenant, &query)).await
    }

    async fn tag_names(&self, tenant: TenantId, keys: &[String]) -> Result<Vec<Option<String>>> {
        let keys = keys.to_vec();
        self.readers.read(move |conn| catalogue::tag_names(conn, tenant, &keys)).await
    }

    async fn merge_tags(&self, tenant: TenantId, from: &str, into: &str) -> Result<Option<MergeAnswer>> {
        let (from, into) = (from.to_owned(), into.to_owned());
        self.writer.write(Lane::Usual, move |tx| catalogue::merge(tx, tenant, &from, &into)).await
    }

    async fn unembedded_tags(&self, model: &str, limit: usize) -> Result<Vec<TagName>> {
        let model = model.to_owned();
        self.readers.read(move |conn| catalogue::unembedded(conn, &model, limit)).await
    }

    async fn embed_tags(&self, model: &str, tags: Vec<(TagName, Vec<f32>)>) -> Result<()> {
        let model = model.to_owned();
        self.writer.write(Lane::Usual, move |tx| catalogue::embed(tx, &model, &tags)).await
    }

    async fn compared_tags(&self, tenant: TenantId, model: &str) -> Result<Vec<ComparedTag>> {
        let model = model.to_owned();
        self.readers.read(move |conn| catalogue::compared(conn, tenant, &model)).await
    }

    async fn near(&self, tenant: TenantId, document: DocumentId) -> Result<Vec<NearLine>> {
        self.readers.read(move |conn| catalogue::near(conn, tenant, document)).await
    }

    async fn judge(&self, judged: Vec<(TenantId, DocumentId, Option<Judgement>)>) -> Result<()> {
        self.writer.write(Lane::Usual, move |tx| catalogue::judge(tx, &judged)).await
    }

    async fn judgement(&self, tenant: TenantId, document: DocumentId) -> Result<Option<Judgement>> {
        self.readers.read(move |conn| catalogue::judgement(conn, tenant, document)).await
    }
}
