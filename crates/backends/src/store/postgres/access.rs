//! Keys, tenants, the audit log, and requests that are done once.

use std::collections::BTreeMap;

use docmill_core::access::{
    Actor, AuditEntry, AuditLogAnswer, Holder, KeyCounts, KeyLine, NewAudit, NewKey, Once, Role, TenantLine,
};
use docmill_core::clock::Timestamp;
use docmill_core::id::{ContentHash, KeyId, TenantId};
use docmill_core::ports::store::Received;
use docmill_core::{Error, Result};
use sqlx_core::query::query;
use sqlx_core::query_scalar::query_scalar;
use sqlx_postgres::{PgConnection, Postgres};
use uuid::Uuid;

use super::row::{Columns, json, sql_error, text, text_opt};
use super::tx::Tx;

pub(super) async fn tenants(conn: &mut PgConnection) -> Result<Vec<TenantLine>> {
    let rows = query::<Postgres>("SELECT tenant_id, name, created_at FROM tenant ORDER BY name")
        .fetch_all(conn)
        .await
        .map_err(sql_error("list tenants"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(TenantLine { tenant_id: c.tenant()?, name: c.get()?, created_at: c.time()? })
        })
        .collect()
}

pub(super) async fn find_tenant(conn: &mut PgConnection, name: &str) -> Result<Option<TenantId>> {
    query_scalar::<Postgres, Uuid>("SELECT tenant_id FROM tenant WHERE name = $1")
        .bind(text(name))
        .fetch_optional(conn)
        .await
        .map(|id| id.map(TenantId))
        .map_err(sql_error("look up a tenant"))
}

pub(super) async fn add_key(tx: &mut Tx, key: &NewKey, audit: &NewAudit) -> Result<KeyLine> {
    query::<Postgres>(
        "INSERT INTO api_key (key_id, tenant_id, name, role, hash, shown, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(key.key_id.0)
    .bind(key.tenant_id.0)
    .bind(text(&key.name))
    .bind(key.role.name())
    .bind(key.hash.0.as_slice())
    .bind(text(&key.shown))
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("store a key"))?;
    self::audit(tx, key.tenant_id, audit);
    Ok(KeyLine {
        key_id: key.key_id,
        name: text(&key.name),
        role: key.role,
        shown: key.shown.clone(),
        created_at: tx.now,
        revoked_at: None,
    })
}

pub(super) async fn keys(conn: &mut PgConnection, tenant: TenantId) -> Result<Vec<KeyLine>> {
    let rows = query::<Postgres>(
        "SELECT key_id, name, role, shown, created_at, revoked_at FROM api_key
         WHERE tenant_id = $1 ORDER BY key_id DESC",
    )
    .bind(tenant.0)
    .fetch_all(conn)
    .await
    .map_err(sql_error("list keys"))?;
    rows.iter()
        .map(|row| {
            let mut c = Columns::new(row);
            Ok(KeyLine {
                key_id: c.get().map(KeyId)?,
                name: c.get()?,
                role: c.word(Role::from_name)?,
                shown: c.get()?,
                created_at: c.time()?,
                revoked_at: c.time_opt()?,
            })
        })
        .collect()
}

pub(super) async fn revoke_key(tx: &mut Tx, tenant: TenantId, key: KeyId, audit: &NewAudit) -> Result<bool> {
    let found = query::<Postgres>(
        "UPDATE api_key SET revoked_at = coalesce(revoked_at, $3) WHERE key_id = $1 AND tenant_id = $2",
    )
    .bind(key.0)
    .bind(tenant.0)
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("revoke a key"))?
    .rows_affected();
    if found > 0 {
        self::audit(tx, tenant, audit);
    }
    Ok(found > 0)
}

pub(super) async fn find_key(conn: &mut PgConnection, hash: &ContentHash) -> Result<Option<Holder>> {
    let row = query::<Postgres>(
        "SELECT key_id, tenant_id, name, role FROM api_key WHERE hash = $1 AND revoked_at IS NULL",
    )
    .bind(hash.0.as_slice())
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up a key"))?;
    let Some(row) = row else { return Ok(None) };
    holder(&mut Columns::new(&row)).map(Some)
}

