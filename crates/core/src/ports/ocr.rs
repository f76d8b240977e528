//! Pixels in, words out. The one implementation runs its engines in sandboxed child processes.

use async_trait::async_trait;

use crate::error::Result;
use crate::id::TenantId;
use crate::ocr::Scan;
use crate::ports::reader::{Allowance, Findings};
use crate::wire::Layer;

/// One page to recognise.
#[derive(Clone, Debug)]
pub struct OcrJob {
    /// A child serves one tenant only.
    pub tenant: TenantId,
    /// The document's name, for messages.
    pub name: String,
    /// The page.
    pub scan: Scan,
    /// How much the child may use.
    pub allowance: Allowance,
}

/// Recognises text.
#[async_trait]
pub trait Ocr: Send + Sync {
    /// Whether there is anything to recognise with; the error says what is missing and how to get it.
    fn available(&self) -> Result<()>;

    /// Everything about the engines that the text depends on: part of a transcription's fingerprint.
    fn identity(&self) -> &str;

    /// How many pages are worked on at once; it makes no sense to hold many more.
    fn at_once(&self) -> usize;

    /// Starts recognising. Of what is found one is [`Found::Recognised`](crate::wire::Found::Recognised), unless
    /// it ends with an error.
    async fn recognise(&self, job: OcrJob) -> Result<Findings>;

    /// The engines and models, on or off, as a fresh child finds them.
    async fn engines(&self) -> Result<Vec<Layer>>;

    /// Takes no more; what no child has begun ends with `shutting_down`.
    async fn drain(&self);

    /// Ends all children.
    async fn shutdown(&self);
}
