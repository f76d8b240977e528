//! Dead letters.

use axum::http::Method;
use axum::routing::{get, post};
use docmill_core::answer::{CountAnswer, DeadAnswer};
use docmill_core::call::Call;
use docmill_core::id::TaskId;
use docmill_core::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::documents::within;
use super::input::{Asked, Told};
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

/// Dead letters of one answer, unless asked for fewer or more.
const PAGE: usize = 100;
/// Dead letters of one call that names them.
const MAX_IDS: usize = 1000;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/v1/dead", "listDead", "Dead letters, newest first", get(list))
            .asked::<Params>()
            .answers::<DeadAnswer>(200, "The dead letters."),
        Operation::change(
            Method::POST,
            "/v1/dead/replay",
            "replayDead",
            "Queue dead letters again with fresh attempts",
            post(replay),
        )
        .takes::<Which>()
        .answers::<CountAnswer>(200, "How many."),
        Operation::change(Method::POST, "/v1/dead/drop", "dropDead", "Dismiss dead letters", post(dismiss))
            .takes::<Which>()
            .answers::<CountAnswer>(200, "How many."),
    ]
}

/// How many.
#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

async fn list(cx: Cx, Asked(params): Asked<Params>) -> Answer {
    reply::call(&cx, Call::DeadList { limit: within(params.limit, PAGE)? }).await
}

/// Which dead letters: those that are named, or all.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// By number; a thousand at most.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    ids: Vec<TaskId>,
    /// Every one of the tenant.
    #[serde(default)]
    all: bool,
}

impl Which {
    fn chosen(self) -> Result<Option<Vec<TaskId>>> {
        match (self.all, self.ids.len()) {
            (true, 0) => Ok(None),
            (false, 1..=MAX_IDS) => Ok(Some(self.ids)),
            _ => Err(Error::invalid_request(format!(
                "say either `\"all\": true` or 1 to {MAX_IDS} `ids`, and not both"
            ))),
        }
    }
}

async fn replay(cx: Cx, Told(which): Told<Which>) -> Answer {
    reply::call(&cx, Call::DeadReplay { ids: which.chosen()? }).await
}

async fn dismiss(cx: Cx, Told(which): Told<Which>) -> Answer {
    reply::call(&cx, Call::DeadDrop { ids: which.chosen()? }).await
}
