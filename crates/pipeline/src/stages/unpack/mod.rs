//! Containers to members.

mod chunk;
pub mod document;
