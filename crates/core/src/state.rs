//! How a task may change. This is the only place that knows; the stores apply what it says, and the
//! property tests hold every store against it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a task stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// A join that waits for its parts.
    Waiting,
    /// May be claimed once its time has come.
    Queued,
    /// Its batch is paused.
    Held,
    /// Leased by a worker.
    Running,
    /// Ended well.
    Done,
    /// Ended badly: a dead letter.
    Dead,
    /// Ended by a person's cancel.
    Cancelled,
    /// A dead letter that a person has dismissed.
    Dropped,
}

/// What can happen to a task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskEvent {
    /// The last part of a join has ended.
    PartsDone,
    /// The batch is paused.
    Hold,
    /// The batch goes on.
    Unhold,
    /// A worker takes it.
    Claim,
    /// The worker reports success.
    Succeed,
    /// The worker reports a failure that is tried again (also on a larger size).
    Retry,
    /// The worker hands it back untouched.
    Release,
    /// The lease ran out or its worker died.
    Lose,
    /// The last failure, or one loss too many.
    Die,
    /// The batch is cancelled, or a person has what leads to the task done again.
    Cancel,
    /// A person asks for a dead or dismissed task to run again.
    Replay,
    /// A person dismisses a dead letter, or has what leads to it done again.
    Drop,
    /// A person has a part of a join done again, whatever has become of the join.
    Reopen,
    /// A part that was cancelled: its join waits for it again, as a person has another part done again.
    Recall,
}

impl TaskState {
    /// Every state.
    pub const ALL: &'static [Self] = &[
        Self::Waiting,
        Self::Queued,
        Self::Held,
        Self::Running,
        Self::Done,
        Self::Dead,
        Self::Cancelled,
        Self::Dropped,
    ];

    /// As stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Queued => "queued",
            Self::Held => "held",
            Self::Running => "running",
            Self::Done => "done",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
            Self::Dropped => "dropped",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|s| s.name() == name)
    }

    /// Whether work remains to be done.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Queued | Self::Held | Self::Running)
    }
}

impl TaskEvent {
    /// Every event.
    pub const ALL: &'static [Self] = &[
        Self::PartsDone,
        Self::Hold,
        Self::Unhold,
        Self::Claim,
        Self::Succeed,
        Self::Retry,
        Self::Release,
        Self::Lose,
        Self::Die,
        Self::Cancel,
        Self::Replay,
        Self::Drop,
        Self::Reopen,
        Self::Recall,
    ];
}

/// An event that cannot happen in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Illegal {
    /// Where the task stood.
    pub state: TaskState,
    /// What was asked of it.
    pub event: TaskEvent,
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a task that is {} cannot {:?}", self.state.name(), self.event)
    }
}

/// The state that follows `event`.
pub fn transition(state: TaskState, event: TaskEvent) -> Result<TaskState, Illegal> {
    use TaskEvent as E;
    use TaskState as S;
    match (state, event) {
        // Replay is also allowed for what a person dismissed: changing one's mind is free.
        (S::Waiting, E::PartsDone)
        | (S::Held, E::Unhold)
        | (S::Running, E::Retry | E::Release | E::Lose)
        | (S::Dead | S::Dropped, E::Replay)
        | (S::Cancelled, E::Recall) => Ok(S::Queued),
        (_, E::Reopen) => Ok(S::Waiting),
        (S::Queued, E::Hold) => Ok(S::Held),
        (S::Queued, E::Claim) => Ok(S::Running),
        (S::Running, E::Succeed) => Ok(S::Done),
        (S::Running, E::Die) => Ok(S::Dead),
        (S::Waiting | S::Queued | S::Held | S::Running, E::Cancel) => Ok(S::Cancelled),
        (S::Dead, E::Drop) => Ok(S::Dropped),
        _ => Err(Illegal { state, event }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transition_table_is_as_drawn() {
        let mut table = String::from("| state | event | next |\n|---|---|---|\n");
        for &state in TaskState::ALL {
            for &event in TaskEvent::ALL {
                if let Ok(next) = transition(state, event) {
                    table.push_str(&format!("| {} | {event:?} | {} |\n", state.name(), next.name()));
                }
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn ended_task_leaves_only_by_a_person() {
        use TaskEvent as E;
        for &state in TaskState::ALL.iter().filter(|s| !s.is_open()) {
            for &event in TaskEvent::ALL {
                if transition(state, event).is_ok() {
                    let by_a_person = [E::Replay, E::Drop, E::Reopen, E::Recall];
                    assert!(by_a_person.contains(&event), "{state:?} {event:?}");
                }
            }
        }
    }
}
