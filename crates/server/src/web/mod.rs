//! What `docmill serve` puts on its address: the interface under `/v1`, the page, and the pages for machines.

mod connections;
mod dashboard;
mod page;
mod stalled;

use std::sync::Arc;

use axum::handler::Handler as _;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Router, middleware};
use docmill_core::access::Role;
use docmill_core::id::TenantId;
use docmill_core::{Error, Result};
use docmill_pipeline::Service;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::access::{self, Gate, Needed};
use crate::api::{self, Hub, Turns};
use crate::envelope;
use crate::problem::Problem;
use crate::scrape;

/// What the routes need.
#[derive(Clone)]
pub struct Web {
    pub(crate) service: Arc<Service>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) hub: Arc<Hub>,
    /// Requests that bring documents, at once.
    pub(crate) uploads: Arc<Turns>,
    /// True once the server is to end: whoever waits for something must not keep it.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// The name of a tenant's place in the server, before it listens.
pub struct Serving {
    /// Answers everything.
    pub service: Arc<Service>,
    /// Whose documents are shown where no key is needed.
    pub local: TenantId,
    /// Connections at once; others wait.
    pub max_connections: u32,
}

impl Serving {
    /// Refuses an address that others can reach, unless somebody holds a key.
    pub async fn check(&self, address: std::net::SocketAddr) -> Result<()> {
        if address.ip().is_loopback() || self.service.deps().store.count_keys().await?.valid > 0 {
            return Ok(());
        }
        Err(Error::invalid_config(format!(
            "cannot serve on {address}: whoever reaches it could read everything, because there is no key yet"
        ))
        .with_hint(
            "make one with `docmill key create`, or listen on a loopback address such as 127.0.0.1:8420",
        ))
    }

    /// Answers on `listener` until `shutdown` resolves, then finishes what has begun.
    pub async fn serve(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        let loopback = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
        let (stop, stopping) = watch::channel(false);
        let settings = Arc::clone(&self.service.deps().settings);
        let web = Web {
            gate: Arc::new(Gate::new(Arc::clone(&self.service), self.local, loopback)),
            hub: Arc::new(Hub::new(Arc::clone(&self.service))),
            uploads: Arc::new(Turns::new(settings.http.max_uploads as usize)),
            stopping,
            service: self.service,
        };
        let shutdown = async move {
            shutdown.await;
            stop.send_replace(true);
        };
        connections::serve(listener, web.routes(), self.max_connections as usize, shutdown).await
    }
}

impl Web {
    fn routes(self) -> Router {
        let ids = Arc::clone(&self.service.deps().ids);
        // Pages hold nothing of a tenant; what they show they ask for like any other program.
        let pages = page::routes()
            .merge(api::reference())
            .merge(scrape::health(&self.service))
            .layer(middleware::from_fn_with_state(self.clone(), access::own_machine));
        let looking = Needed { role: Role::Read, signed: false };
        let metrics = scrape::metrics(&self.service)
            .layer(middleware::from_fn_with_state((self.clone(), looking), access::admit));
        Router::new()
            .merge(pages)
            .merge(metrics)
            .merge(api::routes(&self))
            .fallback(otherwise.layer(middleware::from_fn_with_state(self.clone(), access::own_machine)))
            .method_not_allowed_fallback(wrong_method)
            .layer(middleware::from_fn_with_state(ids, envelope::envelope))
            .with_state(self)
    }
}

/// Files and screens of the dashboard; everything else is not there.
async fn otherwise(method: Method, uri: Uri) -> Response {
    let found = if method == Method::GET || method == Method::HEAD { dashboard::find(&uri) } else { None };
    found.unwrap_or_else(|| nothing_here(&uri))
}

fn nothing_here(uri: &Uri) -> Response {
    let path = docmill_core::text::shown(uri.path());
    Problem::from(
        Error::not_found(format!("there is nothing at `{path}`")).with_hint("/docs shows what there is"),
    )
    .into_response()
}

async fn wrong_method(method: Method, uri: Uri) -> Response {
    let path = docmill_core::text::shown(uri.path());
    let error = Error::invalid_request(format!("`{path}` cannot be asked with {method}"));
    Problem::of_http(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", error).into_response()
}
