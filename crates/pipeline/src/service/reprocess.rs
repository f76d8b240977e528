//! `reprocess`: documents that are there go through the pipeline again, in a batch of their own.

use docmill_core::answer::CountAnswer;
use docmill_core::batch::{NewBatch, Walk};
use docmill_core::document::DocumentState;
use docmill_core::id::{BatchId, DocumentId, IngestionId, TenantId};
use docmill_core::ingestion::Stage;
use docmill_core::ports::filter::is_media_type;
use docmill_core::ports::store::{ListQuery, Selected, Selection};
use docmill_core::task::NewTask;
use docmill_core::{Error, ErrorKind, Result};
use futures::{StreamExt as _, TryStreamExt as _};

use super::calls::find_batch;
use super::{Inner, find_head, tags};
use crate::plan;
use crate::stages::extract::estimate::estimate;
use crate::stages::payload::Payload;

/// Documents that are started in one transaction.
const CHUNK: usize = 500;

/// Documents of one page of a list.
const PAGE: usize = 1_000;

/// Documents whose dead letters are looked for at once.
const SIDE_BY_SIDE: usize = 32;

/// Where work can begin.
const BEGINNINGS: [Stage; 8] = [
    Stage::Intake,
    Stage::Unpacking,
    Stage::Transcribing,
    Stage::Rendering,
    Stage::Classifying,
    Stage::Extracting,
    Stage::Embedding,
    Stage::Indexing,
];

/// Why nothing is started where only pages are to be drawn.
const DRAWN: &str = "drawn_when_viewed";

/// Starts what is selected again; a document that is at work anyway is left alone.
pub(super) async fn reprocess(
    inner: &Inner,
    tenant: TenantId,
    ids: &[String],
    filter: Option<&str>,
    from: Option<Stage>,
    dry_run: bool,
) -> Result<CountAnswer> {
    let (mut selection, beyond) = filter.map(parse).transpose()?.unwrap_or_default();
    let mut answer = CountAnswer { dry_run, ..CountAnswer::default() };
    for id in ids {
        let head = find_head(&inner.deps, tenant, id).await?;
        if inner.deps.blobs.info(&head.key).await?.is_some() {
            selection.ids.push(head.document_id);
        } else if ids.len() == 1 {
            return Err(Error::not_found(format!(
                "the original of document {} is missing",
                head.document_id
            ))
            .with_hint("restore it from a backup, or ingest the file again"));
        } else {
            // One of many does not keep the others from their turn.
            answer.skip("missing");
        }
    }
    if beyond != Beyond::default() {
        let listed = listed(inner, tenant, &selection, beyond).await?;
        selection.ids = match ids {
            [] => listed,
            _ => selection.ids.into_iter().filter(|id| listed.binary_search(id).is_ok()).collect(),
        };
        if selection.ids.is_empty() {
            return Ok(answer);
        }
    }
    if selection.ids.is_empty() && !ids.is_empty() {
        // Without any id all documents would be meant.
        return Ok(answer);
    }
    let unsupported: Vec<DocumentId> = unsupported(inner, tenant, &selection, from).await?;
    let mut taken = Vec::new();
    for selected in inner.deps.store.select(tenant, &selection).await? {
        let reason = if selected.busy {
            Some("busy")
        } else if unsupported.binary_search(&selected.head.document_id).is_ok() {
            Some("unsupported")
        } else if from == Some(Stage::Rendering) {
            Some(DRAWN)
        } else if from == Some(Stage::Extracting) && !has_schema(inner, &selected) {
            Some("no_schema")
        } else {
            None
        };
        match reason {
            Some(reason) => answer.skip(reason),
            None => taken.push(selected),
        }
    }
    answer.count = taken.len() as u64;
    let items = taken.iter().map(|selected| item(inner, selected, from)).collect::<Result<Vec<_>>>()?;
    if dry_run && from == Some(Stage::Extracting) {
        answer.model = estimate(&inner.deps, tenant, &taken).await?;
    }
    if !dry_run && !items.is_empty() {
        answer.batch_id = Some(start(inner, tenant, items).await?);
    }
    Ok(answer)
}

/// What a filter may say that lists of documents know, and a selection does not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Beyond {
    tag: Option<String>,
    name: Option<String>,
    batch: Option<String>,
    language: Option<String>,
}

