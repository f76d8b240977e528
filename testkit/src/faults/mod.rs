//! Faults on purpose: between a client and a server (`proxy`), and before a port (`blobs`). What must hold while they
//! happen is the business of whoever injects them.

pub mod blobs;
pub mod proxy;

pub use blobs::{BlobFault, BlobFaults, FaultyBlobs};
pub use proxy::Proxy;
