//! The outermost layer: gives every request an id, writes problems down, and puts on every answer what all of them need.

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
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
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        response = problem.written(&id);
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
