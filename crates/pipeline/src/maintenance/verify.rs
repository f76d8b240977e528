//! Rows against blobs: what is named but missing, what is there but not named.

use docmill_core::Result;
use docmill_core::answer::BlobAudit;
use docmill_core::id::BlobKey;
use futures::stream::{self, StreamExt as _};

use super::prune::FOLDERS;
use crate::deps::Deps;

/// Keys asked for at once.
const PAGE: usize = 1_000;

/// Blobs looked at at once.
const AT_ONCE: usize = 32;

/// Compares both sides while everything runs.
pub(crate) async fn audit(deps: &Deps) -> Result<BlobAudit> {
    let mut present = 0;
    let mut audit = BlobAudit::default();
    for folder in FOLDERS {
        let mut listing = deps.blobs.list(folder).await?;
        while let Some(piece) = listing.recv().await {
            let keys: Vec<BlobKey> = piece?.into_iter().map(|info| info.key).collect();
            for named in deps.store.referenced(&keys).await? {
                if named {
                    present += 1;
                } else {
                    audit.orphaned += 1;
                }
            }
        }
    }
    audit.referenced = count(deps).await?;
    if audit.referenced > present {
        // Either something is missing or something was added after the listing: only looking tells.
        audit.missing = missing(deps).await?.len() as u64;
    }
    Ok(audit)
}

/// The keys that rows name and that are not there.
pub(crate) async fn missing(deps: &Deps) -> Result<Vec<BlobKey>> {
    let mut out = Vec::new();
    let mut after: Option<BlobKey> = None;
    loop {
        let keys = deps.store.blob_keys(after.as_ref(), PAGE).await?;
        // Each look is a question to a server, where the blobs lie on one.
        let looks =
            stream::iter(keys.clone()).map(async |key| deps.blobs.info(&key).await.map(|info| (key, info)));
        let mut looks = looks.buffered(AT_ONCE);
        while let Some(look) = looks.next().await {
            if let (key, None) = look? {
                out.push(key);
            }
        }
        match keys.into_iter().next_back() {
            Some(last) => after = Some(last),
            None => return Ok(out),
        }
    }
}

async fn count(deps: &Deps) -> Result<u64> {
    let mut total = 0;
    let mut after: Option<BlobKey> = None;
    loop {
        let keys = deps.store.blob_keys(after.as_ref(), PAGE).await?;
        total += keys.len() as u64;
        match keys.into_iter().next_back() {
            Some(last) => after = Some(last),
            None => return Ok(total),
        }
    }
}
