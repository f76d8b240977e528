//! Counts calls, tokens and money. The model behind it does not notice.

use std::sync::Arc;

use async_trait::async_trait;
use docmill_core::Result;
use docmill_core::clock::Clock;
use docmill_core::metrics::LlmMeter;
use docmill_core::ports::Llm;
use docmill_core::ports::llm::{Answer, Question};

/// What tokens cost. Both at zero: nobody said.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Prices {
    /// Of a million tokens that are read.
    pub per_million_in: f64,
    /// Of a million tokens that are written.
    pub per_million_out: f64,
}

impl Prices {
    fn of(self, tokens_in: u64, tokens_out: u64) -> Option<f64> {
        let known = self.per_million_in > 0.0 || self.per_million_out > 0.0;
        let cost = tokens_in as f64 * self.per_million_in + tokens_out as f64 * self.per_million_out;
        known.then_some(cost / 1e6)
    }
}

/// The decorator.
pub struct Metered {
    inner: Arc<dyn Llm>,
    meter: LlmMeter,
    prices: Prices,
    clock: Arc<dyn Clock>,
}

impl Metered {
    /// Around `inner`.
    pub fn new(inner: Arc<dyn Llm>, meter: LlmMeter, prices: Prices, clock: Arc<dyn Clock>) -> Self {
        Self { inner, meter, prices, clock }
    }
}

/// Counts a call also where nobody waits for it any more.
struct Call<'m> {
    of: &'m Metered,
    begun: std::time::Duration,
    ok: bool,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let took = self.of.clock.monotonic().saturating_sub(self.begun);
        self.of.meter.called(took, self.ok);
    }
}

#[async_trait]
impl Llm for Metered {
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
        let mut call = Call { of: self, begun: self.clock.monotonic(), ok: false };
        let mut answer = self.inner.ask(question).await?;
        call.ok = true;
        answer.cost = self.prices.of(answer.tokens_in, answer.tokens_out);
        self.meter.paid(answer.tokens_in, answer.tokens_out, answer.cost);
        tracing::debug!(
            provider = self.provider(),
            model = answer.model,
            tokens_in = answer.tokens_in,
            tokens_out = answer.tokens_out,
            "the language model has answered"
        );
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_follows_from_tokens_and_prices() {
        let prices = Prices { per_million_in: 0.5, per_million_out: 2.0 };
        assert_eq!(prices.of(1_000_000, 500_000), Some(1.5));
        assert_eq!(Prices::default().of(1_000_000, 1), None);
    }
}
