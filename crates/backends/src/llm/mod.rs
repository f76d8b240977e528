//! Language models over the network. A provider is one file that knows how it is spoken to (a `Tongue`), everything
//! else is shared: `remote` asks, `http` carries, `failure` says what a refusal means.
//!
//! What stands around a call is a decorator each, which implements the same port and knows no provider. From the
//! outside in: `concurrency`, `breaker` (nobody waits for a model that is gone; inside, so that questions which wait for
//! their turn when it opens are not asked after all), `patience` (what is tried again), `pace`, `time_limit`, `metered`.
//!
//! `genai` was weighed and left out: see ADR 0029.

mod anthropic;
mod breaker;
mod concurrency;
mod failure;
mod gemini;
#[cfg(feature = "llm")]
mod http;
#[cfg(not(feature = "llm"))]
#[path = "no_http.rs"]
mod http;
mod metered;
mod ollama;
mod openai;
mod pace;
mod patience;
mod remote;
mod time_limit;

use std::sync::Arc;

use docmill_core::clock::Clock;
use docmill_core::config::{LlmSettings, Provider};
use docmill_core::metrics::LlmMeter;
use docmill_core::ports::Llm;
use docmill_core::{Error, Result};

pub use breaker::Breaker;
pub use concurrency::Concurrency;
pub use metered::{Metered, Prices};
pub use pace::Pace;
pub use patience::Patient;
pub use remote::Remote;
pub use time_limit::TimeLimit;

use remote::Tongue;

/// Who can be spoken to.
static TONGUES: &[&dyn Tongue] = &[&openai::OpenAi, &anthropic::Anthropic, &gemini::Gemini, &ollama::Ollama];

/// The model that the settings name, if they name one. Talks to nobody yet.
pub fn open(settings: &LlmSettings, clock: &Arc<dyn Clock>, meter: LlmMeter) -> Result<Option<Arc<dyn Llm>>> {
    let address = settings.address().map_err(|what| Error::invalid_config(format!("`llm.url` {what}")))?;
    let Some((provider, base)) = address else { return Ok(None) };
    let remote: Arc<dyn Llm> = Arc::new(Remote::new(tongue(provider)?, &base, settings)?);
    let prices = Prices { per_million_in: settings.price_in, per_million_out: settings.price_out };
    let metered = Arc::new(Metered::new(remote, meter, prices, Arc::clone(clock)));
    let limited = Arc::new(TimeLimit::new(metered, settings.timeout));
    let paced = Arc::new(Pace::new(limited, settings.per_minute, Arc::clone(clock)));
    let patient = Arc::new(Patient::new(paced, settings.total_timeout, Arc::clone(clock)));
    let guarded = Arc::new(Breaker::new(patient, Arc::clone(clock)));
    Ok(Some(Arc::new(Concurrency::new(guarded, settings.concurrency))))
}

fn tongue(provider: Provider) -> Result<&'static dyn Tongue> {
    TONGUES
        .iter()
        .copied()
        .find(|tongue| tongue.provider() == provider)
        .ok_or_else(|| Error::bug(format!("nobody speaks to {}", provider.name())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_is_spoken_to() {
        for provider in Provider::ALL {
            assert!(tongue(*provider).is_ok(), "{}", provider.name());
        }
    }
}
