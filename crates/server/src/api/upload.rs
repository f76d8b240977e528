//! `POST /v1/documents`: files as a form sends them, taken in together or not at all.
//!
//! A file goes to the blob store while it comes and is never whole in memory. Whether there is room, and whether the
//! caller may, is known before the first byte is read; the rows are written in one transaction at the end.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use docmill_core::access::NewAudit;
use docmill_core::answer::ShowAnswer;
use docmill_core::call::Call;
use docmill_core::id::{BatchId, DocumentId, IngestionId};
use docmill_core::ingestion::Origin;
use docmill_core::ports::store::Received;
use docmill_core::{Error, Result};
use docmill_pipeline::{Common, Together};
use futures::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::input::{Asked, holds_nul};
use super::multipart::Parts;
use super::pace::patient;
use super::reply::{self, Answer};
use crate::access::Cx;
use crate::problem::Problem;

/// Parts of one request: files, and what is said of them.
const MAX_PARTS: usize = 1000;
/// A part that is no file.
const MAX_FIELD_BYTES: usize = 64 << 10;
/// A file name and the folders before it.
const MAX_NAME_BYTES: usize = 4096;
/// A key that the caller chose.
const MAX_KEY_BYTES: usize = 255;
/// `mode=sync` answers after this time even if the work is not done.
const SYNC_WAIT: Duration = Duration::from_mins(1);

pub(super) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// How the answer is wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Params {
    /// Answer at once, or when the documents are done, but after a minute in any case.
    #[serde(default)]
    mode: Mode,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Async,
    Sync,
}

/// The form. It is described here and read as it comes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is only described: a form is read part by part")]
pub(super) struct Form {
    /// The documents; the part may be repeated.
    #[schemars(with = "Vec<File>")]
    file: Vec<Vec<u8>>,
    /// A JSON object to be kept with each of them.
    metadata: Option<String>,
    /// The batch they belong to.
    batch_id: Option<BatchId>,
    /// 0 to 99, lower first.
    #[schemars(range(min = 0, max = 99))]
    priority: Option<u8>,
}

/// Bytes.
struct File;

impl JsonSchema for File {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "File".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "binary" })
    }
}

/// An item that was taken in.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Queued {
    /// Its document.
    document_id: Option<DocumentId>,
    /// The receipt, by which its way can be followed.
    ingestion_id: IngestionId,
    /// It waits for its first task.
    status: Waiting,
    /// The content was there before.
    duplicate: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Waiting {
    Queued,
}

/// One item, or several if the request had several files.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum QueuedAnswer {
    /// Of one file.
    One(Queued),
    /// Of several.
    Several {
        /// In the order of the files.
        items: Vec<Queued>,
    },
}

/// A document that is done.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Finished {
    /// The document.
    #[serde(flatten)]
    document: ShowAnswer,
    /// Its text.
    text: String,
}

/// One document, or several if the request had several files.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "it lives for the length of one answer")]
pub(super) enum FinishedAnswer {
    /// Of one file.
    One(Finished),
    /// Of several.
    Several {
        /// In the order of the files.
        items: Vec<Finished>,
    },
}

pub(super) async fn upload(cx: Cx, Asked(params): Asked<Params>, headers: HeaderMap, body: Body) -> Answer {
    let turn = cx.web.uploads.take(cx.caller.tenant)?;
    let key = idempotency_key(&headers)?;
    let together = cx.web.service.take_in(cx.caller.tenant).await?;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let mut parts = Parts::new(kind, patient(body.into_data_stream()), MAX_PARTS)?;
    let (together, fields) = read(&mut parts, together, &cx).await?;
    let several = together.len() > 1;
    let audit = NewAudit {
        actor: cx.actor(),
        action: "document.add".into(),
        subject: fields.batch_id.map(|id| id.to_string()),
        detail: json!({ "items": together.len() }),
    };
    let common = Common {
        batch_id: fields.batch_id,
        origin: Origin::Uploader(cx.caller.name.to_string()),
        source_metadata: fields.metadata,
        priority: fields.priority,
        idempotency_key: key,
    };
    let accepted = together.commit(common, Some(audit)).await?;
    // Whoever waits for the work brings nothing more: others may.
    drop(turn);
    if params.mode == Mode::Sync
        && let Some(finished) = finish(&cx, &accepted.received, several).await?
    {
        return reply::json(StatusCode::OK, &finished);
    }
    queued(&accepted.received, several, accepted.repeated)
}

/// What a form says beside its files.
struct Fields {
    metadata: Value,
    batch_id: Option<BatchId>,
    priority: u8,
}

