//! What machines look at: `/metrics` for Prometheus, `/healthz` and `/readyz` for whoever restarts and routes. Nothing
//! here tells anything of a tenant, and nothing changes anything.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use docmill_core::metrics::MEDIA_TYPE;
use docmill_core::{Error, Result};
use docmill_pipeline::Service;
use tokio::net::TcpListener;

use crate::guard;

/// The page for Prometheus, to stand beside others.
pub(crate) fn metrics<S>(service: &Arc<Service>) -> Router<S> {
    Router::new().route("/metrics", get(page)).with_state(Arc::clone(service))
}

/// The answers for whoever restarts and routes, to stand beside others.
pub(crate) fn health<S>(service: &Arc<Service>) -> Router<S> {
    Router::new().route("/healthz", get(healthy)).route("/readyz", get(ready)).with_state(Arc::clone(service))
}

/// Answers on an address of its own until `shutdown` resolves, then finishes what has begun.
pub async fn serve(
    service: &Arc<Service>,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    let mut routes: Router = metrics(service).merge(health(service));
    // Where only this machine can connect, a browser on it must not be led here by a foreign page. Elsewhere
    // anybody can connect anyway, under whatever name the machine has.
    if listener.local_addr().is_ok_and(|address| address.ip().is_loopback()) {
        routes = routes.layer(middleware::from_fn(guard::guard));
    }
    axum::serve(listener, routes)
        .with_graceful_shutdown(shutdown)
        .await
        .map_err(|e| Error::unavailable("the HTTP server for metrics failed").with_source(e))
}

/// The numbers.
async fn page(State(service): State<Arc<Service>>) -> Response {
    match service.metrics().await {
        Ok(page) => ([(header::CONTENT_TYPE, MEDIA_TYPE)], page).into_response(),
        Err(error) => {
            tracing::error!(error = %error.chain(), "cannot show metrics");
            (StatusCode::INTERNAL_SERVER_ERROR, "cannot show metrics\n").into_response()
        }
    }
}

/// The process answers.
async fn healthy() -> &'static str {
    "ok\n"
}

/// The store answers too.
async fn ready(State(service): State<Arc<Service>>) -> Response {
    match service.ready().await {
        Ok(()) => "ready\n".into_response(),
        Err(error) => {
            tracing::warn!(error = %error.chain(), "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, "not ready\n").into_response()
        }
    }
}
