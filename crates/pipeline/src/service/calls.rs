//! One answer for each call.

use std::path::Path;
use std::time::Duration;

use docmill_core::access::{Actor, TenantsAnswer};
use docmill_core::answer::{
    AuditAnswer, CountAnswer, DeadAnswer, FacetsAnswer, IndexState, IngestionAnswer, LedgerAnswer,
    PagesAnswer, ProblemsAnswer, ShowAnswer, TextAnswer, WorkAnswer, WorkersAnswer,
};
use docmill_core::batch::{BatchChange, BatchState, BatchTotals, NewBatch, Walk};
use docmill_core::call::Call;
use docmill_core::document::DocumentState;
use docmill_core::id::{BatchId, IngestionId, TaskId, TenantId};
use docmill_core::ingestion::Stage;
use docmill_core::ports::filter::is_media_type;
use docmill_core::ports::store::ListQuery;
use docmill_core::problem::ResultCode;
use docmill_core::record::RecordQuery;
use docmill_core::review::{LOCKED_FOR, ReviewAnswer, ReviewQuery};
use docmill_core::{Error, Result, crash};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::{Inner, doctor, find_head, keys, no_document, remove, reprocess, reviews, schemas, search, tags};
use crate::engine::known_kind;
use crate::maintenance::{backup, prune, verify};
use crate::transcripts;

/// A batch that is waited for is looked at no more often than this…
const LOOK_AT_MOST_EVERY: Duration = Duration::from_millis(20);
/// …and at least this often.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_millis(200);
/// No page is longer.
const MAX_LIMIT: usize = 1_000;

