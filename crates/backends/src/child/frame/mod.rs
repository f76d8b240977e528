//! One frame of documents under way in a child, and who is to blame when it ends early.
//!
//! Findings of documents that share a frame are held back until the document ends, so that reading it again
//! never doubles them; a document with a frame of its own streams. Documents are read one after the other in
//! the order sent, and anything else a child says is a breach of the protocol.
//!
//! Blame: only a document that had its frame to itself, or whose own measured time or output passed a limit,
//! is charged. The one in work when a shared child dies is read again alone; those not begun are innocent.
//! Every early end takes at least one suspect out of the shared frames, so this ends.

use std::collections::VecDeque;

use docmill_core::ports::reader::Finding;
use docmill_core::wire::{Found, FromChild, Order, ToChild, Work};
use docmill_core::{Error, Result};
use tokio::sync::mpsc;

use super::fault::Fault;
use super::limits::{OutputCount, weight};
use super::meter::is_progress;
use super::queue::Ticket;

/// What is held back of scans may be so many times as much as of anything else.
const SCANS_WEIGH_LESS: u64 = 16;

/// The documents of a frame that have not ended, and what is known of the first of them.
#[derive(Debug)]
pub(super) struct Frame {
    waiting: VecDeque<Ticket>,
    in_work: Option<InWork>,
    /// The index of the first waiting document, or of the one in work.
    next_index: u64,
    shared: bool,
    fresh_child: bool,
    held_back_max: u64,
    taken_back: bool,
}

#[derive(Debug)]
struct InWork {
    ticket: Ticket,
    held_back: Vec<Finding>,
    held_bytes: u64,
    output: OutputCount,
}

/// What a message of the child amounts to.
#[derive(Debug)]
pub(super) enum Step {
    /// Work on a document begins.
    Began,
    /// Something was found; `true` if it means progress.
    Held(bool),
    /// To be forwarded at once; `true` if it means progress.
    Forward(Found, bool),
    /// A document has ended and its receiver knows.
    Ended,
}

/// What becomes of the documents of a frame that ended early.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// To be read again; nobody is charged.
    pub(super) again: Vec<Ticket>,
    /// Charged.
    pub(super) ended: Vec<(Ticket, Vec<Finding>, Error)>,
}

impl Frame {
    pub(super) fn new(tickets: Vec<Ticket>, first_index: u64, fresh_child: bool, held_back_max: u64) -> Self {
        Self {
            shared: tickets.len() > 1,
            waiting: tickets.into(),
            in_work: None,
            next_index: first_index,
            fresh_child,
            held_back_max,
            taken_back: false,
        }
    }

    /// The orders to send.
    pub(super) fn orders(&self, work: impl Fn(&Ticket) -> Work) -> ToChild {
        let orders = self.waiting.iter().zip(self.next_index..).map(|(ticket, index)| Order {
            index,
            name: ticket.job.name.clone(),
            work: work(ticket),
        });
        ToChild { orders: orders.collect() }
    }

    /// The document that a descriptor would belong to.
    pub(super) fn first(&self) -> Option<&Ticket> {
        self.waiting.front()
    }

    /// Ends the first document before it was sent.
    pub(super) fn refuse_first(&mut self, error: Error) {
        if let Some(ticket) = self.waiting.pop_front() {
            ticket.finish(Vec::new(), Err(error));
        }
    }

    /// Takes in what the child said.
    pub(super) fn hear(&mut self, message: FromChild) -> Result<Step, Fault> {
        match message {
            FromChild::Ready { .. } => Err(Fault::breach("it said ready twice")),
            FromChild::Begin { index } => self.begin(index),
            FromChild::Found { index, found } => self.found(index, found),
            FromChild::End { index, result } => {
                let work = self.working_on(index)?;
                let done = work.ticket;
                // What a child says may be what it read.
                let own_words =
                    |note| Error::from(note).logged_as("the reader said why; `docmill why` shows it");
                done.finish(work.held_back, result.map_err(own_words));
                self.next_index += 1;
                Ok(Step::Ended)
            }
        }
    }

