//! What the stores have in common because it does not depend on a database: decisions, words, small sums.

pub(super) mod catalogue;
#[cfg(feature = "postgres")]
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
