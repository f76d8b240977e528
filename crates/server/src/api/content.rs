//! The original of a document, whole or in part, and links to it.
//!
//! It comes from outside and may be anything, so a browser is told to save it and to run nothing in it.

use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use docmill_core::clock::Timestamp;
use docmill_core::ports::blobs::Content;
use docmill_core::ports::store::DocumentHead;
use docmill_core::{Error, ErrorKind, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::{At, Perhaps};
use super::reply::{self, Answer};
use crate::access::{Cx, LONGEST, Link};
use crate::problem::Problem;

/// A range up to here is read by itself; for more the blob is opened.
const SMALL_RANGE: u64 = 1 << 20;
/// Bytes of one piece.
const PIECE: u64 = 256 << 10;
/// What a browser may do with an original that it shows in spite of all: nothing.
pub(super) const SANDBOX: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// Bytes of any type.
pub(super) struct Anything;

impl JsonSchema for Anything {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Anything".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "binary" })
    }
}

pub(super) async fn content(cx: Cx, At(id): At<String>, headers: HeaderMap) -> Answer {
    let service = &cx.web.service;
    let head = service.head(cx.caller.tenant, &id).await?;
    // The content of a document never changes.
    let tag = format!("\"{}\"", head.document_id);
    if reply::has(&headers, &tag) {
        return Ok(dressed(Response::new(Body::empty()), StatusCode::NOT_MODIFIED, &head, &tag));
    }
    let range = match range(&headers, &tag, head.bytes) {
        Ok(range) => range,
        Err(Unsatisfiable) => return Ok(unsatisfiable(&head)),
    };
    let (from, to) = range.unwrap_or((0, head.bytes));
    let blobs = &service.deps().blobs;
    let body = if to - from <= SMALL_RANGE && range.is_some() {
        Body::from(blobs.get_range(&head.key, from..to).await.map_err(|e| missing(&head, e))?)
    } else {
        body(blobs.open(&head.key, SMALL_RANGE).await.map_err(|e| missing(&head, e))?, from, to)
    };
    let status = if range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    let mut response = dressed(Response::new(body), status, &head, &tag);
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(to - from));
    if range.is_some()
        && let Ok(value) = HeaderValue::from_str(&format!("bytes {from}-{}/{}", to - 1, head.bytes))
    {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    Ok(response)
}

/// What is said of a document whose original is gone: it is there, and its bytes are not.
fn missing(head: &DocumentHead, error: Error) -> Error {
    if error.kind() != ErrorKind::NotFound {
        return error;
    }
    Error::not_found(format!("the original of document {} is missing", head.document_id))
        .with_hint("`docmill audit` tells what else is; restore it from a backup, or ingest the file again")
        .with_source(error)
}

fn body(content: Content, from: u64, to: u64) -> Body {
    match content {
        Content::Inline(bytes) => {
            let (from, to) = (from.min(bytes.len() as u64) as usize, to.min(bytes.len() as u64) as usize);
            Body::from(bytes.slice(from..to))
        }
        Content::File(file, _) => {
            Body::from_stream(futures::stream::try_unfold((file, from), move |(file, at)| async move {
                piece(file, at, to).await
            }))
        }
    }
}

type Next = Option<(Bytes, (Arc<std::fs::File>, u64))>;

async fn piece(file: Arc<std::fs::File>, at: u64, to: u64) -> Result<Next> {
    if at >= to {
        return Ok(None);
    }
    let read = tokio::task::spawn_blocking(move || {
        let mut buffer = vec![0; PIECE.min(to - at) as usize];
        let got = file.read_at(&mut buffer, at)?;
        buffer.truncate(got);
        Ok::<_, std::io::Error>((file, buffer))
    });
    let (file, buffer) = read
        .await
        .map_err(|e| Error::bug("reading a blob was cut short").with_source(e))?
        .map_err(|e| Error::unavailable("cannot read a blob").with_source(e))?;
    if buffer.is_empty() {
        return Err(Error::corrupt(format!("a blob ends at {at} bytes, before its end")));
    }
    let next = at + buffer.len() as u64;
    Ok(Some((Bytes::from(buffer), (file, next))))
}

/// With the headers that every answer about an original has.
fn dressed(mut response: Response, status: StatusCode, head: &DocumentHead, tag: &str) -> Response {
    *response.status_mut() = status;
    let kind = head.media_type.as_deref().unwrap_or("application/octet-stream");
    let headers = response.headers_mut();
    let mut set = |name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, kind);
    set(header::CONTENT_DISPOSITION, &disposition(&head.name));
    set(header::CONTENT_SECURITY_POLICY, SANDBOX);
    set(header::ETAG, tag);
    set(header::ACCEPT_RANGES, "bytes");
    set(header::CACHE_CONTROL, "private, no-cache");
    response
}

