//! What `docmill serve` shows on its loopback address: a page, and the JSON that the page lives on. Nothing
//! here changes anything, and nothing comes from another host.

mod routes;

use std::sync::Arc;

use axum::routing::get;
use axum::{Router, middleware};
use docmill_core::clock::IdGen;
use docmill_core::id::TenantId;
use docmill_core::{Error, Result};
use docmill_pipeline::Service;
use tokio::net::TcpListener;

use crate::{guard, scrape};

/// What the routes need.
#[derive(Clone)]
pub struct Web {
    /// Answers everything.
    pub service: Arc<Service>,
    /// Whose documents are shown.
    pub tenant: TenantId,
    /// Names requests that fail.
    pub ids: Arc<dyn IdGen>,
}

impl Web {
    /// Answers on `listener` until `shutdown` resolves, then finishes what has begun.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        axum::serve(listener, self.routes())
            .with_graceful_shutdown(shutdown)
            .await
            .map_err(|e| Error::unavailable("the HTTP server failed").with_source(e))
    }

    fn routes(self) -> Router {
        Router::new()
            .route("/", get(routes::page))
            .route("/status.css", get(routes::style))
            .route("/status.js", get(routes::script))
            .route("/v1/status", get(routes::status))
            .route("/v1/events", get(routes::events))
            .route("/v1/dead", get(routes::dead))
            .merge(scrape::routes(&self.service))
            .layer(middleware::from_fn(guard::guard))
            .with_state(self)
    }
}
