//! Documents: bringing them in, looking at them, processing them again, taking them out.

use axum::http::{HeaderMap, Method, StatusCode};
use axum::routing::{delete, get, post};
use docmill_core::answer::{CountAnswer, ListAnswer, PagesAnswer, ShowAnswer, TextAnswer, TimelineLine};
use docmill_core::call::Call;
use docmill_core::clock::Timestamp;
use docmill_core::document::DocumentState;
use docmill_core::id::{BatchId, DocumentId, IngestionId};
use docmill_core::ingestion::Stage;
use docmill_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::{self, Anything};
use super::input::{Asked, At, Perhaps, Told};
use super::operation::Operation;
use super::reply::{self, Answer};
use super::upload;
use crate::access::Cx;

/// Documents of a page, unless asked for fewer or more.
const PAGE: usize = 50;
/// Documents of one call that names them.
const MAX_IDS: usize = 1000;

pub(super) fn operations() -> Vec<Operation> {
    let mut all = bringing("/v1/documents", "addDocuments", "listDocuments");
    // The names that other systems have for the same.
    all.extend(bringing("/api/documents", "addDocumentsAlias", "listDocumentsAlias"));
    all.push(showing("/api/documents/{id}", "getDocumentAlias"));
    all.extend([
        Operation::change(
            Method::POST,
            "/v1/documents/reprocess",
            "reprocessDocuments",
            "Process many documents again",
            post(reprocess_many),
        )
        .takes::<Many>()
        .answers::<CountAnswer>(200, "How many are started, and in which batch."),
        showing("/v1/documents/{id}", "getDocument"),
        Operation::change(
            Method::DELETE,
            "/v1/documents/{id}",
            "removeDocument",
            "Take a document out, with everything that was made from it",
            delete(remove),
        )
        .answers_nothing(204, "It is gone. Its ingestions stay in the account."),
        Operation::get("/v1/documents/{id}/content", "getContent", "The original", get(content::content))
            .header("Range", "A part of it: `bytes=0-1023`.")
            .or_signed()
            .answers_as::<Anything>(200, "All of it, to be saved.", "*/*")
            .answers_as::<Anything>(206, "The part that was asked for.", "*/*")
            .answers_nothing(304, "The caller has it already."),
        Operation::change(
            Method::POST,
            "/v1/documents/{id}/link",
            "linkContent",
            "A link to the original that works without a key, for 15 minutes at most",
            post(content::link),
        )
        .for_readers()
        .takes::<content::Wanted>()
        .or_nothing()
        .answers::<content::LinkAnswer>(200, "The link."),
        Operation::get("/v1/documents/{id}/text", "getText", "Its text", get(text))
            .answers::<TextAnswer>(200, "The text; as `text/plain` if that is what the caller accepts."),
        Operation::get("/v1/documents/{id}/pages", "getPages", "Its text page by page", get(pages))
            .answers::<PagesAnswer>(200, "The pages."),
        Operation::get("/v1/documents/{id}/timeline", "getTimeline", "What happened to it", get(timeline))
            .answers::<TimelineAnswer>(200, "Every attempt."),
        Operation::change(
            Method::POST,
            "/v1/documents/{id}/reprocess",
            "reprocessDocument",
            "Process it again, unless that is being done",
            post(reprocess),
        )
        .takes::<Again>()
        .or_nothing()
        .answers::<AgainAnswer>(200, "It is queued, or why it is not."),
        Operation::change(
            Method::POST,
            "/v1/documents/{id}/retry",
            "retryDocument",
            "Let its dead letters go on",
            post(retry),
        )
        .answers::<CountAnswer>(200, "How many ingestions go on."),
    ]);
    all
}

fn bringing(path: &'static str, add: &'static str, list_id: &'static str) -> Vec<Operation> {
    vec![
        Operation::get(path, list_id, "Documents, newest first, without bodies", get(list))
            .asked::<ListParams>()
            .answers::<ListAnswer>(200, "A page of them."),
        Operation::change(Method::POST, path, add, "Bring documents in", post(upload::upload))
            .asked::<upload::Params>()
            .header(
                upload::IDEMPOTENCY_KEY,
                "A request that is repeated with the same key within a day is done once.",
            )
            .takes_as::<upload::Form>("multipart/form-data")
            .answers::<upload::FinishedAnswer>(200, "With `mode=sync`: the documents and their text.")
            .answers::<upload::QueuedAnswer>(202, "They are stored and queued.")
            .with("Location", "The first ingestion."),
    ]
}

