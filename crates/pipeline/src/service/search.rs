//! `search`: by words, by meaning, or by both. The indexes find documents, the transcripts give the passage to show.
//!
//! Both together are joined by their ranks (reciprocal rank fusion): scores of words and of meanings cannot be compared,
//! but who comes first can.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use docmill_core::answer::{SearchAnswer, SearchHit};
use docmill_core::artifact::Transcript;
use docmill_core::id::{DocumentId, TenantId};
use docmill_core::ports::TextIndex;
use docmill_core::ports::filter::{Facets, Filter};
use docmill_core::ports::store::DocumentHead;
use docmill_core::ports::text_index::{TextHits, TextQuery};
use docmill_core::ports::vector_index::{VectorHit, VectorQuery};
use docmill_core::{Error, ErrorKind, Result};
use futures::StreamExt as _;

use super::{Inner, find_head};
use crate::blocking::off_thread;
use crate::snippet::{Rules, Snippet, beginning, snippet};
use crate::transcripts::Lent;

const TEXT: &str = "text";
const SEMANTIC: &str = "semantic";
const HYBRID: &str = "hybrid";

/// A passage is about two lines long.
const SNIPPET_CHARS: usize = 240;
/// Transcripts that are loaded at once.
const SIDE_BY_SIDE: usize = 8;
/// How many of each kind are joined, at least: what is tenth in both is better than what is first in one.
const JOINED: usize = 100;
/// From so many words on, words alone are a question: few documents have every word of one, and those that do are often
/// not the ones that answer it. On Cranfield nDCG@10 is 0.366 if all must be there first, and 0.376 so.
const QUESTION_WORDS: usize = 6;
/// How much longer a byte takes here than where it is only read.
const COST: u64 = 8;
/// How little it matters to be first rather than second, as usual.
const RANK: f32 = 60.0;

/// What is asked for.
pub(super) struct Asked {
    pub(super) query: String,
    pub(super) mode: String,
    pub(super) limit: usize,
    pub(super) filters: Vec<(String, String)>,
}

/// A document that was found.
#[derive(Clone, PartialEq, Debug)]
struct Found {
    document_id: DocumentId,
    score: f32,
    /// The passage that means it, if it was found by meaning.
    meant: Option<VectorHit>,
}

/// What was found, and what there is to say about that.
#[derive(Default)]
struct Hits {
    found: Vec<Found>,
    /// How many there are in all, and what these are.
    total: u64,
    facets: Facets,
    /// For snippets.
    words: Vec<String>,
    note: Option<String>,
}

impl Hits {
    /// What was found by meaning: everything is near to some degree, so what was looked at is all there is.
    async fn of_some(inner: &Inner, tenant: TenantId, found: Vec<Found>, limit: usize) -> Result<Self> {
        let ids: Vec<DocumentId> = found.iter().map(|hit| hit.document_id).collect();
        let facets = inner.deps.index.facets(tenant, &ids).await?;
        let mut hits = Self { total: ids.len() as u64, found, facets, ..Self::default() };
        hits.found.truncate(limit);
        Ok(hits)
    }
}

/// Answers a query.
pub(super) async fn search(inner: &Inner, tenant: TenantId, asked: Asked) -> Result<SearchAnswer> {
    let deps = &inner.deps;
    let began = deps.clock.monotonic();
    // The same answer for a filter that is not known, whoever would have to look.
    Filter::of(&asked.filters)?;
    let (mode, hits) = match asked.mode.as_str() {
        TEXT => (TEXT, by_words(inner, tenant, &asked, asked.limit).await?),
        SEMANTIC => (SEMANTIC, by_meaning(inner, tenant, &asked, asked.limit).await?),
        HYBRID => by_both(inner, tenant, &asked).await?,
        other => {
            return Err(Error::invalid_request(format!("`{other}` is not a mode of search"))
                .with_hint(format!("modes are `{TEXT}`, `{SEMANTIC}` and `{HYBRID}`")));
        }
    };
    answer(inner, tenant, began, asked.query, mode, hits).await
}

