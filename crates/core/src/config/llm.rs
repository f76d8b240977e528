//! Which language model is asked, how and how often: the settings, their rows in the table of keys, and what the URL
//! means.

use std::fmt;
use std::time::Duration;

use super::key::{Key, Place, key};
use crate::limits::KIB;

/// Which language model is asked, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct LlmSettings {
    /// Who is asked; empty means nobody.
    pub url: String,
    /// Which of their models.
    pub model: String,
    /// What they know docmill by.
    pub key: Secret,
    /// Whether the model takes pictures.
    pub vision: Vision,
    /// So much of a text is sent.
    pub max_text_bytes: u64,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long a question may take with all that is tried again.
    pub total_timeout: Duration,
    /// Calls under way at once.
    pub concurrency: u32,
    /// Calls in a minute; 0 means any number.
    pub per_minute: u32,
    /// Of a million tokens that the model reads.
    pub price_in: f64,
    /// Of a million tokens that the model writes.
    pub price_out: f64,
}

impl Default for LlmSettings {
    fn default() -> Self {
        Self {
            url: String::new(),
            model: String::new(),
            key: Secret::default(),
            vision: Vision::Auto,
            max_text_bytes: 24 * KIB,
            timeout: Duration::from_secs(90),
            total_timeout: Duration::from_mins(3),
            concurrency: 4,
            per_minute: 0,
            price_in: 0.0,
            price_out: 0.0,
        }
    }
}

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Keeps it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For whoever must send it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "***" })
    }
}

/// Whether a model takes pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Vision {
    /// Its name tells.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not, or must not.
    No,
}

impl Vision {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::Auto, Self::Yes, Self::No];

    /// As written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Yes => "yes",
            Self::No => "no",
        }
    }
}

/// Parts of the names of models that take pictures.
const SEEING: &[&str] = &[
    "gpt-4o",
    "gpt-4.1",
    "gpt-4-turbo",
    "gpt-5",
    "claude",
    "gemini",
    "vision",
    "llava",
    "-vl",
    "vl:",
    "pixtral",
    "gemma3",
    "gemma-3",
    "minicpm-v",
    "moondream",
    "llama4",
    "llama-4",
];

/// Whose way of speaking a server has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Provider {
    /// OpenAI, and the many servers that speak like it.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google.
    Gemini,
    /// A server on one's own machine.
    Ollama,
}

impl Provider {
    /// Every provider.
    pub const ALL: &'static [Self] = &[Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// As written before a colon in the URL, in metrics and in what was paid.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// Where it is if nothing else is said.
    fn home(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }
}

impl LlmSettings {
    /// Who is asked and where, or what is wrong with the URL. None if nobody is.
    pub fn address(&self) -> Result<Option<(Provider, String)>, String> {
        let url = self.url.trim();
        if url.is_empty() {
            return Ok(None);
        }
        for provider in Provider::ALL {
            let Some(rest) = url.strip_prefix(provider.name()).and_then(|rest| rest.strip_prefix(':')) else {
                continue;
            };
            let place = if rest.is_empty() { provider.home() } else { rest };
            return placed(place).map(|place| Some((*provider, place)));
        }
        let place = placed(url)?;
        let host = place.split('/').nth(2).unwrap_or_default();
        let known = [Provider::Anthropic, Provider::Gemini];
        let provider = known.into_iter().find(|p| p.home().split('/').nth(2) == Some(host));
        let provider = provider.unwrap_or(Provider::OpenAi);
        // Their hosts alone are no addresses: the version belongs to it.
        let bare = place.split('/').count() == 3 && provider != Provider::OpenAi;
        Ok(Some((provider, if bare { provider.home().to_owned() } else { place })))
    }

    /// Whether the model takes pictures.
    pub fn sees(&self) -> bool {
        let model = self.model.to_lowercase();
        match self.vision {
            Vision::Yes => true,
            Vision::No => false,
            Vision::Auto => SEEING.iter().any(|part| model.contains(part)),
        }
    }
}

