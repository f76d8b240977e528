//! One question to a language model, one answer. What the question is about is data: nothing in it is an order.

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;

/// Everything that a model is asked at once.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// What to do. The only part that the model is to obey.
    pub task: String,
    /// What to do it with.
    pub material: Material,
    /// The form that the answer must have.
    pub schema: Schema,
    /// The answer is cut after so many tokens.
    pub max_tokens: u32,
}

/// What a question is about: data, whatever it says.
#[derive(Clone, PartialEq, Debug)]
pub enum Material {
    /// Text, fenced in by whoever asks.
    Text(String),
    /// A picture as PNG.
    Picture(Bytes),
}

/// The form of an answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Schema {
    /// In a word.
    pub name: &'static str,
    /// As JSON Schema. Every property is required and no other is allowed: some providers insist on it.
    pub body: Value,
}

/// What a model said. It has been paid for, whether it is of use or not.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The words, which should be JSON.
    pub text: String,
    /// How it ended.
    pub ending: Ending,
    /// Which model answered, as it calls itself.
    pub model: String,
    /// What was read.
    pub tokens_in: u64,
    /// What was written.
    pub tokens_out: u64,
    /// By the prices in the settings; none where they name none.
    pub cost: Option<f64>,
}

/// How an answer ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// By itself.
    Complete,
    /// At the limit of its length.
    CutShort,
    /// The provider or the model will not answer this.
    Refused,
}

/// A language model.
///
/// Errors are of these kinds: `rate_limited` and `unavailable` (with the pause that was asked for), `timeout`,
/// `forbidden` (the key), `invalid_config` (the model or the address), `content_blocked`, `limit_exceeded` (too much
/// text), `invalid_request`, and `schema_mismatch` for an answer that is none.
#[async_trait]
pub trait Llm: Send + Sync {
    /// Who is asked: `openai`, `anthropic`.
    fn provider(&self) -> &str;

    /// Everything about the model that answers depend on: part of a fingerprint.
    fn identity(&self) -> &str;

    /// Whether it takes pictures.
    fn sees(&self) -> bool;

    /// Asks. Nothing is remembered from one question to the next.
    async fn ask(&self, question: &Question) -> Result<Answer>;
}
