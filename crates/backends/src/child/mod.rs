//! The parent side of the sandboxed children: pools of one role each, behind `Reader`, `Ocr` and `Embedder`.
//!
//! ```text
//! submit() → queue (per tenant) → turn → driver (one task per child) → findings of each document
//!                                        └ spawn: one permanent thread starts children, another reaps them
//! ```
//!
//! Nothing here parses a document or trusts what a child says: frames are bounded, the protocol is checked,
//! output is counted, and CPU and memory are measured from outside. A child serves one tenant for its whole
//! life. The death of a child costs only the document that caused it; who that is, `frame` decides.
//!
//! Where to go next: `reader`, `ocr` and `embed` (the roles), `pool` (who gets a child), `driver` (a child's life),
//! `frame` (one frame of documents and the blame for its end), `meter` (limits on lack of progress), `docmill::child` (the inside).

mod driver;
mod embed;
mod fault;
mod frame;
mod frame_io;
mod job;
mod limits;
mod meter;
mod ocr;
mod pool;
mod proc;
mod queue;
mod reader;
mod settings;
mod spawn;
mod turn;

pub use embed::{EmbedPool, MAX_BATCH_BYTES, MAX_TEXTS, NoEmbedder};
pub use ocr::{NoOcr, OcrPool};
pub use reader::ReaderPool;
pub use settings::{PoolSettings, Sandbox};
