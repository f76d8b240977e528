//! Taking items in: what an item is known by, and which batches take any.

use docmill_core::batch::BatchState;
use docmill_core::id::{BatchId, ContentHash};
use docmill_core::{Error, Result};

/// Where it lay and what it holds, as one short key. The path counts exactly, text or not.
pub(in crate::store) fn receipt_key(path: &[u8], content: Option<&ContentHash>) -> [u8; 16] {
    let mut bytes = Vec::with_capacity(path.len() + 33);
    bytes.extend_from_slice(path);
    bytes.push(0);
    if let Some(hash) = content {
        bytes.extend_from_slice(&hash.0);
    }
    let mut key = [0; 16];
    key.copy_from_slice(&ContentHash::of(&bytes).0[..16]);
    key
}

/// Refuses a batch that is not there or has been cancelled.
pub(in crate::store) fn check_open(batch: BatchId, state: Option<&str>) -> Result<()> {
    match state {
        None => Err(Error::not_found(format!("there is no batch {batch}"))),
        Some("cancelled") => Err(Error::conflict(format!("batch {batch} has been cancelled"))
            .with_hint("start another batch; what was not cancelled is found again by its content")),
        Some(_) => Ok(()),
    }
}

/// Refuses a batch whose items have been counted.
pub(in crate::store) fn check_unsealed(batch: BatchId, state: Option<&str>) -> Result<()> {
    check_open(batch, state)?;
    if state == Some(BatchState::Open.name()) {
        return Ok(());
    }
    Err(Error::conflict(format!("batch {batch} is sealed: everything that belongs to it has been counted"))
        .with_hint("start another batch, or open this one again by its name with `POST /v1/batches`"))
}
