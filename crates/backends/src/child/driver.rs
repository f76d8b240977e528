//! The life of one child, as its parent sees it: started, ready, one frame after the other, idle, ended.
//!
//! One task per child owns its process and its socket. Whatever happens to the task (return, panic, a
//! runtime that stops), the process dies with it and its turn is given back.

use std::sync::Arc;
use std::time::Duration;

use docmill_core::metrics::ChildEnd;
use docmill_core::ports::reader::Finding;
use docmill_core::wire::{Found, FromChild, Layer};
use docmill_core::{Error, ErrorKind, Result};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Interval, MissedTickBehavior};

use super::fault::Fault;
use super::frame::{Frame, Settled, Step};
use super::frame_io::FrameSocket;
use super::meter::{Meter, Verdict};
use super::pool::Shared;
use super::proc;
use super::queue::{Batch, Ticket};
use super::settings::Sandbox;
use super::spawn::Process;
use super::turn::{Alive, Turn, Work};

/// How often a child at work is looked at…
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// …and how often what it uses is measured, which costs more.
const MEASURE_EVERY: Duration = Duration::from_millis(100);
/// Those who wait are told so this often.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// A running, ready child.
pub(super) struct Driver {
    shared: Arc<Shared>,
    process: Process,
    socket: FrameSocket,
    stop: watch::Receiver<bool>,
    tick: Interval,
    meter: Meter,
    /// When the document began that was looked at last, and the CPU time at the first look at it.
    watched: Option<(Duration, Duration)>,
    measured_at: Duration,
    told_at: Duration,
    starved: Duration,
    served: u64,
    next_index: u64,
}

/// Starts a child for some work, then serves its tenant until the child is no longer wanted.
pub(super) async fn drive(_alive: Alive, shared: Arc<Shared>, work: Work) {
    let Work { mut batch, mut turn } = work;
    let (tenant, memory_bytes) = (batch.tenant, batch.memory_bytes);
    let mut driver = match Driver::start(&shared, memory_bytes).await {
        Ok((driver, _)) => driver,
        Err(error) => {
            tracing::error!(error = %error.chain(), "no child process for reading documents");
            for ticket in batch.tickets {
                ticket.finish(Vec::new(), Err(again(&error)));
            }
            return;
        }
    };
    if turn.is_detached() {
        driver.process.demote();
    }
    shared.top_up(&mut batch);
    let why = loop {
        match driver.serve(batch, &mut turn).await {
            Err(fault) => break fault.end(),
            Ok(reusable) if !reusable || driver.served >= shared.settings.recycle_after => {
                break ChildEnd::Recycled;
            }
            Ok(_) => {}
        }
        let offers = shared.stand_by(tenant, memory_bytes, turn);
        match driver.wait_for_work(offers).await {
            Ok(next) => Work { batch, turn } = next,
            Err(why) => break why,
        }
    };
    driver.end(why).await;
}

fn again(error: &Error) -> Error {
    let copy = Error::new(error.kind(), error.chain());
    match error.hint() {
        Some(hint) => copy.with_hint(hint),
        None => copy,
    }
}

impl Driver {
    /// Starts a child and waits until its sandbox is up.
    pub(super) async fn start(shared: &Arc<Shared>, memory_bytes: u64) -> Result<(Self, Vec<Layer>)> {
        let process = shared.spawner.spawn(memory_bytes).await?;
        shared.settings.meter.started.inc();
        let started = Self::wait_until_ready(shared, process).await;
        if let Err(error) = &started {
            let stopped = error.kind() == ErrorKind::ShuttingDown;
            shared.settings.meter.ended(if stopped { ChildEnd::Shutdown } else { ChildEnd::NotReady });
        }
        started
    }

