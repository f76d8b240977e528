//! The page for scrapers: what this process has counted, and what it looks up for the page. Looking up is rationed:
//! however many ask however often, counting takes a small share of the time at most, and an answer that is not there
//! in time is replaced by the last one.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::Result;
use docmill_core::metrics::Sample;
use docmill_core::ports::store::Tally;
use tokio::sync::watch;

use super::Inner;
use crate::process;

/// An answer of the store is believed for so long at least…
const BELIEVED_FOR: Duration = Duration::from_secs(5);
/// …and one about the ledger, which looks at every ingestion, for so long…
const LEDGER_BELIEVED_FOR: Duration = Duration::from_mins(1);
/// …and both for so many times what they took: no more than a hundredth of the time is spent on counting.
const REST: u32 = 100;
/// A scraper waits so long for a new answer; then it gets the last one.
const PATIENCE: Duration = Duration::from_secs(2);

/// What was looked up last.
#[derive(Default)]
pub(super) struct Sampler {
    counts: Arc<Looked<Counts>>,
    ledger: Arc<Looked<bool>>,
}

/// What the store and the index say.
#[derive(Clone, Debug)]
struct Counts {
    tally: Tally,
    index_lag: i64,
}

/// The page, in the text format of OpenMetrics. It is there even if the store is not.
pub(super) async fn page(inner: &Arc<Inner>) -> Result<String> {
    let (counts, balanced) = tokio::join!(
        inner.sampler.counts.get(inner, BELIEVED_FOR, |inner| async move { count(&inner).await }),
        inner.sampler.ledger.get(inner, LEDGER_BELIEVED_FOR, |inner| async move {
            inner.deps.store.unbalanced().await.map(|tenants| tenants == 0)
        }),
    );
    let disk_free_bytes = inner.disk.free_bytes(&inner.deps).await.unwrap_or_else(|error| {
        tracing::warn!(error_kind = %error.kind(), error = %error.chain(), "cannot tell the room on the disk");
        None
    });
    let sample = Sample {
        store_up: !counts.failed && !balanced.failed,
        index_lag: counts.said.as_ref().map(|counts| counts.index_lag),
        tally: counts.said.map(|counts| counts.tally),
        balanced: balanced.said,
        disk_free_bytes,
        disk_min_free_bytes: inner.deps.settings.limits.min_free_disk_bytes,
        process: process::usage(inner.started_at).await,
    };
    inner.deps.metrics.page(&sample)
}

async fn count(inner: &Inner) -> Result<Counts> {
    let deps = &inner.deps;
    let tally = deps.store.tally().await?;
    // The watermark first: what is changed in between is behind, not ahead.
    let watermark = deps.index.watermark().await?;
    let index_lag = deps.store.last_change().await?.saturating_sub(watermark).max(0);
    Ok(Counts { tally, index_lag })
}

/// The last answer to one question.
struct Looked<T> {
    last: watch::Sender<Option<Answer<T>>>,
    /// Held by whoever asks.
    asking: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone)]
struct Answer<T> {
    at: Duration,
    took: Duration,
    /// None if there was an error.
    said: Option<T>,
}

/// What the one who asked gets.
struct Got<T> {
    /// The last question was answered by an error.
    failed: bool,
    said: Option<T>,
}

impl<T> Default for Looked<T> {
    fn default() -> Self {
        Self { last: watch::Sender::new(None), asking: Arc::default() }
    }
}

impl<T: Clone + Send + Sync + 'static> Looked<T> {
    /// The answer: one that is fresh enough, or a new one, or if that takes too long the last one.
    async fn get<F>(
        self: &Arc<Self>,
        inner: &Arc<Inner>,
        believed_for: Duration,
        ask: impl FnOnce(Arc<Inner>) -> F + Send + 'static,
    ) -> Got<T>
    where
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let mut answered = self.last.subscribe();
        let now = inner.deps.clock.monotonic();
        let fresh = |answer: &Answer<T>| {
            now.saturating_sub(answer.at) < believed_for.max(answer.took.saturating_mul(REST))
        };
        if answered.borrow_and_update().as_ref().is_some_and(fresh) {
            return self.last();
        }
        if let Ok(turn) = Arc::clone(&self.asking).try_lock_owned() {
            let (looked, inner) = (Arc::clone(self), Arc::clone(inner));
            // Not in this task: a scraper that goes away must not make the next one ask from the start.
            tokio::spawn(async move {
                let clock = Arc::clone(&inner.deps.clock);
                let said = ask(inner).await.inspect_err(|error| {
                    tracing::warn!(error_kind = %error.kind(), error = %error.chain(), "cannot count for metrics");
                });
                let at = clock.monotonic();
                let took = at.saturating_sub(now);
                looked.last.send_replace(Some(Answer { at, took, said: said.ok() }));
                drop(turn);
            });
        }
        // In vain or not, the last answer counts.
        drop(tokio::time::timeout(PATIENCE, answered.changed()).await);
        self.last()
    }

    fn last(&self) -> Got<T> {
        match self.last.borrow().as_ref() {
            Some(answer) => Got { failed: answer.said.is_none(), said: answer.said.clone() },
            // The first question is not answered yet.
            None => Got { failed: false, said: None },
        }
    }
}
