//! The owner's side of the control socket, HTTP/1.1 over a Unix socket.
//!
//! | route | does |
//! |---|---|
//! | `POST /call` | one `Call`, answered as JSON |
//! | `POST /receive` | items with their bytes (`frame`), answered as a list of `Received` |
//! | `GET /original/{tenant}/{id}` | the bytes of a document |
//! | `GET /page/{tenant}/{id}/{number}/{width}` | the picture of a page |
//! | `GET /stay` | held open by a command for as long as it must not lose the owner |
//! | `POST /engine` | sees to it that work is done; for commands that stay |
//!
//! There is no access control here beyond the file's own: the socket belongs to the user who owns the data.

mod frame;
mod original;
mod receive;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use docmill_core::call::Call;
use docmill_core::picture::PictureSize;
use docmill_core::{Error, Result};
use docmill_pipeline::Service;
use serde::{Deserialize, Serialize};
use tokio::net::UnixListener;
use tokio::sync::{Notify, watch};

pub use frame::{OfferHead, STREAM_FROM_BYTES, TENANT_HEADER, encode};
pub use original::NAME_HEADER;

use crate::problem;

/// A call and for whom it is made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallRequest {
    /// By name.
    pub tenant: String,
    /// What is asked.
    pub call: Call,
}

/// What the owner shares with its guests.
#[derive(Clone)]
pub struct Control {
    service: Arc<Service>,
    engine_wanted: Arc<Notify>,
    /// How many there are; `None` once the owner has decided to go.
    guests: watch::Sender<Option<usize>>,
}

impl Control {
    /// For this service; nobody is there yet.
    pub fn new(service: Arc<Service>) -> Self {
        Self { service, engine_wanted: Arc::default(), guests: watch::Sender::new(Some(0)) }
    }

    /// Resolves when a guest needs work to be done and no engine may be running.
    pub async fn engine_wanted(&self) {
        self.engine_wanted.notified().await;
    }

    /// Resolves when no guest holds on to this owner.
    pub async fn guests_gone(&self) {
        // The sender lives in `self`, so waiting cannot fail while this future exists.
        if self.guests.subscribe().wait_for(|count| count.unwrap_or(0) == 0).await.is_err() {
            tracing::debug!("the guest counter is gone");
        }
    }

    /// How many guests hold on to this owner.
    pub fn guests(&self) -> usize {
        self.guests.borrow().unwrap_or(0)
    }

    /// Turns new guests away from now on, unless there is one.
    pub fn close_if_alone(&self) -> bool {
        self.guests.send_if_modified(|count| {
            let alone = *count == Some(0) || count.is_none();
            if alone {
                *count = None;
            }
            alone
        })
    }

    /// Answers on `listener` until `shutdown` resolves, then finishes what has begun.
    pub async fn serve(
        self,
        listener: UnixListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        let routes = Router::new()
            .route("/call", post(call))
            .route("/receive", post(receive::receive))
            .route("/original/{tenant}/{id}", get(original::original))
            .route("/page/{tenant}/{id}/{number}/{width}", get(page))
            .route("/stay", get(stay))
            .route("/engine", post(engine))
            .with_state(self);
        axum::serve(listener, routes)
            .with_graceful_shutdown(shutdown)
            .await
            .map_err(|e| Error::unavailable("the control socket failed").with_source(e))
    }
}

async fn call(State(control): State<Control>, Json(request): Json<CallRequest>) -> Response {
    let answered = async {
        let tenant = control.service.tenant(&request.tenant).await?;
        control.service.call(tenant, request.call).await
    };
    match answered.await {
        Ok(value) => json(&value),
        Err(error) => problem::note(&error),
    }
}

async fn page(
    State(control): State<Control>,
    Path((tenant, id, number, width)): Path<(String, String, u32, u32)>,
) -> Response {
    let drawn = async {
        let tenant = control.service.tenant(&tenant).await?;
        let head = control.service.head(tenant, &id).await?;
        control.service.page_picture(tenant, &head, number, PictureSize { width }).await
    };
    match drawn.await {
        Ok(picture) => Response::new(Body::from(picture.png)),
        Err(error) => problem::note(&error),
    }
}

/// Counts a guest for as long as it holds the connection. The answer never ends by itself: its head tells the
/// guest that it is counted, its end would mean that the owner is gone.
async fn stay(State(control): State<Control>) -> Response {
    let Some(guest) = Guest::enter(&control.guests) else {
        return problem::note(&Error::shutting_down("the owner of the data directory is about to end"));
    };
    Response::new(Body::from_stream(futures::stream::unfold(guest, |guest| async move {
        std::future::pending::<()>().await;
        Some((Ok::<_, std::convert::Infallible>(bytes::Bytes::new()), guest))
    })))
}

async fn engine(State(control): State<Control>) -> Response {
    control.engine_wanted.notify_one();
    json(&true)
}

struct Guest(watch::Sender<Option<usize>>);

impl Guest {
    fn enter(guests: &watch::Sender<Option<usize>>) -> Option<Self> {
        let entered = guests.send_if_modified(|count| match count {
            Some(count) => {
                *count += 1;
                true
            }
            None => false,
        });
        entered.then(|| Self(guests.clone()))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.map(|n| n.saturating_sub(1)));
    }
}

fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => {
            let mut response = Response::new(Body::from(body));
            let kind = axum::http::HeaderValue::from_static("application/json");
            response.headers_mut().insert(axum::http::header::CONTENT_TYPE, kind);
            response
        }
        Err(e) => problem::note(&Error::bug("cannot write an answer as JSON").with_source(e)),
    }
}
