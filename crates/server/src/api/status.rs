//! How everything stands.

use axum::http::StatusCode;
use axum::routing::get;
use docmill_core::access::Role;
use docmill_core::answer::{
    DoctorAnswer, FacetsAnswer, LedgerAnswer, StatusAnswer, WorkAnswer, WorkersAnswer,
};
use docmill_core::call::Call;
use docmill_core::id::{BatchId, TenantId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::input::Asked;
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/v1/status", "getStatus", "What is going on", get(status))
            .answers::<StatusAnswer>(200, "Counts, workers, recent batches."),
        Operation::get("/v1/ledger", "getLedger", "What was expected against what happened", get(ledger))
            .answers::<LedgerAnswer>(200, "Both sides, and whether they agree."),
        Operation::get("/v1/workers", "listWorkers", "Who works", get(workers))
            .answers::<WorkersAnswer>(200, "Everyone on the list."),
        Operation::get(
            "/v1/work",
            "countWork",
            "Tasks by kind, stage and state: all of a batch, or what waits and runs",
            get(work),
        )
        .asked::<WorkParams>()
        .answers::<WorkAnswer>(200, "The counts."),
        Operation::get("/v1/facets", "countFacets", "How many documents there are of what", get(facets))
            .answers::<FacetsAnswer>(
            200,
            "By state, media type, kind and language, over the newest ten thousand.",
        ),
        Operation::get("/v1/doctor", "doctor", "What can be wrong outside a document", get(doctor))
            .for_admins()
            .answers::<DoctorAnswer>(200, "One check after the other."),
        Operation::get("/v1/me", "whoAmI", "Whose documents are shown, and what may be done", get(me))
            .answers::<MeAnswer>(200, "The caller."),
    ]
}

async fn status(cx: Cx) -> Answer {
    reply::call(&cx, Call::Status).await
}

async fn ledger(cx: Cx) -> Answer {
    reply::call(&cx, Call::Ledger { batch: None }).await
}

async fn workers(cx: Cx) -> Answer {
    reply::call(&cx, Call::Workers).await
}

/// Whose work.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct WorkParams {
    /// All tasks of this batch; without it what waits and runs.
    batch_id: Option<BatchId>,
}

async fn work(cx: Cx, Asked(params): Asked<WorkParams>) -> Answer {
    reply::call(&cx, Call::Work { batch: params.batch_id }).await
}

async fn facets(cx: Cx) -> Answer {
    reply::call(&cx, Call::Facets).await
}

async fn doctor(cx: Cx) -> Answer {
    reply::call(&cx, Call::Doctor).await
}

/// Who asks.
#[derive(Debug, Serialize, JsonSchema)]
struct MeAnswer {
    /// Whose documents are shown.
    tenant_id: TenantId,
    /// By its name.
    tenant: String,
    /// The name of the key, or `local`.
    name: String,
    /// Under which name a review is held and decided: names of keys are not unique.
    reviewer: String,
    /// What may be done.
    role: Role,
    /// Whether requests without a key are refused.
    key_needed: bool,
    /// Of the server.
    version: &'static str,
}

async fn me(cx: Cx) -> Answer {
    let tenants = cx.web.service.deps().store.tenants().await?;
    let tenant = tenants.into_iter().find(|line| line.tenant_id == cx.caller.tenant);
    let answer = MeAnswer {
        tenant_id: cx.caller.tenant,
        tenant: tenant.map(|line| line.name).unwrap_or_default(),
        name: cx.caller.name.to_string(),
        reviewer: cx.actor().reviewer(),
        role: cx.caller.role,
        key_needed: cx.web.gate.needs_key().await?,
        version: env!("CARGO_PKG_VERSION"),
    };
    reply::json(StatusCode::OK, &answer)
}
