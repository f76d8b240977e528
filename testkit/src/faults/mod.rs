//! Faults on purpose: between a client and a server (`proxy`), before a port (`blobs`), and to whole processes and
//! servers (`plan` says what, `server` is a server that may be hit). What must hold while they happen is the business of
//! whoever injects them.

pub mod blobs;
pub mod plan;
pub mod proxy;
pub mod server;

pub use blobs::{BlobFault, BlobFaults, FaultyBlobs};
pub use plan::{Disturbance, Plan, Step};
pub use proxy::Proxy;
pub use server::OwnServer;