async fn read<S: Stream<Item = Result<bytes::Bytes>> + Unpin + Send>(
    parts: &mut Parts<S>,
    mut together: Together,
    cx: &Cx,
) -> Result<(Together, Fields)> {
    let priority = cx.web.service.deps().settings.engine.priority;
    let mut fields = Fields { metadata: json!({}), batch_id: None, priority };
    while let Some(head) = parts.next().await? {
        match head.name.as_str() {
            "file" | "files" | "file[]" | "files[]" => {
                let name = head.file_name.filter(|name| !name.is_empty()).unwrap_or_else(|| "unnamed".into());
                if name.len() > MAX_NAME_BYTES {
                    return Err(Error::invalid_request(format!(
                        "a file name has {} bytes, more than the {MAX_NAME_BYTES} it may have",
                        name.len()
                    )));
                }
                let pieces = futures::stream::try_unfold(&mut *parts, |parts| async move {
                    Ok(parts.piece().await?.map(|piece| (piece, parts)))
                });
                together.take(&name, pieces).await?;
            }
            "metadata" => {
                let text = field(parts, "metadata").await?;
                let value: Value = serde_json::from_str(&text)
                    .map_err(|e| Error::invalid_request(format!("the field `metadata` is not JSON: {e}")))?;
                if !value.is_object() {
                    return Err(Error::invalid_request("the field `metadata` is not a JSON object"));
                }
                if holds_nul(&value) {
                    return Err(Error::invalid_request("the field `metadata` holds a character U+0000"));
                }
                fields.metadata = value;
            }
            "batch_id" => {
                let batch = field(parts, "batch_id").await?;
                let id: BatchId = batch
                    .trim()
                    .parse()
                    .map_err(|e: Error| Error::invalid_request(e.message().to_owned()).with_source(e))?;
                let answer = cx.web.service.call(cx.caller.tenant, Call::Batch { batch: id.to_string() });
                answer.await?;
                fields.batch_id = Some(id);
            }
            "priority" => {
                let text = field(parts, "priority").await?;
                fields.priority = text.trim().parse().ok().filter(|p| *p < 100).ok_or_else(|| {
                    Error::invalid_request(format!(
                        "the field `priority` is `{text}`, and not a number from 0 to 99"
                    ))
                })?;
            }
            other => {
                return Err(Error::invalid_request(format!(
                    "there is no field `{}`",
                    docmill_core::text::shown(&other.chars().take(100).collect::<String>())
                ))
                .with_hint("the fields are `file`, `metadata`, `batch_id` and `priority`"));
            }
        }
    }
    if together.is_empty() {
        return Err(Error::invalid_request("the form has no file")
            .with_hint("send one as the field `file`: `curl -F file=@x.pdf …`"));
    }
    Ok((together, fields))
}

async fn field<S: Stream<Item = Result<bytes::Bytes>> + Unpin + Send>(
    parts: &mut Parts<S>,
    name: &str,
) -> Result<String> {
    let mut out = Vec::new();
    while let Some(piece) = parts.piece().await? {
        out.extend_from_slice(&piece);
        if out.len() > MAX_FIELD_BYTES {
            return Err(Error::limit_exceeded(format!(
                "the field `{name}` has more than the {MAX_FIELD_BYTES} bytes it may have"
            )));
        }
    }
    String::from_utf8(out)
        .map_err(|e| Error::invalid_request(format!("the field `{name}` is not UTF-8")).with_source(e))
}

pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    match value.to_str().ok().map(str::trim) {
        Some(key) if (1..=MAX_KEY_BYTES).contains(&key.len()) => Ok(Some(key.to_owned())),
        _ => Err(Error::invalid_request(format!(
            "the `{IDEMPOTENCY_KEY}` must be 1 to {MAX_KEY_BYTES} characters of ASCII"
        ))),
    }
}

fn queued(received: &[Received], several: bool, repeated: bool) -> Answer {
    let location = received.first().map(|r| format!("/v1/ingestions/{}", r.ingestion_id));
    let mut items: Vec<Queued> = received
        .iter()
        .map(|r| Queued {
            document_id: r.document_id,
            ingestion_id: r.ingestion_id,
            status: Waiting::Queued,
            duplicate: r.duplicate || r.known,
        })
        .collect();
    let answer = match items.pop() {
        Some(only) if !several => QueuedAnswer::One(only),
        last => {
            items.extend(last);
            QueuedAnswer::Several { items }
        }
    };
    let mut response = reply::json(StatusCode::ACCEPTED, &answer)?;
    if let Some(location) = location.and_then(|l| HeaderValue::from_str(&l).ok()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    if repeated {
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// Waits until all are done and gives them with their text; nothing if the time is up before.
async fn finish(cx: &Cx, received: &[Received], several: bool) -> Result<Option<FinishedAnswer>, Problem> {
    let wait = async {
        for item in received {
            let answer = cx.web.service.wait_for(cx.caller.tenant, item.ingestion_id, SYNC_WAIT).await?;
            if !answer.ended() {
                return Ok(false);
            }
        }
        Ok::<_, Error>(true)
    };
    let mut stopping = cx.web.stopping.clone();
    let done = tokio::select! {
        done = tokio::time::timeout(SYNC_WAIT, wait) => done.unwrap_or(Ok(false))?,
        _ = stopping.wait_for(|stop| *stop) => false,
    };
    if !done {
        return Ok(None);
    }
    let mut items = Vec::with_capacity(received.len());
    for item in received {
        let id = item.ingestion_id.to_string();
        let shown = reply::ask(cx, Call::Show { id: id.clone() }).await?;
        let text = reply::ask(cx, Call::Text { id }).await?;
        let document = serde_json::from_value(shown)
            .map_err(|e| Error::bug("a document cannot be read back").with_source(e))?;
        items.push(Finished { document, text: text["text"].as_str().unwrap_or_default().to_owned() });
    }
    Ok(Some(match items.pop() {
        Some(only) if !several => FinishedAnswer::One(only),
        last => {
            items.extend(last);
            FinishedAnswer::Several { items }
        }
    }))
}
