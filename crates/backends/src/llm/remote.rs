//! Asks a model over HTTP, in the way of its provider. One call, one try: whatever surrounds it is a decorator.

use std::fmt;

use async_trait::async_trait;
use docmill_core::config::{LlmSettings, Provider, Secret};
use docmill_core::ports::Llm;
use docmill_core::ports::llm::{Answer, Question};
use docmill_core::{Error, Result};
use serde_json::Value;

use super::failure;
use super::http::Http;

/// Names of models are not longer.
const MODEL_CHARS: usize = 200;

/// How a provider is spoken to: pure, from a question to a request and from a reply to an answer.
pub(super) trait Tongue: Send + Sync {
    /// Whose it is.
    fn provider(&self) -> Provider;

    /// What follows the base of the address.
    fn path(&self, model: &str) -> String;

    /// Who asks. Nothing where there is no key.
    fn headers(&self, key: &str) -> Vec<(&'static str, String)>;

    /// What is asked.
    fn request(&self, model: &str, question: &Question) -> Value;

    /// What was said, out of a reply that is a success by its status; none if it is no reply of this provider.
    fn answer(&self, reply: &Value) -> Option<Answer>;
}

/// What came back.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// As the header says, if it says anything.
    pub(super) retry_after: Option<String>,
    pub(super) body: Vec<u8>,
}

/// A model over HTTP.
pub struct Remote {
    tongue: &'static dyn Tongue,
    http: Http,
    url: String,
    model: String,
    key: Secret,
    identity: String,
    sees: bool,
}

impl Remote {
    pub(super) fn new(tongue: &'static dyn Tongue, base: &str, settings: &LlmSettings) -> Result<Self> {
        let model = settings.model.trim().to_owned();
        let http = Http::new(base)?;
        Ok(Self {
            url: format!("{base}{}", tongue.path(&model)),
            identity: format!("{} {model} at {base}", tongue.provider().name()),
            tongue,
            http,
            model,
            key: settings.key.clone(),
            sees: settings.sees(),
        })
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("identity", &self.identity).finish_non_exhaustive()
    }
}

#[async_trait]
impl Llm for Remote {
    fn provider(&self) -> &str {
        self.tongue.provider().name()
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn sees(&self) -> bool {
        self.sees
    }

    async fn ask(&self, question: &Question) -> Result<Answer> {
        let body = self.tongue.request(&self.model, question).to_string();
        let headers = self.tongue.headers(self.key.reveal());
        let reply = self.http.post(&self.url, headers, body).await?;
        if !(200..300).contains(&reply.status) {
            return Err(failure::refusal(self.provider(), &reply));
        }
        let no_answer = || {
            Error::schema_mismatch(format!("{} replied with something that is no answer", self.provider()))
        };
        let value: Value = serde_json::from_slice(&reply.body).map_err(|e| no_answer().with_source(e))?;
        let mut answer = self.tongue.answer(&value).ok_or_else(no_answer)?;
        // It is stored and shown, and nobody knows what a server calls itself.
        answer.model = docmill_core::text::shown(&answer.model).chars().take(MODEL_CHARS).collect();
        if answer.model.is_empty() {
            answer.model.clone_from(&self.model);
        }
        Ok(answer)
    }
}

/// Bytes as JSON can carry them.
pub(super) fn encoded(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[cfg(test)]
pub(super) mod tests {
    use bytes::Bytes;
    use docmill_core::ports::llm::{Material, Schema};
    use serde_json::json;

    use super::*;

    /// A question about a text.
    pub(in crate::llm) fn question() -> Question {
        Question {
            task: "name the title".into(),
            material: Material::Text("<document>dear Joe</document>".into()),
            schema: Schema { name: "document", body: json!({ "type": "object" }) },
            max_tokens: 700,
        }
    }

    /// A question about a picture, or at least its first bytes.
    pub(in crate::llm) fn picture() -> Question {
        Question { material: Material::Picture(Bytes::from_static(b"\x89PNG")), ..question() }
    }
}
