//! What every store must do. The cases are grouped by topic; the world they play in is in `world`.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed step is a failed case")]

pub(super) mod access;
mod batches;
mod catalogue;
mod children;
mod documents;
mod events;
mod kinds;
mod lease;
mod queue;
mod receive;
pub(super) mod records;
mod revive;
mod watch;
mod world;

use docmill_core::ports::Store;

pub use world::{KIND, Reported, World, done, ended, failure, new_task};

use crate::conformance::Suite;

/// Everything a store must do.
pub fn suite() -> Suite<dyn Store> {
    let mut cases = receive::cases();
    cases.extend(queue::cases());
    cases.extend(lease::cases());
    cases.extend(revive::cases());
    cases.extend(children::cases());
    cases.extend(batches::cases());
    cases.extend(documents::cases());
    cases.extend(events::cases());
    cases.extend(watch::cases());
    cases.extend(access::cases());
    cases.extend(catalogue::cases());
    cases.extend(kinds::cases());
    cases.extend(records::cases());
    Suite { port: "store", cases }
}
