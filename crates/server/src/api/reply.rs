//! Answers.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use docmill_core::call::Call;
use docmill_core::id::ContentHash;
use docmill_core::{Error, Result};
use serde::Serialize;
use serde_json::Value;

use crate::access::Cx;
use crate::problem::Problem;
use crate::squeeze::Whole;

/// What a handler gives.
pub(super) type Answer = Result<Response, Problem>;

/// Asks the service and answers what it says.
pub(super) async fn call(cx: &Cx, call: Call) -> Answer {
    json(StatusCode::OK, &ask(cx, call).await?)
}

/// Asks the service.
pub(super) async fn ask(cx: &Cx, call: Call) -> Result<Value> {
    cx.web.service.call_as(cx.caller.tenant, &cx.actor(), call).await
}

/// As JSON.
pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Answer {
    Ok(whole(status, "application/json", written(value)?))
}

/// Nothing to say.
pub(super) fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// As JSON with a tag, or 304 if the caller has it already.
pub(super) fn tagged(headers: &HeaderMap, value: &impl Serialize) -> Answer {
    let body = written(value)?;
    // Weak: compressed or not, it says the same.
    let tag = format!("W/\"{}\"", ContentHash::of(&body).short());
    let mut response = if has(headers, &tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        whole(StatusCode::OK, "application/json", body)
    };
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    // Kept, but asked about every time.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok(response)
}

/// Whether the caller has what this tag stands for.
pub(super) fn has(headers: &HeaderMap, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.trim() == "*" || value.split(',').any(|theirs| bare(theirs) == bare(tag)))
}

/// A body that is whole.
pub(super) fn whole(status: StatusCode, media_type: &'static str, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body.clone()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response.extensions_mut().insert(Whole(body));
    response
}

fn written(value: &impl Serialize) -> Result<Bytes> {
    serde_json::to_vec(value)
        .map(Bytes::from)
        .map_err(|e| Error::bug("cannot write an answer as JSON").with_source(e))
}
