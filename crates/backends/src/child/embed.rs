//! Children with the role `embed`, as `Embedder`; and what stands in for them where there is no model.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::clock::Clock;
use docmill_core::id::TenantId;
use docmill_core::limits::{KIB, MIB};
use docmill_core::ports::Embedder;
use docmill_core::ports::embedder::ENGINE;
use docmill_core::ports::reader::{Allowance, Finding};
use docmill_core::wire::{Found, Layer};
use docmill_core::{Error, Result};

use super::job::Job;
use super::pool::ChildPool;
use super::settings::PoolSettings;

/// Texts of one batch. That many take a child some ten seconds.
pub const MAX_TEXTS: usize = 512;

/// Bytes of one batch, all texts together.
pub const MAX_BATCH_BYTES: usize = 8 << 20;

/// The model takes a few hundred words of a text, which is far less than this: the rest need not travel.
const MAX_TEXT_BYTES: usize = 64 * KIB as usize;

/// A child has its model and a group of texts in memory, some 130 MB, and what a batch brings.
const MEMORY_BYTES: u64 = 512 * MIB;

/// A group of texts takes a fraction of a second.
const WITHOUT_PROGRESS: Duration = Duration::from_secs(30);

/// Embeds texts in sandboxed children.
#[derive(Debug)]
pub struct EmbedPool {
    pool: ChildPool,
    model: String,
}

impl EmbedPool {
    /// Starts a pool on the current tokio runtime. Children, and their models, are there from the first texts until
    /// nobody has brought any for a while. `model` names the model.
    pub fn start(settings: PoolSettings, clock: Arc<dyn Clock>, model: String) -> Result<Arc<dyn Embedder>> {
        // A batch takes seconds, and that is not slow: nobody is let past it, and loaded models are kept.
        let settings = PoolSettings {
            max_detached: 0,
            slow_after: Duration::MAX,
            slow_after_cpu: Duration::MAX,
            frame_max_orders: 1,
            memory_bytes: MEMORY_BYTES,
            ..settings
        };
        Ok(Arc::new(Self { pool: ChildPool::start(settings, clock)?, model }))
    }
}

#[async_trait]
impl Embedder for EmbedPool {
    fn available(&self) -> Result<()> {
        Ok(())
    }

    fn model(&self) -> &str {
        &self.model
    }

    async fn embed(&self, tenant: TenantId, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = texts.len();
        let texts = bounded(texts)?;
        let allowance = Allowance {
            cpu_without_progress: WITHOUT_PROGRESS,
            wall_without_progress: WITHOUT_PROGRESS,
            memory_bytes: MEMORY_BYTES,
        };
        let mut findings = self.pool.submit(Job::embed(tenant, texts, allowance))?;
        let mut vectors = Vec::with_capacity(wanted);
        loop {
            match findings.recv().await {
                Some(Finding::Found(Found::Vectors(more))) if vectors.len() + more.len() <= wanted => {
                    vectors.extend(more);
                }
                Some(Finding::Found(_)) => {
                    return Err(Error::bug("a child that embeds found something else"));
                }
                Some(Finding::Waiting) => {}
                Some(Finding::End(result)) => break result?,
                None => return Err(Error::bug("embedding ended without a word")),
            }
        }
        if vectors.len() < wanted {
            return Err(Error::bug(format!("{} vectors for {wanted} texts", vectors.len())));
        }
        Ok(vectors)
    }

    async fn engines(&self) -> Result<Vec<Layer>> {
        let layers = self.pool.inspect().await?;
        Ok(layers.into_iter().filter(|layer| layer.name == ENGINE).collect())
    }

    async fn drain(&self) {
        self.pool.drain();
    }

    async fn shutdown(&self) {
        self.pool.shutdown().await;
    }
}

/// A batch that is not too large, of texts that are not too long.
fn bounded(mut texts: Vec<String>) -> Result<Vec<String>> {
    if texts.len() > MAX_TEXTS {
        return Err(too_large(texts.len(), "texts", MAX_TEXTS));
    }
    for text in &mut texts {
        text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    }
    let bytes = texts.iter().map(String::len).sum();
    if bytes > MAX_BATCH_BYTES {
        return Err(too_large(bytes, "bytes", MAX_BATCH_BYTES));
    }
    Ok(texts)
}

fn too_large(count: usize, unit: &str, limit: usize) -> Error {
    Error::limit_exceeded(format!("a batch of {count} {unit} to embed exceeds the limit of {limit}"))
        .with_hint("embed them in smaller batches")
}

/// No model, and why.
#[derive(Debug)]
pub struct NoEmbedder {
    missing: String,
    hint: String,
}

impl NoEmbedder {
    /// Says what is missing and how to get it.
    pub fn new(missing: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { missing: missing.into(), hint: hint.into() }
    }

    fn error(&self) -> Error {
        Error::missing_dependency(self.missing.clone()).with_hint(self.hint.clone())
    }
}

#[async_trait]
impl Embedder for NoEmbedder {
    fn available(&self) -> Result<()> {
        Err(self.error())
    }

    fn model(&self) -> &'static str {
        "none"
    }

    async fn embed(&self, _tenant: TenantId, _texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        Err(self.error())
    }

    async fn engines(&self) -> Result<Vec<Layer>> {
        Err(self.error())
    }

    async fn drain(&self) {}

    async fn shutdown(&self) {}
}

#[cfg(test)]
mod tests {
    use docmill_core::ErrorKind;

    use super::*;

    #[test]
    fn batch_beyond_a_limit_is_refused_by_name_and_number() {
        let error = bounded(vec![String::new(); MAX_TEXTS + 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.message().contains("513 texts") && error.message().contains("512"), "{error}");
        let error = bounded(vec!["x".repeat(MAX_TEXT_BYTES); 129]).unwrap_err();
        assert!(error.message().contains("8454144 bytes"), "{error}");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        let texts = bounded(vec!["a".to_owned() + &"é".repeat(MAX_TEXT_BYTES), "short".into()]).unwrap();
        assert_eq!((texts[0].len(), texts[1].as_str()), (MAX_TEXT_BYTES - 1, "short"));
    }
}
