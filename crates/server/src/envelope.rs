//! The outermost layer: gives every request an id, writes problems down, and puts on every answer what all of them need.

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use docmill_core::Error;
use docmill_core::clock::IdGen;
use std::sync::Arc;

use crate::problem::Problem;
use crate::squeeze;

/// The id of a request, in answers and in the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Of pages: nothing comes from another host, and nothing in them runs but their own scripts.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
    img-src 'self' data: blob:; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// An address and all headers that are longer are refused with the limit in the answer. What does not even fit the
/// buffer of its connection (64 KiB) is refused there, with a bare status.
const MAX_ADDRESS_BYTES: usize = 16 << 10;
const MAX_HEADERS_BYTES: usize = 32 << 10;

const HEADERS: &[(HeaderName, &str)] = &[
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

/// The id of the request that is being answered.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) Arc<str>);

pub(crate) async fn envelope(
    State(ids): State<Arc<dyn IdGen>>,
    mut request: Request,
    next: Next,
) -> Response {
    let id: Arc<str> = ids.next().to_string().into();
    request.extensions_mut().insert(RequestId(Arc::clone(&id)));
    let accepted = squeeze::accepted(request.headers());
    let mut response = match check_head(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let range = response.headers_mut().remove(header::CONTENT_RANGE);
        response = problem.written(&id);
        // What only the handler knew.
        response.headers_mut().extend(range.map(|range| (header::CONTENT_RANGE, range)));
    }
    let mut response = squeeze::squeeze(response, accepted).await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        // An answer that has a rule of its own keeps it.
        if !headers.contains_key(name) {
            headers.insert(name.clone(), HeaderValue::from_static(value));
        }
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    response
}

/// Refuses what is far longer than anybody needs, before anybody looks at it.
fn check_head(request: &Request) -> Result<(), Problem> {
    let address = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    if address > MAX_ADDRESS_BYTES {
        let error = Error::limit_exceeded(format!(
            "the address has {address} bytes, more than the {MAX_ADDRESS_BYTES} it may have"
        ));
        return Err(Problem::of_http(StatusCode::URI_TOO_LONG, "address_too_long", error));
    }
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > MAX_HEADERS_BYTES {
        let error = Error::limit_exceeded(format!(
            "the headers have {headers} bytes, more than the {MAX_HEADERS_BYTES} they may have"
        ));
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Err(Problem::of_http(status, "headers_too_large", error));
    }
    Ok(())
}
