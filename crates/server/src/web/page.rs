//! The first page: the dashboard, or, in a binary that was built without it, a plain status page. Everything they need
//! is here; nothing comes from another host.

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use super::{Web, dashboard};

const PAGE: &str = include_str!("../../assets/status.html");
const STYLE: &str = include_str!("../../assets/status.css");
const SCRIPT: &str = include_str!("../../assets/status.js");

pub(super) fn routes() -> Router<Web> {
    Router::new().route("/", get(page)).route("/status.css", get(style)).route("/status.js", get(script))
}

async fn page() -> Response {
    dashboard::page().unwrap_or_else(|| Html(PAGE).into_response())
}

async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)
}

async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}
