//! Keys, tenants and the audit log.

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::access::{AuditLogAnswer, Holder, KeyCounts, KeyLine, NewAudit, NewKey, TenantLine};
use docmill_core::id::{ContentHash, KeyId, TenantId};
use docmill_core::ports::Access;

use super::super::access;
use super::super::open::SqliteStore;
use super::super::writer::Lane;

#[async_trait]
impl Access for SqliteStore {
    async fn tenants(&self) -> Result<Vec<TenantLine>> {
        self.readers.read(access::tenants).await
    }

    async fn find_tenant(&self, name: &str) -> Result<Option<TenantId>> {
        let name = name.to_owned();
        self.readers.read(move |conn| access::find_tenant(conn, &name)).await
    }

    async fn add_key(&self, key: NewKey, audit: NewAudit) -> Result<KeyLine> {
        self.writer.write(Lane::Usual, move |tx| access::add_key(tx, &key, audit.clone())).await
    }

    async fn keys(&self, tenant: TenantId) -> Result<Vec<KeyLine>> {
        self.readers.read(move |conn| access::keys(conn, tenant)).await
    }

    async fn revoke_key(&self, tenant: TenantId, key: KeyId, audit: NewAudit) -> Result<bool> {
        self.writer.write(Lane::Usual, move |tx| access::revoke_key(tx, tenant, key, audit.clone())).await
    }

    async fn find_key(&self, hash: &ContentHash) -> Result<Option<Holder>> {
        let hash = *hash;
        self.readers.read(move |conn| access::find_key(conn, &hash)).await
    }

    async fn key(&self, id: KeyId) -> Result<Option<(Holder, ContentHash)>> {
        self.readers.read(move |conn| access::key(conn, id)).await
    }

    async fn count_keys(&self) -> Result<KeyCounts> {
        self.readers.read(access::count_keys).await
    }

    async fn audit(&self, tenant: TenantId, entry: NewAudit) -> Result<()> {
        self.writer.write(Lane::Usual, move |tx| access::audit(tx, tenant, entry.clone())).await
    }

    async fn audit_log(&self, tenant: TenantId, after: i64, limit: usize) -> Result<AuditLogAnswer> {
        self.readers.read(move |conn| access::audit_log(conn, tenant, after, limit)).await
    }
}
