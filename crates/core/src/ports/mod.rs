//! What a back end must do. One small, object-safe trait a file, in domain words.

pub mod blobs;
pub mod reader;
pub mod store;
pub mod text_index;

pub use blobs::Blobs;
pub use reader::Reader;
pub use store::Store;
pub use text_index::TextIndex;
