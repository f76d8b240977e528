//! What documents lack, by cause.

use axum::http::Method;
use axum::routing::{get, post};
use docmill_core::ErrorKind;
use docmill_core::answer::{CountAnswer, ProblemsAnswer};
use docmill_core::call::Call;

use super::input::At;
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/v1/problems", "listProblems", "What could not be read, by cause", get(list))
            .answers::<ProblemsAnswer>(200, "The most frequent first, each with samples."),
        Operation::change(
            Method::POST,
            "/v1/problems/{cause}/retry",
            "retryProblem",
            "Try everything with this problem again",
            post(retry),
        )
        .place::<ErrorKind>("cause")
        .answers::<CountAnswer>(200, "How many documents are tried again."),
    ]
}

async fn list(cx: Cx) -> Answer {
    reply::call(&cx, Call::Problems).await
}

async fn retry(cx: Cx, At(cause): At<ErrorKind>) -> Answer {
    reply::call(&cx, Call::RetryProblem { cause }).await
}
