//! Containers to members.

mod allowed;
mod chunk;
pub mod document;
