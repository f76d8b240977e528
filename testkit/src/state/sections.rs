//! The parts of the text.

use std::collections::{BTreeMap, BTreeSet};

use docmill_core::artifact::Artifact;
use docmill_core::dossier::{Dossier, ManifestLine, TaskLine};
use docmill_core::error::{ErrorKind, ErrorNote};
use docmill_core::event::{Event, EventType};
use docmill_core::id::{BlobKey, ContentHash, TenantId};
use docmill_core::ingestion::Facts;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::{Blobs, Store};
use docmill_core::understanding::Understanding;
use docmill_core::{Error, Result};

use super::State;
use super::names::Names;

const PAGE: usize = 1000;

/// A heading over lines.
fn section(heading: &str, lines: impl IntoIterator<Item = String>) -> String {
    let mut out = format!("{heading}\n");
    for line in lines {
        out.push_str(&format!("  {line}\n"));
    }
    out
}

/// Only if it holds.
fn flag(holds: bool, text: &str) -> &str {
    if holds { text } else { "" }
}

fn note(error: &ErrorNote) -> String {
    let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
    format!("{}: {}{hint}", error.kind, error.message)
}

pub(super) async fn batches(
    store: &dyn Store,
    tenant: TenantId,
    state: &State,
    names: &Names,
) -> Result<String> {
    let ids: BTreeSet<_> = state.events.iter().filter_map(|event| event.batch_id).collect();
    let mut lines = Vec::new();
    for id in ids {
        let Some(b) = store.find_batch(tenant, &id.to_string()).await? else { continue };
        let expected = b.expected.map_or_else(|| "?".to_owned(), |n| n.to_string());
        lines.push(format!(
            "{} `{}`: {} {}{}, priority {}, expected {expected}, received {}, children {}, open {}, completed {}, failed {}, skipped {}, cancelled {}, duplicates {}, dead {}",
            names.batch(id), b.name.as_deref().unwrap_or_default(), b.kind, b.state.name(), flag(b.paused, " paused"),
            b.priority, b.received, b.children, b.open, b.completed, b.failed, b.skipped, b.cancelled, b.duplicates, b.dead
        ));
    }
    Ok(section("batches", lines))
}

pub(super) async fn ledger(store: &dyn Store, tenant: TenantId, names: &Names) -> Result<String> {
    let l = store.ledger(tenant, None).await?;
    let mut lines = vec![
        format!(
            "expected {} = completed {} + failed {} + skipped {:?} + cancelled {} + open {}: {}",
            l.expected,
            l.completed,
            l.failed,
            l.skipped,
            l.cancelled,
            l.open,
            if l.balanced() { "balanced" } else { "NOT BALANCED" }
        ),
        format!("duplicates {}, unsealed {:?}", l.duplicates, l.unsealed),
    ];
    let mut containers: Vec<String> = l
        .containers
        .iter()
        .map(|c| {
            format!(
                "{}: expected {}, emitted {}, failed {}{}",
                names.ingestion(c.id),
                c.expected,
                c.emitted,
                c.failed,
                flag(c.ended, ", ended")
            )
        })
        .collect();
    containers.sort();
    lines.extend(containers);
    Ok(section("ledger", lines))
}

pub(super) fn documents(state: &State, names: &Names) -> String {
    let mut lines = BTreeMap::new();
    for d in &state.documents {
        // Which of several receipts came first is a race; that it was one of them is not.
        let named_like_a_receipt = d.ingestions.iter().any(|receipt| receipt.name == d.name);
        let duplicates = d.ingestions.iter().filter(|receipt| receipt.duplicate).count();
        let facts = Facts {
            media_type: d.media_type.clone(),
            page_count: d.page_count,
            word_count: d.word_count,
            language: d.language.clone(),
            quality: d.quality,
            title: d.title.clone(),
            understanding: None,
            transcription: None,
        };
        let mut line = format!(
            "{}: {} bytes, {}{}{}, {} receipts, {duplicates} of them duplicates{}",
            names.document(d.document_id),
            d.bytes,
            d.state.name(),
            flag(d.stale, ", stale"),
            flag(d.needs_review, ", needs review"),
            d.ingestions.len(),
            flag(!named_like_a_receipt, ", NAMED LIKE NO RECEIPT")
        );
        line.push_str(&format!("\n    {}", told(&facts)));
        for problem in &d.problems {
            line.push_str(&format!("\n    problem {}: {}", problem.code.name(), problem.message));
        }
        lines.insert(names.document(d.document_id), line);
    }
    section("documents", lines.into_values())
}

pub(super) fn ingestions(state: &State, names: &Names) -> String {
    let lines: BTreeMap<String, String> =
        state.ingestions.iter().map(|i| (names.ingestion(i.ingestion_id), ingestion(i))).collect();
    section("ingestions", lines.into_values())
}

