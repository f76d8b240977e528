//! Keys, tenants and the audit log.

use async_trait::async_trait;
use docmill_core::access::{AuditLogAnswer, Holder, KeyCounts, KeyLine, NewAudit, NewKey, TenantLine};
use docmill_core::id::{ContentHash, KeyId, TenantId};
use docmill_core::ports::Access;
use docmill_core::{Error, Result};

use super::super::access;
use super::super::open::PostgresStore;
use super::super::readers::{look, of_engine, of_tenant};
use super::super::tx::transact;

#[async_trait]
impl Access for PostgresStore {
    async fn tenants(&self) -> Result<Vec<TenantLine>> {
        look!(of_engine(&self.db), |conn| access::tenants(conn).await)
    }

    async fn find_tenant(&self, name: &str) -> Result<Option<TenantId>> {
        look!(of_engine(&self.db), |conn| access::find_tenant(conn, name).await)
    }

    async fn add_key(&self, key: NewKey, audit: NewAudit) -> Result<KeyLine> {
        transact!(&self.db, |tx| access::add_key(&mut tx, &key, &audit).await).map(|d| self.after(d))
    }

    async fn keys(&self, tenant: TenantId) -> Result<Vec<KeyLine>> {
        look!(of_tenant(&self.db, tenant), |conn| access::keys(conn, tenant).await)
    }

    async fn revoke_key(&self, tenant: TenantId, key: KeyId, audit: NewAudit) -> Result<bool> {
        transact!(&self.db, |tx| access::revoke_key(&mut tx, tenant, key, &audit).await)
            .map(|d| self.after(d))
    }

    async fn find_key(&self, hash: &ContentHash) -> Result<Option<Holder>> {
        // Whose key it is is the question, so it cannot be asked on behalf of a tenant.
        look!(of_engine(&self.db), |conn| access::find_key(conn, hash).await)
    }

    async fn key(&self, id: KeyId) -> Result<Option<(Holder, ContentHash)>> {
        look!(of_engine(&self.db), |conn| access::key(conn, id).await)
    }

    async fn count_keys(&self) -> Result<KeyCounts> {
        look!(of_engine(&self.db), |conn| access::count_keys(conn).await)
    }

    async fn audit(&self, tenant: TenantId, entry: NewAudit) -> Result<()> {
        transact!(&self.db, |tx| {
            access::audit(&mut tx, tenant, &entry);
            Ok::<_, Error>(())
        })
        .map(|d| self.after(d))
    }

    async fn audit_log(&self, tenant: TenantId, after: i64, limit: usize) -> Result<AuditLogAnswer> {
        // What was committed before this call is in the chain, and so in the answer.
        self.fold().await?;
        look!(of_tenant(&self.db, tenant), |conn| access::audit_log(conn, tenant, after, limit).await)
    }
}
