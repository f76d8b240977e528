//! `POST /v1/generate`: test documents, made and taken in as a batch.

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::routing::post;
use docmill_core::generate::{Order, SampleKind};
use docmill_core::id::BatchId;
use docmill_pipeline::Wanted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::Told;
use super::operation::Operation;
use super::reply::{self, Answer};
use super::upload::{IDEMPOTENCY_KEY, idempotency_key};
use crate::access::Cx;

pub(super) fn operations() -> Vec<Operation> {
    // The second is the name that other systems have for the same.
    [("/v1/generate", "generateDocuments"), ("/api/generate", "generateDocumentsAlias")]
        .map(|(path, id)| {
            Operation::change(
                Method::POST,
                path,
                id,
                "Make test documents up and process them",
                post(generate),
            )
            .header(IDEMPOTENCY_KEY, "For 24 hours the same request with the same key is done once.")
            .takes::<Asked>()
            .answers::<GeneratedAnswer>(202, "They are taken in and wait for their work.")
            .with("Location", "The batch.")
            .with("Idempotency-Replayed", "`true` if this answer was given before.")
        })
        .into()
}

/// What is to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// How many documents.
    #[schemars(range(min = 1, max = 100))]
    count: u32,
    /// The same seed gives the same documents; drawn if it is left out.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    seed: Option<u64>,
    /// Only these kinds, in equal parts; all of them if it is left out.
    #[serde(default)]
    #[schemars(length(max = 100))]
    kinds: Vec<SampleKind>,
    /// The part of what is on paper that comes as a scan or a photograph.
    #[schemars(range(min = 0.0, max = 1.0))]
    scans: Option<f64>,
}

/// What was made.
#[derive(Debug, Serialize, JsonSchema)]
struct GeneratedAnswer {
    /// The batch that the documents came in with; it is sealed.
    batch_id: BatchId,
    /// How many there are.
    count: u32,
    /// What gives the same documents again.
    seed: u64,
    /// They wait for their first task.
    status: Waiting,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Waiting {
    Queued,
}

async fn generate(cx: Cx, headers: HeaderMap, Told(asked): Told<Asked>) -> Answer {
    let _turn = cx.web.uploads.take(cx.caller.tenant)?;
    let wanted = Wanted {
        count: asked.count,
        seed: asked.seed,
        kinds: asked.kinds,
        scans: asked.scans.unwrap_or(Order::SCANS),
        priority: cx.web.service.deps().settings.engine.priority,
        idempotency_key: idempotency_key(&headers)?,
    };
    let made = cx.web.service.generate(cx.caller.tenant, &cx.actor(), wanted).await?;
    let answer = GeneratedAnswer {
        batch_id: made.batch_id,
        count: made.count,
        seed: made.seed,
        status: Waiting::Queued,
    };
    let mut response = reply::json(StatusCode::ACCEPTED, &answer)?;
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/batches/{}", made.batch_id)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    if made.repeated {
        response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
    }
    Ok(response)
}
