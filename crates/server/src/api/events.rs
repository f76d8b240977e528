//! The event log, as pages and as a stream.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;
use docmill_core::answer::EventsAnswer;
use docmill_core::call::Call;
use docmill_core::event::{EventFilter, EventType};
use docmill_core::id::{BatchId, DocumentId};
use docmill_core::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;

use super::documents::{behind, within};
use super::hub::{Feed, Told};
use super::input::Asked;
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

/// Events of one answer, unless asked for fewer.
const PAGE: usize = 1000;
/// A stream that is silent for longer would be taken for a broken one.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// After a break, a browser connects again after this many milliseconds.
const RECONNECT_MS: u32 = 1000;

const LAST_EVENT_ID: &str = "Last-Event-ID";

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/v1/events", "listEvents", "What happened, in order", get(list))
            .asked::<Params>()
            .answers::<EventsAnswer>(200, "A page of events, and where the next begins."),
        Operation::get("/v1/events/stream", "streamEvents", "What happens, as it does", get(stream))
            .asked::<StreamParams>()
            .header(LAST_EVENT_ID, "Go on behind this event.")
            .answers_as::<String>(
                200,
                "Server-sent events: `id` is the number, `event` the type, `data` the event as JSON.",
                "text/event-stream",
            ),
    ]
}

/// Which events.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Params {
    /// Only later ones; `next` of the page before.
    #[schemars(range(min = 0))]
    after: Option<i64>,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// Only of this type; several with commas between them.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Only of this import.
    batch_id: Option<BatchId>,
    /// Only about this document.
    document_id: Option<DocumentId>,
}

async fn list(cx: Cx, Asked(params): Asked<Params>) -> Answer {
    let filter = EventFilter {
        after: behind(params.after)?,
        limit: Some(within(params.limit, PAGE)?),
        types: types(params.kind.as_deref())?,
        batch_id: params.batch_id,
        document_id: params.document_id,
    };
    reply::call(&cx, Call::Events { filter }).await
}

fn types(names: Option<&str>) -> Result<Vec<EventType>> {
    let names = names.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| {
            EventType::from_name(name).ok_or_else(|| {
                let all: Vec<&str> = EventType::ALL.iter().map(|kind| kind.name()).collect();
                Error::invalid_request(format!(
                    "there is no event type `{}`",
                    docmill_core::text::shown(name)
                ))
                .with_hint(format!("the types are {}", all.join(", ")))
            })
        })
        .collect()
}

/// Which events.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct StreamParams {
    /// Begin behind this event; with the next one that happens if it is left out.
    #[schemars(range(min = 0))]
    after: Option<i64>,
    /// Only of this type; several with commas between them.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Only of this import.
    batch_id: Option<BatchId>,
    /// Only about this document.
    document_id: Option<DocumentId>,
}

async fn stream(cx: Cx, Asked(params): Asked<StreamParams>, headers: HeaderMap) -> Answer {
    let filter = EventFilter {
        types: types(params.kind.as_deref())?,
        batch_id: params.batch_id,
        document_id: params.document_id,
        ..EventFilter::default()
    };
    let feed = cx.web.hub.feed(cx.caller.tenant).await?;
    let last = feed.last();
    // What a browser sends when it connects again is newer than what stands in its address.
    let after = match last_event_id(&headers)?.or(params.after) {
        Some(after) => behind(Some(after))?,
        None => *last.borrow(),
    };
    let mut listener =
        Listener { feed, filter, last, stopping: cx.web.stopping.clone(), at: after, greeted: false };
    // A place in the log that is gone is told before the stream begins.
    let first = listener.step().await?;
    let body = futures::stream::unfold((listener, Some(first)), |(mut listener, first)| async move {
        let bytes = match first {
            Some(first) => Some(first),
            None => listener.next().await,
        }?;
        Some((Ok::<_, std::convert::Infallible>(bytes), (listener, None)))
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // For proxies that gather answers.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse::<i64>().ok()).filter(|n| *n >= 0);
    number
        .map(Some)
        .ok_or_else(|| Error::invalid_request(format!("the `{LAST_EVENT_ID}` is no number of an event")))
}

/// Somebody who listens, and how far they are.
struct Listener {
    feed: Arc<Feed>,
    filter: EventFilter,
    last: watch::Receiver<i64>,
    stopping: watch::Receiver<bool>,
    at: i64,
    greeted: bool,
}

impl Listener {
    /// What comes next; none when the server ends. An answer always says something: silence is a heartbeat.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if *self.stopping.borrow() {
                return None;
            }
            match self.step().await {
                Ok(bytes) if !bytes.is_empty() => return Some(bytes),
                Ok(_) => {}
                Err(error) => {
                    // The browser connects again and says where it was.
                    tracing::warn!(error = %error.chain(), "a stream of events broke off");
                    return None;
                }
            }
            if *self.last.borrow_and_update() > self.at {
                continue;
            }
            tokio::select! {
                _ = self.last.changed() => {}
                _ = self.stopping.changed() => {}
                () = tokio::time::sleep(HEARTBEAT) => return Some(Bytes::from_static(b":\n\n")),
            }
        }
    }

    /// The next events, if there are any.
    async fn step(&mut self) -> Result<Bytes> {
        let (events, upto) = self.feed.after(&self.filter, self.at).await?;
        self.at = upto.max(self.at);
        let mut out = String::new();
        if !std::mem::replace(&mut self.greeted, true) {
            // Writing to a String cannot fail. The comment makes the browser see the stream open at once.
            write!(out, "retry: {RECONNECT_MS}\n:\n\n").unwrap_or_default();
        }
        for told in &events {
            let Told { event, json } = told.as_ref();
            write!(out, "id: {}\nevent: {}\ndata: {json}\n\n", event.id, event.kind.name())
                .unwrap_or_default();
        }
        Ok(Bytes::from(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_name_what_they_do_not_understand() {
        assert_eq!(types(Some("JOB_FINISHED, ERROR")).unwrap(), [EventType::JobFinished, EventType::Error]);
        assert!(types(None).unwrap().is_empty());
        let error = types(Some("JOB_FINISHED,NOPE")).unwrap_err();
        assert!(error.message().contains("NOPE") && error.hint().unwrap().contains("JOB_FINISHED"));
    }
}