/// The documents of a list, all of its pages.
async fn listed(
    inner: &Inner,
    tenant: TenantId,
    selection: &Selection,
    beyond: Beyond,
) -> Result<Vec<DocumentId>> {
    let mut query = ListQuery {
        state: selection.state,
        media_type: selection.media_type.clone(),
        kind: selection.kind.clone(),
        language: beyond.language,
        ..ListQuery::all(PAGE)
    };
    if let Some(tag) = &beyond.tag {
        query.tag = Some(tags::key_of(inner, tenant, tag).await?);
    }
    if let Some(batch) = &beyond.batch {
        query.batch = Some(find_batch(inner, tenant, batch).await?.batch_id);
    }
    let mut ids = Vec::new();
    loop {
        let page = inner.deps.store.list(tenant, &query).await?;
        let meant =
            page.documents.into_iter().filter(|line| beyond.name.as_ref().is_none_or(|n| *n == line.name));
        ids.extend(meant.map(|line| line.document_id));
        match page.next_cursor {
            Some(next) => query.cursor = Some(next),
            None => break,
        }
    }
    ids.sort_unstable();
    Ok(ids)
}

/// Tries again everything that has this problem: dead letters go on where they stopped, and what ended without becoming
/// one is started again.
pub(super) async fn retry_problem(inner: &Inner, tenant: TenantId, cause: ErrorKind) -> Result<CountAnswer> {
    let ids = inner.deps.store.having_problem(tenant, cause).await?;
    let store = &inner.deps.store;
    let retried: Vec<(DocumentId, CountAnswer)> = futures::stream::iter(ids)
        .map(|id| async move { store.retry(tenant, Some(&id.to_string())).await.map(|answer| (id, answer)) })
        .buffered(SIDE_BY_SIDE)
        .try_collect()
        .await?;
    let mut count = 0;
    let mut rest = Vec::new();
    for (id, answer) in retried {
        if answer.count > 0 {
            count += 1;
        } else {
            rest.push(id.to_string());
        }
    }
    if rest.is_empty() {
        return Ok(CountAnswer { count, ..CountAnswer::default() });
    }
    // Asked for by a person who knows what they have: a newer version may read what an older one could not.
    let started = reprocess(inner, tenant, &rest, None, Some(Stage::Intake), false).await?;
    Ok(CountAnswer { count: count + started.count, ..started })
}

