//! A build without the network for language models: whoever asks for one is told so at the start.

use docmill_core::{Error, Result};

use super::remote::Reply;

/// Nobody's client.
pub(super) enum Http {}

impl Http {
    pub(super) fn new(_: &str) -> Result<Self> {
        Err(Error::invalid_config("`llm.url`: this build cannot ask a language model")
            .with_hint("build docmill with the feature `llm`, or leave it out"))
    }

    #[expect(clippy::unused_async, reason = "the same interface as the real one")]
    pub(super) async fn post(&self, _: &str, _: Vec<(&'static str, String)>, _: String) -> Result<Reply> {
        match *self {}
    }
}
