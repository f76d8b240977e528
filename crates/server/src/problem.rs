//! Errors as HTTP answers: one table from kind to status, and one form for all of them.
//!
//! A handler gives a [`Problem`]; the outermost layer (`crate::envelope`) writes it down, because only there the id of
//! the request is known.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use docmill_core::error::ErrorNote;
use docmill_core::{Error, ErrorKind};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// After so long it is worth trying again, where nothing else is known.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// A full disk is not emptied in a moment.
const TRY_AGAIN_WHEN_FULL: Duration = Duration::from_mins(1);

/// Media type of a problem.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

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
        | ErrorKind::ContentBlocked
        | ErrorKind::SchemaMismatch
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

/// What went wrong with a request.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    error: Arc<Error>,
}

impl Problem {
    /// What only HTTP knows of, such as a method that a path does not have.
    pub(crate) fn of_http(status: StatusCode, code: &'static str, error: Error) -> Self {
        Self { status, code, error: Arc::new(error) }
    }

    /// The answer to the outside: no causes, which may name paths and addresses, but an id to find them by.
    pub(crate) fn written(&self, request_id: &str) -> Response {
        let (status, code, error) = (self.status, self.code, &self.error);
        if status.is_server_error() {
            tracing::warn!(request_id, code, error = %error.for_log(), "request failed");
        } else {
            tracing::debug!(request_id, code, error = %error.for_log(), "request refused");
        }
        let retry_after = self.retry_after();
        // Where docmill keeps what on its machine is nobody's business; the log has all of it.
        let ours = status.is_server_error() || status == StatusCode::NOT_FOUND;
        let detail = if ours { without_paths(error.message()) } else { Cow::Borrowed(error.message()) };
        let form = ProblemForm {
            kind: format!("urn:docmill:error:{code}"),
            title: status.canonical_reason().unwrap_or("error"),
            status: status.as_u16(),
            detail: &detail,
            code,
            retryable: retry_after.is_some() || status == StatusCode::INTERNAL_SERVER_ERROR,
            request_id,
            hint: error.hint(),
        };
        let mut response = written(status, &serde_json::to_value(form).unwrap_or(Value::Null));
        let headers = response.headers_mut();
        if let Some(after) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs().max(1)));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"docmill\""));
        }
        response
    }

    fn retry_after(&self) -> Option<Duration> {
        match self.status {
            StatusCode::INSUFFICIENT_STORAGE => Some(TRY_AGAIN_WHEN_FULL),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Some(self.error.retry_after().unwrap_or(TRY_AGAIN))
            }
            _ => None,
        }
    }
}

/// Without the paths that stand between backquotes.
fn without_paths(message: &str) -> Cow<'_, str> {
    if !message.contains("`/") {
        return Cow::Borrowed(message);
    }
    let parts = message.split('`').enumerate();
    let parts = parts.map(|(n, part)| if n % 2 == 1 && part.starts_with('/') { "…" } else { part });
    Cow::Owned(parts.collect::<Vec<_>>().join("`"))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self { status: status(error.kind()), code: error.kind().name(), error: Arc::new(error) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status;
        response.extensions_mut().insert(self);
        response
    }
}

/// Why a request was not answered as it should have been (RFC 9457).
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemForm<'a> {
    /// Names the kind of problem.
    #[serde(rename = "type")]
    kind: String,
    /// The status in words.
    title: &'static str,
    /// The status.
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    /// What happened, in words.
    detail: &'a str,
    /// What happened, for programs.
    code: &'static str,
    /// The same request may succeed later; `Retry-After` says when to try.
    retryable: bool,
    /// Finds the request in the log.
    request_id: &'a str,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// The answer on the control socket: everything there is to say, because the other end is docmill itself.
pub(crate) fn note(error: &Error) -> Response {
    let note = ErrorNote::from(error);
    written(status(error.kind()), &serde_json::to_value(note).unwrap_or(Value::Null))
}

fn written(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_machine_are_not_told() {
        assert_eq!(
            without_paths("cannot write `/data/x`: the disk is full"),
            "cannot write `…`: the disk is full"
        );
        assert_eq!(without_paths("blob `documents/x` of `a` is gone"), "blob `documents/x` of `a` is gone");
    }
}