/// Answers `call`.
pub(super) async fn answer(inner: &Inner, tenant: TenantId, actor: &Actor, call: Call) -> Result<Value> {
    let store = &inner.deps.store;
    match call {
        Call::OpenBatch { batch } => open_batch(inner, NewBatch { tenant_id: tenant, ..batch }).await,
        Call::SealBatch { batch_id, walk } => seal_batch(inner, tenant, batch_id, walk).await,
        Call::Batch { batch } => json(find_batch(inner, tenant, &batch).await?),
        Call::WaitBatch { batch_id, wait_ms } => {
            json(wait_batch(inner, tenant, batch_id, Duration::from_millis(wait_ms)).await?)
        }
        Call::List { state, kind, language, since, until, batch, tag, text, limit, cursor } => {
            let state = state.as_deref().map(document_state).transpose()?;
            let ids = match text.filter(|text| !text.trim().is_empty()) {
                Some(text) => Some(search::find(inner, tenant, text, MAX_LIMIT).await?),
                None => None,
            };
            let limit = limit.min(MAX_LIMIT);
            let tag = match tag {
                Some(tag) => Some(tags::key_of(inner, tenant, &tag).await?),
                None => None,
            };
            let (media_type, kind) = match kind {
                Some(all) if matches!(all.as_str(), "" | "*") => (None, None),
                Some(media_type) if is_media_type(&media_type) => (Some(media_type), None),
                kind => (None, kind),
            };
            let query =
                ListQuery { state, media_type, kind, language, since, until, batch, tag, ids, limit, cursor };
            json(store.list(tenant, &query).await?)
        }
        Call::Ingestion { id } => json(find_ingestion(inner, tenant, id).await?),
        Call::Pages { id } => json(pages(inner, tenant, &id).await?),
        Call::Remove { id } => json(remove::remove(inner, tenant, &id).await?),
        Call::Batches { limit, cursor } => {
            json(store.batches(tenant, limit.clamp(1, MAX_LIMIT), cursor.as_deref()).await?)
        }
        Call::Facets => json(facets(inner, tenant).await?),
        Call::Work { batch } => json(WorkAnswer { work: store.work(tenant, batch).await? }),
        Call::Problems => json(ProblemsAnswer { problems: store.problems(tenant).await? }),
        Call::RetryProblem { cause } => json(reprocess::retry_problem(inner, tenant, cause).await?),
        Call::Workers => json(WorkersAnswer { workers: store.workers().await? }),
        Call::KeyCreate { name, role } => json(keys::create(inner, tenant, actor, name, role).await?),
        Call::Keys => json(keys::list(inner, tenant).await?),
        Call::KeyRevoke { id } => json(keys::revoke(inner, tenant, actor, id).await?),
        Call::Tenants => json(TenantsAnswer { tenants: store.tenants().await? }),
        Call::TenantCreate { name } => create_tenant(inner, &name).await,
        Call::AuditLog { after, limit } => {
            json(store.audit_log(tenant, after, limit.clamp(1, MAX_LIMIT)).await?)
        }
        Call::Show { id } => json(show(inner, tenant, &id).await?),
        Call::Text { id } => text(inner, tenant, &id).await,
        Call::Search { query, mode, limit, filters } => {
            let asked = search::Asked { query, mode, limit: limit.min(MAX_LIMIT), filters };
            json(search::search(inner, tenant, asked).await?)
        }
        Call::Similar { id, limit } => json(search::similar(inner, tenant, &id, limit.min(MAX_LIMIT)).await?),
        Call::Near { id } => json(tags::near(inner, tenant, &id).await?),
        Call::Tags { containing, limit, cursor } => {
            json(tags::list(inner, tenant, containing, limit.min(MAX_LIMIT), cursor).await?)
        }
        Call::MergeTags { from, into } => json(tags::merge(inner, tenant, &from, &into).await?),
        Call::SimilarTags { limit } => json(tags::similar(inner, tenant, limit.min(MAX_LIMIT)).await?),
        Call::Status => status(inner, tenant).await,
        Call::Why { id } => json(store.why(tenant, &id).await?.ok_or_else(|| no_document(&id))?),
        Call::Audit { batch } => audit(inner, tenant, batch.as_deref()).await,
        Call::Ledger { batch } => json(ledger(inner, tenant, batch.as_deref()).await?),
        Call::Retry { id } => retry(inner, tenant, id.as_deref()).await,
        Call::Reprocess { ids, filter, from, dry_run } => {
            json(reprocess::reprocess(inner, tenant, &ids, filter.as_deref(), from, dry_run).await?)
        }
        Call::ChangeBatch { batch, change } => change_batch(inner, tenant, &batch, change).await,
        Call::PauseKind { kind, paused } => {
            let kind = known_kind(&kind)?;
            let held = store.status(tenant).await?.paused_kinds.iter().any(|held| held == kind.as_str());
            store.pause_kind(&kind, paused).await?;
            counted(u64::from(held != paused))
        }
        Call::DeadList { limit } => {
            json(DeadAnswer { dead: store.dead(tenant, limit.min(MAX_LIMIT)).await? })
        }
        Call::DeadReplay { ids } => counted(store.dead_replay(tenant, some(ids.as_ref())).await?),
        Call::DeadDrop { ids } => counted(store.dead_drop(tenant, some(ids.as_ref())).await?),
        Call::Events { mut filter } => {
            filter.limit = Some(filter.limit.unwrap_or(MAX_LIMIT).min(MAX_LIMIT));
            json(store.events(tenant, &filter).await?)
        }
        Call::Schemas => json(schemas::list(inner, tenant).await?),
        Call::Schema { name } => json(schemas::show(inner, tenant, &name).await?),
        Call::SchemaAdd { name, schema } => json(schemas::add(inner, tenant, &name, &schema).await?),
        Call::SchemaTest { schema, id } => json(schemas::test(inner, tenant, schema, &id).await?),
        Call::Records { query } => {
            let query = RecordQuery { limit: query.limit.clamp(1, MAX_LIMIT), ..query };
            json(schemas::records(inner, tenant, &query).await?)
        }
        Call::Reviews { schema, done, limit, cursor } => {
            let query = ReviewQuery { schema, done, limit: limit.clamp(1, MAX_LIMIT), cursor };
            json(store.reviews(tenant, &query).await?)
        }
        Call::Review { id } => json(ReviewAnswer::from(reviews::find(inner, tenant, id).await?)),
        Call::ReviewLock { id, locked: true } => {
            json(store.lock_review(tenant, id, &actor.reviewer(), LOCKED_FOR).await?)
        }
        Call::ReviewLock { id, locked: false } => {
            json(store.unlock_review(tenant, id, &actor.reviewer()).await?)
        }
        Call::ReviewDecide { id, verdict } => {
            json(reviews::decide(inner, tenant, &actor.reviewer(), id, verdict).await?)
        }
        Call::Corrections { limit, cursor } => {
            let limit = limit.clamp(1, MAX_LIMIT);
            json(store.corrections_made(tenant, cursor.as_deref(), limit).await?)
        }
        Call::Backup { to } => counted(backup::backup(inner, Path::new(&to)).await?),
        Call::Doctor => json(doctor::examine(inner, tenant).await),
        Call::IndexRebuild { meanings } => {
            inner.deps.index.rewind().await?;
            if meanings {
                inner.deps.vectors.rewind().await?;
            }
            counted(store.status(tenant).await?.documents)
        }
        Call::Prune => {
            let pruned = prune::prune(inner).await?;
            counted(pruned.blobs + pruned.uploads + pruned.events)
        }
    }
}

