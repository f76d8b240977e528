//! What tests share: conformance suites, the lease protocol as a property, the printer of whole states. Never
//! part of the product.

pub mod archive;
pub mod conformance;
pub mod lease_model;
pub mod state;
