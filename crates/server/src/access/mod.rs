//! Who asks, and whether they may.

mod link;
mod rate;

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use docmill_core::access::{Actor, Role, Secret};
use docmill_core::id::{KeyId, TenantId};
use docmill_core::{Error, Result};
use docmill_pipeline::Service;

pub(crate) use link::{LONGEST, Link};

use crate::envelope::RequestId;
use crate::guard;
use crate::problem::Problem;
use crate::web::Web;
use rate::Rates;

/// Decides about requests.
pub(crate) struct Gate {
    service: Arc<Service>,
    /// Whose documents are shown where no key is needed.
    local: TenantId,
    /// Only this machine can connect.
    loopback: bool,
    rates: Rates,
    /// Signs links where there are no keys; ends with the process.
    secret: [u8; 24],
}

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) tenant: TenantId,
    pub(crate) role: Role,
    pub(crate) key_id: Option<KeyId>,
    pub(crate) name: Arc<str>,
}

impl Gate {
    pub(crate) fn new(service: Arc<Service>, local: TenantId, loopback: bool) -> Self {
        let settings = &service.deps().settings;
        let rates = Rates::new(settings.http.requests_per_second);
        let secret = service.deps().entropy.secret();
        Self { service, local, loopback, rates, secret }
    }

    /// Whether a key is needed. Once there has been one, it stays so, even if all are taken back: a server that was
    /// closed must not open by itself.
    pub(crate) async fn needs_key(&self) -> Result<bool> {
        Ok(!self.loopback || self.service.deps().store.count_keys().await?.made > 0)
    }

    async fn admit(&self, needed: &Needed, parts: &Parts) -> Result<Caller, Problem> {
        let caller = match bearer(&parts.headers)? {
            Some(key) => self.holder(key).await?,
            None if needed.signed && Link::is_in(parts.uri.query()) => self.of_link(parts).await?,
            None if self.needs_key().await? => return Err(unauthorized("this server needs a key")),
            None => {
                guard::check(&parts.headers)?;
                Caller { tenant: self.local, role: Role::Admin, key_id: None, name: "local".into() }
            }
        };
        if caller.role < needed.role {
            return Err(Error::forbidden(format!(
                "this needs the role `{}`, and the key `{}` has the role `{}`",
                needed.role.name(),
                caller.name,
                caller.role.name()
            ))
            .into());
        }
        if let Some(key_id) = caller.key_id {
            self.rates.take(key_id, self.service.deps().clock.monotonic())?;
        }
        Ok(caller)
    }

    async fn holder(&self, key: &str) -> Result<Caller, Problem> {
        let found = self.service.deps().store.find_key(&Secret::hash_of(key)).await?;
        let holder = found.ok_or_else(|| unauthorized("nobody holds this key, or it was revoked"))?;
        Ok(Caller {
            tenant: holder.tenant_id,
            role: holder.role,
            key_id: Some(holder.key_id),
            name: holder.name.into(),
        })
    }

    /// A link stands for the key it was signed with, as far as one document goes.
    async fn of_link(&self, parts: &Parts) -> Result<Caller, Problem> {
        let refused = || unauthorized("this link is not valid, or no longer");
        let link = Link::read(parts.uri.path(), parts.uri.query().unwrap_or_default()).ok_or_else(refused)?;
        let (caller, secret) = match link.key {
            Some(id) => {
                let (holder, hash) = self.service.deps().store.key(id).await?.ok_or_else(refused)?;
                let (tenant, name) = (holder.tenant_id, holder.name.into());
                (Caller { tenant, role: Role::Read, key_id: Some(id), name }, hash.0.to_vec())
            }
            None if !self.needs_key().await? => (
                Caller { tenant: self.local, role: Role::Read, key_id: None, name: "local".into() },
                self.secret.to_vec(),
            ),
            None => return Err(refused()),
        };
        if link.is_valid(&secret, self.service.deps().clock.now()) { Ok(caller) } else { Err(refused()) }
    }

    /// Signs a link to the content of a document, with the key of whoever asks for it.
    pub(crate) async fn sign(&self, caller: &Caller, link: &Link) -> Result<String> {
        let secret = match caller.key_id {
            Some(id) => match self.service.deps().store.key(id).await? {
                Some((_, hash)) => hash.0.to_vec(),
                None => return Err(Error::forbidden("the key was revoked")),
            },
            None => self.secret.to_vec(),
        };
        link.signed(&secret)
    }
}

/// What a route asks of its callers.
#[derive(Clone)]
pub(crate) struct Needed {
    pub(crate) role: Role,
    /// A signed link will do.
    pub(crate) signed: bool,
}

/// Stands before every route under `/v1`.
pub(crate) async fn admit(
    State((web, needed)): State<(Web, Needed)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let admitted = web.gate.admit(&needed, &parts).await;
    request = Request::from_parts(parts, body);
    match admitted {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// Stands before pages that show nothing of a tenant: where no key is needed, only this machine may see them.
pub(crate) async fn own_machine(State(web): State<Web>, request: Request, next: Next) -> Response {
    let checked = match web.gate.needs_key().await {
        Ok(true) => Ok(()),
        Ok(false) => guard::check_page(request.method(), request.headers()),
        Err(error) => Err(error.into()),
    };
    match checked {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// What every handler is given: where to ask, and for whom.
pub(crate) struct Cx {
    pub(crate) web: Web,
    pub(crate) caller: Caller,
    pub(crate) request_id: Arc<str>,
}

impl Cx {
    /// Who asks, for the audit log.
    pub(crate) fn actor(&self) -> Actor {
        Actor {
            name: self.caller.name.to_string(),
            key_id: self.caller.key_id,
            request_id: Some(self.request_id.to_string()),
        }
    }
}

impl FromRequestParts<Web> for Cx {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Problem> {
        let missing = || Problem::from(Error::bug("a request reached its handler without being admitted"));
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(missing)?;
        let RequestId(request_id) = parts.extensions.get::<RequestId>().cloned().ok_or_else(missing)?;
        Ok(Self { web: web.clone(), caller, request_id })
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let key = value.to_str().ok().and_then(|value| value.split_once(' '));
    match key {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(key.trim())),
        _ => Err(unauthorized("the `Authorization` header is not `Bearer dm_…`")),
    }
}

fn unauthorized(message: &str) -> Problem {
    Problem::of_http(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        Error::forbidden(message)
            .with_hint("send `Authorization: Bearer dm_…`; `docmill key create` makes a key"),
    )
}
