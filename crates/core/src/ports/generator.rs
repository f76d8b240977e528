//! Makes test documents up. It needs nothing but its order, so the same order gives the same documents anywhere.

use crate::error::Result;
use crate::generate::{Order, Sample};

/// Makes documents.
pub trait Generator: Send + Sync {
    /// Document `number` of an order, from 0. Takes up to some tenths of a second of computing where it is a scan: call
    /// it where it disturbs nobody.
    fn make(&self, order: &Order, number: u32) -> Result<Sample>;
}
