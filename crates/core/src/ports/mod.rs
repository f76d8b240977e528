//! What a back end must do. One small, object-safe trait a file, in domain words.

pub mod access;
pub mod blobs;
pub mod catalogue;
pub mod embedder;
pub mod extractor;
pub mod filter;
pub mod generator;
pub mod llm;
pub mod ocr;
pub mod reader;
pub mod records;
pub mod spans;
pub mod store;
pub mod text_index;
pub mod transfer;
pub mod understander;
pub mod vector_index;

pub use access::Access;
pub use blobs::Blobs;
pub use catalogue::Catalogue;
pub use embedder::Embedder;
pub use extractor::Extractor;
pub use generator::Generator;
pub use llm::Llm;
pub use ocr::Ocr;
pub use reader::Reader;
pub use records::Records;
pub use spans::Spans;
pub use store::Store;
pub use text_index::TextIndex;
pub use transfer::Transfer;
pub use understander::Understander;
pub use vector_index::VectorIndex;