fn showing(path: &'static str, id: &'static str) -> Operation {
    Operation::get(path, id, "Everything about one document", get(show))
        .answers::<ShowAnswer>(200, "The document.")
        .with("ETag", "Changes with the answer.")
        .answers_nothing(304, "The caller has this answer already.")
}

/// Which documents. A filter that is not known is refused, as ignoring it would list what was not asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListParams {
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// Only in this state.
    state: Option<DocumentState>,
    /// Only what is this: a type of document (`invoice`) or, with a slash, a media type; `image/*` is every image.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Only in this language, as `en`.
    language: Option<String>,
    /// Only what first came in at this moment or later.
    since: Option<Timestamp>,
    /// Only what first came in before this moment.
    until: Option<Timestamp>,
    /// Only what came in with this batch, also if it was there before.
    batch_id: Option<BatchId>,
    /// Only what has this tag.
    tag: Option<String>,
    /// Only those that this query finds, as in search; of very many the best thousand.
    q: Option<String>,
}

async fn list(cx: Cx, Asked(params): Asked<ListParams>) -> Answer {
    let call = Call::List {
        state: params.state.map(|state| state.name().to_owned()),
        kind: params.kind,
        language: params.language,
        since: params.since,
        until: params.until,
        batch: params.batch_id,
        tag: params.tag,
        text: params.q,
        limit: within(params.limit, PAGE)?,
        cursor: params.cursor,
    };
    reply::call(&cx, call).await
}

/// A place in a log as asked for, if it makes sense.
pub(super) fn behind(after: Option<i64>) -> Result<i64> {
    match after {
        Some(after) if after < 0 => Err(Error::invalid_request(format!("`after={after}` is less than 0"))),
        after => Ok(after.unwrap_or(0)),
    }
}

/// A limit as asked for, if it makes sense.
pub(super) fn within(limit: Option<usize>, usual: usize) -> Result<usize> {
    match limit {
        None => Ok(usual),
        Some(limit @ 1..=1000) => Ok(limit),
        Some(limit) => Err(Error::invalid_request(format!("`limit={limit}` is not a number from 1 to 1000"))),
    }
}

async fn show(cx: Cx, At(id): At<String>, headers: HeaderMap) -> Answer {
    let shown = reply::ask(&cx, Call::Show { id }).await?;
    reply::tagged(&headers, &shown)
}

async fn remove(cx: Cx, At(id): At<String>) -> Answer {
    // Looked for first, so that the audit log holds what was done to documents that are there.
    cx.web.service.head(cx.caller.tenant, &id).await?;
    reply::ask(&cx, Call::Remove { id }).await?;
    Ok(reply::nothing())
}

async fn text(cx: Cx, At(id): At<String>, headers: HeaderMap) -> Answer {
    let answer = reply::ask(&cx, Call::Text { id }).await?;
    let accepted = headers.get("accept").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepted.split(',').next().is_some_and(|first| first.trim().starts_with("text/plain")) {
        let text = answer["text"].as_str().unwrap_or_default().to_owned();
        return Ok(reply::whole(StatusCode::OK, "text/plain; charset=utf-8", text.into()));
    }
    reply::json(StatusCode::OK, &answer)
}

async fn pages(cx: Cx, At(id): At<String>) -> Answer {
    reply::call(&cx, Call::Pages { id }).await
}

/// What happened to a document.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct TimelineAnswer {
    /// In order.
    timeline: Vec<TimelineLine>,
}

async fn timeline(cx: Cx, At(id): At<String>) -> Answer {
    let mut shown = reply::ask(&cx, Call::Show { id }).await?;
    let timeline = shown.get_mut("timeline").map(Value::take).unwrap_or_default();
    reply::json(StatusCode::OK, &serde_json::json!({ "timeline": timeline }))
}

