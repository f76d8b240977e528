//! Finding out what something is.

pub mod document;
