//! The catalogue: what is known of a tenant's documents taken together. Part of the store, filled by followers of the
//! change log: no document waits for it, and it can be made again from what documents hold.

use async_trait::async_trait;

use crate::error::Result;
use crate::id::{BlobKey, DocumentId, TenantId};
use crate::sketch::{NearLine, Sketch};
use crate::tag::{MergeAnswer, TagLine, TagsAnswer};
use crate::understanding::Judgement;

/// Tags of a tenant that are compared with each other: the most frequent ones.
pub const COMPARED_TAGS: usize = 2_000;

/// Near duplicates that are told.
pub const MAX_NEAR: usize = 20;

/// A document as the catalogue's follower finds it.
#[derive(Clone, PartialEq, Debug)]
pub struct Uncatalogued {
    /// Its place in the change log.
    pub seq: i64,
    /// Whose.
    pub tenant_id: TenantId,
    /// Which.
    pub document_id: DocumentId,
    /// It is gone.
    pub removed: bool,
    /// What it is about, as the newest ingestion that could tell says.
    pub tags: Vec<String>,
    /// Where its text lies.
    pub transcription: Option<BlobKey>,
}

/// What the catalogue holds of a document.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// Whose.
    pub tenant_id: TenantId,
    /// Which.
    pub document_id: DocumentId,
    /// What it is about, and nothing else.
    pub tags: Vec<String>,
    /// What is left of its text; none of one without words.
    pub sketch: Option<Sketch>,
}

/// Which tags to list.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TagQuery {
    /// Only those in whose key this occurs.
    pub containing: Option<String>,
    /// At most so many.
    pub limit: usize,
    /// From the page before.
    pub cursor: Option<String>,
}

/// A tag to be embedded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TagName {
    /// Whose.
    pub tenant_id: TenantId,
    /// Of the tag.
    pub key: String,
    /// What is embedded.
    pub name: String,
}

/// A tag to be compared with others.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedTag {
    /// The tag.
    pub line: TagLine,
    /// What it means, if it was embedded by the model that was asked for.
    pub meaning: Option<Vec<f32>>,
}

/// What documents have in common.
#[async_trait]
pub trait Catalogue: Send + Sync {
    /// Up to which change it holds everything.
    async fn catalogued(&self) -> Result<i64>;
    /// Documents that changed after `seq`, in order, each once with its latest change.
    async fn uncatalogued(&self, after: i64, limit: usize) -> Result<Vec<Uncatalogued>>;
    /// Takes entries for the changes from `from` to `upto`. Tags are made that are new, and forgotten when their last
    /// document loses them, unless something was merged into them. False, and nothing is changed, if the catalogue does
    /// not stand at `from`.
    async fn catalogue(&self, entries: Vec<Entry>, from: i64, upto: i64) -> Result<bool>;

    /// The tags of a tenant, the most frequent first.
    async fn tags(&self, tenant: TenantId, query: &TagQuery) -> Result<TagsAnswer>;
    /// What tags are called now, by their keys: what was merged has the name of the other. None of unknown ones.
    async fn tag_names(&self, tenant: TenantId, keys: &[String]) -> Result<Vec<Option<String>>>;
    /// Makes one tag of two, also for documents that come later. `into` is made if there is none. None if there is no
    /// tag `from`.
    async fn merge_tags(&self, tenant: TenantId, from: &str, into: &str) -> Result<Option<MergeAnswer>>;

    /// Tags that are to be embedded by this model, of those that are compared.
    async fn unembedded_tags(&self, model: &str, limit: usize) -> Result<Vec<TagName>>;
    /// Keeps what tags mean; empty where the model could not tell.
    async fn embed_tags(&self, model: &str, tags: Vec<(TagName, Vec<f32>)>) -> Result<()>;
    /// The most frequent tags of a tenant, with what they mean to this model.
    async fn compared_tags(&self, tenant: TenantId, model: &str) -> Result<Vec<ComparedTag>>;

    /// Documents whose text is nearly that of this one, the nearest first.
    async fn near(&self, tenant: TenantId, document: DocumentId) -> Result<Vec<NearLine>>;

    /// Keeps what the meaning of texts says of their documents; none forgets it. Documents that are gone are left out.
    async fn judge(&self, judged: Vec<(TenantId, DocumentId, Option<Judgement>)>) -> Result<()>;
    /// What was kept of a document.
    async fn judgement(&self, tenant: TenantId, document: DocumentId) -> Result<Option<Judgement>>;
}
