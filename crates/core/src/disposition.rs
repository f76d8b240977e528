//! What follows an error: one pure table. No other place decides about retries.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::ErrorKind;
use crate::task::{Attempts, Size};

/// What to do after a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// The item is left out, with success.
    Skip,
    /// Try again after a pause. `charged` failures count as attempts.
    Retry {
        /// At least so long; jitter is added by whoever schedules.
        after: Duration,
        /// Whether it counts.
        charged: bool,
    },
    /// Try again on the large size; counts as an attempt.
    Escalate,
    /// The item completes with what there is, and with a problem that says what is missing.
    Degrade,
    /// The task becomes a dead letter, and the stage's recovery decides about the item.
    Fail,
    /// Say nothing: somebody else owns the work now.
    Abandon,
    /// Hand the work back untouched.
    Release,
}

/// Failures in one size class before the next is tried.
pub const ATTEMPTS_PER_SIZE: u32 = 2;
/// Failures of one step, over all sizes.
pub const MAX_ATTEMPTS: u32 = 3;
/// Retries that cost no attempt end when the task has been failing for so long.
pub const MAX_FREE_RETRIES: Duration = Duration::from_hours(6);

/// Pauses before the next try; whoever schedules adds as much again at most.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Decides. `attempts` counts the failures before this one; the first of them was `failing_for` ago.
pub fn decide(kind: ErrorKind, attempts: Attempts, size: Size, failing_for: Duration) -> Disposition {
    match kind {
        ErrorKind::KnownSystemFile => Disposition::Skip,
        ErrorKind::UnsupportedFormat
        | ErrorKind::EmptyFile
        | ErrorKind::Encrypted
        | ErrorKind::Corrupt
        | ErrorKind::ContentBlocked
        | ErrorKind::SchemaMismatch => Disposition::Degrade,
        // The answer would be the same however often we ask, and the hint names the setting to change.
        ErrorKind::LimitExceeded
        | ErrorKind::BombSuspected
        | ErrorKind::NestingTooDeep
        | ErrorKind::Unreadable
        | ErrorKind::FileChanged
        | ErrorKind::NotFound
        | ErrorKind::Forbidden
        | ErrorKind::InvalidRequest
        | ErrorKind::WorkerLost
        | ErrorKind::Bug => Disposition::Fail,
        // More room and time may help once; a second time-out there is final.
        ErrorKind::Timeout | ErrorKind::OutOfMemory => match size {
            Size::Small => Disposition::Escalate,
            Size::Large => Disposition::Fail,
        },
        ErrorKind::ChildCrashed => climb(attempts, size),
        ErrorKind::RateLimited => free_retry(Duration::from_secs(30), failing_for),
        // Whoever is away is asked less and less often, and missed for no longer than they were away.
        ErrorKind::Unavailable | ErrorKind::DiskFull => {
            free_retry((failing_for / 2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE), failing_for)
        }
        // Whoever installs or configures the missing thing should not have to replay dead letters.
        ErrorKind::InvalidConfig | ErrorKind::MissingDependency => {
            free_retry(Duration::from_mins(1), failing_for)
        }
        ErrorKind::Conflict | ErrorKind::StaleLease | ErrorKind::Cancelled => Disposition::Abandon,
        ErrorKind::ShuttingDown => Disposition::Release,
    }
}

/// Two failures on small, then large, and no more than three in all.
fn climb(before: Attempts, size: Size) -> Disposition {
    let total = before.total + 1;
    let in_size = before.in_size + 1;
    if total >= MAX_ATTEMPTS {
        return Disposition::Fail;
    }
    match size {
        _ if in_size < ATTEMPTS_PER_SIZE => Disposition::Retry { after: backoff(total), charged: true },
        Size::Small => Disposition::Escalate,
        Size::Large => Disposition::Fail,
    }
}

fn free_retry(after: Duration, failing_for: Duration) -> Disposition {
    if failing_for > MAX_FREE_RETRIES {
        Disposition::Fail
    } else {
        Disposition::Retry { after, charged: false }
    }
}

/// The shortest pause, then doubling up to the longest.
fn backoff(times: u32) -> Duration {
    (SHORTEST_PAUSE * (1 << times.saturating_sub(1).min(8))).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_table_is_as_written() {
        let mut table = String::new();
        for &kind in ErrorKind::ALL {
            for size in [Size::Small, Size::Large] {
                for failures in 0..3 {
                    let attempts = Attempts { total: failures, in_size: failures.min(1), lost: 1 };
                    let decision = decide(kind, attempts, size, Duration::ZERO);
                    table.push_str(&format!("{kind} {} after {failures}: {decision:?}\n", size.name()));
                }
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn charged_failures_end_within_the_maximum() {
        for &kind in ErrorKind::ALL {
            let (mut attempts, mut size) = (Attempts::default(), Size::Small);
            for _ in 0..20 {
                match decide(kind, attempts, size, Duration::ZERO) {
                    Disposition::Retry { charged: true, .. } => attempts.in_size += 1,
                    Disposition::Escalate => (size, attempts.in_size) = (Size::Large, 0),
                    _ => break,
                }
                attempts.total += 1;
            }
            assert!(attempts.total < MAX_ATTEMPTS, "{kind}");
        }
    }

    #[test]
    fn free_retries_end_after_hours_of_failing() {
        let long = MAX_FREE_RETRIES + Duration::from_secs(1);
        for kind in [ErrorKind::Unavailable, ErrorKind::RateLimited, ErrorKind::MissingDependency] {
            assert_eq!(decide(kind, Attempts::default(), Size::Small, long), Disposition::Fail);
        }
    }

    #[test]
    fn what_is_away_for_hours_is_not_asked_every_second() {
        for kind in [ErrorKind::Unavailable, ErrorKind::DiskFull] {
            let (mut failing_for, mut tries) = (Duration::ZERO, 0);
            while let Disposition::Retry { after, charged } =
                decide(kind, Attempts::default(), Size::Small, failing_for)
            {
                assert!(!charged && after <= LONGEST_PAUSE);
                assert!(after <= SHORTEST_PAUSE.max(failing_for), "back soon after a short absence");
                failing_for += after;
                tries += 1;
            }
            assert!((60..100).contains(&tries), "{tries} tries of {kind} in six hours");
        }
    }
}
