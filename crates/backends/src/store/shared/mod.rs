//! What the stores have in common because it does not depend on a database: decisions, words, small sums.

pub(super) mod catalogue;
pub(super) mod claim;
pub(super) mod events;
pub(super) mod look;
pub(super) mod marker;
pub(super) mod pace;
pub(super) mod pieces;
pub(super) mod receive;
pub(super) mod reviews;
pub(super) mod steer;
pub(super) mod tally;
pub(super) mod totals;
pub(super) mod tree;
pub(super) mod worker;

use docmill_core::Error;
use docmill_core::error::ErrorNote;

/// The same error, for one more of those who wait for a group: errors carry their cause and cannot be cloned.
pub(super) fn once_more(error: &Error) -> Error {
    ErrorNote::from(error).into()
}
