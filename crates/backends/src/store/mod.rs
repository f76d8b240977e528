//! The stores, by URL scheme.

mod shared;
pub mod sqlite;
