//! Events for many listeners at once: of each tenant that somebody listens to, one task reads the log as it grows and
//! keeps its latest end in memory, written down once. A listener that is behind that reads the log itself.
//!
//! Notifications only wake; what is told is what the log holds, by number. So nothing is lost, whatever is missed.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use docmill_core::event::{Event, EventFilter};
use docmill_core::id::{KeyId, TenantId};
use docmill_core::{Error, ErrorKind, Result};
use docmill_pipeline::Service;
use tokio::sync::watch;

/// Events kept of each tenant.
const KEPT: usize = 8192;
/// Events read in one step.
const STEP: usize = 1000;
/// The log is looked at no more often than this, however much goes on…
const AT_MOST_EVERY: Duration = Duration::from_millis(50);
/// …and at least this often, in case a wake-up was lost on its way from another process.
const AT_LEAST_EVERY: Duration = Duration::from_secs(1);

/// The feeds that somebody listens to.
pub(crate) struct Hub {
    service: Arc<Service>,
    feeds: Mutex<HashMap<TenantId, Weak<Feed>>>,
}

/// The latest events of one tenant.
pub(super) struct Feed {
    tenant: TenantId,
    service: Arc<Service>,
    kept: Mutex<VecDeque<Arc<Told>>>,
    /// The number up to which everything is in `kept`, as far as it holds that much.
    last: watch::Sender<i64>,
    /// The log is another one than that which was followed.
    lost: AtomicBool,
}

/// An event, and how it is sent.
pub(super) struct Told {
    pub(super) event: Event,
    pub(super) json: String,
}

impl Hub {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        Self { service, feeds: Mutex::default() }
    }

    /// The feed of a tenant, which begins now if nobody else listens.
    pub(super) async fn feed(&self, tenant: TenantId) -> Result<Arc<Feed>> {
        if let Some(feed) = self.running(tenant) {
            return Ok(feed);
        }
        let last = self.service.deps().store.status(tenant).await?.last_event;
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have been faster.
        if let Some(feed) = feeds.get(&tenant).and_then(Weak::upgrade).filter(|feed| !feed.is_lost()) {
            return Ok(feed);
        }
        let feed = Arc::new(Feed {
            tenant,
            service: Arc::clone(&self.service),
            kept: Mutex::default(),
            last: watch::Sender::new(last),
            lost: AtomicBool::new(false),
        });
        feeds.retain(|_, feed| feed.strong_count() > 0);
        feeds.insert(tenant, Arc::downgrade(&feed));
        drop(feeds);
        drop(tokio::spawn(follow(Arc::downgrade(&feed), Arc::clone(&self.service))));
        Ok(feed)
    }

    fn running(&self, tenant: TenantId) -> Option<Arc<Feed>> {
        let feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.get(&tenant)?.upgrade().filter(|feed| !feed.is_lost())
    }
}

impl Feed {
    /// The number of the last event that was read.
    pub(super) fn last(&self) -> watch::Receiver<i64> {
        self.last.subscribe()
    }

    /// Whether nothing more will come of it: its listeners must ask anew.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Whether this key still opens the tenant's log.
    pub(super) async fn admits(&self, key: KeyId) -> Result<bool> {
        Ok(self.service.deps().store.key(key).await?.is_some())
    }

    /// The number of the last event in the log itself, which may be ahead of what was read.
    pub(super) async fn end(&self) -> Result<i64> {
        Ok(self.service.deps().store.status(self.tenant).await?.last_event)
    }

    /// Events after `after` that match, a step of them, and the number up to which they have been looked at.
    pub(super) async fn after(&self, filter: &EventFilter, after: i64) -> Result<(Vec<Arc<Told>>, i64)> {
        if let Some(found) = self.kept_after(filter, after) {
            return Ok(found);
        }
        let filter = EventFilter { after, limit: Some(STEP), ..filter.clone() };
        let read = self.service.deps().store.events(self.tenant, &filter).await?;
        Ok((read.events.into_iter().map(told).collect::<Result<_>>()?, read.next))
    }

    /// The same from memory; nothing if that does not reach back so far.
    fn kept_after(&self, filter: &EventFilter, after: i64) -> Option<(Vec<Arc<Told>>, i64)> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let last = *self.last.borrow();
        if after >= last {
            return Some((Vec::new(), after));
        }
        let first = kept.front()?.event.id;
        if after + 1 < first {
            return None;
        }
        // Numbers have no gaps, so places follow from them.
        let from = usize::try_from(after + 1 - first).ok()?;
        let step: Vec<Arc<Told>> = kept.iter().skip(from).take(STEP).cloned().collect();
        let upto = step.last()?.event.id;
        Some((step.into_iter().filter(|told| matches(filter, &told.event)).collect(), upto))
    }

    async fn read_on(&self) -> Result<()> {
        loop {
            let after = *self.last.borrow();
            let filter = EventFilter { after, limit: Some(STEP), ..EventFilter::default() };
            let read = self.service.deps().store.events(self.tenant, &filter).await?;
            let full = read.events.len() >= STEP;
            if read.events.is_empty() {
                return Ok(());
            }
            let read: Vec<Arc<Told>> = read.events.into_iter().map(told).collect::<Result<_>>()?;
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(read);
            let excess = kept.len().saturating_sub(KEPT);
            kept.drain(..excess);
            let last = kept.back().map_or(after, |told| told.event.id);
            // While `kept` is locked, so that nobody sees one without the other.
            self.last.send_replace(last);
            drop(kept);
            if !full {
                return Ok(());
            }
        }
    }
}

fn told(event: Event) -> Result<Arc<Told>> {
    let json = serde_json::to_string(&event)
        .map_err(|e| Error::bug("cannot write an event as JSON").with_source(e))?;
    Ok(Arc::new(Told { event, json }))
}

fn matches(filter: &EventFilter, event: &Event) -> bool {
    (filter.types.is_empty() || filter.types.contains(&event.kind))
        && filter.batch_id.is_none_or(|id| event.batch_id == Some(id))
        && filter.document_id.is_none_or(|id| event.document_id == Some(id))
}

/// Reads on for as long as somebody listens.
async fn follow(feed: Weak<Feed>, service: Arc<Service>) {
    let mut changed = service.deps().store.changed();
    loop {
        changed.borrow_and_update();
        match feed.upgrade() {
            Some(feed) => {
                if let Err(error) = feed.read_on().await {
                    // A place that is refused will be refused for ever: a database was restored beneath us.
                    if error.kind() == ErrorKind::InvalidRequest {
                        tracing::warn!(error = %error.chain(), "events are of another log than before");
                        feed.lost.store(true, Ordering::Release);
                        feed.last.send_modify(|_| {});
                        return;
                    }
                    // The listeners keep their places and hear the rest when the store is back.
                    tracing::warn!(error = %error.chain(), "events cannot be read");
                }
            }
            None => return,
        }
        tokio::time::sleep(AT_MOST_EVERY).await;
        tokio::select! {
            _ = changed.changed() => {}
            () = tokio::time::sleep(AT_LEAST_EVERY) => {}
        }
    }
}
