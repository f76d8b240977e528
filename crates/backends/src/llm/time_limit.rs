//! No call takes longer than this.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docmill_core::ports::Llm;
use docmill_core::ports::llm::{Answer, Question};
use docmill_core::{Error, Result};

/// The decorator.
pub struct TimeLimit {
    inner: Arc<dyn Llm>,
    limit: Duration,
}

impl TimeLimit {
    /// Around `inner`.
    pub fn new(inner: Arc<dyn Llm>, limit: Duration) -> Self {
        Self { inner, limit }
    }
}

#[async_trait]
impl Llm for TimeLimit {
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
        tokio::time::timeout(self.limit, self.inner.ask(question)).await.unwrap_or_else(|_elapsed| {
            let limit = docmill_core::config::duration_text(self.limit);
            Err(Error::timeout(format!("{} did not answer within {limit}", self.provider()))
                .with_hint("raise `llm.timeout`"))
        })
    }
}