/// Where to begin.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Again {
    /// The stage to begin at: `intake`, `unpacking`, `transcribing`, `classifying`, `extracting`, `embedding` or `indexing`;
    /// from the start if it is left out. `rendering` starts nothing: pages are drawn when somebody looks at them.
    from: Option<Stage>,
}

/// What became of it.
#[derive(Debug, Serialize, JsonSchema)]
struct AgainAnswer {
    /// `queued` or `skipped`.
    status: AgainStatus,
    /// The new ingestion.
    #[serde(skip_serializing_if = "Option::is_none")]
    ingestion_id: Option<IngestionId>,
    /// Why it was skipped: `busy` (it is at work anyway), `unsupported` (nothing here reads its type), `no_schema` (it is
    /// of no kind that records are taken of) or `drawn_when_viewed` (of `rendering`).
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AgainStatus {
    Queued,
    Skipped,
}

async fn reprocess(cx: Cx, At(id): At<String>, Perhaps(again): Perhaps<Again>) -> Answer {
    let head = cx.web.service.head(cx.caller.tenant, &id).await?;
    let id = head.document_id.to_string();
    let call = Call::Reprocess { ids: vec![id.clone()], filter: None, from: again.from, dry_run: false };
    let counted = reply::ask(&cx, call).await?;
    let counted: CountAnswer = serde_json::from_value(counted)
        .map_err(|e| Error::bug("a count cannot be read back").with_source(e))?;
    // A batch in which nothing was started is one that lost a race: another click was faster.
    let answer = if counted.count > 0 {
        let shown = reply::ask(&cx, Call::Show { id }).await?;
        let shown: ShowAnswer = serde_json::from_value(shown)
            .map_err(|e| Error::bug("a document cannot be read back").with_source(e))?;
        // Not the newest in any case: the same content may have come in again since.
        let ours = shown.ingestions.iter().find(|ingestion| ingestion.batch_id == counted.batch_id);
        match ours {
            Some(ours) => AgainAnswer {
                status: AgainStatus::Queued,
                ingestion_id: Some(ours.ingestion_id),
                reason: None,
            },
            None => {
                AgainAnswer { status: AgainStatus::Skipped, ingestion_id: None, reason: Some("busy".into()) }
            }
        }
    } else {
        let reason = counted.reasons.keys().next().cloned();
        AgainAnswer { status: AgainStatus::Skipped, ingestion_id: None, reason }
    };
    reply::json(StatusCode::OK, &answer)
}

/// Which documents, by id or by what they have in common.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Many {
    /// These; a thousand at most.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    ids: Vec<DocumentId>,
    /// All in this state.
    state: Option<DocumentState>,
    /// All that is this: a type of document (`invoice`) or, with a slash, a media type; `image/*` is every image.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// The stage to begin at; from the start if it is left out.
    from: Option<Stage>,
    /// Only count.
    #[serde(default)]
    dry_run: bool,
}

async fn reprocess_many(cx: Cx, Told(many): Told<Many>) -> Answer {
    let mut terms = Vec::new();
    terms.extend(many.state.map(|state| format!("state={}", state.name())));
    if let Some(kind) = &many.kind {
        if kind.is_empty() || kind.contains(" and ") {
            return Err(Error::invalid_request(format!("`{kind}` is not a type")).into());
        }
        terms.push(format!("type={kind}"));
    }
    if many.ids.is_empty() && terms.is_empty() {
        return Err(Error::invalid_request("neither `ids` nor `state` nor `type` is given").into());
    }
    if many.ids.len() > MAX_IDS {
        return Err(Error::limit_exceeded(format!(
            "{} ids are named, more than the {MAX_IDS} of one request",
            many.ids.len()
        ))
        .into());
    }
    let ids = many.ids.iter().map(ToString::to_string).collect();
    let filter = (!terms.is_empty()).then(|| terms.join(" and "));
    reply::call(&cx, Call::Reprocess { ids, filter, from: many.from, dry_run: many.dry_run }).await
}

async fn retry(cx: Cx, At(id): At<String>) -> Answer {
    reply::call(&cx, Call::Retry { id: Some(id) }).await
}