fn ingestion(i: &Dossier) -> String {
    let mut lines = vec![format!(
        "{}: {} {}, attempt {}, depth {}{}{}",
        i.ingestion_id,
        i.status.name(),
        i.result.map_or("-", |result| result.name()),
        i.attempt,
        i.depth,
        flag(i.superseded, ", superseded"),
        flag(i.needs_review, ", needs review")
    )];
    lines.push(i.document_id.map_or_else(|| "without a document".to_owned(), |id| format!("document {id}")));
    lines.extend(i.parent_id.map(|parent| format!("member of {parent}")));
    lines.push(told(&i.facts));
    lines.extend(i.skip_reason.as_ref().map(|reason| format!("left out: {reason}")));
    lines.extend(i.error.as_ref().map(|error| format!("error {}", note(error))));
    for problem in &i.problems {
        let page = problem.page.map_or_else(String::new, |page| format!(" on page {page}"));
        lines.push(format!("problem {}{page}: {}", problem.code.name(), problem.message));
    }
    // Not by their numbers, of which every process has a block of its own.
    let mut tasks: Vec<&TaskLine> = i.tasks.iter().collect();
    tasks.sort_by(|a, b| (a.stage, a.kind.as_str()).cmp(&(b.stage, b.kind.as_str())));
    lines.extend(tasks.into_iter().map(task));
    // Whether a result was made or taken over depends on which of two equal contents was faster.
    lines.extend(i.results.iter().map(|result| {
        format!(
            "result {} {}{}",
            result.step,
            result.fingerprint.short(),
            flag(result.degraded, ", degraded")
        )
    }));
    lines.extend(i.manifests.iter().map(manifest));
    lines.extend(i.artifacts.iter().map(artifact));
    lines.join("\n    ")
}

fn told(facts: &Facts) -> String {
    let mut told = vec![facts.media_type.clone().unwrap_or_else(|| "no type".to_owned())];
    told.extend(facts.page_count.map(|n| format!("{n} pages")));
    told.extend(facts.word_count.map(|n| format!("{n} words")));
    told.extend(facts.language.clone());
    told.extend(facts.quality.map(|quality| format!("quality {quality:.3}")));
    told.extend(facts.title.as_ref().map(|title| format!("title `{title}`")));
    told.extend(facts.understanding.as_ref().map(understood));
    told.extend(facts.transcription.as_ref().map(|key| format!("text in {}", last_part(key))));
    told.join(", ")
}

fn understood(found: &Understanding) -> String {
    let labels: Vec<String> =
        found.labels.iter().map(|(set, said)| format!("{set} {}", said.labels.join("+"))).collect();
    format!(
        "understood as {} of {} about [{}], {}, saying `{}`",
        found.kind.as_deref().unwrap_or("anything"),
        found.date.as_deref().unwrap_or("any day"),
        found.tags.join(", "),
        labels.join(", "),
        found.summary.as_deref().unwrap_or_default()
    )
}

/// Whose folder a result lies in that was taken over depends on who was faster.
fn last_part(key: &BlobKey) -> &str {
    key.as_str().rsplit('/').next().unwrap_or_default()
}

fn task(t: &TaskLine) -> String {
    let error = t.error.as_ref().map_or_else(String::new, |error| format!(", last error {}", note(error)));
    format!(
        "task {} ({}) {}, {}, attempt {}, of this size {}, lost {}{}{error}",
        t.kind,
        t.stage.name(),
        t.state.name(),
        t.size.name(),
        t.attempts.total,
        t.attempts.in_size,
        t.attempts.lost,
        flag(t.owner.is_some(), ", owned")
    )
}

fn manifest(m: &ManifestLine) -> String {
    let declared = m.declared.map_or_else(|| "?".to_owned(), |n| n.to_string());
    format!(
        "manifest {}: declared {declared}, emitted {}, refused {}{}{}",
        m.fingerprint.short(),
        m.emitted,
        m.refused,
        flag(m.ended, ", ended"),
        flag(m.superseded, ", superseded")
    )
}

fn artifact(a: &Artifact) -> String {
    format!("artifact {}: {}, {} bytes, {}", a.name, last_part(&a.key), a.bytes, a.media_type)
}

pub(super) async fn dead_letters(store: &dyn Store, tenant: TenantId, names: &Names) -> Result<String> {
    let dead = store.dead(tenant, PAGE).await?;
    let mut lines: Vec<String> = dead
        .iter()
        .map(|letter| {
            let error = letter.error.as_ref().map(note).unwrap_or_default();
            format!(
                "{} of {}, attempt {}, {error}",
                letter.kind,
                names.ingestion(letter.ingestion_id),
                letter.attempt
            )
        })
        .collect();
    lines.sort();
    Ok(section("dead letters", lines))
}

