//! What comes with a request, read so that a mistake can be named.

use std::marker::PhantomData;

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::http::request::Parts;
use bytes::{Bytes, BytesMut};
use docmill_core::Error;
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::pace::patient;
use crate::problem::Problem;
use crate::web::Web;

/// No JSON body is longer.
const MAX_BODY_BYTES: usize = 1 << 20;

const JSON: &str = "application/json";

/// What `curl -d` calls a body that nothing was said of.
const UNSAID: &str = "application/x-www-form-urlencoded";

/// Headers by which a browser says where a request comes from.
const FROM_A_BROWSER: [HeaderName; 3] =
    [header::ORIGIN, header::REFERER, HeaderName::from_static("sec-fetch-site")];

/// The query of a request.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Web> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Web) -> Result<Self, Problem> {
        without_nul("query", parts.uri.query().unwrap_or_default())?;
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
        without_nul("path", parts.uri.path())?;
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

/// A JSON body.
pub(super) struct Told<T>(pub(super) T);

/// A JSON body of this form, as the text that was sent.
pub(super) struct Verbatim<T>(pub(super) String, pub(super) PhantomData<T>);

/// A JSON body that may be left out; then it counts as `{}`.
pub(super) struct Perhaps<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequest<Web> for Told<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Web) -> Result<Self, Problem> {
        let (kind, bytes) = body_of(request).await?;
        read(&kind, &bytes).map(Self)
    }
}

impl<T: DeserializeOwned + Send> FromRequest<Web> for Verbatim<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Web) -> Result<Self, Problem> {
        let (kind, bytes) = body_of(request).await?;
        read::<T>(&kind, &bytes)?;
        let text = String::from_utf8(bytes.into())
            .map_err(|e| Error::invalid_request("the body is no text").with_source(e))?;
        Ok(Self(text, PhantomData))
    }
}

impl<T: DeserializeOwned + Send> FromRequest<Web> for Perhaps<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &Web) -> Result<Self, Problem> {
        let (kind, bytes) = body_of(request).await?;
        if bytes.is_empty() { read(JSON, b"{}").map(Self) } else { read(&kind, &bytes).map(Self) }
    }
}

/// The media type of a body, and all of it.
async fn body_of(request: Request) -> Result<(String, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    let kind = kind_of(&parts.headers);
    let mut pieces = patient(body.into_data_stream());
    let mut bytes = BytesMut::new();
    while let Some(piece) = pieces.next().await {
        bytes.extend_from_slice(&piece?);
        if bytes.len() > MAX_BODY_BYTES {
            return Err(Error::limit_exceeded(format!(
                "the body has more than the {MAX_BODY_BYTES} bytes it may have"
            ))
            .into());
        }
    }
    Ok((kind.to_owned(), bytes.freeze()))
}

/// What a body is said to be. Where nothing is said, or what `curl -d` says by itself, it is meant to be what the route
/// takes: JSON. But never of a browser: what a page may send to another site unasked has these very types, and the type of
/// JSON is one that a browser asks about first. A browser always says of such a request where it comes from.
fn kind_of(headers: &HeaderMap) -> &str {
    let said = headers.get(header::CONTENT_TYPE).map_or(Some(""), |kind| kind.to_str().ok());
    let unsaid = said.is_some_and(|kind| kind.trim().is_empty() || is(kind, UNSAID));
    let browsed = FROM_A_BROWSER.iter().any(|name| headers.contains_key(name));
    if unsaid && !browsed { JSON } else { said.unwrap_or_default() }
}

/// Whether a media type is this one, whatever its parameters are.
fn is(kind: &str, wanted: &str) -> bool {
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(wanted))
}

fn read<T: DeserializeOwned>(kind: &str, bytes: &[u8]) -> Result<T, Problem> {
    let refused = |why: String| Problem::from(Error::invalid_request(why));
    if !is(kind, JSON) {
        let kind = docmill_core::text::shown(kind);
        let error = Error::invalid_request(format!("the body is `{kind}`, and not `{JSON}`"));
        return Err(error.with_hint("send the header `Content-Type: application/json`").into());
    }
    // An object first: fields in an array, by their place, would be taken too.
    let object: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|e| refused(format!("the body is not a JSON object: {e}")))?;
    let object = Value::Object(object);
    if holds_nul(&object) {
        return Err(refused("the body holds a character U+0000, which not every store can keep".into()));
    }
    serde_json::from_value(object).map_err(|e| refused(format!("the body cannot be understood: {e}")))
}

/// Refuses a NUL in a part of an address: no store has a name with one, and not every store can be asked for it.
fn without_nul(what: &str, coded: &str) -> Result<(), Error> {
    if coded.contains("%00") {
        return Err(Error::invalid_request(format!("the {what} holds a character U+0000 (`%00`)")));
    }
    Ok(())
}

/// Whether any text in it has a NUL. Parsing has bounded its depth.
pub(super) fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