/// To be saved under its own name, without what could make that look like another.
fn disposition(name: &str) -> String {
    let name = docmill_core::text::shown(name);
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ' { c } else { '_' })
        .collect();
    let coded: String = name
        .bytes()
        .map(|b| match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_' => char::from(b).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{coded}")
}

#[derive(Debug, PartialEq, Eq)]
struct Unsatisfiable;

/// The range that is asked for, as first byte and the one behind the last. Several at once are answered with everything,
/// as is a range of something else than what is here now.
fn range(headers: &HeaderMap, tag: &str, length: u64) -> Result<Option<(u64, u64)>, Unsatisfiable> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if text(header::IF_RANGE).is_some_and(|theirs| theirs.trim() != tag) {
        return Ok(None);
    }
    let Some(spec) = text(header::RANGE).and_then(|value| value.trim().strip_prefix("bytes=")) else {
        return Ok(None);
    };
    let Some((first, last)) = spec.split_once('-').filter(|_| !spec.contains(',')) else { return Ok(None) };
    let (first, last) = (first.trim(), last.trim());
    let number = |text: &str| text.parse::<u64>().ok();
    let range = match (first.is_empty(), last.is_empty()) {
        (true, true) => return Ok(None),
        (true, false) => match number(last) {
            Some(tail) if tail > 0 => (length.saturating_sub(tail), length),
            Some(_) => return Err(Unsatisfiable),
            None => return Ok(None),
        },
        (false, open) => match (number(first), if open { Some(u64::MAX) } else { number(last) }) {
            (Some(first), Some(last)) if first <= last => (first, last.saturating_add(1).min(length)),
            _ => return Ok(None),
        },
    };
    if range.0 < range.1 { Ok(Some(range)) } else { Err(Unsatisfiable) }
}

fn unsatisfiable(head: &DocumentHead) -> Response {
    use axum::response::IntoResponse as _;
    let error = Error::invalid_request(format!("the range lies outside the {} bytes there are", head.bytes));
    let problem = Problem::of_http(StatusCode::RANGE_NOT_SATISFIABLE, "range_not_satisfiable", error);
    let mut response = problem.into_response();
    // For programs that ask for a part to learn how much there is.
    if let Ok(value) = HeaderValue::from_str(&format!("bytes */{}", head.bytes)) {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    response
}

/// For how long a link shall work.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// In seconds; 900 at most, and if it is left out.
    #[schemars(range(min = 1, max = 900))]
    expires_in_s: Option<u64>,
}

/// A link that works without a key.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LinkAnswer {
    /// Path and query, on this server.
    url: String,
    /// When it ends.
    expires_at: Timestamp,
}

pub(super) async fn link(cx: Cx, At(id): At<String>, Perhaps(wanted): Perhaps<Wanted>) -> Answer {
    let lives = wanted.expires_in_s.unwrap_or(LONGEST.as_secs());
    if lives == 0 || lives > LONGEST.as_secs() {
        return Err(Error::invalid_request(format!(
            "a link lives 1 to {} seconds, and not {lives}",
            LONGEST.as_secs()
        ))
        .into());
    }
    let head = cx.web.service.head(cx.caller.tenant, &id).await?;
    let expires_at = cx.web.service.deps().clock.now().plus(Duration::from_secs(lives));
    let link = Link::new(head.document_id, cx.caller.key_id, expires_at);
    let url = cx.web.gate.sign(&cx.caller, &link).await?;
    reply::json(StatusCode::OK, &LinkAnswer { url, expires_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        let ask = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, value.parse().unwrap());
            range(&headers, "\"t\"", 10)
        };
        assert_eq!(ask("bytes=0-3"), Ok(Some((0, 4))));
        assert_eq!(ask("bytes=4-"), Ok(Some((4, 10))));
        assert_eq!(ask("bytes=-3"), Ok(Some((7, 10))));
        assert_eq!(ask("bytes=-99"), Ok(Some((0, 10))));
        assert_eq!(ask("bytes=8-99"), Ok(Some((8, 10))));
        for unsatisfiable in ["bytes=10-", "bytes=99-100", "bytes=-0"] {
            assert_eq!(ask(unsatisfiable), Err(Unsatisfiable), "{unsatisfiable}");
        }
        for everything in ["bytes=3-1", "bytes=0-1,4-5", "bytes=x-", "lines=0-1", "bytes=-", "bytes=0"] {
            assert_eq!(ask(everything), Ok(None), "{everything}");
        }
    }

    #[test]
    fn a_range_of_another_version_is_answered_with_everything() {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, "bytes=0-3".parse().unwrap());
        headers.insert(header::IF_RANGE, "\"other\"".parse().unwrap());
        assert_eq!(range(&headers, "\"t\"", 10), Ok(None));
        headers.insert(header::IF_RANGE, "\"t\"".parse().unwrap());
        assert_eq!(range(&headers, "\"t\"", 10), Ok(Some((0, 4))));
    }

    #[test]
    fn names_cannot_break_out_of_their_header() {
        let header = disposition("a\"b\\\r\nSet-Cookie: x=\u{202e}é%.html");
        assert!(header.is_ascii() && !header.contains('\r') && !header.contains('\n'), "{header}");
        assert!(header.starts_with("attachment; filename=\"a_b___Set-Cookie: x=___.html\""), "{header}");
        assert!(header.contains("filename*=UTF-8''a%22b%5C"), "{header}");
    }
}
