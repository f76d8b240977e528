//! Keys, and the log of what was done with them.

use axum::http::{Method, StatusCode};
use axum::routing::{delete, get, post};
use docmill_core::access::{AuditLogAnswer, KeyAnswer, KeysAnswer, Role};
use docmill_core::call::Call;
use docmill_core::id::KeyId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::documents::{behind, within};
use super::input::{Asked, At, Told};
use super::operation::Operation;
use super::reply::{self, Answer};
use crate::access::Cx;

/// Entries of one answer, unless asked for fewer or more.
const PAGE: usize = 100;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/v1/keys", "listKeys", "The keys of the tenant", get(list))
            .for_admins()
            .answers::<KeysAnswer>(200, "Newest first."),
        Operation::change(Method::POST, "/v1/keys", "createKey", "Make a key", post(create))
            .for_admins()
            .takes::<New>()
            .answers::<KeyAnswer>(201, "The key. It is shown here and never again."),
        Operation::change(Method::DELETE, "/v1/keys/{id}", "revokeKey", "Take a key back", delete(revoke))
            .for_admins()
            .answers_nothing(204, "It opens nothing any more."),
        Operation::get("/v1/audit-log", "getAuditLog", "Who changed what", get(log))
            .for_admins()
            .asked::<LogParams>()
            .answers::<AuditLogAnswer>(200, "Entries in order, and whether the chain is intact."),
    ]
}

async fn list(cx: Cx) -> Answer {
    reply::call(&cx, Call::Keys).await
}

/// A key to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct New {
    /// What it is for.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// What it allows.
    role: Role,
}

async fn create(cx: Cx, Told(new): Told<New>) -> Answer {
    let made = reply::ask(&cx, Call::KeyCreate { name: new.name, role: new.role }).await?;
    reply::json(StatusCode::CREATED, &made)
}

async fn revoke(cx: Cx, At(id): At<String>) -> Answer {
    let id: KeyId = id.parse()?;
    reply::ask(&cx, Call::KeyRevoke { id }).await?;
    Ok(reply::nothing())
}

/// Which entries.
#[derive(Debug, Deserialize, JsonSchema)]
struct LogParams {
    /// Only later ones; `next` of the page before.
    #[schemars(range(min = 0))]
    after: Option<i64>,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

async fn log(cx: Cx, Asked(params): Asked<LogParams>) -> Answer {
    let call = Call::AuditLog { after: behind(params.after)?, limit: within(params.limit, PAGE)? };
    reply::call(&cx, call).await
}
