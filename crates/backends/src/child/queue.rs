//! Documents that wait for a child: one queue per tenant, tenants in turn.
//!
//! Nobody lingers for company: a free child takes what waits at that moment. Small documents of one tenant
//! that wait together share a frame; large ones and those that must be alone get a frame of their own.

use std::collections::{HashMap, VecDeque};

use docmill_core::id::TenantId;
use docmill_core::ports::reader::Finding;
use docmill_core::{Error, Result};
use tokio::sync::mpsc;

use super::job::Job;
use super::settings::PoolSettings;

/// One document with the channel its findings go to.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) job: Job,
    pub(super) sink: mpsc::Sender<Finding>,
    /// In a fresh child, with no neighbours.
    pub(super) alone: bool,
}

impl Ticket {
    /// Gives the last findings and the end to the receiver, without waiting for it.
    pub(super) fn finish(self, last: Vec<Finding>, result: Result<()>) {
        let mut rest = last.into_iter().chain(std::iter::once(Finding::End(result)));
        while let Some(finding) = rest.next() {
            match self.sink.try_send(finding) {
                Ok(()) => {}
                Err(mpsc::error::TrySendError::Closed(_)) => return,
                Err(mpsc::error::TrySendError::Full(finding)) => {
                    // The receiver is slow. What is left is bounded, and the child has other work to do.
                    tokio::spawn(async move {
                        for finding in std::iter::once(finding).chain(rest) {
                            if self.sink.send(finding).await.is_err() {
                                return;
                            }
                        }
                    });
                    return;
                }
            }
        }
    }

    /// Says that it waits. If earlier findings have not been looked at yet, nobody need be told.
    pub(super) fn tell_waiting(&self) {
        drop(self.sink.try_send(Finding::Waiting));
    }

    fn shares_a_frame(&self, settings: &PoolSettings) -> bool {
        !self.alone && self.job.is_small(settings)
    }
}

/// Documents of one tenant for one child.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) tenant: TenantId,
    pub(super) memory_bytes: u64,
    /// Needs a fresh child.
    pub(super) alone: bool,
    pub(super) tickets: Vec<Ticket>,
}

/// Everything that waits.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: HashMap<TenantId, VecDeque<Ticket>>,
    turns: VecDeque<TenantId>,
}

impl Queue {
    pub(super) fn push(&mut self, ticket: Ticket) {
        let tenant = ticket.job.tenant;
        let line = self.waiting.entry(tenant).or_default();
        if line.is_empty() {
            self.turns.push_back(tenant);
        }
        line.push_back(ticket);
    }

    /// Puts documents back whose child was lost or is busy with another one: they have waited already. Only those
    /// that may have killed it wait once more, behind everyone who has done nothing.
    pub(super) fn put_back(&mut self, tickets: Vec<Ticket>) {
        let (suspects, innocent): (Vec<_>, Vec<_>) = tickets.into_iter().partition(|ticket| ticket.alone);
        for ticket in innocent.into_iter().rev() {
            let tenant = ticket.job.tenant;
            let line = self.waiting.entry(tenant).or_default();
            if line.is_empty() {
                self.turns.push_front(tenant);
            }
            line.push_front(ticket);
        }
        for ticket in suspects {
            self.push(ticket);
        }
    }