    async fn wait_until_ready(shared: &Arc<Shared>, mut process: Process) -> Result<(Self, Vec<Layer>)> {
        let unusable = |e| Error::unavailable("cannot speak to a new child process").with_source(e);
        let mut socket = process.take_socket().and_then(FrameSocket::new).map_err(unusable)?;
        let mut stop = shared.stop.subscribe();
        let ready = tokio::select! {
            said = tokio::time::timeout(shared.settings.ready_within, socket.receive()) => said,
            _ = stop.wait_for(|stopped| *stopped) => return Err(shutting_down()),
        };
        let layers = match ready {
            Ok(Ok(Some(FromChild::Ready { layers }))) => layers,
            Ok(Ok(None)) => {
                let death = process.end().await;
                let why = death.last_line().unwrap_or_default();
                return Err(Error::unavailable(format!("a new child process {}: {why}", death.how())));
            }
            Ok(Ok(Some(_))) => return Err(Error::bug("a new child process did not say that it is ready")),
            Ok(Err(e)) => return Err(unusable(e)),
            Err(_) => {
                let seconds = shared.settings.ready_within.as_secs();
                return Err(Error::unavailable(format!(
                    "a new child process was not ready within {seconds} s"
                )));
            }
        };
        if shared.settings.sandbox == Sandbox::Required {
            require(&layers)?;
        }
        let mut tick = tokio::time::interval(LOOK_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let driver = Self {
            shared: Arc::clone(shared),
            process,
            socket,
            stop,
            tick,
            meter: Meter::default(),
            watched: None,
            measured_at: Duration::ZERO,
            told_at: shared.clock.monotonic(),
            starved: Duration::ZERO,
            served: 0,
            next_index: 0,
        };
        Ok((driver, layers))
    }

    /// Ends the child, which may have ended by itself.
    pub(super) async fn end(mut self, why: ChildEnd) {
        self.process.end().await;
        self.shared.settings.meter.ended(why);
    }

    /// Works through one frame. Returns whether the child can be used again, or what ended it.
    async fn serve(&mut self, batch: Batch, turn: &mut Turn) -> Result<bool, Fault> {
        let fresh = self.served == 0;
        let reusable = !batch.alone;
        let count = batch.tickets.len() as u64;
        let held_max = self.shared.settings.framed_output_bytes;
        let mut frame = Frame::new(batch.tickets, self.next_index, fresh, held_max);
        self.served += count;
        self.next_index += count;
        let outcome = match self.send(&mut frame).await {
            Ok(()) => self.converse(&mut frame, turn).await,
            Err(fault) => Err(fault),
        };
        self.process.listen();
        let Err(fault) = outcome else {
            return Ok(reusable && !frame.was_taken_back() && !turn.is_detached());
        };
        let death = self.process.end().await;
        let fault = match fault {
            Fault::Died(None) => Fault::Died(Some(death)),
            other => other,
        };
        let Settled { again, ended } = frame.settle(&fault);
        for (ticket, held, error) in ended {
            ticket.finish(held, Err(error));
        }
        self.shared.put_back(again);
        Err(fault)
    }

    /// Sends the orders. A document that cannot be opened ends here, and no child is harmed.
    async fn send(&mut self, frame: &mut Frame) -> Result<(), Fault> {
        let settings = &self.shared.settings;
        let file = match frame.first().map(|ticket| ticket.job.file(settings)).transpose() {
            Ok(file) => file.flatten(),
            Err(error) => {
                frame.refuse_first(error);
                return Ok(());
            }
        };
        let orders = frame.orders(|ticket| ticket.job.work(settings));
        let sending = self.socket.send(&orders, file.as_ref());
        match tokio::time::timeout(settings.ready_within, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Fault::Died(None)),
            Err(_) => Err(Fault::breach("it did not take its orders")),
        }
    }

    /// Listens until every document of the frame has ended.
    async fn converse(&mut self, frame: &mut Frame, turn: &mut Turn) -> Result<(), Fault> {
        let mut begun_at = Duration::ZERO;
        while !frame.is_done() {
            let heard = tokio::select! {
                biased;
                _ = self.stop.wait_for(|stopped| *stopped) => return Err(Fault::Stopped),
                _ = self.tick.tick() => None,
                heard = self.socket.receive() => Some(heard),
            };
            let step = match heard {
                None => {
                    self.look(frame, begun_at, turn)?;
                    continue;
                }
                Some(Ok(Some(message))) => frame.hear(message)?,
                Some(Ok(None)) => return Err(Fault::Died(None)),
                Some(Err(error)) => return Err(Fault::Breach(error.to_string())),
            };
            match step {
                Step::Began => {
                    begun_at = self.shared.clock.monotonic();
                    self.meter.progress();
                }
                Step::Held(progress) => {
                    if progress {
                        self.meter.progress();
                    }
                }
                Step::Forward(found, progress) => {
                    if progress {
                        self.meter.progress();
                    }
                    self.forward(found, frame, turn).await?;
                }
                Step::Ended => self.meter.progress(),
            }
        }
        Ok(())
    }

    /// Hands a finding of a lone document on, at the pace of its receiver. The waiting is not held against
    /// the document, and while it lasts others may have this child's place at work.
    async fn forward(&mut self, found: Found, frame: &Frame, turn: &mut Turn) -> Result<(), Fault> {
        let Some(sink) = frame.sink() else { return Err(Fault::Cancelled) };
        // Of scans one waits and no more: a page of pixels is large, and recognising it takes long.
        let places = if matches!(found, Found::Scan(_)) { sink.max_capacity() } else { 1 };
        if sink.capacity() >= places {
            return match sink.try_send(Finding::Found(found)) {
                Ok(()) => Ok(()),
                Err(mpsc::error::TrySendError::Closed(_)) => Err(Fault::Cancelled),
                Err(mpsc::error::TrySendError::Full(_)) => Err(Fault::breach("findings came from elsewhere")),
            };
        }
        let since = self.shared.clock.monotonic();
        let room = sink.reserve_many(places);
        tokio::pin!(room);
        let room = loop {
            tokio::select! {
                room = &mut room => break room,
                _ = self.stop.wait_for(|stopped| *stopped) => return Err(Fault::Stopped),
                _ = self.tick.tick() => {
                    let waited = self.shared.clock.monotonic().saturating_sub(since);
                    if waited > self.shared.settings.slow_after && self.shared.has_waiting() {
                        turn.detach();
                    }
                }
            }
        };
        self.meter.progress();
        match room.map(|mut places| places.next()) {
            Ok(Some(place)) => place.send(Finding::Found(found)),
            Ok(None) | Err(_) => return Err(Fault::Cancelled),
        }
        Ok(())
    }