fn some(ids: Option<&Vec<TaskId>>) -> Option<&[TaskId]> {
    ids.map(Vec::as_slice)
}

fn json(answer: impl Serialize) -> Result<Value> {
    serde_json::to_value(answer).map_err(|e| Error::bug("cannot write an answer as JSON").with_source(e))
}

fn counted(count: u64) -> Result<Value> {
    json(CountAnswer { count, ..CountAnswer::default() })
}

fn document_state(name: &str) -> Result<DocumentState> {
    DocumentState::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = DocumentState::ALL.iter().map(|state| state.name()).collect();
        Error::invalid_request(format!("`{name}` is not a state of a document"))
            .with_hint(format!("the states are {}", names.join(", ")))
    })
}

async fn open_batch(inner: &Inner, batch: NewBatch) -> Result<Value> {
    crash::point("batch.open.before");
    let run = inner.deps.store.open_batch(batch).await?;
    crash::point("batch.open.after");
    json(run)
}

async fn seal_batch(inner: &Inner, tenant: TenantId, batch: BatchId, walk: Walk) -> Result<Value> {
    crash::point("batch.seal.before");
    let totals = inner.deps.store.seal_batch(tenant, batch, walk).await?;
    crash::point("batch.seal.after");
    json(totals)
}

/// Documents that facets are counted over. Reading so many takes some tens of milliseconds.
const FACETED: usize = 10_000;

async fn facets(inner: &Inner, tenant: TenantId) -> Result<FacetsAnswer> {
    let list = inner.deps.store.list(tenant, &ListQuery::all(FACETED)).await?;
    let mut facets = FacetsAnswer {
        counted: list.documents.len() as u64,
        complete: list.next_cursor.is_none(),
        ..FacetsAnswer::default()
    };
    for line in list.documents {
        *facets.states.entry(line.state.name().to_owned()).or_default() += 1;
        if let Some(media_type) = line.media_type {
            *facets.types.entry(media_type).or_default() += 1;
        }
        if let Some(kind) = line.kind {
            *facets.kinds.entry(kind).or_default() += 1;
        }
        if let Some(language) = line.language {
            *facets.languages.entry(language).or_default() += 1;
        }
    }
    Ok(facets)
}

/// By id or name, or `not_found`.
pub(super) async fn find_batch(inner: &Inner, tenant: TenantId, batch: &str) -> Result<BatchTotals> {
    inner.deps.store.find_batch(tenant, batch).await?.ok_or_else(|| {
        Error::not_found(format!("no batch has the id or name `{}`", docmill_core::text::shown(batch)))
            .with_hint("`docmill status` shows the batches there are")
    })
}

/// Whether tags and near duplicates are known up to a change. A catalogue that does not get on is not waited for.
async fn is_catalogued(inner: &Inner, upto: i64) -> Result<bool> {
    Ok(inner.catalogue_error().is_some() || inner.deps.store.catalogued().await? >= upto)
}

/// Waits until the batch has ended and everything of it can be searched, or until the time is up.
async fn wait_batch(inner: &Inner, tenant: TenantId, batch: BatchId, wait: Duration) -> Result<BatchTotals> {
    let id = batch.to_string();
    let until = Instant::now() + wait;
    let mut changed = inner.deps.store.changed();
    let mut indexed = inner.indexed.subscribe();
    let mut catalogued = inner.catalogued.subscribe();
    loop {
        changed.borrow_and_update();
        indexed.borrow_and_update();
        catalogued.borrow_and_update();
        let totals = find_batch(inner, tenant, &id).await?;
        let ended = matches!(totals.state, BatchState::Finished | BatchState::Cancelled);
        if ended
            && inner.deps.index.watermark().await? >= totals.change_seq
            && is_catalogued(inner, totals.change_seq).await?
        {
            return Ok(totals);
        }
        let now = Instant::now();
        if now >= until {
            return Ok(totals);
        }
        // Under load something changes all the time: look at a steady pace then.
        tokio::time::sleep_until((now + LOOK_AT_MOST_EVERY).min(until)).await;
        tokio::select! {
            Ok(()) = changed.changed() => {}
            Ok(()) = indexed.changed() => {}
            Ok(()) = catalogued.changed() => {}
            () = tokio::time::sleep_until((now + LOOK_AT_LEAST_EVERY).min(until)) => {}
        }
    }
}