pub(super) async fn key(conn: &mut PgConnection, id: KeyId) -> Result<Option<(Holder, ContentHash)>> {
    let row = query::<Postgres>(
        "SELECT key_id, tenant_id, name, role, hash FROM api_key WHERE key_id = $1 AND revoked_at IS NULL",
    )
    .bind(id.0)
    .fetch_optional(conn)
    .await
    .map_err(sql_error("look up a key"))?;
    let Some(row) = row else { return Ok(None) };
    let mut c = Columns::new(&row);
    Ok(Some((holder(&mut c)?, c.hash()?)))
}

fn holder(c: &mut Columns<'_>) -> Result<Holder> {
    let key_id = c.get().map(KeyId)?;
    Ok(Holder { key_id, tenant_id: c.tenant()?, name: c.get()?, role: c.word(Role::from_name)? })
}

pub(super) async fn count_keys(conn: &mut PgConnection) -> Result<KeyCounts> {
    let row = query::<Postgres>("SELECT count(*), count(*) - count(revoked_at) FROM api_key")
        .fetch_one(conn)
        .await
        .map_err(sql_error("count keys"))?;
    let mut c = Columns::new(&row);
    Ok(KeyCounts { made: c.count()?, valid: c.count()? })
}

/// Leaves an entry for the sequencer, which puts it into the chain: commits that each appended to it themselves would wait
/// for one another.
pub(super) fn audit(tx: &mut Tx, tenant: TenantId, new: &NewAudit) {
    // The hash will be that of what the database can hold.
    let actor = Actor {
        name: text(&new.actor.name),
        key_id: new.actor.key_id,
        request_id: text_opt(new.actor.request_id.as_deref()),
    };
    let (action, subject) = (text(&new.action), text_opt(new.subject.as_deref()));
    tx.audit(tenant, NewAudit { actor, action, subject, detail: new.detail.clone() });
}

/// An entry as a commit left it.
pub(super) struct Left {
    pub(super) tenant_id: TenantId,
    pub(super) at: Timestamp,
    pub(super) entry: NewAudit,
}

/// Appends entries to the chains of their tenants. Nobody else does while the caller holds the sequencer's lock.
pub(super) async fn append(conn: &mut PgConnection, left: Vec<Left>) -> Result<()> {
    let mut ends: BTreeMap<TenantId, (i64, ContentHash)> = BTreeMap::new();
    for Left { tenant_id, at, entry } in left {
        let (seq, previous) = match ends.get(&tenant_id) {
            Some(end) => *end,
            None => chain_end(conn, tenant_id).await?,
        };
        let entry = AuditEntry::follow(seq + 1, at, tenant_id, previous, entry);
        insert(conn, tenant_id, &entry).await?;
        ends.insert(tenant_id, (entry.seq, entry.hash));
    }
    Ok(())
}

async fn chain_end(conn: &mut PgConnection, tenant: TenantId) -> Result<(i64, ContentHash)> {
    let last =
        query::<Postgres>("SELECT seq, hash FROM audit_log WHERE tenant_id = $1 ORDER BY seq DESC LIMIT 1")
            .bind(tenant.0)
            .fetch_optional(conn)
            .await
            .map_err(sql_error("read the audit log"))?;
    let Some(row) = last else { return Ok((0, ContentHash([0; 32]))) };
    let mut c = Columns::new(&row);
    Ok((c.get()?, c.hash()?))
}