    /// The regular look at a child at work: does anyone still wait, does it get on, does it hold up others?
    fn look(&mut self, frame: &mut Frame, begun_at: Duration, turn: &mut Turn) -> Result<(), Fault> {
        self.process.listen();
        let now = self.shared.clock.monotonic();
        let Some(ticket) = frame.current().or_else(|| frame.first()) else { return Ok(()) };
        if ticket.sink.is_closed() && frame.current().is_some() {
            return Err(Fault::Cancelled);
        }
        if now.saturating_sub(self.measured_at) >= MEASURE_EVERY {
            self.measured_at = now;
            self.measure(now, ticket)?;
        }
        if frame.holds_up_others() && self.shared.is_draining() {
            self.shared.put_back(frame.take_back());
        }
        let in_the_way = frame.current().is_some()
            && !turn.is_detached()
            && (frame.holds_up_others() || self.shared.has_waiting());
        if in_the_way && self.is_slow(now, begun_at) {
            let neighbours = if frame.holds_up_others() { frame.take_back() } else { Vec::new() };
            if turn.detach() {
                self.process.demote();
            }
            self.shared.put_back(neighbours);
        }
        Ok(())
    }

    /// Whether the document in work takes long. CPU time counts for more than time that passes, because on a
    /// busy machine every document takes long.
    fn is_slow(&mut self, now: Duration, begun_at: Duration) -> bool {
        let settings = &self.shared.settings;
        if now.saturating_sub(begun_at) > settings.slow_after {
            return true;
        }
        let Ok(cpu) = proc::cpu(self.process.pid()) else { return false };
        // Counted from the first look at this document: looks are too rare to cost small ones anything.
        match self.watched {
            Some((since, before)) if since == begun_at => {
                cpu.saturating_sub(before) >= settings.slow_after_cpu
            }
            _ => {
                self.watched = Some((begun_at, cpu));
                false
            }
        }
    }

    /// Whether it keeps within what it may use.
    fn measure(&mut self, now: Duration, ticket: &Ticket) -> Result<(), Fault> {
        let usage = match proc::usage(self.process.pid()) {
            Ok(usage) => usage,
            // It is dying; the socket will say so.
            Err(error) => {
                tracing::debug!(pid = self.process.pid(), %error, "usage of a child is not known");
                return Ok(());
            }
        };
        if now.saturating_sub(self.told_at) >= TELL_EVERY {
            self.told_at = now;
            self.shared.tell_waiting();
            // A moment's wait is no reason: it must have kept the document from most of its time.
            if usage.starved.saturating_sub(self.starved) > TELL_EVERY / 2 {
                ticket.tell_waiting();
            }
            self.starved = usage.starved;
        }
        match self.meter.sample(now, usage, &ticket.job.allowance, &ticket.job.name) {
            Some(Verdict::Timeout(error)) => Err(Fault::OwnTime(error)),
            Some(Verdict::Memory) => Err(Fault::Memory),
            None => Ok(()),
        }
    }

    /// Waits for the next frame, the end of patience, or the end of the child.
    async fn wait_for_work(&mut self, mut offers: oneshot::Receiver<Work>) -> Result<Work, ChildEnd> {
        let why = tokio::select! {
            biased;
            offer = &mut offers => match offer {
                Ok(work) => return Ok(work),
                // Whoever drops the offer sends the child away.
                Err(_) if self.shared.is_stopped() => ChildEnd::Shutdown,
                Err(_) => ChildEnd::Idle,
            },
            () = tokio::time::sleep(self.shared.settings.idle_after) => ChildEnd::Idle,
            _ = self.stop.wait_for(|stopped| *stopped) => ChildEnd::Shutdown,
            // An idle child has nothing to say, so this is its end.
            _ = self.socket.receive() => ChildEnd::Crashed,
        };
        offers.close();
        // An offer may have been made at the same moment.
        let Ok(work) = offers.try_recv() else { return Err(why) };
        if why == ChildEnd::Idle {
            return Ok(work);
        }
        self.shared.put_back(work.batch.tickets);
        Err(why)
    }
}

fn require(layers: &[Layer]) -> Result<()> {
    for name in ["landlock", "seccomp"] {
        let layer = layers.iter().find(|layer| layer.name == name);
        if !layer.is_some_and(|layer| layer.active) {
            let why = layer.map_or("not reported", |layer| layer.detail.as_str());
            return Err(Error::missing_dependency(format!("sandbox layer `{name}` does not hold: {why}"))
                .with_hint("set `sandbox = \"best_effort\"` to read documents without it"));
        }
    }
    Ok(())
}

/// The error of everything that comes too late.
pub(super) fn shutting_down() -> Error {
    Error::shutting_down("docmill is shutting down")
}
