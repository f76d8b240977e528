//! What tests share: conformance suites, the lease protocol as a property, clocks. Never part of the product.

pub mod archive;
pub mod conformance;
pub mod lease_model;
