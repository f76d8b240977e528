//! What follows the change log instead of being a task: a follower has one position, and after a crash it goes
//! on from there.

pub(crate) mod index;
