//! Errors as HTTP answers: one table from kind to status.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use docmill_core::error::ErrorNote;
use docmill_core::{Error, ErrorKind};
use serde_json::{Value, json};

/// The status that an error of `kind` is answered with.
pub(crate) fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::InvalidRequest => StatusCode::BAD_REQUEST,
        ErrorKind::Conflict | ErrorKind::StaleLease | ErrorKind::Cancelled => StatusCode::CONFLICT,
        ErrorKind::LimitExceeded | ErrorKind::BombSuspected | ErrorKind::NestingTooDeep => {
            StatusCode::PAYLOAD_TOO_LARGE
        }
        ErrorKind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        ErrorKind::Unavailable | ErrorKind::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::KnownSystemFile
        | ErrorKind::UnsupportedFormat
        | ErrorKind::EmptyFile
        | ErrorKind::Encrypted
        | ErrorKind::Corrupt
        | ErrorKind::Unreadable
        | ErrorKind::FileChanged => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::Timeout
        | ErrorKind::OutOfMemory
        | ErrorKind::ChildCrashed
        | ErrorKind::WorkerLost
        | ErrorKind::InvalidConfig
        | ErrorKind::MissingDependency
        | ErrorKind::Bug => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The answer on the control socket: everything there is to say, because the other end is docmill itself.
pub(crate) fn note(error: &Error) -> Response {
    let note = ErrorNote::from(error);
    answer(status(error.kind()), &serde_json::to_value(note).unwrap_or(Value::Null))
}

/// The answer to the outside: no causes, which may name paths and addresses, but an id to find them by.
pub(crate) fn public(error: &Error, request_id: &str) -> Response {
    let status = status(error.kind());
    if status.is_server_error() {
        tracing::warn!(request_id, error_kind = error.kind().name(), error = %error.chain(), "request failed");
    } else {
        tracing::debug!(request_id, error_kind = error.kind().name(), error = %error.chain(), "request refused");
    }
    let retryable = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    let mut body = json!({
        "type": format!("urn:docmill:error:{}", error.kind().name()),
        "title": status.canonical_reason().unwrap_or("error"),
        "status": status.as_u16(),
        "detail": error.message(),
        "code": error.kind().name(),
        "retryable": retryable,
        "request_id": request_id,
    });
    if let (Some(hint), Some(object)) = (error.hint(), body.as_object_mut()) {
        object.insert("hint".into(), hint.into());
    }
    answer(status, &body)
}

fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let kind = header::HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
