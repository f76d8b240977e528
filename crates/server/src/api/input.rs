//! What comes with a request, read so that a mistake can be named.

use axum::body::{Body, to_bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header;
use axum::http::request::Parts;
use docmill_core::Error;
use serde::de::DeserializeOwned;

use crate::problem::Problem;
use crate::web::Web;

/// No JSON body is longer.
const MAX_BODY_BYTES: usize = 1 << 20;

/// The query of a request.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Web> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Web) -> Result<Self, Problem> {
        match Query::<T>::try_from_uri(&parts.uri) {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(error) => {
                let why =
                    std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                Err(Error::invalid_request(format!("the query cannot be understood: {why}")).into())
            }
        }
    }
}

/// A part of the path.
pub(super) struct At<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Web> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let read: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, web).await;
        match read {
            Ok(Path(value)) => Ok(Self(value)),
            Err(error) => {
                Err(Error::invalid_request(format!("the path cannot be understood: {}", error.body_text()))
                    .into())
            }
        }
    }
}

/// A JSON body; one that was left out counts as `{}`.
pub(super) struct Told<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequest<Web> for Told<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Web) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = small(body).await?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return read(b"{}");
        }
        let kind =
            parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            return Err(
                Error::invalid_request(format!("the body is `{kind}`, and not `application/json`")).into()
            );
        }
        read(&bytes)
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<Told<T>, Problem> {
    serde_json::from_slice(bytes)
        .map(Told)
        .map_err(|e| Error::invalid_request(format!("the body cannot be understood: {e}")).into())
}

async fn small(body: Body) -> Result<bytes::Bytes, Problem> {
    to_bytes(body, MAX_BODY_BYTES).await.map_err(|e| {
        Error::limit_exceeded(format!(
            "the body broke off, or has more than the {MAX_BODY_BYTES} bytes it may have"
        ))
        .with_source(e)
        .into()
    })
}