/// Documents that mean something alike, as a whole: near to the middle of what its passages mean.
pub(super) async fn similar(inner: &Inner, tenant: TenantId, id: &str, limit: usize) -> Result<SearchAnswer> {
    let deps = &inner.deps;
    let began = deps.clock.monotonic();
    let head = find_head(deps, tenant, id).await?;
    meanings_are_known(inner)?;
    let vectors = deps.vectors.vectors(tenant, head.document_id).await?;
    let mut hits = Hits::default();
    if let Some(vector) = middle(&vectors) {
        let query = VectorQuery { tenant_id: tenant, vector, limit: limit + 1, filters: Vec::new() };
        let near = deps.vectors.nearest(query).await?.into_iter();
        let found = near.filter(|hit| hit.document_id != head.document_id).map(meant).take(limit).collect();
        hits = Hits::of_some(inner, tenant, found, limit).await?;
    } else {
        let why = "what this document means is not known: it has no text, or has not had its turn";
        hits.note = Some(why.to_owned());
    }
    let query = head.title.unwrap_or(head.name);
    answer(inner, tenant, began, query, SEMANTIC, hits).await
}

/// The direction between all of these; none if they are none, or take each other away.
fn middle(vectors: &[Vec<f32>]) -> Option<Vec<f32>> {
    let mut sum = vec![0.0_f32; vectors.first()?.len()];
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
    }
    let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    (length > f32::EPSILON).then(|| sum.into_iter().map(|x| x / length).collect())
}

/// Shows what was found.
async fn answer(
    inner: &Inner,
    tenant: TenantId,
    began: Duration,
    query: String,
    mode: &str,
    hits: Hits,
) -> Result<SearchAnswer> {
    let deps = &inner.deps;
    let ids: Vec<DocumentId> = hits.found.iter().map(|hit| hit.document_id).collect();
    let heads: HashMap<DocumentId, DocumentHead> =
        deps.store.heads(tenant, &ids).await?.into_iter().map(|head| (head.document_id, head)).collect();
    let words: &Arc<[String]> = &hits.words.into();
    // A document that the index still holds and the store does not is gone, and not shown.
    let known = hits.found.into_iter().filter_map(|hit| Some((heads.get(&hit.document_id)?.clone(), hit)));
    let shown = futures::stream::iter(known)
        .map(|(head, hit)| show(inner, head, hit, words))
        .buffered(SIDE_BY_SIDE)
        .collect()
        .await;
    let took = deps.clock.monotonic().saturating_sub(began);
    let took_ms = took.as_millis() as u64;
    let Hits { total, facets, note, .. } = hits;
    Ok(SearchAnswer { query, mode: mode.into(), took_ms, note, total, facets, hits: shown })
}

/// Documents with all the words or forms of them. If there is none: with words that are spelled nearly so in the place of
/// those that no document has; with some of the words; with both. Of a question some of the words are enough.
async fn by_words(inner: &Inner, tenant: TenantId, asked: &Asked, limit: usize) -> Result<Hits> {
    let (query, filters) = (asked.query.clone(), asked.filters.clone());
    let all =
        TextQuery { tenant_id: tenant, query, limit, filters, any: false, forgiving: false, counted: true };
    let plain = is_plain(&asked.query);
    let question = plain && asked.query.split_whitespace().count() >= QUESTION_WORDS;
    let mut found = inner.deps.index.query(TextQuery { any: question, ..all.clone() }).await?;
    let mut note = None;
    if found.hits.is_empty() && plain {
        let several = found.words.len() > 1;
        for (any, forgiving) in [(question, true), (true, false), (true, true)] {
            if any && !several {
                break;
            }
            let other = inner.deps.index.query(TextQuery { any, forgiving, ..all.clone() }).await?;
            if !other.hits.is_empty() {
                note = said(any && !question, &other);
                found = other;
                break;
            }
        }
    }
    let found_by = |hit: docmill_core::ports::text_index::TextHit| Found {
        document_id: hit.document_id,
        score: hit.score,
        meant: None,
    };
    let TextHits { hits, total, facets, words, .. } = found;
    Ok(Hits { found: hits.into_iter().map(found_by).collect(), total, facets, words, note })
}

