//! Texts in, meanings out. The one implementation runs its model in sandboxed child processes.

use async_trait::async_trait;

use crate::error::Result;
use crate::id::TenantId;
use crate::wire::Layer;

/// How many numbers a meaning has.
pub const DIMENSIONS: usize = 384;

/// The layer of a child that is no fence but the model.
pub const ENGINE: &str = "minilm";

/// Turns texts into vectors of length 1 that lie near each other where the texts mean something alike.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Whether there is a model; the error says what is missing and how to get it.
    fn available(&self) -> Result<()>;

    /// Which model it is. Vectors are kept with it: those of two models cannot be compared.
    fn model(&self) -> &str;

    /// One vector of [`DIMENSIONS`] a text, in their order. What a text has more than the model takes is left out.
    async fn embed(&self, tenant: TenantId, texts: Vec<String>) -> Result<Vec<Vec<f32>>>;

    /// The model, on or off, as a fresh child finds it.
    async fn engines(&self) -> Result<Vec<Layer>>;

    /// Takes no more; what no child has begun ends with `shutting_down`.
    async fn drain(&self);

    /// Ends all children.
    async fn shutdown(&self);
}
