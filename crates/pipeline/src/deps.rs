//! Everything the pipeline needs from outside, chosen and wired by the binary.

use std::sync::Arc;

use docmill_core::clock::{Clock, Entropy, IdGen};
use docmill_core::config::Settings;
use docmill_core::metrics::Metrics;
use docmill_core::ports::{
    Blobs, Embedder, Extractor, Generator, Llm, Ocr, Reader, Spans, Store, TextIndex, Understander,
    VectorIndex,
};

/// The ports and the settings. Cloning is cheap.
#[derive(Clone)]
pub struct Deps {
    /// The truth.
    pub store: Arc<dyn Store>,
    /// Where bytes lie.
    pub blobs: Arc<dyn Blobs>,
    /// The sandboxed readers.
    pub reader: Arc<dyn Reader>,
    /// More of them, for people who look at pages: they wait for no ingest, and no ingest for them.
    pub viewer: Arc<dyn Reader>,
    /// The sandboxed recognisers of text in pictures.
    pub ocr: Arc<dyn Ocr>,
    /// The same in another way, for pages of which the first was of no use.
    pub ocr_again: Arc<dyn Ocr>,
    /// The sandboxed model that turns texts into meanings.
    pub embedder: Arc<dyn Embedder>,
    /// What finds out what documents are and say.
    pub understander: Arc<dyn Understander>,
    /// What takes records from documents.
    pub extractor: Arc<dyn Extractor>,
    /// The language model that is asked about documents, if one is configured.
    pub llm: Option<Arc<dyn Llm>>,
    /// What makes test documents up.
    pub generator: Arc<dyn Generator>,
    /// Full-text search.
    pub index: Arc<dyn TextIndex>,
    /// Search by meaning.
    pub vectors: Arc<dyn VectorIndex>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where new ids come from.
    pub ids: Arc<dyn IdGen>,
    /// Where the jitter of retries comes from.
    pub entropy: Arc<dyn Entropy>,
    /// Everything that can be set.
    pub settings: Arc<Settings>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Where spans go, if they are wanted.
    pub spans: Option<Arc<dyn Spans>>,
}
