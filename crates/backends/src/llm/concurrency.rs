//! No more calls at once than this; the others wait for their turn, which costs them no time of their own.

use std::sync::Arc;

use async_trait::async_trait;
use docmill_core::ports::Llm;
use docmill_core::ports::llm::{Answer, Question};
use docmill_core::{Error, Result};
use tokio::sync::Semaphore;

/// The decorator.
pub struct Concurrency {
    inner: Arc<dyn Llm>,
    turns: Semaphore,
}

impl Concurrency {
    /// Around `inner`.
    pub fn new(inner: Arc<dyn Llm>, at_once: u32) -> Self {
        Self { inner, turns: Semaphore::new(at_once.max(1) as usize) }
    }
}

#[async_trait]
impl Llm for Concurrency {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn identity(&self) -> &str {
        self.inner.identity()
    }

    fn sees(&self) -> bool {
        self.inner.sees()
    }

    async fn ask(&self, question: &Question) -> Result<Answer> {
        let closed = |e| Error::bug("turns at the language model have ended").with_source(e);
        let _turn = self.turns.acquire().await.map_err(closed)?;
        self.inner.ask(question).await
    }
}
