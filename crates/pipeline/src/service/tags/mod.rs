//! Tags, and what else documents have in common: lists, merges, suggestions, near duplicates.

mod alike;

use docmill_core::answer::ShowAnswer;
use docmill_core::id::TenantId;
use docmill_core::ports::catalogue::{COMPARED_TAGS, TagQuery};
use docmill_core::sketch::NearAnswer;
use docmill_core::tag::{self, MergeAnswer, SimilarTagsAnswer, TagsAnswer};
use docmill_core::understanding::OTHER;
use docmill_core::{Error, Result};

use super::{Inner, find_head};
use crate::blocking::blocking;

pub(super) async fn list(
    inner: &Inner,
    tenant: TenantId,
    containing: Option<String>,
    limit: usize,
    cursor: Option<String>,
) -> Result<TagsAnswer> {
    let query = TagQuery { containing: containing.as_deref().and_then(tag::key), limit, cursor };
    inner.deps.store.tags(tenant, &query).await
}

/// The key that documents with this tag have, whatever it was merged into.
pub(super) async fn key_of(inner: &Inner, tenant: TenantId, name: &str) -> Result<String> {
    let key = tag::asked_key(name)?;
    let names = inner.deps.store.tag_names(tenant, std::slice::from_ref(&key)).await?;
    Ok(names.into_iter().next().flatten().and_then(|name| tag::key(&name)).unwrap_or(key))
}

pub(super) async fn merge(inner: &Inner, tenant: TenantId, from: &str, into: &str) -> Result<MergeAnswer> {
    inner.deps.store.merge_tags(tenant, from, into).await?.ok_or_else(|| {
        Error::not_found(format!("no document has the tag `{}`", docmill_core::text::shown(from)))
            .with_hint("`docmill tags` lists the tags there are")
    })
}

/// Pairs of tags that may be one, by their spelling and, where there is a model, by what they mean.
pub(super) async fn similar(inner: &Inner, tenant: TenantId, limit: usize) -> Result<SimilarTagsAnswer> {
    let tags = inner.deps.store.compared_tags(tenant, inner.deps.embedder.model()).await?;
    let all = tags.len() < COMPARED_TAGS;
    let (missing, there) = (tags.iter().filter(|tag| tag.meaning.is_none()).count(), tags.len());
    let items = blocking(move || Ok(alike::pairs(&tags, limit))).await?;
    let mut notes = Vec::new();
    if let Err(error) = inner.deps.embedder.available() {
        notes.push(format!("tags are compared by spelling only: {}", error.message()));
    } else if missing > 0 {
        notes.push(format!("what {missing} of {there} tags mean is not known yet"));
    }
    if !all {
        notes.push(format!("only the {COMPARED_TAGS} most frequent tags are compared"));
    }
    Ok(SimilarTagsAnswer { items, note: (!notes.is_empty()).then(|| notes.join("; ")) })
}

pub(super) async fn near(inner: &Inner, tenant: TenantId, id: &str) -> Result<NearAnswer> {
    let head = find_head(&inner.deps, tenant, id).await?;
    Ok(NearAnswer { items: inner.deps.store.near(tenant, head.document_id).await? })
}

/// Adds to what is shown of a document what was found out after it was ready: tags as they are called now, and what its
/// meaning says.
pub(super) async fn complete(inner: &Inner, tenant: TenantId, shown: &mut ShowAnswer) -> Result<()> {
    let store = &inner.deps.store;
    let keys: Vec<String> = shown.tags.iter().map(|name| tag::key(name).unwrap_or_default()).collect();
    if !keys.is_empty() {
        let names = store.tag_names(tenant, &keys).await?;
        let mut tags: Vec<String> = Vec::with_capacity(shown.tags.len());
        for (own, now) in shown.tags.drain(..).zip(names) {
            // Its own spelling stays; another tag has another key.
            let name = now.filter(|now| tag::key(now) != tag::key(&own)).unwrap_or(own);
            if !tags.contains(&name) {
                tags.push(name);
            }
        }
        shown.tags = tags;
    }
    if let Some(judged) = store.judgement(tenant, shown.document_id).await? {
        if shown.kind.as_deref().is_none_or(|kind| kind == OTHER) && judged.kind.is_some() {
            shown.kind = judged.kind;
            shown.evidence.extend(judged.evidence.map(|evidence| ("type".to_owned(), evidence)));
        }
        shown.labels.extend(judged.labels);
    }
    Ok(())
}