/// Those selected documents that no reader takes. Asked to begin at a certain stage, docmill does as it is told:
/// a newer version may read what an older one could not.
async fn unsupported(
    inner: &Inner,
    tenant: TenantId,
    selection: &Selection,
    from: Option<Stage>,
) -> Result<Vec<DocumentId>> {
    if from.is_some() || selection.state.is_some_and(|state| state != DocumentState::Unsupported) {
        return Ok(Vec::new());
    }
    let selection = Selection { state: Some(DocumentState::Unsupported), ..selection.clone() };
    let found = inner.deps.store.select(tenant, &selection).await?;
    let mut ids: Vec<DocumentId> = found.into_iter().map(|selected| selected.head.document_id).collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Whether a document is of a type that records are taken of.
fn has_schema(inner: &Inner, selected: &Selected) -> bool {
    let kind = selected.kind.as_deref();
    kind.is_some_and(|kind| inner.deps.settings.extract.schema_of(kind).is_some())
}

type Item = (IngestionId, DocumentId, NewTask);

fn item(inner: &Inner, selected: &Selected, from: Option<Stage>) -> Result<Item> {
    let stage = from.unwrap_or(Stage::Intake);
    let engine = &inner.deps.settings.engine;
    // To index again, the text that is there will do; everything else is asked for to be done anew.
    let kept = matches!(stage, Stage::Embedding | Stage::Indexing);
    let payload = if kept { Payload::default() } else { Payload::FORCE };
    let first = plan::begin_at(stage, selected.head.bytes, &payload, engine).ok_or_else(|| {
        let names: Vec<&str> = BEGINNINGS.iter().map(|stage| stage.name()).collect();
        Error::invalid_request(format!("work cannot begin at the stage `{}`", stage.name()))
            .with_hint(format!("it can begin at {}", names.join(", ")))
    })?;
    Ok((IngestionId(inner.deps.ids.next()), selected.head.document_id, first))
}

async fn start(inner: &Inner, tenant: TenantId, items: Vec<Item>) -> Result<BatchId> {
    let deps = &inner.deps;
    let batch = NewBatch {
        tenant_id: tenant,
        batch_id: BatchId(deps.ids.next()),
        name: None,
        kind: "reprocess".into(),
        priority: deps.settings.engine.priority,
    };
    let run = deps.store.open_batch(batch).await?;
    let mut started = 0;
    for chunk in items.chunks(CHUNK) {
        started += deps.store.reprocess(tenant, run.batch_id, chunk.to_vec()).await?;
    }
    // What became busy between the look and the start was left alone by the store, and is not expected.
    let walk = Walk { walked: started, known: 0, baseline: run.baseline };
    deps.store.seal_batch(tenant, run.batch_id, walk).await?;
    Ok(run.batch_id)
}

/// `state=failed and type=invoice`
fn parse(filter: &str) -> Result<(Selection, Beyond)> {
    let (mut selection, mut beyond) = (Selection::default(), Beyond::default());
    for term in filter.split(" and ") {
        let Some((key, value)) = term.split_once('=') else {
            return Err(Error::invalid_request(format!("`{}` has no `=`", term.trim())).with_hint(GRAMMAR));
        };
        let value = value.trim();
        let key = key.trim();
        if value.is_empty() && key != "state" {
            return Err(Error::invalid_request(format!("`{key}=` has no value")).with_hint(GRAMMAR));
        }
        match key {
            "state" => {
                let state = DocumentState::from_name(value).ok_or_else(|| {
                    let names: Vec<&str> = DocumentState::ALL.iter().map(|state| state.name()).collect();
                    Error::invalid_request(format!("`{value}` is not a state of a document"))
                        .with_hint(format!("the states are {}", names.join(", ")))
                })?;
                selection.state = Some(state);
            }
            "type" if is_media_type(value) => selection.media_type = Some(value.to_owned()),
            "type" => selection.kind = Some(value.to_owned()),
            "tag" => beyond.tag = Some(value.to_owned()),
            "name" => beyond.name = Some(value.to_owned()),
            "batch" => beyond.batch = Some(value.to_owned()),
            "language" => beyond.language = Some(value.to_owned()),
            key => {
                return Err(
                    Error::invalid_request(format!("`{key}` cannot be filtered by")).with_hint(GRAMMAR)
                );
            }
        }
    }
    Ok((selection, beyond))
}

const GRAMMAR: &str = "the keys are `state`, `type`, `tag`, `name`, `batch` and `language`, as in \
    `state=failed and type=application/pdf` or `tag=office`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_takes_state_and_type_joined_with_and() {
        let (selection, beyond) = parse("state=failed and type = application/pdf").unwrap();
        assert_eq!((selection.state, beyond), (Some(DocumentState::Failed), Beyond::default()));
        assert_eq!(selection.state, Some(DocumentState::Failed));
        assert_eq!((selection.media_type.as_deref(), selection.kind), (Some("application/pdf"), None));
        // A media type has a slash, and what a document is has none.
        let (selection, _) = parse("type=invoice").unwrap();
        assert_eq!((selection.media_type, selection.kind.as_deref()), (None, Some("invoice")));
    }

    #[test]
    fn parse_takes_what_lists_know_beside_them() {
        let (selection, beyond) =
            parse("tag=office chairs and name=a=b.txt and batch=b1 and language=eng").unwrap();
        assert_eq!(selection, Selection::default());
        let said = |text: &str| Some(text.to_owned());
        let all = Beyond {
            tag: said("office chairs"),
            name: said("a=b.txt"),
            batch: said("b1"),
            language: said("eng"),
        };
        assert_eq!(beyond, all);
    }

    #[test]
    fn parse_of_an_unknown_key_lists_the_known_ones() {
        for filter in ["size=3", "state", "state=odd", "type= ", "tag="] {
            let error = parse(filter).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidRequest);
            assert!(error.hint().is_some(), "{filter}");
        }
        assert!(parse("size=3").unwrap_err().hint().unwrap().contains("`state`, `type`, `tag`"));
    }
}
