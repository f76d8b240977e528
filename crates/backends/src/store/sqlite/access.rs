//! Keys, tenants, the audit log, and requests that are done once.

use docmill_core::access::{
    AuditEntry, AuditLogAnswer, Holder, KeyCounts, KeyLine, NewAudit, NewKey, Once, Role, TenantLine,
};
use docmill_core::id::{ContentHash, KeyId, TenantId};
use docmill_core::ports::store::Received;
use docmill_core::{Error, Result};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::look::{collect, first};
use super::row::{Columns, json, sql_error};
use super::tx::Tx;

pub(super) fn tenants(conn: &Connection) -> Result<Vec<TenantLine>> {
    let sql = "SELECT tenant_id, name, created_at FROM tenant ORDER BY name";
    collect(conn, "list tenants", sql, [], |c| {
        Ok(TenantLine { tenant_id: c.tenant()?, name: c.get()?, created_at: c.time()? })
    })
}

pub(super) fn find_tenant(conn: &Connection, name: &str) -> Result<Option<TenantId>> {
    first(conn, "look up a tenant", "SELECT tenant_id FROM tenant WHERE name = ?1", [name], tenant_id)
}

fn tenant_id(c: &mut Columns<'_, '_>) -> Result<TenantId> {
    c.tenant()
}

pub(super) fn add_key(tx: &mut Tx<'_>, key: &NewKey, audit: NewAudit) -> Result<KeyLine> {
    tx.sql(
        "INSERT INTO api_key (key_id, tenant_id, name, role, hash, shown, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        key.key_id.as_bytes(),
        key.tenant_id.as_bytes(),
        key.name,
        key.role.name(),
        key.hash.0,
        key.shown,
        tx.now.0
    ])
    .map_err(sql_error("store a key"))?;
    self::audit(tx, key.tenant_id, audit)?;
    Ok(KeyLine {
        key_id: key.key_id,
        name: key.name.clone(),
        role: key.role,
        shown: key.shown.clone(),
        created_at: tx.now,
        revoked_at: None,
    })
}

pub(super) fn keys(conn: &Connection, tenant: TenantId) -> Result<Vec<KeyLine>> {
    let sql = "SELECT key_id, name, role, shown, created_at, revoked_at FROM api_key
      WHERE tenant_id = ?1 ORDER BY key_id DESC";
    collect(conn, "list keys", sql, [tenant.as_bytes()], |c| {
        Ok(KeyLine {
            key_id: c.key()?,
            name: c.get()?,
            role: c.word(Role::from_name)?,
            shown: c.get()?,
            created_at: c.time()?,
            revoked_at: c.time_opt()?,
        })
    })
}

pub(super) fn revoke_key(tx: &mut Tx<'_>, tenant: TenantId, key: KeyId, audit: NewAudit) -> Result<bool> {
    let found = tx
        .sql("UPDATE api_key SET revoked_at = coalesce(revoked_at, ?3) WHERE key_id = ?1 AND tenant_id = ?2")?
        .execute(params![key.as_bytes(), tenant.as_bytes(), tx.now.0])
        .map_err(sql_error("revoke a key"))?;
    if found > 0 {
        self::audit(tx, tenant, audit)?;
    }
    Ok(found > 0)
}

pub(super) fn find_key(conn: &Connection, hash: &ContentHash) -> Result<Option<Holder>> {
    let sql =
        "SELECT key_id, tenant_id, name, role FROM api_key WHERE hash = ?1 AND revoked_at IS NULL LIMIT 1";
    first(conn, "look up a key", sql, [hash.0], holder)
}

pub(super) fn key(conn: &Connection, id: KeyId) -> Result<Option<(Holder, ContentHash)>> {
    let sql =
        "SELECT key_id, tenant_id, name, role, hash FROM api_key WHERE key_id = ?1 AND revoked_at IS NULL";
    first(conn, "look up a key", sql, [id.as_bytes()], |c| Ok((holder(c)?, c.hash()?)))
}

fn holder(c: &mut Columns<'_, '_>) -> Result<Holder> {
    Ok(Holder { key_id: c.key()?, tenant_id: c.tenant()?, name: c.get()?, role: c.word(Role::from_name)? })
}