/// What was done instead of what was asked for.
fn said(any: bool, found: &TextHits) -> Option<String> {
    let mut said: Vec<String> = Vec::new();
    for (word, near) in &found.instead {
        said.push(format!("no document has `{word}`; found by `{}` instead", near.join("`, `")));
    }
    if any {
        said.push("no document has all of these words; these have some of them".to_owned());
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// Whether a query is words and nothing else: whoever writes more says exactly what is to be found.
fn is_plain(query: &str) -> bool {
    !query.contains(['"', ':', '*', '~'])
        && !query.split_whitespace().any(|word| word == "OR" || word.starts_with('-'))
}

/// Documents with a passage that means something like the query.
async fn by_meaning(inner: &Inner, tenant: TenantId, asked: &Asked, limit: usize) -> Result<Hits> {
    let deps = &inner.deps;
    meanings_are_known(inner)?;
    if asked.query.trim().is_empty() {
        return Err(Error::invalid_request("the query is empty").with_hint("say in some words what to find"));
    }
    let mut vectors = deps.embedder.embed(tenant, vec![asked.query.clone()]).await?;
    let vector = vectors.pop().ok_or_else(|| Error::bug("a query has no meaning"))?;
    let filters = asked.filters.clone();
    // More than are shown, as facets that count ten documents say little.
    let query = VectorQuery { tenant_id: tenant, vector, limit: limit.max(JOINED), filters };
    let near = deps.vectors.nearest(query).await?;
    let behind = deps.store.last_change().await? - deps.vectors.watermark(deps.embedder.model()).await?;
    let note = (behind > 0).then(|| {
        format!("{behind} changes are not yet known by their meaning; ask again later, or search by `{TEXT}`")
    });
    let hits = Hits::of_some(inner, tenant, near.into_iter().map(meant).collect(), limit).await?;
    Ok(Hits { note, ..hits })
}

/// Whether there is a model. Asking for one that is not there is a mistake of whoever asks, and no fault of the server.
fn meanings_are_known(inner: &Inner) -> Result<()> {
    inner.deps.embedder.available().map_err(|error| {
        let off = Error::invalid_request(format!("search by meaning is off: {}", error.message()));
        off.with_hint(error.hint().unwrap_or("search by words").to_owned())
    })
}

fn meant(hit: VectorHit) -> Found {
    Found { document_id: hit.document_id, score: hit.score, meant: Some(hit) }
}

/// Both, joined; by words alone where there is no model, which is said.
async fn by_both(inner: &Inner, tenant: TenantId, asked: &Asked) -> Result<(&'static str, Hits)> {
    if let Err(error) = inner.deps.embedder.available() {
        let mut hits = by_words(inner, tenant, asked, asked.limit).await?;
        let way = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        hits.note = Some(format!("found by words alone: {}{way}", error.message()));
        return Ok((TEXT, hits));
    }
    let depth = asked.limit.max(JOINED);
    let (words, meanings) =
        futures::future::join(by_words(inner, tenant, asked, depth), by_meaning(inner, tenant, asked, depth))
            .await;
    let (words, meanings) = match (words?, meanings) {
        (words, Ok(meanings)) => (words, meanings),
        (_, Err(error)) if error.kind() == ErrorKind::InvalidRequest => return Err(error),
        // Whoever asks for both is served by what works.
        (mut words, Err(error)) => {
            tracing::warn!(error = %error.for_log(), "found by words alone");
            words.found.truncate(asked.limit);
            let notes = words.note.into_iter().chain([format!("found by words alone: {}", error.message())]);
            words.note = Some(notes.collect::<Vec<_>>().join("; "));
            return Ok((TEXT, words));
        }
    };
    let found = joined(&[&words.found, &meanings.found]);
    let hits = Hits::of_some(inner, tenant, found, asked.limit).await?;
    let notes: Vec<String> = words.note.into_iter().chain(meanings.note).collect();
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    Ok((HYBRID, Hits { words: words.words, note, ..hits }))
}

/// Joins lists by rank, best first.
fn joined(lists: &[&[Found]]) -> Vec<Found> {
    let mut all: HashMap<DocumentId, Found> = HashMap::new();
    for list in lists {
        for (rank, found) in (1_u16..).zip(list.iter()) {
            let document_id = found.document_id;
            let known = all.entry(document_id).or_insert(Found { document_id, score: 0.0, meant: None });
            known.score += 1.0 / (RANK + f32::from(rank));
            known.meant = known.meant.take().or_else(|| found.meant.clone());
        }
    }
    let mut found: Vec<Found> = all.into_values().collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.document_id.cmp(&b.document_id)));
    found
}

