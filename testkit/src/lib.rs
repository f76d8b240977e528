//! What tests share: conformance suites, fakes, clocks. Never part of the product.

pub mod conformance;
