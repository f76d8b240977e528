//! `docmill text`.

use docmill_core::Result;
use docmill_core::call::Call;
use serde_json::Value;

use super::ask;
use crate::context::{Context, Exit};

/// Print the text of a document
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Of a document or an ingestion
    id: String,
}

impl Args {
    pub(super) async fn run(self, cx: &Context) -> Result<Exit> {
        let answer: Value = ask(cx, "text", Call::Text { id: self.id }).await?;
        if cx.terminal.json {
            cx.terminal.object(&answer)?;
        } else {
            let text = answer.get("text").and_then(Value::as_str).unwrap_or_default();
            cx.terminal.text(text)?;
            if !text.is_empty() && !text.ends_with('\n') {
                cx.terminal.bytes(b"\n")?;
            }
        }
        Ok(Exit::Ok)
    }
}
