//! Who may take blobs away, and when nobody may: a backup copies the state first and the blobs after it, and what the
//! copied state names must still be there then.

use docmill_core::{Error, Result};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The right to delete blobs that no row names any more.
#[derive(Default)]
pub(crate) struct Deletions(RwLock<()>);

impl Deletions {
    /// Waits for those who are deleting. Until what it returns is dropped, nothing goes.
    pub(crate) async fn hold_back(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write().await
    }

    /// The right to delete for as long as it is held. Refused while a backup runs: what is left over then is found by
    /// pruning.
    pub(crate) fn allow(&self) -> Result<RwLockReadGuard<'_, ()>> {
        self.0.try_read().map_err(|e| {
            Error::conflict("a backup is being made, and needs every blob that is there")
                .with_hint("try again when it has ended")
                .with_source(e)
        })
    }
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;

    use super::*;

    #[tokio::test]
    async fn nothing_is_deleted_while_a_backup_runs() {
        let deletions = Deletions::default();
        let (one, other) = (deletions.allow().unwrap(), deletions.allow().unwrap());
        drop((one, other));
        let backup = deletions.hold_back().await;
        assert_eq!(deletions.allow().unwrap_err().kind(), ErrorKind::Conflict);
        drop(backup);
        assert!(deletions.allow().is_ok());
    }
}
