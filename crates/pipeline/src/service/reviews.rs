//! What people say of records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use docmill_core::extraction::{Evidence, Extraction};
use docmill_core::id::TenantId;
use docmill_core::ports::store::DocumentHead;
use docmill_core::review::{
    Change, Corrected, DecidedAnswer, Decision, MAX_CORRECTED, Review, ReviewId, ReviewState, Verdict,
};
use docmill_core::text::shown;
use docmill_core::words::PageWords;
use docmill_core::{Error, Result};
use serde_json::Value;

use super::{Inner, find_head};
use crate::blocking::blocking;
use crate::schemas;

/// No reason is longer.
const MAX_REASON: usize = 2_000;

/// Pages whose words are kept with a correction.
const MAX_PAGES: u32 = 3;

/// Words of one of them.
const MAX_WORDS: usize = 1_500;

/// A review of this tenant, or `not_found`.
pub(super) async fn find(inner: &Inner, tenant: TenantId, id: ReviewId) -> Result<Review> {
    inner.deps.store.review(tenant, id).await?.ok_or_else(|| {
        Error::not_found(format!("there is no review {id}"))
            .with_hint("`docmill review list` shows what waits for a person")
    })
}

/// Takes down what somebody says of a record.
pub(super) async fn decide(
    inner: &Inner,
    tenant: TenantId,
    who: &str,
    id: ReviewId,
    verdict: Verdict,
) -> Result<DecidedAnswer> {
    // What is not there cannot be said anything wrong of.
    let review = find(inner, tenant, id).await?;
    let decided = |state, reason, changes, corrected| Decision {
        review_id: id,
        by: who.to_owned(),
        state,
        reason,
        changes,
        corrected,
    };
    let decision = match verdict {
        Verdict::Accept { reason } => decided(ReviewState::Accepted, said(reason)?, BTreeMap::new(), None),
        Verdict::Reject { reason } => {
            let reason = said(Some(reason))?.ok_or_else(|| {
                Error::invalid_request("a record is rejected for a `reason`, and there is none")
            })?;
            decided(ReviewState::Rejected, Some(reason), BTreeMap::new(), None)
        }
        Verdict::Correct { fields, reason } => {
            let reason = said(reason)?;
            let (changes, corrected) = corrected(inner, tenant, review, fields).await?;
            decided(ReviewState::Corrected, reason, changes, Some(Box::new(corrected)))
        }
    };
    inner.deps.store.decide_review(tenant, decision).await
}

fn said(reason: Option<String>) -> Result<Option<String>> {
    let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    match &reason {
        Some(long) if long.chars().nth(MAX_REASON).is_some() => {
            Err(Error::limit_exceeded(format!("a reason has at most {MAX_REASON} characters")))
        }
        _ => Ok(reason),
    }
}

/// The record with these values, and what that changes.
async fn corrected(
    inner: &Inner,
    tenant: TenantId,
    review: Review,
    fields: BTreeMap<String, Value>,
) -> Result<(BTreeMap<String, Change>, Corrected)> {
    if fields.len() > MAX_CORRECTED {
        return Err(Error::limit_exceeded(format!(
            "`fields` has {} values, more than the {MAX_CORRECTED} that are corrected at once",
            fields.len()
        ))
        .with_hint("a record with so many mistakes is better rejected, or processed again"));
    }
    let given = fields.into_iter().map(|(path, value)| Ok((as_text(&path, value)?, path)));
    let given: BTreeMap<String, Option<String>> =
        given.map(|one: Result<_>| one.map(|(value, path)| (path, value))).collect::<Result<_>>()?;
    let schema = schemas::find(&inner.deps, tenant, &review.line.schema, Some(review.version)).await?;
    let head = find_head(&inner.deps, tenant, &review.line.document_id.to_string()).await?;
    let pages = pages(inner, tenant, &head, &review, &given).await?;
    let extractor = Arc::clone(&inner.deps.extractor);
    let before = review.extraction;
    let (before, after, mut pages) = blocking(move || {
        let after = extractor.correct(&schema.text, &before, &given, &pages)?;
        Ok((before, after, pages))
    })
    .await?;
    let changes = changes(&before, &after);
    if changes.is_empty() {
        return Err(Error::invalid_request("the record has these values already")
            .with_hint("accept it, or name the values that are wrong"));
    }
    if pages.iter().all(|page| page.words.is_empty()) {
        // Nobody can say where words stand that were never drawn, but records were taken from their rows.
        pages = rows(inner, &head).await;
    }
    let extractor = Arc::clone(&inner.deps.extractor);
    let (pages, senders) = blocking(move || {
        let senders = extractor.senders(&pages);
        Ok((pages, senders))
    })
    .await?;
    Ok((changes, Corrected { after, pages, senders }))
}