/// What the store knows, and what the file says of itself, which lies with its text.
async fn show(inner: &Inner, tenant: TenantId, id: &str) -> Result<ShowAnswer> {
    let mut answer = inner.deps.store.show(tenant, id).await?.ok_or_else(|| no_document(id))?;
    tags::complete(inner, tenant, &mut answer).await?;
    let head = find_head(&inner.deps, tenant, id).await?;
    if let Some(key) = &head.transcription {
        let limit = inner.deps.settings.limits.max_text_bytes;
        match transcripts::load_metadata(inner.deps.blobs.as_ref(), key, limit).await {
            Ok(metadata) => answer.metadata = metadata,
            // Everything else is still worth showing; `verify` tells of blobs that are missing.
            Err(error) => {
                tracing::warn!(document_id = %answer.document_id, error = %error.for_log(), "document is shown without its metadata");
            }
        }
    }
    Ok(answer)
}

async fn text(inner: &Inner, tenant: TenantId, id: &str) -> Result<Value> {
    let head = find_head(&inner.deps, tenant, id).await?;
    let text = match &head.transcription {
        None => String::new(),
        Some(key) => {
            let limit = inner.deps.settings.limits.max_text_bytes;
            inner.looking.load(inner.deps.blobs.as_ref(), key, limit).await?.text()
        }
    };
    json(TextAnswer { text })
}

async fn pages(inner: &Inner, tenant: TenantId, id: &str) -> Result<PagesAnswer> {
    let head = find_head(&inner.deps, tenant, id).await?;
    let Some(key) = &head.transcription else { return Ok(PagesAnswer::default()) };
    let limit = inner.deps.settings.limits.max_text_bytes;
    let transcript = inner.looking.load(inner.deps.blobs.as_ref(), key, limit).await?.take();
    Ok(PagesAnswer { metadata: transcript.metadata, pages: transcript.pages })
}

async fn find_ingestion(inner: &Inner, tenant: TenantId, id: IngestionId) -> Result<IngestionAnswer> {
    inner
        .deps
        .store
        .ingestion(tenant, id)
        .await?
        .ok_or_else(|| Error::not_found(format!("no ingestion has the id `{id}`")))
}

/// Waits until an ingestion has ended and can be found by a search, or until the time is up.
pub(super) async fn wait_ingestion(
    inner: &Inner,
    tenant: TenantId,
    id: IngestionId,
    wait: Duration,
) -> Result<IngestionAnswer> {
    let until = Instant::now() + wait;
    let mut changed = inner.deps.store.changed();
    let mut indexed = inner.indexed.subscribe();
    let mut ended_by = None;
    loop {
        changed.borrow_and_update();
        indexed.borrow_and_update();
        let answer = find_ingestion(inner, tenant, id).await?;
        if answer.ended() && ended_by.is_none() {
            ended_by = Some(inner.deps.store.last_change().await?);
        }
        let found = match ended_by {
            Some(change) => inner.deps.index.watermark().await? >= change,
            None => false,
        };
        let now = Instant::now();
        if found || now >= until {
            return Ok(answer);
        }
        // Under load something changes all the time: look at a steady pace then.
        tokio::time::sleep_until((now + LOOK_AT_MOST_EVERY).min(until)).await;
        tokio::select! {
            Ok(()) = changed.changed() => {}
            Ok(()) = indexed.changed() => {}
            () = tokio::time::sleep_until((now + LOOK_AT_LEAST_EVERY).min(until)) => {}
        }
    }
}

async fn create_tenant(inner: &Inner, name: &str) -> Result<Value> {
    keys::check_name("tenant", name)?;
    let tenant_id = inner.deps.store.tenant(name).await?;
    let tenants = inner.deps.store.tenants().await?;
    json(TenantsAnswer { tenants: tenants.into_iter().filter(|line| line.tenant_id == tenant_id).collect() })
}