/// The address without a slash at its end, if it is one.
fn placed(place: &str) -> Result<String, String> {
    let rest = place.strip_prefix("http://").or_else(|| place.strip_prefix("https://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let fit =
        !host.is_empty() && !place.contains(['?', '#', '@']) && place.bytes().all(|b| b.is_ascii_graphic());
    if fit {
        Ok(place.trim_end_matches('/').to_owned())
    } else {
        Err("is not the address of a model".to_owned())
    }
}

pub(super) const URL: Key = key(
    "llm.url",
    Place::Text(|s| &mut s.llm.url),
    "The language model that says what documents are, and what the fields are that rules leave open (`extract.ask`), \
     after docmill has found out what it can by itself; empty means none. `openai:`, `anthropic:`, `gemini:` and \
     `ollama:` are these services where they usually are; an address may follow the colon. An address alone, such as \
     `http://127.0.0.1:8080/v1`, is a server that speaks like OpenAI's. \
     The text of documents is sent there.",
);

pub(super) const MODEL: Key = key(
    "llm.model",
    Place::Text(|s| &mut s.llm.model),
    "The model, as the service names it. Another model means that documents are classified anew when they are \
     processed again.",
);

pub(super) const KEY: Key = key(
    "llm.key",
    Place::Secret(|s| &mut s.llm.key),
    "The key of the service. It is never shown and never logged; the environment is a better place for it than the file.",
);

pub(super) const VISION: Key = key(
    "llm.vision",
    Place::Vision(|s| &mut s.llm.vision),
    "Whether the model is shown pictures, scans without text, and for their fields pages that were recognised: `yes`, \
     `no`, or `auto` to tell by its name. Pictures are sent with at most 2048 pixels on a side.",
);

pub(super) const MAX_TEXT: Key = key(
    "llm.max_text",
    Place::Bytes(|s| &mut s.llm.max_text_bytes),
    "How much of a text is sent: most of it from the beginning, some from the end. For fields it is sent in pieces of \
     this size, at most eight.",
);

pub(super) const TIMEOUT: Key =
    key("llm.timeout", Place::Time(|s| &mut s.llm.timeout), "How long one call may take.");

pub(super) const TOTAL_TIMEOUT: Key = key(
    "llm.total_timeout",
    Place::Time(|s| &mut s.llm.total_timeout),
    "How long a document may wait for its answer, with everything that is tried again: pauses that the service asks \
     for are kept within it. Then the document completes with what docmill has found out by itself, and says so.",
);

pub(super) const CONCURRENCY: Key = key(
    "llm.concurrency",
    Place::Count32(|s| &mut s.llm.concurrency),
    "Calls of one process under way at once.",
);

pub(super) const PER_MINUTE: Key = key(
    "llm.per_minute",
    Place::Count32(|s| &mut s.llm.per_minute),
    "Calls of one process in a minute, evenly spread; 0 means any number.",
);

pub(super) const PRICE_IN: Key = key(
    "llm.price_in",
    Place::Price(|s| &mut s.llm.price_in),
    "The price of a million tokens that the model reads, in any currency. With both prices at 0 no cost is recorded.",
);

pub(super) const PRICE_OUT: Key = key(
    "llm.price_out",
    Place::Price(|s| &mut s.llm.price_out),
    "The price of a million tokens that the model writes, in the same currency.",
);

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<Option<(Provider, String)>, String> {
        LlmSettings { url: url.into(), ..LlmSettings::default() }.address()
    }

    #[test]
    fn url_says_who_is_asked_and_where() {
        assert_eq!(address(""), Ok(None));
        for (url, provider, place) in [
            ("openai:", Provider::OpenAi, "https://api.openai.com/v1"),
            ("openai:https://proxy.example/v1/", Provider::OpenAi, "https://proxy.example/v1"),
            ("http://127.0.0.1:8080/v1", Provider::OpenAi, "http://127.0.0.1:8080/v1"),
            ("https://api.anthropic.com", Provider::Anthropic, "https://api.anthropic.com"),
            ("anthropic:http://localhost:9", Provider::Anthropic, "http://localhost:9"),
            (
                "https://generativelanguage.googleapis.com",
                Provider::Gemini,
                "https://generativelanguage.googleapis.com/v1beta",
            ),
            ("ollama:", Provider::Ollama, "http://127.0.0.1:11434"),
        ] {
            assert_eq!(address(url), Ok(Some((provider, place.to_owned()))), "{url}");
        }
        for wrong in
            ["gpt-4o", "ftp://x", "http://", "openai:nowhere", "https://u:p@host/v1", "http://h/v1?key=x"]
        {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn name_of_a_model_tells_whether_it_sees_unless_somebody_says_so() {
        let sees = |model: &str, vision| {
            LlmSettings { model: model.into(), vision, ..LlmSettings::default() }.sees()
        };
        for model in ["gpt-4o-mini", "claude-sonnet-4-5", "gemini-2.5-flash", "qwen2.5-vl:7b", "llava"] {
            assert!(sees(model, Vision::Auto), "{model}");
        }
        assert!(
            !sees("smollm2", Vision::Auto) && sees("smollm2", Vision::Yes) && !sees("gpt-4o", Vision::No)
        );
    }

    #[test]
    fn secret_is_never_printed() {
        let settings = LlmSettings { key: Secret::new("hush"), ..LlmSettings::default() };
        assert!(!format!("{settings:?}").contains("hush"));
        assert_eq!(settings.key.reveal(), "hush");
    }
}
