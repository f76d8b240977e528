//! The stores, by URL scheme.

#[cfg(feature = "postgres")]
pub mod postgres;
mod shared;
pub mod sqlite;