/// Only which documents a query finds, the best first.
pub(super) async fn find(
    inner: &Inner,
    tenant: TenantId,
    query: String,
    limit: usize,
) -> Result<Vec<DocumentId>> {
    let filters = Vec::new();
    let query =
        TextQuery { tenant_id: tenant, query, limit, filters, any: false, forgiving: false, counted: false };
    let found = inner.deps.index.query(query).await?;
    Ok(found.hits.into_iter().map(|hit| hit.document_id).collect())
}

/// A hit with its best passage. One whose transcript cannot be read is still a hit.
async fn show(inner: &Inner, head: DocumentHead, hit: Found, words: &Arc<[String]>) -> SearchHit {
    let limit = inner.deps.settings.limits.max_text_bytes;
    let transcript = match &head.transcription {
        None => None,
        Some(key) => match inner.looking.load(inner.deps.blobs.as_ref(), key, limit).await {
            Ok(transcript) => Some(transcript),
            Err(error) => {
                tracing::warn!(document_id = %head.document_id, error = %error.for_log(), "hit is shown without a passage");
                None
            }
        },
    };
    let best = match transcript {
        Some(transcript) => passage(inner, transcript, Arc::clone(words), hit.meant).await,
        None => None,
    };
    let (page, snippet) = best.map_or((None, String::new()), |(page, snippet)| (Some(page), snippet));
    SearchHit {
        document_id: head.document_id,
        name: head.name.clone(),
        title: head.title.clone(),
        score: hit.score,
        page,
        snippet,
    }
}

/// The passage to show, and its page. A long text is gone through where nobody else waits for the thread.
async fn passage(
    inner: &Inner,
    transcript: Lent,
    words: Arc<[String]>,
    meant: Option<VectorHit>,
) -> Option<(u32, String)> {
    let index = Arc::clone(&inner.deps.index);
    let text_bytes: u64 = transcript.pages.iter().map(|page| page.text.len() as u64).sum();
    let found = off_thread(text_bytes * COST, move || {
        let by_words = best_page(index.as_ref(), &transcript, &words);
        let by_words = by_words.map(|(page, snippet)| (page, marked(&snippet)));
        Ok(by_words.or_else(|| meant_passage(&transcript, meant.as_ref()?)))
    });
    found.await.unwrap_or_else(|error| {
        tracing::warn!(error = %error.for_log(), "hit is shown without a passage");
        None
    })
}

/// The beginning of the passage that was found by its meaning. Nothing if the text has changed since.
fn meant_passage(transcript: &Transcript, hit: &VectorHit) -> Option<(u32, String)> {
    let page = transcript.pages.iter().find(|page| page.number == hit.page)?;
    let passage = page.text.get(hit.start as usize..hit.end as usize)?;
    Some((hit.page, beginning(passage, SNIPPET_CHARS)))
}

