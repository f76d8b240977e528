//! Search.

use axum::routing::get;
use docmill_core::Error;
use docmill_core::answer::SearchAnswer;
use docmill_core::call::Call;
use schemars::JsonSchema;
use serde::Deserialize;

use super::documents::within;
use super::input::{Asked, At};
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

/// Hits, unless asked for fewer or more.
const HITS: usize = 20;
/// Nobody types more.
const MAX_QUERY_BYTES: usize = 4096;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get(
            "/v1/search",
            "search",
            "Find documents by their words or by their meaning",
            get(search),
        )
        .asked::<Params>()
        .answers::<SearchAnswer>(200, "The best first, each with its best passage."),
        Operation::get(
            "/v1/documents/{id}/similar",
            "getSimilar",
            "Documents that mean something alike",
            get(similar),
        )
        .asked::<SimilarParams>()
        .answers::<SearchAnswer>(200, "The nearest first."),
    ]
}

/// What to find. A filter that is not known is refused, as ignoring it would find what was not asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Params {
    /// Words (other forms are found too), `"phrases"` (exactly so), `begin*`, `rough~`, `field:word` (name, title, type,
    /// tag), `-without`, `OR`.
    q: String,
    /// `text` (by words; the default), `semantic` (by meaning) or `hybrid` (both).
    mode: Option<String>,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// Only what is this: a type of document (`invoice`) or a media type (`application/pdf`).
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Only of this media type.
    media_type: Option<String>,
    /// Only of this file name.
    name: Option<String>,
    /// Only in this language, ISO 639-3: `eng`.
    language: Option<String>,
    /// Only with this tag.
    tag: Option<String>,
    /// Only dated on or after this: `2024-03-09`, `2024-03` or `2024`.
    date_from: Option<String>,
    /// Only dated on or before this.
    date_to: Option<String>,
}

impl Params {
    /// The filters, by their names.
    fn filters(&mut self) -> Vec<(String, String)> {
        let given = [
            ("type", self.kind.take()),
            ("media_type", self.media_type.take()),
            ("name", self.name.take()),
            ("language", self.language.take()),
            ("tag", self.tag.take()),
            ("date_from", self.date_from.take()),
            ("date_to", self.date_to.take()),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// How many.
#[derive(Debug, Deserialize, JsonSchema)]
struct SimilarParams {
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

async fn similar(cx: Cx, At(id): At<String>, Asked(params): Asked<SimilarParams>) -> Answer {
    reply::call(&cx, Call::Similar { id, limit: within(params.limit, HITS)? }).await
}

async fn search(cx: Cx, Asked(mut params): Asked<Params>) -> Answer {
    if params.q.len() > MAX_QUERY_BYTES {
        return Err(Error::limit_exceeded(format!(
            "the query has {} bytes, more than the {MAX_QUERY_BYTES} it may have",
            params.q.len()
        ))
        .into());
    }
    let filters = params.filters();
    let call = Call::Search {
        query: params.q,
        mode: params.mode.unwrap_or_else(|| "text".into()),
        limit: within(params.limit, HITS)?,
        filters,
    };
    reply::call(&cx, call).await
}
