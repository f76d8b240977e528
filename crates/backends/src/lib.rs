//! Every implementation of a port: a folder a port, a file a product. A decision about what to do after an
//! error is never made here; see `docmill_core::disposition`.

pub mod blobs;
pub mod child;
pub mod llm;
#[cfg(feature = "postgres")]
mod postgres;
pub mod search;
pub mod store;
pub mod vectors;
