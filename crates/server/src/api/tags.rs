//! Tags, and documents that say nearly the same.

use axum::http::Method;
use axum::routing::{get, post};
use docmill_core::call::Call;
use docmill_core::sketch::NearAnswer;
use docmill_core::tag::{MergeAnswer, SimilarTagsAnswer, TagsAnswer};
use schemars::JsonSchema;
use serde::Deserialize;

use super::documents::within;
use super::input::{Asked, At, Told};
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

/// Tags of a page, unless asked for fewer or more.
const PAGE: usize = 100;
/// Pairs of tags, unless asked for fewer or more.
const PAIRS: usize = 50;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/v1/tags", "listTags", "Tags, the most frequent first", get(list))
            .asked::<Params>()
            .answers::<TagsAnswer>(200, "A page of them."),
        Operation::get("/v1/tags/similar", "listSimilarTags", "Pairs of tags that may be one", get(similar))
            .asked::<SimilarParams>()
            .answers::<SimilarTagsAnswer>(200, "The most alike first."),
        Operation::change(
            Method::POST,
            "/v1/tags/merge",
            "mergeTags",
            "Make one tag of two, also for documents that come later",
            post(merge),
        )
        .takes::<Merge>()
        .answers::<MergeAnswer>(200, "The tag that stays."),
        Operation::get(
            "/v1/documents/{id}/near",
            "getNear",
            "Documents whose text is nearly the same",
            get(near),
        )
        .answers::<NearAnswer>(200, "The nearest first."),
    ]
}

/// Which tags.
#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// Only those in which this occurs.
    q: Option<String>,
    /// `next` of the page before.
    cursor: Option<String>,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

async fn list(cx: Cx, Asked(params): Asked<Params>) -> Answer {
    let limit = within(params.limit, PAGE)?;
    reply::call(&cx, Call::Tags { containing: params.q, limit, cursor: params.cursor }).await
}

/// How many.
#[derive(Debug, Deserialize, JsonSchema)]
struct SimilarParams {
    /// At most so many pairs.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

async fn similar(cx: Cx, Asked(params): Asked<SimilarParams>) -> Answer {
    reply::call(&cx, Call::SimilarTags { limit: within(params.limit, PAIRS)? }).await
}

/// Which tag goes into which.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Merge {
    /// The tag that goes.
    from: String,
    /// The tag that stays; it is made if there is none.
    into: String,
}

async fn merge(cx: Cx, Told(merge): Told<Merge>) -> Answer {
    reply::call(&cx, Call::MergeTags { from: merge.from, into: merge.into }).await
}

async fn near(cx: Cx, At(id): At<String>) -> Answer {
    reply::call(&cx, Call::Near { id }).await
}
