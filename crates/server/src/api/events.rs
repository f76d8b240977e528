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
use docmill_core::id::{BatchId, DocumentId, KeyId};
use docmill_core::{Error, ErrorKind, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::Instant;

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
/// Whether the key of a stream still holds is asked no more often than this.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Comes first on a stream that was asked to go on where the log cannot: a browser connects again by itself with the
/// number it knows, and gives up for good if that is refused. The number of this message takes its place.
const RESET: &str = "RESET";
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
                "Server-sent events: `id` is the number, `event` the type, `data` the event as JSON. `RESET` comes first \
                 if the log cannot go on behind the number in `Last-Event-ID`: it is another one than before, or what \
                 followed has been pruned. `data` says where it ends and the stream begins, as `{\"last_event\": n}`.",
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
    let known = last_event_id(&headers)?;
    // The comment makes the browser see the stream open at once.
    let mut greeting = format!("retry: {RECONNECT_MS}\n:\n\n");
    let mut after = match known.or(params.after) {
        Some(after) => behind(Some(after))?,
        None => *last.borrow(),
    };
    // Another process may have read further than the feed of this one, so the log itself is asked.
    if after > *last.borrow() {
        let end = feed.end().await?;
        if after > end && known.is_none() {
            let error = Error::invalid_request(format!("the last event is {end}, and `after` is {after}"));
            let hint = "the log is another one than that of the number; leave `after` out or begin with 0";
            return Err(error.with_hint(hint).into());
        }
        if after > end {
            greeting.push_str(&reset(end));
            after = end;
        }
    }
    let stopping = cx.web.stopping.clone();
    let now = Instant::now();
    let key = cx.caller.key_id;
    let mut listener = Listener { log: feed, filter, last, stopping, at: after, said: now, key, asked: now };
    // A place in the log that is gone is told before the stream begins.
    let step = match listener.step().await {
        Err(error) if known.is_some() && error.kind() == ErrorKind::InvalidRequest => {
            listener.at = listener.log.end().await?;
            Bytes::from(reset(listener.at))
        }
        step => step?,
    };
    let first = Bytes::from([greeting.as_bytes(), &step[..]].concat());
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

fn reset(end: i64) -> String {
    format!("id: {end}\nevent: {RESET}\ndata: {{\"last_event\":{end}}}\n\n")
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse::<i64>().ok()).filter(|n| *n >= 0);
    number
        .map(Some)
        .ok_or_else(|| Error::invalid_request(format!("the `{LAST_EVENT_ID}` is no number of an event")))
}

/// Where events come from.
trait Log {
    /// A step of those after `after` that match, and the number up to which they have been looked at.
    async fn after(&self, filter: &EventFilter, after: i64) -> Result<(Vec<Arc<Told>>, i64)>;

    /// Whether nothing more will come of it.
    fn is_lost(&self) -> bool;

    /// Whether this key still opens it.
    async fn admits(&self, key: KeyId) -> Result<bool>;
}

impl Log for Arc<Feed> {
    async fn after(&self, filter: &EventFilter, after: i64) -> Result<(Vec<Arc<Told>>, i64)> {
        Feed::after(self, filter, after).await
    }

    fn is_lost(&self) -> bool {
        Feed::is_lost(self)
    }

    async fn admits(&self, key: KeyId) -> Result<bool> {
        Feed::admits(self, key).await
    }
}

/// Somebody who listens, and how far they are.
struct Listener<L> {
    log: L,
    filter: EventFilter,
    last: watch::Receiver<i64>,
    stopping: watch::Receiver<bool>,
    at: i64,
    /// When something was said last.
    said: Instant,
    /// What opened the stream, and when it was asked for last: a key may be taken back while its stream is open.
    key: Option<KeyId>,
    asked: Instant,
}

impl<L: Log> Listener<L> {
    /// What comes next; none when the server ends. An answer always says something: silence is a heartbeat.
    async fn next(&mut self) -> Option<Bytes> {
        let next = self.listen().await;
        self.said = Instant::now();
        next
    }

