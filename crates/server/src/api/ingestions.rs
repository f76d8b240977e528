//! Ingestions, and why an item is not done.

use axum::routing::get;
use docmill_core::answer::{IngestionAnswer, WhyAnswer};
use docmill_core::call::Call;

use super::input::At;
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get(
            "/v1/ingestions/{id}",
            "getIngestion",
            "How one receipt of a document stands",
            get(show),
        )
        .answers::<IngestionAnswer>(200, "The ingestion."),
        Operation::get("/v1/why/{id}", "why", "Why a document or an ingestion is not done", get(why))
            .answers::<WhyAnswer>(200, "What it waits for."),
    ]
}

async fn show(cx: Cx, At(id): At<String>) -> Answer {
    reply::call(&cx, Call::Ingestion { id: id.parse()? }).await
}

async fn why(cx: Cx, At(id): At<String>) -> Answer {
    reply::call(&cx, Call::Why { id }).await
}
