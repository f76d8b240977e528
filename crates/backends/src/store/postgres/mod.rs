//! The store on PostgreSQL, for any number of processes.
//!
//! What many writers would have to change together is not changed by them: a commit leaves its events, its changes
//! to batch totals and its changed documents in the outbox (`tx`), and one `sequencer` at a time gives them numbers.
//! Commits that wait together become one transaction of statements over many rows (`writer`, `commit`). Renewals
//! have a thread and a connection of their own (`renewer`). Reads for people run under row-level security
//! (`readers`). Other processes hear of new work by notifications that are sent apart from transactions (`hints`),
//! and by a slow poll where one is lost. Where old snapshots keep dead rows in the way, a process remembers where
//! queues begin (`heads`). Each other file is one group of verbs, which `verbs` puts behind the
//! ports, as in `store/sqlite`.

mod access;
mod batch;
mod catalogue;
mod children;
mod claim;
mod commit;
mod db;
mod events;
mod finish;
mod floor;
mod follow;
mod heads;
mod hints;
mod ledger;
mod look;
mod migrate;
mod numbers;
mod open;
mod readers;
mod receive;
mod records;
mod remove;
mod renewer;
mod reviews;
mod row;
mod sequencer;
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

pub use db::Time;
pub use migrate::{MIGRATIONS, SCHEMA_VERSION, schema_dump};
pub use open::{Options, PostgresStore};
pub use transfer::PostgresTransfer;
