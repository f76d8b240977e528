//! `remove`: a document goes, with everything that was made from it; the account of its items stays.

use docmill_core::Result;
use docmill_core::answer::CountAnswer;
use docmill_core::id::TenantId;

use super::{Inner, find_head, no_document};

pub(super) async fn remove(inner: &Inner, tenant: TenantId, id: &str) -> Result<CountAnswer> {
    let head = find_head(&inner.deps, tenant, id).await?;
    let removed = inner.deps.store.remove(tenant, head.document_id).await?;
    let keys = removed.ok_or_else(|| no_document(id))?;
    inner.viewer.forget(&head);
    // Work that was stopped finds out by renewing its leases: let it do so now.
    inner.renew_now.send_modify(|times| *times += 1);
    // Nothing names them any more, so nobody but a backup can miss them; what cannot be deleted now, pruning finds.
    let Ok(_right) = inner.deletions.allow() else {
        tracing::info!(document_id = %head.document_id, "blobs of a removed document stay until pruning: a backup is being made");
        return Ok(CountAnswer { count: 1, ..CountAnswer::default() });
    };
    for key in keys {
        if let Err(error) = inner.deps.blobs.delete(&key).await {
            tracing::warn!(%key, error = %error.chain(), "blob of a removed document was left behind");
        }
    }
    Ok(CountAnswer { count: 1, ..CountAnswer::default() })
}