async fn status(inner: &Inner, tenant: TenantId) -> Result<Value> {
    let mut status = inner.deps.store.status(tenant).await?;
    status.free_disk_bytes = inner.disk.free_bytes(&inner.deps).await?;
    status.index = IndexState {
        watermark: inner.deps.index.watermark().await?,
        last: inner.deps.store.last_change().await?,
    };
    status.meanings = meanings(inner, status.index.last).await;
    json(status)
}

/// How far search by meaning is; nothing where there is no model, or where its index does not get on: nobody should wait
/// for that, and everything else is still worth telling.
async fn meanings(inner: &Inner, last: i64) -> Option<IndexState> {
    if inner.deps.embedder.available().is_err() || inner.embedding_error().is_some() {
        return None;
    }
    match inner.deps.vectors.watermark(inner.deps.embedder.model()).await {
        Ok(watermark) => Some(IndexState { watermark, last }),
        Err(error) => {
            tracing::warn!(error = %error.for_log(), "cannot tell how far search by meaning is");
            None
        }
    }
}

async fn audit(inner: &Inner, tenant: TenantId, batch: Option<&str>) -> Result<Value> {
    let ledger = ledger(inner, tenant, batch).await?;
    let blobs = verify::audit(&inner.deps).await?;
    json(AuditAnswer {
        balanced: ledger.balanced && blobs.missing == 0,
        expected: ledger.expected,
        completed: ledger.completed,
        failed: ledger.failed,
        skipped: ledger.skipped,
        duplicates: ledger.duplicates,
        cancelled: ledger.cancelled,
        open: ledger.open,
        unsealed: ledger.unsealed,
        containers: ledger.containers,
        blobs,
    })
}

async fn ledger(inner: &Inner, tenant: TenantId, batch: Option<&str>) -> Result<LedgerAnswer> {
    let batch = match batch {
        Some(batch) => Some(find_batch(inner, tenant, batch).await?.batch_id),
        None => None,
    };
    let ledger = inner.deps.store.ledger(tenant, batch).await?;
    Ok(LedgerAnswer {
        balanced: ledger.balanced(),
        expected: ledger.expected,
        completed: ledger.completed,
        failed: ledger.failed,
        skipped: ledger.skipped,
        duplicates: ledger.duplicates,
        cancelled: ledger.cancelled,
        open: ledger.open,
        unsealed: ledger.unsealed,
        containers: ledger.containers,
    })
}

async fn retry(inner: &Inner, tenant: TenantId, id: Option<&str>) -> Result<Value> {
    let store = &inner.deps.store;
    if let Some(id) = id
        && store.why(tenant, id).await?.is_none()
    {
        return Err(no_document(id));
    }
    let answer = store.retry(tenant, id).await?;
    if let Some(id) = id
        && answer.count == 0
        && let Some(stage) = unfinished(inner, tenant, id).await?
    {
        // There is no dead letter to go on from.
        let ids = [id.to_owned()];
        return json(reprocess::reprocess(inner, tenant, &ids, None, Some(stage), false).await?);
    }
    json(answer)
}

/// Where to begin with a document that left no dead letter: at the beginning, if it failed or a limit cut it short, because
/// the limit may be another one now; otherwise with what only adds to it, if that is what failed.
async fn unfinished(inner: &Inner, tenant: TenantId, id: &str) -> Result<Option<Stage>> {
    let Some(shown) = inner.deps.store.show(tenant, id).await? else { return Ok(None) };
    let has = |code: ResultCode| shown.problems.iter().any(|problem| problem.code == code);
    let nameless = shown.state == DocumentState::Unclassified && inner.deps.llm.is_some();
    Ok(match shown.status {
        Stage::Failed => Some(Stage::Intake),
        Stage::Completed if has(ResultCode::LimitExceeded) => Some(Stage::Intake),
        Stage::Completed if has(ResultCode::NotClassified) || nameless => Some(Stage::Classifying),
        Stage::Completed if has(ResultCode::NotExtracted) => Some(Stage::Extracting),
        _ => None,
    })
}

async fn change_batch(inner: &Inner, tenant: TenantId, batch: &str, change: BatchChange) -> Result<Value> {
    let batch_id = find_batch(inner, tenant, batch).await?.batch_id;
    let count = inner.deps.store.change_batch(tenant, batch_id, change).await?;
    if change == BatchChange::Cancel {
        // The running work finds out by renewing its leases: let it do so now.
        inner.renew_now.send_modify(|times| *times += 1);
    }
    json(CountAnswer { count, batch_id: Some(batch_id), ..CountAnswer::default() })
}
