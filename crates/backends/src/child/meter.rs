//! Limits on lack of progress. A document may take hours as long as pages or members keep coming.
//!
//! The meter is a plain value fed with samples; the driver takes one about every 100 ms while a document is
//! in work. Counting starts at the first sample after the last progress, so that a thousand small documents
//! a second cost no measurements at all.

use std::time::Duration;

use docmill_core::Error;
use docmill_core::ports::reader::Allowance;
use docmill_core::wire::Found;

use super::proc::Usage;

/// Watches one child, one document after the other.
#[derive(Debug, Default)]
pub(super) struct Meter {
    since: Option<Mark>,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Duration,
    cpu: Duration,
    starved: Duration,
}

/// What a sample shows to be over its limit.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Measured for this document alone, so it is its own fault.
    Timeout(Error),
    /// Memory of the child, to which earlier documents may have added.
    Memory,
}

impl Meter {
    /// A document began or got on: counting starts again.
    pub(super) fn progress(&mut self) {
        self.since = None;
    }

    /// Judges one sample.
    pub(super) fn sample(
        &mut self,
        now: Duration,
        usage: Usage,
        allowance: &Allowance,
        name: &str,
    ) -> Option<Verdict> {
        if usage.memory_bytes > allowance.memory_bytes {
            return Some(Verdict::Memory);
        }
        let Some(mark) = self.since else {
            self.since = Some(Mark { at: now, cpu: usage.cpu, starved: usage.starved });
            return None;
        };
        let cpu = usage.cpu.saturating_sub(mark.cpu);
        if cpu > allowance.cpu_without_progress {
            let limit = allowance.cpu_without_progress.as_secs_f64();
            return Some(Verdict::Timeout(
                Error::timeout(format!(
                    "`{name}` made no progress in {:.1} s of CPU time, the limit is {limit} s",
                    cpu.as_secs_f64()
                ))
                .logged_as(format!("no progress within {limit} s of CPU time"))
                .with_hint("raise `sandbox.cpu_without_progress`"),
            ));
        }
        // Time spent ready to run on a busy machine is not the document's doing, and a wait that still goes on is
        // not in the count yet. Whoever is ready and does get the CPU is stopped by the limit above.
        let starved = usage.starved.saturating_sub(mark.starved);
        let wall = now.saturating_sub(mark.at).saturating_sub(starved);
        if wall > allowance.wall_without_progress && !usage.ready {
            let limit = allowance.wall_without_progress.as_secs_f64();
            return Some(Verdict::Timeout(
                Error::timeout(format!(
                    "`{name}` made no progress for {:.1} s, the limit is {limit} s",
                    wall.as_secs_f64()
                ))
                .logged_as(format!("no progress within {limit} s"))
                .with_hint("raise `sandbox.wall_without_progress`"),
            ));
        }
        None
    }
}

/// The error of a document that needs more memory than it may have.
pub(super) fn too_much_memory(name: &str, allowance: &Allowance) -> Error {
    Error::out_of_memory(format!(
        "`{name}` needs more memory than the limit of {} bytes",
        allowance.memory_bytes
    ))
    .logged_as(format!("more memory needed than the limit of {} bytes", allowance.memory_bytes))
    .with_hint("raise `sandbox.memory_large`")
}

/// Whether a finding means that the reader gets on.
pub(super) fn is_progress(found: &Found) -> bool {
    match found {
        Found::Page(_)
        | Found::Scan(_)
        | Found::Picture(_)
        | Found::Words(_)
        | Found::Tried
        | Found::Recognised(_)
        | Found::Vectors(_)
        | Found::ChildBegin { .. }
        | Found::ChildChunk(_)
        | Found::ChildEnd
        | Found::ChildFailed { .. }
        | Found::ChildListed { .. } => true,
        Found::Kind(_) | Found::Meta { .. } | Found::PageCount(_) | Found::Declared(_) | Found::Warn(_) => {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWANCE: Allowance = Allowance {
        cpu_without_progress: Duration::from_secs(10),
        wall_without_progress: Duration::from_secs(30),
        memory_bytes: 1000,
    };

    fn used(cpu: u64, starved: u64) -> Usage {
        let (cpu, starved) = (Duration::from_secs(cpu), Duration::from_secs(starved));
        Usage { cpu, starved, ready: false, memory_bytes: 10 }
    }

    fn sample(meter: &mut Meter, now: u64, usage: Usage) -> Option<Verdict> {
        meter.sample(Duration::from_secs(now), usage, &ALLOWANCE, "a.pdf")
    }

    #[test]
    fn cpu_without_progress_is_a_timeout_that_names_the_setting() {
        let mut meter = Meter::default();
        assert!(sample(&mut meter, 100, used(50, 0)).is_none());
        assert!(sample(&mut meter, 110, used(60, 0)).is_none());
        let Some(Verdict::Timeout(error)) = sample(&mut meter, 111, used(61, 0)) else {
            panic!("no timeout")
        };
        assert_eq!(error.hint(), Some("raise `sandbox.cpu_without_progress`"));
        assert!(error.message().contains("a.pdf") && error.message().contains("10 s"));
    }

    #[test]
    fn progress_starts_the_count_again() {
        let mut meter = Meter::default();
        assert!(sample(&mut meter, 0, used(0, 0)).is_none());
        meter.progress();
        assert!(sample(&mut meter, 11, used(11, 0)).is_none());
        assert!(sample(&mut meter, 21, used(21, 0)).is_none());
        assert!(sample(&mut meter, 22, used(22, 0)).is_some());
    }

    #[test]
    fn sleeping_is_a_timeout_but_starving_is_not() {
        let mut meter = Meter::default();
        assert!(sample(&mut meter, 0, used(0, 0)).is_none());
        assert!(sample(&mut meter, 1000, used(0, 980)).is_none());
        assert!(matches!(sample(&mut meter, 1011, used(0, 980)), Some(Verdict::Timeout(_))));
    }

    #[test]
    fn waiting_for_the_cpu_for_long_is_no_timeout() {
        let mut meter = Meter::default();
        assert!(sample(&mut meter, 0, used(0, 0)).is_none());
        let waits = Usage { ready: true, ..used(0, 0) };
        assert!(sample(&mut meter, 1000, waits).is_none());
        assert!(matches!(sample(&mut meter, 1001, used(0, 0)), Some(Verdict::Timeout(_))));
    }

    #[test]
    fn memory_above_the_limit_is_noticed_at_the_first_sample() {
        let mut meter = Meter::default();
        let usage = Usage { memory_bytes: 1001, ..used(0, 0) };
        assert!(matches!(sample(&mut meter, 0, usage), Some(Verdict::Memory)));
    }
}