/// Of each batch and of each ingestion in their order; between them there is none. Workers come and go as they
/// are started.
pub(super) fn events(state: &State, names: &Names) -> String {
    let mut of_batch: BTreeMap<_, Vec<String>> = BTreeMap::new();
    let mut of_ingestion: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut others: Vec<String> = Vec::new();
    for event in &state.events {
        let text = names.apply(&happened(event));
        match (event.ingestion_id, event.batch_id) {
            _ if matches!(event.kind, EventType::WorkerStarted | EventType::WorkerFinished) => {}
            (Some(ingestion), _) => of_ingestion.entry(names.ingestion(ingestion)).or_default().push(text),
            (None, Some(batch)) => of_batch.entry(batch).or_default().push(text),
            (None, None) => others.push(text),
        }
    }
    let mut lines = vec![numbering(&state.events, state.oldest_event)];
    lines.extend(
        of_batch
            .iter()
            .map(|(batch, texts)| format!("{}\n    {}", names.batch(*batch), texts.join("\n    "))),
    );
    lines.extend(of_ingestion.iter().map(|(name, texts)| format!("{name}\n    {}", texts.join("\n    "))));
    others.sort();
    lines.extend(others);
    section("events", lines)
}

fn numbering(events: &[Event], oldest: i64) -> String {
    match (oldest..).zip(events).find(|(number, event)| event.id != *number) {
        Some((number, _)) => format!("NUMBER {number} IS MISSING"),
        None => "numbered without gaps".to_owned(),
    }
}

fn happened(event: &Event) -> String {
    let status = serde_json::to_string(&event.status).unwrap_or_default();
    let mut text = format!("{} {}", event.kind.name(), status.trim_matches('"'));
    if let Some(kind) = &event.task_kind {
        text.push_str(&format!(" {kind}"));
    }
    if let Some(document) = event.document_id {
        text.push_str(&format!(" of {document}"));
    }
    let mut detail = event.detail.clone();
    if let Some(detail) = detail.as_object_mut() {
        // Which of two equal files is the duplicate is a race; how many there are is told of their document.
        detail.remove("duplicate");
    }
    if detail.as_object().is_none_or(|detail| !detail.is_empty()) {
        text.push_str(&format!(" {detail}"));
    }
    text
}

/// Every blob that a row names is there and is what the row says. Others may be left by crashes; pruning takes
/// them.
pub(super) async fn blobs(store: &dyn Store, blobs: &dyn Blobs, state: &State) -> Result<String> {
    let mut expected: BTreeMap<BlobKey, ContentHash> = BTreeMap::new();
    for artifact in state.ingestions.iter().flat_map(|ingestion| &ingestion.artifacts) {
        expected.insert(artifact.key.clone(), artifact.hash);
    }
    let originals: BTreeMap<String, ContentHash> =
        state.documents.iter().map(|d| (format!("documents/{}.", d.document_id), d.content_hash)).collect();
    let mut lines = Vec::new();
    let mut after: Option<BlobKey> = None;
    loop {
        let keys = store.blob_keys(after.as_ref(), PAGE).await?;
        for key in &keys {
            let prefix = &key.as_str()[..=key.as_str().find('.').unwrap_or(0)];
            let hash = expected.remove(key).or_else(|| originals.get(prefix).copied());
            match hash_of(blobs, key).await? {
                None => lines.push(format!("MISSING {key}")),
                Some(found) if Some(found) != hash => lines.push(format!("DIFFERENT {key}")),
                Some(_) => {}
            }
        }
        let Some(last) = keys.last() else { break };
        after = Some(last.clone());
    }
    lines.extend(expected.keys().map(|key| format!("UNLISTED {key}")));
    if lines.is_empty() {
        lines.push("all that are named are there and whole".to_owned());
    }
    Ok(section("blobs", lines))
}

async fn hash_of(blobs: &dyn Blobs, key: &BlobKey) -> Result<Option<ContentHash>> {
    match blobs.open(key, u64::MAX).await {
        Ok(Content::Inline(bytes)) => Ok(Some(ContentHash::of(&bytes))),
        Ok(Content::File(..)) => Err(Error::bug(format!("{key} came as a file although it may come inline"))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a process that has ended leaves.
pub(super) async fn engine(store: &dyn Store, tenant: TenantId) -> Result<String> {
    let status = store.status(tenant).await?;
    let (t, i) = (status.tasks, status.ingestions);
    let lines = [
        format!("tasks: queued {}, held {}, running {}, dead {}", t.queued, t.held, t.running, t.dead),
        format!(
            "ingestions: in progress {}, completed {}, failed {}, skipped {}, cancelled {}",
            i.in_progress, i.completed, i.failed, i.skipped, i.cancelled
        ),
        format!("workers: {}", status.workers.len()),
        format!("paused kinds: {:?}", status.paused_kinds),
        format!("changed documents: {}", store.changes(0, usize::MAX >> 1).await?.len()),
    ];
    Ok(section("engine", lines))
}
