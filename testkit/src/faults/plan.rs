//! What is done to processes and servers while they work, made from a seed: the same seed gives the same plan.
//!
//! Moments are counted in work that is done, not in seconds, so that a plan means the same on a fast and on a slow
//! machine, and every disturbance comes while there is something to disturb.

use std::fmt;

use super::blobs::roll;

/// One thing that goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Disturbance {
    /// A worker is killed (SIGKILL), and another is started in its place.
    Kill(usize),
    /// A worker is stopped (SIGSTOP) until others have taken its work, then goes on (SIGCONT).
    Stop(usize),
    /// A worker is told to end (SIGTERM), and another is started in its place.
    End(usize),
    /// The database server crashes and starts again.
    RestartDatabase,
    /// Some of the connections to the database are ended by the server: each with so many chances of a hundred.
    CutConnections(u64),
    /// The blob server is killed and starts again.
    RestartBlobs,
    /// Whoever brings items in is killed, and starts again.
    KillIngest,
}

impl Disturbance {
    /// Its kind, without whom it hits.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill(_) => "kill",
            Self::Stop(_) => "stop",
            Self::End(_) => "end",
            Self::RestartDatabase => "restart database",
            Self::CutConnections(_) => "cut connections",
            Self::RestartBlobs => "restart blobs",
            Self::KillIngest => "kill ingest",
        }
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill(worker) | Self::Stop(worker) | Self::End(worker) => {
                write!(f, "{} worker {worker}", self.name())
            }
            Self::CutConnections(percent) => write!(f, "{} ({percent} %)", self.name()),
            Self::RestartDatabase | Self::RestartBlobs | Self::KillIngest => f.write_str(self.name()),
        }
    }
}

/// Something goes wrong once so much is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Of a thousand parts of all work.
    pub done_permille: u64,
    /// What happens then.
    pub what: Disturbance,
}

/// A plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// In the order in which they happen.
    pub steps: Vec<Step>,
}

/// The mixture: a plan of seven has everything, a longer one has each as often as it stands here.
const MIXTURE: [Disturbance; 12] = [
    Disturbance::Kill(0),
    Disturbance::Stop(0),
    Disturbance::RestartDatabase,
    Disturbance::RestartBlobs,
    Disturbance::CutConnections(0),
    Disturbance::End(0),
    Disturbance::KillIngest,
    Disturbance::Kill(0),
    Disturbance::Stop(0),
    Disturbance::CutConnections(0),
    Disturbance::Kill(0),
    Disturbance::Stop(0),
];

/// Items come in faster than they are worked off: whoever brings them is disturbed in this part of the work.
const INGEST_PERMILLE: u64 = 100;

/// Nothing begins in the last part of the work, so that what was disturbed is work and not its end.
const LAST_PERMILLE: u64 = 950;

impl Plan {
    /// So many disturbances of so many workers.
    pub fn new(seed: u64, disturbances: usize, workers: usize) -> Self {
        let mut state = seed;
        let mut steps: Vec<Step> = MIXTURE
            .iter()
            .cycle()
            .take(disturbances)
            .map(|kind| {
                let worker = roll(&mut state) as usize % workers.max(1);
                let what = match kind {
                    Disturbance::Kill(_) => Disturbance::Kill(worker),
                    Disturbance::Stop(_) => Disturbance::Stop(worker),
                    Disturbance::End(_) => Disturbance::End(worker),
                    Disturbance::CutConnections(_) => Disturbance::CutConnections(20 + roll(&mut state) % 81),
                    other => *other,
                };
                let within = if what == Disturbance::KillIngest { INGEST_PERMILLE } else { LAST_PERMILLE };
                Step { done_permille: roll(&mut state) % within, what }
            })
            .collect();
        steps.sort_by_key(|step| step.done_permille);
        Self { steps }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn same_seed_gives_the_same_plan_and_another_gives_another() {
        assert_eq!(Plan::new(7, 100, 3), Plan::new(7, 100, 3));
        assert_ne!(Plan::new(7, 100, 3), Plan::new(8, 100, 3));
    }

    #[test]
    fn short_plan_has_everything_in_order_and_hits_workers_that_are_there() {
        for seed in 0..50 {
            let plan = Plan::new(seed, 7, 3);
            let names: BTreeSet<_> = plan.steps.iter().map(|step| step.what.name()).collect();
            assert_eq!(names.len(), 7);
            assert!(plan.steps.is_sorted_by_key(|step| step.done_permille));
            for step in plan.steps {
                assert!(step.done_permille < LAST_PERMILLE);
                if let Disturbance::Kill(worker) | Disturbance::Stop(worker) | Disturbance::End(worker) =
                    step.what
                {
                    assert!(worker < 3);
                }
            }
        }
    }
}
