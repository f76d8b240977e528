//! What is counted of a language model.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::catalogue as rows;
use super::labels::TokenDirection;
use super::meters::{Tries, counters, histogram, register};

/// From a small model nearby to the longest that a call may take, in seconds.
const DURATIONS: [f64; 9] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 30.0, 90.0];

/// What is counted of a language model.
#[derive(Clone, Debug)]
pub struct LlmMeter {
    calls: Tries,
    duration: Histogram,
    tokens_in: Counter,
    tokens_out: Counter,
    cost: Counter<f64, AtomicU64>,
}

impl LlmMeter {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let calls = Tries::new(registry, &rows::LLM_CALLS);
        let duration = histogram(registry, &rows::LLM_CALL_DURATION, DURATIONS);
        let tokens = counters(registry, &rows::LLM_TOKENS);
        let of = |direction: TokenDirection| {
            tokens.get_or_create_owned(&vec![("direction", direction.name().to_owned())])
        };
        let (tokens_in, tokens_out) = (of(TokenDirection::In), of(TokenDirection::Out));
        let cost = Counter::default();
        register(registry, &rows::LLM_COST, cost.clone());
        Self { calls, duration, tokens_in, tokens_out, cost }
    }

    /// A call has ended.
    pub fn called(&self, took: Duration, ok: bool) {
        self.calls.note(ok);
        self.duration.observe(took.as_secs_f64());
    }

    /// An answer was paid for.
    pub fn paid(&self, tokens_in: u64, tokens_out: u64, cost: Option<f64>) {
        self.tokens_in.inc_by(tokens_in);
        self.tokens_out.inc_by(tokens_out);
        self.cost.inc_by(cost.unwrap_or_default());
    }
}

impl Default for LlmMeter {
    /// Counts for nobody.
    fn default() -> Self {
        Self::new(&mut Registry::default())
    }
}
