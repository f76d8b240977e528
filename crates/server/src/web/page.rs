//! The status page. Everything it needs is here; nothing comes from another host.

use axum::Router;
use axum::http::header;
use axum::response::{Html, IntoResponse};
use axum::routing::get;

use super::Web;

const PAGE: &str = include_str!("../../assets/status.html");
const STYLE: &str = include_str!("../../assets/status.css");
const SCRIPT: &str = include_str!("../../assets/status.js");

pub(super) fn routes() -> Router<Web> {
    Router::new().route("/", get(page)).route("/status.css", get(style)).route("/status.js", get(script))
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
