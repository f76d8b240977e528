//! Batches.

use axum::http::{Method, StatusCode};
use axum::routing::{delete, get, patch, post};
use docmill_core::answer::{BatchesAnswer, LedgerAnswer};
use docmill_core::batch::{BatchChange, BatchRun, BatchTotals, NewBatch, Walk};
use docmill_core::call::Call;
use docmill_core::id::BatchId;
use docmill_core::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use super::documents::within;
use super::input::{Asked, At, Perhaps, Told};
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

/// Batches of a page, unless asked for fewer or more.
const PAGE: usize = 50;
/// A name is for people.
const MAX_NAME_CHARS: usize = 200;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/v1/batches", "listBatches", "Batches, newest first", get(list))
            .asked::<Params>()
            .answers::<BatchesAnswer>(200, "A page of them."),
        Operation::change(
            Method::POST,
            "/v1/batches",
            "openBatch",
            "Open a batch, or the one of that name again",
            post(open),
        )
        .takes::<New>()
        .or_nothing()
        .answers::<BatchTotals>(200, "The batch of that name, which was there.")
        .answers::<BatchTotals>(201, "A new batch."),
        Operation::get("/v1/batches/{id}", "getBatch", "How a batch stands", get(show))
            .place::<Which>("id")
            .answers::<BatchTotals>(200, "The batch."),
        Operation::change(
            Method::PATCH,
            "/v1/batches/{id}",
            "changeBatch",
            "Pause or resume it, give it another priority, or seal it",
            patch(change),
        )
        .place::<Which>("id")
        .takes::<Change>()
        .answers::<BatchTotals>(200, "The batch as it stands now."),
        Operation::change(
            Method::DELETE,
            "/v1/batches/{id}",
            "cancelBatch",
            "Cancel it: what is queued is dropped, what runs is stopped",
            delete(cancel),
        )
        .place::<Which>("id")
        .answers::<BatchTotals>(200, "The batch as it stands now."),
        Operation::get("/v1/batches/{id}/audit", "auditBatch", "The ledger of a batch", get(audit))
            .place::<Which>("id")
            .answers::<LedgerAnswer>(200, "Both sides, and whether they agree."),
    ]
}

/// The id of a batch, or its name.
#[derive(Debug, JsonSchema)]
#[schemars(inline)]
struct Which(
    #[schemars(length(min = 1, max = 200))]
    #[expect(dead_code, reason = "described")]
    String,
);

/// Which page.
#[derive(Debug, Deserialize, JsonSchema)]
struct Params {
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

async fn list(cx: Cx, Asked(params): Asked<Params>) -> Answer {
    reply::call(&cx, Call::Batches { limit: within(params.limit, PAGE)?, cursor: params.cursor }).await
}

/// A batch to be opened.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct New {
    /// The same name opens the same batch again.
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
    /// 0 to 99, lower first.
    #[schemars(range(min = 0, max = 99))]
    priority: Option<u8>,
}

async fn open(cx: Cx, Perhaps(new): Perhaps<New>) -> Answer {
    if let Some(name) = &new.name
        && (name.trim().is_empty()
            || name.chars().count() > MAX_NAME_CHARS
            || name.chars().any(char::is_control))
    {
        return Err(Error::invalid_request(format!(
            "the name of a batch has 1 to {MAX_NAME_CHARS} characters and no control characters"
        ))
        .into());
    }
    let deps = cx.web.service.deps();
    let batch = NewBatch {
        tenant_id: cx.caller.tenant,
        batch_id: BatchId(deps.ids.next()),
        name: new.name,
        kind: "files".into(),
        priority: priority(new.priority)?.unwrap_or(deps.settings.engine.priority),
    };
    let run: BatchRun = back(reply::ask(&cx, Call::OpenBatch { batch }).await?)?;
    let totals = reply::ask(&cx, Call::Batch { batch: run.batch_id.to_string() }).await?;
    reply::json(if run.resumed { StatusCode::OK } else { StatusCode::CREATED }, &totals)
}

async fn show(cx: Cx, At(id): At<String>) -> Answer {
    reply::call(&cx, Call::Batch { batch: id }).await
}

/// What is to change; what is left out stays.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Change {
    /// Claim no more of it, or go on. `pause` is taken for it too.
    #[serde(alias = "pause")]
    paused: Option<bool>,
    /// 0 to 99, lower first.
    #[schemars(range(min = 0, max = 99))]
    priority: Option<u8>,
    /// True: everything that belongs to it has been sent, so it finishes when nothing is open.
    sealed: Option<bool>,
    /// With `sealed`: how many items the sender counted. The ledger balances only if so many were received. Left out, it
    /// is what was received.
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    expected: Option<u64>,
}

async fn change(cx: Cx, At(id): At<String>, Told(change): Told<Change>) -> Answer {
    let priority = priority(change.priority)?;
    if change.sealed == Some(false) {
        return Err(
            Error::invalid_request("a batch is opened again by `POST /v1/batches` with its name").into()
        );
    }
    if change.expected.is_some() && change.sealed.is_none() {
        return Err(Error::invalid_request("`expected` is said when a batch is sealed").into());
    }
    let found: BatchTotals = back(reply::ask(&cx, Call::Batch { batch: id }).await?)?;
    let batch = found.batch_id.to_string();
    let steer = |change| Call::ChangeBatch { batch: batch.clone(), change };
    if let Some(priority) = priority {
        reply::ask(&cx, steer(BatchChange::Priority(priority))).await?;
    }
    if let Some(paused) = change.paused {
        reply::ask(&cx, steer(if paused { BatchChange::Pause } else { BatchChange::Resume })).await?;
    }
    if change.sealed.is_some() {
        seal(&cx, &found, change.expected).await?;
    }
    reply::call(&cx, Call::Batch { batch }).await
}

/// Seals a batch with its sender's count, or with what it has received.
async fn seal(cx: &Cx, batch: &BatchTotals, expected: Option<u64>) -> Result<()> {
    let mut counted = expected.unwrap_or(batch.received);
    loop {
        let walk = Walk { walked: counted, known: 0, baseline: 0 };
        let call = Call::SealBatch { batch_id: batch.batch_id, walk };
        let sealed: BatchTotals = back(reply::ask(cx, call).await?)?;
        // An upload may have come in between the count and the seal; none does after it.
        if expected.is_some() || sealed.received <= counted {
            return Ok(());
        }
        counted = sealed.received;
    }
}

async fn cancel(cx: Cx, At(id): At<String>) -> Answer {
    // Looked for first, so that the audit log holds what was done to batches that are there.
    let found: BatchTotals = back(reply::ask(&cx, Call::Batch { batch: id }).await?)?;
    let batch = found.batch_id.to_string();
    reply::ask(&cx, Call::ChangeBatch { batch: batch.clone(), change: BatchChange::Cancel }).await?;
    reply::call(&cx, Call::Batch { batch }).await
}

async fn audit(cx: Cx, At(id): At<String>) -> Answer {
    reply::call(&cx, Call::Ledger { batch: Some(id) }).await
}

fn priority(priority: Option<u8>) -> Result<Option<u8>> {
    match priority {
        Some(priority) if priority > 99 => {
            Err(Error::invalid_request(format!("the priority {priority} is not a number from 0 to 99")))
        }
        priority => Ok(priority),
    }
}

fn back<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> Result<T> {
    serde_json::from_value(value).map_err(|e| Error::bug("an answer cannot be read back").with_source(e))
}