    /// Tells everyone that they wait.
    pub(super) fn tell_waiting(&self) {
        self.waiting.values().flatten().for_each(Ticket::tell_waiting);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The next frame. `free` children share what waits, so that one of them does not take it all while the
    /// others stand by.
    pub(super) fn next(&mut self, settings: &PoolSettings, free: usize) -> Option<Batch> {
        while let Some(tenant) = self.turns.pop_front() {
            let mut line = self.waiting.remove(&tenant).unwrap_or_default();
            let batch = take_batch(tenant, &mut line, settings, free);
            if !line.is_empty() {
                self.waiting.insert(tenant, line);
                self.turns.push_back(tenant);
            }
            if batch.is_some() {
                return batch;
            }
        }
        None
    }

    /// Adds to a batch what has come since it was made, because starting its child took a while.
    pub(super) fn top_up(&mut self, batch: &mut Batch, settings: &PoolSettings, free: usize) {
        if batch.alone || !batch.tickets.iter().all(|t| t.shares_a_frame(settings)) {
            return;
        }
        let Some(line) = self.waiting.get_mut(&batch.tenant) else { return };
        fill(batch, line, settings, free);
        if line.is_empty() {
            self.waiting.remove(&batch.tenant);
            self.turns.retain(|tenant| *tenant != batch.tenant);
        }
    }

    /// Ends everything that waits.
    pub(super) fn end_all(&mut self, error: impl Fn() -> Error) {
        self.turns.clear();
        for ticket in self.waiting.drain().flat_map(|(_, line)| line) {
            ticket.finish(Vec::new(), Err(error()));
        }
    }
}

fn take_batch(
    tenant: TenantId,
    line: &mut VecDeque<Ticket>,
    settings: &PoolSettings,
    free: usize,
) -> Option<Batch> {
    // A dropped receiver is a cancelled document.
    let first = loop {
        let ticket = line.pop_front()?;
        if !ticket.sink.is_closed() {
            break ticket;
        }
    };
    let shares = first.shares_a_frame(settings);
    let mut batch = Batch {
        tenant,
        memory_bytes: first.job.allowance.memory_bytes,
        alone: first.alone,
        tickets: vec![first],
    };
    if shares {
        fill(&mut batch, line, settings, free);
    }
    Some(batch)
}

fn fill(batch: &mut Batch, line: &mut VecDeque<Ticket>, settings: &PoolSettings, free: usize) {
    let fair_share = (line.len() + batch.tickets.len()).div_ceil(free.max(1));
    let most = fair_share.min(settings.frame_max_orders);
    let mut bytes: u64 = batch.tickets.iter().map(|t| t.job.bytes()).sum();
    while batch.tickets.len() < most {
        let Some(next) = line.front() else { return };
        if next.sink.is_closed() {
            line.pop_front();
            continue;
        }
        bytes += next.job.bytes();
        let fits = next.shares_a_frame(settings)
            && next.job.allowance.memory_bytes == batch.memory_bytes
            && bytes <= settings.frame_max_bytes;
        if !fits {
            return;
        }
        batch.tickets.extend(line.pop_front());
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use docmill_core::limits::Limits;
    use docmill_core::ports::blobs::Content;
    use docmill_core::ports::reader::{Allowance, Findings, ReadJob};
    use docmill_core::wire::Want;
    use uuid::Uuid;

    use super::*;

    pub(in crate::child) fn ticket(tenant: u128, name: &str, bytes: usize) -> (Ticket, Findings) {
        let (sink, findings) = mpsc::channel(4);
        let job = ReadJob {
            tenant: TenantId(Uuid::from_u128(tenant)),
            name: name.into(),
            content: Content::Inline(Bytes::from(vec![b'x'; bytes])),
            want: Want::TEXT,
            limits: Limits::default().for_reader(),
            allowance: Allowance {
                cpu_without_progress: Duration::from_mins(1),
                wall_without_progress: Duration::from_mins(1),
                memory_bytes: 1 << 30,
            },
            alone: false,
        };
        (Ticket { job: job.into(), sink, alone: false }, findings)
    }

    fn queue_of(tickets: impl IntoIterator<Item = (u128, &'static str, usize)>) -> (Queue, Vec<Findings>) {
        let mut queue = Queue::default();
        let mut kept = Vec::new();
        for (tenant, name, bytes) in tickets {
            let (ticket, findings) = ticket(tenant, name, bytes);
            queue.push(ticket);
            kept.push(findings);
        }
        (queue, kept)
    }

    fn names(batch: Option<Batch>) -> Vec<String> {
        batch.map_or(Vec::new(), |b| b.tickets.into_iter().map(|t| t.job.name).collect())
    }

    fn settings() -> PoolSettings {
        PoolSettings { frame_max_orders: 3, frame_max_bytes: 100, inline_up_to: 50, ..PoolSettings::new("x") }
    }

    #[test]
    fn next_takes_tenants_in_turn_and_never_mixes_them() {
        let (mut queue, _kept) =
            queue_of([(1, "a1", 1), (1, "a2", 1), (1, "a3", 1), (1, "a4", 1), (2, "b1", 1)]);
        assert_eq!(names(queue.next(&settings(), 1)), ["a1", "a2", "a3"]);
        assert_eq!(names(queue.next(&settings(), 1)), ["b1"]);
        assert_eq!(names(queue.next(&settings(), 1)), ["a4"]);
        assert!(queue.is_empty());
    }

    #[test]
    fn next_splits_what_waits_over_free_children() {
        let (mut queue, _kept) = queue_of([(1, "a1", 1), (1, "a2", 1), (1, "a3", 1), (1, "a4", 1)]);
        assert_eq!(names(queue.next(&settings(), 2)), ["a1", "a2"]);
        assert_eq!(names(queue.next(&settings(), 1)), ["a3", "a4"]);
    }

    #[test]
    fn next_keeps_a_frame_under_its_bytes_and_large_documents_by_themselves() {
        let (mut queue, _kept) = queue_of([(1, "a1", 50), (1, "a2", 50), (1, "a3", 1), (1, "big", 51)]);
        assert_eq!(names(queue.next(&settings(), 1)), ["a1", "a2"]);
        assert_eq!(names(queue.next(&settings(), 1)), ["a3"]);
        assert_eq!(names(queue.next(&settings(), 1)), ["big"]);
    }

    #[test]
    fn next_skips_what_nobody_waits_for() {
        let (mut queue, mut kept) = queue_of([(1, "a1", 1), (1, "a2", 1), (1, "a3", 1)]);
        drop(kept.drain(..2));
        assert_eq!(names(queue.next(&settings(), 1)), ["a3"]);
        drop(kept);
        assert!(queue.next(&settings(), 1).is_none());
    }

    #[test]
    fn put_back_keeps_the_order_and_the_turn() {
        let (mut queue, _kept) = queue_of([(1, "a1", 1), (1, "a2", 1), (2, "b1", 1)]);
        let batch = queue.next(&settings(), 1).unwrap();
        queue.put_back(batch.tickets);
        assert_eq!(names(queue.next(&settings(), 1)), ["a1", "a2"]);
        assert_eq!(names(queue.next(&settings(), 1)), ["b1"]);
    }

    #[test]
    fn put_back_lets_suspects_wait_behind_the_innocent() {
        let (mut queue, _kept) = queue_of([(1, "killer", 1), (1, "a2", 1), (1, "a3", 1), (1, "a4", 1)]);
        let mut batch = queue.next(&settings(), 1).unwrap();
        batch.tickets[0].alone = true;
        queue.put_back(batch.tickets);
        assert_eq!(names(queue.next(&settings(), 1)), ["a2", "a3", "a4"]);
        assert_eq!(names(queue.next(&settings(), 1)), ["killer"]);
    }

    #[test]
    fn top_up_adds_late_comers_of_the_same_tenant_only() {
        let (mut queue, _kept) = queue_of([(1, "a1", 1)]);
        let mut batch = queue.next(&settings(), 1).unwrap();
        let (late, _late_kept) = ticket(1, "a2", 1);
        let (other, _other_kept) = ticket(2, "b1", 1);
        queue.push(other);
        queue.push(late);
        queue.top_up(&mut batch, &settings(), 1);
        assert_eq!(names(Some(batch)), ["a1", "a2"]);
        assert_eq!(names(queue.next(&settings(), 1)), ["b1"]);
    }
}
