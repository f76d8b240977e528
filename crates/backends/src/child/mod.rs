//! The parent side of the sandboxed children: one pool that implements `Reader`.
//!
//! ```text
//! read() → queue (per tenant) → turn → driver (one task per child) → findings of each document
//!                                        └ spawn: one permanent thread starts children, another reaps them
//! ```
//!
//! Nothing here parses a document or trusts what a child says: frames are bounded, the protocol is checked,
//! output is counted, and CPU and memory are measured from outside. A child serves one tenant for its whole
//! life. The death of a child costs only the document that caused it; who that is, `frame` decides.
//!
//! Where to go next: `pool` (who gets a child), `driver` (a child's life), `frame` (one frame of documents and
//! the blame for its end), `meter` (limits on lack of progress), `docmill::child` (the inside).

mod driver;
mod fault;
mod frame;
mod frame_io;
mod limits;
mod meter;
mod pool;
mod proc;
mod queue;
mod settings;
mod spawn;
mod turn;

pub use pool::ChildPool;
pub use settings::{PoolSettings, Sandbox};
