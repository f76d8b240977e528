//! What is said about the interface: the OpenAPI document, and a page that shows it to people.

use std::sync::LazyLock;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;

use super::{openapi, reply};
use crate::web::Web;

const PAGE: &str = include_str!("../../assets/docs.html");
const STYLE: &str = include_str!("../../assets/docs.css");
const SCRIPT: &str = include_str!("../../assets/docs.js");

/// Made once; it is the same for everybody and tells nothing of anybody.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| openapi::document().to_string().into());

pub(crate) fn routes() -> Router<Web> {
    Router::new()
        .route("/openapi.json", get(document))
        .route("/docs", get(page))
        .route("/docs.css", get(style))
        .route("/docs.js", get(script))
}

async fn document() -> Response {
    reply::whole(StatusCode::OK, "application/json", DOCUMENT.clone())
}

async fn page() -> Html<&'static str> {
    Html(PAGE)
}

async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)
}

async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}