/// The first pages of a text as they were laid out for its record.
async fn rows(inner: &Inner, head: &DocumentHead) -> Vec<PageWords> {
    let Some(key) = &head.transcription else { return Vec::new() };
    let limit = inner.deps.settings.limits.max_text_bytes;
    match inner.looking.load(inner.deps.blobs.as_ref(), key, limit).await {
        Ok(transcript) => {
            let first = transcript.pages.iter().take(MAX_PAGES as usize);
            first.map(|page| kept(PageWords::typed(page.number, &page.text))).collect()
        }
        // The correction counts all the same; only nothing is learnt from it.
        Err(error) => {
            tracing::debug!(document_id = %head.document_id, error = %error.for_log(), "no text to learn from");
            Vec::new()
        }
    }
}

fn kept(mut page: PageWords) -> PageWords {
    page.words.truncate(MAX_WORDS);
    page
}

fn as_text(path: &str, value: Value) -> Result<Option<String>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(Error::invalid_request(format!(
            "`{}` of the field `{}` is neither text nor a number nor null",
            shown(&other.to_string()),
            shown(path)
        ))
        .with_hint(
            "values of lists are named one by one, as `party[0]`, those of rows as `items[0].quantity`",
        )),
    }
}

/// What is different between two records.
fn changes(before: &Extraction, after: &Extraction) -> BTreeMap<String, Change> {
    let paths: BTreeSet<&String> = before.fields.keys().chain(after.fields.keys()).collect();
    let mut changes = BTreeMap::new();
    for path in paths {
        let (old, new) = (before.fields.get(path), after.fields.get(path));
        if old.map(|field| &field.value) == new.map(|field| &field.value) {
            continue;
        }
        let placed = |evidence: &&Evidence| evidence.page.is_some();
        let place = new.iter().chain(&old).flat_map(|field| &field.evidence).find(placed);
        let change = Change {
            before: old.map(|field| field.value.clone()),
            after: new.map(|field| field.value.clone()),
            page: place.and_then(|place| place.page),
            frame: place.and_then(|place| place.frame),
        };
        changes.insert(path.clone(), change);
    }
    changes
}

/// The words of the first page, of those that the old values stand on, and of the following while there is room: where a
/// new value is looked for, and what can be learnt from.
async fn pages(
    inner: &Inner,
    tenant: TenantId,
    head: &DocumentHead,
    review: &Review,
    given: &BTreeMap<String, Option<String>>,
) -> Result<Vec<PageWords>> {
    let count = review.page_count.unwrap_or(1).max(1);
    let old = given.keys().filter_map(|path| review.extraction.fields.get(path));
    let standing = old.flat_map(|field| &field.evidence).filter_map(|evidence| evidence.page);
    let mut wanted: BTreeSet<u32> = BTreeSet::from([1]);
    for page in standing.chain(2..=count) {
        if wanted.len() < MAX_PAGES as usize {
            wanted.insert(page);
        }
    }
    let mut pages = Vec::new();
    for page in wanted {
        match inner.viewer.words(&inner.deps, tenant, head, page).await {
            Ok(words) => pages.push(kept(words)),
            // A correction counts also where nobody can say where it stands.
            Err(error) => {
                tracing::debug!(document_id = %head.document_id, page, error = %error.for_log(), "no words of a page");
            }
        }
    }
    Ok(pages)
}