/// The page with the best passage; the first of them if several are equal.
fn best_page(index: &dyn TextIndex, transcript: &Transcript, words: &[String]) -> Option<(u32, Snippet)> {
    let rules = Rules { fold: &|word| index.fold(word), alike: &|word, other| index.alike(word, other) };
    let mut best: Option<(u32, Snippet)> = None;
    for page in &transcript.pages {
        if let Some(found) = snippet(&page.text, words, rules, SNIPPET_CHARS)
            && best.as_ref().is_none_or(|(_, before)| found.score > before.score)
        {
            best = Some((page.number, found));
        }
    }
    best
}

/// The passage with `**` around what was found. Stars of the document's own that could be taken for such a pair, as
/// Markdown is full of, are left out.
fn marked(snippet: &Snippet) -> String {
    let mut out = String::with_capacity(snippet.text.len() + snippet.ranges.len() * 4);
    let mut from = 0;
    for range in &snippet.ranges {
        let (Some(before), Some(hit)) =
            (snippet.text.get(from..range.start), snippet.text.get(range.clone()))
        else {
            continue;
        };
        let after_mark = if from > 0 { before.trim_start_matches('*') } else { before };
        push_between(&mut out, after_mark.trim_end_matches('*'));
        out.push_str("**");
        out.push_str(hit);
        out.push_str("**");
        from = range.end;
    }
    let rest = snippet.text.get(from..).unwrap_or_default();
    push_between(&mut out, if from > 0 { rest.trim_start_matches('*') } else { rest });
    out
}

/// Text between marks, without stars in a row.
fn push_between(out: &mut String, text: &str) {
    for (at, piece) in text.split("**").enumerate() {
        out.push_str(if at == 0 { piece } else { piece.trim_start_matches('*') });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_puts_stars_around_each_range() {
        let snippet = Snippet { text: "a märz b märz".into(), score: 1, ranges: vec![2..7, 10..15] };
        assert_eq!(marked(&snippet), "a **märz** b **märz**");
    }

    #[test]
    fn marked_never_takes_stars_of_the_document_for_marks() {
        let text = "**seen** a **heron** * b *** heron*";
        let ranges: Vec<_> = text.match_indices("heron").map(|(at, hit)| at..at + hit.len()).collect();
        let snippet = Snippet { text: text.into(), score: 1, ranges };
        assert_eq!(marked(&snippet), "seen a **heron** * b  **heron**");
    }

    #[test]
    fn joined_puts_first_what_is_high_in_both() {
        let found =
            |n: u128| Found { document_id: DocumentId(uuid::Uuid::from_u128(n)), score: 0.0, meant: None };
        let (words, meanings) = ([found(1), found(2), found(3)], [found(4), found(2)]);
        let ids: Vec<u128> =
            joined(&[&words, &meanings]).iter().map(|hit| hit.document_id.0.as_u128()).collect();
        assert_eq!(ids, [2, 1, 4, 3]);
        assert!(joined(&[&[], &[]]).is_empty());
    }

    #[test]
    fn middle_is_between_and_of_length_one() {
        assert_eq!(middle(&[]), None);
        assert_eq!(middle(&[vec![1.0, 0.0], vec![-1.0, 0.0]]), None);
        let half = 0.5_f32.sqrt();
        let found = middle(&[vec![1.0, 0.0], vec![0.0, 1.0]]).unwrap();
        assert!(found.iter().all(|x| (x - half).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn plain_queries_are_words_alone() {
        for (query, plain) in [
            ("what are the heat rates", true),
            ("\"heat rate\"", false),
            ("a OR b", false),
            ("a -b", false),
            ("type:pdf", false),
            ("re-entry", true),
            ("recieve~", false),
        ] {
            assert_eq!(is_plain(query), plain, "{query}");
        }
    }
}
