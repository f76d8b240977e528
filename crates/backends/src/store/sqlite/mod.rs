//! The embedded store: one SQLite file, one writer thread, as many readers as needed.
//!
//! Writes are closures that run on the writer thread, several in one transaction (`writer`); what a
//! transaction gathers on the side (events, batch totals, change numbers) is written once at its end (`tx`).
//! Reads run on their own connections and never wait for the writer. Each other file is one group of verbs,
//! which `verbs` puts behind the ports.

mod access;
mod batch;
mod catalogue;
mod children;
mod claim;
mod commit;
mod events;
mod finish;
mod follow;
mod ledger;
mod look;
mod migrate;
mod open;
mod readers;
mod receive;
mod records;
mod remove;
mod reviews;
mod row;
mod steer;
mod sweep;
mod task;
mod transfer;
mod tree;
mod tx;
mod understanding;
mod usage;
mod verbs;
mod worker;
mod writer;

pub use migrate::{SCHEMA_VERSION, schema_dump};
pub use open::SqliteStore;
pub use transfer::SqliteTransfer;
