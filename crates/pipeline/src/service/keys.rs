//! Keys to the HTTP interface: made, listed, taken back.

use docmill_core::access::{Actor, KeyAnswer, KeysAnswer, NewAudit, NewKey, Role, Secret};
use docmill_core::answer::CountAnswer;
use docmill_core::id::{KeyId, TenantId};
use docmill_core::{Error, Result};
use serde_json::json;

use super::Inner;

/// A name is for people.
const MAX_NAME_CHARS: usize = 100;

/// Makes a key. The answer is the only place where it ever stands.
pub(super) async fn create(
    inner: &Inner,
    tenant: TenantId,
    actor: &Actor,
    name: String,
    role: Role,
) -> Result<KeyAnswer> {
    check_name("key", &name)?;
    let secret = Secret::new(inner.deps.entropy.secret());
    let key = NewKey {
        key_id: KeyId(inner.deps.ids.next()),
        tenant_id: tenant,
        name,
        role,
        hash: secret.hash(),
        shown: secret.shown(),
    };
    let audit = NewAudit {
        actor: actor.clone(),
        action: "key.create".into(),
        subject: Some(key.key_id.to_string()),
        detail: json!({ "name": key.name, "role": key.role }),
    };
    let line = inner.deps.store.add_key(key, audit).await?;
    Ok(KeyAnswer { line, key: secret.expose().to_owned() })
}

pub(super) async fn list(inner: &Inner, tenant: TenantId) -> Result<KeysAnswer> {
    Ok(KeysAnswer { keys: inner.deps.store.keys(tenant).await? })
}

pub(super) async fn revoke(inner: &Inner, tenant: TenantId, actor: &Actor, id: KeyId) -> Result<CountAnswer> {
    let audit = NewAudit {
        actor: actor.clone(),
        action: "key.revoke".into(),
        subject: Some(id.to_string()),
        detail: json!({}),
    };
    if !inner.deps.store.revoke_key(tenant, id, audit).await? {
        return Err(Error::not_found(format!("no key has the id `{id}`"))
            .with_hint("`docmill key list` shows the keys there are"));
    }
    Ok(CountAnswer { count: 1, ..CountAnswer::default() })
}

/// Refuses what would not look like a name.
pub(super) fn check_name(what: &str, name: &str) -> Result<()> {
    let chars = name.chars().count();
    if name.trim().is_empty() || chars > MAX_NAME_CHARS || name.chars().any(char::is_control) {
        return Err(Error::invalid_request(format!(
            "the name of a {what} has 1 to {MAX_NAME_CHARS} characters and no control characters; this one has {chars}"
        )));
    }
    Ok(())
}
