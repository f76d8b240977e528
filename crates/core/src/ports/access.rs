//! Keys, tenants and the audit log. Part of the store: what they say is as durable as the documents.

use async_trait::async_trait;

use crate::access::{AuditLogAnswer, Holder, KeyCounts, KeyLine, NewAudit, NewKey, TenantLine};
use crate::error::Result;
use crate::id::{ContentHash, KeyId, TenantId};

/// Who may do what, and what they did.
#[async_trait]
pub trait Access: Send + Sync {
    /// Every tenant, by name.
    async fn tenants(&self) -> Result<Vec<TenantLine>>;
    /// The tenant of that name, if there is one.
    async fn find_tenant(&self, name: &str) -> Result<Option<TenantId>>;

    /// Stores a key, and the entry of the audit log with it.
    async fn add_key(&self, key: NewKey, audit: NewAudit) -> Result<KeyLine>;
    /// The keys of a tenant, newest first, revoked ones too.
    async fn keys(&self, tenant: TenantId) -> Result<Vec<KeyLine>>;
    /// Takes a key back, and writes the entry of the audit log with it. False if the tenant has no such key; one that
    /// was taken back before stays so.
    async fn revoke_key(&self, tenant: TenantId, key: KeyId, audit: NewAudit) -> Result<bool>;
    /// Who holds the key with this hash. Keys that were taken back open nothing.
    async fn find_key(&self, hash: &ContentHash) -> Result<Option<Holder>>;
    /// The holder of the key of this id, and the key's hash, for what was signed with it.
    async fn key(&self, id: KeyId) -> Result<Option<(Holder, ContentHash)>>;
    /// How many keys were ever made, of all tenants, and how many of them still open something.
    async fn count_keys(&self) -> Result<KeyCounts>;

    /// Adds an entry to the audit log.
    async fn audit(&self, tenant: TenantId, entry: NewAudit) -> Result<()>;
    /// Entries after number `after`, in order.
    async fn audit_log(&self, tenant: TenantId, after: i64, limit: usize) -> Result<AuditLogAnswer>;
}