    async fn listen(&mut self) -> Option<Bytes> {
        // Events that nobody here wants wake us without a word being said.
        let silent_until = self.said + HEARTBEAT;
        loop {
            if *self.stopping.borrow() || self.log.is_lost() {
                return None;
            }
            match self.admitted_step().await {
                Ok(None) => return None,
                Ok(Some(bytes)) if !bytes.is_empty() => return Some(bytes),
                Ok(Some(_)) => {}
                Err(error) => {
                    // The browser connects again and says where it was.
                    tracing::warn!(error = %error.chain(), "a stream of events broke off");
                    return None;
                }
            }
            if Instant::now() >= silent_until {
                return Some(Bytes::from_static(b":\n\n"));
            }
            if *self.last.borrow_and_update() > self.at {
                continue;
            }
            tokio::select! {
                _ = self.last.changed() => {}
                _ = self.stopping.changed() => {}
                () = tokio::time::sleep_until(silent_until) => {}
            }
        }
    }

    /// The next events, if there are any; none once the key has been taken back.
    async fn admitted_step(&mut self) -> Result<Option<Bytes>> {
        if let Some(key) = self.key
            && self.asked.elapsed() >= ASK_EVERY
        {
            self.asked = Instant::now();
            if !self.log.admits(key).await? {
                return Ok(None);
            }
        }
        self.step().await.map(Some)
    }

    /// The next events, if there are any.
    async fn step(&mut self) -> Result<Bytes> {
        let (events, upto) = self.log.after(&self.filter, self.at).await?;
        self.at = upto.max(self.at);
        let mut out = String::new();
        for told in &events {
            let Told { event, json } = told.as_ref();
            // Writing to a String cannot fail.
            write!(out, "id: {}\nevent: {}\ndata: {json}\n\n", event.id, event.kind.name())
                .unwrap_or_default();
        }
        Ok(Bytes::from(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log in which much happens that nobody wants to hear of. Keys are taken back at the hundredth event.
    struct Busy(watch::Receiver<i64>);

    impl Log for Busy {
        async fn after(&self, _: &EventFilter, _: i64) -> Result<(Vec<Arc<Told>>, i64)> {
            Ok((Vec::new(), *self.0.borrow()))
        }

        fn is_lost(&self) -> bool {
            *self.0.borrow() > 1000
        }

        async fn admits(&self, _: KeyId) -> Result<bool> {
            Ok(*self.0.borrow() < 100)
        }
    }

    /// For how many seconds somebody listens to a thousand events, and when they hear that it is quiet.
    async fn listen_with(key: Option<KeyId>) -> (u64, Vec<u64>) {
        let (told, last) = watch::channel(0);
        let (_stop, stopping) = watch::channel(false);
        tokio::spawn(async move {
            for n in 1..=1001 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                told.send_replace(n);
            }
            told.closed().await;
        });
        let mut listener = Listener {
            log: Busy(last.clone()),
            filter: EventFilter::default(),
            last,
            stopping,
            at: 0,
            said: Instant::now(),
            key,
            asked: Instant::now(),
        };
        let began = Instant::now();
        let mut beats = Vec::new();
        while let Some(bytes) = listener.next().await {
            assert_eq!(&bytes[..], b":\n\n");
            beats.push(began.elapsed().as_secs());
        }
        (began.elapsed().as_secs(), beats)
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_whose_filter_passes_nothing_is_never_silent_for_long() {
        let (_, beats) = listen_with(None).await;
        assert_eq!(beats, [15, 30, 45, 60, 75, 90], "and the end of the log ends the stream");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_soon_after_its_key_was_taken_back() {
        let (lasted, beats) = listen_with(Some(KeyId(uuid::Uuid::nil()))).await;
        assert!((10..=11).contains(&lasted) && beats.is_empty(), "{lasted} s");
    }

    #[test]
    fn types_name_what_they_do_not_understand() {
        assert_eq!(types(Some("JOB_FINISHED, ERROR")).unwrap(), [EventType::JobFinished, EventType::Error]);
        assert!(types(None).unwrap().is_empty());
        let error = types(Some("JOB_FINISHED,NOPE")).unwrap_err();
        assert!(error.message().contains("NOPE") && error.hint().unwrap().contains("JOB_FINISHED"));
    }
}
