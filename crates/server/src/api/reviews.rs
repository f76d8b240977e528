//! Records that people look at.

use std::collections::BTreeMap;

use axum::http::{Method, StatusCode};
use axum::routing::{delete, get, post};
use docmill_core::call::Call;
use docmill_core::review::{
    CorrectionLine, CorrectionsAnswer, DecidedAnswer, LockAnswer, MAX_CORRECTED, ReviewAnswer, ReviewsAnswer,
    Verdict, review_id,
};
use docmill_core::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::documents::within;
use super::input::{Asked, At, Perhaps, Told};
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

/// Reviews of a page, unless asked for fewer or more.
const PAGE: usize = 50;

/// Decisions that are looked up at once.
const CHUNK: usize = 1000;

pub(super) fn operations() -> Vec<Operation> {
    let change = |method, path, id, summary, router| Operation::change(method, path, id, summary, router);
    vec![
        Operation::get(
            "/v1/reviews",
            "listReviews",
            "Records that people should look at, the least sure first",
            get(list),
        )
        .asked::<Params>()
        .answers::<ReviewsAnswer>(200, "A page of them, and how many are open."),
        Operation::get(
            "/v1/reviews/corrections",
            "listCorrections",
            "Every value that was corrected",
            get(corrections),
        )
        .answers_as::<CorrectionLine>(200, "An object a line, oldest first.", NDJSON),
        Operation::get("/v1/reviews/{id}", "getReview", "A record to look at", get(show))
            .answers::<ReviewAnswer>(200, "The record, why it is doubtful, and what was decided."),
        change(
            Method::POST,
            "/v1/reviews/{id}/lock",
            "lockReview",
            "Look at it alone for ten minutes, or for longer",
            post(lock),
        )
        .takes::<Nothing>()
        .or_nothing()
        .answers::<LockAnswer>(200, "It is yours."),
        change(
            Method::DELETE,
            "/v1/reviews/{id}/lock",
            "unlockReview",
            "Let others look at it",
            delete(unlock),
        )
        .answers::<LockAnswer>(200, "It is nobody's."),
        change(Method::POST, "/v1/reviews/{id}/accept", "acceptReview", "The record is right", post(accept))
            .takes::<Why>()
            .or_nothing()
            .answers::<DecidedAnswer>(200, "What to look at next."),
        change(
            Method::POST,
            "/v1/reviews/{id}/correct",
            "correctReview",
            "The record is right with these values",
            post(correct),
        )
        .takes::<Values>()
        .answers::<DecidedAnswer>(200, "What to look at next."),
        change(
            Method::POST,
            "/v1/reviews/{id}/reject",
            "rejectReview",
            "The record is of no use",
            post(reject),
        )
        .takes::<Why>()
        .answers::<DecidedAnswer>(200, "What to look at next."),
    ]
}

const NDJSON: &str = "application/x-ndjson";

/// Which reviews.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Params {
    /// `next` of the page before.
    cursor: Option<String>,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// Only records by this schema.
    schema: Option<String>,
    /// Those that are open, unless asked for those that are done.
    state: Option<Which>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Which {
    /// A person should look.
    Open,
    /// A person has decided.
    Done,
}

async fn list(cx: Cx, Asked(params): Asked<Params>) -> Answer {
    let call = Call::Reviews {
        schema: params.schema,
        done: params.state == Some(Which::Done),
        limit: within(params.limit, PAGE)?,
        cursor: params.cursor,
    };
    reply::call(&cx, call).await
}

async fn corrections(cx: Cx) -> Answer {
    let (mut cursor, mut out) = (None, Vec::new());
    loop {
        let page = reply::ask(&cx, Call::Corrections { limit: CHUNK, cursor: cursor.take() }).await?;
        let page: CorrectionsAnswer = read(page)?;
        for line in &page.items {
            serde_json::to_writer(&mut out, line)
                .map_err(|e| Error::bug("cannot write a correction as JSON").with_source(e))?;
            out.push(b'\n');
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(reply::whole(StatusCode::OK, NDJSON, out.into())),
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|e| Error::bug("an answer cannot be read back").with_source(e))
}

async fn show(cx: Cx, At(id): At<String>) -> Answer {
    reply::call(&cx, Call::Review { id: review_id(&id)? }).await
}

/// Nothing to say.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

async fn lock(cx: Cx, At(id): At<String>, Perhaps(Nothing {}): Perhaps<Nothing>) -> Answer {
    reply::call(&cx, Call::ReviewLock { id: review_id(&id)?, locked: true }).await
}

async fn unlock(cx: Cx, At(id): At<String>) -> Answer {
    reply::call(&cx, Call::ReviewLock { id: review_id(&id)?, locked: false }).await
}

/// Why.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Why {
    /// In words; needed to reject a record.
    #[schemars(length(max = 2000))]
    reason: Option<String>,
}

async fn accept(cx: Cx, At(id): At<String>, Perhaps(why): Perhaps<Why>) -> Answer {
    decide(&cx, &id, Verdict::Accept { reason: why.reason }).await
}

/// Values that are right.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Values {
    /// By their paths: `total_amount`, `items[0].quantity`; null takes a value away.
    #[serde(default)]
    #[schemars(extend("maxProperties" = MAX_CORRECTED))]
    fields: BTreeMap<String, Option<Given>>,
    /// Why, in words.
    #[schemars(length(max = 2000))]
    reason: Option<String>,
}

/// A value as a person gives it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Given {
    Text(String),
    Number(serde_json::Number),
}

impl From<Given> for Value {
    fn from(given: Given) -> Self {
        match given {
            Given::Text(text) => Self::String(text),
            Given::Number(number) => Self::Number(number),
        }
    }
}

async fn correct(cx: Cx, At(id): At<String>, Told(values): Told<Values>) -> Answer {
    let fields = values.fields.into_iter();
    let fields = fields.map(|(path, given)| (path, given.map_or(Value::Null, Value::from))).collect();
    decide(&cx, &id, Verdict::Correct { fields, reason: values.reason }).await
}

async fn reject(cx: Cx, At(id): At<String>, Told(why): Told<Why>) -> Answer {
    decide(&cx, &id, Verdict::Reject { reason: why.reason.unwrap_or_default() }).await
}

async fn decide(cx: &Cx, id: &str, verdict: Verdict) -> Answer {
    let id = review_id(id)?;
    reply::call(cx, Call::ReviewDecide { id, verdict }).await
}
