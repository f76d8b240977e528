//! `search`: the index finds documents, the transcripts give the passage to show.

use std::collections::HashMap;

use docmill_core::answer::{SearchAnswer, SearchHit};
use docmill_core::artifact::Transcript;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::store::DocumentHead;
use docmill_core::ports::text_index::{TextHit, TextQuery};
use docmill_core::{Error, Result};
use futures::StreamExt as _;

use super::Inner;
use crate::snippet::{Snippet, snippet};
use crate::transcripts;

/// The only mode so far.
const TEXT: &str = "text";
/// A passage is about two lines long.
const SNIPPET_CHARS: usize = 240;
/// Transcripts that are loaded at once.
const SIDE_BY_SIDE: usize = 8;

/// Answers a query.
pub(super) async fn search(
    inner: &Inner,
    tenant: TenantId,
    query: String,
    mode: String,
    limit: usize,
    filters: Vec<(String, String)>,
) -> Result<SearchAnswer> {
    if mode != TEXT {
        return Err(Error::invalid_request(format!("`{mode}` is not a mode of search"))
            .with_hint(format!("the mode is `{TEXT}`")));
    }
    let deps = &inner.deps;
    let began = deps.clock.monotonic();
    let found =
        deps.index.query(TextQuery { tenant_id: tenant, query: query.clone(), limit, filters }).await?;
    let ids: Vec<DocumentId> = found.hits.iter().map(|hit| hit.document_id).collect();
    let heads: HashMap<DocumentId, DocumentHead> =
        deps.store.heads(tenant, &ids).await?.into_iter().map(|head| (head.document_id, head)).collect();
    let words = &found.words;
    // A document that the index still holds and the store does not is gone, and not shown.
    let known = found.hits.into_iter().filter_map(|hit| Some((heads.get(&hit.document_id)?.clone(), hit)));
    let hits = futures::stream::iter(known)
        .map(|(head, hit)| show(inner, head, hit, words))
        .buffered(SIDE_BY_SIDE)
        .collect()
        .await;
    let took = deps.clock.monotonic().saturating_sub(began);
    Ok(SearchAnswer { query, mode, took_ms: took.as_millis() as u64, hits })
}

/// Only which documents a query finds, the best first.
pub(super) async fn find(
    inner: &Inner,
    tenant: TenantId,
    query: String,
    limit: usize,
) -> Result<Vec<DocumentId>> {
    let query = TextQuery { tenant_id: tenant, query, limit, filters: Vec::new() };
    let found = inner.deps.index.query(query).await?;
    Ok(found.hits.into_iter().map(|hit| hit.document_id).collect())
}

/// A hit with its best passage. One whose transcript cannot be read is still a hit.
async fn show(inner: &Inner, head: DocumentHead, hit: TextHit, words: &[String]) -> SearchHit {
    let limit = inner.deps.settings.limits.max_text_bytes;
    let transcript = match &head.transcription {
        None => None,
        Some(key) => match transcripts::load(inner.deps.blobs.as_ref(), key, limit).await {
            Ok(transcript) => Some(transcript),
            Err(error) => {
                tracing::warn!(document_id = %head.document_id, error = %error.for_log(), "hit is shown without a passage");
                None
            }
        },
    };
    let best = transcript.as_ref().and_then(|transcript| best_page(inner, transcript, words));
    let (page, snippet) = match best {
        Some((page, snippet)) => (Some(page), marked(&snippet)),
        None => (None, String::new()),
    };
    SearchHit {
        document_id: head.document_id,
        name: head.name.clone(),
        title: head.title.clone(),
        score: hit.score,
        page,
        snippet,
    }
}

/// The page with the best passage; the first of them if several are equal.
fn best_page(inner: &Inner, transcript: &Transcript, words: &[String]) -> Option<(u32, Snippet)> {
    let index = inner.deps.index.as_ref();
    let mut best: Option<(u32, Snippet)> = None;
    for page in &transcript.pages {
        if let Some(found) = snippet(&page.text, words, |word| index.fold(word), SNIPPET_CHARS)
            && best.as_ref().is_none_or(|(_, before)| found.score > before.score)
        {
            best = Some((page.number, found));
        }
    }
    best
}

/// The passage with `**` around what was found.
fn marked(snippet: &Snippet) -> String {
    let mut out = String::with_capacity(snippet.text.len() + snippet.ranges.len() * 4);
    let mut from = 0;
    for range in &snippet.ranges {
        let (Some(before), Some(hit)) =
            (snippet.text.get(from..range.start), snippet.text.get(range.clone()))
        else {
            continue;
        };
        out.push_str(before);
        out.push_str("**");
        out.push_str(hit);
        out.push_str("**");
        from = range.end;
    }
    out.push_str(snippet.text.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_puts_stars_around_each_range() {
        let snippet = Snippet { text: "a märz b märz".into(), score: 1, ranges: vec![2..7, 10..15] };
        assert_eq!(marked(&snippet), "a **märz** b **märz**");
    }
}
