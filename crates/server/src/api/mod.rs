//! The interface for programs. Every route stands once in [`operations`]: what answers it, who may use it, and what the
//! OpenAPI document says of it. Each handler reads what was asked, makes one call of the service, and answers it.

mod batches;
mod content;
mod dead;
mod documents;
mod events;
mod export;
mod generate;
mod hub;
mod ingestions;
mod input;
mod keys;
mod multipart;
pub mod openapi;
mod operation;
mod pace;
mod pages;
mod problems;
mod reference;
mod reply;
mod reviews;
mod schemas;
mod search;
mod status;
mod tags;
mod turns;
mod upload;

use axum::{Router, middleware};

pub(crate) use hub::Hub;
use operation::Operation;
pub(crate) use reference::routes as reference;
pub(crate) use turns::Turns;

use crate::access::{self, Needed};
use crate::web::Web;

/// Every route, in the order of the document.
fn operations() -> Vec<Operation> {
    let mut all = Vec::new();
    all.extend(documents::operations());
    all.extend(pages::operations());
    all.extend(ingestions::operations());
    all.extend(search::operations());
    all.extend(tags::operations());
    all.extend(batches::operations());
    all.extend(generate::operations());
    all.extend(schemas::operations());
    all.extend(reviews::operations());
    all.extend(export::operations());
    all.extend(problems::operations());
    all.extend(dead::operations());
    all.extend(events::operations());
    all.extend(status::operations());
    all.extend(keys::operations());
    all
}

/// A path as the router knows it, which matches whole parts only: what stands behind a name is its handler's business.
fn routed(path: &str) -> &str {
    match path.rfind('}') {
        Some(at) if !path[at..].contains('/') => &path[..=at],
        _ => path,
    }
}

/// All of them.
pub(crate) fn routes(web: &Web) -> Router<Web> {
    let mut router = Router::new();
    for operation in operations() {
        let needed = Needed { role: operation.role, signed: operation.signed };
        let admitted =
            operation.router.layer(middleware::from_fn_with_state((web.clone(), needed), access::admit));
        router = router.route(routed(operation.path), admitted);
    }
    router
}