    fn begin(&mut self, index: u64) -> Result<Step, Fault> {
        if self.in_work.is_some() || index != self.next_index || self.taken_back {
            return Err(Fault::breach("it began a document out of turn"));
        }
        let Some(ticket) = self.waiting.pop_front() else {
            return Err(Fault::breach("it began a document that it was not given"));
        };
        let output = OutputCount::new(ticket.job.limits);
        self.in_work = Some(InWork { ticket, held_back: Vec::new(), held_bytes: 0, output });
        Ok(Step::Began)
    }

    fn found(&mut self, index: u64, found: Found) -> Result<Step, Fault> {
        let expected = self.next_index;
        let Some(work) = self.in_work.as_mut().filter(|_| index == expected) else {
            return Err(Fault::breach("it found something in a document it was not reading"));
        };
        work.output.add(&found).map_err(Fault::OwnLimit)?;
        let progress = is_progress(&found);
        if !self.shared {
            return Ok(Step::Forward(found, progress));
        }
        work.held_bytes += match &found {
            // A small file may well be a large picture, and reading it again alone would cost more than this room.
            Found::Scan(_) => weight(&found) / SCANS_WEIGH_LESS,
            _ => weight(&found),
        };
        if work.held_bytes > self.held_back_max {
            return Err(Fault::TooMuchToHold);
        }
        work.held_back.push(Finding::Found(found));
        Ok(Step::Held(progress))
    }

    fn working_on(&mut self, index: u64) -> Result<InWork, Fault> {
        match self.in_work.take() {
            Some(work) if index == self.next_index => Ok(work),
            other => {
                self.in_work = other;
                Err(Fault::breach("it ended a document it was not reading"))
            }
        }
    }

    /// The document in work.
    pub(super) fn current(&self) -> Option<&Ticket> {
        self.in_work.as_ref().map(|work| &work.ticket)
    }

    /// The channel of the document in work.
    pub(super) fn sink(&self) -> Option<mpsc::Sender<Finding>> {
        self.current().map(|ticket| ticket.sink.clone())
    }

    /// Whether nothing more is to come.
    pub(super) fn is_done(&self) -> bool {
        self.in_work.is_none() && self.waiting.is_empty()
    }

    /// Whether documents wait behind the one in work.
    pub(super) fn holds_up_others(&self) -> bool {
        self.in_work.is_some() && !self.waiting.is_empty()
    }

    /// Takes away what has not begun. The child does not know and must not go on after the one in work.
    pub(super) fn take_back(&mut self) -> Vec<Ticket> {
        self.taken_back = true;
        self.waiting.drain(..).collect()
    }

    /// Whether the child still believes that it has more to read.
    pub(super) fn was_taken_back(&self) -> bool {
        self.taken_back
    }

    /// Decides about every document that has not ended.
    pub(super) fn settle(self, fault: &Fault) -> Settled {
        let mut settled = Settled::default();
        let nobody_began = self.in_work.is_none();
        if let Some(work) = self.in_work {
            let (ticket, held) = (work.ticket, work.held_back);
            if ticket.sink.is_closed() || matches!(fault, Fault::Cancelled) {
                drop(ticket);
            } else if !self.shared || fault.is_the_documents_own() {
                let error = fault.error(&ticket.job);
                settled.ended.push((ticket, held, error));
            } else if fault.is_nobodys() {
                settled.again.push(ticket);
            } else {
                settled.again.push(Ticket { alone: true, ..ticket });
            }
        }
        for ticket in self.waiting {
            // A child that dies before it says which document it begins leaves all of them suspect.
            let suspect = nobody_began && !fault.is_nobodys();
            if suspect && !self.shared && self.fresh_child {
                let error = fault.error(&ticket.job);
                settled.ended.push((ticket, Vec::new(), error));
            } else {
                let alone = ticket.alone || suspect;
                settled.again.push(Ticket { alone, ..ticket });
            }
        }
        settled
    }
}

#[cfg(test)]
mod tests;
