//! What every reader must do. The cases are grouped by topic; the desk they work at is in `desk`.
//!
//! Some documents must misbehave, so what reads them has to know the format `probe` (the feature of that name
//! of `docmill-formats`), and it has to be opened with [`CHILDREN`] children, so that documents meet.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed step is a failed case")]

mod company;
mod content;
mod desk;
mod limits;

use docmill_core::ports::Reader;

use crate::conformance::{Bench, Suite};

/// A reader under test works with so many children at once.
pub const CHILDREN: usize = 1;

type Subject = Bench<dyn Reader>;

/// Everything a reader must do.
pub fn suite() -> Suite<dyn Reader> {
    let mut cases = content::cases();
    cases.extend(limits::cases());
    cases.extend(company::cases());
    Suite { port: "reader", cases }
}
