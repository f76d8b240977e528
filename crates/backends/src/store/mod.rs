//! The stores, by URL scheme.

pub mod sqlite;