pub(super) fn count_keys(conn: &Connection) -> Result<KeyCounts> {
    let sql = "SELECT count(*), count(*) - count(revoked_at) FROM api_key";
    let counts =
        first(conn, "count keys", sql, [], |c| Ok(KeyCounts { made: c.count()?, valid: c.count()? }))?;
    Ok(counts.unwrap_or_default())
}

/// Appends to the chain of a tenant. The writer is one thread, so nothing comes between the look and the entry.
pub(super) fn audit(tx: &mut Tx<'_>, tenant: TenantId, new: NewAudit) -> Result<()> {
    let last: Option<(i64, [u8; 32])> = tx
        .sql("SELECT seq, hash FROM audit_log WHERE tenant_id = ?1 ORDER BY seq DESC LIMIT 1")?
        .query_row([tenant.as_bytes()], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()
        .map_err(sql_error("read the audit log"))?;
    let (seq, previous) = last.unwrap_or((0, [0; 32]));
    let entry = AuditEntry::follow(seq + 1, tx.now, tenant, ContentHash(previous), new);
    tx.sql(
        "INSERT INTO audit_log (tenant_id, seq, at, actor, key_id, request_id, action, subject, detail, previous, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?
    .execute(params![
        tenant.as_bytes(),
        entry.seq,
        entry.at.0,
        entry.actor,
        entry.key_id.as_ref().map(KeyId::as_bytes),
        entry.request_id,
        entry.action,
        entry.subject,
        entry.detail.to_string(),
        entry.previous.0,
        entry.hash.0
    ])
    .map_err(sql_error("append to the audit log"))?;
    Ok(())
}

pub(super) fn audit_log(
    conn: &Connection,
    tenant: TenantId,
    after: i64,
    limit: usize,
) -> Result<AuditLogAnswer> {
    let sql =
        "SELECT seq, at, actor, key_id, request_id, action, subject, detail, previous, hash FROM audit_log
      WHERE tenant_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let entries =
        collect(conn, "read the audit log", sql, params![tenant.as_bytes(), after, limit as i64], |c| {
            Ok(AuditEntry {
                seq: c.get()?,
                at: c.time()?,
                actor: c.get()?,
                key_id: c.key_opt()?,
                request_id: c.get()?,
                action: c.get()?,
                subject: c.get()?,
                detail: c.json_opt()?.unwrap_or_default(),
                previous: c.hash()?,
                hash: c.hash()?,
            })
        })?;
    Ok(AuditLogAnswer::checked(tenant, entries, after))
}

/// The answer that a request got when it first came, if that was not too long ago.
pub(super) fn first_answer(tx: &Tx<'_>, tenant: TenantId, once: &Once) -> Result<Option<Vec<Received>>> {
    let since = tx.now.minus(Once::HONOURED_FOR);
    let found: Option<([u8; 32], String)> = tx
        .sql("SELECT fingerprint, answer FROM idempotency WHERE tenant_id = ?1 AND key = ?2 AND at > ?3")?
        .query_row(params![tenant.as_bytes(), once.key, since.0], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()
        .map_err(sql_error("look up a request"))?;
    let Some((fingerprint, answer)) = found else { return Ok(None) };
    once.check(ContentHash(fingerprint))?;
    serde_json::from_str(&answer)
        .map(Some)
        .map_err(|e| Error::bug("the store holds an answer that cannot be read").with_source(e))
}

/// Keeps the answer to a request; one that is too old makes room for it.
pub(super) fn keep_answer(tx: &Tx<'_>, tenant: TenantId, once: &Once, answer: &[Received]) -> Result<()> {
    tx.sql(
        "INSERT OR REPLACE INTO idempotency (tenant_id, key, fingerprint, answer, at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![tenant.as_bytes(), once.key, once.fingerprint.0, json(&answer)?, tx.now.0])
    .map_err(sql_error("keep an answer"))?;
    Ok(())
}

/// Forgets answers that are honoured no more.
pub(super) fn prune(tx: &Tx<'_>) -> Result<()> {
    tx.sql("DELETE FROM idempotency WHERE at <= ?1")?
        .execute([tx.now.minus(Once::HONOURED_FOR).0])
        .map_err(sql_error("forget answers"))?;
    Ok(())
}
