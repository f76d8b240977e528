//! What follows the change log instead of being a task: a follower has one position, and after a crash it goes
//! on from there. No document may stop it, neither by what it holds nor by a blob that is damaged.

pub(crate) mod catalogue;
pub(crate) mod index;
pub(crate) mod meanings;
mod stubborn;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::error::ErrorNote;
use docmill_core::{Error, Result};
use futures::FutureExt as _;
use tokio::sync::watch;

use self::stubborn::Stubborn;
use crate::service::Inner;

/// Without a wake-up the change log is looked at this often (another process may write to it).
const POLL: Duration = Duration::from_secs(1);
/// While another process brings an index up to date, it is looked at this often.
const LOOK: Duration = Duration::from_millis(100);
/// After an error; doubles up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// What a step came to.
enum Step {
    /// There was nothing to do.
    Idle,
    /// A batch was applied.
    Applied,
    /// Another process is at it, or was faster.
    Elsewhere,
}

/// What brings an index up to date, step by step.
#[async_trait]
trait Follower: Send + Sync {
    /// What it follows with, for the log.
    const WHAT: &'static str;

    /// The blobs it cannot read.
    fn stubborn(&self) -> &Stubborn;

    /// Gathers one batch and applies it.
    async fn step(&self, inner: &Inner, changed: &mut watch::Receiver<u64>) -> Result<Step>;

    /// Whether all is well, for whoever asks how the service is.
    fn note(&self, inner: &Inner, error: Option<ErrorNote>);
}

/// Follows until it is dropped.
async fn follow_with<F: Follower>(inner: Arc<Inner>, follower: F) {
    let mut changed = inner.deps.store.documents_changed();
    let mut pause = PAUSE;
    loop {
        changed.borrow_and_update();
        // A follower that is gone would be missed by nobody until somebody searches.
        let step = AssertUnwindSafe(follower.step(&inner, &mut changed)).catch_unwind().await;
        match step.unwrap_or_else(|_| Err(Error::bug(format!("updating {} panicked", F::WHAT)))) {
            Ok(step) => {
                follower.note(&inner, None);
                pause = PAUSE;
                match step {
                    Step::Applied => follower.stubborn().is_behind(),
                    Step::Idle => {
                        wake(&mut changed, POLL).await;
                    }
                    // Not by changes, of which the other process makes many.
                    Step::Elsewhere => tokio::time::sleep(LOOK).await,
                }
            }
            Err(error) => {
                tracing::error!(error_kind = %error.kind(), error = %error.chain(), "cannot update {}", F::WHAT);
                follower.note(&inner, Some(ErrorNote::from(&error)));
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
    }
}

/// Waits for a change, at most so long; whether one came.
async fn wake<T>(changed: &mut watch::Receiver<T>, longest: Duration) -> bool {
    match tokio::time::timeout(longest, changed.changed()).await {
        Ok(Ok(())) => {
            changed.borrow_and_update();
            true
        }
        // The sender is gone: only time passes now.
        Ok(Err(_)) => {
            tokio::time::sleep(longest).await;
            false
        }
        Err(_) => false,
    }
}
