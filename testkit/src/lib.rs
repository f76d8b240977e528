//! What tests share: conformance suites, faults, the lease protocol as a property, the printer of whole states. Never
//! part of the product.

pub mod archive;
pub mod conformance;
pub mod faults;
pub mod lease_model;
pub mod llm;
pub mod state;
