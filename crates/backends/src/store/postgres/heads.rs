//! Where each queue begins, for when looking for it is slow.
//!
//! A task that was claimed leaves a dead entry at the head of the queue's index. As long as a transaction anywhere
//! keeps a snapshot from before (a backup, a forgotten session), no vacuum may remove it, and each claim would walk
//! over all of them: after a million claims that takes longer than the work. So a process remembers at which key it
//! found each queue to begin, and while looking everywhere is slow it begins there, and looks everywhere for a small
//! share of its time only.
//!
//! What it remembers is a hint. Whatever is queued before a remembered key, or for a queue that is not known, waits
//! until the next look at everything; normally, that is the next claim.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docmill_core::id::TenantId;
use docmill_core::task::TaskKind;

/// A look at everything is slow if it took this long …
const SLOW: Duration = Duration::from_millis(10);
/// … and so many dead rows may have been the reason. A busy machine alone is none: it changes nothing about the order
/// in which tasks are claimed.
const MANY_DEAD_ROWS: i64 = 20_000;
/// Slow looks at everything take one part of so many of the time.
const SHARE: u32 = 20;

/// A queue, and the order key at which it begins at the earliest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Head {
    pub(super) tenant_id: TenantId,
    pub(super) kind: String,
    pub(super) key: i64,
}

/// What this process knows about the queues.
#[derive(Default)]
pub(super) struct Heads(Mutex<State>);

#[derive(Default)]
struct State {
    known: BTreeMap<(TenantId, String), i64>,
    /// When everything is looked at again, for a kind, and whether that is for one tenant alone.
    again: BTreeMap<(Option<TenantId>, String), Duration>,
}

/// How a look at everything went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    pub(super) at: Duration,
    pub(super) took: Duration,
    pub(super) dead_rows: i64,
}

impl Heads {
    /// The known queues of these kinds, by tenant; none if it is time to look at everything.
    pub(super) fn known<'a>(
        &self,
        kinds: &(impl Iterator<Item = &'a TaskKind> + Clone),
        only: Option<TenantId>,
        now: Duration,
    ) -> Option<Vec<Head>> {
        let state = self.lock();
        let later = |kind: &TaskKind| {
            state.again.get(&(only, kind.as_str().to_owned())).is_some_and(|again| now < *again)
        };
        kinds.clone().all(later).then(|| {
            let wanted = |(tenant, kind): &(TenantId, String)| {
                only.is_none_or(|only| only == *tenant) && kinds.clone().any(|k| k.as_str() == kind)
            };
            let head = |((tenant_id, kind), key): (&(TenantId, String), &i64)| Head {
                tenant_id: *tenant_id,
                kind: kind.clone(),
                key: *key,
            };
            state.known.iter().filter(|(queue, _)| wanted(queue)).map(head).collect()
        })
    }

    /// Whether looking at everything is put off at the moment.
    pub(super) fn spared(&self, now: Duration) -> bool {
        self.lock().again.values().any(|again| now < *again)
    }

    /// Everything of these kinds was looked at.
    pub(super) fn looked<'a>(
        &self,
        kinds: impl Iterator<Item = &'a TaskKind>,
        only: Option<TenantId>,
        looked: Looked,
    ) {
        let slow = looked.took >= SLOW && looked.dead_rows >= MANY_DEAD_ROWS;
        let mut state = self.lock();
        if !slow && state.again.is_empty() {
            return;
        }
        for kind in kinds {
            let of_kind = (only, kind.as_str().to_owned());
            if slow {
                state.again.insert(of_kind, looked.at + looked.took * SHARE);
            } else {
                // The next look may be at everything too; nothing need be remembered.
                state.known.retain(|(_, known), _| *known != of_kind.1);
                state.again.remove(&of_kind);
            }
        }
    }

    /// These queues began at these keys.
    pub(super) fn found(&self, heads: impl Iterator<Item = Head>) {
        let mut state = self.lock();
        if state.again.is_empty() {
            return;
        }
        for head in heads {
            state.known.insert((head.tenant_id, head.kind), head.key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const A: TaskKind = TaskKind::named("a");
    const B: TaskKind = TaskKind::named("b");
    const TENANT: TenantId = TenantId(Uuid::nil());

    fn slow(at: u64) -> Looked {
        Looked { at: Duration::from_secs(at), took: Duration::from_secs(1), dead_rows: MANY_DEAD_ROWS }
    }

    fn heads() -> Heads {
        let heads = Heads::default();
        heads.looked([A].iter(), None, slow(100));
        heads.found(std::iter::once(Head { tenant_id: TENANT, kind: "a".into(), key: 7 }));
        heads
    }

    fn known(heads: &Heads, kinds: &[TaskKind], at: u64) -> Option<usize> {
        heads.known(&kinds.iter(), None, Duration::from_secs(at)).map(|k| k.len())
    }

    #[test]
    fn everything_is_looked_at_until_that_is_slow() {
        let heads = Heads::default();
        assert_eq!(known(&heads, &[A], 0), None);
        for fast in [Looked { took: Duration::ZERO, ..slow(0) }, Looked { dead_rows: 0, ..slow(0) }] {
            heads.looked([A].iter(), None, fast);
            assert_eq!(known(&heads, &[A], 0), None, "{fast:?}");
        }
    }

    #[test]
    fn slow_look_is_repeated_after_many_times_its_length() {
        let heads = heads();
        assert_eq!(known(&heads, &[A], 101), Some(1));
        assert!(heads.spared(Duration::from_secs(101)));
        assert_eq!(known(&heads, &[A], 120), None);
    }

    #[test]
    fn kind_that_was_not_looked_for_makes_it_look() {
        let heads = heads();
        assert_eq!(known(&heads, &[A, B], 101), None);
        heads.looked([A, B].iter(), None, slow(101));
        assert_eq!(known(&heads, &[A, B], 102), Some(1));
        assert_eq!(heads.known(&[A].iter(), Some(TENANT), Duration::from_secs(102)), None);
    }

    #[test]
    fn fast_look_forgets() {
        let heads = heads();
        heads.looked([A].iter(), None, Looked { took: Duration::ZERO, ..slow(130) });
        assert_eq!(known(&heads, &[A], 101), None);
        assert!(!heads.spared(Duration::from_secs(101)));
    }
}