async fn insert(conn: &mut PgConnection, tenant: TenantId, entry: &AuditEntry) -> Result<()> {
    query::<Postgres>(
        "INSERT INTO audit_log (tenant_id, seq, at, actor, key_id, request_id, action, subject, detail, previous, hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(tenant.0)
    .bind(entry.seq)
    .bind(entry.at.0)
    .bind(&entry.actor)
    .bind(entry.key_id.map(|id| id.0))
    .bind(&entry.request_id)
    .bind(&entry.action)
    .bind(&entry.subject)
    .bind(entry.detail.to_string())
    .bind(entry.previous.0.as_slice())
    .bind(entry.hash.0.as_slice())
    .execute(conn)
    .await
    .map_err(sql_error("append to the audit log"))?;
    Ok(())
}

pub(super) async fn audit_log(
    conn: &mut PgConnection,
    tenant: TenantId,
    after: i64,
    limit: usize,
) -> Result<AuditLogAnswer> {
    let rows = query::<Postgres>(
        "SELECT seq, at, actor, key_id, request_id, action, subject, detail, previous, hash FROM audit_log
         WHERE tenant_id = $1 AND seq > $2 ORDER BY seq LIMIT $3",
    )
    .bind(tenant.0)
    .bind(after)
    .bind(i64::try_from(limit).unwrap_or(i64::MAX))
    .fetch_all(conn)
    .await
    .map_err(sql_error("read the audit log"))?;
    let entries = rows.iter().map(|row| {
        let mut c = Columns::new(row);
        Ok(AuditEntry {
            seq: c.get()?,
            at: c.time()?,
            actor: c.get()?,
            key_id: c.get::<Option<Uuid>>()?.map(KeyId),
            request_id: c.get()?,
            action: c.get()?,
            subject: c.get()?,
            detail: c.json_opt()?.unwrap_or_default(),
            previous: c.hash()?,
            hash: c.hash()?,
        })
    });
    Ok(AuditLogAnswer::checked(tenant, entries.collect::<Result<_>>()?, after))
}

/// The answer that a request got when it first came, if that was not too long ago.
pub(super) async fn first_answer(
    tx: &mut Tx,
    tenant: TenantId,
    once: &Once,
) -> Result<Option<Vec<Received>>> {
    let since = tx.now.minus(Once::HONOURED_FOR);
    let row = query::<Postgres>(
        "SELECT fingerprint, answer FROM idempotency WHERE tenant_id = $1 AND key = $2 AND at > $3",
    )
    .bind(tenant.0)
    .bind(text(&once.key))
    .bind(since.0)
    .fetch_optional(tx.conn())
    .await
    .map_err(sql_error("look up a request"))?;
    let Some(row) = row else { return Ok(None) };
    let mut c = Columns::new(&row);
    once.check(c.hash()?)?;
    c.json_opt()?.map(Some).ok_or_else(|| Error::bug("the store holds no answer to a request"))
}

/// Keeps the answer to a request. Two who send the same one at once meet here: the second waits for the first, and
/// its transaction is repeated and finds the answer. One that is too old makes room.
pub(super) async fn keep_answer(
    tx: &mut Tx,
    tenant: TenantId,
    once: &Once,
    answer: &[Received],
) -> Result<()> {
    let since = tx.now.minus(Once::HONOURED_FOR);
    query::<Postgres>("DELETE FROM idempotency WHERE tenant_id = $1 AND key = $2 AND at <= $3")
        .bind(tenant.0)
        .bind(text(&once.key))
        .bind(since.0)
        .execute(tx.conn())
        .await
        .map_err(sql_error("forget an answer"))?;
    query::<Postgres>(
        "INSERT INTO idempotency (tenant_id, key, fingerprint, answer, at) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(tenant.0)
    .bind(text(&once.key))
    .bind(once.fingerprint.0.as_slice())
    .bind(json(&answer)?)
    .bind(tx.now.0)
    .execute(tx.conn())
    .await
    .map_err(sql_error("keep an answer"))?;
    Ok(())
}

/// Forgets answers that are honoured no more.
pub(super) async fn prune(tx: &mut Tx) -> Result<()> {
    query::<Postgres>("DELETE FROM idempotency WHERE at <= $1")
        .bind(tx.now.minus(Once::HONOURED_FOR).0)
        .execute(tx.conn())
        .await
        .map_err(sql_error("forget answers"))?;
    Ok(())
}
